"""A frame from a cluster: the one place where the engine's objects and notes become the plain rows that views read.

It decides nothing about looks and nothing about Kubernetes: states are read off the objects, beliefs off the notes,
verdicts are judged again where the pass was made.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

from .. import volumes
from ..api import quantity
from ..api.volume import PersistentVolume
from ..cluster import Cluster
from ..explain import changed_fields, changes_of, judged, last_pass
from ..scheduler.assume import ASSUMED, key_in
from ..scheduler.cycle import PASS, SCHEDULER, PassNote
from ..scheduler.framework import Code
from ..scheduler.queue import QUEUE, QueueEntry
from ..world.apiserver import EPOCH, Refused, ref
from ..world.log import Key, Note
from ..world.history import Turn
from . import frame as f

LABELS = {
    PASS: "scheduler · pass",
    "bind worker": "scheduler · bind worker",
    "persistentvolume claims": "PV controller · claims",
    "persistentvolume volumes": "PV controller · volumes",
}
QUEUE_WORDS = {"backoff": "back-off", "waiting": "waiting for volumes"}
VERBS = {"update_status": "status"}
LETTERS = {
    "NodeUnschedulable": "U", "NodeName": "N", "TaintToleration": "T", "NodeAffinity": "A", "NodePorts": "P",
    "NodeResourcesFit": "F", "VolumeRestrictions": "R", "NodeVolumeLimits": "L", "VolumeBinding": "V", "VolumeZone": "Z",
    "PodTopologySpread": "S", "InterPodAffinity": "I",
}  # fmt: skip
FAMILIES = {"F": "resources", "R": "storage", "L": "storage", "V": "storage", "Z": "storage", "S": "spread", "I": "spread"}
HIDDEN_NOTES = frozenset({"cursor", "clock", "gone", "wake", "config", "pass", "failures", "own"})


def frame_of(cluster: Cluster, *, focus: str = "", gear: str = "steps", chips: bool = True, cell: str = "") -> f.Frame:
    """Fill a frame from the present place of a cluster.

    Args:
        focus: ref of the pod that the verdicts are about; by default the one that was judged last.
        gear: the unit that the panel steps in.
        chips: whether to try out what each actor would do next (costs a turn each).
        cell: `verdict/NODE/PLUGIN` whose rule is to be explained.
    """
    return _Filler(cluster, focus, gear).frame(chips=chips, cell=cell)


class _Filler:
    """One frame in the making: what several tables need is looked up once."""

    def __init__(self, cluster: Cluster, focus: str, gear: str) -> None:
        self.cluster, self.gear = cluster, gear
        self.world = cluster.world
        self.objects = self.world.log.objects
        self.notes = self.world.log.notes
        self.by_kind: dict[str, list[tuple[Key, Any]]] = {}
        for key in sorted(self.objects):
            self.by_kind.setdefault(key.kind, []).append((key, self.objects[key]))
        self.assumed = {key_in(note.name): value for note, value in self.notes.items() if note.sort == ASSUMED}
        self.step = self.world.step_number
        self.turns = [turn for turn in self.world.turns if turn.step == self.step and turn.end <= self.world.place]
        self.focus = self._focus(focus)
        self.passed = judged(cluster, self.focus) if self.focus is not None and self._was_judged() else None

    def _focus(self, asked: str) -> Key | None:
        """The pod the verdicts are about: asked for, judged last, or the only one that waits."""
        if asked:
            from ..cluster import key_for  # noqa: PLC0415 - only here

            return key_for(asked)
        turn = last_pass(self.cluster)
        if turn is not None:
            namespace, _, name = turn.cause.partition("/")
            return Key("Pod", namespace, name)
        waiting = [key for key, pod in self.by_kind.get("Pod", ()) if not pod.spec.node_name]
        return waiting[0] if waiting else None

    def _was_judged(self) -> bool:
        return self.focus is not None and last_pass(self.cluster, self.focus) is not None

    def frame(self, *, chips: bool, cell: str) -> f.Frame:
        changes = self._changes()
        verdicts, nodes = self._verdicts(cell), self._nodes()
        return f.Frame(
            head=self._head(changes),
            next=self._next() if chips else (),
            nodes=nodes,
            pods=self._pods(),
            claims=self._claims(),
            volumes=self._volumes(),
            classes=self._classes(),
            verdicts=verdicts,
            changes=changes,
            events=self._events(),
            lanes=self._lanes(),
        )

    # -- head and chips ---------------------------------------------------------------------------------------

    def _head(self, changes: tuple[f.ChangeRow, ...]) -> f.Head:
        acting = [turn for turn in self.turns if not turn.quiet]
        sentence = "; ".join(dict.fromkeys(turn.words for turn in acting if turn.words))
        last = acting[-1] if acting else None
        return f.Head(
            scenario=self.cluster.name,
            revision=self.cluster.revision.name,
            branch=self.world.branch,
            step=self.step,
            steps_known=self.world.known_steps,
            gear=self.gear,
            time=self.world.now,
            actor=label_of(last.actor or last.component) if last else "",
            actor_id=(last.actor or last.component) if last else "",
            sentence=sentence or ("Nothing has happened yet." if not self.step else ""),
            hot=tuple(sorted({row.ref for row in changes})),
            focus=ref(self.focus) if self.focus is not None else "",
        )

    def _next(self) -> tuple[f.NextActor, ...]:
        rows = []
        for place, trial in enumerate(self.world.preview()):
            words = trial.words or f"look at {trial.cause}"
            words = f"in {trial.time - self.world.now:g} s: {words}" if trial.time > self.world.now else words
            rows.append(
                f.NextActor(
                    actor=f"{trial.actor}|{trial.cause}",
                    label=label_of(trial.actor),
                    component=trial.component,
                    words=words,
                    default=place == 0,
                    changes_nothing=trial.quiet,
                )
            )
        return tuple(rows)

    # -- objects ----------------------------------------------------------------------------------------------

    def _nodes(self) -> tuple[f.NodeRow, ...]:
        used: dict[str, list[int]] = {}
        for _, pod in self.by_kind.get("Pod", ()):
            if pod.spec.node_name and not pod.terminal:
                cpu, memory = asks(pod)
                here = used.setdefault(pod.spec.node_name, [0, 0, 0])
                here[0], here[1], here[2] = here[0] + cpu, here[1] + memory, here[2] + 1
        judgement = self.passed.judgement if self.passed else None
        totals = self.passed.ranking.total() if self.passed and self.passed.ranking else {}
        rows = []
        for key, node in self.by_kind.get("Node", ()):
            cpu, memory, pods = used.get(key.name, [0, 0, 0])
            room = node.status.allocatable or node.status.capacity
            verdict, first, reason, resolvable = "not judged", -1, "", True
            if judgement is not None and key.name in judgement.first:
                verdict, first, reason, resolvable = self._verdict_of(key.name)
            rows.append(
                f.NodeRow(
                    ref=ref(key),
                    name=key.name,
                    topology=tuple(sorted(node.metadata.labels.items())),
                    cpu_used=cpu,
                    cpu=quantity.milli(room.get("cpu", "0")),
                    memory_used=memory,
                    memory=quantity.value(room.get("memory", "0")),
                    pods_used=pods,
                    pods=quantity.value(room.get("pods", "0")),
                    ready=not any(c.type == "Ready" and c.status != "True" for c in node.status.conditions),
                    unschedulable=node.spec.unschedulable,
                    taints=tuple(str(taint) for taint in node.spec.taints),
                    verdict=verdict,
                    first=first,
                    reason=reason,
                    resolvable=resolvable,
                    score=totals.get(key.name, -1),
                )
            )
        return tuple(rows)

    def _verdict_of(self, node: str) -> tuple[str, int, str, bool]:
        passed = self.passed
        assert passed is not None  # noqa: S101 - asked only for a judged pod
        judgement = passed.judgement
        if judgement.rejected_by is not None:
            return "not asked", -1, judgement.rejected_by.message, False
        first = judgement.first[node]
        if first is None:
            if any(node not in restriction.names for restriction in judgement.restrictions):
                return "not asked", -1, "not among the nodes that PreFilter allows", False
            return ("chosen" if node == passed.chosen else "fits"), -1, "", True
        reasons, status = judgement.verdict(node, first)
        return (
            "rejected",
            judgement.plugins.index(first),
            ", ".join(reasons),
            status is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
        )

    def _pods(self) -> tuple[f.PodRow, ...]:
        rows = []
        for key, pod in self.by_kind.get("Pod", ()):
            name = f"{key.namespace}/{key.name}"
            entry: QueueEntry | None = self.notes.get(Note(SCHEDULER, QUEUE, name))
            note: PassNote | None = self.notes.get(Note(SCHEDULER, "pass", name))
            assumed = self.assumed.get(key)
            believed = assumed.spec.node_name if assumed is not None and not pod.spec.node_name else ""
            cpu, memory = asks(pod)
            namespace = key.namespace
            rows.append(
                f.PodRow(
                    ref=ref(key),
                    name=key.name,
                    namespace=namespace,
                    node=pod.spec.node_name,
                    assumed_node=believed,
                    nominated_node=pod.status.nominated_node_name,
                    state=pod_state(pod, believed),
                    gates=tuple(gate.name for gate in pod.spec.scheduling_gates),
                    in_focus=bool(list(pod.claim_names())) or key == self.focus,
                    claims=tuple(ref(Key("PersistentVolumeClaim", namespace, c)) for c in pod.claim_names()),
                    cpu=cpu,
                    memory=memory,
                    queue=QUEUE_WORDS.get(entry.part, entry.part) if entry is not None else "",
                    wait=max(0.0, (entry.until or 0.0) - self.world.now) if entry and entry.part == "backoff" else 0.0,
                    attempts=note.number if note is not None else 0,
                )
            )
        return tuple(sorted(rows, key=lambda row: (row.namespace, row.name)))

    def _claims(self) -> tuple[f.ClaimRow, ...]:
        matched = {
            Key("PersistentVolumeClaim", volume.spec.claim_ref.namespace, volume.spec.claim_ref.name): key.name
            for key, volume in self.assumed.items()
            if key.kind == "PersistentVolume" and volume.spec.claim_ref is not None
        }
        users: dict[str, list[str]] = {}
        for row in self._pods():
            for claim in row.claims:
                users.setdefault(claim, []).append(row.ref)
        rows = []
        for key, claim in self.by_kind.get("PersistentVolumeClaim", ()):
            assumed = self.assumed.get(key)
            chosen = volumes.selected_node(claim)
            believed = volumes.selected_node(assumed) if assumed is not None and not chosen else ""
            class_name = volumes.class_of_claim(claim)
            storage_class = self.objects.get(Key("StorageClass", "", class_name))
            mode = "WaitForFirstConsumer" if storage_class is not None and storage_class.delayed else "Immediate"
            volume = matched.get(key, "") if not claim.spec.volume_name else ""
            rows.append(
                f.ClaimRow(
                    ref=ref(key),
                    name=key.name,
                    class_name=class_name,
                    mode=mode,
                    size=claim.spec.resources.requests.get("storage", ""),
                    state=_claim_state(claim, mode, chosen, believed or volume),
                    selected_node=chosen,
                    assumed_node=believed,
                    volume=claim.spec.volume_name,
                    assumed_volume=volume,
                    pods=tuple(sorted(users.get(ref(key), ()))),
                )
            )
        return tuple(sorted(rows, key=lambda row: row.ref))

    def _volumes(self) -> tuple[f.VolumeRow, ...]:
        rows = []
        for key, volume in self.by_kind.get("PersistentVolume", ()):
            assumed = self.assumed.get(key)
            here, there = volume.spec.claim_ref, assumed.spec.claim_ref if assumed is not None else None
            rows.append(
                f.VolumeRow(
                    ref=ref(key),
                    name=key.name,
                    class_name=volume.spec.storage_class_name,
                    size=volume.spec.capacity.get("storage", ""),
                    state=_volume_state(volume, assumed=there is not None and here is None),
                    reach=reach_of(volume, (node for _, node in self.by_kind.get("Node", ()))),
                    claim=ref(Key("PersistentVolumeClaim", here.namespace, here.name)) if here else "",
                    assumed_claim=ref(Key("PersistentVolumeClaim", there.namespace, there.name)) if there and not here else "",
                    reclaim=volume.spec.persistent_volume_reclaim_policy,
                )
            )
        return tuple(rows)

    def _classes(self) -> tuple[f.ClassRow, ...]:
        rows = []
        for key, storage_class in self.by_kind.get("StorageClass", ()):
            words = " or ".join(
                " and ".join(f"{short(e.key)} {', '.join(e.values)}" for e in term.match_label_expressions)
                for term in storage_class.allowed_topologies
            )
            mode = storage_class.volume_binding_mode or "Immediate"
            rows.append(f.ClassRow(ref(key), key.name, mode, words or "any", storage_class.provisioner))
        return tuple(rows)

    # -- verdicts ---------------------------------------------------------------------------------------------

    def _verdicts(self, cell: str) -> f.Verdicts:
        passed = self.passed
        if passed is None:
            return f.Verdicts()
        judgement = passed.judgement
        heads = plugin_heads(judgement.plugins, [e.document_name for e in judgement.profile.filters])
        rejected = judgement.rejected_by
        codes: dict[str, list[str]] = {name: [] for name in sorted(judgement.nodes)}
        for row in judgement.matrix():
            codes[row.node].append(f.NOT_ASKED if rejected is not None else _code(row.status))
        first = judgement.first if rejected is None else dict.fromkeys(codes)
        index = {name: place for place, name in enumerate(judgement.plugins)}
        rows = tuple(
            f.VerdictRow(node, "".join(said), index[first[node]] if first[node] else -1, node == passed.chosen)  # type: ignore[index]
            for node, said in codes.items()
        )
        return f.Verdicts(
            pod=ref(passed.pod),
            number=passed.number,
            plugins=heads,
            rows=rows,
            scores=self._scores(),
            prefilter=rejected.message if rejected else "",
            prefilter_plugin=rejected.plugin if rejected else "",
            rules_changed=passed.rules_changed,
            cell=self.cell(cell),
        )

    def _scores(self) -> tuple[f.ScoreRow, ...]:
        passed = self.passed
        if passed is None or passed.ranking is None or len(passed.judgement.rows) > 60:
            return ()
        weights = {enabled.name: enabled.weight for enabled in passed.judgement.profile.scores}
        return tuple(
            f.ScoreRow(node, plugin, round(raw), normalised, weights[plugin], weighted)
            for node in sorted(passed.ranking.nodes)
            for plugin, (raw, normalised, weighted) in passed.ranking.of(node).items()
        )

    def cell(self, reference: str) -> f.Cell | None:
        """The rule's words for one cell, or None."""
        parts = reference.split("/")
        if self.passed is None or len(parts) != 3 or parts[0] != "verdict":
            return None
        _, node, plugin = parts
        judgement = self.passed.judgement
        if node not in judgement.first or plugin not in judgement.plugins:
            return None
        found = judgement.cell(node, plugin)
        code = f.NOT_ASKED if judgement.rejected_by is not None else _code(found.status.word)
        return f.Cell(node, plugin, code, found.reasons, tuple(str(side) for side in found.evidence))

    # -- what happened ----------------------------------------------------------------------------------------

    def _changes(self) -> tuple[f.ChangeRow, ...]:
        rows: list[f.ChangeRow] = []
        for turn in self.turns:
            for outcome in turn.outcomes:
                if isinstance(outcome, Refused):
                    about = outcome.write.subject
                    rows.append(f.ChangeRow("api", turn.component, "~", about, outcome.write.verb, "", "", outcome.reason, outcome.message))
            for change in changes_of(self.cluster, turn):
                key = change.key
                if isinstance(key, Note):
                    rows += self._note_change(key, change.old, change.new)
                elif key.kind != "Event":
                    rows += _api_change(turn, key, change.old, change.new)
        return tuple(rows)

    def _note_change(self, note: Note, old: Any, new: Any) -> Iterable[f.ChangeRow]:
        if note.sort in HIDDEN_NOTES or note.sort.startswith(("todo", "plan")):
            return
        before, after = note_words(old), note_words(new)
        if before != after:
            op = "+" if old is None else "-" if new is None else "~"
            yield f.ChangeRow("note", note.component, op, note_ref(note), note.sort, before, after)

    def _events(self) -> tuple[f.EventRow, ...]:
        steps = {}
        for turn in self.world.turns:
            if turn.events and turn.end <= self.world.place:
                for change in changes_of(self.cluster, turn):
                    if isinstance(change.key, Key) and change.key.kind == "Event":
                        steps[change.key] = turn.step
        rows = []
        for key, event in self.by_kind.get("Event", ()):
            about = event.involved_object
            rows.append(
                f.EventRow(
                    step=steps.get(key, 0),
                    time=seconds(event.first_timestamp),
                    type=event.type,
                    reason=event.reason,
                    ref=ref(Key(about.kind, about.namespace, about.name)),
                    message=event.message,
                    count=event.count or 1,
                    last=seconds(event.last_timestamp),
                )
            )
        return tuple(sorted(rows, key=lambda row: (row.step, row.ref, row.reason)))

    def _lanes(self) -> tuple[f.Lane, ...]:
        marks: dict[str, list[f.Mark]] = {}
        for turn in self.world.turns:
            if not turn.quiet or turn.fault:
                marks.setdefault(turn.actor or turn.component, []).append(self._mark(turn))
        lanes = [f.Lane("user", "user", "user", _one_a_step(marks.get("user", [])))]
        ends, place = self.world.history.ends, self.world.place
        for name, process in self.world.processes.items():
            cursors = []
            for kind in process.component.watches:
                first = process.pending.get(kind)
                behind = 0 if first is None else sum(1 for _ in self.world.log.between(kind, first, place))
                position = self.step if first is None else bisect_left(ends, first + 1) - 1
                cursors.append(f.Cursor(kind, min(self.step, max(0, position)), behind))
            for actor in process.component.actors:
                if actor.name != "user":
                    mine = _one_a_step(marks.get(actor.name, []) + marks.get(name, []) if actor is process.component.actors[0] else marks.get(actor.name, []))
                    lanes.append(f.Lane(actor.name, name, label_of(actor.name), mine, tuple(sorted(cursors, key=lambda c: c.kind))))
        return tuple(lanes)

    def _mark(self, turn: Turn) -> f.Mark:
        """What one turn shows on its lane: its write, its event, or that it only noted something."""
        if turn.fault == "crash":
            return f.Mark(turn.step, "crash", "crash", turn.component)
        for outcome in turn.outcomes:
            write = outcome.write
            verb = VERBS.get(write.verb, write.verb)
            if isinstance(outcome, Refused):
                return f.Mark(turn.step, "refused", verb, write.subject, outcome.reason)
            if outcome.changed:
                return f.Mark(turn.step, "write", verb, write.subject)
        kind, verb = ("write", "event") if turn.events else ("note", "pass" if turn.actor == PASS else "note")
        return f.Mark(turn.step, kind, verb, self._about(turn))

    def _about(self, turn: Turn) -> str:
        """The ref of what a turn's cause names: `NAMESPACE/NAME` or `NAME` of a kind that the component watches."""
        process = self.world.processes.get(turn.component)
        namespace, _, name = turn.cause.rpartition("/")
        kinds = ("Pod",) if turn.actor == PASS else process.component.watches if process is not None else ()
        found = (Key(kind, namespace, name) for kind in kinds)
        return next((ref(key) for key in found if key in self.objects), turn.cause)



