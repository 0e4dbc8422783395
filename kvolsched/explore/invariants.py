"""What must always hold, as small functions over the objects before and after a write: "" or what is wrong.

They look at API objects only, as anybody with kubectl could; none knows how the components came to what they did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kvolsched.api.kinds.pod import Pod, TopologySpreadConstraint
from kvolsched.scheduler import requests
from kvolsched.scheduler.node_selection import matches_node_affinity
from kvolsched.volumes import volume_fits_node
from kvolsched.world.log import Key
from kvolsched.world.simulation import Simulation

Objects = Mapping[Key, Any]


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
                asked.update(requests.pod_requests(pod.spec).amounts)
                asked["pods"] += 1
        there = requests.allocatable(node.status.allocatable)
        for resource, amount in sorted(asked.items()):
            if amount > there.get(resource, 0):
                short = requests.format_amount(resource, there.get(resource, 0))
                return f"node {key.name} has {short} {resource}, its pods ask for {requests.format_amount(resource, amount)}"
    return ""


def spread_is_kept(before: Objects, after: Objects) -> str:
    """A pod that gets its node now keeps every hard spread constraint of its own, counting itself."""
    for key, pod in _of(after, "Pod"):
        old = before.get(key)
        if pod.spec.node_name and (old is None or not old.spec.node_name):
            for constraint in pod.spec.topology_spread_constraints:
                if constraint.when_unsatisfiable == "DoNotSchedule":
                    wrong = _skewed(key, pod, constraint, after)
                    if wrong:
                        return wrong
    return ""


def _skewed(key: Key, pod: Pod, constraint: TopologySpreadConstraint, objects: Objects) -> str:
    """Say how a pod's node breaks one of its spread constraints, "" if it does not."""
    selector, topology = constraint.label_selector, constraint.topology_key
    domains = {
        node.metadata.name: node.metadata.labels[topology]
        for _, node in _of(objects, "Node")
        if topology in node.metadata.labels and (matches_node_affinity(pod, node) or node.metadata.name == pod.spec.node_name)
    }
    counts = dict.fromkeys(domains.values(), 0)
    for where, other in _of(objects, "Pod"):
        node = other.spec.node_name
        alike = selector is not None and selector.matches(other.metadata.labels)
        if where.namespace == key.namespace and node in domains and alike and not other.terminal:
            counts[domains[node]] += 1
    here = domains.get(pod.spec.node_name)
    if here is None:
        return f"pod {key.name} is on {pod.spec.node_name}, which has no label {topology}"
    skew = counts[here] - min(counts.values())
    if skew > constraint.max_skew:
        return f"pod {key.name} makes the skew over {topology} {skew}, more than {constraint.max_skew}"
    return ""


def everybody_runs(sim: Simulation) -> Callable[[Objects], bool]:
    """Return the goal that every pod runs; in a world without kubelet, that every pod has a node."""
    kubelet = "kubelet" in sim.processes

    def goal(objects: Objects) -> bool:
        return all(
            pod.terminal or (pod.spec.node_name and (pod.status.phase == "Running" or not kubelet))
            for _, pod in _of(objects, "Pod")
        )

    return goal


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
