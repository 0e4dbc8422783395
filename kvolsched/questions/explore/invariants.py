"""What must always hold, as small functions over the objects before and after a write: "" or what is wrong.

They look at API objects only, as anybody with kubectl could; none knows how the components came to what they did. Only
`pods_forgotten` also asks a scheduler whether it waits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...api.volumes import volume_fits_node
from ...core.conditions import HasWorld
from ...rules.releases.kubernetes_1_36 import upstream_profile
from ...scheduler import requests
from ...scheduler.columns.snapshot import Snapshot, snapshot
from ...scheduler.framework.extension_points import DomainCounter
from ...scheduler.framework.judgement import judge
from ...scheduler.loop.scheduling_cycle import SchedulingPass
from ...scheduler.loop.scheduling_queue import BINDING, DECIDING, UNSCHEDULABLE, WAITING, pod_key_of_entry, queue_of
from ...scheduler.plugins.pod_topology_spread import SkewExceeds, skews_on
from ...world.log import Key
from ...world.simulation import Simulation

Objects = Mapping[Key, Any]
SPREADING: Any = upstream_profile().extending(DomainCounter)


def versions_grow(before: Objects, after: Objects) -> str:
    """Every object that was written has a higher version than any object had before."""
    highest = max((obj.metadata.resource_version for obj in before.values()), default=0)
    for key, obj in after.items():
        if before.get(key) is not obj and obj.metadata.resource_version <= highest:
            return f"{key.kind} {key.name} was written with version {obj.metadata.resource_version} after {highest}"
    return ""


def claims_and_volumes_match(_before: Objects, after: Objects) -> str:
    """A bound claim has a volume that is bound to it, and no volume serves two claims."""
    taken: dict[str, str] = {}
    for key, claim in _of(after, "PersistentVolumeClaim"):
        if claim.status.phase != "Bound":
            continue
        name = claim.spec.volume_name
        if name in taken:
            return f"volume {name} serves the claims {taken[name]} and {key.name}"
        taken[name] = key.name
        volume = after.get(Key("PersistentVolume", "", name))
        if volume is None:
            return f"claim {key.name} is bound to volume {name}, which is gone"
        ref = volume.spec.claim_ref
        if ref is None or (ref.namespace, ref.name, ref.uid) != (key.namespace, key.name, claim.metadata.uid):
            return f"claim {key.name} is bound to volume {name}, which is not bound to it"
    return ""


def pods_stay(before: Objects, after: Objects) -> str:
    """A pod that has a node keeps it: no pod is ever on two nodes."""
    for key, pod in _of(after, "Pod"):
        old = before.get(key)
        if old is None or old.metadata.uid != pod.metadata.uid or not old.spec.node_name:
            continue
        if old.spec.node_name != pod.spec.node_name:
            return f"pod {key.name} was on {old.spec.node_name} and is on {pod.spec.node_name or 'none'}"
    return ""


def pods_reach_their_volumes(_before: Objects, after: Objects) -> str:
    """A running pod's claims are bound to volumes that its node can reach."""
    for key, pod in _of(after, "Pod"):
        if pod.status.phase != "Running":
            continue
        node = after.get(Key("Node", "", pod.spec.node_name))
        for name in pod.claim_names():
            claim = after.get(Key("PersistentVolumeClaim", key.namespace, name))
            volume = after.get(Key("PersistentVolume", "", claim.spec.volume_name)) if claim is not None else None
            if volume is None:
                return f"pod {key.name} runs without the volume of its claim {name}"
            if node is not None and not volume_fits_node(volume, node):
                return f"pod {key.name} runs on {node.metadata.name}, which cannot reach volume {volume.metadata.name}"
    return ""


def nodes_hold_what_they_run(_before: Objects, after: Objects) -> str:
    """What the pods on a node ask for is there: of each resource, and of places for pods."""
    for key, node in _of(after, "Node"):
        asked: Counter[str] = Counter()
        for _, pod in _of(after, "Pod"):
            if pod.spec.node_name == key.name and not pod.terminal:
                asked.update(requests.held_requests(pod).amounts)
                asked["pods"] += 1
        there = requests.allocatable(node.status.allocatable)
        for resource, amount in sorted(asked.items()):
            if amount > there.get(resource, 0):
                short = requests.format_amount(resource, there.get(resource, 0))
                asked_for = requests.format_amount(resource, amount)
                return f"node {key.name} has {short} {resource}, its pods ask for {asked_for}"
    return ""


