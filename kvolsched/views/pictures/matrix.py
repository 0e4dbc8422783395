"""The verdict matrix: what every plugin says about every node, for one pass over one pod.

Rows are nodes, columns are plugins in profile order; every code has a glyph, so no cell is blank. The first rejection
is strong, later ones are outlined: kube-scheduler would not have asked those plugins. Over 24 nodes, equal rows are
one row with their count.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from attrs import frozen

from kvolsched.api.words import LINE_WIDTH, counted
from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.svg import nothing, num, pick, picture, piece, rect, word

EMPTY = "No node has been judged for this pod yet. The next scheduling pass fills this table."
MOST_ROWS = 24
"""Of more nodes, rows are patterns; of more patterns, the rest is a count."""

GLYPHS = {f.PASS: "✓", f.NOTHING: "–", f.REJECT: "✕", f.UNRESOLVABLE: "⊘", f.ERROR: "!", f.NOT_ASKED: "·"}
WORDS = {
    f.PASS: "passes", f.NOTHING: "nothing to ask", f.REJECT: "rejects first",
    f.UNRESOLVABLE: "rejects first; removing pods cannot help", f.ERROR: "error", f.NOT_ASKED: "not asked",
}  # fmt: skip
CELL_WORDS = {**WORDS, f.REJECT: "rejects", f.UNRESOLVABLE: "rejects"}
NO_BREAK = "\N{NO-BREAK SPACE}"
_ALSO = "would also reject"
_REJECTING = frozenset((f.REJECT, f.UNRESOLVABLE, f.ERROR))
_PITCH, _CELL_H = 23.0, 21.0
"""Of rows, and the height of a cell, px."""
_LEAST_COLUMN, _HEAD = 19.0, 9.5
_HUMPS = re.compile(r"\([^)]*\)|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+|[^A-Za-z0-9 ]+")


@frozen
class _Line:
    """One drawn row: a node, or all nodes with the same codes."""

    row: f.VerdictRow
    nodes: tuple[str, ...]


def draw(frame: f.Frame, width: int, selection: str = "") -> str:
    """Draw the matrix of the last pass over the pod in focus."""
    if not frame.verdicts.rows:
        return nothing(width, EMPTY)
    table, y = _table(frame, width, selection)
    return picture(width, y, caption(frame, width) + table, sentence(frame), "grid")


def reading(frame: f.Frame) -> str:
    """Return the matrix as lines: letters, glyphs, and the first rejection in words."""
    verdicts = frame.verdicts
    if not verdicts.rows:
        return EMPTY
    title = sentence(frame) + (" (the rules have changed since)" if verdicts.rules_changed else "")
    rows = [["node", " ".join(p.letter for p in verdicts.plugins), ""]]
    lines = _lines(frame, "")
    for line in lines[:MOST_ROWS]:
        cells = " ".join(_text_glyph(line.row, i) for i in range(len(verdicts.plugins)))
        rows.append([_name(line), cells, _outcome_words(frame, line.row)])
    content = [title, t.columns(rows)]
    if len(lines) > MOST_ROWS:
        content.append(_more(lines))
    if verdicts.prefilter:
        content.append(f"⊘ {verdicts.prefilter_plugin} rejected the pod before any node: {verdicts.prefilter}")
    content += _legend_lines(verdicts)
    return "\n".join(content + ([] if verdicts.cell is None else cell_lines(verdicts.cell)))


def _legend_lines(verdicts: f.Verdicts) -> list[str]:
    """Return what the letters and the glyphs of the lines mean."""
    named = (f"{plugin.letter} {plugin.name}".replace(" ", NO_BREAK) for plugin in verdicts.plugins)
    lines = [line.replace(NO_BREAK, " ") for line in textwrap.wrap(", ".join(named), LINE_WIDTH)]
    meanings = (("×" if words == _ALSO else glyph, words) for _, _, glyph, words in _glyph_meanings(verdicts))
    return [*lines, ", ".join(f"{glyph} {words}" for glyph, words in meanings)]


def sentence(frame: f.Frame) -> str:
    """Return one line: the pass, and how many nodes fit."""
    return " ".join(_sentence_parts(frame))


def _sentence_parts(frame: f.Frame) -> tuple[str, str]:
    v = frame.verdicts
    fit = sum(r.first < 0 and f.NOT_ASKED not in r.codes for r in v.rows)
    what, pod = (f"pass {v.number}", v.pod) if v.number else ("trial", f"{v.pod}, now, on a fork")
    return what, f"of {pod}: {fit} of {counted(len(v.rows), 'node')} fit"


def caption(frame: f.Frame, width: int) -> str:
    """Draw the title of the table."""
    verdicts = frame.verdicts
    first, rest = _sentence_parts(frame)
    room = width - 64 - t.width(rest.replace(verdicts.pod, ""), 13)
    content = t.escape(t.end(rest.replace(verdicts.pod, t.middle(verdicts.pod, room, 13)), width - 64, 13))
    parts = [f'<text x="2" y="16" class="k-cap"><tspan class="k-b">{t.escape(first)}</tspan> {content}</text>']
    if verdicts.rules_changed:
        said = "the rules have changed since: judged again here, the codes differ"
        parts.append(word(2, 33, "k-w k-t-resources", said))
    return "".join(parts)


def _lines(frame: f.Frame, selection: str) -> list[_Line]:
    rows = sorted(frame.verdicts.rows, key=lambda r: r.node)
    if len(rows) <= MOST_ROWS:
        return [_Line(r, (r.node,)) for r in rows]
    selected = selection.split("/")[1] if selection.startswith(("node/", "verdict/")) else ""
    chosen = [_Line(r, (r.node,)) for r in rows if r.chosen]
    rest = sorted((r for r in rows if not r.chosen), key=lambda r: r.codes)
    grouped = []
    for _, same in groupby(rest, key=lambda r: r.codes):
        members = list(same)
        shown = next((r for r in members if r.node == selected), members[0])
        grouped.append(_Line(shown, tuple(r.node for r in members)))
    grouped.sort(key=lambda g: (g.row.first >= 0, -len(g.nodes), g.row.codes))
    return chosen + grouped


def _more(lines: list[_Line]) -> str:
    rest = lines[MOST_ROWS:]
    return f"… {counted(len(rest), 'more pattern')}, {sum(len(g.nodes) for g in rest)} nodes"


def _name(line: _Line) -> str:
    return line.row.node if len(line.nodes) == 1 else f"{len(line.nodes)} nodes e.g. {line.row.node}"


def _text_glyph(row: f.VerdictRow, i: int) -> str:
    return "×" if row.codes[i] in {f.REJECT, f.UNRESOLVABLE} and i != row.first else GLYPHS[row.codes[i]]


def _outcome_words(frame: f.Frame, row: f.VerdictRow) -> str:
    verdicts = frame.verdicts
    reason = next((n.reason for n in frame.nodes if n.name == row.node), "")
    if f.NOT_ASKED in row.codes:
        return "not asked" if verdicts.prefilter or not reason else f"not asked: {reason}"
    if row.first < 0:
        return "fits, chosen" if row.chosen else "fits"
    plugin = verdicts.plugins[row.first].name
    return f"{plugin}: {reason}" if reason else plugin


def _table(frame: f.Frame, width: int, selection: str) -> tuple[str, float]:
    verdicts = frame.verdicts
    plugins, lines = verdicts.plugins, _lines(frame, selection)
    shown = lines[:MOST_ROWS]
    longest = max(t.width(_name(line), 12, bold=True) for line in shown)
    left = max(78.0, min(longest + 14, 0.23 * width, 190))
    longest = max(t.width(_short_outcome(frame, line)[1][0], 12, bold=True) for line in shown)
    right = max(92.0, min(longest + 30, width - left - len(plugins) * _LEAST_COLUMN))  # never less than "not asked"
    pitch = float(min(88, int(width - left - right) // max(1, len(plugins))))
    drawn, top, named = _heads(plugins, left, pitch, 48 if verdicts.rules_changed else 30)
    parts = [drawn, word(2, top - 6, "k-q", "node")]
    concerned = _marked(frame, selection)
    y = top
    for line in shown:
        cells = _cells(frame, line.row, left, y, pitch, selection)
        end = _outcome(frame, line, left + len(plugins) * pitch + 10, y, right - 12)
        name = _row_name(line.row.node, len(line.nodes), y, left, on=bool(concerned & set(line.nodes)))
        parts.append(piece(line.row.node, f"{name}{cells}{end}", ' role="row" class="k-p-ok" data-say="passes"'))
        y += _PITCH
    if len(lines) > MOST_ROWS:
        parts.append(word(2, y + 15, "k-q", _more(lines)))
        y += _PITCH
    if verdicts.prefilter:
        parts.append(_prefilter(verdicts, y, width))
        y += 38
    else:
        counts = Counter(r.first for r in verdicts.rows)
        centres = [(left + (i + 0.5) * pitch, str(counts.get(i, 0))) for i in range(len(plugins))]
        feet = "".join(word(x, y + 14, "k-w k-mid" + " k-b k-strong" * (n != "0"), n) for x, n in centres)
        parts.append(word(5, y + 14, "k-w", "first to reject") + feet)
        y += _PITCH
    detail, y = _detail(frame, y + 4, width, selection)
    names, y = ("", y) if named else name_legend(plugins, y + 2, width)
    legend, y = _legend(verdicts, y + 4, width)
    return "".join([*parts, detail, names, legend]), y


def _family(plugin: f.PluginHead) -> str:
    return plugin.family if plugin.family in f.FAMILIES else "node"


def _heads(plugins: Sequence[f.PluginHead], left: float, pitch: float, y: float) -> tuple[str, float, bool]:
    """Draw the heads of columns: letters, and the names below them where all of them have room in at most three lines.

    Return the marks, the y at which the rows begin, and whether the names are drawn.
    """
    names = [_name_lines(plugin.name, pitch - 5) for plugin in plugins]
    named = all(0 < len(lines) <= 3 for lines in names)
    rows = max(map(len, names), default=0) if named else 0
    parts = []
    for i, (plugin, lines) in enumerate(zip(plugins, names, strict=True)):
        x = left + (i + 0.5) * pitch - 1
        body = word(x, y + 12, f"k-b k-mid k-t-{_family(plugin)}", plugin.letter)
        body += "".join(word(x, y + 24 + 11 * j, "k-z k-mid", line) for j, line in enumerate(lines) if named)
        parts.append(f'<g role="columnheader" aria-label="{t.escape(plugin.name)}">{body}</g>')
    return "".join(parts), y + 18 + 11 * rows, named


def _name_lines(name: str, room: float) -> list[str]:
    """Break a plugin's name between its words: "NodeResources", "Fit"; empty if one of them is too wide."""
    rows: list[str] = []
    for part in _HUMPS.findall(name):
        if rows and t.width(rows[-1] + part, _HEAD) <= room and not part.startswith("("):
            rows[-1] += part
        else:
            rows.append(part)
    return rows if all(t.width(row, _HEAD) <= room for row in rows) else []