def label_of(actor: str) -> str:
    """Return an actor's name as people read it."""
    return LABELS.get(actor, actor)


def seconds(timestamp: str | None) -> float:
    """Return a manifest's timestamp as seconds of the simulated clock; 0 for what lies before its start."""
    from datetime import datetime  # noqa: PLC0415 - parsing only, no clock is read

    if not timestamp:
        return 0.0
    try:
        return max(0.0, datetime.fromisoformat(timestamp).timestamp() - EPOCH)
    except ValueError:
        return 0.0


def short(key: str) -> str:
    """Return a topology key as people say it: `zone` for topology.kubernetes.io/zone."""
    return key.rpartition("/")[2]


def asks(pod: Any) -> tuple[int, int]:
    """Return the cpu (millicores) and memory (bytes) that a pod requests."""
    from ..scheduler.requests import of  # noqa: PLC0415 - the scheduler's own sums, cached by spec

    requests = of(pod.spec)
    return requests.cpu, requests.memory


def pod_state(pod: Any, believed: str) -> str:
    """Return one of POD_STATES: what the API says of a pod, and `assumed` where only the scheduler does."""
    if pod.metadata.deletion_timestamp is not None:
        return "terminating"
    if pod.status.phase in ("Succeeded", "Failed", "Running"):
        return str(pod.status.phase).lower()
    if pod.spec.node_name:
        return "bound"
    if pod.spec.scheduling_gates:
        return "gated"
    return "assumed" if believed else "pending"


