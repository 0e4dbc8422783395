"""Whole stories of a real control plane (v1.36.2), played in our loop: the end, events, every change and its writer, orders.

What was the same in six real runs must be the same in ours; where they differed, ours shows what one of them showed, and
each thing that one of them showed is found in ours under some seed, which is named here.
"""

import json
from functools import cache
from pathlib import Path

import pytest
from manifests import node
from trace_variants import recorded_variants, variants_shown

from kvolsched.api.text.manifest import read_plain
from kvolsched.measure.conform import FAMILIES, read
from kvolsched.measure.conform.trace_player import TimingDraws, TracePlayer
from kvolsched.measure.conform.trace_renaming import interchanges
from kvolsched.measure.conform.trace_rows import trace_of
from kvolsched.measure.conform.traces import ASPECTS
from kvolsched.rules.named import upstream
from kvolsched.world.apiserver import RefusedWrite
from kvolsched.world.log import Key

TRACES = Path(__file__).parent.parent / "conformance" / "traces"
NAMES = sorted(path.stem for path in TRACES.glob("*.json"))


@cache
def case(name):
    """Read a trace."""
    (recorded,) = read(TRACES / f"{name}.json")
    return recorded.case


@cache
def sides(name):
    """Play a trace once in the plain order; aspect -> (recorded, ours)."""
    return {aspect: both for aspect, *both in FAMILIES["traces"].compare(case(name), upstream())}


@pytest.mark.parametrize("name", NAMES)
def test_story_of_a_real_control_plane(name):
    """A whole story ends, is told, goes and is ordered as in real runs, aspect by aspect."""
    differing = tuple(aspect for aspect, (recorded, ours) in sides(name).items() if recorded != ours)

    assert () == differing, {aspect: sides(name)[aspect] for aspect in differing}


# -- what varied ---------------------------------------------------------------------------------------------------

# Timings to try, simplest first; `find_timings.py` goes through them and prints rows of the table below.
KINDS = ("PersistentVolumeClaim", "PersistentVolume", "Pod", "ReplicaSet", "Deployment")
WATCHERS = ("persistent-volume-binder", "kube-scheduler", "replicaset-controller", "deployment-controller")
CATALOGUE = [
    *(TimingDraws(tie_seed=seed) for seed in range(6)),
    TimingDraws(hurried=True),
    TimingDraws(starting=1.5),
    *(TimingDraws(phase=0.3 + 0.75 * number) for number in range(1, 20)),
    *(TimingDraws(lags={f"{who} {kind}": lag}) for who in WATCHERS for kind in KINDS for lag in (15, 45, 90)),
    *(TimingDraws(conflicts={who: writes}) for who in WATCHERS[2:] for writes in ([1], [2], [3], [3, 1], [5], [7], [8])),
    *(TimingDraws(seed=seed) for seed in range(1, 150)),
]

# trace -> timings under which our runs show, together, every recorded variant; `find_timings.py` prints a row
TIMINGS = {
    "allowed-topologies": [TimingDraws(tie_seed=0), TimingDraws(phase=10.8)],
    "allowed-topologies-conflict": [TimingDraws(tie_seed=0), TimingDraws(phase=10.8)],
    "claimref-reset": [TimingDraws(tie_seed=0), TimingDraws(starting=1.5)],
    "gated-pod": [TimingDraws(tie_seed=0), TimingDraws(phase=10.05)],
    "node-lost-while-provisioning": [
        TimingDraws(tie_seed=0),
        TimingDraws(hurried=True),
        TimingDraws(lags={"kube-scheduler PersistentVolumeClaim": 15}),
    ],
    "preemption-bound-volume": [TimingDraws(tie_seed=0), TimingDraws(phase=9.3)],
    "provision-fails-once": [TimingDraws(tie_seed=0), TimingDraws(tie_seed=2)],
    "rolling-update-anti-affinity": [TimingDraws(tie_seed=0), TimingDraws(seed=3), TimingDraws(seed=24), TimingDraws(seed=29)],
    "rolling-update-spread": [TimingDraws(tie_seed=0), TimingDraws(conflicts={"deployment-controller": [3, 1]})],
    "shared-claim": [
        TimingDraws(tie_seed=0),
        TimingDraws(phase=1.8),
        TimingDraws(lags={"kube-scheduler PersistentVolumeClaim": 15}),
        TimingDraws(lags={"kube-scheduler PersistentVolume": 45}),
    ],
    "spread-seven-replicas": [TimingDraws(tie_seed=0), TimingDraws(seed=1), TimingDraws(seed=49)],
    "spread-together-deployment": [TimingDraws(tie_seed=0), TimingDraws(conflicts={"replicaset-controller": [5]})],
    "static-and-dynamic": [TimingDraws(tie_seed=0), TimingDraws(hurried=True)],
    "static-local-too-few": [TimingDraws(tie_seed=0), TimingDraws(phase=9.3)],
    "two-zones-one-pod": [TimingDraws(tie_seed=0), TimingDraws(tie_seed=1), TimingDraws(hurried=True)],
    "volume-limit": [
        TimingDraws(tie_seed=0),
        TimingDraws(phase=10.05),
        TimingDraws(lags={"persistent-volume-binder PersistentVolumeClaim": 45}),
    ],
}


