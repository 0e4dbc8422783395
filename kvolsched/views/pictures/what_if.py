"""The pictures of the what-if panel: the answer in a sentence, and under each control a strip of what its values give.

A cell is a run to its end; a value that has not been run is drawn as such, nothing is interpolated. The black line is
where "all pods run" changes.
"""

from itertools import pairwise

from attrs import frozen

from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.html import Html, page
from kvolsched.views.drawing.svg import height, num, path, pick, picture, placed, rect, rule, word

NARROW = 760
"""Under this width words stand below a strip, px."""
CONTROL = 30.0
"""Height of a control above its strip, px."""
_WORDS, _CELL, _TOP, _BAR = 176.0, 150.0, 9.0, 44.0  # room for words, widest cell, room above cells, height of cells


@frozen
class ValueCell:
    """One value of a field, while the other fields keep theirs."""

    value: str  # As a manifest writes it
    running: int = 0  # Pods that run at the end
    pods: int = 0  # Pods in all
    is_known: bool = False  # Whether it has been run
    refused: str = ""  # Why the API server refused it, in its words
    unfinished: str = ""  # Why its run stopped before its end
    others: tuple[int, int] = (0, 0)  # Of pods that are not counted: how many run, how many there are

    @property
    def all_run(self) -> bool:
        """Whether every pod that is counted runs."""
        return self.is_known and not self.refused and self.running == self.pods


@frozen
class FieldStrip:
    """One field, and a cell for each of its values."""

    label: str  # Its short name: "maxSkew"
    path: str  # "deploy/web:spec.template.spec.topologySpreadConstraints[0].maxSkew"
    cells: tuple[ValueCell, ...]
    present: int  # Number of the cell that is shown
    is_ordered: bool  # Whether the values are numbers in order


@frozen
class WhatIfRows:
    """What came of all values that were tried."""

    fields: tuple[FieldStrip, ...]
    step: int = 0  # Where every run begins
    revision: str = ""
    seed: int = 0
    workload: str = ""  # Whose pods are counted, if not all: "deploy/web"

    @property
    def shown(self) -> ValueCell:
        """What came of the values that are shown."""
        return self.fields[0].cells[self.fields[0].present]


@frozen
class StripLayout:
    """Where the parts of a control and its strip stand, px."""

    width: float
    label: float  # Room for the name
    strip: float  # Room for the cells
    words: float  # Room for the words beside; 0: below

    def cell(self, count: int) -> float:
        """Return the width of one of `count` cells."""
        return min(_CELL, self.strip / count)


def layout(rows: WhatIfRows, width: float) -> StripLayout:
    """Return where everything stands in a panel of this width."""
    widest = max(t.width(field.label, 12.5, bold=True) for field in rows.fields)
    label = min(widest + 16, (0.24 if width >= NARROW else 0.36) * width)
    words = _WORDS if width >= NARROW else 0.0
    room = width - label - (words + 16 if words else 0)
    return StripLayout(width, label, min(room, _CELL * max(len(field.cells) for field in rows.fields)), words)


def sentence(rows: WhatIfRows, *, alone: bool = False) -> str:
    """Return what came of the values that are shown, and which other values let all pods run.

    Args:
        alone: without other values: what is known of them depends on what was run before.
    """
    shown = rows.shown
    waiting = shown.pods - shown.running
    if shown.refused:
        words = f"The API server refuses {' with '.join(_chosen(rows))}. {shown.refused.rstrip('.')}."
    elif not shown.is_known:
        return "Not run yet."
    elif not shown.pods:
        return f"There is no pod{f' of {rows.workload}' if rows.workload and shown.others[1] else ''}."
    else:
        waits = f", {waiting} wait{'s' * (waiting == 1)}" if waiting else ""
        words = f"{_run(shown, rows.workload)}{waits}."
        words = words[0].upper() + words[1:] + ("" if alone else _others(rows))
    if shown.unfinished:
        words += f" The run was stopped: {shown.unfinished}."
    found = [f"{field.label} {value}" for field in rows.fields if (value := _nearest_good(field))]
    return words if alone or not found or shown.all_run else f"{words} With {', or '.join(found)}, all would run."


