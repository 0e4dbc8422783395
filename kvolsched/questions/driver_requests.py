"""What CSI drivers are asked, and their answers: for volumes and where, for capacity, to mount inline volumes.

The requests are read from notes of provisioners and records of turns: nothing is stored for it, they change no decision
and no digest, and going back takes them back. Sources: S2, Updating capacity information with external-provisioner, and
Size of ephemeral inline volumes; external-provisioner v6.3.0 `capacity.go`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

import attrs

from ..api.kinds.meta import EMPTY, Frozen
from ..api.kinds.pod import Pod
from ..api.kinds.quantity import of_bytes
from ..api.kinds.volume import PersistentVolume
from ..api.kinds.workload import Event
from ..api.notebook_output import NumberedRows, PrintedAnswer, table_text
from ..api.volumes import Topology, flattened, publish_context
from ..controllers.provisioner import INSTANCE, Attempt
from ..core.core import ClusterCore
from ..core.pools import storage_of
from ..world.apiserver import CommittedWrite
from ..world.history import Turn
from ..world.log import Key, Note
from .explain import changes_of

HEAD, TOPOLOGIES, ANSWER = ("STEP", "TIME", "CLAIM", "NODE"), ("ALLOWED", "REQUISITE", "PREFERRED"), "ANSWER"
MAX_PRINTED = 40
UNDER_WAY = "not answered yet"
_RPC_ERROR = re.compile(r"^rpc error: code = (\w+) desc = ")


@attrs.frozen
class CreateVolumeRequest:
    """One attempt to make a volume.

    Args:
        step: the step in which it began.
        time: when it began (simulated, s).
        driver: which driver was asked.
        claim: the claim that the volume is for.
        node: the selected node that the provisioner went by; "" if it was told none.
        keys: the label keys whose values are a topology.
        requisite: the volume must be reachable from one of these topologies: values of the keys, joined by "/".
        preferred: the order in which the driver should try them.
        answer: where the volume is, the failure, or that there is no answer yet.
        allowed: topologies that a plugin without CSI, which chooses by itself, is allowed to take; None for CSI.
    """

    step: int
    time: float
    driver: str
    claim: str
    node: str
    keys: tuple[str, ...]
    requisite: tuple[str, ...]
    preferred: tuple[str, ...]
    answer: str
    allowed: tuple[str, ...] | None = None


@attrs.frozen(repr=False)
class CreateVolumeRequests(NumberedRows[CreateVolumeRequest], PrintedAnswer):
    """Attempts to make volumes, in their order; printed as a table of the values of topologies."""

    rows: tuple[CreateVolumeRequest, ...]

    def __repr__(self) -> str:
        if not self.rows:
            return "no driver has been asked for a volume"
        shown = self.rows[-MAX_PRINTED:]
        some = [any((row.allowed is None) == is_csi for row in shown) for is_csi in (False, True, True)]
        table: list[tuple[str, ...]] = [(*HEAD, *compress(TOPOLOGIES, some), ANSWER)]
        for row in shown:
            told = [row.allowed, *((row.requisite, row.preferred) if row.allowed is None else (None, None))]
            topologies = ("–" if each is None else ", ".join(each) or "any" for each in compress(told, some))
            table.append((str(row.step), f"{row.time:g} s", row.claim, row.node or "none", *topologies, row.answer))
        return _last_rows(table, len(self.rows))


def _last_rows(table: Sequence[Sequence[str]], count: int) -> str:
    """Return a table of the last rows of so many as text."""
    left = [f"{count - MAX_PRINTED} earlier ones are left out"] if count > MAX_PRINTED else []
    return "\n".join([*table_text(table, 3), *left])


def create_volume_requests(cluster: ClusterCore, claim: str = "") -> CreateVolumeRequests:
    """Return what drivers were asked for a claim, by default for all, up to now."""
    wanted = cluster.world.find_key(claim, "pvc", ever=True) if claim else None
    begun: dict[Note, tuple[Turn, Attempt]] = {}
    found: list[tuple[Turn, Attempt, Note, str]] = []
    for turn in cluster.world.history.turns_since(-1):
        for change in changes_of(cluster, turn):
            note = change.key
            if not isinstance(note, Note) or not isinstance(change.new or change.old, Attempt):
                continue
            if wanted and _claim_of(note) != wanted:
                continue
            if note in begun and not _is_begun(change.new):
                found.append((*begun.pop(note), note, _answer(cluster, turn)))
            if _is_begun(change.new):
                begun[note] = turn, change.new
    found += [(*still, note, UNDER_WAY) for note, still in begun.items()]
    found.sort(key=lambda each: each[0].start)
    return CreateVolumeRequests(tuple(_row(cluster, *each) for each in found))


def _claim_of(note: Note) -> Key:
    return Key("PersistentVolumeClaim", *note.name.split("/"))


def _is_begun(value: Any) -> bool:
    """Say whether a note is of an attempt that waits for its answer; what failed is kept without volume and error."""
    return isinstance(value, Attempt) and (value.volume is not None or bool(value.error))


def _row(cluster: ClusterCore, turn: Turn, attempt: Attempt, note: Note, answer: str) -> CreateVolumeRequest:
    read = attempt.remembered
    requisite, preferred = read.requisite, read.preferred
    if read.abridged:
        requisite, preferred = _unabridged(cluster, turn, preferred)
    handed = attempt.handed
    allowed = [] if handed is None else flattened(handed.allowed)
    return CreateVolumeRequest(
        step=turn.step, time=turn.time, driver=note.component, claim=_claim_of(note).name,
        node=attempt.node if handed is None else handed.node,
        keys=tuple(dict.fromkeys(key for each in (*requisite, *allowed) for key, _ in each)),
        requisite=tuple(map(_values, requisite)), preferred=tuple(map(_values, preferred)), answer=answer,
        allowed=None if handed is None else tuple(map(_values, allowed)),
    )  # fmt: skip


def _unabridged(
    cluster: ClusterCore, turn: Turn, selected: tuple[Topology, ...]
) -> tuple[tuple[Topology, ...], tuple[Topology, ...]]:
    """Return every topology of the nodes as they were then, and the same with the selected node's first."""
    world = cluster.world
    labels = world.visit(turn.start, lambda: [node.metadata.labels for node in world.log.of_kind("Node")])
    keys = [key for key, _ in selected[0]]
    segments = {tuple((key, each[key]) for key in keys) for each in labels if all(key in each for key in keys)}
    requisite = tuple(sorted(segments | {selected[0]}))
    first = requisite.index(selected[0])
    return requisite, requisite[first:] + requisite[:first]


