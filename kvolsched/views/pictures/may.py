"""The gate workbench: a row for each patch of a pod, with what it changes, the API server's answer, and the nodes.

Nodes stand before over after, as squares by zone: filled matches, dashed would match if the patch were let, struck no
longer matches, gold newly matches. The witness of a widening is a card: solid for a node of the cluster, dashed for one
that was made up. Over 24 nodes, or where squares have no room, zones have bars.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.blocks import CODE_PITCH, Stack, code_lines, number, paragraph, word_lines
from kvolsched.views.drawing.scene import Box
from kvolsched.views.drawing.svg import num, path, pick, picture, rect, rule, word
from kvolsched.views.may_rows import PatchPage, PatchView

BROAD = 900
"""From this width on a patch, its answer, its nodes and its witness stand side by side."""
FEW = 24  # nodes that are squares
MOST_LINES, MOST_ZONES = 16, 8
SHORT_LINE, SHORT_ANSWER, SHORT_NODES, SHORT_BROAD = 15.0, 104.0, 118.0, 700  # of a patch in few lines, px
SQUARE, LEAST_PITCH = 19.0, 7.0
MEANINGS = {"k-s-ok": "matches", "k-newly": "newly matches: what makes a patch wider",
            "k-would": "would match if the patch were allowed"}
EMPTY = "No patch yet. Write one, and see what the API server answers."


def draw(page: PatchPage, width: int, selection: str = "") -> str:
    """Draw the answers on a page of `width` px."""
    sheet, side = Stack(), width >= BROAD
    room = width - t.width(page.source, 11) - 20 if side else width
    sheet.add(paragraph(0, 2, page.headline, room, "k-title", 15, bold=True, lines=3))
    if side:
        sheet.mark(word(width, 16, "k-q k-end", page.source))
    summary = page.summary if side else f"{page.summary} {page.source[:1].upper()}{page.source[1:]}."
    sheet.add(paragraph(0, sheet.y + 4, summary, width, "k-m k-quiet", 12, lines=8), 14)
    if not page.patches:
        sheet.mark("" if page.short else word(2, sheet.y + 14, "k-q", EMPTY))
        return picture(width, sheet.y + 26 * (not page.short), str(sheet), page.headline)
    columns = _columns(width)
    if side and not page.short:
        heads = ("what it changes", "API server", "nodes that match", "witness: a node that newly matches")
        sheet.mark(*(word(x, sheet.y + 11, "k-q", t.end(head, w, 11))
                     for head, (x, w) in zip(heads, columns, strict=True)), down=20)  # fmt: skip
    sheet.mark(rule(0, sheet.y, width))
    for patch in page.patches:
        on = selection == f"patch/{patch.number}"
        sheet.add(_short_row(page, patch, sheet.y, width) if page.short and not on else
                  _row(page, patch, sheet.y, width, columns, on=on))  # fmt: skip
        sheet.mark(rule(0, sheet.y, width))
    opened = evolve(page, patches=tuple(patch for patch in page.patches
                                        if not page.short or selection == f"patch/{patch.number}"))  # fmt: skip
    sheet.add(_legend(opened, sheet.y + 12, width) if opened.patches else ("", 0.0), 12)
    return picture(width, sheet.y, str(sheet), page.headline)


def folded(page: PatchPage, width: int, selection: str = "") -> str:
    """Return many patches as HTML: a row each, which opens on a click and shows all there is of it."""
    head = draw(evolve(page, patches=()), width)
    rows = []
    for patch in page.patches:
        short, high = _short_row(page, patch, 0, width, inset=14)
        body, bottom = _row(page, patch, 0, width, _columns(width), on=False)
        legend, more = _legend(evolve(page, patches=(patch,)), bottom + 8, width - 12)
        legend = f'<g transform="translate(10,0)">{legend}</g>'
        rows.append(
            f'<details class="k-fx-d" style="width:{width}px;--k-at:{num(high / 2 - 4)}px">'
            f"<summary>{picture(width, high, short, patch.change, 'img')}</summary>"
            f'{picture(width, bottom + 12 + more, body + legend, patch.label, "img")}</details>'
        )
    return head + "".join(rows)


def _columns(width: int) -> tuple[tuple[float, float], ...]:
    """Return place and width of the difference, the answer, the nodes and the witness."""
    left, gap = 34.0, 14.0
    if width < BROAD:
        answer = 150.0
        diff = width - left - gap - answer - 6
        nodes = min(290.0, (width - left) * 0.52)
        return ((left, diff), (left + diff + gap, answer), (left, nodes),
                (left + nodes + gap, width - left - nodes - gap - 6))  # fmt: skip
    nodes, answer = 250.0, 122.0
    rest = width - left - nodes - answer - 3 * gap - 6
    diff = max(306.0, rest * 0.58)
    answer_x = left + diff + gap
    nodes_x = answer_x + answer + gap
    witness_x = nodes_x + nodes + gap
    return (left, diff), (answer_x, answer), (nodes_x, nodes), (witness_x, width - witness_x - 6)


def _row(page: PatchPage, patch: PatchView, top: float, width: int, columns: tuple[tuple[float, float], ...],
         *, on: bool) -> tuple[str, float]:
    (diff_x, diff), (answer_x, answer), (nodes_x, nodes), (witness_x, witness) = columns
    ink = "ok" if patch.allowed else "ink"
    y = top + 12
    parts = [number(18, y + 9, patch.number, ink)]
    marks, high = _difference(patch, diff_x, y, diff)
    parts.append(marks)
    sign = "✓" if patch.allowed else "✕"
    colour = "k-t-ok" if patch.allowed else "k-strong"
    parts.append(word(answer_x, y + 13, f"k-m k-b {colour}", sign)
                 + word(answer_x + 16, y + 13, f"k-m k-b {colour}", patch.verdict))
    more, words = paragraph(answer_x, y + 19, patch.effect, answer, "k-q", 11, lines=4)
    parts.append(more)
    bottom = y + max(high, 19 + words)
    second = y if width >= BROAD else bottom + 10
    marks, high = _nodes(page, patch, nodes_x, second, nodes)
    parts.append(marks)
    more, words = _witness(patch, witness_x, second, witness)
    parts.append(more)
    bottom = max(bottom, second + max(high, words))
    if patch.message:
        more, high = paragraph(diff_x, bottom + 6, patch.message, width - diff_x - 6, "k-q k-strong", 11, lines=6)
        parts.append(more)
        bottom += high + 6
    said = [f"Rule: {each}." for each in patch.rules if not patch.allowed]
    said += [f"{patch.hint[:1].upper()}{patch.hint[1:]}."] if patch.hint else []
    for each in said:
        more, high = paragraph(diff_x, bottom + 3, each, width - diff_x - 6, "k-q", 11, lines=3)
        parts.append(more)
        bottom += high + 3
    stripe = rect(0, top + 1, 4, bottom + 11 - top, "k-s-ok" if patch.allowed else "k-s-ink")
    ring = rect(1, top + 2, width - 2, bottom + 8 - top, "k-ring", 4) if on else ""
    return pick(stripe + parts[0], f"patch/{patch.number}", f"patch{patch.number}", patch.label) + "".join(
        parts[1:]) + ring, bottom + 12 - top


def _difference(patch: PatchView, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw what a patch changes, new lines on the ground of what is right."""
    rows: list[tuple[str, str]] = []
    for sign, content in patch.lines:
        indent = " " * (len(content) - len(content.lstrip(" ")))
        first, *more = code_lines(content, room - 34)
        rows += [(sign, first), *((sign, f"{indent}    {part}") for part in more)]
    hidden = len(rows) - MOST_LINES
    rows = rows if hidden <= 0 else rows[:MOST_LINES]
    head = 17.0 if patch.path else 0.0
    high = head + CODE_PITCH * (len(rows) + (hidden > 0)) + 12
    parts = [rect(x, y, room, high, "k-p-none", 5)]
    if patch.path:
        parts.append(word(x + 8, y + 14, "k-z", t.middle(patch.path, room - 16, 9.5)))
    at = y + head + 6
    for sign, content in rows:
        if sign != " ":
            parts.append(rect(x + 4, at, room - 8, CODE_PITCH, "k-p-ok" if sign == "+" else "k-rail"))
        ink = {"+": "k-copy k-t-ok", "-": "k-copy k-quiet"}.get(sign, "k-copy")
        blanks = len(content) - len(content.lstrip(" "))
        parts.append(word(x + 9, at + 11, ink, sign.strip()) + word(x + 21 + 6.35 * blanks, at + 11, ink,
                                                                   content.lstrip(" ")))
        at += CODE_PITCH
    if hidden > 0:
        parts.append(word(x + 21, at + 11, "k-z", f"… {hidden} more lines"))
    return "".join(parts), high


