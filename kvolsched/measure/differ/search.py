"""Searches for the smallest cluster on which two sets of rules disagree: Hypothesis draws and shrinks, then every
object and every field is left out that the disagreement does not need.

No tie passes for a disagreement: a side that draws is run under several seeds, and no run of one side may end as one of
the other.
"""

import copy
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs

from ...api.progress import ProgressBar
from ...cluster import Cluster
from ...core.core import ClusterCore
from ...rules.named import revision_named
from ...rules.revision import Revision
from .difference import NoRuleDifference, RuleDifference
from .outcome import ASPECTS, USUAL, Case, CaseOutcome, ImpossibleCase, chosen_words, differs, run_case

INSTALL = "differ draws clusters with Hypothesis, which is not installed: pip install 'kvolsched[differ]'"
SEEDS = 5  # under which a side that draws is run before a disagreement counts
Rules = str | Revision | Cluster
Wanted = Callable[[RuleDifference], object]


def differ(  # noqa: PLR0913 - named options, each with its default
    a: Rules, b: Rules, seed: int = 0, examples: int = 200, *, progress: bool = True,
    of: str | Iterable[str] = USUAL, about: str | Iterable[str] = (), where: Wanted | None = None, clusters: Any = None,
) -> RuleDifference | NoRuleDifference:  # fmt: skip
    """Search for the smallest cluster on which two sets of rules disagree; an interrupt keeps the smallest so far.

    Small random clusters are created under both rules, and run until nobody has anything left to do. Found clusters are
    made smaller until no object and no field of them can be left out. Equal arguments, and one release of Hypothesis,
    give equal answers.

    Args:
        a: a revision by name, a `Revision` (with gates, a level, a phase, ...), or a cluster without objects, whose
            plugins, webhooks, controllers of your own and dials count: `Cluster("upstream").with_plugin(f)`.
        b: the same.
        seed: of the search, and of ties and draws of the clusters.
        examples: how many clusters are drawn at most until one is found.
        progress: show a progress bar.
        of: what must differ: "answers" to the user, "nodes" that fit a pod's first pass and the chosen one, "ends" of
            pods, claims and volumes, the "words" of rejections, the number of "passes", "fields" of objects in the end,
            or the "writes" of each component; by default one of the first three.
        about: what clusters are about: "volumes", "spread", "affinity", "resources", "gates", "workloads", "capacity",
            "limits"; by default all of it.
        where: says of a disagreement whether it is wanted, such as `lambda found: "VolumeZone" in found.plugins`.
        clusters: a Hypothesis strategy of your own of lists of manifests, in place of `about`.

    Raises:
        ModuleNotFoundError: Hypothesis is not installed.
        UnknownName: there is no such revision, aspect or matter. It is a KeyError and a ValueError.
        ValueError: a cluster that stands for rules has objects or a history; examples is not positive.

    >>> from kvolsched import Cluster, differ
    >>> def no_n1(pod, node, seen):
    ...     return node.metadata.name != "n1" or "closed"
    >>> found = differ("upstream", Cluster("upstream").with_plugin(no_n1), about="resources", progress=False)
    >>> found.sentence
    'pass 1 of pod/p1: under upstream n1 fits, under upstream + no_n1 no_n1 rejects it: closed.'
    >>> [each["kind"] for each in found.case.objects]
    ['Node', 'Pod']
    """
    if examples < 1:
        raise ValueError(f"differ: examples: {examples}: must be at least 1")
    rules = (_empty_cluster(a), _empty_cluster(b))
    search = _Search(rules, _names(rules), chosen_words("aspect", of, ASPECTS), seed, where)
    with ProgressBar(unit=" clusters", disable=not progress) as search.bar:
        return search.result(_cases(clusters, about), examples)


