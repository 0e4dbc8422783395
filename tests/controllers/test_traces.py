"""Whole stories recorded on a real control plane, played in ours: who wrote each claim, volume and pod, in which order.

Compared are writer and verb of every write of an object, and the events of claims and volumes. Left out are the events of
waiting for a pod: which of them a claim gets depends on who is faster.
"""

import pytest
from controllers import told

STORIES = [
    "claim-lost",
    "claim-order",
    "claimref-reset",
    "fallback-dynamic",
    "generic-ephemeral",
    "immediate-wrong-zone",
    "missing-claim",
    "node-lost-while-provisioning",
    "prebound",
    "prebound-mismatch",
    "provision-fails-once",
    "release-delete",
    "shared-claim",
    "static-and-dynamic",
    "static-local-statefulset",
    "sts-scale-down-up",
    "two-zones-one-pod",
    "unbound-immediate",
    "zonal-dynamic-statefulset",
]


@pytest.mark.parametrize("name", STORIES)
def test_each_object_is_written_as_in_some_real_run(name):
    """Writer and verb, in order; where real runs differed, ours is one of them."""
    recorded = told.trace(name)
    played = told.Told(recorded)
    writes = played.writes()
    objects = {**recorded["stable"]["objects"], **recorded["varies"].get("objects", {})}
    compared = [reference for reference in objects if reference.partition("/")[0] in ("pod", "pvc", "pv")]
    assert compared
    for reference in compared:
        assert writes.get(reference) in told.variants(recorded, reference), reference
    for reference in compared:
        if not reference.startswith("pod/"):
            must, may = told.said(recorded, reference)
            ours = told.lasting(told.spoken(played, reference))
            assert told.lasting(must) <= ours <= told.lasting(may), reference
