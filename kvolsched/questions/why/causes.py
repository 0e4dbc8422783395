"""Why many pods are pending: of pods that are alike one is judged, and pods that lack alike are one cause.

Groups answers; judges nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import overload

import attrs

from ...api.notebook_output import DrawnAnswer, to_type
from ...api.words import counted, hanging_indent
from .answer import DemandRow, Why
from .table import joined


@attrs.frozen
class Alike:
    """Pods that are judged alike.

    Args:
        example: why one of them waits.
        names: what only that one has, such as the names of its claims.
    """

    example: Why
    names: tuple[str, ...] = ()

    def is_named_in(self, words: str) -> bool:
        """Say whether words are about the example alone."""
        return any(name in words for name in self.names)


class Answers(Sequence[Why]):
    """Why each of several pods waits; a pod that is like another one is judged by itself when its answer is asked for.

    Args:
        rows: for each pod its name, the pods that it is judged alike with, and a function that makes its own answer;
            None if the answer is the example's but for the pod.
    """

    def __init__(self, rows: Iterable[tuple[str, Alike, Callable[[], Why] | None]]) -> None:
        self._rows = list(rows)

    @property
    def pods(self) -> tuple[str, ...]:
        """The pods, as `namespace/name`."""
        return tuple(pod for pod, _, _ in self._rows)

    @property
    def alike(self) -> tuple[Alike, ...]:
        """For each pod, those that it is judged alike with."""
        return tuple(alike for _, alike, _ in self._rows)

    def some(self, places: Iterable[int]) -> Answers:
        """Return the answers at some places."""
        return Answers(self._rows[place] for place in places)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Why]:
        return map(self.__getitem__, range(len(self)))

    @overload
    def __getitem__(self, place: int) -> Why: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Why]: ...
    def __getitem__(self, place: int | slice) -> Why | Sequence[Why]:
        if isinstance(place, slice):
            return self.some(range(*place.indices(len(self))))
        pod, alike, make = self._rows[place]
        if pod == alike.example.pod:
            return alike.example
        if make is None:
            return attrs.evolve(alike.example, pod=pod)
        made = make()
        self._rows[place] = pod, alike, lambda: made
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(Why.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"({', '.join(map(repr, self))})"


def answers_of(answers: Iterable[Why]) -> Answers:
    """Return answers that are made already."""
    return answers if isinstance(answers, Answers) else Answers((each.pod, Alike(each), None) for each in answers)


MAX_NAMED = 3  # pods of a cause that are named
CHECKS = "`kvolsched check` makes them of manifests."
MAKE_PODS = "c.run() lets their controllers make them; `kvolsched check` does so for manifests."
STATES = {
    "fits": "A node would take it now",
    "waiting": "A node is chosen; its volumes are not bound yet",
    "leaving": "It is being deleted",
    "not ours": "It asks for another scheduler",
}


@attrs.frozen(repr=False)
class Cause:
    """Pods that wait for one cause.

    Args:
        answers: why each of these pods waits, by name.
        title: what is lacking, in one sentence.
        sides: both sides of the comparisons on which nodes fail, amounts as ranges.
    """

    answers: Answers = attrs.field(converter=answers_of)
    title: str
    sides: str = ""

    @property
    def pods(self) -> tuple[str, ...]:
        """The pods, as `namespace/name`."""
        return self.answers.pods

    @property
    def alike(self) -> bool:
        """Whether all of these pods are judged alike, so that one was judged for all."""
        return len(self) > 1 and len(set(map(id, self.answers.alike))) == 1

    @property
    def example(self) -> Why:
        """Why the first of these pods waits."""
        return self.answers[0]

    @property
    def plugins(self) -> tuple[str, ...]:
        """The plugins that together exclude every node; () if none does."""
        return tuple(dict.fromkeys(demand.plugin for demand in self.example.demands))

    def __len__(self) -> int:
        return len(self.answers)

    def __repr__(self) -> str:
        named = ", ".join(self.pods[:MAX_NAMED])
        more = f" and {len(self) - MAX_NAMED:,} more" if len(self) > MAX_NAMED else ""
        if more and self.alike:
            named = f"{len(self):,} pods alike: {named}"
        words = f"{self.title}{f' ({self.sides})' if self.sides else ''}"
        return f"{' + '.join(self.plugins) or 'not tried'}: {words} – {named}{more}"


@attrs.frozen(repr=False)
class Whys(DrawnAnswer):
    """Why each of several pods is pending: one answer for each pod, and pods of one cause together.

    Args:
        answers: why each pod waits, by name.
        zones: each zone with its nodes; "" for nodes without one.
        nearest_edit: finds the nearest edit after which a pod fits, in words, for the picture.
        most: how many causes are printed and drawn; the last ones of more share a line.
        without_pods: workloads that have no pods yet, if no pod waits.
        refused: sentences about workloads whose controllers cannot create their pods.
    """

    answers: Answers = attrs.field(converter=answers_of)
    zones: tuple[tuple[str, tuple[str, ...]], ...]
    nearest_edit: Callable[[str], str] | None = attrs.field(eq=False)
    most: int
    without_pods: tuple[str, ...]
    refused: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Why]:
        return iter(self.answers)

    def __getitem__(self, number: int) -> Why:
        return self.answers[number]

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The causes, that of most pods first."""
        together: dict[tuple[str, ...], list[int]] = {}
        for place, alike in enumerate(self.answers.alike):
            together.setdefault(_key(alike.example), []).append(place)
        ordered = sorted(together.values(), key=lambda places: (-len(places), places))
        each = map(self.answers.some, ordered)
        return tuple(
            Cause(answers, said) if (said := _headline(answers)) else
            Cause(answers, _title(answers), _sides(_examples(answers))) for answers in each
        )  # fmt: skip

    @property
    def title(self) -> str:
        """How many pods wait, for how many causes; and whose pods cannot be created."""
        return "; ".join([self._counted().removesuffix("." if self.refused else ""), *self.refused])

    def _counted(self) -> str:
        causes, count = self.causes, len(self.answers)
        if not count:
            if self.without_pods:
                have = f"{'has' if len(self.without_pods) == 1 else 'have'} no pods yet. {to_type(MAKE_PODS, CHECKS)}"
                return f"No pod waits for a node: {', '.join(self.without_pods)} {have}"
            return "No pod waits for a node."
        pods = "1 pod waits" if count == 1 else f"{count:,} pods wait"
        if len(causes) == 1:
            return f"{pods} for a node, for one cause"
        held = sum(map(len, causes[:3]))
        uneven = len(causes) > 4 and len(causes[0]) > 1 and held * 2 > count
        most = f"; the first three hold {held:,} of them" if uneven else ""
        return f"{pods} for a node, for {len(causes)} causes{most}"

    def __repr__(self) -> str:
        causes = self.causes
        wide = len(f"{max(map(len, causes), default=0):,}")
        lines = [self.title]
        lines += [f"  {len(c):>{wide},}  {hanging_indent([repr(c)], wide + 4)}" for c in causes[: self.most]]
        rest = causes[self.most :]
        if rest:
            how = to_type("`.causes`, or a larger `most`", "a larger --most")
            lines.append(f"  {sum(map(len, rest)):>{wide},}  of {counted(len(rest), 'more cause')} ({how})")
        return "\n".join(lines)