# -- nodes ----------------------------------------------------------------------------------------------------------


def _state(patch: PatchView, node: str, *, after: bool) -> tuple[str, str, str]:
    """Return the classes of a node's square and of its name, and its state in words."""
    was, is_now = node in patch.before, node in patch.after
    if not after:
        return ("k-s-ok", "k-on", "matches now") if was else ("k-chip", "k-quiet", "does not match now")
    if is_now and not was:
        return "k-newly", "", "matches newly" if patch.allowed else "would newly match"
    if is_now and patch.allowed:
        return "k-s-ok", "k-on", "still matches"
    if is_now:
        return "k-would", "k-t-ok", "would still match"
    return ("k-chip", "k-quiet k-struck", "matches no longer") if was else ("k-chip", "k-quiet", "does not match")


def _nodes(page: PatchPage, patch: PatchView, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw the nodes before over after, as squares by zone or as a bar for each zone."""
    if not page.size or not patch.readable:
        return word(x, y + 13, "k-q", "no nodes" if not page.size else "no pod that nodes could match"), 18
    short = t.short_names(name for _, names in page.zones for name in names)
    square = max(SQUARE, *(t.width(name, 9.5, bold=True) + 6 for name in short.values()))
    square = min(square, 46.0)
    wide = sum(len(names) * (square + 2) + 8 for _, names in page.zones)
    if page.size > FEW:
        return _bars(page, patch, x, y, room)
    if wide > room - 54 - 46:
        return _small_squares(page, patch, x, y, room)
    parts, at = [], x + 54
    total = f"of {page.size}"
    for row, after in ((0, False), (1, True)):
        label = "before" if not after else "after" if patch.allowed else "would be"
        count = len(patch.after if after else patch.before)
        parts.append(word(x, y + 31 + 22 * row, "k-q", label))
        parts.append(word(x + 54 + wide, y + 31 + 22 * row, "k-n", f"{count} {total}"))
    for zone, names in page.zones:
        group = len(names) * (square + 2) - 2
        parts.append(word(at + group / 2, y + 11, "k-z k-mid", t.middle(zone, group + 6, 9.5)))
        for name in names:
            shown = t.middle(short[name], square - 4, 9.5, bold=True)
            parts.append(_pair(patch, name, zone, Box(at, y + 17, square, SQUARE), 22.0, shown))
            at += square + 2
        at += 8
    return "".join(parts), 62


def _pair(patch: PatchView, name: str, zone: str, box: Box, pitch: float, shown: str = "") -> str:
    """Draw the squares of one node, before over after."""
    marks, words = "", []
    for row, after in ((0, False), (1, True)):
        ground, ink, state = _state(patch, name, after=after)
        y = box.y + pitch * row
        marks += rect(box.x, y, box.w, box.h, ground, 4 if shown else 2)
        marks += word(box.x + box.w / 2, y + 13, f"k-letters {ink}".strip(), shown)
        if "k-struck" in ink:
            inset = 3.0 if shown else 1.0
            marks += path(f"M{num(box.x + inset)} {num(y + box.h / 2)}h{num(box.w - 2 * inset)}", "k-l-soft")
        words.append(state)
    return pick(marks, f"node/{name}/{patch.number}", f"{patch.number}{name}", f"{name}, {zone}: {', '.join(words)}",
                more=f' data-tie="n-{t.escape(name)}"')  # fmt: skip


def _small_squares(page: PatchPage, patch: PatchView, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw a row for each zone, its nodes as small squares; as bars if they have no room either."""
    left, right = min(76.0, room * 0.3), 58.0
    pitch = min(13.0, (room - left - right) / max(len(names) for _, names in page.zones))
    if pitch < LEAST_PITCH or len(page.zones) > MOST_ZONES:
        return _bars(page, patch, x, y, room)
    parts = [word(x + left, y + 11, "k-z", f"before, {'after' if patch.allowed else 'would be'}")]
    at, side = y + 18, pitch - 2
    for zone, names in page.zones:
        parts.append(word(x, at + pitch + 2, "k-c", t.middle(zone, left - 8, 10)))
        for place, name in enumerate(names):
            parts.append(_pair(patch, name, zone, Box(x + left + pitch * place, at, side, side), pitch))
        counts = [sum(name in matching for name in names) for matching in (patch.before, patch.after)]
        parts.append(word(x + room, at + pitch + 2, "k-c k-end", f"{counts[0]} → {counts[1]}"))
        at += 2 * pitch + 7
    parts.append(word(x, at + 10, "k-c k-b", f"all {page.size}"))
    parts.append(word(x + room, at + 10, "k-c k-b k-end", f"{len(patch.before)} → {len(patch.after)}"))
    return "".join(parts), at + 14 - y


def _bars(page: PatchPage, patch: PatchView, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw a bar for each zone: how many nodes match before, and after."""
    zones = [(zone, len(names), sum(name in patch.before for name in names), sum(name in patch.after for name in names),
              sum(name in patch.after and name not in patch.before for name in names)) for zone, names in page.zones]
    zones = [*zones, ("all", page.size, len(patch.before), len(patch.after), len(patch.after - patch.before))]
    hidden = len(zones) - MOST_ZONES - 1
    zones = zones if hidden <= 0 else [*zones[:MOST_ZONES], zones[-1]]
    left, right = min(76.0, room * 0.3), 58.0
    rail = room - left - right
    most = max(size for zone, size, *_ in zones if zone != "all")
    would = "after" if patch.allowed else "would be"
    parts = [word(x + left, y + 11, "k-z", f"before, {would}")]
    for place, (zone, size, before, after, new) in enumerate(zones):
        at = y + 18 + 20 * place
        last = place == len(zones) - 1
        full = rail if last else rail * size / most
        head = f"all {page.size}" if last else t.middle(zone, left - 8, 10)
        parts.append(word(x, at + 11, "k-c k-b" if last else "k-c", head))
        parts.append(rect(x + left, at + 1, full, 13, "k-rail", 2))
        parts.append(rect(x + left, at + 1, full * before / max(1, size), 6, "k-s-ok", 1))
        ground = "k-s-ok" if patch.allowed else "k-would"
        parts.append(rect(x + left, at + 8, full * after / max(1, size), 6, ground, 1))
        if new:
            start = full * (after - new) / size
            parts.append(rect(x + left + start, at + 8, max(2.0, full * new / size), 6, "k-newly", 1))
        parts.append(word(x + room, at + 12, "k-c k-end" + " k-b" * last, f"{before} → {after}"))
    if hidden > 0:
        parts.append(word(x, y + 30 + 20 * len(zones), "k-z", f"{hidden} more zones"))
    return "".join(parts), 22 + 20 * len(zones) + 14 * (hidden > 0)


def _witness(patch: PatchView, x: float, y: float, room: float) -> tuple[str, float]:
    """Draw the witness as a card, or why there is none."""
    inset = 10.0 if patch.witness_kind else 0.0
    marks, high = paragraph(x + inset, y + (6 if inset else 0), patch.witness, room - 2 * inset,
                            "k-m k-b", 12, bold=True, lines=3)
    parts, at = [marks], y + high + (6 if inset else 0)
    if patch.note:
        more, high = paragraph(x, at + 2, patch.note, room, "k-q", 11, lines=5)
        parts.append(more)
        at += high + 2
    for content in (*patch.witness_lines, *(("",) if patch.instead else ())):
        if not content:
            parts.append(word(x, at + 14, "k-q k-strong", "Allowed, for these nodes:"))
            at += 18
            continue
        for place, part in enumerate(code_lines(content, room - 2 * inset)):
            parts.append(word(x + inset + 6.35 * (len(content) - len(content.lstrip(" ")) + 4 * bool(place)), at + 11,
                              "k-copy", part.strip(" ")))
            at += CODE_PITCH
    for content in patch.instead:
        indent = len(content) - len(content.lstrip(" "))
        for place, part in enumerate(code_lines(content, room)):
            parts.append(word(x + 6.35 * (indent + 4 * bool(place)), at + 11, "k-copy k-t-ok", part.strip(" ")))
            at += CODE_PITCH
    if not patch.witness_kind:
        return "".join(parts), at - y
    dashed = " k-part" if patch.witness_kind == "made" else ""
    return rect(x, y, room, at - y + 8, f"k-also k-l-ink{dashed}", 7) + "".join(parts), at - y + 8


def _legend(page: PatchPage, y: float, width: int) -> tuple[str, float]:
    """Draw what the squares mean, only those that are drawn."""
    entries = list(dict.fromkeys(_used(page)))
    x, row, parts = 0.0, 0, []
    for ground, ink, words in entries:
        wide = 26 + t.width(words, 11) + 18
        if x and x + wide > width:
            x, row = 0.0, row + 1
        at = y + 24 * row
        parts.append(rect(x, at, SQUARE, 17, ground, 4))
        if "k-struck" in ink:
            parts.append(path(f"M{num(x + 3)} {num(at + 8.5)}h13", "k-l-soft"))
        parts.append(word(x + 26, at + 12.5, "k-q", words))
        x += wide
    return "".join(parts), 24.0 * (row + 1) if entries else 4.0


def _used(page: PatchPage) -> Iterator[tuple[str, str, str]]:
    if page.size > FEW:
        yield "k-s-ok", "", "matches"
    names = [name for _, names in page.zones for name in names]
    for patch in (patch for patch in page.patches if patch.readable):
        for after in (False, True):
            for name in names:
                ground, ink, _ = _state(patch, name, after=after)
                struck = "k-struck" in ink
                told = "matches no longer" if struck else MEANINGS.get(ground, "does not match")
                if page.size <= FEW or ground in ("k-newly", "k-would"):
                    yield ground, "k-struck" if struck else "", told
    for kind, words in (("real", "solid card: a node of the cluster"), ("made", "dashed card: made up to show it")):
        if any(patch.witness_kind == kind for patch in page.patches):
            yield f"k-also k-l-ink{' k-part' if kind == 'made' else ''}", "", words


# -- a row of few lines ---------------------------------------------------------------------------------------------


def _short_row(page: PatchPage, patch: PatchView, top: float, width: int, *, inset: float = 0.0) -> tuple[str, float]:
    """Draw a patch below `top`; return the marks and their height."""
    y, left = top + 8, inset + 34.0
    beside = width >= SHORT_BROAD
    x = left + SHORT_ANSWER if beside else left
    room = width - x - (SHORT_NODES if beside else 8)
    sign, colour = ("✓", "k-t-ok") if patch.allowed else ("✕", "k-strong")
    parts = [number(inset + 18, y + 9, patch.number, "ok" if patch.allowed else "ink"),
             word(left, y + 13, f"k-m k-b {colour}", f"{sign} {patch.verdict}")]  # fmt: skip
    nodes = _node_counts(page, patch)
    if not beside:
        parts.append(word(width - 6, y + 13, "k-q k-end", nodes))
        y += SHORT_LINE + 2
    elif nodes:
        parts.append(word(width - 6, y + 13, "k-q k-end", nodes))
    lines = [("k-n", line) for line in word_lines(patch.title, room, 12, 2, bold=True)] if patch.title else []
    code = "k-q" if patch.title else "k-m"
    lines += [(code, line) for line in word_lines(patch.change, room, 11 if patch.title else 12, 2)]
    if patch.why:
        said = f"{patch.why[:1].upper()}{patch.why[1:]}"
        lines += [("k-q k-strong", line) for line in word_lines(said, room, 11, 5)]
    parts += [word(x, y + 13 + SHORT_LINE * place, classes, line) for place, (classes, line) in enumerate(lines)]
    high = y - top + SHORT_LINE * len(lines) + 8
    stripe = rect(0, top + 1, 4, high - 2, "k-s-ok" if patch.allowed else "k-s-ink")
    return pick(stripe + parts[0], f"patch/{patch.number}", f"patch{patch.number}", patch.label) + "".join(
        parts[1:]), high


def _node_counts(page: PatchPage, patch: PatchView) -> str:
    """Return how many nodes match before and after, "" if the patch does not speak of them."""
    if not patch.readable or not page.size or patch.before == patch.after:
        return ""
    after = f"{len(patch.before)} → {len(patch.after)} of {page.size}"
    return t.end(f"nodes {after}", SHORT_NODES - 8, 11)
