"""Fixes as cards, what restores or corrects first, each tried on a fork.

Every card opens and closes without a kernel, the first one is open. Closed it says what to do and who decides, which
verdicts change, the node, what is touched and who waits then; open also how to do it, what to mind, the fork beside
the cluster without the fix, and the diff, which can be copied.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import frozen

from kvolsched.api.words import counted
from kvolsched.questions.fix import Fix, Fixes, LiftedVerdict, ObjectChange, TriedFix, manifest_diff
from kvolsched.questions.fix.edit import CLASSES, file_name
from kvolsched.views.drawing.html import Html, block, code, joined, page, row, table, tag, tile, words
from kvolsched.views.fill.verdicts import plugin_heads

SHORT_DIFF = 8
"""Changed lines of a diff that is not folded."""
MAX_CHIPS = 4
COLUMNS = ("pod", "claim", "volume", "node", "class", "driver")
"""What an edit may touch; driver: CSINode and CSIStorageCapacity, which drivers report and no user writes."""
EDITED, MADE, GONE, AGAIN = "edited", "new", "gone", "replaced"
"""How an object is touched; replaced: deleted and created with other fields."""
COLUMN_OF = {
    "Pod": "pod", "PersistentVolumeClaim": "claim", "PersistentVolume": "volume", "Node": "node",
    "StorageClass": "class", "CSINode": "driver", "CSIStorageCapacity": "driver", "CSIDriver": "driver",
}  # fmt: skip
TEMPLATE, SCALED = "template", "scaled"  # how a workload is touched: its pods are made anew by it, or are more or fewer
MAX_PLACES = 3  # nodes whose pods are shown
MAX_PODS = 4  # pods of one place, besides those that the fix concerns
GATE_LETTER, GATE_PLUGIN = "G", "SchedulingGates"
TELLS_NOTHING = ("yes", "kept", "nothing", "–", "")  # of what is said of a card: nothing to mind


@frozen
class LiftedRow:
    """A rejection that the fix lifts."""

    letter: str  # Of the plugin
    family: str  # Of the plugin
    plugin: str
    glyph: str  # ✕, ⊘ if removing pods cannot help, ‖ for a gate
    words: str  # Both sides of the comparison, else the reasons


@frozen
class FixOutcome:
    """What happens in the fork: a glyph, the role of its colour, few words; then the bold start and the rest."""

    glyph: str
    role: str
    short: str
    bold: str
    text: str


@frozen
class PlaceRow:
    """Where pods are at the end of a run: a node, or the tray of those that wait."""

    title: str  # The node's name, or "waits"
    pods: tuple[tuple[str, bool], ...]  # Names, each with whether the fix makes a difference to it; those first
    more: int  # How many further pods, on which it has no effect
    kind: str  # "node", "new" or "tray"


@frozen
class Beside:
    """The cluster without the fix, and the fork beside it: the places that the fix concerns."""

    without: tuple[PlaceRow, ...]
    within: tuple[PlaceRow, ...]  # In the same order
    steps: int  # How long the fork has run
    rest: str = ""  # The places that are left out, in words


@frozen
class FixCard:
    """One fix."""

    number: int  # Its place, as in `fixes[0]`
    words: str  # The edits as an imperative
    decides: str  # The class of advice and who decides: `A restores · operator of the cluster`
    said: tuple[tuple[str, str], ...]  # What to do, what restarts, lost data, how long it lasts, the way back
    node: str  # The node that fits then, in few words; `where` names the node whose rejections are lifted, "" for none
    where: str
    is_new: bool  # That node does not exist yet
    lifted: tuple[LiftedRow, ...]
    touched: tuple[tuple[str, str], ...]  # Of each object its column, and how it is touched
    restart: str  # "yes", "no", or who must say: "driver", "machine"
    others: str  # Whom else it concerns, in few words
    outcome: FixOutcome
    notes: tuple[str, ...]
    diff: tuple[str, ...]  # Its lines, without the names of the files
    files: str  # Each file of the diff with its count of lines
    beside: Beside
    code: str  # The same in Python
    can_be_tried: bool  # Else nothing in a cluster shows it: a permission, somebody who must be asked


@frozen
class FixPage:
    """All fixes of a pod; without any, what no edit lifts."""

    title: str  # The answer in one sentence
    corner: str  # How they were tried, by which rules
    cards: tuple[FixCard, ...]
    unmet: tuple[str, ...] = ()  # What no edit lifts; then there are no cards
    refuted: str = ""  # What was tried and does not help


NOT_TRIED = FixOutcome("–", "none", "not tried", "Not tried:", "no object shows it.")


def page_of(answer: Fixes | Fix) -> FixPage:
    """Return the page of an answer, or of one fix of it; every fix on it is tried."""
    if isinstance(answer, Fix):
        said = answer.try_it().headline if answer.can_be_tried else answer.title
        was_tried = "tried on a fork" if answer.can_be_tried else "nothing to try"
        return FixPage(f"{answer.pod}: {said}", was_tried, (card_of(answer, answer.number),))
    title, rules = f"{answer.pod}: {answer.headline}", f"rules {answer.revision}"
    cards = tuple(card_of(fix, fix.number) for fix in answer)
    return FixPage(title, rules, cards, answer.unmet, "; ".join(answer.refuted))


def card_of(fix: Fix, number: int) -> FixCard:
    """Return the card of one fix, which is tried if a fork can show it."""
    tried = fix.try_it() if fix.can_be_tried else None
    node = tried.node if tried is not None else ""
    lifted = fix.lifted_on(node) if node in fix.nodes else fix.lifted if tried is not None else ()
    where = next((verdict.node for verdict in lifted if verdict.node), "")
    first = node if node in fix.nodes else where
    nodes = ([first] if first else []) + [node for node in fix.nodes if node != first]
    shown = (nodes or [""])[0] + (f" +{len(nodes) - 1}" if len(nodes) > 1 else "")
    said = (pair for pair in fix.card.items() if pair[0] not in ("who", "tried") and pair[1] not in TELLS_NOTHING)
    return FixCard(
        number=number, words=fix.words, decides=f"{fix.letter} {CLASSES[fix.letter].words} · {fix.who}",
        said=tuple(said), node="every node" if fix.every else shown, where=where,
        is_new=tried is not None and bool(nodes) and nodes[0] in tried.new_nodes, lifted=tuple(_lifted(lifted)),
        touched=tuple(_touched(fix.changes)), restart=_restart(fix),
        others=", ".join(dict.fromkeys(_concerned(fix.changes))),
        outcome=outcome_of(tried) if tried is not None else NOT_TRIED, notes=fix.notes, diff=tuple(_diff_lines(fix)),
        files=_files(fix), beside=beside_of(tried) if tried is not None else Beside((), (), 0),
        code=f'c.fix("{_shown(fix.pod)}")[{number}]', can_be_tried=tried is not None,
    )  # fmt: skip


def _lifted(verdicts: Iterable[LiftedVerdict]) -> Iterator[LiftedRow]:
    for verdict in verdicts:
        if verdict.plugin == GATE_PLUGIN:
            yield LiftedRow(GATE_LETTER, "node", GATE_PLUGIN, "‖", verdict.reasons[0])
            continue
        head = plugin_heads([verdict.plugin], [verdict.plugin])[0]
        glyph = "✕" if verdict.resolvable else "⊘"
        words = ", ".join(verdict.sides or verdict.reasons)
        yield LiftedRow(head.letter, head.family, verdict.plugin, glyph, words)


def _touched(changes: Iterable[ObjectChange]) -> Iterator[tuple[str, str]]:
    for change in changes:
        how = AGAIN if change.recreate else EDITED
        how = MADE if change.old is None else GONE if change.new is None else how
        if change.key.kind not in COLUMN_OF:
            old, new = change.old.spec, change.new.spec
            how = TEMPLATE if old.template != new.template else SCALED if old.replicas != new.replicas else how
        yield COLUMN_OF.get(change.key.kind, "pod"), how


def _restart(fix: Fix) -> str:
    """Say whether a container that runs must stop: of pods that are deleted or made anew, or of a whole machine."""
    if "larger machine" in fix.kinds:
        return "machine"
    deleted = (change.old for change in fix.changes if change.key.kind == "Pod" and change.old is not None)
    return "yes" if any(pod.spec.node_name for pod in deleted) or fix.restarts not in ("nothing", "–") else "no"


def _concerned(changes: Iterable[ObjectChange]) -> Iterator[str]:
    """Yield whom else an edit concerns: those that a node, a class or a driver's report is there for as well."""
    for change in changes:
        old, new, name = change.old, change.new, change.key.name
        if change.key.kind == "Node" and old is not None and new is not None:
            opens = old.spec != new.spec
            labelled = old.metadata.labels != new.metadata.labels
            among = f"who selects by labels of {name}" if labelled else f"pods of {name}"
            yield f"{name} opens for all" if opens else among
        elif change.key.kind == "CSINode" and old is not None:
            yield f"pods of {name}"
        elif change.key.kind == "StorageClass":
            yield f"claims of class {name}"
        elif change.key.kind == "CSIStorageCapacity":
            yield f"claims of class {(new or old).storage_class_name}"


