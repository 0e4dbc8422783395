"""What old and today's Kubernetes did in the volume binding loop, our actors do too, case by case and aspect by aspect.

`design-bind` and `design-loop` were recorded from 1.11, `bind` from v1.36.2. Every aspect of every case is compared;
where one differs, it is listed here with the reason, and anything else is a failure.
"""

import play_bind
import play_design_loop
import play_traces
import pytest
from loop_recorded import Tally, cases

# Cases that differ, and why; whole families are asserted beside them.
BETA_CLASS = "1.11 listed volumes by the class field and compared them by the beta annotation, so found none"
NO_CAPACITY = "CSIStorageCapacity is not modelled yet"
STAND_IN = "a fault kept the claim from its provisioner; the recordings' stand-in made the volume all the same"
DIFFERING = {
    "design-bind": {BETA_CLASS: tuple(f"design-bind-1-{number}" for number in (9, 35, 130, 189, 195))},
    "design-loop": {STAND_IN: tuple(f"design-loop-1-{number}" for number in (7, 36, 199))},
    "bind": {NO_CAPACITY: tuple(f"bind-1-{number}" for number in (41, 60, 108, 118, 201, 215, 245))},
}
FAMILIES = {
    "design-bind": (play_bind.compare_design, 200),
    "design-loop": (play_design_loop.compare, 200),
    "bind": (play_bind.compare_upstream, 337),
}


def played(family):
    """Play a family, and return what agrees."""
    compare, count = FAMILIES[family]
    tally = Tally()
    assert len(cases(family)) == count
    for case in cases(family):
        compare(case, tally)
    print(family, {aspect: f"{agree}/{of}" for aspect, (agree, of) in tally.figures().items()})
    return tally


def agrees(family):
    """Assert that a family agrees but for the listed cases, and that each of these does differ."""
    tally = played(family)
    listed = {name for names in DIFFERING[family].values() for name in names}
    differing = {name for found in tally.differing.values() for name in found}
    unexpected = {
        (aspect, name): both for aspect, found in tally.differing.items() for name, both in found.items() if name not in listed
    }
    assert not unexpected, dict(list(unexpected.items())[:3])
    assert listed <= differing, "these agree now: take them off the list"


@pytest.mark.checklist("100", "101", "105", "115", "116", "117", "118", "121", "122", "123", "131", "132", "133")
def test_design_bind_as_1_11():
    """Find, assume, bind and what the scheduler makes of it: passes of one or two pods, with changes in between."""
    agrees("design-bind")


@pytest.mark.checklist("79", "80", "82", "87", "88", "89", "120")
def test_design_loop_as_1_11():
    """Scheduler, bind worker, PV controller and provisioner together: who is queued, assumed, written, placed."""
    agrees("design-loop")


def test_bind_as_v1_36():
    """Find, assume, bind, the checks until all is bound, and what the caches hold in between and after a failure."""
    agrees("bind")


# What differs of a story: the thing, and why. Everything else agrees: the end, events word for word, each object's
# changes with writer and fields, and the orders that were the same in all six runs.
RESYNC = "a pod that appears is told to its claim by the 15 s resync; ours looks only at claims with something new"
AT_ONCE = "what is due at the same moment is done in one go here, and counted once"
FASTER = "an order of the clock, not of cause: ours writes the one before the other"
LATER = "finalizers, generations and their controllers come later"
BACK_OFF = "ours comes back when the volume is there already"
STORIES = {
    "claim-order": {"pvc/c8#2 < pvc/c15#2": FASTER},
    "claimref-reset": {},
    "delete-pod-while-provisioning": {},
    "fallback-dynamic": {"pvc/one#2 < pvc/two#2": FASTER},
    "immediate-wrong-zone": {},
    "missing-claim": {},
    "node-lost-while-provisioning": {"pod/app": BACK_OFF},
    "prebound": {},
    "prebound-mismatch": {"pod/p-small#1 < pod/p-absent#0": FASTER},
    "provision-fails-once": {},
    "release-delete": {"pv/pvc-uid(data)": LATER, "pvc/data": LATER},
    "shared-claim": {},
    "spread-together-statefulset": {"sts/db": AT_ONCE, "pod/db-0#1 < pod/db-1#0": FASTER},
    "static-and-dynamic": {"pvc/fast#2 < pvc/big#2": FASTER},
    "static-local-statefulset": {
        "pv/local-1#0 < pv/local-2#1": FASTER,
        "pod/web-0#1 < sts/web#2": FASTER,
        "pod/web-2#1 < sts/web#6": FASTER,
    },
    "sts-scale-down-up": {"sts/db": LATER},
    "two-claims-one-stolen": {},
    "two-zones-one-pod": {},
    "unbound-immediate": {},
    "wait-for-consumer": {"pvc/data": RESYNC},
    "zonal-dynamic-statefulset": {
        "pod/db-0#1 < sts/db#2": FASTER,
        "pod/db-1#1 < sts/db#4": FASTER,
        "pvc/data-db-2#1 < sts/db#6": FASTER,
    },
}


@pytest.mark.parametrize("name", STORIES)
def test_story_of_a_real_control_plane(name):
    """A whole story, played on a cluster: what became of each object is what became of it in a real run."""
    found = play_traces.agreement(name)
    print(name, {aspect: f"{agree}/{of}" for aspect, (agree, of) in found.counts.items()})
    differing = {what: (aspect, wanted, ours) for aspect, what, wanted, ours in found.differing}
    unexpected = {what: both for what, both in differing.items() if what not in STORIES[name]}
    assert not unexpected
    assert set(STORIES[name]) <= set(differing), "these agree now: take them off the list"
    agree, of = found.counts.get("final", (0, 0))
    assert agree == of
