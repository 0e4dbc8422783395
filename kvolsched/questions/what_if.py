"""What would come of other values in the manifests: fields get them on a fork, as by `kubectl patch`, and it runs.

A field is named by its path, `deploy/web:spec.template.spec.topologySpreadConstraints[0].maxSkew`. A path may name a
field that Kubernetes has and the object lacks; a list must have the item. Names with dots stand in brackets,
`node/a:metadata.labels[topology.kubernetes.io/zone]`; items of lists are found by number, name or type.

Before the first step a field that may not be changed later has its value in the manifest from the start.
Equal values give equal runs, so each combination runs once. A run can be made in parts, so that whoever shows it stays
answerable; what the API server refuses is an outcome like any other, in its words.
"""

import copy
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import attrs

from ..api.text import manifest
from ..api.text.convert import DESIGN_FIELDS, schema
from ..api.text.fault import ManifestError, suggest_nearest
from ..api.workloads import WORKLOADS
from ..controllers import kubelet
from ..core.acts import ClusterActs
from ..core.core import ClusterCore
from ..core.results import ApplyRefused
from ..world.apiserver import key_of
from ..world.log import Key

_STEP = re.compile(r"""\.?([^.\[\]]+)|\[(?:"([^"]*)"|'([^']*)'|([^\]]*))\]""")
_MAX_LISTED = 24


@attrs.frozen
class FieldPath:
    """A field of one object.

    Args:
        text: as a reader writes it, `node/c1:spec.unschedulable`.
        reference: of the object.
        steps: names and numbers that lead to the field in plain data.
        value: the present one as in a manifest; None: the object lacks the field.
        type: its type in Kubernetes' schema, "object" if unknown: "int32", "boolean", "quantity", ...
    """

    text: str
    reference: str
    steps: tuple[str | int, ...]
    value: Any = attrs.field(eq=False)  # may be a mapping, which has no hash
    type: str

    @property
    def subresource(self) -> str:
        """The subresource that a patch of the field goes to: "status", or "" for the object itself."""
        return "status" if self.steps[0] == "status" else ""


def find_field(cluster: ClusterCore, text: str) -> FieldPath:
    """Find a field by its path.

    Raises:
        KeyError: there is no such object; the message has the nearest names.
        ValueError: the text is no path, or there is no such field; the message lists the fields that are there.
    """
    reference, _, path = text.partition(":")
    steps = _split(path)
    if not steps:
        raise ValueError(f"{text!r} is no path of a field; write for example 'deploy/web:spec.replicas'")
    plain: Any = manifest.to_plain(cluster[reference])
    type_name = schema()["kinds"].get(f"{plain.get('apiVersion')}/{plain.get('kind')}", "object")
    found: list[str | int] = []
    for step in steps:
        where = f"{reference}:{_joined(found)}".removesuffix(":")
        if type_name.startswith("[]"):
            number, plain = _item(step, plain or [], where)
            type_name = type_name.removeprefix("[]")
            found.append(number)
        else:
            type_name = _field_type(step, plain, type_name, where)
            plain = plain.get(step) if isinstance(plain, Mapping) else None
            found.append(step)
    return FieldPath(text, reference, tuple(found), plain, type_name)


def _split(path: str) -> list[str]:
    steps, at = [], 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            return []
        steps.append(next(group for group in match.groups() if group is not None))
        at = match.end()
    return steps


def _joined(steps: Sequence[str | int]) -> str:
    """Return steps as a path: `spec.containers[0].image`."""
    text = ""
    for step in steps:
        bare = isinstance(step, str) and not set(step) & {".", "/", "[", "]"}
        text += (f".{step}" if text else str(step)) if bare else f"[{step}]"
    return text


def _item(step: str, items: Sequence[Any], where: str) -> tuple[int, Any]:
    """Return an item of a list by its number, or by its name or type."""
    if step.isdigit() and int(step) < len(items):
        return int(step), items[int(step)]
    # An item's name, that of its metadata (as a claim template has it), or its type.
    names = [str(item.get("name") or (item.get("metadata") or {}).get("name") or item.get("type") or "")
             if isinstance(item, Mapping) else "" for item in items]  # fmt: skip
    if step in names and step:
        return names.index(step), items[names.index(step)]
    known = [f"[{name or number}]" for number, name in enumerate(names)]
    raise ValueError(f"{where} has no item [{step}]: {_listed(known) if known else 'the list is empty'}")