def _answer(cluster: ClusterCore, turn: Turn) -> str:
    """Return what came of the attempt that ended in this turn."""
    for change in changes_of(cluster, turn):
        if isinstance(change.new, Event) and change.new.type == "Warning":
            message = str(change.new.message)
            return _RPC_ERROR.sub(r"\1: ", message.partition('": ')[2] or message)
    outcomes = (each.stored for each in turn.outcomes if isinstance(each, CommittedWrite))
    made = [stored for stored in outcomes if isinstance(stored, PersistentVolume)]
    if not made:
        return "given up"
    terms = made[0].spec.node_terms
    places = ("/".join("+".join(part.values) for part in term.match_expressions) for term in terms)
    return f"a volume in {' or '.join(places)}" if terms else "a volume that every node reaches"


def _values(topology: Topology) -> str:
    return "/".join(value for _, value in topology)


CAPACITY_HEAD = ("STEP", "TIME", "DRIVER", "CLASS", "PARAMETERS", "SEGMENT", "ANSWER")


@attrs.frozen
class GetCapacityRequest:
    """One request to a driver about its capacity.

    Args:
        step: the step in which it was made.
        time: when (simulated, s).
        driver: the driver, with the node on which its provisioner runs if there is one on each.
        storage_class: whose parameters they are; `<ephemeral>` for inline volumes. The request does not have it.
        parameters: those of the class.
        segment: label key -> value of the accessible topology; empty: none was given.
        available: the bytes that the driver answered; None: it failed.
        largest: the bytes of the largest volume; None: not given.
        error: the words of a failure.
    """

    step: int
    time: float
    driver: str
    storage_class: str
    parameters: Mapping[str, str]
    segment: Mapping[str, str]
    available: int | None
    largest: int | None = None
    error: str = ""

    @property
    def answer(self) -> str:
        """The answer in words: `10Gi`, `10Gi, volumes of at most 5Gi`, or the failure."""
        largest = "" if self.largest is None else f", volumes of at most {of_bytes(self.largest)}"
        return self.error if self.available is None else f"{of_bytes(self.available)}{largest}"


