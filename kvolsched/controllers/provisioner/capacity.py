"""Publishes a driver's capacity: it alone writes the CSIStorageCapacity objects of one driver and manager.

There is one object for each class of the driver and each topology in which it runs. It has what the driver answered
when it was last asked: when the object was missing, when a volume was made or deleted there, and once a period.
Mirrors external-provisioner v6.3.0 `capacity.go`, `nodes.go` and `provision.go`.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ...api.dials import RATE, SECONDS, SWITCH, TEXT, Values, choice, dial, whole
from ...api.kinds.csi import CSIStorageCapacity
from ...api.kinds.kind import find_kind
from ...api.kinds.meta import Frozen, ObjectMeta, OwnerReference, evolve_parts
from ...api.kinds.quantity import of_bytes, value
from ...api.kinds.selector import LabelSelector
from ...api.kinds.storage_class import StorageClass
from ...api.volumes import Topology
from ...api.workloads import five_letters
from ...world.apiserver import CommittedWrite, RefusedWrite, Write
from ...world.component import TurnContext
from ...world.log import Key
from ...world.reconciler import Backoff, Reconciler
from ...world.storage_pools import CapacityResponse, DriverFailed
from ...world.work_queue import WorkQueue
from .pace import PublishingPace
from .topology import DriverTopology, go_segment, keys_in_use

DRIVER_LABEL = "csi.storage.k8s.io/drivername"
MANAGER_LABEL = "csi.storage.k8s.io/managed-by"
ARRANGE, POLL = "arrange", "poll"  # causes beside the capacities: classes or topologies have changed; a period is over
NODE = "node"  # the form of publishing with a provisioner on each node (S2)
INSTANCE = " on "  # between driver and node in the name of a provisioner that runs on a node
ITEM = "item"  # sort of the notes and name of the view: one for each capacity, with the object that publishes it

GetCapacity = Callable[[TurnContext, Mapping[str, str], Topology], CapacityResponse]


def component_name(driver: str, node: str) -> str:
    """Return the name of a driver's provisioner: the driver's, with the node that it runs on."""
    return f"{driver}{INSTANCE}{node}" if node else driver


def _read_owner(given: Any, _before: Any) -> OwnerReference | None:
    if isinstance(given, OwnerReference | None):
        return given
    if not isinstance(given, Mapping) or not {"kind", "name"} <= given.keys() <= {"kind", "name", "uid"}:
        raise ValueError(f"{given!r}: must be {OWNER.words}")
    return OwnerReference(api_version=find_kind(given["kind"]).type.api_version, **given)


OWNER = Values("a mapping with kind, name and, unless its uid is looked up, uid", _read_owner)


@attrs.frozen(kw_only=True)
class PublishingOptions:
    """How a driver's capacity is published."""

    namespace: str = dial("default", TEXT, "namespace of the CSIStorageCapacity objects: the driver's")
    managed_by: str = dial("external-provisioner", TEXT, "the objects' manager, in their label")
    owner: OwnerReference | None = dial(
        None, OWNER, "the objects' owner, such as `{kind: Deployment, name: driver}`: they go with it",
        "S2, Separate objects: removing those objects becomes harder",
    )
    immediate: bool = dial(False, SWITCH, "publish also for classes that bind at once")
    interval: float = dial(
        60.0, SECONDS, "between two requests to the driver about every capacity; 0: there are none",
        "S2, Central provisioning: the status is updated periodically, to detect changes in the backing store",
    )
    lag: float = dial(
        0.0, SECONDS, "from the driver's answer to its publication",
        "S2, Non-Goals: from time to time a node is chosen where the creation of the volume then fails",
    )
    workers: int = dial(1, whole(1), "how many capacities are asked for at once, where that takes time")
    qps: float = dial(0.0, RATE, "how many capacities are published a second at most; 0: any number")
    form: str = dial(
        "objects", choice("objects", "central", "node"), "CSIStorageCapacity objects, or pools in a CSIDriver's status",
        "S2, Only inline ephemeral volumes (node), Central provisioning (central), Separate objects (v1.36.2)",
    )
    prefix: str = dial(
        "", TEXT, 'prefix of the labels that make a node\'s segment in the form central; "": nothing is published',
        "S2, Central provisioning: all keys have one prefix, which external-provisioner is given",
    )
    ephemeral: bool = dial(
        False, SWITCH, "publish also for inline volumes in the form central, under `<ephemeral>`",
        "S2, Central provisioning: it does so without parameters, if another flag says so",
    )
    expires: float = dial(
        0.0, SECONDS, "after which a pool of a status is obsolete; 0: never",
        "S2, Storage capacity: expiryTime is when an entry becomes obsolete; without one it is valid forever",
    )

    @property
    def pace(self) -> PublishingPace:
        """How fast answers are published."""
        return PublishingPace(self.lag, self.workers, self.qps)