def _field_type(name: str, plain: Any, type_name: str, where: str) -> str:
    """Return the type of a field of a mapping."""
    if type_name.startswith("map[string]"):
        return type_name.removeprefix("map[string]")
    declared: dict[str, Any] = {**schema()["types"].get(type_name, {}), **DESIGN_FIELDS.get(type_name, {})}
    if name in declared:
        field = declared[name]
        return str(field["type"] if isinstance(field, Mapping) else field)
    present = [key for key in plain if key not in ("apiVersion", "kind")] if isinstance(plain, Mapping) else []
    if type_name == "object" or name in present:
        return "object"
    if not declared and not present:
        raise ValueError(f"{where} is a value, it has no field {name!r}")
    there = f"there: {_listed(present)}" if present else "it is empty"
    more = [key for key in declared if key not in present and key not in ("apiVersion", "kind")]
    also = f"; it may also have {_listed(more)}" if more else ""
    raise ValueError(f"{where} has no field {name!r}; {there}{also}{suggest_nearest(name, [*present, *declared])}")


def _listed(names: Iterable[str]) -> str:
    shown = list(names)
    more = f", and {len(shown) - _MAX_LISTED} more" if len(shown) > _MAX_LISTED else ""
    return ", ".join(shown[:_MAX_LISTED]) + more


def merge_patch(cluster: ClusterCore, values: Mapping[FieldPath, Any]) -> dict[str, Any]:
    """Return the merge patch that gives fields of one object these values; None removes a field.

    A list is sent whole, with the items that change.
    """
    reference = next(iter(values)).reference
    before = manifest.to_plain(cluster[reference])
    after: Any = copy.deepcopy(before)
    for field, value in values.items():
        _put(after, field.steps, value)
    patch: dict[str, Any] = {}
    for field in values:
        inner, source = patch, after
        for number, step in enumerate(field.steps):
            if number == len(field.steps) - 1 or isinstance(field.steps[number + 1], int):
                inner[str(step)] = source.get(step)
                break
            inner, source = inner.setdefault(str(step), {}), source[step]
    return patch


def _put(data: Any, steps: Sequence[str | int], value: Any) -> None:
    for number, step in enumerate(steps[:-1]):
        if isinstance(data, dict) and step not in data:
            data[step] = [] if isinstance(steps[number + 1], int) else {}
        data = data[step]
    if value is None and isinstance(data, dict):
        data.pop(steps[-1], None)
    else:
        data[steps[-1]] = value


AnyCluster = TypeVar("AnyCluster", bound=ClusterActs)
Positions = tuple[int, ...]  # for each field the number of its value

MAX_VALUES = 24
"""Values of one field; a longer range is thinned."""
MAX_SECONDS, MAX_STEPS = 3_600.0, 20_000
"""Where a run without end stops: simulated seconds, steps."""
KEPT_CLUSTERS = 64


@attrs.frozen
class VariedField:
    """A field, and the values that are tried.

    Args:
        path: the field.
        label: its short name: "maxSkew".
        values: what is tried, in order.
        start: the number of the present value, or of the one that is shown first.
    """

    path: FieldPath
    label: str
    values: tuple[Any, ...]
    start: int


@attrs.frozen
class TrialOutcome:
    """How a trial ended: pods that run, of all; why the API server refused the edit; why it stopped before its end.

    If all fields are of one workload, its pods are counted; `others` has the same two numbers of the other pods.
    """

    running: int
    pods: int
    refused: str
    unfinished: str = ""
    others: tuple[int, int] = (0, 0)

    @property
    def good(self) -> bool:
        """Whether every pod that is counted runs."""
        return not self.refused and self.running == self.pods


def varied_fields(cluster: ClusterActs, paths: Mapping[str, Any]) -> tuple[VariedField, ...]:
    """Return fields with the values to try.

    Args:
        cluster: where the fields are found.
        paths: path -> `(1, 12)` or `(0, 100, 10)` for a range with both ends, `bool`, or a list of values.

    Raises:
        KeyError: a path names no object.
        ValueError: a path names no field, or its values are in none of these forms.
    """
    if not paths:
        raise ValueError("vary at least one field: c.whatif('skew', **{'deploy/web:spec.replicas': (1, 12)})")
    fields = [find_field(cluster, text) for text in paths]
    labels = _labels(fields)
    found = []
    for field, label, wanted in zip(fields, labels, paths.values(), strict=True):
        values = _values(field.text, wanted)
        found.append(VariedField(field, label, values, _start(field.value, values)))
    return tuple(found)


