"""Measures speed and prints each figure beside its aim; only the growth of a pass can fail.

A figure is CPU time of this process, the least of a few runs, so that other load counts little; compared figures are
measured alternately. A pass judges every node, ranks those that fit, takes one, and counts the pod. Pods per second
are decisions and writes of a simulated loop, not the throughput of a cluster. A pass over ten times the nodes must
not cost more than twelve times as much.
"""

from __future__ import annotations

import json
import os
import resource
import runpy
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from gc import collect
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs

from .api.kinds.meta import Frozen, ObjectMeta, evolve_parts
from .api.kinds.node import HOSTNAME_LABEL, ZONE_LABEL
from .api.kinds.pod import Pod, PodSchedulingGate, TopologySpreadConstraint
from .api.kinds.selector import LabelSelector, NodeSelector, NodeSelectorTerm, Requirement
from .api.kinds.storage_class import NO_PROVISIONER
from .api.kinds.volume import PersistentVolume, PersistentVolumeSpec, PersistentVolumeStatus, VolumeNodeAffinity
from .api.text import manifest
from .cluster import Cluster
from .scenario import load, nodes, pods, storage_class
from .scheduler.columns.snapshot import Snapshot
from .scheduler.framework.judgement import judge
from .scheduler.framework.profile import Profile
from .scheduler.framework.ranking import rank
from .scheduler.loop.scheduling_cycle import SCHEDULER
from .world.apiserver import Write, key_of
from .world.component import Component
from .world.reconciler import Reconciler
from .world.simulation import Simulation

MAX_GROWTH = 12.0  # of a pass, 5,000 against 500 nodes
# Plugins that plain pods do not need: those of volumes, constraints and pod affinity.
PLUGINS_OF_SPECIAL_PODS = frozenset(
    ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity")
)
DUMP = Path(__file__).parent.parent / "tests" / "api" / "big_dump.py"


def least_cpu_seconds(act: Callable[[], object], runs: int = 5) -> float:
    """Return the least CPU time of a call over some runs, in seconds."""
    taken = []
    for _ in range(runs):
        collect()
        start = time.process_time()
        act()
        taken.append(time.process_time() - start)
    return min(taken)


# --- passes ---------------------------------------------------------------------------------------------------------


class PassTimer:
    """Times scheduling passes of equal pods over a cluster's nodes; each pod is counted on its chosen node.

    Args:
        objects: the cluster's objects.
        claims: the class of the pods' claims; "" for pods without claims.
        change: changes each pod before it is judged.
    """

    COUNT = 300

    def __init__(
        self, objects: Iterable[Any], claims: str = "", change: Callable[[Pod], Pod] = lambda pod: pod
    ) -> None:
        cluster = Cluster("upstream")
        cluster.load([*objects, *pods(self.COUNT, claims=claims)])
        process = cluster.world.processes[SCHEDULER]
        cluster.world.deliver(process)
        self.seen: Snapshot = process.views["cache"].behind  # type: ignore[attr-defined]
        self.profile = cluster.revision.profile
        self.pods = [change(cluster[f"pod/pod-{number:05}"]) for number in range(self.COUNT)]

    def seconds(self, profile: Profile | None = None) -> float:
        """Return the CPU seconds of one pass, and remove all pods afterwards."""
        profile, placed = profile or self.profile, []
        start = time.process_time()
        for number, pod in enumerate(self.pods):
            ranking = rank(judge(pod, self.seen, profile))
            node = ranking.tied(number * 7919 % ranking.ties)
            there = evolve_parts(pod, spec={"node_name": node})
            self.seen.apply(key_of(pod), pod, there)
            placed.append((pod, there))
        taken = time.process_time() - start
        for pod, there in placed:
            self.seen.apply(key_of(pod), there, pod)
        return taken / self.COUNT

    def least(self, runs: int = 7) -> float:
        """Return the least CPU seconds of a pass over some runs."""
        collect()
        return min(self.seconds() for _ in range(runs))

    def share(self, without: frozenset[str], runs: int = 15) -> float:
        """Return the cost of a pass divided by that of one without these plugins, measured alternately."""
        fewer = attrs.evolve(
            self.profile, plugins=tuple(each for each in self.profile.plugins if each.name not in without)
        )
        collect()
        both = [(self.seconds(), self.seconds(fewer)) for _ in range(runs)]
        return min(whole for whole, _ in both) / min(part for _, part in both)


def local_volumes(count: int, each: int) -> Iterable[PersistentVolume]:
    """Yield `each` local volumes of different sizes on each of `count` nodes."""
    for number in range(count):
        reach = Requirement(key=HOSTNAME_LABEL, operator="In", values=(f"node-{number:05}",))
        terms = (NodeSelectorTerm(match_expressions=(reach,)),)
        affinity = VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms))
        for disk in range(each):
            spec = PersistentVolumeSpec(
                capacity=Frozen(storage=f"{10 + (number * 7 + disk * 13) % 90}Gi"),
                access_modes=("ReadWriteOnce",),
                storage_class_name="local",
                node_affinity=affinity,
                rest=Frozen(local=Frozen(path="/disk")),
            )
            meta = ObjectMeta(name=f"disk-{number:05}-{disk}")
            yield PersistentVolume(metadata=meta, spec=spec, status=PersistentVolumeStatus(phase="Available"))


