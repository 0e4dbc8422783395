"""Manifests gone wrong at random: each is loaded, or refused in words that a person can act on, never a traceback."""

import resource
import time

import pytest
from mutations import LARGEST, mutated

from kvolsched.api.text.manifest import ManifestError
from kvolsched.cluster import Cluster
from kvolsched.results import ApplyRefused

FEW, MANY = 2_000, 100_000
SECONDS, MEGABYTES = 1.0, 300


def taken(text, load):
    """Say how a text was taken: "loaded", or "refused" with sentences that name a place; whatever else is an error."""
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


def outcomes(seeds, load):
    """How texts of these seeds are taken, each with the seed that makes it if one is not."""
    found = {}
    for seed in seeds:
        text = mutated(seed)
        try:
            word = taken(text, load)
        except Exception as error:
            error.add_note(f"the input is mutated({seed}), {len(text)} characters")
            raise
        found[word] = found.get(word, 0) + 1
    return found


@pytest.mark.parametrize("load", [Cluster.from_manifests, strictly])
def test_two_thousand_manifests_gone_wrong(load):
    """A changed manifest is loaded or refused with a place; both happen often among the first seeds."""
    found = outcomes(range(FEW), load)

    assert {"loaded", "refused"} == set(found)
    assert FEW == sum(found.values())
    assert min(found.values()) > FEW // 20


@pytest.mark.long
@pytest.mark.parametrize("load", [Cluster.from_manifests, strictly])
def test_a_hundred_thousand_manifests_gone_wrong(load):
    """None of so many ends in anything but a load or sentences, takes a second of the processor, or 300 MB."""
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
