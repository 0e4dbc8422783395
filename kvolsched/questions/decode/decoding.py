"""Decodes pasted text: takes it apart, looks each clause up in the table, and tells what it says.

A paste may have the lines of a terminal and kubectl's columns before a message. The clauses of a summary are told apart
by the count that begins each; a comma within brackets or quotes parts nothing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from ...api.notebook_output import DrawnAnswer, NumberedRows, to_type
from ...api.words import LINE_WIDTH, hanging_indent
from .table import (
    AUTOSCALER,
    CUT,
    CUT_SUMMARY,
    ERROR_TYPES,
    FIELD,
    GROUPS,
    INNER,
    MEANINGS,
    UNKNOWN,
    Meaning,
    fill_placeholders,
    packaged_json,
)

AGE = r"(?:<unknown>|(?:\d+[smhdy])+)(?:\s+\(x\d+ over (?:\d+[smhdy])+\))?"
TABLE_HEAD = re.compile(
    r"\s*(?:Events:\s*)?(?:(?:NAMESPACE\s+)?LAST SEEN\s.*|Type\s+Reason\s+Age\s.*|-[-\s]+|Events:\s*)?\Z"
)
DESCRIBED = re.compile(rf"\s*(?:Normal|Warning)\s+\w+\s+{AGE}\s+[^\s,]+(?:, [^\s,]+)?\s+(?P<message>\S.*)\Z", re.DOTALL)
LISTED = re.compile(
    rf"\s*(?:(?P<namespace>[a-z0-9-]+)\s+)??(?:{AGE}\s+)?(?:Normal|Warning)\s+\w+\s+(?:{AGE}\s+)?"
    r"(?P<kind>[a-z.]+)/(?P<name>\S+)\s+(?P<message>\S.*)\Z",
    re.DOTALL,
)
SHORT = re.compile(
    rf"\s*(?:Normal|Warning)\s+[A-Z]\w+\s+(?:{AGE}\s+)?(?:[a-z][\w./-]*\s+(?=[\dA-Z]))?(?P<message>\S.*)\Z", re.DOTALL
)
MESSAGE_FIELD = re.compile(r"\s*-?\s*[\"']?(?:message|note)[\"']?:\s*(?P<message>\S.*)\Z", re.DOTALL | re.IGNORECASE)
FORMS = (DESCRIBED, LISTED, SHORT, MESSAGE_FIELD)
COUNTED = re.compile(r"(?P<count>\d{1,9}) (?P<text>\S.*)\Z", re.DOTALL)
NEXT_COUNT = re.compile(r", (?=\d{1,9} )")
OPENING, CLOSING = "([{", ")]}"
WORDS_OF_KIND = {"persistentvolumeclaim": "claim", "persistentvolume": "volume"}  # as placeholders are called


@dataclass(frozen=True)
class Message:
    """One message of a paste, and the names that stood before it: {"pod": "app"}."""

    text: str
    names: dict[str, str] = field(default_factory=dict)


def messages(paste: str) -> list[Message]:
    """Return the messages of a paste: a line with kubectl's columns begins one, other lines go on with it."""
    found: list[Message] = []
    for line in map(str.strip, paste.splitlines()):
        if TABLE_HEAD.match(line):
            continue
        message = _without_columns(line)
        if message is None and found:
            found[-1] = replace(found[-1], text=f"{found[-1].text} {line}")
        else:
            found.append(message or Message(line))
    return [replace(message, text=" ".join(_unquoted(message.text).split())) for message in found]


def _without_columns(line: str) -> Message | None:
    """Return what follows kubectl's columns, or None for a line that has none."""
    for form in FORMS:
        found = form.match(line)
        if found is not None:
            words = found.groupdict()
            kind = words.get("kind") or ""
            names = {WORDS_OF_KIND.get(kind, kind): words.get("name") or "", "namespace": words.get("namespace") or ""}
            return Message(words["message"], {key: name for key, name in names.items() if key and name})
    return None


