"""Rows of nodes, pods, claims, volumes and classes: what the API has, and what the scheduler assumes.

States are read off objects and notes; each is one of the words that `frame` lists.
"""

from collections.abc import Iterable
from typing import Any

from ...api import volumes as rules
from ...api.kinds import quantity
from ...api.kinds.node import HOSTNAME_LABEL
from ...api.kinds.volume import PersistentVolume
from ...questions.explain import QUEUE_PART_WORDS
from ...scheduler.loop.scheduling_cycle import SCHEDULER
from ...scheduler.loop.scheduling_queue import BACKOFF, QUEUE, QueueEntry
from ...world.apiserver import ref
from ...world.log import Key
from .. import frame as f
from .context import FrameContext
from .verdicts import pass_rows

NOT_JUDGED = ("not judged", -1, "", True)


def nodes(context: FrameContext) -> tuple[f.NodeRow, ...]:
    """Return one row a node, with the requests of its pods and the last verdict on it."""
    used: dict[str, list[int]] = {}
    for _, pod in context.of("Pod"):
        if pod.holds_node:
            cpu, memory = context.requests(pod)
            sums = used.setdefault(pod.spec.node_name, [0, 0, 0])
            sums[0], sums[1], sums[2] = sums[0] + cpu, sums[1] + memory, sums[2] + 1
    passed = pass_rows(context)
    rows = []
    for key, node in context.of("Node"):
        cpu, memory, count = used.get(key.name, [0, 0, 0])
        room = node.status.allocatable or node.status.capacity
        known = passed.of_node.get(key.name, NOT_JUDGED) if passed is not None else NOT_JUDGED
        verdict, first, reason, resolvable = known
        score = passed.totals.get(key.name, -1) if passed is not None else -1
        rows.append(f.NodeRow(
            ref=ref(key), name=key.name, topology=tuple(sorted(node.metadata.labels.items())),
            cpu_used=cpu, cpu=quantity.milli(room.get("cpu", "0")),
            memory_used=memory, memory=quantity.value(room.get("memory", "0")),
            pods_used=count, pods=quantity.value(room.get("pods", "0")),
            ready=not any(c.type == "Ready" and c.status != "True" for c in node.status.conditions),
            unschedulable=node.spec.unschedulable, taints=tuple(str(taint) for taint in node.spec.taints),
            verdict=verdict, first=first, reason=reason, resolvable=resolvable, score=score,
        ))  # fmt: skip
    return tuple(rows)


def pods(context: FrameContext) -> tuple[f.PodRow, ...]:
    """Return one row a pod, with its part of the scheduler's queue and its node in the scheduler's cache."""
    rows = []
    notes: Any = context.notes
    for key, pod in context.of("Pod"):
        name = f"{key.namespace}/{key.name}"
        entry: QueueEntry | None = notes.get((SCHEDULER, QUEUE, name))  # equal to a Note, and made in less time
        assumed = context.assumed.get(key)
        assumed_node = assumed.spec.node_name if assumed is not None and not pod.spec.node_name else ""
        claims = context.claims_of_pods.get(key, ())
        cpu, memory = context.requests(pod)
        waits = entry is not None and entry.part == BACKOFF
        rows.append(f.PodRow(
            ref=ref(key), name=key.name, namespace=key.namespace, node=pod.spec.node_name,
            assumed_node=assumed_node, nominated_node=pod.status.nominated_node_name,
            state=pod_state(pod, assumed_node), gates=tuple(gate.name for gate in pod.spec.scheduling_gates),
            in_focus=bool(claims) or key == context.focus, claims=claims, cpu=cpu, memory=memory,
            queue=QUEUE_PART_WORDS.get(entry.part, entry.part) if entry is not None else "",
            wait=max(0.0, (entry.until or 0.0) - context.world.now) if entry is not None and waits else 0.0,
        ))  # fmt: skip
    return tuple(rows)


def pod_state(pod: Any, assumed_node: str) -> str:
    """Return one of POD_STATES: the state in the API, or `assumed` if only the scheduler's cache has a node."""
    if pod.metadata.deletion_timestamp is not None:
        return "terminating"
    if pod.status.phase in ("Succeeded", "Failed", "Running"):
        return str(pod.status.phase).lower()
    if pod.spec.node_name:
        return "bound"
    if pod.spec.scheduling_gates:
        return "gated"
    return "assumed" if assumed_node else "pending"


