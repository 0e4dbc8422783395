"""How two clusters differ: their objects, what a person asks first, and the first thing in which their runs part.

Bookkeeping is counted. Beside the fields of objects it compares the scheduling passes of pods, and says of which fields
the rules of one do not read. Two runs part in a verdict on a pod, else in a write; renamed annotations part nothing, as
they are left out there with what only controllers need.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import NamedTuple

import attrs

from ..api.notebook_output import DrawnAnswer, Rows
from ..api.words import first_of, hanging_indent
from ..core.core import USER, ClusterCore
from ..rules.unread_fields import unread_by_pods, unread_fields, unread_words
from ..scheduler.framework.extension_points import DomainCounter
from ..scheduler.loop.scheduling_cycle import PassNote
from ..world.apiserver import ref
from ..world.component import WORLD
from ..world.history import Turn
from ..world.log import Key
from .explain import (
    FieldChange,
    Pass,
    PassRow,
    changed_fields,
    changes_of,
    judging_turns,
    passes_by_pod,
    read_last_pass,
    rejected_nodes,
)

MOST_JUDGED = 10  # passes that are judged again because as many nodes fit in both
_IGNORED = ("metadata.", "status.startTime", "status.conditions[", "status.observedGeneration")
Rejections = Mapping[str, tuple[str, str]]


class _Judged(NamedTuple):
    """What a pass found: the chosen node, and why each node that does not fit is rejected (plugin, reasons)."""

    chosen: str
    rejected: Rejections


def first_difference(cluster: ClusterCore, other: ClusterCore) -> str:
    """Return in a sentence where two runs part first, and what to call next; "" if nothing is to be said.

    A run that has made no step is said to have made none. Otherwise only runs under different rules are compared: the
    first pass of a pod with another verdict or another node, else the first write that the other has not.

    >>> from kvolsched import scenario
    >>> c = scenario("zonal-example", "upstream")
    >>> _ = c.run()
    >>> first_difference(c, c.under("design"))
    'The cluster with rules design has made no step: call .run() on it, then compare.'
    """
    for run, still in ((cluster, other), (other, cluster)):
        if not still.world.step_number and any(True for turn in _turns(run) if turn.component not in (USER, WORLD)):
            again = ".goto(step) or .run()" if still.world.known_steps else ".run()"
            return f"The cluster with rules {still.revision.name} has made no step: call {again} on it, then compare."
    if cluster.revision == other.revision:
        return ""
    found, call = parting(cluster, other)
    return f"First difference: {found} See c.{call}." if found else ""


def parting(cluster: ClusterCore, other: ClusterCore, called: tuple[str, str] | None = None) -> tuple[str, str]:
    """Return in a sentence where two runs part first, and the call that shows more; empty if they do not.

    Args:
        cluster: one run.
        other: the other run.
        called: what the sentence calls the rules of both; by default their names.

    >>> from kvolsched import Cluster, make
    >>> plain = Cluster.from_manifests([make.node("n1"), make.pod("app")])
    >>> other = plain.with_plugin(lambda pod, node, seen: "closed", name="closed")
    >>> _ = plain.run(), other.run()
    >>> parting(plain, other)[0]
    'pass 1 of pod/app: under upstream n1 fits, under upstream + closed closed rejects it: closed.'
    """
    names = called or (cluster.revision.name, other.revision.name)
    return _first_verdict(cluster, other, names) or _first_write(cluster, other, names) or ("", "")


def _turns(cluster: ClusterCore) -> Iterator[Turn]:
    """Yield the turns up to now that did something."""
    return (turn for turn in cluster.world.turns if turn.end <= cluster.world.place and not turn.quiet)


def _first_verdict(cluster: ClusterCore, other: ClusterCore, called: tuple[str, str]) -> tuple[str, str] | None:
    """Return in words the first pass that both made and that found something else, and what to call for it."""
    clusters = (cluster, other)
    ours, others = map(_numbered, clusters)
    judged = 0
    for name, number in (each for each in ours if each in others):
        (first, mine), (second, theirs) = ours[name, number], others[name, number]
        alike = (mine.node, mine.fit, mine.judged) == (theirs.node, theirs.fit, theirs.judged)
        if alike and (mine.fit in (0, mine.judged) or judged >= MOST_JUDGED):
            continue
        judged += 1
        again = (read_last_pass(each, Key("Pod", *name.split("/", 1)), turn, rejections)
                 for each, turn in zip(clusters, (first, second), strict=True))  # fmt: skip
        both = [_Judged(note.node, found or {}) for note, found in zip((mine, theirs), again, strict=True)]
        if found := _verdict_words(clusters, name, number, (both[0], both[1]), called):
            return found
    return None


def _numbered(cluster: ClusterCore) -> Mapping[tuple[str, int], tuple[Turn, PassNote]]:
    """Return the passes up to now in their order, by the pod's `namespace/name` and how many it had before."""
    found: dict[tuple[str, int], tuple[Turn, PassNote]] = {}
    before: Counter[str] = Counter()
    for turn, note in judging_turns(cluster, _turns(cluster)):
        found[turn.cause, before[turn.cause]] = turn, note
        before[turn.cause] += 1
    return found