def name_legend(plugins: Sequence[f.PluginHead], top: float, width: float) -> tuple[str, float]:
    """Draw what the letters stand for, in as many lines as it takes; return the marks and their lower edge."""
    y = top
    firsts = [t.width(plugin.letter, 10, bold=True) + 4 for plugin in plugins]
    names = [t.middle(plugin.name, width - first - 4, 10) for plugin, first in zip(plugins, firsts, strict=True)]
    wide = (first + t.width(name, 10) for first, name in zip(firsts, names, strict=True))
    parts, places = [], t.in_lines(wide, 2, width, top, 14, 11)
    for plugin, first, name, (x, y) in zip(plugins, firsts, names, places, strict=True):
        parts.append(word(x, y + 10, f"k-c k-b k-t-{_family(plugin)}", plugin.letter))
        parts.append(word(x + first, y + 10, "k-w", name))
    return "".join(parts), y + 16


def _marked(frame: f.Frame, selection: str) -> set[str]:
    """Return the names of the nodes that a selection concerns."""
    kind, _, name = selection.partition("/")
    if kind == "verdict":
        return {name.split("/")[0]}
    if kind == "zone":
        return {n.name for n in frame.nodes if any(k.endswith("/zone") and v == name for k, v in n.topology)}
    if kind == "domain":
        return {n.name for n in frame.nodes if any(f"{k}/{v}" == name for k, v in n.topology)}
    return {name} if kind == "node" else set()


