"""What the face answers: steps, runs, choices and acts of the user, as values that read as sentences.

A turn's words are the actor's own; here they are only set: with a capital, a full stop, and broken to fit a notebook.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

import attrs

from .world.apiserver import RefusedWrite
from .world.history import Turn

MAX_PRINTED = 20  # a run of more steps is not told step by step
LINE_WIDTH = 110  # characters of a line of text in a notebook
COMPONENT_NAMES = {  # what people call them -> the components' names
    "scheduler": "kube-scheduler", "PV controller": "persistent-volume-binder",
    "StatefulSet controller": "statefulset-controller", "Deployment controller": "deployment-controller",
    "ReplicaSet controller": "replicaset-controller", "DaemonSet controller": "daemonset-controller",
    "ephemeral volume controller": "ephemeral-volume-controller", "garbage collector": "generic-garbage-collector",
    "PVC protection": "pvc-protection-controller", "PV protection": "pv-protection-controller",
    "disruption controller": "disruption-controller",
}  # fmt: skip
DISPLAY_NAMES = {component: name for name, component in COMPONENT_NAMES.items()}


@attrs.frozen(repr=False)
class Step:
    """One step: the turns of one cause, with the sentence that tells it."""

    number: int
    time: float
    turns: tuple[Turn, ...]

    @property
    def actor(self) -> str:
        """Who acted."""
        return self.turns[-1].actor or self.turns[-1].component if self.turns else ""

    @property
    def lines(self) -> tuple[str, ...]:
        """What happened, in one sentence a turn."""
        return tuple(dict.fromkeys(as_sentence(turn.words) for turn in self.turns if turn.words and not turn.quiet))

    @property
    def words(self) -> str:
        """What happened, in one line."""
        return " ".join(self.lines)

    def __bool__(self) -> bool:
        return bool(self.turns)

    def __repr__(self) -> str:
        if not self.turns:
            return "nothing to do" if self.number else "the start: nothing has happened yet"
        head = f"step {self.number}, t={self.time:g} s: "
        return head + hanging_indent(self.lines, len(head))


@attrs.frozen(repr=False)
class Run:
    """What a run did: its steps, and why it ended."""

    steps: tuple[Step, ...]
    ended: str

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        count = len(self.steps)
        if not count:
            return self.ended
        told = [f"{step!r}" for step in self.steps] if count <= MAX_PRINTED else []
        return "\n".join([*told, f"{count} step{'s' if count != 1 else ''}, t={self.steps[-1].time:g} s: {self.ended}"])


class ApplyRefused(Exception):
    """The API server refused what a user asked for, and nothing of the call was done; `refusals` holds them all."""

    def __init__(self, refusals: Sequence[RefusedWrite]) -> None:
        self.refusals = tuple(refusals)
        super().__init__("\n".join(refused.message for refused in self.refusals))

    @property
    def lines(self) -> tuple[str, ...]:
        """What kubectl prints of it, an entry an object."""
        return tuple(map(_printed, self.refusals))

    def _render_traceback_(self) -> list[str]:
        lines = "\n".join(self.lines).split("\n")
        more = len(lines) - MAX_PRINTED
        return lines if more <= 0 else [*lines[:MAX_PRINTED], f"... and {more} lines more; all are in .lines"]


def _printed(refused: RefusedWrite) -> str:
    """Return kubectl's words for a refusal: of what is invalid each fault, of all else the reason and the message."""
    if refused.reason != "Invalid" or not refused.causes:
        return f"Error from server ({refused.reason}): {refused.message}"
    head = f'The {refused.write.key.kind} "{refused.write.key.name}" is invalid: '
    causes = [str(cause) for cause in refused.causes]
    return head + (causes[0] if len(causes) == 1 else "".join(f"\n* {cause}" for cause in causes))


@attrs.frozen(repr=False)
class ApplyResult:
    """What an act of the user did, a line an object, in kubectl's words."""

    lines: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join(self.lines)


@attrs.frozen(repr=False)
class PossibleTurns:
    """Who may act next and what each would do; what a plain step does comes first."""

    turns: tuple[Turn, ...]
    now: float

    def __len__(self) -> int:
        return len(self.turns)

    def __iter__(self) -> Iterator[Turn]:
        return iter(self.turns)

    def __repr__(self) -> str:
        if not self.turns:
            return "nobody: the cluster is idle"
        wide = max(len(turn.actor) for turn in self.turns)
        rows = [(turn, f"in {turn.time - self.now:g} s: " if turn.time > self.now else "") for turn in self.turns]
        told = [(turn.actor, when + as_sentence(turn.words or turn.cause)) for turn, when in rows]
        return "\n".join(f"{actor:<{wide}}  {hanging_indent([words], wide + 2)}" for actor, words in told)


def hanging_indent(lines: Iterable[str], indent: int, width: int = LINE_WIDTH) -> str:
    """Set lines under each other behind an indent, broken at the width; the first follows what stands there already."""
    room = max(40, width - indent)
    broken = [part for line in lines for part in wrap(line, room, break_long_words=False, break_on_hyphens=False)]
    return f"\n{'':{indent}}".join(broken)


def as_sentence(words: str) -> str:
    """Set words as a sentence: with a full stop, and a capital unless they open with a name such as `pd.csi`."""
    first = words.partition(" ")[0]
    plain = first.isalpha() and not words[:1].isupper()
    return (words[:1].upper() + words[1:] if plain else words) + ("" if words.endswith((".", "!", "?")) else ".")
