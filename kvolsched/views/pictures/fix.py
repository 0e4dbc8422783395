"""Fixes as cards, what restores or corrects first, each tried on a fork.

Every card opens and closes without a kernel, the first one is open. Closed it says what to do and who decides, which
verdicts change, the node, what is touched and who waits then; open also how to do it, what to mind, the fork beside
the cluster without the fix, and the diff, which can be copied.
"""

from kvolsched.api.words import counted
from kvolsched.views.drawing.html import Html, block, code, joined, page, row, table, tag, tile, words
from kvolsched.views.fix_rows import COLUMNS, Beside, FixCard, FixOutcome, FixPage, FixTrial, LiftedRow, PlaceRow

SHORT_DIFF = 8
"""Changed lines of a diff that is not folded."""
MAX_CHIPS = 4


def draw(rows: FixPage, width: int, selection: str = "") -> str:
    """Return the cards under each other, the first one open."""
    tried = FixOutcome("✕", "storage", "", "Tried, does not help:", rows.refuted)
    return page(
        *_title(rows.title, rows.corner), *(tag("li", "", each) for each in rows.unmet if not rows.cards),
        *(card_html(card, opened=place == 0) for place, card in enumerate(rows.cards)),
        _said_so(tried) if rows.refuted else "",
    )  # fmt: skip


def _title(title: str, corner: str) -> tuple[Html, Html]:
    return tag("h3", "k-title", title), words(corner, "k-q")


def draw_trial(trial: FixTrial, width: int, selection: str = "") -> str:
    """Return one fix that was tried: the cluster without it, the fork beside, and who waits then."""
    return page(*_title(trial.title, trial.corner), _beside(trial.beside), _said_so(trial.outcome))


def card_html(card: FixCard, *, opened: bool = False) -> Html:
    """Return one card: its closed part, and what opens below it."""
    unfolded = {"open": "open"}
    diff: str = ""
    if card.diff:
        head = tag("summary", "", tag("b", "k-t-accent", "YAML diff"), words(f" · {card.files}", "k-q"))
        diff = tag("details", "", head, code(card.diff), **unfolded if is_short(card) else {})
    fork = tag("code", "k-code", f"{card.code}.fork.lab()") if card.can_be_tried else ""
    notes = (_said_so(FixOutcome("△", "resources", "", "Mind:", note)) for note in card.notes)
    told = block("k-told", _how(card), _sides(card), _beside(card.beside), _said_so(card.outcome), *notes)
    body = block("k-flow", told, block("k-told", diff, fork))
    return tag("details", "k-card", tag("summary", "", _head(card)), body, **unfolded if opened else {})


def _head(card: FixCard) -> Html:
    """Return the closed part of a card, with the switch that opens it."""
    ask, done = ("Try it", "✓ tried") if card.can_be_tried else ("Open", "✓ open")
    says = joined(tag("b", f"k-t-{card.outcome.role}", f"{card.outcome.glyph} {card.outcome.short}"),
                  block("k-w", card.others))
    return block(
        "k-flow", tag("b", "k-soft", str(card.number)),
        block("k-told", tag("b", "", card.words), block("k-q", card.decides)),
        _named("what changes", joined(*_verdicts(card))),
        _named("then it fits", tag("b", "k-t-ok", f"→ {card.node}") if card.node else Html()),
        _named("what it touches", words(", ".join(touched_words(card)))),
        _named("who waits then", says),
        tag("b", "k-closed k-t-accent", ask), tag("b", "k-opened k-t-accent", done),
    )  # fmt: skip


def _named(name: str, content: Html) -> Html:
    return tag("div", "k-fact", block("k-w", name), content) if content else tag("div", "k-fact")


def _verdicts(card: FixCard) -> list[Html]:
    """Return, for each plugin, its letter and how its verdict changes."""
    if not card.lifted:
        return [tag("b", "k-t-ok", "✓ "), words("new node" if card.is_new else "fits")] if card.node else []
    rows = card.lifted if len(card.lifted) <= MAX_CHIPS else card.lifted[: MAX_CHIPS - 1]
    more = [words(f"+{len(card.lifted) - len(rows)}", "k-q")] if len(rows) < len(card.lifted) else []
    return [tag("div", "", chip(each), words(f" {each.glyph} ", f"k-t-{each.family}"), words("→ ", "k-soft"),
                words("✓", "k-t-ok")) for each in rows] + more  # fmt: skip