def outcome_of(tried: TriedFix) -> FixOutcome:
    """Return what the trial showed, in few words and in full."""
    if tried.refused:
        return FixOutcome("✕", "storage", "refused", "The API server refuses it:", tried.refused)
    text = "; ".join(tried.lines)
    after = "In the fork:"
    short = [_shown(name, tried.pod) for name in tried.lack_moves_to]
    waits = [_shown(pod.name, tried.pod) for pod in tried.waits_now]
    gone = [_shown(name, tried.pod) for name in tried.gone]
    if tried.eviction is not None:
        short_words = f"it is evicted after {tried.eviction.seconds:g} s"
        return FixOutcome("✕", "storage", short_words, f"{_shown(tried.pod)} is {tried.eviction.words}.", text)
    if tried.is_not_needed and tried.helps:
        return FixOutcome("✓", "ok", "nobody", after, text)
    if not tried.node:
        return FixOutcome("✕", "storage", "it still waits", "It still waits in the fork:", text)
    if short:
        return FixOutcome("✕", "storage", f"moves the lack to {_few(short)}", "The lack only moves on.", text)
    if waits:
        return FixOutcome("✕", "storage", f"{_few(waits)} wait{'s' if len(waits) == 1 else ''} then", after, text)
    if gone:
        return FixOutcome("△", "resources", f"{_few(gone)} is lost", after, text)
    if tried.placed:
        count = len(tried.placed)
        return FixOutcome("✓", "ok", f"also places {count} pod{'s' if count > 1 else ''}", after, text)
    return FixOutcome("✓", "ok", "nobody", after, text)


