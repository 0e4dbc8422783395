"""States of real clusters, loaded: their controllers were at rest, and ours write nothing either."""

import gzip
from pathlib import Path

import pytest
import yaml

from kvolsched import Cluster
from kvolsched.api.text.convert import from_plain
from kvolsched.api.workloads import revision_hash
from kvolsched.controllers import node_lifecycle, stateful_set
from kvolsched.rules.revision import OTHER_CONTROLLERS

RECORDED = Path(__file__).parent.parent / "conformance"
STATES = [*sorted(RECORDED.glob("dumps/*.yaml.gz")), *sorted(RECORDED.glob("kubectl/*/objects.json"))]
RAN_WITHOUT = {node_lifecycle.NAME: {"absent": True}}  # cordoned nodes have no taint there
OURS = {stateful_set.NAME, *(module.NAME for module in OTHER_CONTROLLERS)}


def name_of(path):
    """Return what a recorded state is called."""
    return path.parent.name if path.name == "objects.json" else path.name.partition(".")[0]


def plain_objects(path):
    """Return the objects of a recorded state as plain data."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text("utf-8")
    return [one for doc in yaml.safe_load_all(text) if doc for one in doc.get("items", [doc])]


@pytest.mark.parametrize("path", STATES, ids=name_of)
def test_controllers_leave_a_cluster_at_rest_alone(path):
    """No replica is replaced, no object collected, no status told anew."""
    made = Cluster.from_manifests(str(path), components=RAN_WITHOUT)
    made.run(steps=60)
    written = [
        str(outcome.write.subject)
        for turn in made.world.turns if turn.component in OURS for outcome in turn.outcomes
    ]
    assert [] == written


def test_revisions_are_called_as_in_a_real_cluster():
    """The hash of each recorded StatefulSet's template is the one that its controller gave it."""
    found = {
        (plain["status"]["updateRevision"], f"{plain['metadata']['name']}-{revision_hash(from_plain(plain).spec.template)}")
        for path in STATES for plain in plain_objects(path) if plain["kind"] == "StatefulSet"
    }
    assert len(found) >= 4
    assert {real for real, _ in found} == {ours for _, ours in found}