def chip(lifted: LiftedRow) -> Html:
    """Return the letter of a plugin on the pale ground of its family."""
    return tile(lifted.letter, lifted.family)


def touched_words(card: FixCard) -> list[str]:
    """Return what a card touches, a line for each column, and whether a container stops."""
    lines = []
    for name in COLUMNS:
        found = [touched for touched in card.touched if touched.column == name]
        if found:
            several = f"{len(found)} {name}{'es' if name.endswith('s') else 's'}"
            lines.append(f"{name if len(found) == 1 else several} {found[0].how}")
    asks = {"yes": "pods restart", "no": ""}.get(card.restart, f"restart? {card.restart}")
    return [*lines, *([asks] if asks else [])]


def _how(card: FixCard) -> Html:
    """Return what to do as a command, and what else is to know, each beside its name; lost data in bold."""
    styles = {"do": "k-code k-strong", "undo": "k-code", "data": "k-b k-t-storage"}
    lines = [row((name, joined(*(block(styles.get(name, ""), line) for line in value.splitlines()))),
                 ("k-short k-q", "k-wide")) for name, value in card.said]
    return table(lines, classes="k-plain") if lines else Html()


def _sides(card: FixCard) -> Html:
    """Return each rejection in the colour of its plugin, and beside them the verdict that follows."""
    where = f" on {card.where}" if card.where else " before any node is looked at"
    captions = {0: f"{card.node} is new: there is no verdict on it yet" if card.is_new else "",
                1: f"the one verdict that changes{where}"}  # fmt: skip
    caption = captions.get(len(card.lifted), f"{len(card.lifted)} verdicts change{where}")
    if not card.lifted:
        return block("k-q", caption)
    before = (tag("div", f"k-side k-s-{each.family} k-on", tag("b", "", f"{each.glyph} {each.plugin} rejects it"),
                  block("", each.words)) for each in card.lifted)  # fmt: skip
    after = tag("div", "k-side k-p-ok k-t-ok", tag("b", "", "✓ passes"),
                block("", f"every plugin accepts {card.node.partition(' +')[0]}"))
    return joined(block("k-q", caption), block("k-flow", block("k-told", *before), words("→"), after))


def _beside(both: Beside) -> Html:
    """Return the places that a fix concerns, without the fix and in the fork beside."""
    if not both.within:
        return Html()
    steps = f"in the fork, {counted(both.steps, 'step')} later"
    sides = (tag("div", "k-told", block("k-q", said),
                 block("k-flow", *(_place(each, forked=forked) for each in places)))
             for said, places, forked in (("without the fix", both.without, False), (steps, both.within, True)))
    rest = block("k-q", f"{both.rest}: no difference") if both.rest else ""
    return joined(block("k-flow", *sides), rest)


def _place(place: PlaceRow, *, forked: bool) -> Html:
    """Return a place and its pods: those that the fix concerns as blocks in the colour of a role."""
    tray = place.kind == "tray"
    if place.kind == "new" and not forked:
        return tag("div", "k-place-box k-part", words("not there yet", "k-q"))
    role = ("k-p-storage k-t-storage" if tray else "k-p-ok k-t-ok") if forked else "k-b"
    pods = [block(role if differs else "k-q", f"{'○' if tray else '●'} {name}") for name, differs in place.pods]
    pods += [block("k-q", f"+{place.more} more")] if place.more else []
    return tag("div", f"k-place-box{' k-part' if tray else ''}", tag("b", "", place.title),
               *(pods or [block("k-q", "nobody" if tray else "no pod")]))


def _said_so(said: FixOutcome) -> Html:
    """Return words that begin in bold, after a glyph."""
    return tag("p", "", words(f"{said.glyph} ", f"k-t-{said.role}"), tag("b", "", said.bold), f" {said.text}")


def is_short(card: FixCard) -> bool:
    """Say whether the diff of a card is short enough to be shown unfolded."""
    return sum(line[:1] in "+-" for line in card.diff) <= SHORT_DIFF
