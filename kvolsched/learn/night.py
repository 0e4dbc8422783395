"""The first ten minutes: a pod that waits, acts as buttons, and three stars; then three more, drawn by a reader's name.

All states that the buttons reach are run and drawn when the game is shown, so it is played without a kernel. `kubectl`
on the same game goes further than its buttons.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from ..api import make
from ..api.kinds.meta import thaw
from ..api.notebook_output import PrintedAnswer
from ..api.text.yaml_text import packaged_data, to_yaml
from ..api.words import listed
from ..cluster import Cluster
from ..questions.fix.harm import MOST
from ..questions.why.asking import is_pending
from ..views.fill import frame_of
from ..views.pictures import picture
from ..views.pictures.choices import Game, State, bundle, page
from .renamed import names_for, number_of, renamed
from .rescue import Act, Rescue
from .scenario import load, read_data

DEPTH = 2  # acts in a row that buttons reach
CPU, MEMORY = "16", "64Gi"  # of a machine that is bought


@attrs.frozen
class Offer:
    """What a button offers: its words, and what it does."""

    words: str
    acts: tuple[Act, ...]


class Choices(Rescue):
    """A cluster in which something waits, with acts to choose from. Mutable.

    Shown in a notebook it is a map with buttons, which need no kernel; `press` does here what they do there.
    """

    def __init__(self, name: str, start: Cluster, question: str, offers: Sequence[Offer], depth: int = DEPTH) -> None:
        super().__init__(start, question)
        self.name, self.offers, self.depth = name, tuple(offers), depth

    def press(self, number: int) -> "Choices":
        """Do what a button does, by its number from 1; all its commands are one act to `undo`."""
        known = len(self._before)
        for act in self.offers[number - 1].acts:
            self.kubectl(act.command, act.stdin)
        del self._before[known + 1 :]
        return self

    def game(self) -> Game:
        """Return every state that the buttons reach, for a picture of it."""
        states = dict(self._states((), self.start))
        return Game(self.name, self.question, [offer.words for offer in self.offers], states, self.depth == 1)

    def _states(self, taken: tuple[int, ...], cluster: Cluster) -> Iterator[tuple[tuple[int, ...], State]]:
        judged = self._judged(cluster) if taken else None
        said = (judged.count, judged.sentence) if judged else ()
        yield taken, State(frame_of(cluster, chips=0, parts=picture.NAMED["map"].parts), *_why(cluster), *said)
        if len(taken) == self.depth or (judged and judged.count == len(judged.drawn)):
            return
        for number, offer in enumerate(self.offers):
            if number in taken:
                continue
            tried = Rescue(cluster)
            if all(tried.kubectl(act.command, act.stdin).code == 0 for act in offer.acts):
                yield from self._states((*taken, number), tried.cluster)

    def __repr__(self) -> str:
        offers = (f"  {number}  {each.words}" for number, each in enumerate(self.offers, 1))
        return "\n".join([super().__repr__(), *offers])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle([self.game()], self.name, repr(self))


class Exam(tuple[Choices, ...], PrintedAnswer):
    """Clusters to be freed with one act each; shown in a notebook, with their stars counted."""

    __slots__ = ()

    def __repr__(self) -> str:
        counted = sum(each.stars.count for each in self if each.acts)
        return "\n\n".join([*map(repr, self), f"{counted} of {MOST * len(self)} stars"])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle([each.game() for each in self], self[0].name.partition(":")[0], repr(self))


def _why(cluster: Cluster) -> tuple[str, str]:
    """Return the question why pods wait, and its answer."""
    pods = [pod.metadata for pod in cluster.objects("pods") if is_pending(pod)]
    answers = (repr(cluster.why(f"pod/{pod.namespace}/{pod.name}")) for pod in pods)
    asks = f"Why {'is' if len(pods) == 1 else 'are'} {listed([pod.name for pod in pods])} Pending?" if pods else ""
    return asks, "\n\n".join(answers)


@cache
def _games() -> Mapping[str, Any]:
    return dict(packaged_data("kvolsched.learn", "games.yaml"))


def rescue() -> Choices:
    """Return the night in which the database does not come back: a map, six acts, three stars.

    >>> rescue().press(3).stars
    ★★★ it runs, nobody is harmed, nothing is given up
    """
    return _choices("night", _games()["night"], {}, DEPTH)


def exam(name: str) -> Exam:
    """Return three clusters, under names that the reader's name draws; each takes one act.

    >>> len(exam("ada"))
    3
    """
    patients = _games()["patients"]
    return Exam(_choices(f"{name}:{number}", data, None, 1, name) for number, data in enumerate(patients, 1))


def save_night(path: Path) -> Path:
    """Write the night as a page that is played without Python and without a network."""
    path.write_text(page([rescue().game()], "Ten minutes: free the database"), "utf-8")
    return path


def _choices(name: str, data: Mapping[str, Any], names: Mapping[str, str] | None, depth: int, *seed: str) -> Choices:
    """Return a game of the file, under new names and with its acts in another order if a seed draws them."""
    told = data["scenario"]
    filled = (load(told) if isinstance(told, str) else read_data(told, name)).filled()
    script = [thaw(line) for line in filled.script]
    if names is None:
        applied = [line["apply"] for line in script if isinstance(line.get("apply"), dict)]
        names = names_for([*map(thaw, filled.objects), *applied], *seed, name)
    plain = {"revision": filled.revision, "components": thaw(filled.components),
             "objects": list(map(thaw, filled.objects)), "script": script}  # fmt: skip
    found = read_data(renamed(plain, names), name)
    offers = [_offer(renamed(each, names)) for each in data["acts"]]
    offers.sort(key=lambda offer: number_of(*seed, offer.words) if seed else 0)
    return Choices(name, found.play(found.cluster()), renamed(data["question"], names), offers, depth)


def _offer(data: Mapping[str, Any]) -> Offer:
    if "machine" in data:
        node = make.node(data["machine"]["name"], zone=data["machine"]["zone"], cpu=CPU, memory=MEMORY)
        return Offer(data["say"], (Act("apply -f -", to_yaml(node)),))
    return Offer(data["say"], tuple(map(Act, data["do"])))
