"""The known differences between the design documents and Kubernetes v1.36, each with the smallest cluster found.

`known/NN.yaml` has a row: its words, the two sets of rules and the cluster, or why no cluster can show it. The clusters
were found by `differ` (tests/store_differences.py); they are run again whenever they are asked for.
"""

from functools import cache
from pathlib import Path

import attrs

from kvolsched.api.notebook_output import PrintedAnswer

from ...api.kinds.meta import EMPTY, Frozen, freeze, thaw
from ...api.text import manifest
from ...api.unknown_name import UnknownName
from ...api.words import counted, hanging_indent
from ...cluster import Cluster
from .difference import RuleDifference
from .outcome import USUAL, Case, run_case

FOLDER = "measure/differ/known"


@attrs.frozen(repr=False, slots=False, kw_only=True)
class KnownDifference(PrintedAnswer):
    """One difference between the documents and today.

    Args:
        row: its number.
        topic: what it is about.
        design: what the documents say.
        today: what Kubernetes v1.36 does.
        why: why no cluster shows it; "" if one does.
        rules: the names of the two sets of rules.
        components: dials that both have.
        of: the aspects in which they differ.
        objects: the cluster's objects.
        commands: kubectl commands that follow.
        outcomes: what was found: object, question, and both answers.
    """

    row: int
    topic: str
    design: str
    today: str
    why: str = ""
    rules: tuple[str, str] = ("design", "upstream")
    components: Frozen = EMPTY
    of: tuple[str, ...] = USUAL
    objects: tuple[Frozen, ...] = ()
    commands: tuple[str, ...] = ()
    outcomes: tuple[tuple[str, str, str, str], ...] = ()

    @property
    def case(self) -> Case:
        """The cluster that shows the difference; without objects if none does."""
        return Case(tuple(thaw(each) for each in self.objects), self.commands)

    def replay(self) -> RuleDifference:
        """Run the cluster under both sets of rules.

        Raises:
            ValueError: no cluster shows this difference; says why.
        """
        if not self.objects:
            raise ValueError(f"row {self.row}, {self.topic}: {self.why}")
        empty = [Cluster(name, components=thaw(self.components)) for name in self.rules]
        outcomes = [run_case(each, self.case, 0) for each in empty]
        return RuleDifference(self.case, self.rules, (empty[0], empty[1]), (outcomes[0], outcomes[1]), self.of)

    @property
    def sentence(self) -> str:
        """Where both part first, or why no cluster shows it."""
        return self.replay().sentence if self.objects else self.why

    def __repr__(self) -> str:
        head = f"{self.row} · {self.topic}. Documents: {self.design}. Today: {self.today}."
        dials = [f"With the dials {thaw(self.components)}."] if self.components else []
        body = repr(self.replay()) if self.objects else hanging_indent([self.why], 2)
        return "\n".join([hanging_indent([head], 2), *dials, body])


class KnownDifferences(PrintedAnswer, dict[int, KnownDifference]):
    """The known differences by their numbers; printed, a table."""

    def __missing__(self, row: object) -> KnownDifference:
        raise UnknownName(f"no difference {row!r}; there are 1 to {len(self)}")

    def __repr__(self) -> str:
        topics = max(len(each.topic) for each in self.values())
        lines = []
        for row, each in self.items():
            seen = f"{counted(len(each.objects), 'object')}, {' and '.join(each.rules)}" if each.objects else each.why
            head = f"{row:>2}  {each.topic:<{topics}}  "
            lines.append(head + hanging_indent([seen], len(head)))
        return "\n".join(lines)


@cache
def known_differences() -> KnownDifferences:
    """Return the differences between the design documents and Kubernetes v1.36, by number, most with a cluster.

    >>> from kvolsched import known_differences
    >>> known_differences()[2].sentence
    'pod/p1, passes: under design 2, under upstream 1.'
    """
    files = sorted(Path(__file__).parents[2].joinpath(FOLDER).glob("*.yaml"))
    told = (manifest.read_plain(each.read_text("utf-8"))[0] for each in files)
    rows = [KnownDifference(**{word: freeze(value) for word, value in fields.items()}) for fields in told]
    return KnownDifferences({each.row: each for each in rows})