def rejections(passed: Pass) -> Rejections:
    """Return for each node that does not fit in a pass the plugin that rejects it first, and its reasons."""
    judged = passed.judgement
    if judged.rejected_by is not None:
        return dict.fromkeys(judged.nodes, (judged.rejected_by.plugin, judged.rejected_by.message))
    return {node: (plugin, "; ".join(reasons)) for node, (plugin, *reasons) in rejected_nodes(judged).items()}


def _verdict_words(
    clusters: tuple[ClusterCore, ClusterCore], name: str, number: int, both: tuple[_Judged, _Judged],
    rules: tuple[str, str],
) -> tuple[str, str] | None:  # fmt: skip
    """Return how two passes differ, with what one does not read of the pod; None if both found and chose the same."""
    key = Key("Pod", *name.split("/", 1))
    head = f"pass {number + 1} of {ref(key)}: "
    for side in (1, 0):
        fits, rejects = both[1 - side], both[side]
        nodes = sorted({*rejects.rejected} - {*fits.rejected}, key=lambda node: (node != fits.chosen, node))
        if nodes:
            plugin, reasons = rejects.rejected[nodes[0]]
            more = f" (and {len(nodes) - 1} more)" if len(nodes) > 1 else ""
            by_spread = clusters[side].revision.profile.extends(plugin, DomainCounter)
            call = "skew" if by_spread else "fits"
            said = (f"{head}under {rules[1 - side]} {nodes[0]}{more} fits, under {rules[side]} {plugin} rejects it: "
                    f"{reasons}.")  # fmt: skip
            return " ".join(part for part in (said, _unread(clusters, key)) if part), f'{call}("{key.name}")'
    if both[0].chosen == both[1].chosen:
        return None
    chosen = (f"{rule} chooses {each.chosen or 'none'}" for rule, each in zip(rules, both, strict=True))
    return f"{head}the same nodes fit, {', '.join(chosen)}.", f'fits("{key.name}")'


def _unread(clusters: tuple[ClusterCore, ClusterCore], key: Key) -> str:
    """Return what the rules of one do not read of a pod and the other's do, "" for nothing."""
    said = []
    objects = [cluster.world.log.objects for cluster in clusters]
    pods = [each[key] for each in objects if key in each]
    if len(pods) < len(objects):
        return ""
    fields = [unread_fields(cluster.revision, pod, each) for cluster, pod, each in
              zip(clusters, pods, objects, strict=True)]  # fmt: skip
    for side in (1, 0):
        lost = [name for name in fields[side] if name not in fields[1 - side]]
        said += [unread_words(clusters[side].revision, lost, ref(key))] if lost else []
    return " ".join(said)