@attrs.frozen
class PublishedCapacity:
    """A note: the capacity of a class in a topology; `published` is its object's key and uid, once there is one."""

    storage_class: str
    segment: Topology
    published: tuple[Key, str] | None = None

    @property
    def name(self) -> str:
        """The name of the note, and the cause under which it is synced."""
        return _capacity_name(self.storage_class, self.segment)

    def describes(self, obj: CSIStorageCapacity) -> bool:
        """Say whether an object is about this class and topology."""
        topology = obj.node_topology
        if topology is None or topology.match_expressions or obj.storage_class_name != self.storage_class:
            return False
        return topology.match_labels == dict(self.segment)


@attrs.frozen
class GetCapacityCall:
    """A GetCapacityRequest to a driver, and its answer: a response, or the error that it failed with.

    `storage_class` is the class of the parameters, which the request does not have.
    """

    driver: str
    storage_class: str
    parameters: Mapping[str, str]
    segment: Topology
    answer: CapacityResponse | str


@attrs.frozen
class Publisher:
    """What asks a driver for its capacity, in either form of publishing."""

    driver: str
    get_capacity: GetCapacity
    options: PublishingOptions = PublishingOptions()
    node: str = ""  # the node that it runs on, whose capacity alone it publishes; "": it is central
    backoff: Backoff = Backoff()

    @property
    def name(self) -> str:
        """The name of the routine."""
        return f"{component_name(self.driver, self.node)} capacity"

    @property
    def label(self) -> str:
        """The provisioner as sentences name it."""
        return f"provisioner {component_name(self.driver, self.node)}"

    def ask(
        self, ctx: TurnContext, storage_class: str, parameters: Mapping[str, str], segment: Topology,
        where: Topology = (),
    ) -> CapacityResponse:
        """Ask the driver about a class in a segment, or with an empty request where it runs; the turn's record has it.

        Raises:
            DriverFailed: it answers with an error.
        """
        answer: CapacityResponse | str = ""
        try:
            answer = self.get_capacity(ctx, parameters, segment or where)
        except DriverFailed as why:
            answer = str(why)
            raise
        finally:
            call = GetCapacityCall(component_name(self.driver, self.node), storage_class, parameters, segment, answer)
            ctx.calls = (*ctx.calls, call)
        return answer

    def answer(
        self, ctx: TurnContext, cause: str, what: str, ask: Callable[[], CapacityResponse],
        is_news: Callable[[CapacityResponse], bool]
    ) -> CapacityResponse | None:
        """Return the driver's answer that is to be published now; None if there is none yet, or the driver failed."""
        try:
            response = self.options.pace.answer(ctx, cause, ask, is_news)
        except DriverFailed as why:
            ctx.wake_after(cause, self.backoff.seconds(self.backoff.count_failure(ctx, "unanswered", cause)))
            ctx.describe(f"{self.label} cannot publish the capacity for {what}: GetCapacity: {why}")
            return None
        ctx.remember("unanswered", cause, None)
        return response

    def is_driver_of(self, *classes: StorageClass | None) -> bool:
        """Say whether one of these classes names the driver as its provisioner."""
        return any(found is not None and found.provisioner == self.driver for found in classes)


