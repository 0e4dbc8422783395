"""Why many pods wait: all pods to scale, then a line for each cause with its verdicts by zone and its nearest edit."""

from collections import Counter
from collections.abc import Mapping

from attrs import frozen

from kvolsched.api.words import counted
from kvolsched.questions.why import Cause, Why, Whys
from kvolsched.rules.named import plugin_card
from kvolsched.views.drawing.html import Html, bar, block, joined, page, row, table, tag, tile, words
from kvolsched.views.fill.verdicts import plugin_heads
from kvolsched.views.frame import PluginHead
from kvolsched.views.pages.why_card import SMALL_CLUSTER

MAX_SQUARES = 12  # nodes that have a square each; of more, each zone has a bar
MAX_ZONES = 4  # zones that are told apart
MAX_NAMES = 12  # pods in a label
MAX_EDITS = 8  # causes for which the nearest edit is looked for
LETTERS = (("G", "none", "scheduling gates"), ("✓", "ok", "would fit"), ("✕", "none", "would not"),
           ("·", "none", "no node was asked"))  # fmt: skip


@frozen
class ZoneMarks:
    """The nodes of one zone: the letter of the plugin that rejects first, `✓` would fit, `·` was not asked."""

    zone: str
    marks: tuple[tuple[str, str, int], ...]  # Letter, family and the number of nodes, most first
    nodes: tuple[tuple[str, str, str], ...]  # Letter, family and name of each node, if they are few


@frozen
class CauseLine:
    """Pods that wait for one cause, as they are drawn."""

    of: Cause
    chips: tuple[tuple[str, str], ...]  # Letter and family of each plugin that takes part
    zones: tuple[ZoneMarks, ...]  # How the nodes judge the first of these pods
    edit: str  # The nearest edit for the first of these pods

    @property
    def pods(self) -> str:
        """An example, and how many more."""
        more = len(self.of) - 1
        return f"e.g. {self.of.pods[0]} and {more:,} more" if more else self.of.pods[0]

    @property
    def label(self) -> str:
        """The cause in full, with the pods' names."""
        count, sides = len(self.of), f" ({self.of.sides})" if self.of.sides else ""
        names = ", ".join(self.of.pods[:MAX_NAMES]) + (f" and {count - MAX_NAMES:,} more" if count > MAX_NAMES else "")
        return f"{count:,} pod{'s' * (count != 1)}: {self.of.title}{sides}: {names}"


def lines_of(answers: Whys, heads: Mapping[str, PluginHead]) -> tuple[CauseLine, ...]:
    """Return the causes that are shown; with nearest edits if the cluster is small enough to look for them."""
    count, lines = _nodes(answers), []
    edits = answers.nearest_edit if count <= SMALL_CLUSTER else None
    for place, cause in enumerate(answers.causes[: answers.most]):
        chips = tuple((heads[name].letter, heads[name].family) for name in cause.plugins)
        chips = (("G", "none"),) if cause.example.state == "gated" else chips or (("·", "none"),)
        edit = edits(cause.pods[0]) if edits is not None and place < MAX_EDITS else ""
        lines.append(CauseLine(cause, chips, _zones(cause.example, answers, heads, count), edit))
    return tuple(lines)


def heads_of(answers: Whys) -> Mapping[str, PluginHead]:
    """Return the plugins that reject, with their letters."""
    causes = answers.causes
    plugins = dict.fromkeys(name for cause in causes for name in cause.plugins)
    plugins |= dict.fromkeys(group.first for cause in causes for group in cause.example.groups)
    ordered = sorted(plugins, key=lambda name: (not plugin_card(name).letter, name))
    return dict(zip(ordered, plugin_heads(ordered, ordered), strict=True))


def _nodes(answers: Whys) -> int:
    return sum(len(nodes) for _, nodes in answers.zones)