def _unquoted(text: str) -> str:
    """Return a text without the quotes of YAML or JSON around it."""
    text = text.strip()
    text = text[:-1] if text.endswith(("',", '",')) else text
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        inner = text[1:-1]
        return inner.replace("''", "'") if text[0] == "'" else inner.replace('\\"', '"')
    return text


def counted_clauses(body: str) -> Iterator[tuple[int | None, str]]:
    """Yield (count, clause) of "2 Insufficient cpu, 1 node(s) had untolerated taint {a: b, 3 c}"."""
    start = 0
    for place in [*_commas(body), len(body)]:
        part = body[start:place]
        start = place + 2
        found = COUNTED.match(part)
        yield (int(found["count"]), found["text"]) if found is not None else (None, part)


def _commas(body: str) -> list[int]:
    """Return the places of the commas that part clauses."""
    places = {found.start() for found in NEXT_COUNT.finditer(body)}
    found, depth, quoted = [], 0, False
    for place, letter in enumerate(body):
        if letter == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif letter in OPENING:
            depth += 1
        elif letter in CLOSING:
            depth = max(0, depth - 1)
        elif not depth and place in places:
            found.append(place)
    return found


WHICH_NODES = "\nWhich nodes, zones and volumes: kvolsched why --live, or kvolsched why DUMP (kubectl get -o yaml)"


@dataclass(frozen=True)
class DecodedClause:
    """One clause of a sentence, with its meaning.

    Args:
        clause: the clause as it was written, control characters shown escaped.
        count: the number of nodes that it counts (or of repetitions); None where the sentence counts nothing.
        size: the number of nodes that the sentence speaks of; None where it does not say.
        plugin: the scheduler's plugin or the component that writes it; empty for an unknown clause.
        rule: the rule in one line.
        cause: what usually causes it.
        next_line: the kubectl line that shows more; what the sentence does not name stands as `<pod>`.
        part: `nodes`, `preemption`, `groups` (of nodes, which an autoscaler counts), or `` for words about the whole
            pod, a claim or an event.
        known: whether the clause is in the table.
        cut: whether the sentence was cut in or behind the clause.
        incidents: names of incidents that show it, the nearest first: `kvolsched.incident(name)` plays one.
    """

    clause: str
    count: int | None
    size: int | None
    plugin: str
    rule: str
    cause: str
    next_line: str
    part: str
    known: bool
    incidents: tuple[str, ...]
    cut: bool

    @property
    def where(self) -> str:
        """How many nodes the clause speaks of, as words."""
        if self.part == GROUPS:
            return f"{self.count} node group{'' if self.count == 1 else 's'}" if self.count is not None else ""
        of = f" of {self.size}" if self.size is not None else ""
        counted = "" if self.count is None else f"{self.count}{of} node{'' if (self.size or self.count) == 1 else 's'}"
        return f"preemption: {counted}" if self.part == "preemption" and counted else counted or self.part

    @property
    def incidents_to_play(self) -> tuple[str, ...]:
        """The incidents, but for words about preemption, which repeat what the nodes' reasons say."""
        return self.incidents if self.part != "preemption" else ()


@dataclass(frozen=True, repr=False)
class Decoded(NumberedRows[DecodedClause], DrawnAnswer):
    """What a pasted sentence says, clause by clause.

    `rows` has a `DecodedClause` for each clause, in the order of the sentence; `unknown` quotes the clauses that are in
    no row of the table.
    """

    sentence: str
    rows: tuple[DecodedClause, ...]

    @property
    def unknown(self) -> tuple[str, ...]:
        """The clauses that are not known, as they were written."""
        return tuple(row.clause for row in self.rows if not row.known)

    def __repr__(self) -> str:
        lines = [hanging_indent([self.sentence], 0, LINE_WIDTH)]
        for row in self.rows:
            where = f"{row.where}: " if row.where else ""
            lines += ["", hanging_indent([f"{where}“{row.clause}”"], 2)]
            lines += [f"  {label:<8}{hanging_indent([words], 10)}" for label, words in _labelled(row)]
            lines += [f"  {'next':<8}{row.next_line}"] if row.next_line else []  # never wrapped: it is to be copied
        if any(row.size for row in self.rows):
            lines += filter(None, [to_type("", WHICH_NODES)])  # a notebook's picture ends with it
        return "\n".join(lines)


