"""Publishing a driver's room: it alone writes the CSIStorageCapacity objects of one driver and manager.

One object for each class of the driver and each topology in which it runs. What is published is what the driver said
when it was last asked: when an object was missing, when a volume was made or deleted there, and once a period.
Mirrors external-provisioner v6.3.0 `capacity.go`, `nodes.go` and `provision.go`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ...api.kinds.csi import CSIStorageCapacity
from ...api.kinds.meta import Frozen, ObjectMeta, OwnerReference
from ...api.kinds.quantity import of_bytes, value
from ...api.kinds.selector import LabelSelector
from ...api.kinds.storage_class import StorageClass
from ...volumes import Topology
from ...world.apiserver import CommittedWrite, RefusedWrite, Write
from ...world.component import TurnContext
from ...world.log import Key
from ...world.reconciler import Reconciler
from .storage_pools import CapacityResponse, DriverFailed
from .topology import DriverTopology, go_segment, keys_in_use

DRIVER_LABEL = "csi.storage.k8s.io/drivername"
MANAGER_LABEL = "csi.storage.k8s.io/managed-by"
WATCHES = ("Node", "CSINode", "StorageClass", "CSIStorageCapacity")
ARRANGE, POLL = "arrange", "poll"  # causes beside the items: what is wanted has changed; a period is over
ITEM = "item"  # the sort of the notes: one for each object wanted, with the object that stands for it
LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # letters of generated names

GetCapacity = Callable[[TurnContext, Mapping[str, str], Topology], CapacityResponse]


@attrs.frozen(kw_only=True)
class PublishingOptions:
    """How a driver's room is published.

    Args:
        namespace: where the objects are: that of the driver.
        managed_by: who manages them, in their label.
        owner: whom they belong to, if anybody.
        immediate: also for classes that bind at once.
        poll: seconds between two questions to the driver about everything.
        form: "objects" (today's CSIStorageCapacity); as S2 has it, in the status of the CSIDriver, "central" or "node"
            (`driver_status`), where the following count:
        prefix: of the labels that make a node's segment; "": nothing is published.
        ephemeral: also for inline volumes, under `<ephemeral>`.
        expires: seconds after which what was told is obsolete; 0: never.
    """

    namespace: str = "default"
    managed_by: str = "external-provisioner"
    owner: OwnerReference | None = None
    immediate: bool = False
    poll: float = 60.0
    form: str = attrs.field(default="objects", validator=attrs.validators.in_(("objects", "central", "node")))
    prefix: str = ""
    ephemeral: bool = False
    expires: float = 0.0


@attrs.frozen
class PublishedCapacity:
    """A note: an object that is to be there, for this class and topology; `stands` is its key and uid, once there."""

    storage_class: str
    segment: Topology
    stands: tuple[Key, str] | None = None

    @property
    def name(self) -> str:
        """The name of the note, and the cause under which it is taken up."""
        return _item_name(self.storage_class, self.segment)

    def is_of(self, obj: CSIStorageCapacity) -> bool:
        """Say whether an object says where and of which class what this item wants."""
        topology = obj.node_topology
        if topology is None or topology.match_expressions or obj.storage_class_name != self.storage_class:
            return False
        return topology.match_labels == dict(self.segment)


@attrs.frozen
class CapacityPublisher:
    """The controller of one driver's CSIStorageCapacity objects."""

    driver: str
    assumed: tuple[str, ...]
    ask: GetCapacity
    options: PublishingOptions = PublishingOptions()

    @property
    def name(self) -> str:
        """The name of the routine."""
        return f"{self.driver} capacity"

    def routine(self) -> Reconciler:
        """Return the actor."""
        return Reconciler(self.name, self.causes, self.sync, self.refused, self.done, self.backoff)

    @staticmethod
    def backoff(failures: int) -> float:
        """Return the seconds between two attempts: 1 s, doubled up to 5 minutes."""
        return float(min(2 ** (failures - 1), 300))

    # -- what is wanted, and what there is ----------------------------------------------------------------

    def causes(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Yield that things are to be put in order, when a change may matter to it."""
        match key.kind:
            case "CSIStorageCapacity":
                if new is not None and self.manages(new):
                    yield from self._attach(ctx, key, new)
                elif old is not None and self.manages(old):
                    self._detach(ctx, key, old)
            case "StorageClass":
                if any(each is not None and each.provisioner == self.driver for each in (old, new)):
                    yield ARRANGE
            case "Node":
                if old is None or new is None or old.metadata.labels != new.metadata.labels:
                    yield ARRANGE
            case "CSINode":
                yield ARRANGE

    def _attach(self, ctx: TurnContext, key: Key, obj: CSIStorageCapacity) -> Iterator[str]:
        """Note that an object stands for its item; one that stands for none, or comes second, is to go."""
        known = _known(ctx)
        if not known or self._is_unsettled(ctx):
            yield ARRANGE
            return
        item, here = known.get(_name_of(obj)), (key, obj.metadata.uid)
        if item is None or not item.is_of(obj) or item.stands not in (None, here):
            yield _deletion(*here)
        elif item.stands is None:
            ctx.remember(ITEM, item.name, attrs.evolve(item, stands=here))

    def _detach(self, ctx: TurnContext, key: Key, obj: CSIStorageCapacity) -> None:
        """Note that an object was taken away: it is made again, unless what it was for has gone before it."""
        item = _known(ctx).get(_name_of(obj))
        if item is not None and item.stands == (key, obj.metadata.uid) and not self._is_unsettled(ctx):
            ctx.remember(ITEM, item.name, attrs.evolve(item, stands=None))
            ctx.enqueue(item.name)

    def _is_unsettled(self, ctx: TurnContext) -> bool:
        """Say whether it is yet to be found out what is wanted."""
        return ARRANGE in ctx.process.work_queues[self.name].items

    def manages(self, obj: CSIStorageCapacity) -> bool:
        """Say whether an object is this controller's to change, by its labels."""
        labels = obj.metadata.labels
        return labels.get(DRIVER_LABEL) == self.driver and labels.get(MANAGER_LABEL) == self.options.managed_by

    def wanted(self, ctx: TurnContext) -> list[PublishedCapacity]:
        """Return what is to be published: each class of the driver in each topology where it runs."""
        found = (each for each in ctx.seen.all("StorageClass") if each.provisioner == self.driver)
        classes = [each.metadata.name for each in found if each.delayed or self.options.immediate]
        assumed = keys_in_use((), ctx.seen.all("Node"), self.assumed)
        segments = DriverTopology(self.driver, ctx.seen, assumed).segments()
        return [PublishedCapacity(name, segment) for name in classes for segment in segments]

    def items(self, ctx: TurnContext) -> dict[str, PublishedCapacity]:
        """Return what is known to be wanted, by name, sorted."""
        return dict(sorted(_known(ctx).items()))

    def managed(self, ctx: TurnContext) -> dict[Key, CSIStorageCapacity]:
        """Return the objects that are this controller's, by key, in the order of their versions."""
        found = [(key, obj) for key, obj in ctx.seen.kinds["CSIStorageCapacity"].items() if self.manages(obj)]
        return dict(sorted(found, key=lambda each: (each[1].metadata.resource_version, each[0])))

    def arrange(self, ctx: TurnContext) -> None:
        """Find out which items came and went, which object stands for which, and which stand for none."""
        known, wanted, there = self.items(ctx), self.wanted(ctx), self.managed(ctx)
        names = {item.name for item in wanted}
        for item in known.values():
            if item.name not in names:
                ctx.remember(ITEM, item.name, None)
                if item.stands is not None:
                    ctx.enqueue(_deletion(*item.stands))
        now = {}
        for fresh in wanted:
            item = known.get(fresh.name, fresh)
            if fresh.name not in known:
                ctx.enqueue(fresh.name)
            elif item.stands is not None and self._uid(there, item.stands[0]) != item.stands[1]:
                item = fresh  # somebody took it away: it is made again
                ctx.enqueue(fresh.name)
            now[item.name] = item
        standing = {item.stands[0] for item in now.values() if item.stands is not None}
        free = {item.name: item for item in now.values() if item.stands is None}
        for key, obj in there.items():
            if key in standing:
                continue
            suiting = free.get(_name_of(obj))
            if suiting is None or not suiting.is_of(obj):
                ctx.enqueue(_deletion(key, obj.metadata.uid))
            else:
                del free[suiting.name]
                now[suiting.name] = attrs.evolve(suiting, stands=(key, obj.metadata.uid))
        for item in now.values():
            if known.get(item.name) != item:
                ctx.remember(ITEM, item.name, item)

    @staticmethod
    def _uid(there: Mapping[Key, CSIStorageCapacity], key: Key) -> str:
        return there[key].metadata.uid if key in there else ""

    # -- one cause ----------------------------------------------------------------------------------------

    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Put things in order, delete one object, or ask the driver about one item and publish the answer."""
        if cause == ARRANGE or self._is_unsettled(ctx):  # what is wanted is found out before anything is done about it
            ctx.dequeue(ARRANGE)
            self.arrange(ctx)
            ctx.dequeue(cause)  # it is taken up now
        if cause == ARRANGE:
            if self.options.poll and ctx.note("wake", f"{self.name}|{POLL}") is None:
                ctx.wake_after(POLL, self.options.poll, periodic=True)
            return ()
        if cause == POLL:
            ctx.wake_after(POLL, self.options.poll, periodic=True)
            for name in self.items(ctx):
                ctx.enqueue(name)
            return ()
        if cause.startswith("-"):
            return self._delete(ctx, cause)
        item = _known(ctx).get(cause)
        storage_class: StorageClass | None = ctx.seen.get("StorageClass", item.storage_class) if item else None
        if item is None or storage_class is None:
            return ()
        try:
            room = self.ask(ctx, storage_class.parameters, item.segment)
        except DriverFailed as why:
            failures = min((ctx.note("unanswered", cause) or 0) + 1, 9)
            ctx.remember("unanswered", cause, failures)
            ctx.wake_after(cause, self.backoff(failures))
            ctx.describe(f"{self.driver} does not say how much room it has for {item.storage_class}: GetCapacity: {why}")
            return ()
        ctx.remember("unanswered", cause, None)
        return self._published(ctx, item, room)

    def _published(self, ctx: TurnContext, item: PublishedCapacity, room: CapacityResponse) -> Sequence[Write]:
        """Return the write that publishes an answer, if it is news."""
        told = f"{of_bytes(room.available)} for {item.storage_class} at {go_segment(item.segment)}"
        words = f"{self.driver} publishes its room: {told}"
        largest = None if room.largest is None else of_bytes(room.largest)
        old: CSIStorageCapacity | None = ctx.seen.at(item.stands[0]) if item.stands is not None else None
        if old is None:
            made = self._made(ctx, item, of_bytes(room.available), largest)
            key = Key("CSIStorageCapacity", self.options.namespace, made.metadata.name)
            return (Write("create", key, made, words=words),)
        new = attrs.evolve(old, capacity=of_bytes(room.available), maximum_volume_size=largest)
        owner, owners = self.options.owner, old.metadata.owner_references
        if owner is not None and all(each.uid != owner.uid for each in owners):
            new = attrs.evolve(new, metadata=attrs.evolve(old.metadata, owner_references=(*owners, owner)))
        elif _same(old.capacity, room.available) and _same(old.maximum_volume_size, room.largest):
            return ()
        assert item.stands is not None
        return (Write("update", item.stands[0], new, old.metadata.resource_version, words=words),)

    def _made(self, ctx: TurnContext, item: PublishedCapacity, capacity: str, largest: str | None) -> CSIStorageCapacity:
        owner = self.options.owner
        return CSIStorageCapacity(
            metadata=ObjectMeta(
                name=self._new_name(ctx, item),
                namespace=self.options.namespace,
                generate_name="csisc-",
                labels=Frozen({DRIVER_LABEL: self.driver, MANAGER_LABEL: self.options.managed_by}),
                owner_references=(owner,) if owner is not None else (),
            ),
            storage_class_name=item.storage_class,
            node_topology=LabelSelector(match_labels=Frozen(item.segment)),
            capacity=capacity,
            maximum_volume_size=largest,
        )

    def _new_name(self, ctx: TurnContext, item: PublishedCapacity) -> str:
        """Return a name that nobody has, as the API server completes one: always the same for the same item."""
        for attempt in range(1000):
            text = f"{self.driver}|{self.options.managed_by}|{item.name}|{attempt}"
            number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
            letters = ""
            for _ in range(5):
                number, letter = divmod(number, len(LETTERS))
                letters += LETTERS[letter]
            if Key("CSIStorageCapacity", self.options.namespace, f"csisc-{letters}") not in ctx.sim.log.objects:
                return f"csisc-{letters}"
        raise RuntimeError(f"no free name for {item.name}")

    def _delete(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Delete an object that stands for nothing; of one that is gone the API server will say so."""
        namespace, name, uid = cause.removeprefix("-").split("/")
        key = Key("CSIStorageCapacity", namespace, name)
        there: CSIStorageCapacity | None = ctx.seen.at(key)
        item = _known(ctx).get(_name_of(there)) if there is not None else None
        if item is not None and item.stands == (key, uid):
            return ()
        return (Write("delete", key, uid=uid, words=f"{self.driver} deletes csistoragecapacity/{name}: not wanted"),)

    def done(self, ctx: TurnContext, _cause: str, outcome: CommittedWrite, *, last: bool) -> None:
        """Nothing is kept: what was written counts when the watch shows it."""

    def refused(self, ctx: TurnContext, cause: str, outcome: RefusedWrite) -> None:
        """An object that is gone already is no failure."""
        if outcome.write.verb == "delete" and outcome.reason == "NotFound":
            ctx.cancel_wake_up(cause)
            ctx.remember("failures", f"{self.name}|{cause}", None)

    # -- what the provisioner asks for -----------------------------------------------------------------------

    def refresh(self, ctx: TurnContext, segments: Sequence[Topology] | None, storage_class: str) -> list[str]:
        """Return what to ask the driver about after a volume came or went: its topologies, else its class.

        Args:
            segments: the volume's topologies; None: it has no node affinity.
            storage_class: the class to fall back to; "": none.
        """
        found = self.items(ctx)
        if segments is not None:
            return [name for name, item in found.items() if item.segment in segments]
        return [name for name, item in found.items() if item.storage_class == storage_class]


class PublishedCapacities:
    """The notes about what is to be published, by name. Mutable view."""

    def __init__(self) -> None:
        self.follows = frozenset([ITEM])
        self.items: dict[str, PublishedCapacity] = {}

    def apply(self, key: Any, _old: Any, new: Any) -> None:
        """Put one note in place of another."""
        if new is None:
            self.items.pop(key[2], None)
        else:
            self.items[key[2]] = new

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublishedCapacities) and self.items == other.items

    __hash__ = None  # type: ignore[assignment]


def _known(ctx: TurnContext) -> Mapping[str, PublishedCapacity]:
    view = ctx.views[ITEM]
    assert isinstance(view, PublishedCapacities)
    return view.items


def _item_name(storage_class: str, segment: Topology) -> str:
    return f"{storage_class}|{','.join(f'{key}={one}' for key, one in segment)}"


def _name_of(obj: CSIStorageCapacity) -> str:
    """Return the name of the item that an object would stand for."""
    labels = {} if obj.node_topology is None else obj.node_topology.match_labels
    return _item_name(obj.storage_class_name, tuple(sorted(labels.items())))


def _deletion(key: Key, uid: str) -> str:
    return f"-{key.namespace}/{key.name}/{uid}"


def _same(text: str | None, number: int | None) -> bool:
    return (None if text is None else value(text)) == number
