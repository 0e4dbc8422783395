"""Why many pods wait: all pods to scale, then a line for each cause with its verdicts by zone and its nearest edit."""

from collections import Counter
from collections.abc import Mapping

from attrs import frozen

from kvolsched.questions.why import Cause, Why, Whys
from kvolsched.rules.named import plugin_card
from kvolsched.views.drawing.html import Html, bar, block, joined, page, row, table, tag, tile, words
from kvolsched.views.fill.verdicts import plugin_heads
from kvolsched.views.fill.why import SMALL_CLUSTER
from kvolsched.views.frame import PluginHead

MAX_SQUARES = 12  # nodes that have a square each; of more, each zone has a bar
MAX_ZONES = 4  # zones that are told apart
MAX_NAMES = 12  # pods in a label
MAX_EDITS = 8  # causes for which the nearest edit is looked for


@frozen
class ZoneMarks:
    """The nodes of one zone: the letter of the plugin that rejects first, `✓` would fit, `·` was not asked."""

    zone: str
    marks: tuple[tuple[str, str, int], ...]  # Letter, family and the number of nodes, most first
    nodes: tuple[tuple[str, str, str], ...] = ()  # Letter, family and name of each node, if they are few


@frozen
class CauseLine:
    """Pods that wait for one cause."""

    count: int  # How many pods
    chips: tuple[tuple[str, str], ...]  # Letter and family of each plugin that takes part
    title: str  # What is lacking
    about: str  # Both sides
    zones: tuple[ZoneMarks, ...]  # How the nodes judge the first of these pods
    pods: str  # An example, and how many more
    label: str  # The cause in full, with the pods' names
    edit: str = ""  # The nearest edit for the first of these pods


@frozen
class CausePage:
    """Why many pods wait: the causes, most pods first, and the letters that stand for plugins."""

    title: str
    corner: str
    causes: tuple[CauseLine, ...] = ()
    letters: tuple[tuple[str, str, str], ...] = ()
    folded: int = 0
    folded_pods: int = 0


def page_of(answers: Whys) -> CausePage:
    """Return the page of causes; with nearest edits if the cluster is small enough to look for them."""
    causes = answers.causes
    if not causes:
        return CausePage(answers.title, "")
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
    return CausePage(
        answers.title, f"{nodes} · most pods first · rules {answers[0].revision}", lines,
        tuple(letter for letter in letters if letter[0] in used), len(rest), sum(map(len, rest)),
    )  # fmt: skip


def _line(cause: Cause, answers: Whys, heads: Mapping[str, PluginHead], count: int, edit: str) -> CauseLine:
    chips = tuple((heads[name].letter, heads[name].family) for name in cause.plugins)
    if cause.example.state == "gated":
        chips = (("G", "none"),)
    more = len(cause) - 1
    pods = f"e.g. {cause.pods[0]} and {more:,} more" if more else cause.pods[0]
    unnamed = f" and {len(cause) - MAX_NAMES:,} more" if len(cause) > MAX_NAMES else ""
    names = ", ".join(cause.pods[:MAX_NAMES]) + unnamed
    words = f"{cause.title}{f' ({cause.sides})' if cause.sides else ''}"
    label = f"{len(cause):,} pod{'s' if more else ''}: {words}: {names}"
    return CauseLine(len(cause), chips or (("·", "none"),), cause.title, cause.sides,
                       _zones(cause.example, answers, heads, count), pods, label, edit)  # fmt: skip


def _zones(answer: Why, answers: Whys, heads: Mapping[str, PluginHead], count: int) -> tuple[ZoneMarks, ...]:
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
        found.append(ZoneMarks(zone, tuple((*mark, number) for mark, number in ordered), squares))
    return tuple(found)


# -- drawing ----------------------------------------------------------------------------------------------------------


def draw(rows: CausePage, width: int, selection: str = "") -> str:
    """Return the causes, most pods first."""
    title = tag("h3", "k-title", rows.title)
    if not rows.causes:
        return page(title)
    total = sum(cause.count for cause in rows.causes) + rows.folded_pods
    most = max(cause.count for cause in rows.causes)
    said = "nearest edit, for one of the pods" if any(cause.edit for cause in rows.causes) else "pods"
    heads = ("pods", "", "what lacks, and both sides", *(zone.zone or "nodes" for zone in rows.causes[0].zones), said)
    lines = (_row(cause, f"p{place}", most) for place, cause in enumerate(rows.causes))
    folded = f"{rows.folded_pods:,} pods of {rows.folded} more causes: `.causes` has all" if rows.folded else ""
    letters = (tag("span", "", tile(mark, family), f" {name}") for mark, family, name in rows.letters)
    return page(
        title, block("k-q", rows.corner), _strip(rows, total),
        block("k-q", f"all {total:,} pods, to scale" if total > 1 else ""), table(lines, heads), block("k-q", folded),
        block("k-flow k-q", "The letter is the first plugin that rejects there.", *letters),
    )  # fmt: skip


def _strip(rows: CausePage, total: int) -> Html:
    """Return all pods to scale: the width of a piece is the number of its pods."""
    pieces = (tag("span", f"k-s-{cause.chips[0][1]} k-on",
                  f"{' '.join(mark for mark, _ in cause.chips)} {cause.count:,} {cause.title}",
                  style=f"width:{100 * cause.count / total:.4g}%", role="button", data_ref=f"part/{place}",
                  data_tie=f"p{place}", aria_label=cause.label) for place, cause in enumerate(rows.causes))  # fmt: skip
    return tag("div", "k-bar k-parts k-high", *pieces)


def _row(cause: CauseLine, tie: str, most: int) -> Html:
    chips = (tile(mark, family) for mark, family in cause.chips[:4])
    lacks = tag("div", "", *chips, " ", tag("b", "", cause.title), role="button", data_ref=f"cause/{tie}", data_tie=tie,
                aria_label=cause.label)
    cells = (tag("b", f"k-title k-t-{cause.chips[0][1]}", f"{cause.count:,}"),
             bar(cause.count / most, cause.chips[0][1]) if most > 1 else "",
             joined(lacks, block("k-q", cause.about)), *(_where(zone) for zone in cause.zones),
             joined(tag("b", "", cause.edit), block("k-q", cause.pods)))  # fmt: skip
    scale = "k-rail-cell" if most > 1 else ""
    return row(cells, ("k-short", scale, "k-wide", *["k-short"] * len(cause.zones), "k-name"))


def _where(zone: ZoneMarks) -> Html:
    """Return the verdicts of a zone: a letter for each node of a few, else each letter with its number of nodes."""
    if zone.nodes:
        return joined(*(_verdict(mark, family) for mark, family, _ in zone.nodes))
    return joined(*(joined(_verdict(mark, family), words(f" {count:,} ", "k-q")) for mark, family, count in zone.marks))


def _verdict(mark: str, family: str) -> Html:
    return tile(mark, "ok" if mark == "✓" else family, strong=mark not in "✓·")