@attrs.frozen(repr=False)
class GetCapacityRequests(NumberedRows[GetCapacityRequest], PrintedAnswer):
    """Requests in their order; printed as a table."""

    rows: tuple[GetCapacityRequest, ...]

    def __repr__(self) -> str:
        if not self.rows:
            return "no driver has been asked for its capacity"
        table: list[tuple[str, ...]] = [CAPACITY_HEAD]
        for row in self.rows[-MAX_PRINTED:]:
            pairs = (map("=".join, each.items()) for each in (row.parameters, row.segment))
            told = (", ".join(each) or "none" for each in pairs)
            table.append((str(row.step), f"{row.time:g} s", row.driver, row.storage_class, *told, row.answer))
        return _last_rows(table, len(self.rows))


def get_capacity_requests(cluster: ClusterCore, driver: str = "") -> GetCapacityRequests:
    """Return what a driver was asked about its capacity, by default every one, up to now.

    Raises:
        UnknownName: there is no such driver with pools; others are never asked. It is a KeyError.
    """
    if driver:
        storage_of(cluster, driver.partition(INSTANCE)[0])
    turns = (turn for turn in cluster.world.turns if turn.end <= cluster.world.place)
    calls = ((turn, call) for turn in turns for call in turn.calls)
    rows = []
    for turn, call in calls:
        if driver in ("", call.driver, call.driver.partition(INSTANCE)[0]):
            told = (None, None, call.answer) if isinstance(call.answer, str) else (
                call.answer.available, call.answer.largest)  # fmt: skip
            rows.append(GetCapacityRequest(turn.step, turn.time, call.driver, call.storage_class, call.parameters,
                                           dict(call.segment), *told))  # fmt: skip
    return GetCapacityRequests(tuple(rows))


MOUNT_HEAD = ("POD", "VOLUME", "DRIVER", "NODE", "ENTRY", "VALUE")


@attrs.frozen
class Mount:
    """An inline volume of a pod on a node, and what its driver is handed in NodePublishVolumeRequest.

    Args:
        pod, volume, driver, node: which volume it is.
        context: the entries of publish_context.
        capability: what volume_capability says: the file system, if one is given; it has no field for a size.
    """

    pod: str
    volume: str
    driver: str
    node: str
    context: Mapping[str, str]
    capability: Mapping[str, str]


@attrs.frozen(repr=False)
class MountTable(NumberedRows[Mount], PrintedAnswer):
    """The inline volumes of pods as rows; printed as a table with a line for each entry of their contexts."""

    rows: tuple[Mount, ...]

    def __repr__(self) -> str:
        if not self.rows:
            return "no pod with an inline volume is on a node"
        lines = [MOUNT_HEAD]
        for row in self.rows:
            first = (row.pod, row.volume, row.driver, row.node)
            for entry, value in sorted(row.context.items()) or [("<none>", "")]:
                lines.append((*first, entry, f'"{value}"' if row.context else ""))
                first = ("", "", "", "")
        return "\n".join(table_text(lines, 3))


def mounts(cluster: ClusterCore, pod: str = "") -> MountTable:
    """Return what drivers are told about the inline volumes of a pod on a node, by default of all, as of now."""
    pods = [cluster.world.log.objects[cluster.world.find_key(pod, "pod")]] if pod else cluster.objects("pods")
    return MountTable(tuple(row for each in pods for row in _rows(cluster, each)))


def _rows(cluster: ClusterCore, pod: Pod) -> Iterator[Mount]:
    if not pod.spec.node_name:
        return
    for volume in pod.spec.volumes:
        if volume.csi is not None:
            driver = cluster.world.log.objects.get(Key("CSIDriver", "", volume.csi.driver))
            context = publish_context(pod, volume.csi, driver)
            file_system = volume.csi.rest.get("fsType")
            capability = Frozen(fsType=file_system) if file_system else EMPTY
            yield Mount(pod.metadata.name, volume.name, volume.csi.driver, pod.spec.node_name, context, capability)
