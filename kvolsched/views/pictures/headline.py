"""The headline: the step, its actor and its sentence, then who may act next.

The engine makes the sentence; this module sets it as HTML for the panel, as SVG for a saved picture and as a line of
text, which nbval compares.
"""

from kvolsched.views.drawing import text
from kvolsched.views.drawing.svg import num, picture, rect, word
from kvolsched.views.frame import Frame, NextActor

START = "This is the start. Press Step."
IDLE = "nobody: the cluster is idle"
NEXT, WIDEST_NAME = "May act next", 160
KEYS = (
    "Keys, with the focus in the panel: → or . step, ← or , back, Home to the start, r run, p play and pause, "
    "1-9 let that actor act, Esc leave a form, then select nothing. Inside a view: arrows go to the nearest "
    "object, Enter selects it."
)
SOURCES = {
    "upstream": "Kubernetes v1.36",
    "design": "the design documents, where they are silent Kubernetes 1.11 to 1.16",
    "draft": "the early draft of the design",
}


def draw(frame: Frame, width: float, selection: str = "") -> str:
    """Draw the sentence as HTML, with the number of its step and its actor."""
    head = frame.head
    who = f'<span class="k-who">{text.escape(head.actor)}</span>' if head.actor else ""
    sentence = text.escape(head.sentence or START)
    return f'<p class="k-say"><span class="k-step-no">{head.step}</span>{who}<b>{sentence}</b></p>'


def draw_svg(frame: Frame, width: float) -> tuple[str, float]:
    """Draw the sentence as marks of an SVG; return them and their height, px."""
    head = frame.head
    number = str(head.step)
    pill = text.width(number, 13) + 14
    body = rect(0, 4, pill, 20, "k-s-accent", 10) + word(pill / 2, 18.5, "k-b k-on k-mid k-say-s", number)
    x = pill + 10
    if head.actor:
        who = text.end(head.actor, width * 0.3, 12)
        body += word(x, 18.5, "k-q k-who-s", who)
        x += text.width(who, 12) + 10
    rows = text.wrap(head.sentence or START, width - x, 14, 3, bold=True)
    for i, row in enumerate(rows):
        body += word(x, 18.5 + i * 19, "k-b k-say-s", row)
    return body, 11 + 19.0 * len(rows)


def reading(frame: Frame) -> str:
    """Return place, branch, rules, actor and sentence as one line."""
    head = frame.head
    by = f", by {head.actor}" if head.actor else ""
    return (
        f"step {head.step} of {head.steps_known}, t={head.time:.4g} s, branch {head.branch}, "
        f"rules {head.revision}{by}: {head.sentence or START}"
    )


def next_reading(frame: Frame) -> str:
    """Return as lines who may act next, the default first, and about what, or what that would do if it is told."""
    if not frame.next:
        return f"next  {IDLE}"
    lines = [f"{row.label}: {row.wait}{row.words}{' (nothing would change)' * row.changes_nothing}" if row.words
             else f"{row.label} · {row.about}" for row in frame.next]  # fmt: skip
    return "\n".join(f"{'next' if i == 1 else '':4}  {i}  {line}" for i, line in enumerate(lines, 1))


def chip_words(row: NextActor) -> str:
    """Return about what an actor acts, for its chip; if it is told, what it does, without the subject of the label."""
    if not row.words:
        return f"· {row.about}"
    words = row.words.partition(". ")[0].removesuffix(".")
    for subject in (row.label, row.label.partition(" · ")[0], row.label.rpartition(" ")[0]):
        if words.lower().startswith(subject.lower() + " "):
            words = words[len(subject) + 1 :]
            break
    return row.wait + words


def chips_that_fit(rows: tuple[NextActor, ...], width: float, label: str) -> int:
    """Return how many chips have room in two lines of a panel, with a button for the others; at least one."""
    room, x, line = width - 16, 90.0 + text.width(label, 12) - text.width(NEXT, 12), 1  # behind the label
    for count, row in enumerate(rows):
        words = text.width(row.label, 12, bold=True) + text.width(chip_words(row), 12)
        wide = min(room, words + 48)
        last = count == len(rows) - 1
        if x + wide + (0 if last or line < 2 else 80) > room:
            x, line = 0.0, line + 1
        if line > 2:
            return max(1, count)
        x += wide + 6
    return len(rows)


def next_label(frame: Frame) -> str:
    """Return what stands before the chips: of a pair, with the name of the one whose actors they are."""
    whose = frame.head.of_pair
    return f"{NEXT} in {text.end(whose[2], WIDEST_NAME, 12)}" if whose else NEXT


def place_html(frame: Frame) -> str:
    """Return step, last known step and clock as HTML for the toolbar; of a pair, with whose they are."""
    head = frame.head
    names = [f" {text.escape(text.end(each, WIDEST_NAME, 12))}" for each in head.of_pair]
    steps, clock, _ = names or ("", "", "")
    return (
        f'<span class="k-place"><b>{head.step}</b> / {head.steps_known}{steps}</span>'
        f'<span class="k-clock">t = {text.escape(f"{head.time:.4g}")} s{clock}</span>'
    )


def badge_html(frame: Frame) -> str:
    """Return branch and revision, with its sources, as HTML for the toolbar."""
    head = frame.head
    source = text.escape(SOURCES.get(head.revision, ""))
    return (
        f'<span class="k-branch">branch <b>{text.escape(head.branch)}</b></span>'
        f'<span class="k-badge" title="{source}">rules <b>{text.escape(head.revision)}</b></span>'
        f'<span class="k-badge" role="note" title="{KEYS}" aria-label="{KEYS}">?</span>'
    )


def stacked(parts: list[tuple[str, float]], width: float, label: str) -> str:
    """Stack marks with their heights in one SVG."""
    body, y = "", 10.0
    for marks, height in parts:
        body += f'<g transform="translate(10,{num(y)})">{marks}</g>'
        y += height + 10
    return picture(width + 20, y, body, label, "img")