def _key(answer: Why) -> tuple[str, ...]:
    """Return what answers of one cause share: their demands without names, or the state."""
    if answer.state == "gated":
        return "gated", *answer.gates
    if answer.state != "unschedulable" or not answer.demands:
        return answer.state, answer.headline if answer.state == "unschedulable" else ""
    return tuple(sorted(f"{demand.plugin} {demand.sort} {demand.kind or demand.title}" for demand in answer.demands))


def _examples(answers: Answers) -> list[Why]:
    """Return one answer for all pods that are judged alike."""
    return list({id(alike): alike.example for alike in answers.alike}.values())


def _headline(answers: Answers) -> str:
    """Return the first sentence that all answers share, if it names nothing that only one of many pods has; else ""."""
    first, *others = _examples(answers)
    shared = first.state == "unschedulable" and all(other.headline == first.headline for other in others)
    named = len(answers) > 1 and answers.alike[0].is_named_in(first.headline)
    return first.headline if shared and not named else ""


def _title(answers: Answers) -> str:
    first = answers.alike[0].example
    if first.state == "gated":
        return f"Held by a scheduling gate: {', '.join(first.gates)}"
    if not first.demands:
        return STATES.get(first.state, first.headline)
    words = [_shared_words(answers, place) for place in range(min(3, len(first.demands)))]
    more = [f"and {len(first.demands) - 3} more demands"] if len(first.demands) > 3 else []
    return "; ".join([*words[:1], *(word[:1].lower() + word[1:] for word in words[1:]), *more])


def _shared_words(answers: Answers, place: int) -> str:
    """Return what all answers lack: with names if these are equal, else without."""
    examples, alike = _examples(answers), answers.alike
    demand = examples[0].demands[place]
    if demand.sort == "before filtering":
        words = demand.details[0] if demand.details else demand.words
        different = {example.demands[0].details[:1] for example in examples}
        named = len(different) > 1 or (len(answers) > 1 and alike[0].is_named_in(words))
        said = demand.kind if named and demand.details else words
        return said[:1].upper() + said[1:]
    titles = {other.title for example in examples for other in example.demands if other.kind == demand.kind}
    named = len(titles) > 1 or (len(answers) > 1 and alike[0].is_named_in(demand.title))
    return (demand.kind or demand.title) if named else demand.title


def _sides(answers: Sequence[Why]) -> str:
    """Return both sides of what fails, for each demand where it excludes most nodes; asked amounts as a range."""
    first = answers[0]
    if first.state == "gated":
        return first.ungated
    found = []
    for place, demand in enumerate(first.demands[:3]):
        cells = [group.cells[place] for group in first.groups if group.cells[place].verdict != "passes"]
        if not cells:
            continue
        different = list({str(cell.sides): cell.sides for cell in cells}.values())[:2]
        asked = _asked_range(answers, demand)
        if asked:
            different = [attrs.evolve(sides, left=asked) for sides in different]
        words, about = str(joined(different)), cells[0].sides.about
        if demand.sort == "request":
            words += " left"
        elif about and demand.sort != "cordon" and len({cell.sides.about for cell in cells}) == 1:
            words = f"{about}: {words}"
        found.append(words)
    return "; ".join(dict.fromkeys(found))


def _asked_range(answers: Sequence[Why], demand: DemandRow) -> str:
    """Return the least and the most that these pods ask for; "" if they ask alike or nothing is counted."""
    amounts: dict[int, str] = {}
    for answer in answers:
        for place, other in enumerate(answer.demands):
            if (other.plugin, other.sort, other.kind) == (demand.plugin, demand.sort, demand.kind):
                for group in answer.groups:
                    sides = group.cells[place].sides
                    if group.cells[place].verdict != "passes" and sides.asked is not None and sides.right:
                        amounts[sides.asked] = sides.left
    if len(amounts) < 2:
        return ""
    return f"{amounts[min(amounts)]} … {amounts[max(amounts)]}"
