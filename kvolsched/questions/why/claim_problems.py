"""Describes why a claim has no volume: its class, and the objections to each volume that might have served it.

This module reads claims, volumes and classes; the rules of matching are those of `volumes`.
"""

from collections.abc import Iterator, Sequence

from ...api import volumes
from ...api.kinds.meta import ObjectReference
from ...api.kinds.node import HOSTNAME_LABEL, Node
from ...api.kinds.pod import Pod
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import PROVISIONED_BY, PersistentVolume, PersistentVolumeClaim
from ...api.words import counted, listed
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.columns.storage_capacities import is_capacity_checked, max_volume_size
from ...world.apiserver import key_of
from ..near_names import near_misses
from .answer import Finding

MAX_SHOWN = 6  # volumes of a class, and its pools
FREE, RESERVED = "free", "reserved for this claim, which takes no other"
"""These begin the words about a volume to which nothing objects."""
MAX_NAMED = 2  # volumes and nodes in one sentence


def claims_of(pod: Pod, seen: Snapshot) -> list[tuple[str, PersistentVolumeClaim | None]]:
    """Return the pod's claims by name; None for one that does not exist."""
    return [(name, seen.claim(pod.metadata.namespace, name)) for name in dict.fromkeys(pod.claim_names())]


def should_be_bound(claim: PersistentVolumeClaim, seen: Snapshot) -> bool:
    """Say whether a claim blocks scheduling: unbound without delayed binding, or its volume is gone."""
    if volumes.is_bound(claim):
        return seen.volume(claim.spec.volume_name) is None
    storage_class = seen.storage_class(volumes.class_of_claim(claim))
    return not volumes.waits_for_pod(claim, storage_class)


def describe_claim(claim: PersistentVolumeClaim, seen: Snapshot) -> Iterator[str]:
    """Yield what is known of a claim: its volume, or its class and the objections to each volume of the class."""
    name = volumes.class_of_claim(claim)
    storage_class = seen.storage_class(name)
    volume_name = claim.spec.volume_name
    if volume_name:
        yield from _describe_volume(claim, volume_name, seen)
        return
    selected = volumes.selected_node(claim)
    if selected:
        gone = "" if seen.node(selected) is not None else ", which does not exist any more"
        yield f"the scheduler selected node {selected} for it{gone}: its volume is provisioned for that node alone"
    of_class = seen.volumes_of_class(name)
    yield from _describe_class(name, storage_class, is_needed=not any(map(is_static, of_class)))
    if storage_class is not None:
        yield from _describe_capacity(claim, storage_class, seen)
    for volume in of_class[:MAX_SHOWN]:
        yield f"volume {volume.metadata.name}: {volume_objections(claim, volume, seen)}"
    if (more := len(of_class) - MAX_SHOWN) > 0:
        yield f"and {counted(more, 'more volume')} of the class"
    if not of_class and (storage_class is None or not volumes.has_provisioner(storage_class)):
        yield f"there is no volume {f'of class {name}' if name else 'without a class'}"


def _describe_volume(claim: PersistentVolumeClaim, name: str, seen: Snapshot) -> Iterator[str]:
    volume = seen.volume(name)
    if volume is None:
        yield f"it names volume {name}, which does not exist"
        return
    ref = volume.spec.claim_ref
    if ref is not None and not volumes.is_bound_to(volume, claim):
        released = _released(volume, ref, seen)
        yield f"volume {name} {f'is {released}' if released else f'belongs to claim {volumes.claim_ref_key(ref)}'}"
    elif not volumes.is_bound(claim):
        objections = volume_objections(claim, volume, seen)
        yield f"it names volume {name}, but is not bound to it yet ({objections})"
    wanted = volume.spec.required_node_affinity
    if wanted is None or any(_reaches(volume, node) for node in seen.all_nodes()):
        return
    parts = [part for term in wanted.node_selector_terms for part in term.match_expressions if part.operator == "In"]
    gone = [name for part in parts if part.key == HOSTNAME_LABEL for name in part.values if seen.node(name) is None]
    if gone:
        one, names = len(gone) == 1, ", ".join(gone)
        which = f"node{'s' * (not one)} {names}, which do{'es' * one} not exist (any more)"
        yield f"volume {volume.metadata.name} is reached only from {which}"
    else:
        yield f"no node reaches volume {volume.metadata.name}: {wanted}"


def _reaches(volume: PersistentVolume, node: Node) -> bool:
    wanted = volume.spec.required_node_affinity
    return wanted is None or wanted.matches(node.metadata.labels, node.metadata.name)


def _describe_class(name: str, storage_class: StorageClass | None, *, is_needed: bool) -> Iterator[str]:
    if storage_class is None:
        if name:
            yield f"class {name} {'does not exist' if is_needed else 'is only that of volumes made by hand'}"
        else:
            yield "it has no class, so nothing is provisioned for it: only a volume without a class can serve it"
        return
    mode = storage_class.volume_binding_mode or "Immediate"
    provisioner = storage_class.provisioner if volumes.has_provisioner(storage_class) else "nothing is provisioned"
    yield f"class {name}: {provisioner}, {mode}"
    if storage_class.allowed_topologies:
        terms = (
            " and ".join(f"{part.key} In [{', '.join(part.values)}]" for part in term.match_label_expressions)
            for term in storage_class.allowed_topologies
        )
        yield f"class {name} allows only {' or '.join(terms)}"


