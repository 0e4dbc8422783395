"""Messages with other names: a sentence of `decode/table` keeps its words, all others are replaced as a whole.

What stands at a sentence's placeholders is replaced like every name; counts of nodes stay.
"""

import re
from collections.abc import Callable
from functools import cache

from ...questions.decode.decoding import (
    CLAIMS,
    COUNTED,
    MAX_DEPTH,
    PREEMPTION,
    REPEATED,
    SUMMARY,
    TAIL,
    counted_clauses,
)
from ...questions.decode.table import INNER, MEANINGS, PLACEHOLDER, as_expression
from .words import API_KINDS, ENUMERATED, IN_SENTENCES

REDACTED = "redacted"
_STAYING = API_KINDS | ENUMERATED | IN_SENTENCES  # at a placeholder
_COUNT = re.compile(r"[0-9]{1,9}")
_COUNTS = frozenset({"asked", "used", "capacity", "before", "after", "count", "wanted", "present"})


@cache
def _sentences() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return what a text must have to be a sentence of the table, and its pattern; those with the most words first.

    One in which a placeholder stands twice is left out.
    """
    found = []
    for sentence in {sentence: None for meaning in MEANINGS for sentence in meaning.sentences}:
        names = [match["inner"] or match["word"] for match in PLACEHOLDER.finditer(sentence)]
        if len(names) > len(set(names)):
            continue
        literals = PLACEHOLDER.sub("\0", sentence).split("\0")
        pattern = re.compile(as_expression(sentence), re.DOTALL)
        found.append((-sum(map(len, literals)), (max(literals, key=len), pattern)))
    return tuple(sentence for _, sentence in sorted(found, key=lambda pair: pair[0]))


class Sentences:
    """Replaces the names in messages. Mutable: it remembers messages, since many are equal.

    Args:
        name: returns the replacement of a name, or of a text with names.
    """

    def __init__(self, name: Callable[[str], str]) -> None:
        self._name = name
        # A message with its names replaced, or `redacted` if it is none of Kubernetes' sentences.
        self.replaced = cache(lambda text: self._message(text, 0) or REDACTED if text else text)

    def _message(self, text: str, depth: int) -> str:
        """Return a message with its names replaced; empty if it is not known."""
        if depth > MAX_DEPTH:
            return ""
        repeated = REPEATED.match(text)
        if repeated is not None:
            inner = self._message(repeated["text"], depth + 1)
            return inner and f"{inner} (repeated {repeated['count']} times)"
        summary = SUMMARY.match(text)
        if summary is not None:
            body = self._summary(summary["body"], depth)
            return f"{summary['fit']}/{summary['size']} nodes are available: {body}"
        if text.startswith((CLAIMS, PREEMPTION)):
            return self._tail(text, depth)
        if depth and COUNTED.match(text):
            return self._summary(text, depth)
        plain = text.rstrip(". ")
        found = self._sentence(plain, depth)
        return found and found + text[len(plain) :]

    def _summary(self, body: str, depth: int) -> str:
        """Return the nodes' reasons, and what preemption says, each with its names replaced or as `redacted`."""
        tail = TAIL.search(body)
        front = body[: tail.start()] if tail is not None else body
        plain = front.rstrip(". ")
        clauses = []
        for count, clause in counted_clauses(plain):
            known = self._message(clause, depth + 1) or REDACTED
            clauses.append(known if count is None else f"{count} {known}")
        rest = body[len(plain) : tail.start("tail")] if tail is not None else body[len(plain) :]
        return ", ".join(clauses) + rest + (self._tail(tail["tail"], depth) if tail is not None else "")

    def _tail(self, tail: str, depth: int) -> str:
        """Return what follows the nodes' reasons."""
        for words in (CLAIMS, PREEMPTION):
            if tail.startswith(words):
                rest = tail.removeprefix(words)
                inner = rest.lstrip(",. ")
                between = rest[: len(rest) - len(inner)]
                return words + between + (self._tail(inner, depth) if inner else "")
        return self._message(tail, depth + 1) or REDACTED

    def _sentence(self, text: str, depth: int) -> str:
        """Return a sentence of the table with what stands at its placeholders replaced; empty if it is none."""
        for longest, pattern in _sentences():
            match = pattern.fullmatch(text) if longest in text else None
            if match is None:
                continue
            parts, last = [], 0
            for group, word in sorted(match.groupdict().items(), key=lambda item: match.span(item[0])):
                start, end = match.span(group)
                new = self._message(word, depth + 1) or REDACTED if group.startswith(INNER) else self._word(group, word)
                parts += [text[last:start], new]
                last = end
            return "".join([*parts, text[last:]])
        return ""

    def _word(self, placeholder: str, text: str) -> str:
        """Return the replacement of what stands at a placeholder."""
        if text in _STAYING or (placeholder in _COUNTS and _COUNT.fullmatch(text)):
            return text
        return self._name(text)