def _row_name(node: str, count: int, y: float, left: float, *, on: bool) -> str:
    """Draw the head of a row: a node, or the number of nodes that are like it."""
    bar = rect(0, y, 3, _CELL_H, "k-s-accent") if on else ""
    colour = " k-t-accent" if on else ""
    if count == 1:
        content = word(5, y + 15, f"k-n{colour}", t.middle(node, left - 12, 12, bold=True))
    else:
        many = f"{count} nodes"
        start = t.width(many, 12, bold=True) + 10
        content = word(5, y + 15, f"k-n{colour}", many)
        room = left - start - 6
        example = f"e.g. {node}" if t.width(f"e.g. {node}", 10) <= room else node
        content += word(start, y + 15, "k-w", t.middle(example, room, 10)) if room > 34 else ""
    label = f"node {node}" if count == 1 else f"{count} nodes, for example {node}"
    return pick(bar + content, f"node/{node}", "", label, role="rowheader")


def _cells(frame: f.Frame, row: f.VerdictRow, left: float, y: float, pitch: float, selection: str) -> str:
    """Draw a row's cells: grounds that can be selected, then the glyphs, one text for each run of one ink."""
    inks: list[tuple[str, float, str]] = []
    grounds, rings = [], []
    wide = num(pitch - 2)
    for i, plugin in enumerate(frame.verdicts.plugins):
        code = row.codes[i]
        ground, ink, content = _style(code, plugin, first=i == row.first)
        x, ref = left + i * pitch, f"verdict/{row.node}/{plugin.name}"
        inks.append((ink, x + pitch / 2 - 1, GLYPHS[code]))
        on = ""
        if ref == selection:
            on = ' aria-selected="true"'
            rings.append(rect(x - 1.5, y - 1.5, pitch + 1, _CELL_H + 3, "k-ring", 3))
        # cells that pass take ground and name from the row; the key makes the host replace the others
        more = f' class="{ground}" data-key="{t.escape(plugin.letter)}{code}" aria-label="{t.escape(content)}"'
        place = f"M{num(x)} {num(y)}h{wide}v{num(_CELL_H)}h-{wide}z"
        grounds.append(f'<path d="{place}" data-ref="{t.escape(ref)}" role="gridcell"{more if ground else ""}{on}/>')
    glyphs = ""
    for ink, same in groupby(inks, key=lambda item: item[0]):
        at = list(same)
        places = " ".join(num(x) for _, x, _ in at)
        glyphs += f'<text x="{places}" y="{num(y + 15)}" class="k-g {ink}">{"".join(g for _, _, g in at)}</text>'
    return "".join(grounds) + glyphs + "".join(rings)