def _claim_state(claim: Any, mode: str, chosen: str, believed: str) -> str:
    if claim.metadata.deletion_timestamp is not None:
        return "terminating"
    if claim.status.phase in ("Bound", "Lost"):
        return str(claim.status.phase).lower()
    if chosen:
        return "selected node"
    if believed:
        return "assumed"
    return "waits for first consumer" if mode == "WaitForFirstConsumer" and not claim.spec.volume_name else "pending"


def _volume_state(volume: Any, *, assumed: bool) -> str:
    if volume.metadata.deletion_timestamp is not None:
        return "terminating"
    phase = str(volume.status.phase).lower()
    if phase in ("released", "failed"):
        return phase
    if volume.spec.claim_ref is not None:
        return "bound" if phase == "bound" else "reserved"
    return "assumed" if assumed else phase or "pending"


def reach_of(volume: PersistentVolume, nodes: Iterable[Any]) -> str:
    """Return from where a volume can be reached, in the frame's words."""
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return "all"
    terms = affinity.required.node_selector_terms
    words = {(e.key, e.operator, e.values) for term in terms for e in term.match_expressions}
    if len(terms) == 1 and len(words) == 1:
        (key, operator, values), = words
        if operator == "In":
            if key == "kubernetes.io/hostname" and len(values) == 1:
                return f"node:{values[0]}"
            return f"zone:{values[0]}" if len(values) == 1 else f"zones:{','.join(values)}"
    names = [node.metadata.name for node in nodes if volumes.volume_fits_node(volume, node)]
    zones = sorted({values[0] for key, operator, values in words if short(key) == "zone" and operator == "In" and values})
    if not names:
        return "nowhere"
    if len(names) == 1:
        return f"node:{names[0]}"
    return f"zones:{','.join(zones)}" if len(zones) > 1 else f"zone:{zones[0]}" if zones else "all"


