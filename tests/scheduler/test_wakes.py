"""Cluster events and queueing hints: which events move a rejected pod."""

import attrs
import objects
import pytest

from kvolsched.cluster import Cluster
from kvolsched.rules.named import design, upstream
from kvolsched.scheduler.framework.custom_plugin import custom_plugin
from kvolsched.scheduler.framework.extension_points import Action, QueueingHint, events_of
from kvolsched.scheduler.loop.scheduling_queue import (
    QUEUE,
    UNSCHEDULABLE,
    QueueEntry,
    SchedulingQueue,
    hints_for,
    registered_events,
)
from kvolsched.world.apiserver import key_of
from kvolsched.world.log import Note

PROFILE = upstream().profile


def pod(name="app", uid="u-app", *, phase="Pending", nominated="", cpu="1", **fields):
    """Return a pod with a UID, a phase and a nominated node."""
    return objects.pod(name, uid=uid, cpu=cpu, status={"phase": phase, "nominatedNodeName": nominated}, **fields)


def other(**given):
    """Return a pod on a node."""
    return pod("other", "u-other", node_name="n0", phase="Running", **given)


def node(*, labels=None, cordoned=False, cpu="2", **fields):
    """Return node n0 in a zone, cordoned or not."""
    return objects.node("n0", labels={"zone": "a", **(labels or {})}, cpu=cpu, unschedulable=cordoned, **fields)


def happened(old, new):
    """Return (action, only pod, highest priority) of each event of a change."""
    return [(event.action, event.only_pod, event.max_priority) for event in events_of(key_of(new or old), old, new)]


TAINT = {"key": "busy", "effect": "NoSchedule"}
NODES = {
    "it comes": (None, node(), Action.ADD),
    "it goes": (node(), None, Action.DELETE),
    "a taint": (node(), node(taints=[TAINT]), Action.NODE_TAINT),
    "a taint lifted": (node(taints=[TAINT]), node(), Action.NODE_TAINT),
    "cordoned": (node(), node(cordoned=True), None),
    "uncordoned": (node(cordoned=True), node(), Action.NODE_TAINT),
    "label": (node(), node(labels={"rack": "r"}), Action.NODE_LABEL),
    "annotation": (node(), node(annotations={"a": "b"}), Action.NODE_ANNOTATION),
    "allocatable": (node(), node(cpu="4"), Action.NODE_ALLOCATABLE),
    "condition": (node(ready="False"), node(ready="True"), Action.NODE_CONDITION),
    "two at once": (node(), node(cpu="4", labels={"rack": "r"}), Action.NODE_ALLOCATABLE | Action.NODE_LABEL),
}


@pytest.mark.parametrize("case", NODES)
def test_what_happened_to_a_node(case):
    """Each kind of node change has its action; cordoning has none, uncordoning is a taint change."""
    old, new, action = NODES[case]

    assert ([] if action is None else [(action, "", None)]) == happened(old, new)


PODS = {
    "it waits": (None, pod(), []),
    "it is bound": (pod(), pod(node_name="n0"), [(Action.ADD, "", None)]),
    "it is found on a node": (None, other(), [(Action.ADD, "", None)]),
    "it ends": (other(), pod("other", "u-other", node_name="n0", phase="Succeeded"), [(Action.DELETE, "", None)]),
    "it is gone": (other(), None, [(Action.DELETE, "", None)]),
    "it goes unplaced": (pod(), None, []),
    "it goes with a promise": (pod(nominated="n0", priority=7), None, [(Action.DELETE, "", 7)]),
    "its label": (other(), other(labels={"a": "b"}), [(Action.POD_LABEL, "", None)]),
    "it shrinks": (other(cpu="2"), other(cpu="1"), [(Action.POD_SCALE_DOWN, "", None)]),
    "it grows": (other(cpu="1"), other(cpu="2"), [(Action.UPDATE, "", None)]),
    "a waiting pod's toleration": (
        pod(), pod(tolerations=[{"operator": "Exists"}]), [(Action.POD_TOLERATION, "default/app", None)]
    ),
    "another of its name": (
        other(), pod("other", "u-2", node_name="n1"), [(Action.DELETE, "", None), (Action.ADD, "", None)]
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PODS)
def test_what_happened_to_a_pod(case):
    """A pod is added by binding and deleted by its end; a pod without a node concerns itself, or pods of lower priority."""
    old, new, expected = PODS[case]

    assert expected == happened(old, new)


def woken(waiting, rejected_by, old, new):
    """Say whether a pod that these plugins rejected is moved by a change."""
    return any(
        hint.hint_fn(waiting, event.old, event.new)
        for event in events_of(key_of(new or old), old, new)
        if event.only_pod in ("", "default/app")
        for hint in hints_for(PROFILE, event.kind, event.action, rejected_by)
    )


NEAR = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}}}]}}
FAR = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
    {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}}}]}}
SPREAD = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
           "labelSelector": {"matchLabels": {"app": "web"}}}]  # fmt: skip
