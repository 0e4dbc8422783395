"""Figures of speed, printed beside what they are meant to be. Nothing here asserts a time, but for growth.

Every figure is CPU time of this process, the least of a few runs, so that whatever else the machine does counts little;
what is compared is measured in turns. A pass is: judge every node, rank those that fit, take one, and count the pod.
Pods a second are decisions and writes of a simulated loop, not the end-to-end throughput of a cluster. The one failure:
a pass over ten times the nodes must not cost more than twelve times as much.
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

GROWTH = 12.0  # a pass at 5,000 nodes against one at 500
# What plain pods have nothing to do with: volumes, constraints, other pods' wishes.
SPECIAL = frozenset(
    ("VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity")
)
DUMP = Path(__file__).parent.parent / "tests" / "api" / "big_dump.py"


def seconds(act: Callable[[], object], runs: int = 5) -> float:
    """Return the least CPU time of an act over some runs, in seconds."""
    taken = []
    for _ in range(runs):
        collect()
        start = time.process_time()
        act()
        taken.append(time.process_time() - start)
    return min(taken)


# --- passes ---------------------------------------------------------------------------------------------------------


class PassTimer:
    """Passes of pods alike over a cluster's nodes, one after the other; every pod is counted on the node it gets.

    Args:
        objects: the cluster.
        claims: the class of the pods' claims; "": they have none.
        made: what is made of each pod before it is judged.
    """

    COUNT = 300

    def __init__(
        self, objects: Iterable[Any], claims: str = "", made: Callable[[Pod], Pod] = lambda pod: pod
    ) -> None:
        cluster = Cluster("upstream")
        cluster.load([*objects, *pods(self.COUNT, claims=claims)])
        process = cluster.world.processes[SCHEDULER]
        cluster.world.deliver(process)
        self.seen: Snapshot = process.views["cache"].snapshot  # type: ignore[attr-defined]
        self.profile = cluster.revision.profile
        self.pods = [made(cluster[f"pod/pod-{number:05}"]) for number in range(self.COUNT)]

    def seconds(self, profile: Profile | None = None) -> float:
        """Return the CPU seconds of one pass, and take all pods away again."""
        profile, placed = profile or self.profile, []
        start = time.process_time()
        for number, pod in enumerate(self.pods):
            ranking = rank(judge(pod, self.seen, profile))
            node = ranking.best_node(number * 7919 % ranking.tie_count)
            there = evolve_parts(pod, spec={"node_name": node})
            self.seen.apply(key_of(pod), pod, there)
            placed.append((pod, there))
        taken = time.process_time() - start
        for pod, there in placed:
            self.seen.apply(key_of(pod), there, pod)
        return taken / self.COUNT

    def least(self, runs: int = 7) -> float:
        """Return the least of some runs."""
        collect()
        return min(self.seconds() for _ in range(runs))

    def share(self, without: frozenset[str], runs: int = 15) -> float:
        """Return what a pass costs in shares of one without these plugins; both are measured in turns."""
        fewer = attrs.evolve(
            self.profile, plugins=tuple(each for each in self.profile.plugins if each.name not in without)
        )
        collect()
        both = [(self.seconds(), self.seconds(fewer)) for _ in range(runs)]
        return min(whole for whole, _ in both) / min(part for _, part in both)


def local_volumes(count: int, each: int) -> Iterable[PersistentVolume]:
    """Return so many local disks on each of so many nodes, of different sizes."""
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


def spreading(when: str, skew: int) -> Callable[[Pod], Pod]:
    """Return what gives a pod one constraint over zones."""
    selector = LabelSelector(match_labels=Frozen(app="bench"))
    constraint = TopologySpreadConstraint(
        max_skew=skew, topology_key=ZONE_LABEL, when_unsatisfiable=when, label_selector=selector
    )
    return lambda pod: evolve_parts(pod, spec={"topology_spread_constraints": (constraint,)})


def with_disks(each: int) -> PassTimer:
    """Return passes of pods with a local claim, over 5,000 nodes with so many disks each."""
    return PassTimer([storage_class("local", NO_PROVISIONER), *nodes(5_000), *local_volumes(5_000, each)], "local")


# --- the loop -------------------------------------------------------------------------------------------------------


def the_loop(size: int, count: int, claims: str = "", gated: int = 0, runs: int = 3) -> tuple[float, float, float]:
    """Return pods a second of the whole loop, writes a pod, and bytes of history a change."""
    rate, writes, weight = 0.0, 0, 0.0
    for _ in range(runs):
        cluster = Cluster("upstream")
        cluster.load([*nodes(size), *([storage_class(claims)] if claims else ())])
        cluster.load(_gated(gated))
        cluster.run()  # everybody has listed the nodes before the pods are there
        cluster.load(pods(count, claims=claims))
        taken = seconds(lambda: cluster.run(steps=10_000_000, seconds=1e9), runs=1)  # noqa: B023 - called at once
        placed = sum(1 for pod in cluster.objects("pods") if pod.spec.node_name)
        if placed != count:
            raise RuntimeError(f"only {placed} of {count} pods were placed")
        rate = max(rate, count / taken)
        writes = sum(len(turn.outcomes) for turn in cluster.world.turns)
        changes = cluster.world.log.changes
        weight = sum(sys.getsizeof(change) for change in changes) / max(1, len(changes))
    return rate, writes / count, weight


def _gated(count: int) -> list[Pod]:
    gates = (PodSchedulingGate(name="example.com/wait"),)
    meta = [attrs.evolve(pod.metadata, name=f"gated-{number:05}") for number, pod in enumerate(pods(count))]
    return [Pod(metadata=one, spec=attrs.evolve(pods(1)[0].spec, scheduling_gates=gates)) for one in meta]


def the_frame(count: int) -> float:
    """Return the seconds of one turn of the bare frame: see, decide, write once, three components watching."""

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
    taken = seconds(lambda: turns.extend(len(step) for step in world.run(steps=10_000_000)), runs=1)
    return taken / max(1, sum(turns))


def the_panel(count: int) -> float:
    """Return the seconds that the panel takes for one step in Python: the step itself, the frame, every string."""
    cluster = Cluster("upstream")
    cluster.load([*nodes(count), storage_class(), *pods(4, claims="zonal")])
    lab = cluster.lab()
    return seconds(lambda: lab.do("step"), runs=15)


def explored() -> float:
    """Return the transitions a second that the explorer makes on the two replicas of kubernetes#65131."""
    from .explore import explore  # noqa: PLC0415 - only here

    cluster = load("two-replicas").cluster("upstream")
    made: list[int] = []
    taken = seconds(lambda: made.append(explore(cluster, progress=False, max_states=20_000).transitions), runs=3)
    return made[0] / taken


