"""How good a change is, in three stars: what waited runs; nobody and no data are harmed; nothing is given up.

It compares a cluster after a change with one that nobody touched, both at rest, and never asks how the change was made.
A star counts only with those before it.
"""

from collections import Counter
from collections.abc import Iterator

import attrs

from kvolsched.api.kinds.node import HOSTNAME_LABEL
from kvolsched.api.notebook_output import PrintedAnswer
from kvolsched.api.words import listed
from kvolsched.questions.fix.harm import Harm, Objects, harm, identity, pods_among
from kvolsched.questions.fix.nodes import MACHINE, PLACES
from kvolsched.questions.why.asking import is_pending
from kvolsched.scheduler.requests import allocatable, format_amount

MOST = 3
_OF_A_MACHINE = frozenset({*MACHINE, *PLACES, HOSTNAME_LABEL})


@attrs.frozen(repr=False)
class Stars(PrintedAnswer):
    """How good a change is; printed, its stars and what the next one lacks.

    Args:
        waiting: what still waits, or waits instead, in words.
        harmed: which pods, workloads or data paid for it, and what is now said of a node that is not so, in words.
        given_up: what pods no longer ask for, in words.
    """

    waiting: tuple[str, ...] = ()
    harmed: tuple[str, ...] = ()
    given_up: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many stars: 0 to 3."""
        return next((number for number, faults in enumerate(self._faults) if faults), MOST)

    @property
    def _faults(self) -> tuple[tuple[str, ...], ...]:
        return self.waiting, self.harmed, self.given_up

    @property
    def drawn(self) -> str:
        """The stars as three characters."""
        return "★" * self.count + "☆" * (MOST - self.count)

    @property
    def sentence(self) -> str:
        """What the next star lacks."""
        if self.count == MOST:
            return "it runs, nobody is harmed, nothing is given up"
        lacks = listed(list(self._faults[self.count]))
        return lacks if self.count == 0 else f"it runs, but {lacks}"

    def __repr__(self) -> str:
        return f"{self.drawn} {self.sentence}"


def stars(untouched: Objects, after: Objects, start: Objects, cost: Harm | None = None) -> Stars:
    """Return how good a change is.

    Args:
        untouched: the objects at rest without the change.
        after: the objects at rest with it.
        start: the objects from which both came.
        cost: what the change costs others, if that is known.
    """
    cost = harm(untouched, after, start) if cost is None else cost
    gone = (f"nobody makes {key.name} again" for key in cost.gone)
    lost = (f"claim {name} lost its volume" for name in cost.lost_claims)
    harmed = (*gone, *lost, *cost.data, *cost.smaller, *lies(untouched, after))
    return Stars(tuple(_waiting(untouched, after, start, cost)), harmed, cost.weaker)


def _waiting(untouched: Objects, after: Objects, start: Objects, cost: Harm) -> Iterator[str]:
    """Yield which of those that waited do not run, and the pods that wait instead."""
    pods = pods_among(untouched), pods_among(after)
    waited = {identity(pod, start): key.name for key, pod in sorted(pods[0].items()) if is_pending(pod)}
    runs = [Counter(identity(pod, start) for pod in each.values() if pod.spec.node_name) for each in pods]
    waits = {identity(pod, start) for pod in pods[1].values() if is_pending(pod)}
    for owner, name in waited.items():
        if owner in waits:
            yield f"{name} still waits"
        elif runs[1][owner] < max(1, runs[0][owner]):
            yield f"{name} is gone and does not run"
    for key in cost.waiting:
        if identity(after[key], start) not in waited:
            yield f"{key.name} waits now: the lack has only moved"


def lies(before: Objects, after: Objects) -> Iterator[str]:
    """Yield what the API says of machines that is not so: another place or kind, more room than the machine has."""
    for key, old in sorted(before.items()):
        new = after.get(key)
        if key.kind != "Node" or new is None or new == old:
            continue
        for label, was in sorted(old.metadata.labels.items()):
            if label in _OF_A_MACHINE and new.metadata.labels.get(label) != was:
                stands = f"stands in {was} as before, and so do its disks: a label moves no machine"
                yield f"{key.name} {f'is {was} as before, whatever its label says' if label in MACHINE else stands}"
        has, says = (allocatable(each.status.allocatable) for each in (old, new))
        for resource, amount in sorted(says.items()):
            if amount > has.get(resource, 0):
                words = (format_amount(resource, each) for each in (amount, has.get(resource, 0)))
                yield "{} says {} {resource} and has {}".format(key.name, *words, resource=resource)
