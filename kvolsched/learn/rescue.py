"""A cluster in which something waits, acts on it by kubectl, and three stars for what they did.

The cluster runs after each act until nothing is left to do, or a minute is over. It is judged beside a copy that nobody
touched, both a minute later: what an act breaks may show only when a controller looks again.
"""

from functools import cached_property
from typing import Any, Self

import attrs

from ..api.notebook_output import PrintedAnswer
from ..cluster import Cluster
from ..kubectl import CommandOutput
from ..questions.fix.harm import Stars, stars
from ..questions.why import Why, Whys
from ..world.log import Key

LOOKS = ("get ", "describe ", "rollout status ", "help")  # commands that change nothing
REST = 60.0  # simulated seconds


@attrs.frozen
class Act:
    """A kubectl command that changed something, and what its `-f -` read."""

    command: str
    stdin: str = ""


class Rescue(PrintedAnswer):
    """A cluster with a waiting pod, to be freed by kubectl; printed, its pods and the stars so far. Mutable.

    Args:
        start: the cluster as it is found; it is not changed.
        question: what is asked, in words.
    """

    def __init__(self, start: Cluster, question: str = "") -> None:
        self.start, self.question = start, question
        self._before: list[tuple[int, Cluster]] = []  # how many acts there were, and the cluster
        self.acts: list[Act] = []
        self.cluster = start.fork()

    def kubectl(self, command: str, stdin: str = "") -> CommandOutput:
        """Run kubectl: `get` and `describe` only look; after any other command the cluster runs until it is idle."""
        if command.removeprefix("kubectl ").lstrip().startswith(LOOKS):
            return self.cluster.kubectl(command, stdin)
        before = self.cluster.fork()
        done = self.cluster.kubectl(command, stdin)
        if done.code == 0:
            self._before.append((len(self.acts), before))
            self.acts.append(Act(command, stdin))
            self.cluster.run(seconds=REST)
        return done

    def undo(self) -> Self:
        """Take the last act back; without any nothing happens."""
        if self._before:
            count, self.cluster = self._before.pop()
            del self.acts[count:]
        return self

    @property
    def stars(self) -> Stars:
        """What the acts so far are worth: what waited runs, nobody and no data are harmed, nothing is given up."""
        return self._judged(self.cluster)

    def _judged(self, cluster: Cluster) -> Stars:
        return stars(self._untouched, at_rest(cluster), self.start.world.log.objects)

    @property
    def why(self) -> Why | Whys:
        """Why pods wait now."""
        return self.cluster.why()

    @cached_property
    def _untouched(self) -> dict[Key, Any]:
        return at_rest(self.start)

    def __repr__(self) -> str:
        lines = [self.question, str(self.cluster.kubectl("get pods -A -o wide"))]
        return "\n\n".join([*lines, repr(self.stars)] if self.acts else lines)


def at_rest(cluster: Cluster) -> dict[Key, Any]:
    """Return the objects of a cluster a minute after it is idle."""
    fork = cluster.fork()
    fork.run(seconds=REST)
    fork.run(seconds=REST)
    return dict(fork.world.log.objects)
