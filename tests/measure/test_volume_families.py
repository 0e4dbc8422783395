"""The steps of the volume binding loop, as recorded: v1.36.2, external-provisioner v6.3.0, and 1.11 and 1.16 for `design`.

Every aspect of every case of these families agrees; one that differs is a fault. Each family is judged by the rules that
it judges by itself.
"""

from functools import cache
from pathlib import Path

import attrs
import pytest

from kvolsched.controllers.persistent_volume import CLAIMS, VOLUMES, PVController
from kvolsched.measure.conform import FAMILIES, conform, read, volume_controller
from kvolsched.rules.named import revision_named
from kvolsched.world.log import Key

RECORDED = Path(__file__).parent.parent / "conformance"


@cache
def played(family, revision=""):
    """Play a family once."""
    return conform([RECORDED / f"{family}.jsonl.gz"], revision)


def agrees(family, count):
    """Assert that all cases of a family agree in every aspect."""
    agreement = played(family)

    assert {name: [count, count] for name in FAMILIES[family].aspects} == agreement.counts[family], str(agreement)


@pytest.mark.checklist("40", "41", "87", "88")
def test_the_pv_controller_of_v1_36():
    """Each recorded call of its handlers: writes, events, error, live reads, operations, what is enqueued."""
    agrees("pv-controller", 418)


@pytest.mark.parametrize("family", ["pv-controller", "design-controller"])
def test_what_is_not_queued_is_what_the_real_handlers_leave_alone(family):
    """Each recorded call for a claim or volume that our controller takes for settled wrote nothing and told nothing."""
    revision, settled = revision_named(FAMILIES[family].revision), 0
    for recorded in read(RECORDED / f"{family}.jsonl.gz"):
        case = recorded.case
        player, sync = volume_controller._CasePlayer(case, revision), case["sync"]
        controller = PVController(attrs.evolve(revision.binder, in_tree_plugins=frozenset({volume_controller.HOST_PATH})))
        kind, worker, by = {"claim": ("PersistentVolumeClaim", CLAIMS, controller.claims),
                            "volume": ("PersistentVolume", VOLUMES, controller.volumes)}[sync["kind"]]
        key = Key(kind, *("/" + sync["key"]).split("/")[-2:])
        obj = player.own.watched.get(key)
        if obj is not None and key not in player.own.written and by.is_settled(player.ctx(worker), obj):
            settled += 1
            told = {aspect: value for aspect, value in case["expect"].items() if value and aspect != "then"}
            assert not told, recorded.id
    assert settled >= 9


def test_the_binder_of_v1_36():
    """Find, assume, bind, the checks until all is bound, and what the caches hold in between and after a failure."""
    agrees("bind", 337)


@pytest.mark.checklist("57", "95", "98")
def test_what_a_driver_is_asked_for():
    """Requisite and preferred topologies in order, what a retry remembers, and the reach of the volume that is made."""
    agrees("topology", 334)


def test_the_room_that_is_published():
    """CSIStorageCapacity objects of each class and topology: made, changed, deleted, asked for, and counted."""
    agrees("capacity", 332)


@pytest.mark.checklist("100", "101", "105", "115", "116", "117", "118", "121", "122", "123", "131", "132", "133")
def test_the_binder_of_1_11():
    """Find, assume, bind and what the scheduler makes of it: passes of one or two pods, with changes in between."""
    agrees("design-bind", 200)


def test_the_pv_controller_of_1_11():
    """Each recorded call of its handlers, and what Provision() is handed."""
    agrees("design-controller", 200)


@pytest.mark.checklist("79", "80", "82", "87", "88", "89", "120")
def test_the_loop_of_1_11():
    """Scheduler, bind worker, PV controller and provisioner together: who is queued, assumed, written, placed."""
    agrees("design-loop", 200)


@pytest.mark.checklist("195", "198", "199", "200", "203", "210", "212")
def test_the_spreading_of_1_16_and_1_18():
    """Hard spreading: first plugin, feasible nodes, words; with terminating pods counted and without."""
    agrees("design-spread", 290)


@pytest.mark.parametrize(("family", "other"), [("pv-controller", "design"), ("design-controller", "upstream")])
def test_the_other_rules_disagree(family, other):
    """Played under the other revision's rules cases differ: the comparison is not blind."""
    assert not played(family, other).complete
