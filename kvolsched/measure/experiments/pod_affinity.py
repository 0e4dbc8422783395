"""Pod affinity beside spreading (S3, Impact to Other Features): when one says the other, and what anti-affinity costs.

`affinity_as_spreading` tries S3's tip: one affinity term of a topology, put as selector and topologyKey of a spread
constraint. `anti_affinity` works out, at each pass of the running loop, what the pass has to compare for anti-affinity
of any topology, and for spreading in zones beside anti-affinity on nodes.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import attrs

from kvolsched.api.notebook_output import NumberedRows, PrintedAnswer, table_text

from ...api import make
from ...api.kinds.pod import Pod
from ...cluster import Cluster
from ...rules.named import revision_named
from ...rules.revision import Revision
from ...scheduler.columns.column import Codes
from ...scheduler.columns.pod_counts import required_anti_affinity
from ...scheduler.columns.snapshot import Snapshot
from ...scheduler.framework.extension_points import ColumnContext
from ...scheduler.framework.profile import derived
from ...scheduler.plugins.inter_pod_affinity import InterPodAffinity

APP = {"app": "foo"}
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@attrs.frozen(kw_only=True)
class AffinityRow:
    """One distribution of pods over zones, and the zones that fit the next one.

    Args:
        counts: the pods in each zone.
        both: the zones that fit with the affinity term and the spread constraint.
        rewritten: the zones that fit with the spread constraint alone.
    """

    counts: tuple[int, ...]
    both: tuple[str, ...]
    rewritten: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether the constraint alone says what both say."""
        return self.both == self.rewritten

    @property
    def settled(self) -> bool:
        """Whether every zone has a pod of the group, or none has."""
        return all(self.counts) or not any(self.counts)


@attrs.frozen(repr=False)
class AffinityTable(NumberedRows[AffinityRow], PrintedAnswer):
    """Every distribution that was tried; its text is a table."""

    revision: str
    skew: int
    rows: tuple[AffinityRow, ...]

    def __repr__(self) -> str:
        lines = [("/".join(map(str, row.counts)), " ".join(row.both) or "none", " ".join(row.rewritten) or "none",
                  "yes" if row.same else "NO") for row in self.rows]
        same = sum(row.same for row in self.rows)
        title = (f"Affinity to the group's zones and spreading (maxSkew {self.skew}), rewritten as spreading alone, "
                 f"rules {self.revision}: the same zones in {same} of {len(self.rows)} distributions")
        return "\n".join([title, *table_text([("pods", "both", "spreading alone", "same"), *lines])])


def affinity_as_spreading(zones: int = 3, most: int = 2, *, skew: int = 1,
                          revision: str | Revision = "upstream") -> AffinityTable:
    """Compare affinity beside spreading with spreading alone, over every distribution of pods (S3, PodAffinity).

    The affinity term and the constraint have the same selector, which the pod itself matches, and the same key. S3 says
    that the constraint alone reaches the same goal. It does so once every zone has a pod, and for the first pod of all;
    where a zone is empty, affinity keeps the pod out and spreading sends it there.

    Args:
        zones: the number of zones, a node each.
        most: the most pods in a zone.
        skew: the constraint's maxSkew.
        revision: the rules.

    >>> table = affinity_as_spreading(zones=2)
    >>> [(row.counts, row.both, row.rewritten) for row in table if not row.same]
    [((0, 1), (), ('a',)), ((0, 2), (), ('a',)), ((1, 0), (), ('b',)), ((2, 0), (), ('b',))]
    >>> all(row.same for row in table if row.settled)
    True
    """
    rules = revision_named(revision)
    rows = tuple(_affinity_row(counts, skew, rules) for counts in product(range(most + 1), repeat=zones))
    return AffinityTable(rules.name, skew, rows)


def _affinity_row(counts: tuple[int, ...], skew: int, rules: Revision) -> AffinityRow:
    near, even = make.together(make.ZONE, **APP), [make.spread(make.ZONE, skew, app="foo")]
    objects = [make.node(zone, zone) for zone, _ in zip(LETTERS, counts, strict=False)]
    objects += [make.pod(f"{zone}-{number}", running_on=zone, labels=APP)
                for zone, count in zip(LETTERS, counts, strict=False) for number in range(count)]
    found = []
    for spec in ({"affinity": near, "topologySpreadConstraints": even}, {"topologySpreadConstraints": even}):
        c = Cluster.from_manifests([*objects, make.pod("next", labels=APP, **spec)], revision=rules)
        c.step("scheduling pass")
        found.append(tuple(c.fits("next")))
    return AffinityRow(counts=counts, both=found[0], rewritten=found[1])


