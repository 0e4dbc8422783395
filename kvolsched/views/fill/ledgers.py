"""The ledgers of the pod in focus: how each spread constraint counts, domain by domain, and what room drivers publish.

The sums are the rules' own (`scheduler.spreading`, `scheduler.capacities`), read off the judgement that the matrix
shows; what is added here is what the rules leave out, and why: that is where people go wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import define, field

from ... import volumes
from ...api.kinds.csi import CSIStorageCapacity
from ...api.kinds.node import Node
from ...api.kinds.pod import Pod, TopologySpreadConstraint
from ...api.kinds.quantity import value
from ...api.kinds.selector import untolerated
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import PersistentVolumeClaim
from ...explain import changes_of, judged
from ...scheduler import driver_pools as pools
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.columns.storage_capacities import is_capacity_checked, max_volume_size, reaches
from ...scheduler.framework.judgement import Judgement
from ...scheduler.node_selection import matches_node_affinity
from ...scheduler.pod_claims import has_provisioner, volume_key
from ...scheduler.spread_constraints import HARD, SOFT, SpreadConstraint, is_counted, pods_per_domain
from ...world.apiserver import ref
from ...world.log import Key
from .. import frame as f
from .context import FrameContext

NO_LABEL = "(no label)"
NAMED = 3  # nodes that lack a label and are named
APART = 6  # nodes that no published capacity reaches and that have a row each


def skew(here: FrameContext) -> tuple[f.SkewLedger, ...]:
    """Return one ledger for each spread constraint of the pod in focus."""
    judgement = _judgement(here)
    return () if judgement is None else tuple(skew_ledgers(judgement))


def capacity(here: FrameContext) -> tuple[f.CapacityLedger, ...]:
    """Return one ledger for each claim of the pod in focus that is to be provisioned."""
    judgement = _judgement(here)
    if judgement is None:
        return ()
    return tuple(capacity_ledgers(judgement, lambda key: _age(here, key), lambda *where: _driver_now(here, *where)))


def _judgement(here: FrameContext) -> Judgement | None:
    """Return the judgement of the last pass; of a pod that never had one, as if it were scheduled now."""
    if here.passed is not None:
        return here.passed.judgement
    now = judged(here.cluster, here.focus) if here.focus in here.objects else None
    if now is None:
        return None
    itself = now.judgement.seen.pod(now.pod)
    if itself is not None and itself.spec.node_name:  # found on its node when all began: it counts as itself alone
        now.judgement.seen.apply(now.pod, itself, None)
    return now.judgement


def _plugin(judgement: Judgement, name: str) -> Any:
    try:
        return judgement.profile.plugin(name)
    except KeyError:
        return None


# --- spreading -------------------------------------------------------------------------------------------------------


@define
class _Domain:
    """What is met in one domain. Mutable, while it is being counted."""

    nodes: int = 0
    holds: int = 0  # matching pods on nodes that do not count
    apart: Counter[str] = field(factory=Counter)
    faults: dict[str, list[str]] = field(factory=dict)  # why nodes do not count, and which


def skew_ledgers(judgement: Judgement) -> Iterator[f.SkewLedger]:
    """Yield a ledger for each constraint that the pod states and the rules know, in its order."""
    plugin, pod = _plugin(judgement, "PodTopologySpread"), judgement.pod
    every = pod.spec.topology_spread_constraints
    if plugin is None or not every:
        return
    soft = plugin.soft(pod, judgement.seen) if any(one.when_unsatisfiable == SOFT for one in every) else ()
    made = {HARD: plugin.constraints(pod), SOFT: soft}
    left = {when: iter(constraints) for when, constraints in made.items()}
    for spoken in every:
        when = SOFT if spoken.when_unsatisfiable == SOFT else HARD
        constraint = next(left[when], None)
        if constraint is not None:
            yield _skew(judgement, plugin, spoken, constraint, made[when])


def _skew(
    judgement: Judgement,
    plugin: Any,
    spoken: TopologySpreadConstraint,
    constraint: SpreadConstraint,
    together: tuple[SpreadConstraint, ...],
) -> f.SkewLedger:
    pod, seen = judgement.pod, judgement.seen
    counted = pods_per_domain(pod, constraint, together, seen)
    enough = bool(counted) and len(counted) >= constraint.least_domains
    minimum = min(counted.values()) if enough else 0
    itself = 1 if plugin.literal else constraint.itself
    hard = spoken.when_unsatisfiable != SOFT
    rows = []
    for name, domain in _met(pod, spoken, constraint, together, seen).items():
        holds = counted.get(name)
        sum_ = (holds or 0) + itself - minimum
        rows.append(
            f.SkewRow(
                domain=name,
                nodes=domain.nodes,
                counted=domain.holds if holds is None else holds,
                not_counted=tuple((many, why) for why, many in sorted(domain.apart.items())),
                left_out=_left_out(domain) if holds is None else "",
                skew_if_placed=sum_,
                fits=not hard or (name != NO_LABEL and sum_ <= constraint.max_skew),
            )
        )
    return f.SkewLedger(
        pod=ref(Key("Pod", pod.metadata.namespace, pod.metadata.name)),
        key=constraint.topology_key,
        max_skew=constraint.max_skew,
        min_domains=constraint.least_domains if spoken.min_domains else 0,
        when=HARD if hard else SOFT,
        selector="nothing" if spoken.label_selector is None else str(spoken.label_selector),
        self_match=itself,
        minimum=minimum,
        minimum_domain=min(name for name, holds in counted.items() if holds == minimum) if enough else "",
        rows=tuple(sorted(rows, key=lambda row: (bool(row.left_out), row.domain))),
    )


def _met(
    pod: Pod, spoken: TopologySpreadConstraint, constraint: SpreadConstraint, together: tuple[SpreadConstraint, ...], seen: Snapshot
) -> dict[str, _Domain]:
    """Return every domain with its nodes, whether they count or not, and the pods that match and do not count."""
    found: dict[str, _Domain] = {}
    for node in seen.all_nodes():
        name = node.metadata.labels.get(constraint.topology_key)
        domain = found.setdefault(NO_LABEL if name is None else name, _Domain())
        domain.nodes += 1
        fault = _fault(pod, node, constraint, together)
        if fault:
            domain.faults.setdefault(fault, []).append(node.metadata.name)
        for other in seen.pods_on(node.metadata.name):
            if constraint.matcher is not None and constraint.matcher.matches(other):
                domain.holds += bool(fault)
                if fault:
                    domain.apart[fault] += 1
            elif why := _apart(pod, other, spoken, constraint):
                domain.apart[why] += 1
    for domain in found.values():
        if sum(map(len, domain.faults.values())) == domain.nodes:  # no node counts: told once, by `left_out`
            for fault in domain.faults:
                del domain.apart[fault]
    return found


def _fault(pod: Pod, node: Node, constraint: SpreadConstraint, together: tuple[SpreadConstraint, ...]) -> str:
    """Return why a node does not count for a constraint, or ""."""
    labels = node.metadata.labels
    if constraint.topology_key not in labels:
        return "lacks the topology key"
    others = [one.topology_key for one in together if one.topology_key not in labels]
    if others:
        return f"no {', '.join(others)}, which another constraint asks for"
    if is_counted(pod, constraint, node):
        return ""
    if constraint.heeds_affinity and not matches_node_affinity(pod, node):
        return "not among the nodes that the pod selects, nodeAffinityPolicy: Honor"
    taint = untolerated(node.spec.taints, pod.spec.tolerations)
    return f"tainted {taint.key if taint is not None else ''}, nodeTaintsPolicy: Honor"


def _apart(pod: Pod, other: Pod, spoken: TopologySpreadConstraint, constraint: SpreadConstraint) -> str:
    """Return why a pod does not count although its labels match the selector; "" if they do not."""
    selector, labels = spoken.label_selector, other.metadata.labels
    if selector is None or not selector.matches(labels):
        return ""
    if other.metadata.namespace != pod.metadata.namespace:
        return f"in namespace {other.metadata.namespace}"
    if constraint.matcher is None:
        return "an empty selector counts no pod"
    own = pod.metadata.labels
    keys = [key for key in spoken.match_label_keys if key in own and labels.get(key) != own[key]]
    return f"another {', '.join(keys)}" if keys else "Terminating"


def _left_out(domain: _Domain) -> str:
    """Say why none of the nodes of a domain counts."""
    said = []
    for fault, names in domain.faults.items():
        if fault == "lacks the topology key":
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            said.append(f"{', '.join(names[:NAMED])}{more} lack{'s' * (len(names) == 1)} the topology key")
        else:
            said.append(fault if len(domain.faults) == 1 else f"{', '.join(names[:NAMED])}: {fault}")
    return "; ".join(said)


# --- room for new volumes --------------------------------------------------------------------------------------------


Now = Callable[[StorageClass, Mapping[str, str]], int | None]


def capacity_ledgers(
    judgement: Judgement, age: Callable[[Key], float], now: Now = lambda _class, _labels: None
) -> Iterator[f.CapacityLedger]:
    """Yield a ledger for each claim for which a volume is to be made.

    Args:
        judgement: what the scheduler made of the pod.
        age: how old an object is, in seconds.
        now: what the driver of a class has at a place with these labels, in bytes; None: nobody knows.
    """
    plugin, pod, seen = _plugin(judgement, "VolumeBinding"), judgement.pod, judgement.seen
    for name in dict.fromkeys(pod.claim_names()):
        claim = seen.claim(pod.metadata.namespace, name)
        storage_class = None if claim is None else seen.storage_class(volumes.class_of_claim(claim))
        if claim is None or claim.spec.volume_name or storage_class is None or not has_provisioner(storage_class):
            continue
        if plugin is None or not plugin.provisions:
            continue
        unchecked = _unchecked(claim, storage_class, plugin, seen)
        told = _status_pools if plugin.heeds_pools else _pools
        rows = () if unchecked else tuple(told(claim, storage_class, seen, age, now))
        yield f.CapacityLedger(
            claim=ref(volume_key(claim)),
            class_name=storage_class.metadata.name,
            request=volumes.requested(claim),
            unchecked=unchecked,
            rows=tuple(sorted(rows, key=lambda row: row.pool)),
        )


def _unchecked(claim: PersistentVolumeClaim, storage_class: StorageClass, plugin: Any, seen: Snapshot) -> str:
    """Return why nobody looks at the room for a claim, or ""."""
    driver = seen.csi_driver(storage_class.provisioner)
    if not storage_class.delayed:
        return f"Class {storage_class.metadata.name} is Immediate: its volumes are made before a node is chosen"
    if plugin.heeds_pools:
        silent = f"Driver {storage_class.provisioner} does not track capacity: not checked"
        return "" if pools.tracks(driver) else silent
    if not plugin.heeds_capacity:
        return "These rules do not look at capacity"
    if is_capacity_checked(claim, driver):
        return ""
    if driver is not None and driver.spec.storage_capacity:
        return "The claim asks for no size: not checked"
    return f"Driver {storage_class.provisioner} does not publish capacity: not checked"


def _pools(
    claim: PersistentVolumeClaim, storage_class: StorageClass, seen: Snapshot, age: Callable[[Key], float], now: Now
) -> Iterator[f.CapacityRow]:
    need, name = volumes.requested(claim), storage_class.metadata.name
    nodes = seen.all_nodes()
    for key, one in seen.storage_capacities.meaning().get(name, {}).items():
        near = sum(reaches(one, node) for node in nodes)
        most = one.maximum_volume_size
        yield f.CapacityRow(
            pool=_pool(one),
            reach=f"{near} node{'s' * (near != 1)}",
            published=None if one.capacity is None else value(one.capacity),
            largest_volume=None if most is None else value(most),
            age=age(key),
            driver_now=None if one.node_topology is None else now(storage_class, one.node_topology.match_labels),
            fits=max_volume_size(one) >= need,
            reason="" if one.capacity is not None else "capacity is not given",
        )
    bare = [
        node
        for node in nodes
        if volumes.topology_allows(storage_class, node) and not seen.storage_capacities.on(name, node)
    ]
    if len(bare) > APART:
        yield f.CapacityRow(pool="all others", reach=f"{len(bare)} nodes")
    else:
        for node in bare:
            there = now(storage_class, node.metadata.labels)
            yield f.CapacityRow(pool=node.metadata.name, reach="1 node", driver_now=there)


def _status_pools(
    claim: PersistentVolumeClaim, storage_class: StorageClass, seen: Snapshot, age: Callable[[Key], float], now: Now
) -> Iterator[f.CapacityRow]:
    """Yield what a driver tells in its own status (S2): the pools of the class's entry, then the nodes without one."""
    driver = seen.csi_driver(storage_class.provisioner)
    entry = pools.entry_for(driver, storage_class.metadata.name) if driver is not None else None
    need, left = volumes.requested(claim), {node.metadata.name: node for node in seen.all_nodes()}
    for pool in entry.pools if entry is not None and driver is not None else ():
        near = [node for node in seen.all_nodes() if pools.reachable_pools([pool], node, "")]
        over = any(not pools.reachable_pools([pool], node, seen.moment) for node in near)
        size = None if pool.capacity is None else value(pool.capacity)
        for node in near:
            left.pop(node.metadata.name, None)
        yield f.CapacityRow(
            pool=pool.name,
            reach=f"{len(near)} node{'s' * (len(near) != 1)}",
            published=size,
            age=age(Key("CSIDriver", "", storage_class.provisioner)),
            expired=over,
            driver_now=now(storage_class, near[0].metadata.labels) if near else None,
            fits=size is not None and size >= need and not over,
            reason="expired" if over else "" if size is not None else "capacity is not given",
        )
    for name, node in left.items() if len(left) <= APART else ():
        yield f.CapacityRow(pool=name, reach="1 node", driver_now=now(storage_class, node.metadata.labels))
    if len(left) > APART:
        yield f.CapacityRow(pool="all others", reach=f"{len(left)} nodes")


def _driver_now(here: FrameContext, storage_class: StorageClass, labels: Mapping[str, str]) -> int | None:
    """Return how much room a driver has at a place, of its pools and not of what it published."""
    storage = here.cluster.revision.storage(storage_class.provisioner, here.cluster.components)
    if storage is None:
        return None
    return storage.room(here.world.log, storage_class.parameters, tuple(sorted(labels.items()))).available


def _pool(capacity: CSIStorageCapacity) -> str:
    """Name a pool by the one label that its topology asks for, else by its object."""
    topology = capacity.node_topology
    labels = {} if topology is None or topology.match_expressions else dict(topology.match_labels)
    return next(iter(labels.values())) if len(labels) == 1 else capacity.metadata.name


def _age(here: FrameContext, key: Key) -> float:
    """Return how long ago an object was written, or when nobody wrote it since all began: how long that is ago."""
    for turn in reversed(here.world.turns):
        if turn.end <= here.world.place and any(change.key == key for change in changes_of(here.cluster, turn)):
            return here.world.now - turn.time
    return here.world.now
