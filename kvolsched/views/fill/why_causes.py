"""Rows of the picture of all pending pods: a line for each cause, with the verdicts on the nodes by zone."""

from collections import Counter
from collections.abc import Mapping

from ...questions.why import Cause, Why, Whys
from ...rules.named import plugin_card
from .. import why_rows as w
from ..frame import PluginHead
from .verdicts import plugin_heads
from .why import SMALL_CLUSTER

MAX_SQUARES = 12  # nodes that have a square each; of more, each zone has a bar
MAX_ZONES = 4  # zones that are told apart
MAX_NAMES = 12  # pods in a label
MAX_EDITS = 8  # causes for which the nearest edit is looked for


def page_of(answers: Whys) -> w.CausePage:
    """Return the page of causes; with nearest edits if the cluster is small enough to look for them."""
    causes = answers.causes
    if not causes:
        return w.CausePage(answers.title, "")
    plugins = dict.fromkeys(name for cause in causes for name in cause.plugins)
    plugins |= dict.fromkeys(group.first for cause in causes for group in cause.example.groups if group.first)
    ordered = sorted(plugins, key=lambda name: (not plugin_card(name).letter, name))
    heads = dict(zip(ordered, plugin_heads(ordered, ordered), strict=True))
    count = sum(len(nodes) for _, nodes in answers.zones)
    shown, rest = causes[: answers.most], causes[answers.most :]
    edits = answers.nearest_edit if count <= SMALL_CLUSTER else None
    lines = tuple(
        _line(cause, answers, heads, count,
              edits(cause.pods[0]) if edits is not None and place < MAX_EDITS else "")
        for place, cause in enumerate(shown)
    )  # fmt: skip
    nodes = f"{count:,} node{'s' if count != 1 else ''}"
    letters = [(head.letter, head.family, head.name) for head in heads.values()]
    used = {mark for line in lines for zone in line.zones for mark, _, _ in zone.marks}
    used |= {letter for line in lines for letter, _ in line.chips}
    letters += [("G", "none", "scheduling gates"), ("✓", "ok", "would fit"), ("✕", "none", "would not")]
    letters.append(("·", "none", "no node was asked"))
    return w.CausePage(
        answers.title, f"{nodes} · most pods first · rules {answers[0].revision}", lines,
        tuple(letter for letter in letters if letter[0] in used), len(rest), sum(map(len, rest)),
    )  # fmt: skip


def _line(cause: Cause, answers: Whys, heads: Mapping[str, PluginHead], count: int, edit: str) -> w.CauseLine:
    chips = tuple((heads[name].letter, heads[name].family) for name in cause.plugins)
    if cause.example.state == "gated":
        chips = (("G", "none"),)
    more = len(cause) - 1
    pods = f"e.g. {cause.pods[0]} and {more:,} more" if more else cause.pods[0]
    unnamed = f" and {len(cause) - MAX_NAMES:,} more" if len(cause) > MAX_NAMES else ""
    names = ", ".join(cause.pods[:MAX_NAMES]) + unnamed
    words = f"{cause.title}{f' ({cause.sides})' if cause.sides else ''}"
    label = f"{len(cause):,} pod{'s' if more else ''}: {words}: {names}"
    return w.CauseLine(len(cause), chips or (("·", "none"),), cause.title, cause.sides,
                       _zones(cause.example, answers, heads, count), pods, label, edit)  # fmt: skip


def _zones(answer: Why, answers: Whys, heads: Mapping[str, PluginHead], count: int) -> tuple[w.ZoneMarks, ...]:
    marks = dict.fromkeys(answer.fits, ("✓", "ok"))
    for group in answer.groups:
        head = heads.get(group.first)
        marks |= dict.fromkeys(group.nodes, (head.letter, head.family) if head is not None else ("✕", "none"))
    unknown = ("✕", "none") if answer.fits or answer.groups else ("·", "none")
    zones = answers.zones
    if len(zones) > MAX_ZONES or not any(zone for zone, _ in zones):
        zones = (("", tuple(sorted(name for _, nodes in zones for name in nodes))),)
    found = []
    for zone, nodes in zones:
        each = [(*marks.get(name, unknown), name) for name in nodes]
        counted = Counter((mark, family) for mark, family, _ in each)
        ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
        squares = tuple(each) if count <= MAX_SQUARES else ()
        found.append(w.ZoneMarks(zone, tuple((*mark, number) for mark, number in ordered), squares))
    return tuple(found)
