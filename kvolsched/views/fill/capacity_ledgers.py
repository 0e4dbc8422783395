"""Rows of the capacity ledger: what drivers publish for a claim, and what each has now in the simulation.

What fits is the plugin's conclusion (`storage_capacities`, `volume_binding.capacity`), on one judgement; what the
driver has is the true room of `storage_pools`, which nothing in Kubernetes knows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from ...api import volumes
from ...api.kinds.csi import EPHEMERAL_STORAGE, CSIDriver, CSIStorageCapacity
from ...api.kinds.meta import EMPTY
from ...api.kinds.node import Node
from ...api.kinds.pod import Volume
from ...api.kinds.quantity import of_bytes, value
from ...api.kinds.storage_class import StorageClass
from ...api.kinds.volume import PersistentVolumeClaim
from ...api.words import counted
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.columns.storage_capacities import is_capacity_checked, max_volume_size, reaches
from ...scheduler.framework.extension_points import VolumeDecider
from ...scheduler.framework.judgement import Judgement
from ...scheduler.plugins.volume_binding.capacity import (
    CapacityCheck,
    DriverPoolCheck,
    StorageCapacityCheck,
    entry_for,
    reachable_pools,
    tracks_capacity,
)
from ...world.apiserver import key_of, ref
from ...world.log import Key
from ...world.storage_pools import CapacityResponse, segment_of_node
from .. import frame as f
from .skew_words import names

APART = 6  # nodes that no published capacity reaches and that are named in a sentence

Age = Callable[[Key], float]  # key of an object -> seconds since it was written
Objects = Callable[[str], int]  # name of a class -> how many CSIStorageCapacity objects it has; not all rules look
# Driver, parameters of the class and labels of a place -> what the driver has there; None: unknown.
Now = Callable[[str, Mapping[str, str], Mapping[str, str]], CapacityResponse | None]


@frozen
class _Request:
    """A volume that is yet to be made: of a claim of the pod, or inline."""

    title: str
    driver: str
    class_name: str  # the class, or `<ephemeral>`
    size: int
    parameters: Mapping[str, str]


def capacity_ledgers(judgement: Judgement, age: Age, now: Now, moment: str,
                     objects: Objects) -> Iterator[f.CapacityLedger]:
    """Yield a ledger for each claim of the pod that is to be provisioned, then for each of its inline CSI volumes."""
    plugin, pod, seen = judgement.profile.extending(VolumeDecider), judgement.pod, judgement.seen
    for name in dict.fromkeys(pod.claim_names()):
        claim = seen.claim(pod.metadata.namespace, name)
        storage_class = None if claim is None else seen.storage_class(volumes.class_of_claim(claim))
        if plugin is None or claim is None or claim.spec.volume_name or storage_class is None:
            continue
        if plugin.provisioning(storage_class) is None:
            continue
        request = _Request(ref(key_of(claim)), storage_class.provisioner, storage_class.metadata.name,
                           volumes.requested(claim), storage_class.parameters)
        unchecked = _unchecked(claim, storage_class, plugin.capacity, seen, objects)
        if unchecked:
            yield _ledger(request, unchecked, (), moment)
        elif isinstance(plugin.capacity, DriverPoolCheck):
            yield _ledger(request, "", _driver_pools(request, seen, age, now), moment)
        else:
            yield _ledger(request, "", _published_capacities(request, storage_class, seen, age, now), moment)
    for volume in pod.spec.volumes:
        if volume.csi is not None and plugin is not None:
            yield evolve(_inline_ledger(volume, plugin.capacity, seen, age, now, objects), moment=moment)


def _ledger(request: _Request, unchecked: str, rows: Iterable[f.CapacityRow], moment: str = "") -> f.CapacityLedger:
    ledger = f.CapacityLedger(claim=request.title, class_name=request.class_name, request=request.size, moment=moment,
                              unchecked=unchecked, rows=tuple(sorted(rows, key=lambda row: row.pool)))
    answer, sentence, warns = capacity_answer(ledger)
    return evolve(ledger, answer=answer, sentence=sentence, warns=warns)


def _inline_ledger(volume: Volume, check: CapacityCheck, seen: Snapshot, age: Age, now: Now,
                   objects: Objects) -> f.CapacityLedger:
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
        count = objects(EPHEMERAL_STORAGE)
        unchecked = _untracked(source.driver, seen.csi_driver(source.driver), EPHEMERAL_STORAGE, count)
    elif source.fs_size is None:
        unchecked = "The volume has no fsSize: not checked"
    else:
        return _ledger(request, "", _driver_pools(request, seen, age, now))
    rooms = [(node.metadata.name, now(source.driver, EMPTY, dict(segment_of_node(node)))) for node in seen.all_nodes()]
    known = [f"{name} {of_bytes(room.available)}" for name, room in rooms if room is not None]
    more = f", and {counted(len(known) - APART, 'node')} more" if len(known) > APART else ""
    return _ledger(request, f"{unchecked}; driver now: {', '.join(known[:APART])}{more}" if known else unchecked, ())


def _unchecked(claim: PersistentVolumeClaim, storage_class: StorageClass, check: CapacityCheck, seen: Snapshot,
               objects: Objects) -> str:
    """Return why capacity is not checked for a claim, or ""."""
    driver = seen.csi_driver(storage_class.provisioner)
    if not storage_class.delayed:
        return f"Class {storage_class.metadata.name} is Immediate: its volumes are made before a node is chosen"
    if isinstance(check, DriverPoolCheck):
        name = storage_class.metadata.name
        return "" if tracks_capacity(driver) else _untracked(storage_class.provisioner, driver, name, objects(name))
    if not isinstance(check, StorageCapacityCheck):
        return "These rules do not look at capacity"
    if is_capacity_checked(claim, driver):
        return ""
    if driver is not None and driver.spec.storage_capacity:
        return "The claim asks for no size: not checked"
    return f"Driver {storage_class.provisioner} does not publish capacity: not checked"


def _untracked(name: str, driver: CSIDriver | None, class_name: str, count: int) -> str:
    """Return that a driver's pools (S2) are not checked, and whether it publishes in the way of v1.36.2 instead."""
    of_class = "" if class_name == EPHEMERAL_STORAGE else f" of class {class_name}"
    if not count and not (driver is not None and driver.spec.storage_capacity):
        return f"Driver {name} does not track capacity: not checked"
    objects = f"{counted(count, 'CSIStorageCapacity object')}{of_class}"
    unread = f"the {objects} {'is' if count == 1 else 'are'}" if count else "storageCapacity: true is"
    return (f"Not checked: these rules read status.storage of CSIDriver {name}, which needs capacityTracking: true; "
            f"{unread} not looked at")


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
            reach=f"{counted(reached, 'node')}",
            published=None if entry.capacity is None else value(entry.capacity),
            largest_volume=None if largest is None else value(largest),
            age=age(key), expired=False,
            driver_now=None if room is None else room.available,
            driver_largest=None if room is None else room.largest,
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
        room = now(request.driver, request.parameters, dict(segment_of_node(nodes[0]))) if nodes else None
        yield f.CapacityRow(
            pool=pool.name,
            reach=f"{counted(len(nodes), 'node')}",
            published=size, largest_volume=None,
            age=age(Key("CSIDriver", "", request.driver)),
            expired=expired,
            driver_now=None if room is None else room.available,
            driver_largest=None if room is None else room.largest,
            fits=size is not None and size >= request.size and not expired,
            reason="expired" if expired else "" if size is not None else "capacity is not given",
        )
    yield from _unpublished(list(unreached.values()), request, now)


