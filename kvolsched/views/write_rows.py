"""Rows of the writes to the API: one a write, with who saw it when."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

NOT_YET = -1
"""In place of a step: the write has not been seen yet."""


@frozen
class WriteRow:
    """One write to the API, accepted or refused, or a crash of its writer."""

    place: str  # Its step and time: "3|0.4 s"; of a recorded write only the time: "|0.4 s"
    who: str  # The component as people call it
    kind: str  # "write", "refused" or "crash"
    verb: str  # create, patch, update, status, bind, delete
    ref: str  # The object
    words: str = ""  # What was written, in a few words
    recorded_ref: str = ""  # The object as recordings name it
    fields: frozenset[str] = frozenset()  # The last part of the path of each field written
    seen: Mapping[str, int] = field(factory=dict)  # Component that watches it -> step at which it saw it, or NOT_YET
    now: bool = False  # Whether it belongs to the present step

    def is_same_write(self, other: WriteRow) -> bool:
        """Say whether two runs have this write in common: equal author, verb and object, and a common field."""
        mine, theirs = _spelt_alike(self.fields), _spelt_alike(other.fields)
        return self._subject == other._subject and (mine == theirs or bool(mine & theirs))

    @property
    def _subject(self) -> tuple[str, ...]:
        return self.who, self.kind, self.verb, self.recorded_ref

    @property
    def sentence(self) -> str:
        """Say what was done."""
        if self.kind == "crash":
            return f"{self.who} crashes and restarts"
        return f"{self.verb} {self.ref}" + (f": {self.words}" if self.words else "")


def _spelt_alike(fields: frozenset[str]) -> frozenset[str]:
    """Return field names in one spelling: the documents write selectedNode, today's objects selected-node."""
    return frozenset(name.replace("-", "").lower() for name in fields)