def with_spread_constraint(when: str, skew: int) -> Callable[[Pod], Pod]:
    """Return a function that gives a pod one spread constraint over zones."""
    selector = LabelSelector(match_labels=Frozen(app="bench"))
    constraint = TopologySpreadConstraint(
        max_skew=skew, topology_key=ZONE_LABEL, when_unsatisfiable=when, label_selector=selector
    )
    return lambda pod: evolve_parts(pod, spec={"topology_spread_constraints": (constraint,)})


def local_volume_passes(each: int) -> PassTimer:
    """Return a timer of pods with a local claim, over 5,000 nodes with so many local volumes each."""
    return PassTimer([storage_class("local", NO_PROVISIONER), *nodes(5_000), *local_volumes(5_000, each)], "local")


# --- the loop -------------------------------------------------------------------------------------------------------


def measure_loop(size: int, count: int, claims: str = "", gated: int = 0, runs: int = 3) -> tuple[float, float, float]:
    """Return pods per second of the whole loop, writes per pod, and bytes of history per change."""
    rate, writes, weight = 0.0, 0, 0.0
    for _ in range(runs):
        cluster = Cluster("upstream")
        cluster.load([*nodes(size), *([storage_class(claims)] if claims else ())])
        cluster.load(_gated_pods(gated))
        cluster.run()  # every component lists the nodes before the pods exist
        cluster.load(pods(count, claims=claims))
        taken = least_cpu_seconds(lambda: cluster.run(steps=10_000_000, seconds=1e9), runs=1)  # noqa: B023 - called at once
        placed = sum(1 for pod in cluster.objects("pods") if pod.spec.node_name)
        if placed != count:
            raise RuntimeError(f"only {placed} of {count} pods were placed")
        rate = max(rate, count / taken)
        writes = sum(len(turn.outcomes) for turn in cluster.world.turns)
        changes = cluster.world.log.changes
        weight = sum(sys.getsizeof(change) for change in changes) / max(1, len(changes))
    return rate, writes / count, weight


def _gated_pods(count: int) -> list[Pod]:
    gates = (PodSchedulingGate(name="example.com/wait"),)
    meta = [attrs.evolve(pod.metadata, name=f"gated-{number:05}") for number, pod in enumerate(pods(count))]
    spec = attrs.evolve(pods(1)[0].spec, scheduling_gates=gates)
    return [Pod(metadata=each, spec=spec) for each in meta]


def measure_frame(count: int) -> float:
    """Return the seconds of one turn without Kubernetes' rules: see, decide, write once, three components watching."""

    def sync(ctx: object, cause: str) -> list[Write]:
        pod = ctx.seen.get("Pod", cause, "default")  # type: ignore[attr-defined]
        if pod is None or pod.status.phase == "Running":
            return []
        running = evolve_parts(pod, status={"phase": "Running"})
        return [Write("update_status", key_of(pod), running)]

    worker = Component("worker", ("Pod",), (Reconciler("worker", lambda _h, key, _o, _n: [key.name], sync),))
    idle = [Reconciler(f"watcher-{n}", lambda *_: (), lambda *_: ()) for n in range(2)]
    others = [Component(routine.name, ("Pod",), (routine,)) for routine in idle]
    world = Simulation([worker, *others])
    for pod in pods(count):
        world.log.write(key_of(pod), pod)
    world.reset_history()
    turns: list[int] = []
    taken = least_cpu_seconds(lambda: turns.extend(len(step) for step in world.run(steps=10_000_000)), runs=1)
    return taken / max(1, sum(turns))


def measure_panel(count: int) -> float:
    """Return the seconds of the panel's Python code for one step: the step, the frame, every string."""
    cluster = Cluster("upstream")
    cluster.load([*nodes(count), storage_class(), *pods(4, claims="zonal")])
    lab = cluster.lab()
    return least_cpu_seconds(lambda: lab.do("step"), runs=15)


def measure_explorer() -> float:
    """Return the transitions per second of the explorer on the two replicas of kubernetes#65131."""
    from .explore import explore  # noqa: PLC0415 - only here

    cluster = load("two-replicas").cluster("upstream")
    counts: list[int] = []

    def search() -> None:
        counts.append(explore(cluster, progress=False, max_states=20_000).transitions)

    taken = least_cpu_seconds(search, runs=3)
    return counts[0] / taken


# --- what is read ---------------------------------------------------------------------------------------------------