class _Search:
    """A search: what is compared, the smallest disagreement so far, and what was judged before. Mutable."""

    def __init__(self, rules: tuple[Cluster, Cluster], names: tuple[str, str], of: tuple[str, ...], seed: int,
                 where: Wanted | None) -> None:
        self.rules, self.names, self.of, self.seed, self.where = rules, names, of, seed, where
        self.judged: dict[str, bool] = {}
        self.drawn = 0
        self.smallest: RuleDifference | None = None
        self.bar = ProgressBar(disable=True)

    def result(self, cases: Any, examples: int) -> RuleDifference | NoRuleDifference:
        """Draw cases until two outcomes differ, make the case smaller, and return the smallest disagreement."""
        from . import clusters as drawing  # noqa: PLC0415 - Hypothesis is an extra

        interrupted = False
        try:
            if drawing.find_case(cases, self.disagrees, examples, self.seed):
                self._leave_out()
        except KeyboardInterrupt:
            interrupted = True
        end = f"seed {self.seed}{', interrupted' if interrupted else ''}"
        if self.smallest is None:
            return NoRuleDifference(self.names, f"none in {len(self.judged)} clusters, {end}", interrupted)
        smaller = len(self.judged) - self.drawn
        words = f"cluster {self.drawn} of at most {examples}, made smaller in {smaller} tries, {end}"
        return attrs.evolve(self.smallest, searched=words, interrupted=interrupted)

    def _leave_out(self) -> None:
        """Leave out objects, commands and fields until none can be left out any more."""
        again = True
        while again:
            again = False
            assert self.smallest is not None
            for path in list(_parts(self.smallest.case)):
                smaller = _without(self.smallest.case, path)
                again = (smaller is not None and self.disagrees(smaller)) or again

    def disagrees(self, case: Case) -> bool:
        """Say whether a case is one that is searched for, and keep it if it is the smallest."""
        known = json.dumps([case.objects, case.commands], sort_keys=True)
        if known not in self.judged:
            found = self._judge(case)
            self.judged[known] = found is not None
            self.drawn += self.smallest is None
            if found is not None and (self.smallest is None or case.size < self.smallest.case.size):
                self.smallest = found
            self.bar.update()
        return self.judged[known]

    def _judge(self, case: Case) -> RuleDifference | None:
        """Run a case under both rules; None if no disagreement is found that is wanted and no matter of ties."""
        try:
            both = [run_case(rules, case, self.seed) for rules in self.rules]
        except ImpossibleCase:
            return None
        found = RuleDifference(case, self.names, self.rules, (both[0], both[1]), self.of, self.seed)
        if not differs(*found.outcomes, self.of) or (self.where is not None and not self.where(found)):
            return None
        runs: tuple[list[CaseOutcome], list[CaseOutcome]] = ([both[0]], [both[1]])
        for seed in range(self.seed + 1, self.seed + SEEDS):
            for side in (each for each in (0, 1) if both[each].drawn):
                runs[side].append(run_case(self.rules[side], case, seed))
                pairs = ((runs[side][-1], other) if side == 0 else (other, runs[side][-1]) for other in runs[1 - side])
                if not all(differs(*pair, self.of) for pair in pairs):
                    return None
        return found


# What a found object cannot be without: its phase, and what it is bound to.
STATE = {kind: ("status", field) for kind, field in (
    ("PersistentVolume", "claimRef"), ("PersistentVolumeClaim", "volumeName"), ("Pod", "nodeName"))}  # fmt: skip
Path = tuple[str | int, ...]


def _parts(case: Case) -> Iterator[Path]:
    """Yield the paths of what may be left out: later items first, so that the places of earlier ones stay."""
    for number in reversed(range(len(case.commands))):
        yield "commands", number
    for number in reversed(range(len(case.objects))):
        yield "objects", number
        kept = STATE.get(case.objects[number].get("kind", ""), ())
        yield from (("objects", number, *path) for path in _paths(case.objects[number]) if not set(kept) & set(path))


def _paths(value: Any) -> Iterator[Path]:
    """Yield the path of every part of plain data, the whole before its parts."""
    keys = list(value) if isinstance(value, dict) else reversed(range(len(value))) if isinstance(value, list) else ()
    for key in keys:
        yield (key,)
        yield from ((key, *path) for path in _paths(value[key]))


def _without(case: Case, path: Path) -> Case | None:
    """Return a case without one of its parts; None if it has no such part any more, or an item would be left empty."""
    whole: Any = {"objects": copy.deepcopy(list(case.objects)), "commands": list(case.commands)}
    around, inner = None, whole
    for key in path[:-1]:
        if not _has(inner, key):
            return None
        around, inner = inner, inner[key]
    if not _has(inner, path[-1]):
        return None
    del inner[path[-1]]
    if len(path) > 2 and inner in ([], {}) and list in (type(inner), type(around)):
        return None  # `nodeSelectorTerms: [{}]` tells a reader less than what was there
    return Case(tuple(whole["objects"]), tuple(whole["commands"]))


def _has(value: Any, key: str | int) -> bool:
    return key in (value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ())


def _empty_cluster(rules: Rules) -> Cluster:
    """Return the empty cluster that has these rules."""
    if not isinstance(rules, ClusterCore):
        return Cluster(revision_named(rules))
    if rules.world.log.objects or rules.world.known_steps:
        raise ValueError(f"differ: a cluster that stands for rules has no objects and no steps, not: {rules!r}")
    return rules


def _names(rules: tuple[Cluster, Cluster]) -> tuple[str, str]:
    """Return what two sets of rules are called: by their revisions, else by their clusters, else by their places."""
    ways = ([each.revision.name for each in rules], [each.name or each.revision.name for each in rules],
            [f"{each.revision.name} ({place})" for each, place in zip(rules, "ab", strict=True)])  # fmt: skip
    first, second = next(names for names in ways if names[0] != names[1])
    return first, second


def _cases(clusters: Any, about: str | Iterable[str]) -> Any:
    """Return the strategy of cases: the reader's own, of lists of manifests, or one of clusters about these matters."""
    if clusters is not None:
        return clusters.map(lambda drawn: drawn if isinstance(drawn, Case) else Case(tuple(drawn)))
    try:
        from . import clusters as own  # noqa: PLC0415 - Hypothesis is an extra
    except ModuleNotFoundError as missing:
        if missing.name != "hypothesis":
            raise
        raise ModuleNotFoundError(INSTALL, name="hypothesis") from None
    return own.clusters(about or own.ABOUT)