def plugin_heads(names: Iterable[str], documents: Iterable[str]) -> tuple[f.PluginHead, ...]:
    """Return the columns of the matrix: Kubernetes' letters, and the next free one for a plugin of one's own."""
    heads: list[f.PluginHead] = []
    taken = set(LETTERS.values())
    for name, document in zip(names, documents, strict=True):
        letter = LETTERS.get(name) or next(c for c in name.upper() + "BCDEGHJKMOQWXY" if c.isalpha() and c not in taken)
        taken.add(letter)
        shown = name if document == name else f"{name} ({document})"
        heads.append(f.PluginHead(shown, letter, FAMILIES.get(letter, "node")))
    return tuple(heads)


def _code(status: str) -> str:
    return {
        "Success": f.PASS, "Skip": f.NOTHING, "Error": f.ERROR, "UnschedulableAndUnresolvable": f.UNRESOLVABLE,
    }.get(status, f.REJECT)  # fmt: skip


def _one_a_step(marks: list[f.Mark]) -> tuple[f.Mark, ...]:
    """Keep the weightiest mark of each step: a crash, a refusal, a write, a note."""
    weight = {"crash": 0, "refused": 1, "write": 2, "note": 3}
    best: dict[int, f.Mark] = {}
    for mark in marks:
        if mark.step not in best or weight[mark.kind] < weight[best[mark.step].kind]:
            best[mark.step] = mark
    return tuple(best[step] for step in sorted(best))