@attrs.frozen
class CapacityPublisher(Publisher):
    """The controller of one driver's CSIStorageCapacity objects."""

    assumed: tuple[str, ...] = ()

    @property
    def manager(self) -> str:
        """The manager of the objects, in their label."""
        return f"{self.options.managed_by}-{self.node}" if self.node else self.options.managed_by

    def routine(self) -> Reconciler:
        """Return the routine."""
        return Reconciler(self.name, self.causes, self.sync, self.refused, self.done, self.backoff)

    def causes(self, ctx: TurnContext, key: Key, old: Any, new: Any) -> Iterator[str]:
        """Yield ARRANGE if a change may alter which capacities are wanted, or the deletion of a needless object."""
        match key.kind:
            case "CSIStorageCapacity":
                if new is not None and self.manages(new):
                    yield from self._attach(ctx, key, new)
                elif old is not None and self.manages(old):
                    self._detach(ctx, key, old)
            case "StorageClass":
                if self.is_driver_of(old, new):
                    yield ARRANGE
            case "Node":
                if old is None or new is None or old.metadata.labels != new.metadata.labels:
                    yield ARRANGE
            case "CSINode":
                yield ARRANGE

    def _attach(self, ctx: TurnContext, key: Key, obj: CSIStorageCapacity) -> Iterator[str]:
        """Note that an object publishes its capacity; delete it if there is no such capacity, or another object."""
        known = _known(ctx)
        if not known or self._is_unarranged(ctx):
            yield ARRANGE
            return
        item, identity = known.get(_name_of(obj)), (key, obj.metadata.uid)
        if item is None or not item.describes(obj) or item.published not in (None, identity):
            yield _deletion(*identity)
        elif item.published is None:
            ctx.remember(ITEM, item.name, attrs.evolve(item, published=identity))

    def _detach(self, ctx: TurnContext, key: Key, obj: CSIStorageCapacity) -> None:
        """Note that an object was deleted: it is created again, unless its class or topology went before it."""
        item = _known(ctx).get(_name_of(obj))
        if item is not None and item.published == (key, obj.metadata.uid) and not self._is_unarranged(ctx):
            ctx.remember(ITEM, item.name, attrs.evolve(item, published=None))
            ctx.enqueue(item.name)

    def _is_unarranged(self, ctx: TurnContext) -> bool:
        return ARRANGE in ctx.process.work_queues[self.name].items

    def manages(self, obj: CSIStorageCapacity) -> bool:
        """Say whether an object is this controller's to change, by its labels."""
        labels = obj.metadata.labels
        return labels.get(DRIVER_LABEL) == self.driver and labels.get(MANAGER_LABEL) == self.manager

    def wanted(self, ctx: TurnContext) -> list[PublishedCapacity]:
        """Return what is to be published: each class of the driver in each topology where it runs."""
        classes = [found for found in ctx.seen.all("StorageClass") if found.provisioner == self.driver]
        names = [found.metadata.name for found in classes if found.delayed or self.options.immediate]
        assumed = keys_in_use((), ctx.seen.all("Node"), self.assumed)
        segments = DriverTopology(self.driver, ctx.seen, assumed).segments(self.node)
        return [PublishedCapacity(name, segment) for name in names for segment in segments]

    def items(self, ctx: TurnContext) -> dict[str, PublishedCapacity]:
        """Return the capacities that are known to be wanted, by name, sorted."""
        return dict(sorted(_known(ctx).items()))

    def managed(self, ctx: TurnContext) -> dict[Key, CSIStorageCapacity]:
        """Return the objects that are this controller's, by key, in the order of their versions."""
        found = [(key, obj) for key, obj in ctx.seen.kinds["CSIStorageCapacity"].items() if self.manages(obj)]
        return dict(sorted(found, key=lambda pair: (pair[1].metadata.resource_version, pair[0])))

    def arrange(self, ctx: TurnContext) -> None:
        """Find which capacities came and went, which object publishes which, and which objects are needless."""
        known, wanted, stored = self.items(ctx), self.wanted(ctx), self.managed(ctx)
        names = {item.name for item in wanted}
        for item in known.values():
            if item.name not in names:
                ctx.remember(ITEM, item.name, None)
                if item.published is not None:
                    ctx.enqueue(_deletion(*item.published))
        items, published = {}, {(key, obj.metadata.uid) for key, obj in stored.items()}
        for unpublished in wanted:
            item = known.get(unpublished.name, unpublished)
            if unpublished.name not in known:
                ctx.enqueue(unpublished.name)
            elif item.published is not None and item.published not in published:
                item = unpublished  # its object was deleted: it is created again
                ctx.enqueue(unpublished.name)
            items[item.name] = item
        kept = {item.published[0] for item in items.values() if item.published is not None}
        missing = {item.name: item for item in items.values() if item.published is None}
        for key, obj in stored.items():
            if key in kept:
                continue
            suiting = missing.get(_name_of(obj))
            if suiting is None or not suiting.describes(obj):
                ctx.enqueue(_deletion(key, obj.metadata.uid))
            else:
                del missing[suiting.name]
                items[suiting.name] = attrs.evolve(suiting, published=(key, obj.metadata.uid))
        for item in items.values():
            if known.get(item.name) != item:
                ctx.remember(ITEM, item.name, item)


    def sync(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Arrange, delete one object, or ask the driver about one capacity and publish the answer."""
        if cause == ARRANGE or self._is_unarranged(ctx):  # before anything else is done
            ctx.dequeue(ARRANGE)
            self.arrange(ctx)
            ctx.dequeue(cause)  # it is synced now
        if cause == ARRANGE:
            if self.options.interval and ctx.note("wake", f"{self.name}|{POLL}") is None:
                ctx.wake_after(POLL, self.options.interval, periodic=True)
            return ()
        if cause == POLL:
            ctx.wake_after(POLL, self.options.interval, periodic=True)
            for name in self.items(ctx):
                ctx.enqueue(name)
            return ()
        if cause.startswith("-"):
            return self._delete(ctx, cause)
        item = _known(ctx).get(cause)
        storage_class: StorageClass | None = ctx.seen.get("StorageClass", item.storage_class) if item else None
        if item is None or storage_class is None:
            self.options.pace.forget(ctx, cause)
            return ()
        parameters, segment = storage_class.parameters, item.segment
        response = self.answer(
            ctx, cause, f"class {item.storage_class}",
            lambda: self.ask(ctx, item.storage_class, parameters, segment),
            lambda answer: bool(self._publish(ctx, item, answer))
        )
        return self._publish(ctx, item, response) if response is not None else ()

    def needs_poll(self, ctx: TurnContext) -> bool:
        """Say whether the next poll will find news: room that was taken or freed and is not published yet."""
        if not self.options.interval:
            return False
        for item in self.items(ctx).values():
            storage_class: StorageClass | None = ctx.seen.get("StorageClass", item.storage_class)
            if storage_class is None:
                continue
            try:
                response = self.get_capacity(ctx, storage_class.parameters, item.segment)
            except DriverFailed:
                continue
            if self._publish(ctx, item, response):
                return True
        return False

    def _owners(self, ctx: TurnContext) -> tuple[OwnerReference, ...] | None:
        """Return the objects' owner, if there is to be one, as it is now; None: it is gone, and who publishes with it.

        Mirrors `--capacity-ownerref-level`: the provisioner runs in a pod of its owner.
        """
        owner = self.options.owner
        if owner is None or owner.uid:
            return () if owner is None else (owner,)
        found = ctx.get_live(Key(owner.kind, self.options.namespace, owner.name))
        return None if found is None else (attrs.evolve(owner, uid=found.metadata.uid),)

    def _publish(self, ctx: TurnContext, item: PublishedCapacity, response: CapacityResponse) -> Sequence[Write]:
        owned = self._owners(ctx)
        if owned is None:
            return ()
        capacity = of_bytes(response.available)
        largest = None if response.largest is None else of_bytes(response.largest)
        where = f"class {item.storage_class} at {go_segment(item.segment)}"
        words = f"{self.label} publishes its capacity: {capacity} for {where}"
        old: CSIStorageCapacity | None = ctx.seen.at(item.published[0]) if item.published is not None else None
        if old is None:
            created = self._new_object(ctx, item, capacity, largest, owned)
            key = Key("CSIStorageCapacity", self.options.namespace, created.metadata.name)
            return (Write("create", key, created, words=words),)
        new = attrs.evolve(old, capacity=capacity, maximum_volume_size=largest)
        owners = old.metadata.owner_references
        if owned and all(present.uid != owned[0].uid for present in owners):
            new = evolve_parts(new, metadata={"owner_references": (*owners, *owned)})
        elif _equal(old.capacity, response.available) and _equal(old.maximum_volume_size, response.largest):
            return ()
        assert item.published is not None
        return (Write("update", item.published[0], new, old.metadata.resource_version, words=words),)

    def _new_object(
        self, ctx: TurnContext, item: PublishedCapacity, capacity: str, largest: str | None,
        owned: tuple[OwnerReference, ...],
    ) -> CSIStorageCapacity:
        return CSIStorageCapacity(
            metadata=ObjectMeta(
                name=self._new_name(ctx, item), namespace=self.options.namespace, generate_name="csisc-",
                labels=Frozen({DRIVER_LABEL: self.driver, MANAGER_LABEL: self.manager}),
                owner_references=owned,
            ),
            storage_class_name=item.storage_class,
            node_topology=LabelSelector(match_labels=Frozen(item.segment)),
            capacity=capacity,
            maximum_volume_size=largest,
        )

    def _new_name(self, ctx: TurnContext, item: PublishedCapacity) -> str:
        """Return a free name, spelled as the API server generates names; it depends on the capacity alone."""
        for attempt in range(1000):
            text = f"{self.driver}|{self.manager}|{item.name}|{attempt}"
            letters = five_letters(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()))
            if Key("CSIStorageCapacity", self.options.namespace, f"csisc-{letters}") not in ctx.sim.log.objects:
                return f"csisc-{letters}"
        raise RuntimeError(f"no free name for {item.name}")

    def _delete(self, ctx: TurnContext, cause: str) -> Sequence[Write]:
        """Delete an object that publishes no wanted capacity, unless it got another manager's label.

        If it is gone, the API server refuses.
        """
        namespace, name, uid = cause.removeprefix("-").split("/")
        key = Key("CSIStorageCapacity", namespace, name)
        obj: CSIStorageCapacity | None = ctx.seen.at(key)
        item = _known(ctx).get(_name_of(obj)) if obj is not None else None
        if (item is not None and item.published == (key, uid)) or (obj is not None and not self.manages(obj)):
            return ()
        words = f"{self.label} deletes csistoragecapacity/{name}: no class and topology needs it"
        return (Write("delete", key, uid=uid, words=words),)

    def done(self, ctx: TurnContext, _cause: str, outcome: CommittedWrite, *, last: bool) -> None:
        """Record nothing: what was written counts when the watch shows it."""

    def refused(self, ctx: TurnContext, cause: str, outcome: RefusedWrite) -> None:
        """Forget the failure if the object to delete is gone already."""
        if outcome.write.verb == "delete" and outcome.reason == "NotFound":
            ctx.cancel_wake_up(cause)
            ctx.remember("failures", f"{self.name}|{cause}", None)

    def causes_to_refresh(self, ctx: TurnContext, segments: Sequence[Topology] | None, storage_class: str) -> list[str]:
        """Return the capacities to ask for after a volume was made or deleted: by its topologies, else by its class.

        A volume that failed has no `segments` (None), one without node affinity the empty one.
        """
        items = self.items(ctx).items()
        if segments is not None and () not in segments:
            return [name for name, item in items if item.segment in segments]
        return [name for name, item in items if item.storage_class == storage_class]


def _known(ctx: TurnContext) -> Mapping[str, PublishedCapacity]:
    view: WorkQueue = ctx.views[ITEM]
    return view.items


def _capacity_name(storage_class: str, segment: Topology) -> str:
    return f"{storage_class}|{','.join(f'{key}={text}' for key, text in segment)}"


def _name_of(obj: CSIStorageCapacity) -> str:
    labels = {} if obj.node_topology is None else obj.node_topology.match_labels
    return _capacity_name(obj.storage_class_name, tuple(sorted(labels.items())))


def _deletion(key: Key, uid: str) -> str:
    return f"-{key.namespace}/{key.name}/{uid}"


def _equal(text: str | None, number: int | None) -> bool:
    return (None if text is None else value(text)) == number