def _zones(answer: Why, answers: Whys, heads: Mapping[str, PluginHead], count: int) -> tuple[ZoneMarks, ...]:
    marks = dict.fromkeys(answer.fits, ("✓", "ok"))
    for group in answer.groups:
        marks |= dict.fromkeys(group.nodes, (heads[group.first].letter, heads[group.first].family))
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
        found.append(ZoneMarks(zone, tuple((*mark, number) for mark, number in ordered), squares))
    return tuple(found)


def draw(answers: Whys) -> Html:
    """Return the causes, most pods first."""
    title = tag("h3", "k-title", answers.title)
    if not answers.causes:
        return page(title)
    heads, count, rest = heads_of(answers), _nodes(answers), answers.causes[answers.most :]
    causes, folded = lines_of(answers, heads), sum(map(len, rest))
    total, most = sum(len(cause.of) for cause in causes) + folded, max(len(cause.of) for cause in causes)
    corner = f"{count:,} node{'s' if count != 1 else ''} · most pods first · rules {answers[0].revision}"
    said = "nearest edit, for one of the pods" if any(cause.edit for cause in causes) else "pods"
    names = ("pods", "", "what lacks, and both sides", *(zone.zone or "nodes" for zone in causes[0].zones), said)
    lines = (_row(cause, f"p{place}", most) for place, cause in enumerate(causes))
    more = f"{folded:,} pod{'s' * (folded > 1)} of {counted(len(rest), 'more cause')}: see `.causes`" if rest else ""
    used = {mark for cause in causes for zone in cause.zones for mark, _, _ in zone.marks}
    used |= {letter for cause in causes for letter, _ in cause.chips}
    known = [*((head.letter, head.family, head.name) for head in heads.values()), *LETTERS]
    letters = (tag("span", "", tile(mark, family), f" {name}") for mark, family, name in known if mark in used)
    pieces = (tag("span", f"k-s-{cause.chips[0][1]} k-on",
                  f"{' '.join(mark for mark, _ in cause.chips)} {len(cause.of):,} {cause.of.title}",
                  style=f"width:{100 * len(cause.of) / total:.4g}%", role="button", data_ref=f"part/{place}",
                  data_tie=f"p{place}", aria_label=cause.label) for place, cause in enumerate(causes))  # fmt: skip
    return page(
        title, block("k-q", corner), tag("div", "k-bar k-parts k-high", *pieces),
        block("k-q", f"all {total:,} pods, to scale"), table(lines, names), block("k-q", more),
        block("k-flow k-q", "The letter is the first plugin that rejects there.", *letters),
    )  # fmt: skip


def _row(cause: CauseLine, tie: str, most: int) -> Html:
    chips, count = (tile(mark, family) for mark, family in cause.chips[:4]), len(cause.of)
    lacks = tag("div", "", *chips, " ", tag("b", "", cause.of.title), role="button", data_ref=f"cause/{tie}",
                data_tie=tie, aria_label=cause.label)
    cells = (tag("b", f"k-title k-t-{cause.chips[0][1]}", f"{count:,}"),
             bar(count / most, cause.chips[0][1]) if most > 1 else "",
             joined(lacks, block("k-q", cause.of.sides)), *(_where(zone) for zone in cause.zones),
             joined(tag("b", "", cause.edit), block("k-q", cause.pods)))  # fmt: skip
    return row(cells, ("k-short", "k-name" if most > 1 else "", "k-wide", *["k-short"] * len(cause.zones), "k-name"))


def _where(zone: ZoneMarks) -> Html:
    """Return the verdicts of a zone: a letter for each node of a few, else each letter with its number of nodes."""
    if zone.nodes:
        return joined(*(_verdict(mark, family) for mark, family, _ in zone.nodes))
    return joined(*(joined(_verdict(mark, family), words(f" {count:,} ", "k-q")) for mark, family, count in zone.marks))


def _verdict(mark: str, family: str) -> Html:
    return tile(mark, family, strong=mark not in "✓·")
