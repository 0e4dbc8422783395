"""A cluster on which two sets of rules disagree, as it is shown: a sentence, both answers, the manifests."""

from functools import cached_property
from typing import Any

import attrs

from kvolsched.api.notebook_output import DrawnAnswer, PrintedAnswer
from kvolsched.api.words import counted

from ...api.kinds.kind import KINDS_BY_NAME
from ...api.words import hanging_indent
from ...cluster import Cluster
from ...questions.differences import Diff, columns, diff, parting
from .outcome import Case, CaseOutcome, ComparedAnswer, rows_of, start

SHOWN = ("answers", "words", "ends")
"""The aspects of the table of verdicts."""
MOST_WORDS = 160  # characters of an answer in the sentence


@attrs.frozen(repr=False, slots=False, eq=False)
class RuleDifference(DrawnAnswer):
    """A cluster on which two sets of rules disagree; true, so that a search that found none can be told.

    Args:
        case: the objects, in the order of their creation, and the commands that follow.
        names: what the two sets of rules are called.
        rules: an empty cluster under each of the two.
        outcomes: what became of the case under each.
        of: the aspects that were compared.
        seed: decides ties and draws of both.
        searched: how it was found, in words.
        interrupted: whether Ctrl-C ended the search before it had a smallest one.
    """

    case: Case
    names: tuple[str, str]
    rules: tuple[Cluster, Cluster]
    outcomes: tuple[CaseOutcome, CaseOutcome]
    of: tuple[str, ...]
    seed: int = 0
    searched: str = ""
    interrupted: bool = False

    @property
    def manifests(self) -> str:
        """The objects as YAML, to be saved and loaded; commands follow as comments."""
        return self.case.manifests

    @property
    def objects(self) -> tuple[str, ...]:
        """The objects by their references."""
        named = ((KINDS_BY_NAME[each["kind"]].alias, each["metadata"]["name"]) for each in self.case.objects)
        return tuple(f"{kind}/{name}" for kind, name in named)

    @cached_property
    def a(self) -> Cluster:
        """The cluster under the first rules, before anybody has acted, to be stepped."""
        return self._cluster(0)

    @cached_property
    def b(self) -> Cluster:
        """The cluster under the second rules, before anybody has acted, to be stepped."""
        return self._cluster(1)

    def _cluster(self, side: int) -> Cluster:
        cluster, _ = start(self.rules[side], self.case, self.seed)
        cluster.name = self.names[side]
        return cluster

    @cached_property
    def rows(self) -> tuple[ComparedAnswer, ...]:
        """What both make of the aspects that were compared, where they differ."""
        return tuple(row for row in rows_of(*self.outcomes, self.of) if row.differs)

    @cached_property
    def verdicts(self) -> tuple[ComparedAnswer, ...]:
        """What both make of each pod on each node in its first pass, and of each object in the end; answers first."""
        every = [row for row in rows_of(*self.outcomes, SHOWN) if row.differs or row.what.startswith("pass")]
        seen = {(row.about, row.what) for row in every}
        return (*every, *(row for row in self.rows if (row.about, row.what) not in seen))

    @cached_property
    def sentence(self) -> str:
        """In what they differ: an answer to the user, else where they part first if nodes are compared, else a row."""
        answer = next((row for row in rows_of(*self.outcomes, ("answers",)) if row.differs), None)
        if answer is not None:
            both = zip(self.names, (answer.a, answer.b), strict=True)
            words = ((name, " ".join(said.split())) for name, said in both)
            told = [f"{name} answers: {said[:MOST_WORDS]}{' …' * (len(said) > MOST_WORDS)}" for name, said in words]
            return f"{answer.about}: {'; '.join(told)}"
        judged = "nodes" in self.of
        found, _ = parting(self.outcomes[0].cluster, self.outcomes[1].cluster, self.names) if judged else ("", "")
        row = self.rows[0]
        return found or f"{row.about}, {row.what}: under {self.names[0]} {row.a}, under {self.names[1]} {row.b}."

    @property
    def plugins(self) -> tuple[str, ...]:
        """The plugins that reject a node in a pod's first pass under one set of rules where the other's do not."""
        mine, theirs = (outcome.verdicts for outcome in self.outcomes)
        places = [(pod, node) for pod in mine if pod in theirs for node in mine[pod] if node in theirs[pod]]
        both = [(mine[pod][node], theirs[pod][node]) for pod, node in places]
        return tuple(dict.fromkeys(a.plugin or b.plugin for a, b in both if bool(a.plugin) != bool(b.plugin)))

    def diff(self) -> Diff:
        """Return how the objects of both differ in the end; in a notebook it is drawn."""
        return diff(*(outcome.cluster for outcome in self.outcomes))

    def lab(self) -> Any:
        """Open the panel with both clusters side by side, from the start; what differs is marked."""
        return self.a.lab(beside=self.b)

    def as_data(self) -> dict[str, Any]:
        """Return the disagreement as plain data, as `kvolsched differ --json` prints it."""
        rows = [{"object": row.about, "what": row.what, "a": row.a, "b": row.b} for row in self.verdicts]
        return {"rules": list(self.names), "sentence": self.sentence, "objects": list(self.case.objects),
                "commands": list(self.case.commands), "verdicts": rows, "searched": self.searched}  # fmt: skip

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        count, commands = len(self.case.objects), len(self.case.commands)
        head = f"{self.names[0]} and {self.names[1]} disagree on {counted(count, 'object')}"
        head += f" and {counted(commands, 'command')}" if commands else ""
        table, before = [("object", "what", *self.names)], ""
        for row in self.verdicts:
            about = row.about if row.about != before else ""
            table.append((about, f"{'≠' if row.differs else '='} {row.what}", row.a, row.b))
            before = row.about
        return "\n".join([hanging_indent([head + (f" ({self.searched})" if self.searched else "") + "."], 2),
                          hanging_indent([self.sentence], 2), *columns(table), "", self.manifests.rstrip("\n")])


@attrs.frozen(repr=False)
class NoRuleDifference(PrintedAnswer):
    """No cluster was found on which two sets of rules disagree; false.

    Args:
        names: what the two sets of rules are called.
        searched: how many clusters were judged, in words.
        interrupted: whether Ctrl-C ended the search.
    """

    names: tuple[str, str]
    searched: str
    interrupted: bool = False

    def as_data(self) -> dict[str, Any]:
        """Return the agreement as plain data, as `kvolsched differ --json` prints it."""
        return {"rules": list(self.names), "sentence": "", "objects": [], "commands": [], "verdicts": [],
                "searched": self.searched}  # fmt: skip

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"{self.names[0]} and {self.names[1]}: {self.searched}"