DB, WEB = {"app": "db"}, {"app": "web"}
HINTS = [
    # (who rejected it, the pod, before, after, woken)
    ("NodeResourcesFit", pod(), other(), None, True),
    ("NodeResourcesFit", pod(cpu="4"), None, node(cpu="2"), False),
    ("NodeResourcesFit", pod(cpu="4"), None, node(cpu="4"), True),
    ("NodeResourcesFit", pod(cpu="4"), node(cpu="2"), node(cpu="3"), False),
    ("NodeResourcesFit", pod(), other(cpu="2"), other(cpu="1"), True),
    ("NodeResourcesFit", pod(), node(), node(taints=[TAINT]), True),
    ("NodeAffinity", pod(nodeSelector={"zone": "b"}), None, node(), False),
    ("NodeAffinity", pod(nodeSelector={"rack": "r"}), node(), node(labels={"rack": "r"}), True),
    ("NodeAffinity", pod(nodeSelector={"rack": "r"}), node(labels={"rack": "r"}), node(), False),
    ("TaintToleration", pod(), node(taints=[TAINT]), node(), True),
    ("TaintToleration", pod(), node(), node(taints=[TAINT]), False),
    ("TaintToleration", pod(), pod(), pod(tolerations=[{"key": "x", "operator": "Exists"}]), True),
    ("NodeUnschedulable", pod(), node(cordoned=True), node(), True),
    ("NodeUnschedulable", pod(), None, node(cordoned=True), False),
    ("InterPodAffinity", pod(affinity=NEAR), None, other(labels=DB), True),
    ("InterPodAffinity", pod(affinity=NEAR), None, other(labels=WEB), False),
    ("InterPodAffinity", pod(affinity=NEAR), other(labels=DB), None, False),
    ("InterPodAffinity", pod(affinity=NEAR), pod(affinity=NEAR), pod(affinity=NEAR, labels=WEB), True),
    ("InterPodAffinity", pod(affinity=NEAR), node(), node(labels={"rack": "r"}), False),
    ("InterPodAffinity", pod(affinity=NEAR), node(), node(labels={"zone": "b"}), True),
    ("InterPodAffinity", pod(affinity=FAR), other(labels=DB), None, True),
    ("InterPodAffinity", pod(affinity=FAR), other(labels=DB), other(labels=WEB), True),
    ("InterPodAffinity", pod(labels=DB), other(affinity=FAR), None, True),
    ("PodTopologySpread", pod(topologySpreadConstraints=SPREAD), other(labels=WEB), None, True),
    ("PodTopologySpread", pod(topologySpreadConstraints=SPREAD), other(labels=DB), None, False),
    ("PodTopologySpread", pod(topologySpreadConstraints=SPREAD), node(), node(taints=[TAINT]), True),
    ("PodTopologySpread", pod(topologySpreadConstraints=SPREAD), node(cordoned=True), node(), False),
    ("NodeVolumeLimits", pod(), node(cordoned=True), node(), False),
    ("VolumeBinding", pod(), other(), None, False),
    ("VolumeBinding", pod(), node(), node(labels={"rack": "r"}), True),
    ("VolumeBinding", pod(), node(), node(cpu="4"), False),
]  # fmt: skip


@pytest.mark.parametrize("hint", HINTS, ids=lambda hint: f"{hint[0]}-{HINTS.index(hint)}")
def test_a_plugin_hears_of_what_it_waits_for(hint):
    """Each plugin's hints move a pod for changes that may help and for no others."""
    by, waiting, old, new, expected = hint

    assert expected == woken(waiting, (by,), old, new)


def test_who_waits_for_nodes_hears_of_taints():
    """Taint changes are added for plugins that wait for new nodes without declaring taints, and for no others."""
    waits = attrs.make_class("Waits", {"name": attrs.field(default="W"), "events_to_register": attrs.field(default=())})
    for_nodes = waits(events_to_register=(QueueingHint("Node", "a node appears", action=Action.ADD),))
    for_both = waits(events_to_register=(QueueingHint("Node", "a node or a taint", action=Action.ADD | Action.NODE_TAINT),))

    assert [2, 1, 0] == [len(registered_events(plugin)) for plugin in (for_nodes, for_both, waits())]


def test_a_rule_of_ones_own_hears_of_everything():
    """Any change of nodes, pods, claims and volumes moves a pod that a custom rule rejected."""
    profile = PROFILE.with_plugin(custom_plugin(lambda _pod, _node, _seen: False, name="mine"))

    assert all(hints_for(profile, "Node", action, ("mine",)) for action in Action.ANY)
    assert all(hints_for(profile, "PersistentVolumeClaim", action, ("mine",)) for action in Action.ANY)


@pytest.mark.parametrize("revision", [upstream(), design()])
def test_who_found_no_nodes_waits_for_the_first(revision):
    """A pod that no plugin rejected, as there was no node, is moved when a node appears."""
    cluster = Cluster(revision)
    cluster._load([pod()])
    cluster.run()
    cluster._load([node()])
    cluster.run()

    assert cluster["pod/app"].spec.node_name == "n0"


def test_one_priority_hears_of_the_promised_pod_that_went():
    """Deleting a nominated pod moves pods of its priority or lower, and none of higher priority."""
    cluster = Cluster()
    cluster._load([node(cpu="4"), other(cpu="4", priority=9)])
    cluster._load([pod("low", "u-l", cpu="4", priority=1), pod("high", "u-h", cpu="4", priority=8)])
    cluster._load([pod("mid", "u-m", cpu="4", priority=5, nominated="n0", schedulingGates=[{"name": "x/y"}])])
    cluster.run()
    cluster.delete("pod/mid")
    cluster.run()
    notes = cluster.world.log.notes

    assert {"low": 2, "high": 1} == {
        name: notes[Note("kube-scheduler", "pass", f"default/{name}")].number for name in ("low", "high")
    }


def test_the_rejected_are_kept_by_who_rejected_them():
    """The queue indexes unschedulable pods by the plugins that rejected them, without empty entries."""
    queue = SchedulingQueue()
    entries = {name: QueueEntry(UNSCHEDULABLE, rejected_by=(by,)) for name, by in (("a", "X"), ("b", "X"), ("c", "Y"))}
    for name, entry in entries.items():
        queue.apply(Note("kube-scheduler", QUEUE, name), None, entry)
    queue.apply(Note("kube-scheduler", QUEUE, "c"), entries["c"], None)

    assert {("X",): {"a", "b"}} == queue.rejected
