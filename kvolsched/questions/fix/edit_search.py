"""Searches the nearest fixes: tries every edit of the catalogue alone, then combinations of two and three.

The search is a beam search: edits after which fewer demands fail on the nearest node are continued, cheapest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import attrs

from ...api.kinds.node import Node
from ..why.demands import Demand
from . import claims, node_states, nodes, pods, topology_keys
from .edit import COSTLY, NEVER, ORDER, Edit, all_changes, merge_changes, without_unneeded, worst
from .trial_cluster import Failures, TrialCluster, failures_of

EditGenerator = Callable[[Demand, TrialCluster, Sequence[Node]], Iterator[Edit]]
MAX_FIXES = 12  # that are tried
ENOUGH = 5  # ways of different kinds that cost no others anything: then no more edits are combined
COSTLY_FROM = ORDER.index("E")
MAX_EDITS = 3  # in one fix
SMALL_CLUSTER = 200  # nodes; in a larger cluster the search ends with the first fixes
MAX_ALIKE = 3  # fixes of one class and kind that are tried
BEAM_WIDTH = 6  # combinations that are continued at each depth

# Edits by the sort of a demand; those for one plugin alone are on its card.
CATALOGUE: Mapping[str, tuple[EditGenerator, ...]] = {
    "request": (pods.lower_request, nodes.make_room, nodes.larger_machine),
    "node selector": (pods.change_node_selector, nodes.label_node),
    "node affinity": (pods.drop_node_affinity, nodes.label_node),
    "taint": (pods.tolerate, node_states.untaint, node_states.uncordon),
    "cordon": (node_states.uncordon,),
    "port": (nodes.make_room,),
    "claim": (
        claims.serve_claims,
        claims.serve_claims_together,
        claims.replace_claims,
        nodes.make_room,
        nodes.attach_more,
    ),
    "volume": (nodes.make_room, nodes.attach_more),
    "spread": (pods.loosen_spread, topology_keys.add_topology_key, nodes.make_room),
    "affinity": (pods.drop_pod_affinity_term, topology_keys.add_topology_key),
    "anti-affinity": (pods.drop_pod_affinity_term, nodes.make_room),
    "objection": (nodes.make_room,),
    "reason": (nodes.make_room,),
}
ANY_NODE = Demand(plugin="", sort="node", about="", words="there is no other node")


@attrs.frozen
class FoundFix:
    """Edits after which the pod fits, and on which nodes."""

    edits: tuple[Edit, ...]
    nodes: tuple[str, ...]

    @property
    def letter(self) -> str:
        """The class of advice of its worst edit."""
        return worst(edit.letter for edit in self.edits)

    @property
    def cost(self) -> int:
        """The sum of the edits' costs."""
        return sum(edit.cost for edit in self.edits)

    @property
    def order(self) -> tuple[int, int, int, tuple[str, ...]]:
        """What sorts fixes: by their classes, cheapest first, then by the number of changed objects and by words."""
        words = tuple(edit.words for edit in self.edits)
        return ORDER.index(self.letter), self.cost, len(merge_changes(self.edits)), words

    @property
    def kinds(self) -> tuple[str, ...]:
        """Its class and the kinds of its edits: of fixes for which these are equal one is told."""
        return self.letter, *sorted(dict.fromkeys(edit.kind for edit in self.edits))

    def is_part_of(self, other: FoundFix) -> bool:
        """Say whether another fix makes the edits of this one, too."""
        if {edit.words for edit in self.edits} <= {edit.words for edit in other.edits}:
            return True
        return set(merge_changes(self.edits)) <= set(merge_changes(other.edits))


@attrs.frozen
class SearchResult:
    """The fixes that a search found, cheapest first, and the demands that no single edit lifts."""

    found: tuple[FoundFix, ...]
    unmet: tuple[Demand, ...]


