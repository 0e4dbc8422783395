"""Rows of the charts of skew and of capacity: how each spread constraint counts, and what capacity drivers publish.

The sums are those of the plugins (`pod_topology_spread.skew`, `storage_capacities`), on the judgement that the matrix
shows; this module adds what the rules leave out, and why: that is where people go wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from attrs import define, field, frozen

from ... import volumes
from ...api.kinds.csi import EPHEMERAL_STORAGE, CSIStorageCapacity
from ...api.kinds.meta import EMPTY
from ...api.kinds.node import Node
from ...api.kinds.pod import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY, Pod
from ...api.kinds.pod_volume import Volume
from ...api.kinds.quantity import of_bytes, value
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import PersistentVolumeClaim
from ...explain import changes_of, judge_last_pass
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.columns.storage_capacities import is_capacity_checked, max_volume_size, reaches
from ...scheduler.framework.judgement import Judgement
from ...scheduler.plugins.pod_topology_spread.constraint import NO_KEY, SpreadConstraint
from ...scheduler.plugins.pod_topology_spread.skew import match_domains
from ...scheduler.plugins.volume_binding.capacity import (
    CapacityCheck,
    DriverPoolCheck,
    StorageCapacityCheck,
    entry_for,
    reachable_pools,
    tracks_capacity,
)
from ...storage_pools import DriverStorage, segment_of_node
from ...world.apiserver import key_of, ref
from ...world.log import Key, Log
from .. import frame as f
from .context import FrameContext

NO_LABEL = "(no label)"
MAX_NAMED = 3  # nodes that a reason names
APART = 6  # nodes that no published capacity reaches and that have a row each


def skew(context: FrameContext) -> tuple[f.SkewLedger, ...]:
    """Return one ledger for each spread constraint of the pod in focus."""
    judgement = _judgement(context)
    return () if judgement is None else tuple(skew_ledgers(judgement))


def capacity(context: FrameContext) -> tuple[f.CapacityLedger, ...]:
    """Return one ledger for each claim of the pod in focus that is to be provisioned, and for each inline volume."""
    judgement = _judgement(context)
    if judgement is None:
        return ()
    storages = context.cluster.revision.drivers(context.cluster.components).storages
    return tuple(capacity_ledgers(judgement, partial(_age, context), partial(_driver_now, storages, context.world.log)))


def _judgement(context: FrameContext) -> Judgement | None:
    """Return the judgement of the last pass; of a pod that never had one, as if it were scheduled now."""
    if context.passed is not None:
        return context.passed.judgement
    now = judge_last_pass(context.cluster, context.focus) if context.focus in context.objects else None
    if now is None:
        return None
    pod = now.judgement.seen.pod(now.pod)
    if pod is not None and pod.spec.node_name:  # loaded on its node: its own place must not count
        now.judgement.seen.apply(now.pod, pod, None)
    return now.judgement


def _plugin(judgement: Judgement, name: str) -> Any:
    try:
        return judgement.profile.plugin(name)
    except KeyError:
        return None


# --- spreading -------------------------------------------------------------------------------------------------------


@define
class _Domain:
    """The nodes of one domain, and what is not counted there. Mutable, while it is being filled."""

    nodes: int = 0
    matching: int = 0  # pods that match, on nodes that are not counted
    not_counted: Counter[str] = field(factory=Counter)
    excluded: dict[str, list[str]] = field(factory=dict)  # why nodes are not counted -> their names


def skew_ledgers(judgement: Judgement) -> Iterator[f.SkewLedger]:
    """Yield a ledger for each constraint that the pod states and the rules know, in its order."""
    plugin, pod = _plugin(judgement, "PodTopologySpread"), judgement.pod
    stated = pod.spec.topology_spread_constraints
    if plugin is None or not stated:
        return
    groups = (plugin.hard_constraints(pod), plugin.soft_constraints(pod, judgement.seen))
    prepared = {constraint.stated: (constraint, group) for group in groups for constraint in group}
    for constraint in stated:
        if constraint in prepared:
            yield _skew_ledger(pod, *prepared[constraint], judgement.seen)


def _skew_ledger(pod: Pod, constraint: SpreadConstraint, constraints: tuple[SpreadConstraint, ...],
                 seen: Snapshot) -> f.SkewLedger:
    counted = match_domains(pod, constraint, constraints, seen)
    stated = constraint.stated
    hard = stated.when_unsatisfiable != SCHEDULE_ANYWAY
    rows = []
    for name, domain in _domains(pod, constraint, constraints, seen).items():
        skew, is_counted = counted.skew(None if name == NO_LABEL else name), name in counted.match_num
        rows.append(f.SkewRow(
            domain=name, nodes=domain.nodes, counted=skew.match_num if is_counted else domain.matching,
            not_counted=tuple((number, why) for why, number in sorted(domain.not_counted.items())),
            left_out="" if is_counted else _left_out(domain),
            skew_if_placed=skew.skew, fits=not hard or skew.fits,
        ))  # fmt: skip
    return f.SkewLedger(
        pod=ref(Key("Pod", pod.metadata.namespace, pod.metadata.name)),
        key=constraint.topology_key,
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains if stated.min_domains else 0,
        when=DO_NOT_SCHEDULE if hard else SCHEDULE_ANYWAY,
        selector="nothing" if stated.label_selector is None else str(stated.label_selector),
        self_match=constraint.self_match,
        minimum=counted.min_match,
        minimum_domain=counted.emptiest,
        rows=tuple(sorted(rows, key=lambda row: (bool(row.left_out), row.domain))),
    )


def _domains(pod: Pod, constraint: SpreadConstraint, constraints: tuple[SpreadConstraint, ...],
             seen: Snapshot) -> dict[str, _Domain]:
    """Return every domain with its nodes, whether they are counted or not, and the pods that match and are not."""
    found: dict[str, _Domain] = {}
    for node in seen.all_nodes():
        domain = found.setdefault(node.metadata.labels.get(constraint.topology_key, NO_LABEL), _Domain())
        domain.nodes += 1
        exclusion = constraint.node_exclusion(pod, node, constraints)
        if exclusion:
            domain.excluded.setdefault(exclusion, []).append(node.metadata.name)
        for other in seen.pods_on(node.metadata.name):
            matches = constraint.matches(other)
            domain.matching += bool(exclusion) and matches
            if why := exclusion if matches else constraint.pod_exclusion(pod, other):
                domain.not_counted[why] += 1
    for domain in found.values():
        if sum(map(len, domain.excluded.values())) == domain.nodes:  # `left_out` gives the reasons
            for exclusion in domain.excluded:
                del domain.not_counted[exclusion]
    return found


def _left_out(domain: _Domain) -> str:
    """Return why no node of a domain is counted."""
    reasons = []
    for exclusion, names in domain.excluded.items():
        if exclusion == NO_KEY:
            more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
            reasons.append(f"{', '.join(names[:MAX_NAMED])}{more} lack{'s' * (len(names) == 1)} the topology key")
        else:
            by_name = f"{', '.join(names[:MAX_NAMED])}: " if len(domain.excluded) > 1 else ""
            reasons.append(f"{by_name}{exclusion}")
    return "; ".join(reasons)


# --- room for new volumes --------------------------------------------------------------------------------------------


Age = Callable[[Key], float]  # key of an object -> seconds since it was written
Now = Callable[[str, Mapping[str, str], Mapping[str, str]], int | None]  # see `_driver_now`


@frozen
class _Request:
    """A volume that is yet to be made: of a claim of the pod, or inline."""

    title: str
    driver: str
    class_name: str  # the class, or `<ephemeral>`
    size: int
    parameters: Mapping[str, str]


def capacity_ledgers(
    judgement: Judgement, age: Age, now: Now = lambda _driver, _parameters, _labels: None
) -> Iterator[f.CapacityLedger]:
    """Yield a ledger for each claim of the pod that is to be provisioned, then for each of its inline CSI volumes.

    Args:
        judgement: of the pod, with the scheduler's snapshot.
        age: key of an object -> seconds since it was written.
        now: driver, parameters of the class and labels of a place -> bytes that the driver has there; None: unknown.
    """
    plugin, pod, seen = _plugin(judgement, "VolumeBinding"), judgement.pod, judgement.seen
    for name in dict.fromkeys(pod.claim_names()):
        claim = seen.claim(pod.metadata.namespace, name)
        storage_class = None if claim is None else seen.storage_class(volumes.class_of_claim(claim))
        if plugin is None or claim is None or claim.spec.volume_name or storage_class is None:
            continue
        if plugin.provisioning(storage_class) is None:
            continue
        request = _Request(ref(key_of(claim)), storage_class.provisioner, storage_class.metadata.name,
                           volumes.requested(claim), storage_class.parameters)
        unchecked = _unchecked(claim, storage_class, plugin.capacity, seen)
        if unchecked:
            yield _ledger(request, unchecked, ())
        elif isinstance(plugin.capacity, DriverPoolCheck):
            yield _ledger(request, "", _driver_pools(request, seen, age, now))
        else:
            yield _ledger(request, "", _published_capacities(request, storage_class, seen, age, now))
    for volume in pod.spec.volumes:
        if volume.csi is not None and plugin is not None:
            yield _inline_ledger(volume, plugin.capacity, seen, age, now)


def _ledger(request: _Request, unchecked: str, rows: Iterable[f.CapacityRow]) -> f.CapacityLedger:
    return f.CapacityLedger(claim=request.title, class_name=request.class_name, request=request.size,
                            unchecked=unchecked, rows=tuple(sorted(rows, key=lambda row: row.pool)))


def _inline_ledger(volume: Volume, check: CapacityCheck, seen: Snapshot, age: Age, now: Now) -> f.CapacityLedger:
    """Return the ledger of an inline volume: the pools under `<ephemeral>`, or why they are not looked at."""
    assert volume.csi is not None
    source, size = volume.csi, volumes.NodeService().size_of(volume.csi, EMPTY)
    try:
        number = value(size)
    except ValueError:
        number = 0
    request = _Request(f"inline volume {volume.name}", source.driver, EPHEMERAL_STORAGE, number, EMPTY)
    if not check.covers_inline(volume):
        unchecked = "These rules do not check inline volumes: their driver finds out when the pod starts"
    elif not tracks_capacity(seen.csi_driver(source.driver)):
        unchecked = f"Driver {source.driver} does not track capacity: not checked"
    elif source.fs_size is None:
        unchecked = "The volume has no fsSize: not checked"
    else:
        return _ledger(request, "", _driver_pools(request, seen, age, now))
    rooms = [(node.metadata.name, now(source.driver, EMPTY, dict(segment_of_node(node)))) for node in seen.all_nodes()]
    known = [f"{name} {of_bytes(room)}" for name, room in sorted(rooms) if room is not None]
    more = f", and {len(known) - APART} nodes more" if len(known) > APART else ""
    return _ledger(request, f"{unchecked}; driver now: {', '.join(known[:APART])}{more}" if known else unchecked, ())


def _unchecked(claim: PersistentVolumeClaim, storage_class: StorageClass, check: CapacityCheck, seen: Snapshot) -> str:
    """Return why capacity is not checked for a claim, or ""."""
    driver = seen.csi_driver(storage_class.provisioner)
    if not storage_class.delayed:
        return f"Class {storage_class.metadata.name} is Immediate: its volumes are made before a node is chosen"
    if isinstance(check, DriverPoolCheck):
        silent = f"Driver {storage_class.provisioner} does not track capacity: not checked"
        return "" if tracks_capacity(driver) else silent
    if not isinstance(check, StorageCapacityCheck):
        return "These rules do not look at capacity"
    if is_capacity_checked(claim, driver):
        return ""
    if driver is not None and driver.spec.storage_capacity:
        return "The claim asks for no size: not checked"
    return f"Driver {storage_class.provisioner} does not publish capacity: not checked"


def _published_capacities(request: _Request, storage_class: StorageClass, seen: Snapshot, age: Age,
                          now: Now) -> Iterator[f.CapacityRow]:
    nodes = seen.all_nodes()
    for key, entry in seen.storage_capacities.facts().get(request.class_name, {}).items():
        reached = sum(reaches(entry, node) for node in nodes)
        largest = entry.maximum_volume_size
        topology = entry.node_topology
        room = None if topology is None else now(request.driver, request.parameters, topology.match_labels)
        yield f.CapacityRow(
            pool=_pool_name(entry),
            reach=f"{reached} node{'s' * (reached != 1)}",
            published=None if entry.capacity is None else value(entry.capacity),
            largest_volume=None if largest is None else value(largest),
            age=age(key),
            driver_now=room,
            fits=max_volume_size(entry) >= request.size,
            reason="" if entry.capacity is not None else "capacity is not given",
        )
    allowed = (node for node in nodes if volumes.topology_allows(storage_class, node))
    without = [node for node in allowed if not seen.storage_capacities.on(request.class_name, node)]
    yield from _unpublished(without, request, now)


def _driver_pools(request: _Request, seen: Snapshot, age: Age, now: Now) -> Iterator[f.CapacityRow]:
    """Yield what a driver publishes in its status (S2): the pools of the class's entry, then nodes without one."""
    driver = seen.csi_driver(request.driver)
    entry = entry_for(driver, request.class_name) if driver is not None else None
    unreached = {node.metadata.name: node for node in seen.all_nodes()}
    for pool in entry.pools if entry is not None and driver is not None else ():
        nodes = [node for node in seen.all_nodes() if reachable_pools([pool], node, "")]
        expired = any(not reachable_pools([pool], node, seen.moment) for node in nodes)
        size = None if pool.capacity is None else value(pool.capacity)
        for node in nodes:
            unreached.pop(node.metadata.name, None)
        yield f.CapacityRow(
            pool=pool.name,
            reach=f"{len(nodes)} node{'s' * (len(nodes) != 1)}",
            published=size,
            age=age(Key("CSIDriver", "", request.driver)),
            expired=expired,
            driver_now=now(request.driver, request.parameters, dict(segment_of_node(nodes[0]))) if nodes else None,
            fits=size is not None and size >= request.size and not expired,
            reason="expired" if expired else "" if size is not None else "capacity is not given",
        )
    yield from _unpublished(list(unreached.values()), request, now)


