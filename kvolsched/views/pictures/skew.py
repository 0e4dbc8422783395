"""The ledger of skew: how each spread constraint of a pod counts pods, domain by domain, and where the pod may land.

Unit squares are pods; minimum and limit are lines between them, and the sum stands at the right as the rule writes it.
Pods that are not counted are drawn too, apart and with the reason. Whether the pod may land is what all filters say.
"""

from kvolsched.views import frame as f
from kvolsched.views.drawing import text as t
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.pictures import skew_hard, skew_rows, skew_soft
from kvolsched.views.pictures.ledger_parts import CROWD, Legend, flow

NO_CONSTRAINT = "This pod has no spread constraint."


def draw(frame: f.Frame, width: int, selection: str = "") -> Sheet:
    """Draw one ledger for each spread constraint of a pod."""
    sheet, y, legend = Sheet(width, "skew ledger", selection, 24.0), 0.0, Legend()
    if not frame.skew:
        sheet.height = flow(sheet, 0, 10, width, [(frame.no_ledger or NO_CONSTRAINT, False, "soft")], 12)
        return sheet
    for number, ledger in enumerate(frame.skew):
        y = (skew_soft if skew_rows.is_soft(ledger) else skew_hard).draw(sheet, ledger, y + 20 * bool(number), legend)
    for ledger in frame.skew:
        if ledger.together:
            y = flow(sheet, 0, y + 12, width, [(ledger.together, True, "ink")], 12.5)
    sheet.height = legend.draw(sheet, y + 2)
    return sheet


def reading(frame: f.Frame) -> str:
    """Return the ledgers as lines: question and moment, answer, counted, not counted and why, the sum, the verdict."""
    return "\n\n".join("\n".join(_lines(ledger)) for ledger in frame.skew) or frame.no_ledger or NO_CONSTRAINT


def _lines(ledger: f.SkewLedger) -> list[str]:
    lines = [skew_rows.title(ledger) + (f"; {ledger.moment}" if ledger.moment else "")]
    if ledger.answer:
        lines.append(f"{'✓' if ledger.open else '✕'} {ledger.answer} {ledger.sentence}".rstrip())
    if not skew_rows.is_soft(ledger):
        lines.append(", ".join((*skew_rows.minimum_words(ledger), skew_rows.limit_words(ledger))))
    inside, outside = ([row for row in ledger.rows if bool(row.left_out) == out] for out in (False, True))
    alike = [*skew_rows.groups(ledger, inside), *skew_rows.groups(ledger, outside)]
    many = len(inside) > CROWD
    row_of = _soft_cells if skew_rows.is_soft(ledger) else _hard_cells
    lines.append(t.columns([[_name(each, len(ledger.rows), many=many), *row_of(ledger, each)] for each in alike]))
    lines += [f"{first}  {words}" for first, words in ledger.notes]
    return [*lines, *([ledger.together] if ledger.together else [])]


def _name(alike: skew_rows.AlikeRows, domains: int, *, many: bool) -> str:
    if not many or (len(alike.rows) == 1 and alike.first.left_out):
        return alike.first.domain
    names = ", ".join(alike.names[:4]) + (", …" if len(alike.names) > 4 else "")
    return f"{len(alike.rows)} of {domains} domains ({names})"


def _counted(alike: skew_rows.AlikeRows) -> str:
    row = alike.first
    return f"counted {row.counted}{f', not counted {skew_rows.not_counted_words(row)}' if row.not_counted else ''}"


def _hard_cells(ledger: f.SkewLedger, alike: skew_rows.AlikeRows) -> list[str]:
    row = alike.first
    if row.left_out:
        return ["", _counted(alike), "", f"– no domain: {row.left_out}", skew_rows.landing_words(alike)]
    mark = "▼ minimum" if skew_rows.is_minimum(ledger, row) else ""
    sum_ = f"{row.sum} {'✓' if row.fits else '✕'}"
    actual = f"ActualSkew {skew_rows.actual_skew(ledger, row)}"
    return [mark, _counted(alike), actual, sum_, skew_rows.landing_words(alike)]


def _soft_cells(ledger: f.SkewLedger, alike: skew_rows.AlikeRows) -> list[str]:
    row, best = alike.first, alike.first.best
    if best is None:
        why = f"– no domain: {row.left_out}" if row.left_out else ""
        return [_counted(alike), why or "not scored", skew_rows.landing_words(alike)]
    ranked = f"{best.raw} → {best.score} × {best.weight} = {best.points}"
    return [_counted(alike), ranked, f"total {best.total}, {skew_soft.place_words(ledger, best)}"]
