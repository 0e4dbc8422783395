"""A list of whole PV topologies in a class, in place of values to choose from (S0, Restricting Topology, rejected)."""

from __future__ import annotations

import attrs

from ..revision import Revision, revision_named
from .building import based_on


def list_of_topologies(base: str | Revision = "design") -> Revision:
    """Return rules in which a class lists whole topologies: each term is that of one volume, all its values together.

    S0 (Restricting Topology, Alternatives) rejects it as verbose: for a volume with two of four zones all six pairs
    must be listed. A list of four values, which says the same in the design, is no topology that such a volume has.

    Args:
        base: the revision whose other rules hold.

    >>> from kvolsched import scenario
    >>> c = scenario("two-zones-of-four", "list_of_topologies")
    >>> c.run("pvc/data Bound", seconds=20).ended
    '20 s of simulated time are over'
    """
    rules = revision_named(base)
    listing = attrs.evolve(rules.provisioning, whole_topologies=True)
    return based_on(rules, "list_of_topologies", provisioning=listing)