def glyph(rows: WhatIfRows) -> str:
    """Return the sign of what came of the values that are shown."""
    shown = rows.shown
    return "✕" if shown.refused else "✓" if shown.all_run else "○"


def title(rows: WhatIfRows) -> str:
    """Return the question: the values that are shown."""
    return f"What if {', '.join(_chosen(rows))}?"


def note(rows: WhatIfRows) -> str:
    """Return what a cell is."""
    return f"every cell is a run to its end, from step {rows.step}, rules {rows.revision}, seed {rows.seed}"


def _chosen(rows: WhatIfRows) -> list[str]:
    return [f"{field.label} {field.cells[field.present].value}" for field in rows.fields]


def _run(cell: ValueCell, workload: str = "") -> str:
    pods = f"pod{'s' * (cell.pods != 1)}"
    if workload and cell.others[1]:
        pods += f" of {workload}"
    if cell.all_run and cell.pods > 1:
        return f"all {cell.pods} {pods} run"
    return f"{cell.running} of {cell.pods} {pods} run{'s' * (1 in (cell.running, cell.pods))}"


def _others(rows: WhatIfRows) -> str:
    """Return what becomes of the pods that are not counted, where that is not the same with every known value."""
    found = {cell.others for field in rows.fields for cell in field.cells if cell.is_known and not cell.refused}
    running, pods = rows.shown.others
    return f" Of the other pods {running} of {pods} run; that changes with these values." if len(found) > 1 else ""


def _nearest_good(field: FieldStrip) -> str:
    """Return the nearest other value that lets all pods run, or ""."""
    numbers = [number for number, cell in enumerate(field.cells) if cell.all_run and number != field.present]
    near = min(numbers, key=lambda number: (abs(number - field.present), number), default=None)
    return "" if near is None else field.cells[near].value


def reading(rows: WhatIfRows) -> str:
    """Return every strip as a line: `maxSkew  1: 2 of 9  [2: 4 of 9]  3: 6  4: 8  5: 9 ✓  threshold 4|5`."""
    return "\n".join(_line(field) for field in rows.fields)


def _line(field: FieldStrip) -> str:
    parts, pods = [field.label], -1
    for number, cell in enumerate(field.cells):
        present = number == field.present
        counted = f"{cell.running} of {cell.pods}" if present or cell.pods != pods else str(cell.running)
        words = "refused" if cell.refused else f"{counted}{' ✓' * cell.all_run}" if cell.is_known else "?"
        pods = cell.pods if cell.is_known and not cell.refused else pods
        parts.append(f"[{cell.value}: {words}]" if present else f"{cell.value}: {words}")
    few, more = conclusion(field, bar="|")
    return "  ".join([*parts, f"{few}, {more}" if "refused" in more else few])


def conclusion(field: FieldStrip, bar: str = " | ") -> tuple[str, str]:
    """Return what a strip shows: in a few words, and in some more."""
    missing = sum(not cell.is_known for cell in field.cells)
    tried = [cell for cell in field.cells if not cell.refused]
    good = [cell for cell in tried if cell.all_run]
    refused = len(field.cells) - len(tried)
    more = f"{refused} value{'s are' if refused > 1 else ' is'} refused" if refused else ""
    if missing:
        return (f"{missing} not run yet", "")
    if not tried:
        return ("every value is refused", "")
    if not good:
        return ("no value lets all run", more)
    if len(good) == len(tried):
        some = f"only {good[0].value} lets all run" if len(good) == 1 else "all run with every other value"
        return (some if refused else "all run with every value", more)
    if not field.is_ordered:
        return (f"{', '.join(cell.value for cell in good)} let{'s' * (len(good) == 1)} all run", more)
    flips = [(field.cells[a], field.cells[b]) for a, b in _flips(field)]
    shown = ", ".join(f"{a.value}{bar}{b.value}" for a, b in flips[:3])
    if len(flips) > 1:
        return (f"thresholds {shown}", more)
    _, above = flips[0]
    side = f"from {above.value} on {'all' if above.all_run else 'not all'} run"
    return (f"threshold {shown}", f"{side}, {more}" if more else side)