# --- what is read ---------------------------------------------------------------------------------------------------


def applied(count: int) -> tuple[float, float]:
    """Return the seconds that `c.apply` takes for so many objects as JSON, a tenth of them nodes, and once more."""
    plain = [manifest.to_plain(obj) for obj in (*nodes(count // 10), *pods(count - count // 10))]
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": plain})
    first: list[float] = []
    again: list[float] = []
    for _ in range(3):
        cluster = Cluster("upstream")
        for taken in (first, again):
            taken.append(seconds(lambda: cluster.apply(text), runs=1))  # noqa: B023 - called at once
    return min(first), min(again)


def the_dump() -> tuple[float, float] | None:
    """Return the seconds to load a dump of 5,000 nodes and 10,000 pods as kubectl writes it, and of `why` on it.

    None where the tests, which make the dump, are not at hand.
    """
    if not DUMP.exists():
        return None
    with TemporaryDirectory() as folder:
        path = Path(folder) / "dump.json"
        path.write_text(runpy.run_path(str(DUMP))["big_text"](), encoding="utf-8")
        loaded: list[Cluster] = []
        load = seconds(lambda: loaded.append(Cluster.from_manifests(path)), runs=1)
    cluster = loaded[0]
    pod = next(pod for pod in cluster.objects("pods") if not pod.spec.node_name)
    name = f"pod/{pod.metadata.namespace}/{pod.metadata.name}"
    return load, seconds(lambda: str(cluster.why(name)), runs=3)


def imported() -> float:
    """Return the seconds that `import kvolsched` takes in a fresh interpreter, less the interpreter's own start.

    The package is compiled beforehand, as it is where it is installed.
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


def say(what: str, figure: str, aim: str = "") -> None:
    """Print one figure beside its aim."""
    print(f"{what:<62}{figure:>20}   {aim}", flush=True)


def main() -> int:
    """Print every figure beside its aim; return 1 where cost grows wrongly."""
    passes = {}
    for size in (100, 500, 1_000, 5_000, 20_000):
        passes[size] = PassTimer(nodes(size)).least()
        aim = "under 0.5 ms" if size == 5_000 else ""
        say(f"one pass, plain pod, all plugins, {size:,} nodes", f"{passes[size] * 1e3:.3f} ms", aim)
    share = PassTimer(nodes(5_000)).share(SPECIAL)
    say("  in shares of one without volumes, constraints, affinity", f"{share:.2f}", "1.00")
    few, many = (with_disks(each).least() for each in (2, 20))
    say("passes, pods with a local claim, 5,000 nodes, 10,000 disks", f"{1 / few:,.0f} pods/s", "over 5,000 pods/s")
    say("  the same among 100,000 disks", f"{1 / many:,.0f} pods/s", "the same")
    for word, when, skew in (("hard", "DoNotSchedule", 5), ("soft", "ScheduleAnyway", 1)):
        rate = 1 / PassTimer(nodes(5_000), made=spreading(when, skew)).least()
        say(f"passes, pods with a {word} constraint, 5,000 nodes", f"{rate:,.0f} pods/s", "over 3,000 pods/s")
    say("bare frame, one turn with one write", f"{the_frame(2_000) * 1e6:.0f} µs")
    rate, writes, weight = the_loop(1_000, 3_000)
    say("whole loop, 1,000 nodes, plain pods", f"{rate:,.0f} pods/s", "over 3,000 pods/s")
    say("  writes a pod", f"{writes:.1f}")
    say("  a change of history", f"{weight:.0f} bytes", "under 1,000 bytes, objects not counted")
    beside = the_loop(1_000, 3_000, gated=10_000)[0]
    say("  beside 10,000 gated pods", f"{beside:,.0f} pods/s", "the same")
    rate, writes, _ = the_loop(1_000, 500, "zonal")
    say("whole loop, 1,000 nodes, zonal dynamic pods", f"{rate:,.0f} pods/s")
    say("  writes a pod", f"{writes:.1f}")
    created, again = applied(10_000)
    say("10,000 objects applied, from JSON", f"{created:.2f} s", "under 3 s")
    say("  and once more, unchanged", f"{again:.2f} s")
    if (dump := the_dump()) is not None:
        say("a dump of 5,000 nodes and 10,000 pods read", f"{dump[0]:.1f} s", "under 10 s")
        say("  why a pod of it is pending", f"{dump[1]:.2f} s", "under 1 s")
    say("explorer, two replicas under upstream", f"{explored():,.0f} transitions/s", "over 5,000 transitions/s")
    say("a step of the panel, 12 nodes, Python's part alone", f"{the_panel(12) * 1e3:.0f} ms", "click to paint: 100 ms")
    say("import kvolsched", f"{imported() * 1e3:.0f} ms", "under 400 ms")
    growth = passes[5_000] / passes[500]
    say("growth of a pass, 5,000 against 500 nodes", f"{growth:.1f} times", f"at most {GROWTH:g} times")
    return 0 if growth <= GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