def _style(code: str, plugin: f.PluginHead, *, first: bool) -> tuple[str, str, str]:
    """Return a cell's ground, ink and name; the row's class gives the ground of cells that pass."""
    family = _family(plugin)
    if code == f.PASS:
        return "", "k-t-ok", GLYPHS[code]
    if first:
        return f"k-s-{family}", "k-on", f"{plugin.name} {WORDS[code]}"
    if code in _REJECTING:
        return f"k-also k-l-{family}", f"k-t-{family}", f"{plugin.name} {_ALSO}"
    return "k-p-none", "k-q", GLYPHS[code]


def _short_outcome(frame: f.Frame, line: _Line) -> tuple[str, tuple[str, ...], str]:
    """Return glyph, words from long to short, and ink of what became of a row."""
    verdicts, row = frame.verdicts, line.row
    if f.NOT_ASKED in row.codes:
        return "·", ("not asked",), "k-q"
    node = next((n for n in frame.nodes if n.name == row.node), None)
    if row.first < 0:
        score = f", score {node.score}" if node and node.score >= 0 and len(line.nodes) == 1 else ""
        word_ = "chosen" if row.chosen else "fits"
        return ("★" if row.chosen else "✓"), (word_ + score, word_), "k-t-ok"
    plugin = verdicts.plugins[row.first]
    # the legend shows both names of a renamed plugin, here there is room for one
    names: tuple[str, ...] = (plugin.name.partition(" (")[0],)
    if node and node.reason and len(line.nodes) == 1:
        names = (node.reason.replace("node(s) were ", "").replace("node(s) ", ""), *names)
    return GLYPHS[row.codes[row.first]], names, f"k-t-{_family(plugin)}"


def _outcome(frame: f.Frame, line: _Line, x: float, y: float, room: float) -> str:
    glyph, names, ink = _short_outcome(frame, line)
    fitting = next((name for name in names if t.width(name, 12, bold=True) <= room - 15), names[-1])
    short = t.end(fitting, room - 15, 12, bold=True)
    content = word(x, y + 15, f"k-n {ink}", glyph) + word(x + 15, y + 15, f"k-n {ink}", short)
    return f'<g role="gridcell" aria-label="{t.escape(_outcome_words(frame, line.row))}">{content}</g>'


def _prefilter(verdicts: f.Verdicts, y: float, width: int) -> str:
    back = rect(0, y + 4, width, 26, "k-p-none", 3) + rect(0, y + 4, 4, 26, "k-s-ink")
    glyph = word(14, y + 21, "k-n", "⊘")
    first = verdicts.prefilter_plugin
    x = 30 + t.width(first, 12, bold=True)
    rest = t.end(f"rejected the pod before any node: {verdicts.prefilter}", width - x - 16, 12)
    return back + glyph + word(30, y + 21, "k-n", first) + word(x + 4, y + 21, "k-m", rest)