def _first_write(cluster: ClusterCore, other: ClusterCore, called: tuple[str, str]) -> tuple[str, str] | None:
    """Return in words the first writes in which two runs differ, each with its step, and what to call for them."""
    ours, theirs = _writes(cluster), _writes(other)
    while True:
        mine, its = next(ours, None), next(theirs, None)
        if mine is None and its is None:
            return None
        if mine is None or its is None or mine[0] != its[0]:
            sides = zip(called, (mine, its), strict=True)
            told = [f"under {rules} " + (f"{found[1].words.rstrip('.')} (step {found[1].step})" if found
                    else "nothing follows") for rules, found in sides]  # fmt: skip
            asked = ref(next(found[0][0] for found in (mine, its) if found is not None))
            return f"{', '.join(told)}.", f'story("{asked}")'


def _writes(cluster: ClusterCore) -> Iterator[tuple[tuple[Key, tuple[tuple[str, str], ...]], Turn]]:
    """Yield what each turn changed of an object that matters to a person: its key, and paths with their new values."""
    for turn in _turns(cluster):
        for change in changes_of(cluster, turn):
            if not isinstance(change.key, Key) or change.key.kind == "Event":
                continue
            if change.old is None or change.new is None:
                yield (change.key, (("(exists)", "" if change.new is None else "yes"),)), turn
                continue
            fields = tuple((field.path, field.new) for field in changed_fields(change.old, change.new)
                           if not field.path.startswith(_IGNORED))  # fmt: skip
            if fields:
                yield (change.key, fields), turn


EXISTS, PASSES = "(exists)", "(passes)"
Row = tuple[str, FieldChange]
# What a field is to a person, by its path: the first that matches.
_FIRST, _PLACED, _BOOKKEEPING = 0, 3, 8
_IMPORTANCE: tuple[tuple[int, re.Pattern[str]], ...] = tuple((rank, re.compile(path)) for rank, path in (
    (_FIRST, r"\(exists\)$"),
    (1, r"spec\.(nodeName|volumeName|claimRef)"),
    (2, r"status\.phase"),
    (_PLACED, r"status\.(nominatedNodeName|conditions\[PodScheduled\])"),
    (_BOOKKEEPING, r"metadata\.(finalizers|ownerReferences|generation|generateName|deletion)"),
    (_BOOKKEEPING, r"metadata\.annotations\[.*(provisioned-by|deletion-secret|storage-provisioner)"),
    (_BOOKKEEPING, r"metadata\.annotations\[.*(bound-by-controller|bind-completed|revision|change-cause)"),
    (_BOOKKEEPING, r"status\.(startTime|observedGeneration|containerStatuses|.*[tT]ime\b)"),
    (_BOOKKEEPING, r"status\.conditions\[(Ready|ContainersReady|Initialized|PodReadyToStartContainers)\]"),
    (_BOOKKEEPING, r"spec\.(csi\.volume(Handle|Attributes)|\w+\.pdName|\w+\.volumeID)"),
    (4, r"spec\."),
    (5, r"status\."),
    (6, r""),
))  # fmt: skip
_KINDS = ("Pod", "PersistentVolumeClaim", "PersistentVolume", "Node")
_WIDTHS = (30, 40)  # of the first two columns, at most; both values share the rest
_LINE = 120
_READY = "status.conditions[Ready]"
MOST_NAMED = 6  # fields of bookkeeping that are named