def _unpublished(nodes: Sequence[Node], request: _Request, now: Now) -> Iterator[f.CapacityRow]:
    """Yield a row for each node that no published capacity reaches; if they are many, one for all of equal room."""
    rooms = {node.metadata.name: now(request.driver, request.parameters, dict(segment_of_node(node))) for node in nodes}
    groups: dict[object, list[str]] = {}
    for name, room in rooms.items():
        groups.setdefault(room if len(nodes) > APART else name, []).append(name)
    for group in groups.values():
        room, count = rooms[group[0]], len(group)
        yield f.CapacityRow(
            pool=group[0] if count == 1 else "all others" if len(groups) == 1 else names(group),
            reach=f"{counted(count, 'node')}", published=None, largest_volume=None, age=0.0, expired=False,
            driver_now=None if room is None else room.available,
            driver_largest=None if room is None else room.largest, fits=False, reason="",
        )


def _pool_name(capacity: CSIStorageCapacity) -> str:
    """Return the name of a pool: the single label of its topology, else the name of its object."""
    topology = capacity.node_topology
    labels = {} if topology is None or topology.match_expressions else dict(topology.match_labels)
    return next(iter(labels.values())) if len(labels) == 1 else capacity.metadata.name


def capacity_answer(ledger: f.CapacityLedger) -> tuple[str, str, bool]:
    """Return the answer in a few words, why, and whether rule and driver differ; empty if nothing is checked."""
    rows, request = ledger.rows, ledger.request
    if ledger.unchecked or not rows:
        return "", "", False
    room = {row.pool: row.driver_has_room(request) for row in rows}
    fitting = [row for row in rows if row.fits]
    stale = [row for row in fitting if room[row.pool] is False]
    unseen = [row for row in rows if not row.fits and room[row.pool]]
    if stale:
        one = len(stale) == 1
        answer = f"{len(stale)} pool{' looks' if one else 's look'} large enough and {'is' if one else 'are'} not."
        sentence = f"The scheduler reads what was published {_ages(stale)} ago; the driver has less room now."
    elif fitting:
        of = len(fitting)
        answer = f"{of} of {counted(len(rows), 'pool')} {'is' if of == 1 else 'are'} large enough."
        sentence = "What the driver has now is unknown." if all(room[row.pool] is None for row in fitting) else (
            "The driver would answer the same.")  # fmt: skip
    else:
        sizes = ((row.published, row.largest_volume) for row in rows if row.published is not None)
        largest = max((min(size for size in both if size is not None) for both in sizes), default=None)
        answer = "No pool is large enough."
        sentence = "Nothing is published." if largest is None else (
            f"The largest volume that is published is {of_bytes(largest)}.")  # fmt: skip
    if unseen:
        one = len(unseen) == 1
        sentence += f" {names([row.pool for row in unseen])} {'has' if one else 'have'} the room, but the rule says no."
    return answer, sentence, bool(stale or unseen)


def _ages(rows: Sequence[f.CapacityRow]) -> str:
    ages = sorted({row.age for row in rows})
    return f"{ages[0]:g} s" if len(ages) == 1 else f"{ages[0]:g} to {ages[-1]:g} s"
