"""Why many pods wait: all pods to scale, then a line for each cause with its verdicts by zone and its nearest edit."""

from kvolsched.views.drawing.html import Html, bar, block, joined, page, row, table, tag, tile, words
from kvolsched.views.why_rows import CauseLine, CausePage, ZoneMarks


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