def _labelled(row: DecodedClause) -> list[tuple[str, str]]:
    """Return the lines of a row with their labels; those without words are left out."""
    found = [("from", row.plugin), ("rule", row.rule), ("usually", row.cause)]
    if row.incidents_to_play:
        python = ", ".join(f'kvolsched.incident("{name}")' for name in row.incidents_to_play)
        command = f"kvolsched incidents --play {', or '.join(row.incidents_to_play)}"
        found.append(("play", to_type(python, command)))
    return [(label, words) for label, words in found if words]


MAX_LENGTH = 10_000  # characters of a paste; an event's message has 1024 at most
MAX_DEPTH = 6  # sentences within sentences
SUMMARY = re.compile(r"(?P<fit>\d{1,9})/(?P<size>\d{1,9}) nodes are available(?:: ?|\Z)(?P<body>.*)\Z", re.DOTALL)
ELLIPSIS = r"(?:\[ ?)?(?:\.{3,6}|…)(?: ?\])?"
CUT_BEFORE = re.compile(rf"{ELLIPSIS}[ ,;]{{0,3}}")
CUT_AFTER = re.compile(rf"[ ,;]{{0,3}}{ELLIPSIS}[ .,;]{{0,3}}\Z")
TAIL = re.compile(r"(?:\A|\. )(?P<tail>(?:no new claims to deallocate|preemption: |not found\Z).*)\Z", re.DOTALL)
CLAIMS, PREEMPTION = "no new claims to deallocate", "preemption: "
REPEATED = re.compile(r"(?P<text>.*\S) \(repeated (?P<count>\d{1,9}) times\)\Z", re.DOTALL)
FIELD_ERROR = re.compile(rf"(?:, |\A\[|\s\* )(?!whenUnsat)(?={FIELD}: (?:{ERROR_TYPES})\b)")
EVENT_REASON = re.compile(r"(?:(?:Warning|Normal) )?(?:[A-Z][A-Za-z]+: ?|FailedScheduling )")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True)
class Place:
    """Where a clause stands: in which part of the sentence, what it counts, and the names read so far."""

    names: Mapping[str, str]
    part: str = ""
    count: int | None = None
    size: int | None = None
    depth: int = 0
    cut: bool = False


def decode(sentence: str) -> Decoded:
    """Explain a pasted sentence of kube-scheduler, a controller, the kubelet or the API server; no cluster is needed.

    kubectl's columns before the message may stand there, and several lines of `kubectl describe`. A clause that is in
    no row of the table is quoted and said to be unknown; where dots say that the sentence was cut, a row says so. A
    name in the paste is put into the kubectl line only if it is a name that Kubernetes allows.

    Args:
        sentence: the text, of at most 10,000 characters.

    Raises:
        TypeError: it is no text.
        ValueError: it is empty or too long.

    >>> found = decode("0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint {gpu: true}.")
    >>> [(row.count, row.plugin) for row in found]
    [(2, 'NodeResourcesFit'), (3, 'TaintToleration')]
    >>> found.unknown
    ()
    >>> decode('persistentvolumeclaim "data" not found')[0].next_line
    'kubectl get pvc data -n <namespace>'
    """
    if not isinstance(sentence, str):
        raise TypeError(f"decode: sentence: {type(sentence).__name__} is no text; paste the message of an event")
    if len(sentence) > MAX_LENGTH:
        raise ValueError(f"decode: sentence: {len(sentence)} characters; must be at most {MAX_LENGTH}")
    found = messages(sentence)
    if not any(message.text for message in found):
        raise ValueError("decode: sentence: '' has no words; paste the message of an event")
    rows: list[DecodedClause] = []
    for message in found:
        read = list(_read(message.text, Place(message.names))) if message.text else []
        rows += read or [_row(UNKNOWN, message.text, Place(message.names), known=False)] * bool(message.text)
    return Decoded(_shown(" ".join(message.text for message in found)), tuple(rows))


