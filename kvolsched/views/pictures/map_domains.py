"""Domains of the cluster map: its nodes, grouped by a topology key."""

from kvolsched.api.kinds.node import HOSTNAME_LABEL
from kvolsched.views.frame import Frame, NodeRow

NO_LABEL = "(no label)"
Domain = tuple[str, tuple[NodeRow, ...]]


def group_by(frame: Frame, key: str) -> tuple[Domain, ...]:
    """Group the nodes by a topology key, sorted by value; nodes without it stand last."""
    found: dict[str, list[NodeRow]] = {}
    for node in frame.nodes:
        value = node.name if key in (HOSTNAME_LABEL, "hostname") else dict(node.topology).get(key)
        found.setdefault(NO_LABEL if value is None else value, []).append(node)
    ordered = sorted(found, key=lambda value: (value == NO_LABEL, value))
    return tuple((value, tuple(found[value])) for value in ordered)


def key_word(key: str) -> str:
    """Return the last part of a topology key: "zone" of "topology.kubernetes.io/zone"."""
    return key.rpartition("/")[2]


def title(key: str, name: str) -> str:
    """Return a domain's title: "zone us-central1-a"."""
    return name if name == NO_LABEL else f"{key_word(key)} {name}"