def groups(name):
    """Return every variant of a trace: what varied, and the runs that showed it."""
    found = []
    for what, by_run in recorded_variants(case(name)).items():
        alike = {}
        for run, one in by_run.items():
            alike.setdefault(json.dumps(one, sort_keys=True), []).append(run)
        found += [(what, set(runs)) for runs in alike.values()]
    return found


VARYING = [name for name in NAMES if recorded_variants(case(name))]


@pytest.mark.parametrize("name", VARYING)
def test_what_a_real_run_showed_is_found_in_ours(name):
    """Every recorded variant of an object, its events or its final state appears in our runs under a listed timing."""
    ours = [variants_shown(case(name), upstream(), timing) for timing in TIMINGS[name]]
    missing = [(what, runs) for what, runs in groups(name) if not any(runs <= each[what] for each in ours)]

    assert [] == missing


def test_every_trace_that_varied_has_timings():
    """The table names exactly the traces in which something varied."""
    assert VARYING == sorted(TIMINGS)


def _spoil_final(trace):
    trace["stable"]["final"]["pod/app"]["status.phase"] = "Pending"


def _spoil_event(trace):
    trace["stable"]["events"]["pod/app"][0]["message"] += "."


def _spoil_change(trace):
    trace["stable"]["objects"]["pvc/data"][1]["by"] = "kubelet"


def _spoil_set(trace):
    del trace["stable"]["objects"]["pvc/data"][1]["set"]


def _spoil_missing(trace):
    trace["stable"]["objects"]["pv/more"] = [{"by": "user", "verb": "create", "type": "created", "set": {}}]


def _spoil_refused(trace):
    trace["refused_steps"] = ['422 Pod "app" is invalid']


def _spoil_order(trace):
    first, second = trace["always_before"][0].split(" < ")
    trace["always_before"].append(f"{second} < {first}")


@pytest.mark.parametrize(("spoil", "aspect"), [
    (_spoil_final, "final"),
    (_spoil_event, "events"),
    (_spoil_change, "objects"),
    (_spoil_set, "objects"),
    (_spoil_missing, "objects"),
    (_spoil_refused, "refused"),
    (_spoil_order, "order"),
])  # fmt: skip
def test_a_wrong_word_in_a_recording_is_noticed(spoil, aspect):
    """One thing told otherwise in a recording: that aspect differs, and no other."""
    trace = json.loads(json.dumps(case("claim-lost")))
    spoil(trace)
    found = FAMILIES["traces"].compare(trace, upstream())

    assert [aspect] == [name for name, recorded, ours in found if recorded != ours]


# -- exceptions, player, renaming --------------------------------------------------------------------------------------


def test_exceptions_have_reasons():
    """Every entry of EXCEPTIONS.yaml names a trace, one recorded order or outcome of it, and why a real run could differ."""
    (exceptions,) = read_plain((TRACES / "EXCEPTIONS.yaml").read_text(encoding="utf-8"), "EXCEPTIONS.yaml")
    for name, entries in exceptions.items():
        for entry in entries:
            assert entry["reason"]
            assert "outcome" in entry or entry["order"] in case(name)["always_before"]


def test_no_exception_is_needless():
    """Every listed exception differs in our run; a needless entry must be removed."""
    (exceptions,) = read_plain((TRACES / "EXCEPTIONS.yaml").read_text(encoding="utf-8"), "EXCEPTIONS.yaml")
    for name, entries in exceptions.items():
        strict = {aspect: both for aspect, *both in FAMILIES["traces"].compare({**case(name), "exceptions": []}, upstream())}
        orders = {order for order, holds in strict["order"][1].items() if not holds}
        names = {f"{aspect} {key}" for aspect in ASPECTS for key in _differing(*strict[aspect])}

        assert {entry["order"] for entry in entries if "order" in entry} <= orders
        assert {entry["outcome"] for entry in entries if "outcome" in entry} <= names


def _differing(recorded, ours):
    return [key for key in {*recorded, *ours} if recorded.get(key) != ours.get(key)]


