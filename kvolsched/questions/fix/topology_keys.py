"""Catalogue: edits that give a node the topology label that it lacks: for a spread, an affinity, a class or a volume.

A node that lacks the key lies in no domain, so it is rejected whatever room it has. The value that is proposed is one
that other nodes, the class or the volume have; only a node that is really there should carry it, which each edit notes.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ...api import volumes
from ...api.kinds.node import BETA_REGION_LABEL, BETA_ZONE_LABEL, DOMAIN_LABELS, HOSTNAME_LABEL, Node
from ...api.kinds.volume import PersistentVolumeClaim
from ...scheduler.columns.storage_capacities import reaches
from ..near_names import right_keys
from ..why.demands import Demand
from . import nodes as node_edits
from .add_volume import is_free
from .edit import Edit
from .trial_cluster import TrialCluster

MAX_VALUES = 6  # domains that are tried for one node
SETS_DOMAINS = "look at the cloud controller's log and the kubelet's flags"
MAX_VOLUMES = 8  # volumes of a class whose labels are tried


def add_topology_key(demand: Demand, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Label a near node with the topology key of a constraint: with a domain that helps, else with a new one."""
    key = demand.about
    if right_keys(key, trial.seen.all_nodes()):
        return  # no node needs a label that somebody wrote wrong
    for node in near:
        if key in node.metadata.labels:
            continue
        before = node_edits.rejection_count(trial.judge(), demand)
        for value in _values(key, node, trial):
            note = f"only if {node.metadata.name} is in {key.rpartition('/')[2]} {value}"
            for edit in node_edits.set_labels(node, {key: value}, note * (key != HOSTNAME_LABEL)):
                with trial.with_changes(edit.changes):
                    helps = node_edits.rejection_count(trial.judge(), demand) < before
                if helps:
                    yield edit if key == HOSTNAME_LABEL else _looked_up(edit, node, key, value)
                    break
            else:
                continue
            break


def add_topology_of_claim(claim: PersistentVolumeClaim, trial: TrialCluster, near: Sequence[Node]) -> Iterator[Edit]:
    """Label a near node with what a claim's class, its published capacity or a free volume asks for, if it lacks that.

    A node that has the key with another value lies elsewhere: no edit changes it.
    """
    for node in near:
        for wanted, note in _wanted_labels(claim, trial, node):
            if wanted and not wanted.keys() & node.metadata.labels.keys() and "" not in wanted.values():
                yield from node_edits.set_labels(node, wanted, note)


def _values(key: str, node: Node, trial: TrialCluster) -> list[str]:
    """Return values for a key: those of other nodes, rarest first, then one that no node has."""
    if key == HOSTNAME_LABEL:
        return [node.metadata.name]
    found = Counter(
        other.metadata.labels[key] for other in trial.seen.all_nodes() if key in other.metadata.labels
    )
    known = sorted(found, key=lambda value: (found[value], value))[:MAX_VALUES]
    short = key.rpartition("/")[2] or "domain"
    new = next(name for number in range(1, len(found) + 2) if (name := f"{short}-{number}") not in found)
    return [*known, new]


def _wanted_labels(
    claim: PersistentVolumeClaim, trial: TrialCluster, node: Node
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield labels with which a node would be allowed by the class, get capacity, or reach a volume; and a note."""
    name = node.metadata.name
    storage_class = trial.class_of(claim)
    if storage_class is not None and not volumes.topology_allows(storage_class, node):
        for term in storage_class.allowed_topologies:
            asked = {part.key: part.values[0] for part in term.match_label_expressions if part.values}
            if asked.keys() & {BETA_ZONE_LABEL, BETA_REGION_LABEL}:
                continue  # no node carries these any more: the class is to be corrected
            wanted = {key: value for key, value in asked.items() if node.metadata.labels.get(key) != value}
            yield wanted, f"only if {name} is in that domain, and the driver reaches it there"
    for pool in trial.seen.storage_capacities.of_class(volumes.class_of_claim(claim)):
        if pool.node_topology is not None and not reaches(pool, node) and not pool.node_topology.match_expressions:
            labels = pool.node_topology.match_labels
            wanted = {key: value for key, value in labels.items() if node.metadata.labels.get(key) != value}
            yield wanted, f"only if {name} is in that domain: the driver reports this label when it starts on a node"
    free = (volume for volume in trial.seen.volumes_of_class(volumes.class_of_claim(claim))
            if is_free(volume) and volumes.suits(claim, volume) and not volumes.volume_fits_node(volume, node)
            and volumes.capacity(volume) >= volumes.requested(claim))  # fmt: skip
    for volume, _ in zip(free, range(MAX_VOLUMES), strict=False):
        wanted = node_edits.labels_matching(volume.spec.required_node_affinity, node)
        yield wanted, f"only if {name} can attach {volume.metadata.name}"


def _looked_up(edit: Edit, node: Node, key: str, value: str) -> Edit:
    """Return the edit of a label that the dump does not tell: somebody must look up where the node is."""
    short, name = key.rpartition("/")[2], node.metadata.name
    do = (f"kubectl get node {name} -o jsonpath='{{.spec.providerID}}'   # or in the console: which {short}?\n"
          f"kubectl label node {name} {key}=<its {short}>")
    words = f"Label {name} with its true {key}, such as {value}"
    note = f"why has nobody set it? {SETS_DOMAINS}" if key in DOMAIN_LABELS else ""
    return attrs.evolve(edit, words=words, do=do, note="; ".join(filter(None, (edit.note, note))))

