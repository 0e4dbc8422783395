"""The known differences between the documents and today: each is shown by the cluster that is shipped for it."""

import pytest

from kvolsched import Cluster, known_differences
from kvolsched.api.unknown_name import UnknownName
from kvolsched.make import ZONE, claim, csi_driver, node, pod, pool, spread, storage_class, volume
from kvolsched.measure.differ import Case
from kvolsched.measure.differ.outcome import run_case

MOST_OBJECTS = 6
ROWS = known_differences()
SHOWN = [row for row in ROWS.values() if row.objects]


@pytest.mark.parametrize("row", SHOWN, ids=lambda row: f"{row.row}-{row.topic}")
def test_a_cluster_shows_the_difference_still(row):
    """Run again under both sets of rules, the cluster of a row has the stored outcomes, and at most six objects."""
    again = row.replay()
    assert set(row.outcomes) == {tuple(each) for each in again.rows}
    assert again.names == row.rules
    assert len(row.objects) <= MOST_OBJECTS
    assert row.sentence in " ".join(repr(row).split())


def test_every_row_is_listed():
    """Rows have the numbers of the table; one without a cluster says why, and one with a cluster does not."""
    assert list(range(1, 39)) == list(ROWS)
    assert [] == [row.row for row in ROWS.values() if bool(row.objects) == bool(row.why)]
    assert len(ROWS) == len(repr(ROWS).split("\n")) - sum(line.startswith("     ") for line in repr(ROWS).split("\n"))


def test_a_row_without_a_cluster_says_why():
    """Replaying such a row is refused with its reason; an unknown row with the numbers there are."""
    silent = next(row for row in ROWS.values() if not row.objects)
    with pytest.raises(ValueError) as refused:
        silent.replay()
    assert silent.why in str(refused.value)
    with pytest.raises(UnknownName):
        ROWS[39]


BASE = [node("n1", "a"), storage_class(), claim("c1"), pod("p1", "c1")]
ROOM = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": "one", "namespace": "default"},
        "storageClassName": "late", "capacity": "15Gi", "nodeTopology": {}}
ONE_POOL = csi_driver(told={"late": [pool("one", "15Gi")]}, storageCapacity=True)
OLD_SPELLING = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"fieldExpressions": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}}}
APART = {"topologySpreadConstraints": [spread(ZONE, app="x")], "labels": {"app": "x"}}
X = {"labels": {"app": "x"}}


@pytest.mark.parametrize(("row", "objects", "fitting"), [
    (3, [*BASE[:2], volume("v1", "20Gi"), claim("c1", "5Gi"), claim("c2", "30Gi"), pod("p1", "c1", "c2")], ["n1"]),
    (11, [node("n1", "a"), storage_class(volumeBindingMode=None, bindingMode="WaitForFirstConsumer"), *BASE[2:]], ["n1"]),
    (14, [node("n1", "a"), storage_class("late", waits=False), *BASE[2:]], []),
    (22, [csi_driver(storageCapacity=True), *BASE], []),
    (25, [ONE_POOL, ROOM, *BASE[:2], claim("c1"), claim("c2"), pod("p1", "c1", "c2")], ["n1"]),
    (28, [node("n1", "a"), node("n2", "b", taints=["old"]), pod("r1", running_on="n1", **X), pod("p1", **APART)], []),
    (32, [node("n1"), node("n2"), pod("p1", affinity=OLD_SPELLING)], ["n1"]),
    (34, [node("n1", "a"), node("n2", "b"), pod("r1", running_on="n1", namespace="other", **X), pod("p1", **APART)],
     ["n1", "n2"]),
])
def test_a_row_on_which_both_agree(row, objects, fitting):
    """Where a row says that both agree, the same nodes fit under both."""
    assert not ROWS[row].objects
    verdicts = [run_case(Cluster(rules), Case(tuple(objects)), 0).verdicts["pod/p1"] for rules in ("design", "upstream")]
    assert [fitting] * 2 == [[name for name, found in each.items() if not found.plugin] for each in verdicts]