def _selected_cell(frame: f.Frame, selection: str) -> f.CellDetail | None:
    verdicts = frame.verdicts
    kind, _, rest = selection.partition("/")
    node, _, plugin = rest.partition("/")
    cell = verdicts.cell
    # a plugin that the document renamed shows both names, its rule has one
    if cell is not None and (
        kind != "verdict" or (cell.node, cell.plugin.partition(" (")[0]) == (node, plugin.partition(" (")[0])
    ):
        return cell
    index = next((i for i, p in enumerate(verdicts.plugins) if p.name == plugin), -1)
    row = next((r for r in verdicts.rows if r.node == node), None)
    if kind != "verdict" or index < 0 or row is None:
        return None
    return f.CellDetail(node, plugin, row.codes[index])


def cell_lines(cell: f.CellDetail) -> list[str]:
    """Return one cell as lines: the verdict of the plugin on the node, then both sides of the comparison."""
    content = ", ".join(cell.reasons) or CELL_WORDS[cell.code]
    return [f"{GLYPHS[cell.code]} {cell.plugin} on {cell.node}: {content}", *(f"  {line}" for line in cell.evidence)]


def _detail(frame: f.Frame, y: float, width: int, selection: str) -> tuple[str, float]:
    cell = _selected_cell(frame, selection)
    if cell is None:
        return "", y
    content = ", ".join(cell.reasons) or CELL_WORDS[cell.code]
    room = width - 36
    evidence = [line for e in cell.evidence for line in t.wrap(e, room, 11, 3)]
    node = t.middle(cell.node, room / 3, 13, bold=True)
    start = 34 + t.width(cell.plugin, 13, bold=True) + 24 + t.width(node, 13, bold=True)
    inline = t.wrap(content, width - start - 22, 13, 1) if t.width(content, 13) <= width - start - 22 else ()
    body = [] if inline else list(t.wrap(content, room, 12, 3))
    high = 26 + 17 * (len(body) + len(evidence)) + 8
    parts = [rect(0, y, width, high, "k-p-none", 4), rect(0, y, 4, high, "k-s-accent")]
    parts.append(word(16, y + 21, "k-cap k-b", GLYPHS[cell.code]))
    tail = f"</tspan>: {t.escape(inline[0])}" if inline else "</tspan>:"
    parts.append(
        f'<text x="32" y="{num(y + 21)}" class="k-cap"><tspan class="k-b">{t.escape(cell.plugin)}</tspan> on '
        f'<tspan class="k-b">{t.escape(node)}{tail}</text>'
    )
    line = y + 21
    for kind, rows in (("k-m", body), ("k-q", evidence)):
        for row in rows:
            line += 17
            parts.append(word(16, line, kind, row))
    return "".join(parts), y + high + 6


def _glyph_meanings(verdicts: f.Verdicts) -> list[tuple[str, str, str, str]]:
    """Return ground, ink, glyph and words of each glyph that occurs."""
    patterns = {(row.codes, row.first) for row in verdicts.rows}
    seen = set("".join(codes for codes, _ in patterns))
    first = {codes[index] for codes, index in patterns if index >= 0}
    later = any(code in _REJECTING for codes, index in patterns for i, code in enumerate(codes) if i != index)
    entries = [("k-p-ok", "k-t-ok", "✓", WORDS[f.PASS])] * (f.PASS in seen)
    entries += [("k-p-none", "k-q", "–", WORDS[f.NOTHING])] * (f.NOTHING in seen)
    entries += [("k-s-resources", "k-on", "✕", WORDS[f.REJECT])] * (f.REJECT in first)
    entries += [("k-s-storage", "k-on", "⊘", WORDS[f.UNRESOLVABLE])] * (f.UNRESOLVABLE in first)
    entries += [("k-also k-l-storage", "k-t-storage", "✕", _ALSO)] * later
    entries += [("k-s-node", "k-on", "!", WORDS[f.ERROR])] * (f.ERROR in seen)
    entries += [("k-p-none", "k-q", "·", WORDS[f.NOT_ASKED])] * (f.NOT_ASKED in seen)
    return entries


def _legend(verdicts: f.Verdicts, top: float, width: int) -> tuple[str, float]:
    """Draw what the glyphs mean, of those that occur."""
    y, parts, meanings = top, list[str](), _glyph_meanings(verdicts)
    places = t.in_lines((20 + t.width(words, 10) for *_, words in meanings), 2, width, top, 18, 13)
    for (ground, ink, glyph, content), (x, y) in zip(meanings, places, strict=True):
        parts.append(rect(x + 0.5, y + 0.5, 15, 13, ground, 2) + word(x + 8, y + 10.5, f"k-g k-c {ink}", glyph))
        parts.append(word(x + 20, y + 10.5, "k-w", content))
    return "".join(parts), y + 18
