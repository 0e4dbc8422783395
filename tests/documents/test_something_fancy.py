"""The class `something-fancy` of S0 (Multi Label Example) provisions as printed: in three places, and not in the fourth."""

import pytest
from documents.clusters import cluster, message, reach, where
from manifests import claim, node, pod

from kvolsched import example

PLACES = [(zone, rack) for zone in "ab" for rack in ("rack1", "rack2")]
ALLOWED = {("us-central1-a", "rack1"), ("us-central1-b", "rack1"), ("us-central1-b", "rack2")}


def world(name, revision):
    """Four nodes, one in each combination of zone and rack, and the printed class."""
    nodes = [node(f"{zone}-{rack}", labels={"zone": f"us-central1-{zone}", "rack": rack}) for zone, rack in PLACES]
    made = cluster(*nodes, revision=revision)
    made.apply(example(name))
    return made


def place(made, name):
    """Zone and rack of a claim's volume, both required in one term."""
    (term,) = reach(made, name)
    ((zone,), (rack,)) = term["zone"], term["rack"]
    return zone, rack


@pytest.mark.parametrize("revision", ["design", "draft", "upstream"])
@pytest.mark.checklist("67")
def test_as_printed_volumes_lie_in_the_three_places(revision):
    """Immediate, as printed: claims of many names take all three places, and none the fourth."""
    made = world("something-fancy", revision)
    names = [f"data-{number}" for number in range(6)]
    made.apply([claim(name, storage_class="something-fancy") for name in names])
    made.run(seconds=60)

    assert {place(made, name) for name in names} == ALLOWED


@pytest.mark.parametrize("revision", ["design", "upstream"])
@pytest.mark.checklist("67")
def test_waiting_for_the_pod_its_node_decides_among_the_three(revision):
    """The copy that waits: a pod in any of the places gets its volume there, one in the fourth gets no node."""
    made = world("something-fancy-wffc", revision)
    for zone, rack in PLACES:
        name = f"{zone}-{rack}"
        made.apply(claim(name, storage_class="something-fancy-wffc"), pod(f"app-{name}", name, nodeSelector={
            "zone": f"us-central1-{zone}", "rack": rack}))
    made.run(seconds=60)

    for zone, rack in PLACES:
        name, here = f"{zone}-{rack}", (f"us-central1-{zone}", rack)
        if here in ALLOWED:
            assert ([name], here) == (where(made, f"app-{name}"), place(made, name))
        else:
            assert [""] == where(made, f"app-{name}")
            assert "0/4 nodes are available: 1 node(s) didn't find available persistent volumes" in message(made, f"app-{name}")