def _flips(field: FieldStrip) -> list[tuple[int, int]]:
    """Return the numbers of cells between which "all run" changes; refused ones between them count for nothing."""
    tried = [number for number, cell in enumerate(field.cells) if not cell.refused]
    cells = field.cells
    return [(a, b) for a, b in pairwise(tried)
            if cells[a].is_known and cells[b].is_known and cells[a].all_run != cells[b].all_run]  # fmt: skip


def heading(rows: WhatIfRows, width: float) -> str:
    """Draw the question, what a cell is, and the answer."""
    aside = t.width(note(rows), 10.5)
    beside = aside + t.width(title(rows), 15, bold=True) + 30 < width
    parts, y = [], 16.0
    for line in t.wrap(title(rows), width if not beside else width - aside - 20, 15, 2, bold=True):
        parts.append(f'<text x="0" y="{num(y)}" class="k-b k-ask">{t.escape(line)}</text>')
        y += 20
    if beside:
        parts.append(word(width, 16, "k-z k-end", note(rows)))
    else:
        lines = t.wrap(note(rows), width, 10, 2)
        parts += [word(0, y + 12 * number, "k-z", line) for number, line in enumerate(lines)]
        y += 12 * len(lines)
    parts.append(rule(0, y - 4, width))
    said = sentence(rows)
    y += 16
    lines = t.wrap(said, width - 20, 13, 4)
    for number, line in enumerate(lines):
        parts.append(f'<text x="20" y="{num(y + 18 * number)}" class="k-answer">{t.escape(line)}</text>')
    parts.append(word(7, y, f"k-h k-mid k-t-{_role(rows.shown)}", glyph(rows)))
    return picture(width, y + 18 * len(lines) - 6, "".join(parts), f"{title(rows)} {said}", "img")


def _role(cell: ValueCell) -> str:
    return "storage" if cell.refused else "ok" if cell.all_run else "spread"


def strip_height(place: StripLayout) -> float:
    """Return the height of a strip."""
    return _TOP + _BAR + 22 + (0 if place.words else 18)


def strip(field: FieldStrip, number: int, place: StripLayout) -> str:
    """Draw the cells of one field, with what they show in words."""
    high = strip_height(place)
    return picture(place.width, high, _strip(field, number, place), f"{field.label}: {_line(field)}")


def _strip(field: FieldStrip, number: int, place: StripLayout) -> str:
    wide = place.cell(len(field.cells))
    parts = [
        pick(_cell(cell, place.label + wide * i, wide, present=i == field.present), f"value/{number}/{i}", "",
             cell_words(field, cell), pressed=i == field.present)
        for i, cell in enumerate(field.cells)
    ]  # fmt: skip
    for _, above in _flips(field):
        x = place.label + wide * above
        parts.append(path(f"M{num(x)} 1V{num(_TOP + _BAR + 8)}", "k-l-ink k-flip"))
    few, more = conclusion(field)
    if place.words:
        x = place.label + place.strip + 16
        lines = t.wrap(few, place.words, 11, 2, bold=True)
        parts += [word(x, _TOP + 16 + 14 * i, "k-b", line) for i, line in enumerate(lines)]
        parts += [word(x, _TOP + 16 + 14 * (len(lines) + i), "k-q", line)
                  for i, line in enumerate(t.wrap(more, place.words, 11, 2))]  # fmt: skip
    else:
        both = t.end(f"{few}{': ' * bool(more)}{more}", place.strip, 11)
        parts.append(word(place.label + 2, _TOP + _BAR + 34, "k-q", both))
    return "".join(parts)


def cell_words(field: FieldStrip, cell: ValueCell) -> str:
    """Return a cell in words, for a tooltip and a screen reader."""
    if not cell.is_known:
        return f"{field.label} {cell.value}: not run yet"
    if cell.refused:
        return f"{field.label} {cell.value}: refused. {cell.refused}"
    more = f"; of the other pods {cell.others[0]} of {cell.others[1]}" if cell.others[1] else ""
    more += f"; {cell.unfinished}" if cell.unfinished else ""
    return f"{field.label} {cell.value}: {_run(cell)}{more}"