@attrs.frozen(kw_only=True)
class AntiAffinityRun:
    """One way to keep pods apart, as a run of the loop has judged it.

    Args:
        words: the way.
        placed: the node of each new pod, "" for none.
        passes: how many passes there were.
        comparisons: how often a pass compared a term with a pod or a node, over all passes.
    """

    words: str
    placed: tuple[str, ...]
    passes: int
    comparisons: int

    @property
    def per_pass(self) -> float:
        """Comparisons of one pass."""
        return self.comparisons / self.passes if self.passes else 0.0


@attrs.frozen(repr=False)
class AntiAffinityRuns(PrintedAnswer):
    """Both ways on equal nodes; its text is a table."""

    revision: str
    nodes: int
    zones: int
    zone_wide: AntiAffinityRun
    on_nodes: AntiAffinityRun

    @property
    def ratio(self) -> float:
        """How many times as many comparisons anti-affinity in zones takes for each pass."""
        return self.zone_wide.per_pass / self.on_nodes.per_pass

    def __repr__(self) -> str:
        lines = [(run.words, str(sum(map(bool, run.placed))), str(run.passes), str(run.comparisons),
                  f"{run.per_pass:g}") for run in (self.zone_wide, self.on_nodes)]
        title = f"Pods apart on {self.nodes} nodes in {self.zones} zones, rules {self.revision}"
        head = ("way", "pods placed", "passes", "comparisons", "for each pass")
        return "\n".join([title, *table_text([head, *lines])])


def anti_affinity(nodes: int = 30, zones: int = 3, *, revision: str | Revision = "upstream") -> AntiAffinityRuns:
    """Work out what passes compare for anti-affinity in zones, and for spreading in zones beside it on nodes (S3).

    Every node has a pod of another app that is kept apart from its like in the same way. Then one pod for each zone is
    placed by the loop. A term in zones concerns all pods of a node's zone, a term on nodes only those on the node.

    Args:
        nodes: the number of nodes.
        zones: the number of zones.
        revision: the rules.

    >>> runs = anti_affinity(nodes=12, zones=3)
    >>> runs.zone_wide.comparisons > 3 * runs.on_nodes.comparisons
    True
    """
    rules, run = revision_named(revision), []
    for words, key, spreads in (("anti-affinity in zones", make.ZONE, False),
                                ("spreading in zones, anti-affinity on nodes", make.HOST, True)):
        counter: Counter[str] = Counter()
        spec: dict[str, Any] = {"topologySpreadConstraints": [make.spread(make.ZONE, app="foo")]} if spreads else {}
        named = [(f"n{number}", LETTERS[number % zones]) for number in range(nodes)]
        objects = [make.node(name, zone) for name, zone in named]
        theirs = make.apart(key, app="bar")
        objects += [make.pod(f"other-{name}", running_on=name, affinity=theirs) for name, _ in named]
        counting = derived(rules.profile.plugin("InterPodAffinity"), CountingInterPodAffinity, counter=counter)
        counted = attrs.evolve(rules, profile=rules.profile.replacing(counting))
        c = Cluster.from_manifests(objects, revision=counted)
        pods = [f"app-{number}" for number in range(zones)]
        c.apply(*(make.pod(name, labels=APP, affinity=make.apart(key, **APP), **spec) for name in pods))
        c.run(seconds=60)
        placed = tuple(c[f"pod/{name}"].spec.node_name for name in pods)
        run.append(AntiAffinityRun(words=words, placed=placed, passes=counter["passes"],
                                   comparisons=counter["comparisons"]))
    return AntiAffinityRuns(rules.name, nodes, zones, *run)


@attrs.frozen
class CountingInterPodAffinity(InterPodAffinity):
    """The plugin, which also adds up what its rule has to compare; the sum changes no verdict."""

    counter: Counter[str] = attrs.field(factory=Counter, kw_only=True, eq=False)

    def column(self, pod: Pod, columns: ColumnContext) -> Codes | None:
        """Judge all nodes, and count."""
        self.counter["passes"] += 1
        self.counter["comparisons"] += comparisons(pod, columns.seen)
        return super().column(pod, columns)


def comparisons(pod: Pod, seen: Snapshot) -> int:
    """Work out, over all nodes, with how many pods of the node's domain a term is compared: the pod's and theirs.

    The rule makes each of these comparisons once for a node that it accepts.
    """
    nodes = seen.all_nodes()
    carried: Counter[tuple[str, str | None]] = Counter()
    present: Counter[tuple[str, str | None]] = Counter()
    keys = {term.topology_key for term in required_anti_affinity(pod)}
    for node in nodes:
        for other in seen.pods_on(node.metadata.name):
            present.update((key, node.metadata.labels.get(key)) for key in keys)
            carried.update((term.topology_key, node.metadata.labels.get(term.topology_key))
                           for term in required_anti_affinity(other))
    domains = [pair for node in nodes for pair in node.metadata.labels.items()]
    return sum(carried[domain] + present[domain] for domain in domains)