def search(trial: TrialCluster) -> SearchResult:
    """Return the nearest fixes of a pod that fits no node."""
    found: list[FoundFix] = []
    unmet: tuple[Demand, ...] = ()
    beam: list[tuple[Edit, ...]] = [()]
    for _ in range(MAX_EDITS):
        candidates: list[tuple[int, bool, int, int, tuple[Edit, ...]]] = []
        for edits in beam:
            with trial.with_changes(all_changes(edits)):
                state = failures_of(trial, trial.judge())
                met = set()
                for number, (demand, edit) in enumerate(_candidates(trial, state)):
                    with trial.with_changes((*edit.changes, *edit.expected)):
                        after = trial.judge()
                        if after.any_feasible and not after.error:
                            found.append(FoundFix((*edits, edit), after.feasible))
                            met.add(demand.sort)
                            continue
                        left = failures_of(trial, after)
                    still = [other.nodes for other in left.demands if other.words == demand.words]
                    fewer = demand in state.demands and (not still or still[0] < demand.nodes)
                    lifted = left.fewest_on_node < state.fewest_on_node or fewer
                    if lifted:
                        met.add(demand.sort)
                    if lifted or demand.sort == "before filtering":  # each of several claims may need an edit
                        together = FoundFix((*edits, edit), ())
                        rank = (left.fewest_on_node, ORDER.index(together.letter) > COSTLY_FROM, together.cost, number)
                        candidates.append((*rank, together.edits))
                if not edits:
                    tried = {demand for _, failed in state.nearest for demand in failed}
                    unmet = tuple(demand for demand in state.demands if demand in tried and demand.sort not in met)
        good = {fix.kinds for fix in found if fix.letter not in COSTLY}
        if len(good) >= (ENOUGH if trial.seen.size <= SMALL_CLUSTER else 1):
            break
        beam = [edits for *_, edits in sorted(candidates, key=lambda candidate: candidate[:4])[:BEAM_WIDTH]]
    return SearchResult(_cheapest_fixes(found, trial), unmet)


def _candidates(trial: TrialCluster, state: Failures) -> Iterator[tuple[Demand, Edit]]:
    """Yield each edit that may lift a demand of a near node, with the demand; equal edits once."""
    near = [node for node, _ in state.nearest]
    yielded: set[str] = set()

    def once(demand: Demand, edits: Iterator[Edit]) -> Iterator[tuple[Demand, Edit]]:
        for edit in list(edits):
            if edit.letter != NEVER and edit.words not in yielded:
                yielded.add(edit.words)
                yield demand, edit

    for demand in state.demands:
        if demand.sort == "before filtering":
            everywhere = trial.seen.all_nodes()[:1]
            yield from once(demand, claims.mend_rejection_before_filtering(trial))
            yield from once(demand, pods.drop_node_affinity(demand, trial, near))
            yield from once(demand, nodes.make_room(attrs.evolve(demand, sort="claim"), trial, everywhere))
            return
        where = [node for node, failed in state.nearest if demand in failed]
        for entry in (pods.edits_of_plugin, *CATALOGUE.get(demand.sort, ())) if where else ():
            yield from once(demand, entry(demand, trial, where))
    if state.demands:
        yield from once(ANY_NODE, nodes.add_node(trial, near))


def _cheapest_fixes(found: Sequence[FoundFix], trial: TrialCluster) -> tuple[FoundFix, ...]:
    """Return the cheapest fixes, without edits that are not needed."""
    kept: tuple[FoundFix, ...] = ()
    for fix in sorted(found, key=lambda fix: fix.order):
        if any(other.is_part_of(fix) for other in kept) or sum(fix.kinds == other.kinds for other in kept) == MAX_ALIKE:
            continue
        kept = distinct((*kept, _without_unneeded_edits(fix, trial)))
    return kept[:MAX_FIXES]


def distinct(fixes: Iterable[FoundFix]) -> tuple[FoundFix, ...]:
    """Return fixes in their order, cheapest first, without those that add an edit to another fix."""
    kept: list[FoundFix] = []
    for fix in sorted(fixes, key=lambda fix: fix.order):
        if not any(other.is_part_of(fix) for other in kept):
            kept.append(fix)
    return tuple(kept)


def _without_unneeded_edits(fix: FoundFix, trial: TrialCluster) -> FoundFix:
    """Return a fix without edits but for which the pod fits a node as well."""
    def fitting(edits: Sequence[Edit]) -> tuple[str, ...]:
        with trial.with_changes(all_changes(edits)):
            judgement = trial.judge()
            return () if judgement.error else judgement.feasible

    needed = without_unneeded(fix.edits, lambda edits: bool(fitting(edits)))
    return fix if needed == fix.edits else FoundFix(needed, fitting(needed))