def _labels(fields: Sequence[FieldPath]) -> list[str]:
    """Return the last name of each path, with names before it, or the object, where two are equal."""
    names = [[str(step) for step in field.steps if isinstance(step, str)] for field in fields]
    for depth in (1, 2):
        labels = [" ".join(steps[-depth:]) for steps in names]
        if len(set(labels)) == len(labels):
            return labels
    return [f"{field.reference.rpartition('/')[2]} {steps[-1]}" for field, steps in zip(fields, names, strict=True)]


def _values(text: str, wanted: Any) -> tuple[Any, ...]:
    match wanted:
        case type() if wanted is bool:
            return (False, True)
        case (int(first), int(last)) if isinstance(wanted, tuple) and first < last:
            step = -(-(last - first) // (MAX_VALUES - 1))
            return (*range(first, last, step), last)
        case (int(first), int(last), int(step)) if isinstance(wanted, tuple) and first < last and step > 0:
            wanted = [*range(first, last, step), last]
    if not isinstance(wanted, list) or not wanted or len(wanted) > MAX_VALUES:
        raise ValueError(f"{text}: {wanted!r} are no values; write (1, 12) for a range with both ends, bool, or a list "
                         f"of at most {MAX_VALUES} values")  # fmt: skip
    return tuple(wanted)


def _start(present: Any, values: Sequence[Any]) -> int:
    """Return the number of the present value; of another number the nearest one, else 0."""
    same = [number for number, value in enumerate(values) if value == present and type(value) is type(present)]
    same += [number for number, value in enumerate(values) if str(value) == str(present)]
    if same:
        return same[0]
    if type(present) is int and all(type(value) is int for value in values):
        return min(range(len(values)), key=lambda number: abs(values[number] - present))
    return 0


class Trial(Generic[AnyCluster]):
    """One fork with edited fields, on its way to its end. Mutable.

    Args:
        cluster: the fork.
        refusal: what the API server refused the edit with.
        workload: whose pods are counted; None counts all.
    """

    def __init__(self, cluster: AnyCluster, refusal: ApplyRefused | None = None, workload: Key | None = None) -> None:
        self.cluster, self.workload, self.refusal = cluster, workload, refusal
        self.until = cluster.now + MAX_SECONDS
        self.steps = 0
        self.refused, self.unfinished = "\n".join(refusal.lines) if refusal else "", ""
        self.is_done = refusal is not None

    def advance(self, steps: int) -> bool:
        """Run some more steps, and say whether the end is reached."""
        if not self.is_done:
            taken = len(self.cluster.run(steps=steps, seconds=max(0.0, self.until - self.cluster.now)))
            self.steps += taken
            self.is_done = taken < steps or self.steps >= MAX_STEPS
            if self.cluster.now >= self.until:
                self.unfinished = f"not idle after {MAX_SECONDS:g} s"
            elif self.steps >= MAX_STEPS:
                self.unfinished = f"not idle after {MAX_STEPS} steps"
        return self.is_done

    @property
    def outcome(self) -> TrialOutcome:
        """What came of it so far."""
        (running, pods), others = count_running(self.cluster, self.workload)
        return TrialOutcome(running, pods, self.refused, self.unfinished, others)


class Trials(Generic[AnyCluster]):
    """All trials of one cluster: one for each combination of values. Mutable: it keeps what was run.

    Args:
        cluster: where every trial begins; it never moves.
        fields: what is varied.
    """

    def __init__(self, cluster: AnyCluster, fields: Sequence[VariedField]) -> None:
        self.origin = cluster.fork(cluster.name)
        self.fields = tuple(fields)
        keys = {self.origin.world.find_key(field.path.reference) for field in fields}
        self.workload = next((key for key in keys if len(keys) == 1 and key.kind in WORKLOADS), None)
        self.start: Positions = tuple(field.start for field in fields)
        self.outcomes: dict[Positions, TrialOutcome] = {}
        self._trials: OrderedDict[Positions, Trial[AnyCluster]] = OrderedDict()

    def trial(self, positions: Positions) -> Trial[AnyCluster]:
        """Return the trial of these values: begun, under way or at its end."""
        found = self._trials.get(positions)
        if found is None:
            found = self._trials[positions] = self._begin(positions)
            while len(self._trials) > KEPT_CLUSTERS:
                self._trials.popitem(last=False)
        self._trials.move_to_end(positions)
        return found

    def advance(self, positions: Positions, steps: int) -> bool:
        """Run the trial of these values some more steps, and say whether its outcome is known."""
        if positions in self.outcomes:
            return True
        trial = self.trial(positions)
        if trial.advance(steps):
            self.outcomes[positions] = trial.outcome
        return trial.is_done

    def finish(self, positions: Positions) -> Trial[AnyCluster]:
        """Run the trial of these values to its end and return it."""
        trial = self.trial(positions)
        while not trial.advance(MAX_STEPS):
            pass
        self.outcomes[positions] = trial.outcome
        return trial

    def line(self, positions: Positions, field: int) -> list[Positions]:
        """Return the positions in which one field has each of its values and the others stay."""
        numbers = range(len(self.fields[field].values))
        return [(*positions[:field], number, *positions[field + 1 :]) for number in numbers]

    def outward(self, positions: Positions) -> list[Positions]:
        """Return the positions that differ from these in one field, nearest first."""
        near = [
            (abs(other[field] - positions[field]), field, other)
            for field in range(len(self.fields))
            for other in self.line(positions, field)
            if other != positions
        ]
        return [other for _, _, other in sorted(near)]

    def _begin(self, positions: Positions) -> Trial[AnyCluster]:
        chosen = [field.values[number] for field, number in zip(self.fields, positions, strict=True)]
        words = ", ".join(f"{field.label} {shown(value)}" for field, value in zip(self.fields, chosen, strict=True))
        fork = self.origin.fork(f"{self.origin.name}: {words}")
        edits: dict[tuple[str, str], dict[FieldPath, Any]] = {}
        for field, value in zip(self.fields, chosen, strict=True):
            if value != field.path.value and not (value is False and field.path.value is None):
                edits.setdefault((field.path.reference, field.path.subresource), {})[field.path] = value
        try:
            for (reference, subresource), values in edits.items():
                try:
                    fork.patch(reference, merge_patch(fork, values), subresource=subresource)
                except ApplyRefused as refused:
                    if self.origin.world.step_number or subresource or not _write_anew(fork, reference, values):
                        raise refused from None
        except ApplyRefused as refused:
            return Trial(fork, refused, self.workload)
        return Trial(fork, workload=self.workload)


def _write_anew(cluster: ClusterActs, reference: str, values: Mapping[FieldPath, Any]) -> bool:
    """Put a manifest with these values in the place of an object that no component has seen; say whether it is one."""
    key = cluster.world.find_key(reference)
    loaded = cluster.loaded_manifests.objects if cluster.loaded_manifests is not None else ()
    plain = next((manifest.to_plain(obj) for obj in loaded if key_of(obj) == key), None)
    if plain is None:  # nobody wrote it, or its name was made
        return False
    for field, value in values.items():
        _put(plain, field.steps, value)
    cluster.world.log.write(key, None)
    try:
        cluster.apply([plain])
    except ManifestError:
        return False
    return True


def shown(value: Any) -> str:
    """Return a value as a manifest writes it: `true`, `–` for a field that is removed."""
    if value is None:
        return "–"
    return str(value).lower() if isinstance(value, bool) else str(value)


def count_running(cluster: ClusterActs, workload: Key | None = None) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return how many pods run or have succeeded (in a world without kubelet: have a node), of how many.

    Counts the pods of a workload, and then the others; without a workload every pod is counted.
    """
    has_kubelet = kubelet.NAME in cluster.world.processes
    done = ("Running", "Succeeded") if has_kubelet else ("Succeeded",)
    found = cluster.world.log.objects.get(workload) if workload is not None else None
    uids = {found.metadata.uid} if found is not None else set()
    sets = [each.metadata for each in cluster.objects("replicasets")] if uids else []
    uids |= {each.uid for each in sets if each.controller is not None and each.controller.uid in uids}
    counts = [0, 0, 0, 0]
    for pod in cluster.objects("pods"):
        owner = pod.metadata.controller
        other = 2 * (workload is not None and (owner is None or owner.uid not in uids))
        counts[other] += pod.status.phase in done or (not has_kubelet and bool(pod.spec.node_name))
        counts[other + 1] += 1
    return (counts[0], counts[1]), (counts[2], counts[3])
