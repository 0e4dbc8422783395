"""Stopping early: what a scheduler misses that scores only the first nodes it finds, and how many it looks at.

kube-scheduler stops filtering once it has found enough nodes that fit, and begins the next search where the last one
stopped. The engine judges every node; here the scores of all nodes tell what a search would have had that stopped.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from ...cluster import Cluster

ALL_BELOW = 100  # nodes: in a smaller cluster every node is judged
LEAST_PERCENT, MOST_PERCENT = 5, 50
NODES_A_PERCENT = 125  # a percent less for so many nodes


def nodes_to_find(nodes: int, percentage: int = 0) -> int:
    """Return after how many nodes that fit kube-scheduler stops its search (v1.36.2, numFeasibleNodesToFind).

    Args:
        nodes: how many nodes there are.
        percentage: `percentageOfNodesToScore` of its configuration; 0: it follows from the number of nodes.

    >>> [nodes_to_find(nodes) for nodes in (10, 1_000, 5_000, 6_000)]
    [10, 420, 500, 300]
    """
    percent = percentage or max(LEAST_PERCENT, MOST_PERCENT - nodes // NODES_A_PERCENT)
    return nodes if nodes < ALL_BELOW else min(nodes, max(ALL_BELOW, nodes * percent // 100))


def stopping_early(cluster: Cluster, pod: str, *limits: int) -> list[dict[str, Any]]:
    """Return for each limit what a search misses that stops after so many nodes that fit, over all places to begin.

    Nodes are searched in the order of their names, and round again. Scores are those among all nodes that fit: a plugin
    that normalises by the best one it sees may give a stopped search other numbers.

    Args:
        cluster: the cluster; it does not change.
        pod: the pod.
        limits: numbers of nodes that fit; by default those of `nodes_to_find` and all.

    Returns:
        A row for each limit: `found` (the limit, at most all that fit), `judged` (nodes that are judged until then, the
        mean), `missed` (the share of searches that find no node with the highest score) and `lost` (how many points the
        best one they find is short of it, the mean).

    Raises:
        UnknownName: there is no such pod. It is a KeyError.
        ValueError: no node fits, or a limit is below 1.

    >>> import kvolsched
    >>> c = kvolsched.scenario("disks-by-node", nodes=4, exact=1)
    >>> [(row["found"], row["missed"]) for row in stopping_early(c, "db", 1, 2, 4)]
    [(1, 0.75), (2, 0.5), (4, 0.0)]
    """
    fits = cluster.fits(pod)
    scored = {node: sum(score.weighted for score in scores.values()) for node, scores in fits.scores.items()}
    totals = {node: scored.get(node, 0) for node in fits.nodes}  # a single node is not scored
    names = sorted(node.metadata.name for node in cluster.objects("nodes"))
    if not totals or any(limit < 1 for limit in limits):
        raise ValueError(f"no node fits {pod}" if not totals else f"limits {limits}: at least 1")
    wanted = limits or (nodes_to_find(len(names)), len(totals))
    return [_stopped(names, totals, min(limit, len(totals))) for limit in dict.fromkeys(wanted)]


def _stopped(names: Sequence[str], totals: dict[str, int], limit: int) -> dict[str, Any]:
    highest = max(totals.values())
    searches = list(_searches(names, totals, limit))
    missed = sum(best < highest for _, best in searches)
    lost = sum(highest - best for _, best in searches)
    judged = sum(judged for judged, _ in searches)
    count = len(searches)
    return {"found": limit, "judged": judged / count, "missed": missed / count, "lost": lost / count}


def _searches(names: Sequence[str], totals: dict[str, int], limit: int) -> Iterator[tuple[int, int]]:
    """Yield for each first node how many nodes are judged, and the highest score among those that are found."""
    around = [*names, *names]
    found: deque[int] = deque()  # places of the nodes that fit from the first node on, at most `limit`
    falling: deque[int] = deque()  # of them those that no later one exceeds: the first has the highest score
    end = 0
    for first in range(len(names)):
        while len(found) < limit:
            if around[end] in totals:
                while falling and totals[around[falling[-1]]] <= totals[around[end]]:
                    falling.pop()
                found.append(end)
                falling.append(end)
            end += 1
        yield found[-1] - first + 1, totals[around[falling[0]]]
        if found[0] == first:
            if falling[0] == first:
                falling.popleft()
            found.popleft()
