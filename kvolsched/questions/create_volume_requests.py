"""What provisioners ask drivers to make, and where: the topologies of each CreateVolumeRequest, and its answer.

They are read from the notes of provisioners in the history: nothing is stored for it, and going back takes them back.
"""

import re
from itertools import compress
from typing import Any

import attrs

from kvolsched.api.notebook_output import NumberedRows, PrintedAnswer, table_text

from ..api.kinds.volume import PersistentVolume
from ..api.kinds.workload import Event
from ..api.volumes import Topology, flattened
from ..controllers.provisioner import Attempt
from ..core.core import ClusterCore
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
        left = len(self.rows) - MAX_PRINTED
        return "\n".join([*table_text(table, 3), *([f"{left} earlier ones are left out"] if left > 0 else [])])


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
    return _place(made[0]) if made else "given up"


def _place(volume: PersistentVolume) -> str:
    terms = volume.spec.node_terms
    places = ("/".join("+".join(part.values) for part in term.match_expressions) for term in terms)
    return f"a volume in {' or '.join(places)}" if terms else "a volume that every node reaches"


def _values(topology: Topology) -> str:
    return "/".join(value for _, value in topology)
