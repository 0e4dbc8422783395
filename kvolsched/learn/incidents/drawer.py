"""The drawer: all incidents, found by name, free text, kind or an event's sentence; and what cannot be shown."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any, SupportsIndex, overload

import attrs

from kvolsched.api.notebook_output import PrintedAnswer, described_as_html, printable
from kvolsched.api.text import manifest
from kvolsched.api.unknown_name import UnknownName, did_you_mean
from kvolsched.core.results import hanging_indent
from kvolsched.questions.decode import decode
from kvolsched.questions.decode.decoding import CLAIMS

from .one_incident import Incident, incident_of

FOLDER, NOT_SHOWN = "files", "not_shown.yaml"
LIST_WIDTH = 92  # characters of a line that a notebook of 1000 px shows
_WORD = re.compile(r"\w[\w.-]*")


@attrs.frozen(repr=False)
class NotShown(PrintedAnswer):
    """What people meet and this model cannot show.

    Args:
        title: what happens.
        reason: why it cannot be shown here.
        sources: where people met it.
    """

    title: str
    reason: str
    sources: tuple[str, ...]

    def __repr__(self) -> str:
        return f"{self.title}\n  {hanging_indent([self.reason], 2)}\n  met in: {', '.join(self.sources)}"


class Incidents(PrintedAnswer, tuple[Incident, ...]):
    """Incidents in the order of how well they match; printed, a line each. `[name]` opens one."""

    __slots__ = ()

    @overload
    def __getitem__(self, place: SupportsIndex | str) -> Incident: ...

    @overload
    def __getitem__(self, place: slice) -> Incidents: ...

    def __getitem__(self, place: SupportsIndex | str | slice) -> Incident | Incidents:
        if isinstance(place, str):
            return incident(place)
        return Incidents(super().__getitem__(place)) if isinstance(place, slice) else super().__getitem__(place)

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(each.name for each in self)

    @property
    def not_shown(self) -> tuple[NotShown, ...]:
        """What people meet and this model cannot show, with the reason."""
        return not_shown()

    def __repr__(self) -> str:
        if not self:
            return 'no incident matches; kvolsched.incidents() lists all, kvolsched.decode("...") explains a sentence'
        width = self._width
        return "\n".join(f"{each.name:<{width}}{hanging_indent([each.title], width, LIST_WIDTH)}" for each in self)

    @property
    def _width(self) -> int:
        """Where titles begin."""
        return max(len(each.name) for each in self) + 2

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        shown = super()._repr_mimebundle_(include, exclude)
        if self:
            lines = [printable(f"{each.name:<{self._width}}{each.title}") for each in self]
            shown["text/html"] = described_as_html(lines, self._width)
        return shown


def _names() -> list[str]:
    folder = resources.files("kvolsched.learn.incidents").joinpath(FOLDER)
    return sorted(file.name.removesuffix(".yaml") for file in folder.iterdir()
                  if file.name.endswith(".yaml") and file.name != NOT_SHOWN)


@cache
def incident(name: str) -> Incident:
    """Return an incident by its name.

    Raises:
        UnknownName: there is none of this name; the message lists those that are near. It is a KeyError.

    >>> incident("dead-zone").right
    'nowhere'
    """
    names = _names()
    if name not in names:
        hint = did_you_mean(name, names) or f"; there are: {', '.join(names)}"
        raise UnknownName(f"no incident is called {name!r}{hint}")
    (data,) = manifest.read_plain(_text(f"{name}.yaml"), name)
    return incident_of(data, name)


def _text(file: str) -> str:
    return resources.files("kvolsched.learn.incidents").joinpath(FOLDER, file).read_text("utf-8")


def incidents(words: str = "") -> Incidents:
    """Return the incidents that match: free text, a kind, or a sentence pasted from kubectl; all without words.

    >>> "dead-zone" in incidents("2 node(s) didn't match pod topology spread constraints").names
    True
    >>> "dead-zone" in incidents("zone lost taint").names
    True
    """
    every = [incident(name) for name in _names()]
    if not words.strip():
        return Incidents(every)
    rules = rules_of(words)
    scored = [(_score(each, words, rules), each) for each in every]
    return Incidents(each for score, each in sorted(scored, key=lambda pair: (-pair[0], pair[1].name)) if score)


@cache
def rules_of(sentence: str) -> frozenset[str]:
    """Return the rules that a sentence of Kubernetes speaks of, without its tail about preemption, which most have."""
    try:
        rows = decode(sentence)
    except ValueError:
        return frozenset()
    return frozenset(row.rule for row in rows if row.known and row.part != "preemption" and row.clause != CLAIMS)


def _score(found: Incident, words: str, rules: frozenset[str]) -> float:
    """Return how well an incident matches; 0 if it does not."""
    if words.strip() == found.name:
        return 100.0
    if rules:
        own = frozenset[str]().union(*map(rules_of, found.sentences))
        return 10 * len(rules & own) / len(rules | own) if own else 0.0
    heavy = " ".join((found.name, found.title, *found.kinds)).lower()
    cures = (cure.words for cure in found.cures)
    light = " ".join((found.question, found.cause, *found.sentences, *found.sources, *cures)).lower()
    asked = [word.lower() for word in _WORD.findall(words)]
    hits = [3 if word in heavy else 1 if word in light else 0 for word in asked]
    return float(sum(hits)) if asked and all(hits) else 0.0


def not_shown() -> tuple[NotShown, ...]:
    """Return what people meet and this model cannot show, with the reason."""
    listed = manifest.read_plain(_text(NOT_SHOWN), NOT_SHOWN)
    return tuple(NotShown(data["title"], data["reason"], tuple(data["sources"])) for data in listed)