def claims(context: FrameContext) -> tuple[f.ClaimRow, ...]:
    """Return one row a claim, with what the API has of it and what the scheduler assumes."""
    matched = {
        Key("PersistentVolumeClaim", volume.spec.claim_ref.namespace, volume.spec.claim_ref.name): key.name
        for key, volume in context.assumed.items() if key.kind == "PersistentVolume"
    }
    users: dict[str, list[str]] = {}
    for key, names in context.claims_of_pods.items():
        for name in names:
            users.setdefault(name, []).append(ref(key))
    rows = []
    for key, claim in context.of("PersistentVolumeClaim"):
        assumed = context.assumed.get(key)
        selected = rules.selected_node(claim)
        assumed_node = rules.selected_node(assumed) if assumed is not None and not selected else ""
        class_name = rules.class_of_claim(claim)
        storage_class = context.objects.get(Key("StorageClass", "", class_name))
        mode = "WaitForFirstConsumer" if storage_class is not None and storage_class.delayed else "Immediate"
        volume = matched.get(key, "") if not claim.spec.volume_name else ""
        name = ref(key)
        rows.append(f.ClaimRow(
            ref=name, name=key.name, class_name=class_name, mode=mode,
            size=claim.spec.resources.requests.get("storage", ""),
            state=claim_state(claim, mode, selected, assumed_node or volume),
            selected_node=selected, assumed_node=assumed_node,
            volume=claim.spec.volume_name, assumed_volume=volume, pods=tuple(users.get(name, ())),
        ))  # fmt: skip
    return tuple(sorted(rows, key=lambda row: row.ref))


def claim_state(claim: Any, mode: str, selected: str, assumed: str) -> str:
    """Return one of CLAIM_STATES; `assumed` is the node or volume that only the scheduler's cache has."""
    if claim.metadata.deletion_timestamp is not None:
        return "terminating"
    if claim.status.phase in ("Bound", "Lost"):
        return str(claim.status.phase).lower()
    if selected:
        return "selected node"
    if assumed:
        return "assumed"
    return "waits for first consumer" if mode == "WaitForFirstConsumer" and not claim.spec.volume_name else "pending"


def volumes(context: FrameContext) -> tuple[f.VolumeRow, ...]:
    """Return one row a volume, with the nodes that reach it and the claim it is reserved for."""
    every_node = [node for _, node in context.of("Node")]
    rows = []
    for key, volume in context.of("PersistentVolume"):
        assumed = context.assumed.get(key)
        claim_ref, assumed_ref = volume.spec.claim_ref, assumed.spec.claim_ref if assumed is not None else None
        assumed_ref = None if claim_ref is not None else assumed_ref
        rows.append(f.VolumeRow(
            ref=ref(key), name=key.name, class_name=volume.spec.storage_class_name,
            size=volume.spec.capacity.get("storage", ""),
            state=volume_state(volume, assumed=assumed_ref is not None), reach=reach_of(volume, every_node),
            claim=_claim_ref(claim_ref), assumed_claim=_claim_ref(assumed_ref),
        ))  # fmt: skip
    return tuple(rows)


def volume_state(volume: Any, *, assumed: bool) -> str:
    """Return one of VOLUME_STATES."""
    if volume.metadata.deletion_timestamp is not None:
        return "terminating"
    phase = str(volume.status.phase).lower()
    if phase in ("released", "failed"):
        return phase
    if volume.spec.claim_ref is not None:
        return "bound" if phase == "bound" else "reserved"
    return "assumed" if assumed else phase or "pending"


def _claim_ref(reference: Any) -> str:
    return ref(Key("PersistentVolumeClaim", reference.namespace, reference.name)) if reference is not None else ""


def reach_of(volume: PersistentVolume, every_node: Iterable[Any]) -> str:
    """Return which nodes reach a volume: `node:N`, `zone:Z`, `zones:Z1,Z2`, `all` or `nowhere`."""
    if volume.spec.required_node_affinity is None:
        return "all"
    terms = volume.spec.node_terms
    words = {(e.key, e.operator, e.values) for term in terms for e in term.match_expressions}
    if len(terms) == 1 and len(words) == 1:
        ((key, operator, values),) = words
        if operator == "In":
            if key == HOSTNAME_LABEL and len(values) == 1:
                return f"node:{values[0]}"
            return f"zone:{values[0]}" if len(values) == 1 else f"zones:{','.join(values)}"
    names = [node.metadata.name for node in every_node if rules.volume_fits_node(volume, node)]
    zoned = [values for key, operator, values in words if short_key(key) == "zone" and operator == "In" and values]
    zones = sorted({values[0] for values in zoned})
    if not names:
        return "nowhere"
    if len(names) == 1:
        return f"node:{names[0]}"
    return f"zones:{','.join(zones)}" if len(zones) > 1 else f"zone:{zones[0]}" if zones else "all"


def short_key(key: str) -> str:
    """Return the last part of a topology key: `zone` of topology.kubernetes.io/zone."""
    return key.rpartition("/")[2]


def classes(context: FrameContext) -> tuple[f.ClassRow, ...]:
    """Return one row a storage class, with its allowed topologies in words."""
    rows = []
    for key, storage_class in context.of("StorageClass"):
        words = " or ".join(
            " and ".join(f"{short_key(e.key)} {', '.join(e.values)}" for e in term.match_label_expressions)
            for term in storage_class.allowed_topologies
        )
        mode = storage_class.volume_binding_mode or "Immediate"
        rows.append(f.ClassRow(ref(key), key.name, mode, words or "any", storage_class.provisioner))
    return tuple(rows)
