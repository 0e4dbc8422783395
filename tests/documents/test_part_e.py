"""The table of Part E, run: the shipped clusters with the pod that comes, as a hard and as a soft requirement."""

import re
from pathlib import Path

import pytest
from documents.clusters import scores

from kvolsched import Cluster, example

TEXT = (Path(__file__).parents[1] / "checklist.md").read_text("utf-8").split("## Part E.")[1]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TEXT.splitlines() if line.startswith("|")][2:]
OPEN = "all three feasible: "
ITEMS = {"1/1/0": ("205", "227"), "2/1/0": ("206", "227"), "3/3/0": ("203", "204", "227"), "1/1/1": ("207", "227"), "2/1/1": ("208", "227"),
         f"{OPEN}3/2/1": ("201", "211"), f"{OPEN}1/1/0": ("196",)}


def numbers(cell):
    """The numbers of a cell, a minus sign being one of text or of print."""
    return [float(each) for each in cell.replace("−", "-").split("/")]


def held(existing, revision):
    """The cluster with so many pods in its zones: the third is infeasible unless all are said to be feasible."""
    counts = existing.removeprefix(OPEN).replace("/", "-")
    c = Cluster.from_manifests(example("spread-7-node" if counts == "3-2-1" else counts), revision=revision)
    if existing.startswith(OPEN) and counts != "3-2-1":
        c.patch("node/node-3", {"spec": {"taints": None}})
    return c


def by_zone(c, values):
    """Values of nodes as values of their zones, in order; the nodes of a zone agree."""
    found = {}
    for node, value in values.items():
        found.setdefault(c[f"node/{node}"].metadata.labels["k8s.io/zone"], set()).add(value)
    assert all(len(each) == 1 for each in found.values())
    return {zone: each.pop() for zone, each in sorted(found.items())}


def test_every_row_of_the_table_is_run():
    """The table has a row for each of the clusters."""
    assert set(ITEMS) == {row[0] for row in ROWS}


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.parametrize("row", [pytest.param(row, id=row[0], marks=pytest.mark.checklist(*ITEMS[row[0]])) for row in ROWS])
def test_the_numbers_of_part_e(row, revision):
    """The zones that a hard constraint leaves, and what a soft one gives each zone, raw and from 0 to 100."""
    existing, hard, design, upstream, _ = row
    c = held(existing, revision)
    c.apply(example("spread-story-1"))
    c.run(seconds=60)
    zones = by_zone(c, dict.fromkeys(c.fits("foo"), 0))
    assert re.findall(r"z(\d)", hard) == [zone.removeprefix("zone") for zone in zones]
    assert bool(zones) == bool(c["pod/foo"].spec.node_name)

    c = held(existing, revision)
    c.apply(example("spread-story-1-soft"))
    c.run(seconds=60)
    given = scores(c, "foo", "PodTopologySpread")
    raw = list(by_zone(c, {node: score[0] for node, score in given.items()}).values())
    spoken = list(by_zone(c, {node: score[1] for node, score in given.items()}).values())
    if revision == "design":
        assert numbers(design) == raw
    else:
        first, second = upstream.split("→")
        assert (numbers(first), numbers(second)) == (raw, spoken)
    best = {node for node, score in given.items() if score[1] == max(spoken)}
    assert c["pod/foo"].spec.node_name in best


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.checklist("202")
def test_by_node_the_minimum_is_zero(revision):
    """The seven nodes by hostname: only those without a pod fit."""
    c = Cluster.from_manifests(example("spread-7-node"), revision=revision)
    c.apply(example("spread-by-node"))
    c.run(seconds=60)
    assert ["node1c", "node2b", "node2c"] == list(c.fits("foo"))