@attrs.frozen(repr=False)
class Diff(Rows[Row], DrawnAnswer):
    """The differing fields of two clusters' objects, with both values; what a person asks first stands first.

    Args:
        names: what the two clusters are called.
        rows: (object, change) for each field, the most important first.
        passes: (object, change) for each pod whose scheduling passes differ.
        notes: what to know before comparing, such as fields that the rules of one do not read.
        because: where the two runs part first, if their rules differ, and what to call next; or "".
    """

    names: tuple[str, str]
    rows: tuple[Row, ...]
    passes: tuple[Row, ...]
    notes: tuple[str, ...]
    because: str

    @property
    def told(self) -> tuple[Row, ...]:
        """The rows that are shown: without bookkeeping if there is more, with passes after their pod's state."""
        shown = [row for row in self.rows if not is_bookkeeping(row)] or list(self.rows)
        placed = [(index, row[0]) for index, row in enumerate(shown) if importance(row[1].path, row[0]) <= _PLACED]
        last = {about: index for index, about in placed}
        after: dict[int, Row] = {last[row[0]]: row for row in self.passes if row[0] in last}
        before = [row for row in self.passes if row[0] not in last]
        told = [each for index, row in enumerate(shown) for each in ([row, after[index]] if index in after else [row])]
        return (*before, *told)

    @property
    def bookkeeping(self) -> tuple[Row, ...]:
        """The rows that are only counted: finalizers, times, the kubelet's conditions."""
        shown = set(self.told)
        return tuple(row for row in self.rows if row not in shown)

    @property
    def folded(self) -> str:
        """The sentence that counts the bookkeeping; "" if there is none."""
        count = len(self.bookkeeping)
        if not count:
            return ""
        # Of each path the last name, or what stands in the last brackets.
        lasts = (re.search(r"(?:\[([^\]]+)\]|([^.\[\]]*))$", change.path) for _, change in self.bookkeeping)
        fields = list(dict.fromkeys(last[1] or last[2] for last in lasts if last))
        of = "1 field of bookkeeping differs" if count == 1 else f"{count} fields of bookkeeping differ"
        return f"{of}, too ({first_of(fields, MOST_NAMED)}): .bookkeeping"

    def __repr__(self) -> str:
        top = [hanging_indent([self.because], 2)] if self.because else []
        notes = [f"- {hanging_indent([note], 2)}" for note in self.notes]
        if not self.rows and not self.passes:
            return "\n".join([*top, f"{self.names[0]} and {self.names[1]}: equal objects", *notes])
        table: list[tuple[str, ...]] = [("object", "field", *self.names)]
        before = ""
        for about, change in self.told:
            table.append((about if about != before else "", change.path, change.old or "–", change.new or "–"))
            before = about
        folded = [hanging_indent([self.folded], 2)] if self.folded else []
        return "\n".join([*top, *columns(table), *folded, *notes])


def importance(path: str, about: str) -> int:
    """Return how soon a person asks for a field of an object, by its reference: 0 is first.

    >>> importance("spec.nodeName", "pod/p") < importance("spec.replicas", "deploy/d")
    True
    """
    if about.startswith("node/") and path == _READY:
        return 2
    return next(rank for rank, pattern in _IMPORTANCE if pattern.match(path))


def is_bookkeeping(row: Row) -> bool:
    """Say whether a field is one that only controllers need.

    >>> is_bookkeeping(("pod/web-0", FieldChange("status.startTime", "", "2026-01-01T00:00:00Z")))
    True
    """
    return importance(row[1].path, row[0]) == _BOOKKEEPING


def diff(cluster: ClusterCore, other: object) -> Diff:
    """Return how the objects of two clusters differ, without Events and versions, and the passes of their pods.

    Raises:
        TypeError: the other one is no cluster; the message says how rules by name make one.
    """
    if not isinstance(other, ClusterCore):
        name = other if isinstance(other, str) else getattr(other, "name", "design")
        raise TypeError(f"diff compares with a cluster, not with {other!r}; for other rules: "
                        f'old = c.under("{name}"); old.run(); c.diff(old)')  # fmt: skip
    return Diff(names_of(cluster, other), different_fields(cluster, other), tuple(_passes(cluster, other)),
                tuple(_notes(cluster, other)), first_difference(cluster, other))  # fmt: skip


