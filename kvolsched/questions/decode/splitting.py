"""Takes pasted text apart: the lines of a terminal, kubectl's columns before a message, the clauses of a summary.

Clauses are told apart by the count that begins each; a comma within brackets or quotes parts nothing.
"""

import re
from collections.abc import Iterator

import attrs

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
FIELD = re.compile(r"\s*-?\s*[\"']?(?:message|note)[\"']?:\s*(?P<message>\S.*)\Z", re.DOTALL | re.IGNORECASE)
FORMS = (DESCRIBED, LISTED, SHORT, FIELD)
COUNTED = re.compile(r"(?P<count>\d{1,9}) (?P<text>\S.*)\Z", re.DOTALL)
NEXT_COUNT = re.compile(r", (?=\d{1,9} )")
OPENING, CLOSING = "([{", ")]}"
WORDS_OF_KIND = {"persistentvolumeclaim": "claim", "persistentvolume": "volume"}  # as placeholders are called


@attrs.frozen
class Message:
    """One message of a paste, and the names that stood before it: {"pod": "app"}."""

    text: str
    names: dict[str, str] = attrs.Factory(dict)


def messages(paste: str) -> list[Message]:
    """Return the messages of a paste: a line with kubectl's columns begins one, other lines go on with it."""
    found: list[Message] = []
    for line in map(str.strip, paste.splitlines()):
        if TABLE_HEAD.match(line):
            continue
        message = _without_columns(line)
        if message is None and found:
            found[-1] = attrs.evolve(found[-1], text=f"{found[-1].text} {line}")
        else:
            found.append(message or Message(line))
    return [attrs.evolve(message, text=" ".join(_unquoted(message.text).split())) for message in found]


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