def _unpublished(nodes: Sequence[Node], request: _Request, now: Now) -> Iterator[f.CapacityRow]:
    """Yield a row for each node that no published capacity reaches; one row for all if they are many."""
    if len(nodes) > APART:
        yield f.CapacityRow(pool="all others", reach=f"{len(nodes)} nodes")
        return
    for node in nodes:
        driver_now = now(request.driver, request.parameters, dict(segment_of_node(node)))
        yield f.CapacityRow(pool=node.metadata.name, reach="1 node", driver_now=driver_now)


def _driver_now(storages: Mapping[str, DriverStorage], log: Log, driver: str, parameters: Mapping[str, str],
                labels: Mapping[str, str]) -> int | None:
    """Return the bytes that a driver has at a place now, whatever it published; None when its pools are unknown."""
    storage = storages.get(driver)
    return None if storage is None else storage.get_capacity(log, parameters, tuple(sorted(labels.items()))).available


def _pool_name(capacity: CSIStorageCapacity) -> str:
    """Return the name of a pool: the single label of its topology, else the name of its object."""
    topology = capacity.node_topology
    labels = {} if topology is None or topology.match_expressions else dict(topology.match_labels)
    return next(iter(labels.values())) if len(labels) == 1 else capacity.metadata.name


def _age(context: FrameContext, key: Key) -> float:
    """Return the seconds since an object was last written; since the start of the run if it never was."""
    for turn in reversed(context.world.turns):
        if turn.end <= context.world.place and any(change.key == key for change in changes_of(context.cluster, turn)):
            return context.world.now - turn.time
    return context.world.now
