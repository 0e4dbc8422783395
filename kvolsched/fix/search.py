"""The search for the nearest fixes: every edit of the catalogue is tried in the trial, alone, then two or three.

A trial in which fewer demands fail on the nearest node is worth another edit; the cheapest are tried first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import attrs

from kvolsched.api.kinds.node import Node
from kvolsched.why.demands import Demand

from . import claims, nodes, pods
from .edit import Edit, ObjectChange, merge_changes
from .trial_cluster import Failures, TrialCluster, failures_of

EditGenerator = Callable[[Demand, TrialCluster, Sequence[Node]], Iterator[Edit]]
MAX_FIXES = 8  # fixes
MAX_EDITS = 3  # edits in one fix
SMALL_CLUSTER = 200  # nodes: in a larger cluster the first fixes found do
BEAM_WIDTH = 6  # beginnings that are continued, at each depth

CATALOGUE: Mapping[str, tuple[EditGenerator, ...]] = {
    "request": (pods.lower_request, nodes.make_room, nodes.raise_allocatable),
    "node selector": (pods.change_node_selector, nodes.label_node),
    "node affinity": (pods.drop_node_affinity, nodes.label_node),
    "node name": (pods.drop_node_name,),
    "taint": (pods.tolerate, nodes.untaint, nodes.uncordon),
    "cordon": (nodes.uncordon,),
    "port": (pods.drop_host_port, nodes.make_room),
    "claim": (claims.serve_claims, claims.serve_claims_together, claims.replace_claims, nodes.make_room, nodes.raise_attach_limit),
    "volume": (nodes.make_room, nodes.raise_attach_limit),
    "spread": (pods.loosen_spread, nodes.label_node, nodes.make_room),
    "affinity": (pods.drop_pod_affinity_term, nodes.label_node),
    "anti-affinity": (pods.drop_pod_affinity_term, nodes.make_room),
    "objection": (nodes.make_room,),
    "reason": (nodes.make_room,),
}


ANY_NODE = Demand("", "node", "", "a node more")


@attrs.frozen
class FoundFix:
    """Edits after which the pod fits, and on which nodes."""

    edits: tuple[Edit, ...]
    nodes: tuple[str, ...]

    @property
    def cost(self) -> tuple[int, int]:
        """How much they touch: the sum of their costs, and how many objects."""
        return sum(edit.cost for edit in self.edits), len(merge_changes(self.edits))


@attrs.frozen
class SearchResult:
    """What a search found, cheapest first, and the demands that no single edit of the catalogue could meet."""

    found: tuple[FoundFix, ...]
    unmet: tuple[Demand, ...]


def search(trial: TrialCluster) -> SearchResult:
    """Return the nearest fixes of a pod that fits nowhere."""
    found: list[FoundFix] = []
    unmet: tuple[Demand, ...] = ()
    beginnings: list[tuple[Edit, ...]] = [()]
    for _ in range(MAX_EDITS):
        further: list[tuple[int, int, int, tuple[Edit, ...]]] = []
        for edits in beginnings:
            with trial.with_changes(_all_changes(edits)):
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
                    lifted = left.fewest < state.fewest or _fails_on_fewer_nodes(demand, state, left)
                    if lifted:
                        met.add(demand.sort)
                    if lifted or demand.sort == "before filtering":  # several claims may be due, one after the other
                        cost = sum(one.cost for one in edits) + edit.cost
                        further.append((left.fewest, cost, number, (*edits, edit)))
                if not edits:
                    tried = {demand for _, failed in state.nearest for demand in failed}
                    unmet = tuple(one for one in state.demands if one in tried and one.sort not in met)
        if len(found) >= (MAX_FIXES if trial.seen.size <= SMALL_CLUSTER else 1):
            break
        beginnings = [edits for *_, edits in sorted(further, key=lambda one: one[:3])[:BEAM_WIDTH]]
    return SearchResult(_cheapest_fixes(found), unmet)


def _fails_on_fewer_nodes(demand: Demand, before: Failures, after: Failures) -> bool:
    """Say whether a demand fails on fewer nodes, or gave way to another."""
    left = [one.nodes for one in after.demands if one.words == demand.words]
    return demand in before.demands and (not left or left[0] < demand.nodes)


def _all_changes(edits: Sequence[Edit]) -> list[ObjectChange]:
    return [change for edit in edits for change in (*edit.changes, *edit.expected)]


def _candidates(trial: TrialCluster, state: Failures) -> Iterator[tuple[Demand, Edit]]:
    """Give every edit that may lift a demand which fails on a near node, with the demand; each once."""
    near = [node for node, _ in state.nearest]
    given: set[str] = set()

    def once(demand: Demand, edits: Iterator[Edit]) -> Iterator[tuple[Demand, Edit]]:
        for edit in list(edits):
            if edit.words not in given:
                given.add(edit.words)
                yield demand, edit

    for demand in state.demands:
        if demand.sort == "before filtering":
            everywhere = trial.seen.all_nodes()[:1]
            yield from once(demand, claims.mend_rejection_before_filtering(trial))
            yield from once(demand, pods.drop_node_affinity(demand, trial, near))
            yield from once(demand, nodes.make_room(attrs.evolve(demand, sort="claim"), trial, everywhere))
            return
        where = [node for node, failed in state.nearest if demand in failed]
        for entry in CATALOGUE.get(demand.sort, ()) if where else ():
            yield from once(demand, entry(demand, trial, where))
    if state.demands:
        yield from once(ANY_NODE, nodes.add_node(trial, near))


def _cheapest_fixes(found: Sequence[FoundFix]) -> tuple[FoundFix, ...]:
    """Return the cheapest fixes, none of them another one with an edit more."""
    kept: list[FoundFix] = []
    for fix in sorted(found, key=lambda one: (*one.cost, [edit.words for edit in one.edits])):
        words, changes = {edit.words for edit in fix.edits}, set(merge_changes(fix.edits))
        if any({edit.words for edit in other.edits} <= words for other in kept):
            continue
        if not any(set(merge_changes(other.edits)) <= changes for other in kept):
            kept.append(fix)
    return tuple(kept[:MAX_FIXES])