def beside_of(tried: TriedFix) -> Beside:
    """Return the tray and the nodes that the fix concerns, without the fix and in the fork."""
    before, after = tried.without_fix, tried.with_fix
    differs = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    nodes = dict.fromkeys(node for name in sorted(differs) for node in (before.get(name), after.get(name)) if node)
    ordered = sorted(nodes, key=lambda node: (node != tried.node, node))[:MAX_PLACES]
    others = {node for node in (*before.values(), *after.values()) if node} - nodes.keys()
    rest = f"{counted(len(others), 'other node')} with pods" if others else ""

    def places(found: Mapping[str, str], *, fork: bool) -> tuple[PlaceRow, ...]:
        rows = []
        for node in ("", *ordered):
            names = [name for name, place in found.items() if place == node]
            names.sort(key=lambda name: (name not in (tried.pod, tried.pod_then), name not in differs, name))
            kept = [name for name in names if name in differs]
            kept = names[: max(len(kept), MAX_PODS)]
            kind = "tray" if not node else "new" if node in tried.new_nodes else "node"
            if kind == "new" and not fork:
                rows.append(PlaceRow(node, (), 0, kind))
                continue
            pods = tuple((_shown(name, tried.pod), name in differs) for name in kept)
            rows.append(PlaceRow(node or "waits", pods, len(names) - len(kept), kind))
        return tuple(rows)

    return Beside(places(before, fork=False), places(after, fork=True), tried.steps, rest)


def _files(fix: Fix) -> str:
    """Return each file of the diff with its count of lines more and less: `demo/pod/kafka-2.yaml +4`."""
    found: list[str] = []
    for change in fix.written:
        lines = [line for line in manifest_diff([change]).splitlines() if not line.startswith(("--- ", "+++ "))]
        more, less = (sum(line.startswith(sign) for line in lines) for sign in "+-")
        found.append(file_name(change.key) + (f" +{more}" if more else "") + (f" −{less}" if less else ""))
    return ", ".join(found)


def _diff_lines(fix: Fix) -> Iterator[str]:
    """Yield the lines of a diff: its places as `…`, and, of several files, the name of each after `@ `."""
    several = len(fix.written) > 1
    for change in fix.written:
        lines = [line for line in manifest_diff([change]).splitlines() if not line.startswith(("--- ", "+++ "))]
        if several:
            yield f"@ {file_name(change.key)}"
        for number, line in enumerate(lines):
            if not line.startswith("@@"):
                yield line
            elif number:
                yield "…"


def _shown(name: str, beside: str = "") -> str:
    """Return `namespace/name` without the namespace if it is the default, or that of the pod beside."""
    namespace, _, short = name.rpartition("/")
    return short if namespace in ("default", beside.rpartition("/")[0]) else name


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:2]) + (f" +{len(names) - 2}" if len(names) > 2 else "")


def draw(rows: FixPage, width: int, selection: str = "") -> str:
    """Return the cards under each other, the first one open."""
    tried = FixOutcome("✕", "storage", "", "Tried, does not help:", rows.refuted)
    return page(
        *_title(rows.title, rows.corner), *(tag("li", "", each) for each in rows.unmet),
        *(card_html(card, opened=place == 0) for place, card in enumerate(rows.cards)),
        _said_so(tried) if rows.refuted else "",
    )  # fmt: skip


def _title(title: str, corner: str) -> tuple[Html, Html]:
    return tag("h3", "k-title", title), words(corner, "k-q")


def draw_trial(tried: TriedFix, width: int, selection: str = "") -> str:
    """Return one fix that was tried: the cluster without it, the fork beside, and who waits then."""
    title = _title(f"{tried.words}: {tried.headline}", "tried on a fork")
    return page(*title, _beside(beside_of(tried)), _said_so(outcome_of(tried)))


def card_html(card: FixCard, *, opened: bool) -> Html:
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
    return [tag("div", "", tile(each.letter, each.family), words(f" {each.glyph} ", f"k-t-{each.family}"),
                words("→ ", "k-soft"), words("✓", "k-t-ok")) for each in rows] + more


def touched_words(card: FixCard) -> list[str]:
    """Return what a card touches, a line for each column, and whether a container stops."""
    lines = []
    for name in COLUMNS:
        found = [how for column, how in card.touched if column == name]
        if found:
            lines.append(f"{name if len(found) == 1 else counted(len(found), name)} {found[0]}")
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