def _describe_capacity(claim: PersistentVolumeClaim, storage_class: StorageClass, seen: Snapshot) -> Iterator[str]:
    """Yield the capacity that the claim's driver publishes for its class, and whether it is enough."""
    name = storage_class.metadata.name
    if not is_capacity_checked(claim, seen.csi_driver(storage_class.provisioner)):
        return
    pools, asked = seen.storage_capacities.of_class(name), claim.spec.resources.requests["storage"]
    if not pools:
        yield f"{storage_class.provisioner} publishes its capacity, and none for class {name}"
    for pool in pools[:MAX_SHOWN]:
        largest = pool.capacity if pool.maximum_volume_size is None else pool.maximum_volume_size
        where = f"where {pool.node_topology}" if pool.node_topology is not None else "for no node"
        words = "no amount published" if largest is None else f"{largest} at most"
        short = max_volume_size(pool) < volumes.requested(claim)
        yield f"capacity for class {name} {where}: {words}{f', too little for {asked}' if short else ', enough'}"
    if (more := len(pools) - MAX_SHOWN) > 0:
        yield f"and {counted(more, 'more CSIStorageCapacity object')} of the class"


def _released(volume: PersistentVolume, ref: ObjectReference, seen: Snapshot) -> str:
    """Return that the claim of a volume's claimRef was deleted, and the cure; "" if it is not Released.

    A claim that is not there is no proof: the dump may have one namespace alone.
    """
    if volume.status.phase != "Released":
        return ""
    named = seen.claim(ref.namespace or "default", ref.name)
    newer = " (the claim of that name is a newer one)" if named is not None and named.metadata.uid != ref.uid else ""
    kept = volume.spec.persistent_volume_reclaim_policy != "Delete"
    cure = "if its data may go, remove its spec.claimRef, and it is Available" if kept else "it will be deleted, too"
    return f"Released: its claimRef names claim {volumes.claim_ref_key(ref)}, which was deleted{newer}; {cure}"


def volume_objections(claim: PersistentVolumeClaim, volume: PersistentVolume, seen: Snapshot) -> str:
    """Return the objections to a volume for a claim, or, without any, from where the volume can be reached."""
    ref: ObjectReference | None = volume.spec.claim_ref
    if ref is not None and not volumes.is_bound_to(volume, claim):
        return _released(volume, ref, seen) or f"taken by claim {volumes.claim_ref_key(ref)}"
    need, size = volumes.requested(claim), volumes.capacity(volume)
    asked, offered = claim.spec.resources.requests.get("storage"), volume.spec.capacity.get("storage", "0")
    checks: list[tuple[bool, str]] = [
        (size < need, f"too small, {offered} < {asked}"),
        (volume.metadata.deletion_timestamp is not None, "is being deleted"),
        (volumes.mode(claim) != volumes.mode(volume), f"volumeMode {volumes.mode(volume)} ≠ {volumes.mode(claim)}"),
        (
            ref is None and volume.status.phase != "Available",
            f"its phase is {volume.status.phase or 'not given'}, not Available",
        ),
        (
            ref is None and claim.spec.selector is not None and not claim.spec.selector.matches(volume.metadata.labels),
            f"the claim's selector {claim.spec.selector} does not match its labels",
        ),
        (
            ref is None and not volumes.has_access_modes(volume, claim),
            f"offers {_modes(volume)}, not {_modes(claim)}",
        ),
        (
            volumes.class_of_volume(volume) != volumes.class_of_claim(claim),
            f"class {volumes.class_of_volume(volume) or 'none'} ≠ {volumes.class_of_claim(claim) or 'none'}",
        ),
    ]
    faults = [words for wrong, words in checks if wrong]
    if faults:
        return ", ".join(faults)
    wanted = volume.spec.required_node_affinity
    words = RESERVED if ref is not None else FREE
    return words if wanted is None else f"{words}, but only for nodes with {wanted}"


def _modes(obj: PersistentVolume | PersistentVolumeClaim) -> str:
    return "+".join(obj.spec.access_modes)