def test_same_seed_same_story():
    """A seed decides a run: played twice, every change is made at the same place of the log."""
    first, second = (TracePlayer(case("shared-claim")["steps"], upstream(), TimingDraws(seed=7)).world.log.changes for _ in range(2))

    assert first == second


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("name", NAMES)
def test_no_timing_reverses_cause_and_effect(name, seed):
    """Whoever goes first and sees late: no pod is bound before its claims are, no volume made before a node is chosen."""
    story, there = TracePlayer(case(name)["steps"], upstream(), TimingDraws(seed=seed)), {}
    for change in story.world.log.changes:
        if not isinstance(change.key, Key):
            continue
        key, old, new = change
        if key.kind == "Pod" and old is not None and new is not None and new.spec.node_name and not old.spec.node_name:
            claims = [there[Key("PersistentVolumeClaim", key.namespace, claim)] for claim in new.claim_names()]
            assert all("pv.kubernetes.io/bind-completed" in claim.metadata.annotations for claim in claims)
        if key.kind == "PersistentVolume" and old is None and new.spec.claim_ref is not None and new.spec.claim_ref.uid:
            claim = there[Key("PersistentVolumeClaim", new.spec.claim_ref.namespace, new.spec.claim_ref.name)]
            waits = there[Key("StorageClass", "", claim.spec.storage_class_name)].delayed
            assert "volume.kubernetes.io/selected-node" in claim.metadata.annotations or not waits
        there[key] = new


@pytest.mark.parametrize(("name", "lags"), [
    ("sts-scale-down-up", {"statefulset-controller Pod": 90, "statefulset-controller PersistentVolumeClaim": 90}),
    ("rolling-update-spread", {"deployment-controller ReplicaSet": 90}),
])  # fmt: skip
def test_what_was_made_and_not_yet_seen_is_no_failure(name, lags):
    """A controller whose informers lag tries to make again what it made, is refused, and says nothing of it."""
    story = TracePlayer(case(name)["steps"], upstream(), TimingDraws(lags=lags))
    refused = {outcome.reason for turn in story.world.turns for outcome in turn.outcomes if isinstance(outcome, RefusedWrite)}
    said = {event.reason for key, event in story.world.log.objects.items() if key.kind == "Event"}

    assert "AlreadyExists" in refused
    assert not {reason for reason in said if reason.startswith(("FailedCreate", "ReplicaSetCreate"))}


def test_the_volume_comes_though_the_scheduler_died():
    """A scheduler that stops after choosing a node: the volume is made and bound; its successor binds in one pass."""
    steps = [*case("release-delete")["steps"][:3], {"wait": {"object": "pvc/data", "has": "selected-node"}}]
    steps += [{"process": "stop sched"}, {"wait": {"object": "pvc/data", "path": "status.phase", "equals": "Bound"}}]
    steps += [{"process": "start sched"}, {"wait": {"object": "pod/app", "path": "status.phase", "equals": "Running"}}]
    story = TracePlayer(steps, upstream())
    ours = trace_of(story.world, story.drivers)["objects"]["pod/app"]

    assert ["user create", "scheduler patch/status", "scheduler create/binding", "kubelet patch/status"] == [
        f"{change['by']} {change['verb']}" for change in ours
    ]


def test_only_equal_nodes_change_places():
    """Nodes change places, with their zones, only where the trace's manifests are the same afterwards."""
    same = [{"apply": [node("a", "x"), node("b", "y")]}]
    wanted = [*same, {"apply": [{"kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeSelector": {"zone": "y"}}}]}]
    tainted = [{"apply": [node("a", "x"), node("b", "y", taints=["busy"])]}]

    assert [{"a": "a", "b": "b", "x": "x", "y": "y"}, {"a": "b", "b": "a", "x": "y", "y": "x"}] == [
        names for names, _ in interchanges(same)
    ]
    assert 1 == len(list(interchanges(wanted)))
    assert 1 == len(list(interchanges(tainted)))


def test_a_daemon_set_is_read_as_it_is_stored():
    """Its counts from the first, even where they are 0, and the generation of its template; its pods by node."""
    labels = {"app": "agent"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "i"}]}}
    agent = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": "demo"},
             "spec": {"selector": {"matchLabels": labels}, "template": template}}
    steps = [{"apply": [node("node-a"), node("node-b"), agent]}, {"wait": {"pods": "Running", "prefix": "agent", "count": 2}}]
    player = TracePlayer(steps, upstream())
    told = trace_of(player.world, player.drivers)
    created, *_, last = told["objects"]["ds/agent"]
    zero = dict.fromkeys((f"status.{each}" for each in (
        "currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady")), 0)
    assert {**zero, "metadata.annotations[deprecated.daemonset.template.generation]": "1"} == created["set"]
    assert ("kcm/daemonset-controller", "update/status", 2) == (last["by"], last["verb"], last["set"]["status.numberReady"])
    assert {"1"} == {rows[0]["set"]["metadata.labels[pod-template-generation]"]
                     for name, rows in told["objects"].items() if name.startswith("pod/agent-")}
