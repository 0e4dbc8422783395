"""The first thing in which two runs under different rules part: a verdict on a pod, else a write.

Renamed annotations part nothing: they are left out, as is what only controllers need.
"""

from collections.abc import Iterator, Mapping, Sequence

import attrs

from ..core.core import USER, ClusterCore
from ..rules.unread_fields import unread_fields, unread_words
from ..scheduler.framework.extension_points import DomainCounter
from ..scheduler.loop.scheduling_cycle import PASS
from ..world.apiserver import ref
from ..world.component import WORLD
from ..world.history import Turn
from ..world.log import Key
from .explain import Pass, PassRow, changed_fields, changes_of, passes_by_pod, read_last_pass, rejected_nodes

MOST_JUDGED = 10  # passes that are judged again because as many nodes fit in both
_IGNORED = ("metadata.", "status.startTime", "status.conditions[", "status.observedGeneration")
Rejections = Mapping[str, tuple[str, str]]


@attrs.frozen
class _Judged:
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
    if not other.world.step_number and any(True for turn in _turns(cluster) if turn.component not in (USER, WORLD)):
        again = ".goto(step) or .run()" if other.world.known_steps else ".run()"
        return f"The cluster with rules {other.revision.name} has made no step: call {again} on it, then compare."
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


# -- verdicts ---------------------------------------------------------------------------------------------------------


def _first_verdict(cluster: ClusterCore, other: ClusterCore, called: tuple[str, str]) -> tuple[str, str] | None:
    """Return in words the first pass that both made and that found something else, and what to call for it."""
    clusters = (cluster, other)
    rows, turns = [passes_by_pod(each) for each in clusters], [_pass_turns(each) for each in clusters]
    seen: dict[str, int] = {}
    judged = 0
    for turn in _turns(cluster):
        if turn.actor != PASS or turn.cause not in turns[1] or turn.cause not in rows[0]:
            continue
        name, number = turn.cause, seen.get(turn.cause, 0)
        seen[name] = number + 1
        if any(number >= len(each.get(name, ())) or number >= len(places.get(name, ()))
               for each, places in zip(rows, turns, strict=True)):
            continue
        mine, theirs = rows[0][name][number], rows[1][name][number]
        if _is_alike(mine, theirs) and (mine.feasible in (0, mine.judged) or judged >= MOST_JUDGED):
            continue
        judged += 1
        both = [_judge(each, places[name][number], row) for each, places, row in
                zip(clusters, turns, (mine, theirs), strict=True)]  # fmt: skip
        if found := _verdict_words(clusters, name, number, (both[0], both[1]), called):
            return found
    return None


def _pass_turns(cluster: ClusterCore) -> Mapping[str, Sequence[Turn]]:
    """Return by `namespace/name` the turns with a pass of a pod."""
    found: dict[str, list[Turn]] = {}
    for turn in _turns(cluster):
        if turn.actor == PASS:
            found.setdefault(turn.cause, []).append(turn)
    return found


def _is_alike(mine: PassRow, theirs: PassRow) -> bool:
    return (mine.node, mine.feasible, mine.judged) == (theirs.node, theirs.feasible, theirs.judged)


def _judge(cluster: ClusterCore, turn: Turn, row: PassRow) -> _Judged:
    """Judge a pass again at its place."""
    namespace, _, name = turn.cause.partition("/")
    found = read_last_pass(cluster, Key("Pod", namespace, name), turn, rejections)
    return _Judged(row.node, found or {})


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


# -- writes -----------------------------------------------------------------------------------------------------------


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
