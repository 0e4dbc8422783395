"""A snapshot made of an earlier one by what differs equals one that is built, and the earlier one stays as it was."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile
from kvolsched.scheduler.columns.hypothetical_snapshot import KeptSnapshot
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.ranking import rank
from kvolsched.world.apiserver import key_of
from scheduler.strategies import changing, clusters, company, pending, spread, stores

PROFILE = upstream_profile()


@settings(max_examples=15)
@given(st.lists(clusters, min_size=2, max_size=4), pending)
def test_the_snapshot_of_other_contents(states, pod):
    """Whatever was asked for before, the snapshot of some objects has their facts and gives their verdicts."""
    kept, given_out = KeptSnapshot(), []
    for state in (*states, states[0]):
        objects = {key_of(item): item for item in state}
        found = kept.of(objects, "now")
        rank(judge(pod, found, PROFILE))  # columns are made, which a copy must not share
        given_out.append((objects, found))
    for objects, found in given_out:
        built = snapshot(objects.values())
        assert built == found
        assert judge(pod, built, PROFILE).fingerprint == judge(pod, found, PROFILE).fingerprint


@pytest.mark.parametrize("strategy", [spread(), company(), stores()], ids=["spread", "company", "stores"])
def test_a_copy_goes_its_own_way(strategy):
    """A copy follows every change of any kind, and its original sees none of them."""

    @settings(max_examples=30)
    @given(changing(strategy))
    def holds(world):
        objects, pod, changes = world
        original = snapshot(objects)
        before = judge(pod, original, PROFILE).fingerprint
        copy, present = original.copied(), {key_of(item): item for item in objects}
        for key, new in changes:
            old = present.pop(key, None)
            if old is not None or new is not None:
                copy.apply(key, old, new)
            if new is not None:
                present[key] = new
            assert judge(pod, snapshot(present.values()), PROFILE).fingerprint == judge(pod, copy, PROFILE).fingerprint
        assert snapshot(present.values()) == copy
        assert snapshot(objects) == original
        assert before == judge(pod, original, PROFILE).fingerprint

    holds()


def test_equal_contents_share_a_snapshot():
    """Who asks again for the same objects gets the same tables, without building any."""
    kept = KeptSnapshot()
    assert kept.of({}, "now").nodes is kept.of({}, "later").nodes