def different_fields(cluster: ClusterCore, other: ClusterCore) -> tuple[Row, ...]:
    """Return the fields in which the objects of two clusters differ, without Events; the most important first."""
    ours, theirs = cluster.world.log.objects, other.world.log.objects
    found: dict[Key, list[FieldChange]] = {}
    for key in sorted({*ours, *theirs}):
        if key.kind == "Event" or ours.get(key) == theirs.get(key):
            continue
        before, after = ours.get(key), theirs.get(key)
        if before is None or after is None:
            exists = FieldChange(EXISTS, "yes" if before is not None else "", "yes" if after is not None else "")
            found[key] = [exists]
        elif changes := changed_fields(before, after):
            found[key] = _sorted(changes, ref(key))
    order = sorted(found, key=lambda key: (is_bookkeeping((ref(key), found[key][0])), _kind(key), key))
    return tuple((ref(key), change) for key in order for change in found[key])


def _sorted(changes: Sequence[FieldChange], about: str) -> list[FieldChange]:
    return sorted(changes, key=lambda change: (importance(change.path, about), change.path))


def _kind(key: Key) -> int:
    return _KINDS.index(key.kind) if key.kind in _KINDS else len(_KINDS)


def names_of(cluster: ClusterCore, other: ClusterCore) -> tuple[str, str]:
    """Return what two clusters are called; if that is the same, with their rules, or by which was asked."""
    names = cluster.name or "this", other.name or "other"
    if names[0] != names[1] or cluster is other:
        return names
    if cluster.revision.name == other.revision.name:
        return "this", "other"
    return f"{names[0]}, {cluster.revision.name}", f"{names[1]}, {other.revision.name}"


def _passes(cluster: ClusterCore, other: ClusterCore) -> Iterator[Row]:
    """Yield the pods that are in both whose passes differ in number, or in what the last one found."""
    ours, theirs = passes_by_pod(cluster), passes_by_pod(other)
    for name in sorted({*ours, *theirs}):
        namespace, _, pod = name.partition("/")
        key = Key("Pod", namespace, pod)
        if key not in cluster.world.log.objects or key not in other.world.log.objects:
            continue
        left, right = _pass_words(ours.get(name, ())), _pass_words(theirs.get(name, ()))
        if left != right:
            yield ref(key), FieldChange(PASSES, left, right)


def _pass_words(rows: Sequence[PassRow]) -> str:
    if not rows:
        return "no pass"
    last = rows[-1]
    found = f"{last.fit}, {f'{last.node} is chosen' if last.node else 'none is chosen'}"
    return f"1 pass: {found}" if len(rows) == 1 else f"{len(rows)} passes, the last: {found}"


def _notes(cluster: ClusterCore, other: ClusterCore) -> Iterator[str]:
    """Yield what one must know before comparing: what was left out of one, and what its rules do not read."""
    said = [*(remark for remark in other.remarks if remark not in cluster.remarks),
            *unread_by_pods(other.first_rules, other.world.log.objects, cluster.first_rules),
            *unread_by_pods(cluster.first_rules, cluster.world.log.objects, other.first_rules)]  # fmt: skip
    yield from dict.fromkeys(said)


def columns(table: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield rows as text columns, two spaces apart; what is too long for its column is wrapped."""
    widths = [min(max(len(row[column]) for row in table), most) for column, most in enumerate(_WIDTHS)]
    room = _LINE - sum(widths) - 6
    needs = [max(len(row[column]) for row in table) for column in (2, 3)]
    left = min(needs[0], max(room // 2, room - needs[1]))
    widths += [left, min(needs[1], max(12, room - left))]
    for row in table:
        cells = [wrap(word, max(wide, 1), break_on_hyphens=False) or [""] for word, wide in
                 zip(row, widths, strict=True)]  # fmt: skip
        for parts in zip_longest(*cells, fillvalue=""):
            yield "  ".join(part.ljust(wide) for part, wide in zip(parts, widths, strict=True)).rstrip()