def measure_apply(count: int) -> tuple[float, float]:
    """Return the seconds of `c.apply` for so many objects as JSON, a tenth of them nodes, and of a second apply."""
    plain = [manifest.to_plain(obj) for obj in (*nodes(count // 10), *pods(count - count // 10))]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": plain})
    first: list[float] = []
    again: list[float] = []
    for _ in range(3):
        cluster = Cluster("upstream")
        for taken in (first, again):
            taken.append(least_cpu_seconds(lambda: cluster.apply(text), runs=1))  # noqa: B023 - called at once
    return min(first), min(again)


def measure_dump() -> tuple[float, float] | None:
    """Return the seconds to load a kubectl dump of 5,000 nodes and 10,000 pods, and of `why` on it.

    Returns None if the tests, which build the dump, are not installed.
    """
    if not DUMP.exists():
        return None
    with TemporaryDirectory() as folder:
        path = Path(folder) / "dump.json"
        path.write_text(runpy.run_path(str(DUMP))["big_text"](), encoding="utf-8")
        loaded: list[Cluster] = []
        load = least_cpu_seconds(lambda: loaded.append(Cluster.from_manifests(path)), runs=1)
    cluster = loaded[0]
    pod = next(pod for pod in cluster.objects("pods") if not pod.spec.node_name)
    name = f"pod/{pod.metadata.namespace}/{pod.metadata.name}"
    return load, least_cpu_seconds(lambda: str(cluster.why(name)), runs=3)


def measure_import() -> float:
    """Return the seconds of `import kvolsched` in a fresh interpreter, less the interpreter's start.

    The package is compiled beforehand, as an installed package is.
    """
    with TemporaryDirectory() as folder:
        unset = ("PYTHONDONTWRITEBYTECODE",)
        environment = {key: value for key, value in os.environ.items() if key not in unset}
        environment["PYTHONPYCACHEPREFIX"] = folder

        def python(code: str) -> float:
            subprocess.run([sys.executable, "-c", code], check=True, env=environment)  # noqa: S603
            taken = []
            for _ in range(5):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run([sys.executable, "-c", code], check=True, env=environment)  # noqa: S603
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            return min(taken)

        return python("import kvolsched") - python("pass")


def report(what: str, figure: str, aim: str = "") -> None:
    """Print one figure beside its aim."""
    print(f"{what:<62}{figure:>20}   {aim}", flush=True)


def main() -> int:
    """Print every figure beside its aim; return 1 if the cost of a pass grows too fast."""
    passes = {}
    for size in (100, 500, 1_000, 5_000, 20_000):
        passes[size] = PassTimer(nodes(size)).least()
        aim = "under 0.5 ms" if size == 5_000 else ""
        report(f"one pass, plain pod, all plugins, {size:,} nodes", f"{passes[size] * 1e3:.3f} ms", aim)
    share = PassTimer(nodes(5_000)).share(PLUGINS_OF_SPECIAL_PODS)
    report("  divided by one without volumes, constraints, affinity", f"{share:.2f}", "1.00")
    few, many = (local_volume_passes(each).least() for each in (2, 20))
    report("passes, pods with a local claim, 5,000 nodes, 10,000 disks", f"{1 / few:,.0f} pods/s", "over 5,000 pods/s")
    report("  and 100,000 disks", f"{1 / many:,.0f} pods/s", "as with 10,000")
    for word, when, skew in (("hard", "DoNotSchedule", 5), ("soft", "ScheduleAnyway", 1)):
        rate = 1 / PassTimer(nodes(5_000), change=with_spread_constraint(when, skew)).least()
        report(f"passes, pods with a {word} constraint, 5,000 nodes", f"{rate:,.0f} pods/s", "over 3,000 pods/s")
    report("simulation without rules, one turn with one write", f"{measure_frame(2_000) * 1e6:.0f} µs")
    rate, writes, weight = measure_loop(1_000, 3_000)
    report("whole loop, 1,000 nodes, plain pods", f"{rate:,.0f} pods/s", "over 3,000 pods/s")
    report("  writes per pod", f"{writes:.1f}")
    report("  history per change", f"{weight:.0f} bytes", "under 1,000 bytes, objects not counted")
    beside = measure_loop(1_000, 3_000, gated=10_000)[0]
    report("  beside 10,000 gated pods", f"{beside:,.0f} pods/s", "as without")
    rate, writes, _ = measure_loop(1_000, 500, "zonal")
    report("whole loop, 1,000 nodes, zonal dynamic pods", f"{rate:,.0f} pods/s")
    report("  writes per pod", f"{writes:.1f}")
    created, again = measure_apply(10_000)
    report("10,000 objects applied, from JSON", f"{created:.2f} s", "under 3 s")
    report("  and once more, unchanged", f"{again:.2f} s")
    if (dump := measure_dump()) is not None:
        report("a dump of 5,000 nodes and 10,000 pods read", f"{dump[0]:.1f} s", "under 10 s")
        report("  why a pod is pending", f"{dump[1]:.2f} s", "under 1 s")
    rate = measure_explorer()
    report("explorer, two replicas under upstream", f"{rate:,.0f} transitions/s", "over 5,000 transitions/s")
    report("a step of the panel, 12 nodes, Python alone", f"{measure_panel(12) * 1e3:.0f} ms", "click to paint: 100 ms")
    report("import kvolsched", f"{measure_import() * 1e3:.0f} ms", "under 400 ms")
    growth = passes[5_000] / passes[500]
    report("growth of a pass, 5,000 against 500 nodes", f"{growth:.1f} times", f"at most {MAX_GROWTH:g} times")
    return 0 if growth <= MAX_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
