"""The last pass over the pod in focus as rows: codes by node and plugin, scores, and both sides of one cell."""

from collections.abc import Iterable, Sequence
from typing import Any

from ...questions.explain import Pass, read_last_pass
from ...rules.named import plugin_card, plugin_cards
from ...scheduler.framework.evidence import LeftOut
from ...scheduler.framework.extension_points import VolumeDecider
from ...scheduler.framework.judgement import Judgement
from ...scheduler.framework.verdict import Code
from ...scheduler.requests import format_amount
from ...world.apiserver import ref
from .. import frame as f
from .context import FrameContext, NodeVerdict, PassRows

CODES = {"Success": f.PASS, "Skip": f.NOTHING, "Error": f.ERROR, "UnschedulableAndUnresolvable": f.UNRESOLVABLE}
MAX_SCORED = 60  # nodes; of more, only those are shown that explain the decision
MAX_BEST = 40  # then so many of the best, and of those that would win at another weight of a plugin


def pass_rows(context: FrameContext) -> PassRows | None:
    """Return what frames show of the last pass over the pod in focus; None when there was none.

    It is read while the world stands at that pass, and only if it is another one than that of the frame before.
    """
    turn, judged, revision = context.last_turn, context.judged, context.cluster.revision
    if context.focus is None or turn is None:
        return _rows(context.passed) if context.passed is not None else None
    if judged.turn is not turn or judged.revision is not revision:
        judged.rows = read_last_pass(context.cluster, context.focus, turn, _rows)
        judged.turn, judged.revision = turn, revision
    return judged.rows


def _rows(passed: Pass) -> PassRows:
    columns = _columns(passed.judgement)
    of_node = {node: _verdict_of(passed, node, columns) for node in passed.judgement.first_rejecting}
    totals = passed.ranking.total() if passed.ranking is not None else {}
    return PassRows(_verdicts(passed, columns), of_node, dict(totals))


def verdicts(context: FrameContext) -> f.Verdicts:
    """Return the matrix of the last pass over the pod in focus."""
    rows = pass_rows(context)
    return f.Verdicts() if rows is None else rows.verdicts


def _verdicts(passed: Pass, columns: Sequence[int]) -> f.Verdicts:
    judgement = passed.judgement
    rejected = judgement.rejected_by
    codes = _codes(judgement, columns)
    first = judgement.first_rejecting if rejected is None else dict.fromkeys(codes)
    filters = [judgement.profile.filters[place] for place in columns]
    index = {enabled.name: column for column, enabled in enumerate(filters)}
    rows = []
    for node in sorted(codes):
        plugin = first[node]
        rows.append(f.VerdictRow(node, codes[node], index[plugin] if plugin else -1, node == passed.chosen))
    return f.Verdicts(
        pod=ref(passed.pod),
        number=passed.number,
        plugins=plugin_heads([each.name for each in filters], [each.shown_name for each in filters]),
        rows=tuple(rows),
        scores=_scores(passed),
        prefilter=rejected.message if rejected else "",
        prefilter_plugin=rejected.plugin if rejected else "",
        rules_changed=passed.rules_changed,
    )


def _columns(judgement: Judgement) -> Sequence[int]:
    """Return the places of the filter plugins that are drawn."""
    skipped = judgement.skipped if judgement.rejected_by is None else judgement.plugins
    return [place for place, name in enumerate(judgement.plugins)
            if name not in skipped or not plugin_card(name).drawn_if_asked]  # fmt: skip


def _codes(judgement: Judgement, drawn: Sequence[int]) -> dict[str, str]:
    """Return the codes of each node, a letter a plugin; read off whole columns, since a matrix of cells is slow."""
    count = len(judgement.nodes)
    columns = []
    for index in drawn:
        plugin, column = judgement.plugins[index], judgement.columns.get(index)
        if judgement.rejected_by is not None:
            columns.append(f.NOT_ASKED * count)
        elif plugin in judgement.skipped:
            columns.append(f.NOTHING * count)
        elif column is None or column.codes is None:
            columns.append(f.PASS * count)
        else:
            numbers = judgement.codes[index].tolist()
            letters = {code: CODES.get(column.legend(code)[1].word, f.REJECT) if code else f.PASS
                       for code in set(numbers)}  # fmt: skip
            columns.append("".join([letters[code] for code in numbers]))
    rows = map("".join, zip(*columns, strict=True)) if columns else [""] * count
    out = {node for node in judgement.nodes if judgement.first_rejecting[node] is None and judgement.leaving_out(node)}
    return {node: f.NOT_ASKED * len(row) if node in out else row
            for node, row in zip(judgement.nodes, rows, strict=True)}  # fmt: skip


