"""Randomly mutated manifests are loaded or refused with a useful message, never with a traceback."""

import resource
import time
from functools import cache

import pytest
from mutations import LARGEST, mutated

from kvolsched.api.text.manifest import ManifestError
from kvolsched.cluster import Cluster
from kvolsched.core.results import ApplyRefused

FEW, MANY = 600, 100_000
SECONDS, MEGABYTES = 1.0, 300


def taken(text, load):
    """Return "loaded", or "refused" if the message names a place; raise any other error."""
    try:
        load(text)
    except ManifestError as error:
        faults = error.faults
    except ApplyRefused as error:
        faults = error.refusals
    else:
        return "loaded"
    told = [str(fault.message) for fault in faults]
    assert told
    assert all(told)
    for fault in faults:
        places = ("path", "line", "document", "object", "source")
        assert any(getattr(fault, place, 0) for place in places) or '"' in fault.message, fault
    return "refused"


def strictly(text):
    """Apply a text to an empty cluster, as kubectl would."""
    Cluster().apply(text)


@cache
def texts(seeds):
    """Return the texts of these seeds."""
    return tuple(map(mutated, seeds))


def outcomes(seeds, load):
    """Return the outcomes of the texts of these seeds, each text loaded once; on another error, name the seed."""
    told, found = {}, {}
    for seed, text in zip(seeds, texts(seeds), strict=True):
        if text not in told:
            try:
                told[text] = taken(text, load)
            except Exception as error:
                error.add_note(f"the input is mutated({seed}), {len(text)} characters")
                raise
        found[told[text]] = found.get(told[text], 0) + 1
    return found


@pytest.mark.parametrize("load", [Cluster.from_manifests, strictly])
def test_manifests_gone_wrong(load):
    """A changed manifest is loaded or refused with a place; both happen often among the first seeds."""
    found = outcomes(range(FEW), load)

    assert {"loaded", "refused"} == set(found)
    assert FEW == sum(found.values())
    assert min(found.values()) > FEW // 20


@pytest.mark.long
@pytest.mark.parametrize("load", [Cluster.from_manifests, strictly])
def test_a_hundred_thousand_manifests_gone_wrong(load):
    """No mutated manifest ends in another error, takes a second of CPU time, or 300 MB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    slowest, at = 0.0, None
    for seed in range(FEW, FEW + MANY):
        text = mutated(seed)
        began = time.process_time()
        try:
            taken(text, load)
        except Exception as error:
            error.add_note(f"the input is mutated({seed}), {len(text)} characters")
            raise
        slowest, at = max((slowest, at), (time.process_time() - began, seed), key=lambda pair: pair[0])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"slowest {slowest:.2f} s: mutated({at}); memory grew by {grown:.0f} MB")

    assert LARGEST >= max(len(mutated(seed)) for seed in range(1000))
    assert slowest < SECONDS, f"mutated({at})"
    assert grown < MEGABYTES