def finding_of_claims(pod: Pod, names: Sequence[str], seen: Snapshot) -> Finding | None:
    """Return what is wrong with the first claim that lacks its volume, or that claims need theirs on one node."""
    there = {name: seen.claim(pod.metadata.namespace, name) for name in names}
    for name, claim in there.items():
        if claim is None:
            near = near_misses(name, seen.claim_names(pod.metadata.namespace), longer=True)
            return Finding(("missing claim",), f"claim {name} does not exist{there_is(near)}")
        if (found := _finding_of_claim(claim, seen)) is not None:
            return found
    claims = [claim for claim in there.values() if claim is not None and not claim.spec.volume_name]
    if len(claims) < MAX_NAMED:
        return None
    free: dict[str, set[str]] = {}
    for node in seen.all_nodes()[:MAX_NAMED]:
        serving = (seen.volumes_on(node, volumes.class_of_claim(claim), key_of(claim)) for claim in claims)
        free[node.metadata.name] = {volume.metadata.name for each in serving for volume in each
                                    if _reaches(volume, node)}
    words = f"{len(claims)} claims ({', '.join(there)}) need as many free volumes on one node; "
    return Finding(("no volume",), words + listed(f"{name} has {len(each)}" for name, each in free.items()))


def there_is(near: Sequence[str]) -> str:
    """Return that a name exists which is nearly the one that was written; "" without one."""
    return f"; {near[0]} does" if near else ""


def _finding_of_claim(claim: PersistentVolumeClaim, seen: Snapshot) -> Finding | None:
    """Return what is wrong with a claim: a name that nothing has, no class, no volume that is large enough or free."""
    name, of_class, wanted = claim.metadata.name, volumes.class_of_claim(claim), claim.spec.volume_name
    storage_class, asked = seen.storage_class(of_class), claim.spec.resources.requests.get("storage", "0")
    of, its = f"of class {of_class}" if of_class else "without a class", wanted and f"volume {wanted}, which it names,"
    if claim.metadata.deletion_timestamp is not None:
        return Finding(("claim being deleted",), f"claim {name} is being deleted: its pod waits for a new one")
    named = seen.volume(wanted)
    there = ([] if named is None else [named]) if wanted else seen.volumes_of_class(of_class)
    large = [volume for volume in there if volumes.capacity(volume) >= volumes.requested(claim)]
    free = [volume for volume in large if volume_objections(claim, volume, seen).startswith((FREE, RESERVED))]
    if wanted and not there:
        return Finding(("missing volume",), f"claim {name} names volume {wanted}, which does not exist")
    if storage_class is None and of_class and not any(map(is_static, there)):
        near = _near_class(of_class, seen)
        return Finding(("missing class",), f"class {of_class} of claim {name} does not exist{near}")
    if not of_class and not there:
        lacks = "asks for no class" if volumes.has_class(claim) else "names no class, and no class is the default"
        return Finding(("no class",), f"claim {name} {lacks}: nothing provisions its volume")
    if free or (not wanted and storage_class is not None and volumes.has_provisioner(storage_class)):
        return None
    if not there:
        words = f"there is no volume {of}, and nothing provisions one for claim {name} ({asked})"
        return Finding(("no volume",), words)
    if not large:
        most = max(there, key=volumes.capacity)
        size = "largest" if len(there) > 1 else "only"
        has = f"{its or f'the {size} volume {of}, {most.metadata.name},'} has {most.spec.capacity.get('storage', '0')}"
        return Finding(("too small",), f"{has}; claim {name} asks for {asked}")
    (only, *others), asks = there, _modes(claim)
    if not others and volume_objections(claim, only, seen) == f"offers {_modes(only)}, not {asks}":
        which = its or f"{only.metadata.name}, the only volume {of},"
        return Finding(("taken volume",), f"claim {name} asks for {asks}; {which} offers {_modes(only)}")
    taken = [f"{volume.metadata.name} ({_use(claim, volume, seen)})" for volume in large]
    more = f" and {len(large) - MAX_NAMED} more alike" if len(large) > MAX_NAMED else ""
    none = f"{its} is not" if wanted else f"no volume {of} is"
    words = f"{none} free for claim {name} ({asked}): {', '.join(taken[:MAX_NAMED])}{more}"
    return Finding(("taken volume",), words)


def is_static(volume: PersistentVolume) -> bool:
    """Say whether a volume was made by hand: claims find it by the name of its class, without a StorageClass object."""
    return PROVISIONED_BY not in volume.metadata.annotations


def _near_class(name: str, seen: Snapshot) -> str:
    """Return which class or class of a volume has nearly this name; "" without one."""
    if near := near_misses(name, seen.storage_class_names()):
        return there_is(near)
    made = {volumes.class_of_volume(volume): volume.metadata.name for volume in seen.all_volumes() if is_static(volume)}
    near = near_misses(name, made)
    return f", and no volume has it; volume {made[near[0]]} has class {near[0]}" if near else ""


def _use(claim: PersistentVolumeClaim, volume: PersistentVolume, seen: Snapshot) -> str:
    """Return for whom a volume is, or what else speaks against it."""
    ref = volume.spec.claim_ref
    if ref is None or volumes.is_bound_to(volume, claim):
        return volume_objections(claim, volume, seen)
    owner = f"claim {volumes.claim_ref_key(ref)}"
    if volume.status.phase == "Released":
        return f"Released, kept for {owner}, which was deleted"
    return f"{'taken by' if volume.status.phase == 'Bound' else 'reserved for'} {owner}"
