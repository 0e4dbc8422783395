"""The drawer: all incidents, found by name, free text, kind or an event's sentence; and what cannot be shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from math import log
from pathlib import Path
from typing import Any, SupportsIndex, overload

import attrs

from kvolsched.api.notebook_output import PrintedAnswer, described_as_html, printable, to_type
from kvolsched.api.text.yaml_text import packaged_data
from kvolsched.api.unknown_name import UnknownName, did_you_mean
from kvolsched.api.words import hanging_indent
from kvolsched.questions.decode import decode
from kvolsched.questions.decode.decoding import CLAIMS
from kvolsched.questions.decode.table import MEANINGS

from .one_incident import Incident, incident_of

FOLDER, NOT_SHOWN = ("kvolsched.learn.incidents", "files"), "not_shown.yaml"
LIST_WIDTH = 92  # characters of a line that a notebook of 1000 px shows
ANYWHERE = (CLAIMS, "not found")  # clauses that stand in every event
TAINTED = "node(s) had untolerated taint(s)"
_SMALL_WORDS = re.compile(
    r"\b(?:a|all|an|and|any|are|as|at|be|but|by|can|cannot|do|does|for|from|had|has|have|i|if|in|into|is|it|its|like|me|my|no"
    r"|not|nothing|of|on|one|only|or|our|so|that|the|their|there|this|to|was|we|what|when|where|which|why|will|with)\b"
)
_WORD = re.compile(r"[a-z0-9]+")
_ENDING = re.compile(r"(?<=\w{3})(?:al|e?s|e|ed|ing)\Z")


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
            every = to_type("kvolsched.incidents()", "kvolsched incidents")
            explains = to_type('kvolsched.decode("...")', 'kvolsched decode "..."')
            return f"no incident matches; {every} lists all, {explains} explains a sentence"
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
    return sorted(file.stem for file in Path(__file__).with_name(FOLDER[1]).glob("*.yaml") if file.name != NOT_SHOWN)


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
    return incident_of(packaged_data(*FOLDER, f"{name}.yaml"), name)


def incidents(words: str = "") -> Incidents:
    """Return the incidents that match: free text, a kind, or a sentence pasted from kubectl; all without words.

    >>> "dead-zone" in incidents("2 node(s) didn't match pod topology spread constraints").names
    True
    >>> "dead-zone" in incidents("zone lost taint").names
    True
    """
    every = [incident(name) for name in _names()]
    if named := [each for each in every if words.strip() in (each.name, "")]:
        return Incidents(named)
    rules, shown = rules_of(words), {each.name: rules_shown(each.name) for each in every}
    scores = {name: len(rules & own) / len(rules | own) for name, own in shown.items() if rules & own}
    scores = scores or _by_words(every, words.lower())
    return Incidents(map(incident, sorted(scores, key=lambda name: (-scores[name], name))))


@cache
def rules_of(sentence: str) -> frozenset[str]:
    """Return the rules that a sentence of Kubernetes speaks of, without its tail about preemption, which most have."""
    try:
        rows = decode(sentence)
    except ValueError:
        return frozenset()
    return frozenset(row.rule for row in rows if row.known and row.part != "preemption" and row.clause not in ANYWHERE)


@cache
def rules_shown(name: str) -> frozenset[str]:
    """Return the rules that the sentences of an incident speak of; those of v1.36 do not name the nodes' taints."""
    found = incident(name)
    rules = frozenset[str]().union(*map(rules_of, found.sentences))
    named = [f"node(s) had untolerated taint {{{key}: }}" for key in found.taints]
    return rules.union(*map(rules_of, named)) if rules & rules_of(TAINTED) else rules


def _by_words(every: Sequence[Incident], words: str) -> dict[str, float]:
    """Return how well incidents match words of a symptom in any order; words that no incident has do not count.

    A word counts by how few incidents have it, and three times in a name, a title or a kind. Of what was asked, an
    incident must have more than half.
    """
    asked = {_ENDING.sub("", word) for word in _WORD.findall(_SMALL_WORDS.sub(" ", words))}
    # What the beginning of a word counts in an incident: 0, 1, or 3 in its name, title or kinds.
    hits = {stem: {each.name: max(found) for each in every if (
        found := [counts for word, counts in _words_of(each.name).items() if word.startswith(stem)])} for stem in asked}
    weights = {stem: log(1 + len(every) / len(names)) for stem, names in hits.items() if names}
    scores = {}
    for each in every:
        counts = {stem: hits[stem][each.name] for stem in weights if each.name in hits[stem]}
        part = sum(weights[stem] for stem in counts) / (sum(weights.values()) or 1)
        if part > 1 / 2:
            scores[each.name] = part**2 * sum(weights[stem] * count for stem, count in counts.items())
    return scores


@cache
def _words_of(name: str) -> Mapping[str, int]:
    """Return the words of an incident with what each counts; every wording of its rules is among them."""
    found, rules = incident(name), rules_shown(name)
    wordings = [sentence for meaning in MEANINGS if meaning.rule in rules for sentence in meaning.sentences]
    symptoms, cures = (" ".join(line) for line in found.asked), (cure.words for cure in found.cures)
    heavy = " ".join((found.name, found.title, *found.kinds))
    light = " ".join((found.question, found.cause, *symptoms, *found.sentences, *wordings, *found.sources, *cures))
    return dict.fromkeys(_WORD.findall(light.lower()), 1) | dict.fromkeys(_WORD.findall(heavy.lower()), 3)


def not_shown() -> tuple[NotShown, ...]:
    """Return what people meet and this model cannot show, with the reason."""
    return tuple(NotShown(data["title"], data["reason"], tuple(data["sources"]))
                 for data in packaged_data(*FOLDER, NOT_SHOWN))
