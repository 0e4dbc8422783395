"""What spreading costs (S3, Risks; Test Plan, Benchmark Tests): counted as the loop runs, in pods with it and without.

Nothing is timed: a run counts how often the plugin of spreading is asked, and how many pods it compares with a
selector. `kvolsched bench` has the times.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import attrs

from kvolsched.api.notebook_output import PrintedAnswer, Rows, table_text

from ...api import make
from ...api.kinds.pod import Pod
from ...api.unknown_name import unknown_name
from ...cluster import Cluster
from ...rules.named import revision_named
from ...rules.revision import Revision
from ...scheduler.columns.column import Codes
from ...scheduler.columns.pod_counts import PodMatcher
from ...scheduler.framework.extension_points import ColumnContext, RawScores
from ...scheduler.framework.profile import derived
from ...scheduler.plugins.pod_topology_spread import PodTopologySpread
from ...scheduler.plugins.pod_topology_spread.constraint import Preparation, SpreadConstraint

APP = {"app": "foo"}


@attrs.frozen(kw_only=True)
class SpreadingCost:
    """New pods of one sort, as the loop placed them.

    Args:
        words: which constraints the pods have.
        placed: the node of each new pod, "" for none.
        passes: how many passes they had.
        asked: how often a pass asked the plugin to judge the nodes or to rank them.
        comparisons: how many pods were compared with a constraint's selector, over all passes.
    """

    words: str
    placed: tuple[str, ...]
    passes: int
    asked: int
    comparisons: int


@attrs.frozen(repr=False)
class SpreadingCosts(Rows[SpreadingCost], PrintedAnswer):
    """Pods without constraints and with some, in equal clusters; the text is a table."""

    revision: str
    nodes: int
    zones: int
    running: int
    rows: tuple[SpreadingCost, ...]

    def __getitem__(self, words: str) -> SpreadingCost:
        """Return the pods with these constraints: `none`, `hard`, `soft` or `hard and soft`."""
        found = {row.words: row for row in self.rows}
        if words not in found:
            raise unknown_name(f"pods with constraints {words!r}", words, list(found))
        return found[words]

    def __repr__(self) -> str:
        title = (f"What spreading costs, rules {self.revision}: {self.nodes} nodes in {self.zones} zones, "
                 f"{self.running} pods that run")
        head = ("constraints", "pods placed", "passes", "plugin asked", "pods compared")
        lines = [(row.words, str(sum(map(bool, row.placed))), str(row.passes), str(row.asked), str(row.comparisons))
                 for row in self.rows]
        return "\n".join([title, *table_text([head, *lines])])


def spreading_cost(nodes: int = 12, zones: int = 3, running: int = 24, *,
                   revision: str | Revision = "upstream") -> SpreadingCosts:
    """Place a pod for each zone without constraints, and with some, and count what that takes (S3, Risks).

    Pods without constraints cost nothing, though those that run have one: the plugin is not asked. With some it is
    asked in each pass to judge, and to rank if several nodes fit. A pod is compared with the selector when it is first
    counted and when it changes, not again for each node or each pass.

    Args:
        nodes: the number of nodes.
        zones: the number of zones.
        running: how many pods of the same group run already, in turn on the nodes.
        revision: the rules.

    >>> spreading_cost()
    What spreading costs, rules upstream: 12 nodes in 3 zones, 24 pods that run
    constraints    pods placed  passes  plugin asked  pods compared
    none           3            3       0             0
    hard           3            3       6             26
    soft           3            3       6             26
    hard and soft  3            3       6             26
    """
    hard, soft = make.spread(make.ZONE, app="foo"), make.spread(make.HOST, soft=True, app="foo")
    sorts = {"none": [], "hard": [hard], "soft": [soft], "hard and soft": [hard, soft]}
    rules = revision_named(revision)
    rows = tuple(_placed(words, stated, nodes, zones, running, rules) for words, stated in sorts.items())
    return SpreadingCosts(rules.name, nodes, zones, running, rows)


def _placed(words: str, stated: list[dict[str, Any]], nodes: int, zones: int, running: int,
            rules: Revision) -> SpreadingCost:
    """Place a pod for each zone with these constraints, in a cluster of its own."""
    counter: Counter[str] = Counter()
    objects = [make.node(f"n{number}", f"z{number % zones}") for number in range(nodes)]
    objects += [make.pod(f"old-{number}", running_on=f"n{number % nodes}", labels=APP,
                         topologySpreadConstraints=[make.spread(make.ZONE, app="foo")]) for number in range(running)]
    c = Cluster.from_manifests(objects, revision=_counting(rules, counter))
    names = [f"app-{number}" for number in range(zones)]
    spec: dict[str, Any] = {"topologySpreadConstraints": stated} if stated else {}
    c.apply(*(make.pod(name, labels=APP, **spec) for name in names))
    c.run(seconds=60)
    return SpreadingCost(words=words, placed=tuple(c[f"pod/{name}"].spec.node_name for name in names),
                         passes=sum(len(c.passes(name)) for name in names), asked=counter["asked"],
                         comparisons=counter["comparisons"])


@attrs.define(frozen=True, cache_hash=True)
class CountingPodMatcher(PodMatcher):
    """A matcher that counts the pods that it compares; the count changes no answer."""

    counter: Counter[str] = attrs.field(factory=Counter, kw_only=True, eq=False)

    def matches(self, pod: Pod) -> bool:
        """Say whether a pod matches, and count."""
        self.counter["comparisons"] += 1
        return super().matches(pod)


@attrs.frozen
class CountingSpreading(PodTopologySpread):
    """The plugin, which also counts how often it is asked; the count changes no verdict."""

    counter: Counter[str] = attrs.field(factory=Counter, kw_only=True, eq=False)

    def column(self, pod: Pod, columns: ColumnContext) -> Codes | None:
        """Judge all nodes, and count."""
        self.counter["asked"] += 1
        return super().column(pod, columns)

    def score(self, pod: Pod, columns: ColumnContext) -> RawScores:
        """Rank nodes, and count."""
        self.counter["asked"] += 1
        return super().score(pod, columns)


def _counting(rules: Revision, counter: Counter[str]) -> Revision:
    """Return rules whose plugin of spreading counts."""
    def counting(plugin: Any) -> Any:
        if not isinstance(plugin, PodTopologySpread):
            return plugin
        hard, soft = _counted(plugin.prepare_hard, counter), _counted(plugin.prepare_soft, counter)
        return derived(plugin, CountingSpreading, prepare_hard=hard, prepare_soft=soft, counter=counter)

    return attrs.evolve(rules, profile=rules.profile.changed(counting))


def _counted(prepare: Preparation, counter: Counter[str]) -> Preparation:
    """Return a reading of constraints whose selectors count."""
    def prepared(stated: Any, namespace: str, labels: Any, selectors: Any = ()) -> SpreadConstraint:
        constraint = prepare(stated, namespace, labels, selectors)
        plain = constraint.matcher
        if plain is None:
            return constraint
        counting = CountingPodMatcher(plain.namespaces, plain.selectors, plain.terminating, counter=counter)
        return attrs.evolve(constraint, matcher=counting)

    return prepared