def _api_change(turn: Turn, key: Key, old: Any, new: Any) -> Iterable[f.ChangeRow]:
    about = ref(key)
    if old is None or new is None:
        op = "+" if old is None else "-"
        yield f.ChangeRow("api", turn.component, op, about, key.kind, "", "created" if old is None else "gone")
        for change in changed_fields(None, new) if new is not None and turn.component != "user" else ():
            if change.path.startswith(("spec.claimRef.name", "spec.nodeAffinity", "spec.nodeName")):
                yield f.ChangeRow("api", turn.component, "+", about, change.path, "", change.new)
        return
    for change in changed_fields(old, new):
        if not change.path.endswith(("lastTransitionTime", ".uid", ".apiVersion", ".kind")):
            op = "+" if not change.old else "-" if not change.new else "~"
            yield f.ChangeRow("api", turn.component, op, about, change.path, change.old, change.new)


def note_words(value: Any) -> str:
    """Return a note in a few words; "" for none."""
    if value is None:
        return ""
    part = getattr(value, "part", None) or getattr(value, "stage", None)
    if part:
        return QUEUE_WORDS.get(part, str(part))
    kind = getattr(value, "kind", "")
    if kind == "Pod":
        return f"on {value.spec.node_name}"
    if kind == "PersistentVolume":
        return f"reserved for {value.spec.claim_ref.name}" if value.spec.claim_ref else "free"
    if kind == "PersistentVolumeClaim":
        return f"selected-node {volumes.selected_node(value)}"
    return str(value) if isinstance(value, int | float | str) else "noted"


def note_ref(note: Note) -> str:
    """Return the ref of the object that a note is about."""
    parts = note.name.split("/")
    if len(parts) == 3 and parts[0][:1].isupper():
        return ref(Key(*parts))
    if len(parts) == 2:
        return ref(Key("Pod", *parts))
    return note.name