def pods_within_max_skew(before: Objects, after: Objects) -> str:
    """A pod that gets its node keeps its hard spread constraints, by the rule of v1.36.2."""
    for key, pod in _of(after, "Pod"):
        old = before.get(key)
        node = after.get(Key("Node", "", pod.spec.node_name))
        if node is None or (old is not None and old.spec.node_name):
            continue
        constraints = SPREADING.hard_constraints(pod)
        others = snapshot(obj for other, obj in after.items() if other != key) if constraints else Snapshot()
        for skew in skews_on(pod, node, constraints, others):
            if skew.domain is None:
                return f"pod {key.name} is on {pod.spec.node_name}, which has no label {skew.constraint.topology_key}"
            if not skew.fits:
                return f"pod {key.name} is on {pod.spec.node_name}: {SkewExceeds(skew)}"
    return ""


def pods_forgotten(cluster: HasWorld) -> str:
    """Say which pod waits for an event though a node would fit, "" if none does; asked while its scheduler waits.

    A scheduler looks at unschedulable pods again after 5 minutes at most; until then such a pod is forgotten. Nothing
    is said of a scheduler that has something to see or to do, or that is delayed.

    Args:
        cluster: a Cluster, or what `explore(at_rest=pods_forgotten)` asks.
    """
    return next((f"pod {name} waits for an event, and {node} would fit" for name, node in forgotten(cluster)), "")


def forgotten(cluster: HasWorld) -> Iterator[tuple[str, str]]:
    """Yield the name of each pod that is forgotten, `namespace/name`, and a node that would fit."""
    sim: Simulation = cluster.world
    for process in sim.processes.values():
        passes = [actor for actor in process.component.actors if isinstance(actor, SchedulingPass)]
        if not passes or process.pending or sim.is_delayed(process):
            continue
        contexts = [sim.read_only_context(process, actor) for actor in process.component.actors]
        parts = queue_of(contexts[0]).parts
        busy = any(ctx.actor.ready_causes(ctx) for ctx in contexts) or any(map(parts.get, (DECIDING, WAITING, BINDING)))
        waiting = () if busy else sorted(parts.get(UNSCHEDULABLE, ()))
        seen = snapshot(sim.log.objects.values()) if waiting else Snapshot()
        seen.moment = contexts[0].moment
        for name in waiting:
            pod = sim.log.objects[pod_key_of_entry(name)]
            found = judge(pod, seen, passes[0].profile) if pod.metadata.deletion_timestamp is None else None
            if found is not None and found.any_feasible and not found.error:
                yield name, found.feasible[0]


def everybody_runs(sim: Simulation) -> Callable[[Objects], bool]:
    """Return the goal that every pod runs; in a world without kubelet, that every pod has a node."""
    kubelet = "kubelet" in sim.processes

    def goal(objects: Objects) -> bool:
        return all(
            pod.terminal or (pod.spec.node_name and (pod.status.phase == "Running" or not kubelet))
            for _, pod in _of(objects, "Pod")
        )

    return goal


def everybody_runs_in_words(sim: Simulation) -> str:
    """Return what `everybody_runs` asks of a world."""
    return "every pod runs" if "kubelet" in sim.processes else "every pod has a node"


def outcome(objects: Objects) -> str:
    """Say where every pod is: the words that end states are counted by."""
    pods = [
        f"{key.name} {'runs ' if pod.status.phase == 'Running' else ''}on {pod.spec.node_name}"
        if pod.spec.node_name
        else f"{key.name} stays pending"
        for key, pod in sorted(_of(objects, "Pod"))
    ]
    return ", ".join(pods) or "no pods"


def _of(objects: Objects, kind: str) -> Iterator[tuple[Key, Any]]:
    for key, obj in objects.items():
        if key[0] == kind:
            yield key, obj
