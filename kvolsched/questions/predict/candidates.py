"""What may be answered to a question: real nodes, plugins, volumes, ends or actors, each with facts of the API.

Candidates are sorted by name and say nothing that only a judgement knows, so neither order nor words betray the answer.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.meta import EMPTY
from ...api.kinds.node import HOSTNAME_LABEL, ZONE_LABELS, Node
from ...api.kinds.pod import Pod
from ...api.kinds.volume import PersistentVolume, PersistentVolumeClaim
from ...api.words import amount, cores, listed
from ...core.core import ClusterCore
from ...core.results import as_sentence
from ...scheduler import requests
from ...scheduler.loop.scheduling_cycle import PASS
from ...scheduler.loop.scheduling_queue import pod_key_of_entry
from ...world.history import Turn
from ...world.log import Key

ASKS = {  # what is asked -> the question if none is written
    "node": "Which node will {pod} get?",
    "plugin": "Which plugin rejects {node} first for {pod}?",
    "volume": "Which volume will {claim} get?",
    "end": "How does {pod} end?",
    "order": "Who acts next?",
}
NONE, NEW, PENDING, GONE = "none of them", "a new one", "stays Pending", "is gone"
MOST = 8  # nodes that are candidates one by one; of more, one of each group that is judged alike
BY_ADMISSION = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})  # tolerated by every pod


@attrs.frozen
class PossibleAnswer:
    """One possible answer.

    Args:
        name: what `answer` takes: a node's name, a plugin's, ...
        facts: what the API says of it.
        members: all names that it stands for; more than one for nodes that are judged alike.
    """

    name: str
    facts: str = ""
    members: tuple[str, ...] = ()

    @property
    def stands_for(self) -> tuple[str, ...]:
        """The names that it stands for."""
        return self.members or (self.name,)


def node_candidates(cluster: ClusterCore, groups: Iterable[tuple[str, ...]] = ()) -> tuple[PossibleAnswer, ...]:
    """Return the nodes, or one of each group, by name.

    Args:
        cluster: the cluster.
        groups: the names of nodes that are judged alike, sorted; none: every node by itself.
    """
    nodes: dict[str, Node] = {node.metadata.name: node for node in cluster.objects("nodes")}
    used: dict[str, list[Pod]] = {}
    for pod in cluster.objects("pods"):
        if pod.holds_node:
            used.setdefault(pod.spec.node_name, []).append(pod)
    alike = list(groups) or [(name,) for name in nodes]
    found = []
    for names in sorted(alike):
        first, *others = (node_facts(nodes[name], used.get(name, [])) for name in names)
        common = [part for part in first if all(part in other for other in others)]
        more = [f"and {len(others)} judged alike"] if others else []
        found.append(PossibleAnswer(names[0], " · ".join([*more, *common]), tuple(names)))
    return tuple(found)


def node_facts(node: Node, pods: Iterable[Pod]) -> list[str]:
    """Return what the API says of a node: its zone, its free cpu and memory, its taints, and whether it is cordoned."""
    parts = [node.zone]
    there = requests.allocatable(node.status.allocatable)
    held = [requests.held_requests(pod) for pod in pods]
    room = []
    if requests.CPU in there:
        room.append(_free(there[requests.CPU], sum(each.cpu for each in held), cores) + " cpu")
    if "memory" in there:
        room.append(_free(there["memory"], sum(each.memory for each in held), amount))
    parts += [f"{', '.join(room)} free"] if room else []
    parts += [f"taint {taint.key}{f'={taint.value}' if taint.value else ''}" for taint in node.spec.taints
              if not (node.spec.unschedulable and taint.key == "node.kubernetes.io/unschedulable")]
    parts += ["cordoned"] if node.spec.unschedulable else []
    return [part for part in parts if part]


def _free(size: int, used: int, words: Callable[[int], str]) -> str:
    return f"{words(size - used)} of {words(size)}" if used else words(size)


def volume_candidates(cluster: ClusterCore, claim: PersistentVolumeClaim) -> tuple[PossibleAnswer, ...]:
    """Return the volumes of a claim's class that no other claim holds, by name."""
    found = []
    for volume in cluster.objects("pv"):
        free = volume.spec.claim_ref is None or volumes.is_bound_to(volume, claim)
        if free and volumes.class_of_volume(volume) == volumes.class_of_claim(claim):
            found.append(PossibleAnswer(volume.metadata.name, volume_facts(volume)))
    return tuple(found)


def volume_facts(volume: PersistentVolume) -> str:
    """Return what the API says of a volume: its size, class, where it can be reached, its phase."""
    asked = (part for term in volume.spec.node_terms for part in term.match_expressions)
    values = [", ".join(part.values) for part in asked if part.key in (*ZONE_LABELS, HOSTNAME_LABEL)]
    reach = " or ".join(values) or "from some nodes"
    reach = "from every node" if volume.spec.required_node_affinity is None else reach
    kind = volumes.class_of_volume(volume)
    parts = (volume.spec.capacity.get("storage", ""), f"class {kind}" if kind else "", reach, volume.status.phase or "")
    return " · ".join(part for part in parts if part)


def turn_candidates(turns: Sequence[Turn]) -> tuple[PossibleAnswer, ...]:
    """Return those who may act next, by name, with what each would do."""
    names = [turn.actor or turn.component for turn in turns]
    found = {turn_name(turn, names): PossibleAnswer(turn_name(turn, names), _plan(turn)) for turn in turns}
    return tuple(found[name] for name in sorted(found))


def turn_name(turn: Turn, names: Sequence[str]) -> str:
    """Return the name of an actor; with what it takes up where the actor has several causes."""
    name = turn.actor or turn.component
    return f"{name}: {turn.cause}" if names.count(name) > 1 else name


def _plan(turn: Turn) -> str:
    """Return what a turn would do, without what a scheduling pass would decide."""
    judged = f"Scheduler judges {pod_key_of_entry(turn.cause).name}"
    return as_sentence(judged if turn.actor == PASS else turn.words or turn.cause)


def pod_words(cluster: ClusterCore, pod: Pod) -> str:
    """Return in a line what a pod asks for."""
    asked = requests.pod_requests(pod.spec)
    parts = [f"{cores(asked.cpu)} cpu"] if asked.cpu else []
    parts += [f"{amount(asked.memory)} of memory"] if asked.memory else []
    for name in pod.claim_names():
        key = Key("PersistentVolumeClaim", pod.metadata.namespace, name)
        claim: Any = cluster.world.log.objects.get(key)
        size = claim.spec.resources.requests.get("storage", "") if claim is not None else ""
        state = f" on {claim.spec.volume_name}" if claim is not None and claim.spec.volume_name else ""
        parts.append(f"the claim {name}{f' of {size}' if size else ''}{state}")
    rules = [word for word, there in (
        ("a node selector", pod.spec.node_selector != EMPTY),
        ("affinity", pod.spec.affinity is not None),
        ("spread constraints", bool(pod.spec.topology_spread_constraints)),
        ("tolerations", any(each.key not in BY_ADMISSION for each in pod.spec.tolerations)),
    ) if there]  # fmt: skip
    asks = f"It asks for {listed(parts)}" if parts else "It asks for nothing"
    return asks + (f" and has {listed(rules)}." if rules else ".")