def _read(text: str, place: Place) -> Iterator[DecodedClause]:
    """Yield the rows of one sentence: a summary over nodes, a list in brackets, or a sentence of the table."""
    if place.depth > MAX_DEPTH:
        yield _row(UNKNOWN, text, place, known=False)
        return
    begun = CUT_BEFORE.match(text)
    if begun is not None and begun.end() < len(text):
        yield _cut_row(begun[0], place)
        text = text[begun.end() :]
    repeated = REPEATED.match(text)
    if repeated is not None:
        yield from _read(repeated["text"], replace(place, count=int(repeated["count"])))
        return
    summary = SUMMARY.match(text)
    if summary is not None:
        place = replace(place, size=int(summary["size"]))
        if CUT_AFTER.sub("", summary["body"]).strip(" ."):
            yield from _read_summary(summary["body"], place)
        else:
            yield _cut_row(text, place)
    elif text.startswith("[") and text.endswith("]") and not place.depth:
        for part in text[1:-1].split(", "):
            yield from _read(part, replace(place, depth=place.depth + 1))
    elif TAIL.match(text) and not place.depth:
        yield from _read_tail(text, place)
    elif place.part == GROUPS and place.count is None and COUNTED.match(text):
        yield from _read_summary(text, place)
    else:
        yield from _look_up(text, place)


def _read_summary(body: str, place: Place) -> Iterator[DecodedClause]:
    """Yield the rows of what follows "0/5 nodes are available:": the nodes' reasons, then what preemption says."""
    tail = TAIL.search(body)
    front = body[: tail.start()] if tail is not None else body
    part, deeper = place.part or "nodes", place.depth + 1
    begun = CUT_BEFORE.match(front)
    if begun is not None and begun.end() < len(front):
        yield _cut_row(begun[0], place)
        front = front[begun.end() :]
    for count, clause in counted_clauses(front) if front.strip(" .") else ():
        here = part if count is not None else place.part
        yield from _read(clause, replace(place, part=here, count=count, depth=deeper))
    if tail is not None:
        yield from _read_tail(tail["tail"], place)


def _read_tail(tail: str, place: Place) -> Iterator[DecodedClause]:
    """Yield the rows of what follows the nodes' reasons."""
    if tail.startswith(CLAIMS):
        yield from _look_up(CLAIMS, replace(place, count=None))
        tail = tail.removeprefix(CLAIMS).lstrip(",. ")
    if not tail:
        return
    within = tail.removeprefix(PREEMPTION)
    part = "preemption" if within != tail else place.part
    yield from _read(within, replace(place, part=part, count=None, depth=place.depth + 1))


def _look_up(text: str, place: Place) -> Iterator[DecodedClause]:
    """Yield the row of a clause, the rows of the sentences within it, and one that says so if it was cut."""
    dots = CUT_AFTER.search(text)
    plain = (text if dots is None else text[: dots.start()]).strip().rstrip(". ")
    cut = place.cut or dots is not None
    for meaning in MEANINGS:
        words = meaning.read(plain)
        if words is None:
            continue
        case, known = meaning.case_of(words)
        names = {**place.names, **known}
        last = _row(case, plain, replace(place, names=names))
        yield last
        for name, inner in words.items():
            if name.startswith(INNER):
                part = GROUPS if name == INNER + GROUPS else place.part
                deeper = replace(place, names=names, part=part, depth=place.depth + 1, count=None, cut=cut)
                for last in _read_inner(inner, deeper):
                    yield last
        # kubectl itself ends some sentences with three dots; they follow their word without a blank.
        if dots is not None and not last.cut and (place.size or last.part or not dots[0].startswith("...")):
            yield _cut_row(dots[0], replace(place, count=None))
        return
    if COUNTED.match(text) and not place.part and not place.depth:
        yield from _read_summary(text, place)
    elif (summary := SUMMARY.search(text)) is not None and not place.depth:
        yield from _read_with_front(text, summary.start(), place)
    elif (reason := EVENT_REASON.match(text)) is not None and _is_known(text[reason.end() :], place):
        yield from _read(text[reason.end() :], replace(place, depth=place.depth + 1))
    elif cut:
        yield _cut_row(text, place, plain)
    elif plain:
        yield _row(UNKNOWN, plain, place, known=False)