def _cell(cell: ValueCell, x: float, wide: float, *, present: bool) -> str:
    gap = 2.0 if wide > 12 else 1.0
    x, wide = x + gap, wide - 2 * gap
    bottom = _TOP + _BAR
    middle = x + wide / 2
    classes = "k-void" if not cell.is_known else "k-barred" if cell.refused else "k-p-none"
    parts = [rect(x, _TOP, wide, _BAR, classes, 2)]
    text_y = _TOP + _BAR / 2 + 4
    if cell.is_known and not cell.refused:
        role = "ok" if cell.all_run else "spread"
        high = _BAR if cell.pods == 0 else _BAR * cell.running / cell.pods
        if high:
            parts.append(rect(x, bottom - high, wide, high, f"k-p-{role} k-l-{role}", 2))
        parts.append(path(f"M{num(x)} {num(_TOP)}h{num(wide)}", "k-l-soft k-goal"))
        text_y = bottom - high / 2 + 4 if high >= 18 else bottom - high - 5
    classes = f"k-b k-mid k-t-{_role(cell)}" if cell.is_known else "k-z k-mid"
    sign, words = _words_in(cell, wide)
    words_wide = t.width(words, 11, bold=True)
    if sign and words:
        parts.append(word(middle - words_wide / 2 - 2, text_y, classes, sign))
        parts.append(word(middle + 8, text_y, classes, words))
    else:
        parts.append(word(middle, text_y, classes, sign or words))
    if present:
        parts.append(rect(x - 1.5, _TOP - 1.5, wide + 3, _BAR + 3, "k-ring", 3))
    label = t.middle(cell.value, max(wide + 2 * gap, 14), 11, bold=present)
    parts.append(word(middle, bottom + 18, "k-b k-mid k-here" if present else "k-q k-mid", label))
    return "".join(parts)


def _words_in(cell: ValueCell, room: float) -> tuple[str, str]:
    """Return the sign and the longest words that fit into a cell; a sign is a text of its own."""
    sign = "✕" if cell.refused else "✓" if cell.all_run else ""
    if not cell.is_known:
        choices = ["not run yet"]
    elif cell.refused:
        choices = ["refused"]
    else:
        choices = [f"{cell.running} of {cell.pods}", str(cell.running)]
    left = room - 4 - (16 if sign else 0)
    return sign, next((each for each in choices if t.width(each, 11, bold=True) <= left), "")


def draw(rows: WhatIfRows, width: int, inner: str) -> str:
    """Draw the whole panel without controls: heading, the picture of the cluster or its words, and all strips."""
    head, place, parts, y = heading(rows, width), layout(rows, width), [], 0.0
    for number, field in enumerate(rows.fields):
        parts.append(placed(_track(field, place), y))
        y += CONTROL
        parts.append(placed(strip(field, number, place), y))
        y += strip_height(place) + 10
    strips = picture(width, y, "".join(parts), title(rows))
    if isinstance(inner, Html):
        return page(Html(head), inner, Html(strips))
    second = height(head) + 10
    third = second + height(inner) + 14
    whole = placed(head) + placed(inner, second) + placed(strips, third)
    return picture(width, third + y, whole, title(rows))


def _track(field: FieldStrip, place: StripLayout) -> str:
    """Draw a control as it stands: its name, its track with the thumb, its value."""
    wide, count = place.cell(len(field.cells)), len(field.cells)
    y, left = CONTROL / 2, place.label + wide / 2
    thumb = left + wide * field.present
    label = t.middle(field.label, place.label - 10, 12.5, bold=True)
    parts = [
        word(0, y + 4, "k-h", label),
        rect(left, y - 2, wide * (count - 1), 4, "k-rail", 2),
        rect(left, y - 2, thumb - left, 4, "k-accent", 2),
        rect(thumb - 8, y - 8, 16, 16, "k-accent", 8),
    ]
    if place.words:
        parts.append(word(place.label + place.strip + 16, y + 4, "k-h", field.cells[field.present].value))
    return f'<g class="k-track">{"".join(parts)}</g>'