def _verdict_of(passed: Pass, node: str, columns: Sequence[int]) -> NodeVerdict:
    judgement = passed.judgement
    if judgement.rejected_by is not None:
        return "not asked", -1, judgement.rejected_by.message, False
    first = judgement.first_rejecting[node]
    if first is None:
        if out := judgement.leaving_out(node):
            return "not asked", -1, str(LeftOut(out[0])), False
        return ("chosen" if node == passed.chosen else "fits"), -1, "", True
    reasons, status = judgement.verdict(node, first)
    resolvable = status is not Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    return "rejected", columns.index(judgement.plugins.index(first)), ", ".join(reasons), resolvable


def _scores(passed: Pass) -> tuple[f.ScoreRow, ...]:
    if passed.ranking is None:
        return ()
    many = len(passed.judgement.rows) > MAX_SCORED
    nodes = passed.ranking.decisive_nodes(passed.chosen, MAX_BEST) if many else sorted(passed.ranking.nodes)
    weights = {enabled.name: enabled.weight for enabled in passed.judgement.profile.scores}
    return tuple(
        f.ScoreRow(node, plugin, round(raw), normalised, weights[plugin], weighted)
        for node in nodes
        for plugin, (raw, normalised, weighted) in passed.ranking.scores_of(node).items()
    )


def selected_cell(context: FrameContext) -> f.CellDetail | None:
    """Return the rule's words for the selected verdict (`verdict/NODE/PLUGIN`); None when the pass has no such cell."""
    passed = context.passed
    kind, _, place = context.selected.partition("/")
    node, _, plugin = place.rpartition("/")
    plugin = plugin.partition(" (")[0]  # without the plugin's name in the documents
    if passed is None or kind != "verdict":
        return None
    judgement = passed.judgement
    if node not in judgement.first_rejecting or plugin not in judgement.plugins:
        return None
    found = judgement.cell(node, plugin)
    asked = judgement.rejected_by is None and (judgement.first_rejecting[node] or not judgement.leaving_out(node))
    code = CODES.get(found.status.word, f.REJECT) if asked else f.NOT_ASKED
    sides = tuple(str(side) for side in found.evidence)
    if code == f.PASS and judgement.profile.extends(plugin, VolumeDecider):
        sides = _would_bind(passed, node)
    return f.CellDetail(node, judgement.profile.shown_name(plugin), code, found.reasons, sides)


def _would_bind(passed: Pass, node: str) -> tuple[str, ...]:
    """Return what would be done for each claim on a node that has its volumes, and what each class counts there."""
    rule: Any = passed.judgement.profile.extending(VolumeDecider)
    decision = rule.decide(passed.judgement.pod, node, passed.judgement.seen)
    matched = [f"claim {claim.name} would take volume {volume.name}" for claim, volume in decision.static]
    made = [f"claim {claim.name} would be provisioned for {node}" for claim in decision.provision]
    counted = [
        f"class {name}: {_size(requested)} of {_size(capacity)} count {points} of 100 points"
        for name, requested, capacity, points in decision.shares
    ]
    return (*matched, *made, *counted)


def _size(amount: int) -> str:
    return format_amount("memory", amount)


def plugin_heads(names: Iterable[str], shown_names: Iterable[str]) -> tuple[f.PluginHead, ...]:
    """Return the columns of the matrix: each plugin with a letter, that of its card if it ships."""
    heads: list[f.PluginHead] = []
    taken = {card.letter for card in plugin_cards().values()}
    for name, shown in zip(names, shown_names, strict=True):
        card = plugin_card(name)
        letter = card.letter or next(c for c in name.upper() + "BCDEGHJKMOQWXY" if c.isalpha() and c not in taken)
        taken.add(letter)
        heads.append(f.PluginHead(shown, letter, card.family))
    return tuple(heads)