def _is_known(text: str, place: Place) -> bool:
    return any(row.known and not row.cut for row in _read(text, replace(place, depth=place.depth + 1)))


def _read_with_front(text: str, start: int, place: Place) -> Iterator[DecodedClause]:
    """Yield the rows of a summary behind other words, as in a log; but for an event's reason they are unknown."""
    front = text[:start]
    if not EVENT_REASON.fullmatch(front):
        yield _row(UNKNOWN, front.strip(), place, known=False)
    body = text[start:].rstrip("\"'}] ") if front.endswith(("'", '"')) else text[start:]
    yield from _read(body, place)


def _read_inner(inner: str, place: Place) -> Iterator[DecodedClause]:
    """Yield the rows of a sentence within another: one sentence, or a list of errors of fields."""
    if place.depth > MAX_DEPTH:
        yield _row(UNKNOWN, inner, place, known=False)
        return
    starts = [found.end() for found in FIELD_ERROR.finditer(inner)]
    if not starts:
        yield from _read(inner, place)
        return
    starts = sorted({0 if not inner.startswith("[") else 1, *starts})
    for start, end in zip(starts, [*starts[1:], len(inner)], strict=True):
        part = inner[start:end].strip(" ,*")
        part = part.removesuffix("]") if inner.startswith("[") and end == len(inner) else part
        if part:
            yield from _look_up(part, place)


def _cut_row(clause: str, place: Place, plain: str = "") -> DecodedClause:
    """Return the row of a clause that was cut: with the rule of the only sentence that begins so, if there is one."""
    clause = clause.strip(" ,;")
    begun = [meaning for meaning in MEANINGS if plain and meaning.may_begin(plain)]
    if len(begun) == 1:
        row = _row(begun[0], clause, place)
        return replace(row, rule=f"{CUT.rule} Only one known sentence begins so: {row.rule}", cut=True)
    part = place.part if place.count is not None else ""
    row = _row(CUT if place.size is None else CUT_SUMMARY, clause, replace(place, part=part))
    return replace(row, cut=True)


def _row(meaning: Meaning, clause: str, place: Place, *, known: bool = True) -> DecodedClause:
    rule = meaning.rule
    if place.part == "preemption" and known and meaning.plugin not in ("DefaultPreemption", ""):
        rule = f"Also without every pod of lower priority: {rule[:1].lower()}{rule[1:]}"
    if place.part == GROUPS and place.count is not None and known and meaning.plugin != AUTOSCALER:
        rule = f"On a new node of the group, too: {rule[:1].lower()}{rule[1:]}"
    line = fill_placeholders(meaning.next_line, place.names)
    return DecodedClause(
        _shown(clause), place.count, place.size, meaning.plugin, rule, meaning.cause, line, place.part, known,
        _incidents().get(meaning.rule, ()), cut=False,
    )  # fmt: skip


@cache
def _incidents() -> Mapping[str, tuple[str, ...]]:
    """Return the incidents that show a rule at work; a test compares the file with them."""
    return {rule: tuple(names) for rule, names in packaged_json("incidents.json").items()}


def _shown(text: str) -> str:
    """Return a text in which control characters, and those that turn the direction of text, stand escaped."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
