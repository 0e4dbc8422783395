"""Visits of volumes, then and now: how many volumes are looked at to bind one pod's claims, by index.

S0, Performance and Optimizations: the PV controller walks through all volumes once, O(V); the predicate as written
walks through all of them for every node, O(N·V); its two optimisations make that fewer.
"""

from typing import Any

import attrs

from kvolsched.api.notebook_output import PrintedAnswer, Rows

from ...api import make
from ...api.unknown_name import unknown_name
from ...cluster import Cluster
from ...rules.named import revision_named
from ...rules.revision import Revision

INDEXES = ("none", "class", "node", "class and node", "columns")


@attrs.frozen
class VisitCount:
    """One run: the index of the scheduler, the volumes visited in the first pass, and by the controller alone."""

    index: str
    first_pass: int
    controller: int


@attrs.frozen(repr=False)
class VisitCounts(Rows[VisitCount], PrintedAnswer):
    """The runs with each index, in one world; their text is a table."""

    nodes: int
    volumes: int
    claims: int
    rows: tuple[VisitCount, ...]

    def __getitem__(self, index: str) -> int:
        """Return the volumes that the scheduler visits in the first pass with an index."""
        found = {row.index: row.first_pass for row in self.rows}
        if index not in found:
            raise unknown_name(f"index {index!r}", index, list(found))
        return found[index]

    @property
    def controller(self) -> int:
        """The volumes that the PV controller visits to bind the claims by itself (an Immediate class)."""
        return self.rows[0].controller

    def __repr__(self) -> str:
        title = f"Visits of volumes: {self.nodes} nodes, {self.volumes} volumes, one pod with {self.claims} claims"
        lines = [f"{'PV controller alone':25}{self.controller:8}"]
        lines += [f"{f'scheduler, {row.index}':25}{row.first_pass:8}" for row in self.rows]
        return "\n".join([title, *lines])


def volume_visits(
    nodes: int = 8, volumes: int = 16, claims: int = 1, *, affinity: bool = True, revision: str | Revision = "design"
) -> VisitCounts:
    """Bind one pod's claims with each index of volumes, and count the visits.

    >>> volume_visits(nodes=4, volumes=8)
    Visits of volumes: 4 nodes, 8 volumes, one pod with 1 claims
    PV controller alone             8
    scheduler, none                32
    scheduler, class               32
    scheduler, node                 8
    scheduler, class and node       8
    scheduler, columns              1

    Args:
        nodes: how many nodes there are.
        volumes: how many volumes, in turn on the nodes.
        claims: how many claims the pod has.
        affinity: each volume reaches one node; without, every volume reaches all nodes.
        revision: the rules.
    """
    rules = revision_named(revision)
    alone = _world(nodes, volumes, claims, affinity=affinity, waits=False)
    c = Cluster.from_manifests(alone, revision=rules)
    c.run()
    controller, rows = c.visits().of("PV controller"), []
    for index in INDEXES:
        waiting = _world(nodes, volumes, claims, affinity=affinity, waits=True)
        c = Cluster.from_manifests(waiting, revision=rules.with_volume_index(index))
        c.run("pod/app scheduled", seconds=60)
        rows.append(VisitCount(index, c.passes("app")[0].visits, controller))
    return VisitCounts(nodes, volumes, claims, tuple(rows))


def _world(nodes: int, volumes: int, claims: int, *, affinity: bool, waits: bool) -> list[Any]:
    """Return nodes, volumes in turn on them, a class, and a pod with its claims."""
    found = [make.node(f"n{number}") for number in range(nodes)]
    for number in range(volumes):
        reached = [{make.HOST: [f"n{number % nodes}"]}] if affinity else []
        found.append(make.volume(f"d{number}", f"{number + 10}Gi", "disks", *reached))
    names = [f"c{number}" for number in range(claims)]
    found += [make.claim(name, storage_class="disks") for name in names]
    return [*found, make.storage_class("disks", make.LOCAL, waits=waits), make.pod("app", *names)]
