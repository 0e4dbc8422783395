"""What must always hold of objects, one by one, each just within and just beyond its bound."""

import pytest

from kvolsched import Cluster, make
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.text.manifest import from_plain
from kvolsched.questions.explore import invariants
from kvolsched.questions.explore.invariants import (
    claims_and_volumes_match,
    everybody_runs,
    everybody_runs_in_words,
    nodes_hold_what_they_run,
    outcome,
    pods_reach_their_volumes,
    pods_stay,
    pods_within_max_skew,
    versions_grow,
)
from kvolsched.world.apiserver import key_of


def there(*plain):
    """Return objects by key, in the order in which they are given."""
    return {key_of(obj): obj for obj in map(from_plain, plain)}


def versioned(**versions):
    """Return pods of these versions."""
    return {key: evolve_parts(pod, metadata={"resource_version": versions[key.name]}) for key, pod in there(*map(make.pod, versions)).items()}


@pytest.mark.parametrize(("before", "after", "wrong"), [
    ({}, {}, ""), ({}, {"a": 1}, ""), ({}, {"a": 0}, "Pod a was written with version 0 after 0"), ({"a": 3, "b": 7}, {"a": 8}, ""),
    ({"a": 3, "b": 7}, {"a": 7}, "Pod a was written with version 7 after 7"), ({"a": 3, "b": 7}, {"c": 5}, "Pod c was written with version 5 after 7"),
])  # fmt: skip
def test_versions_grow(before, after, wrong):
    """What was written has a higher version than any object had; what was not written is not looked at, nor what is gone."""
    old = versioned(**before)

    assert wrong == versions_grow(old, {**old, **versioned(**after)})
    assert "" == versions_grow(old, old)
    assert "" == versions_grow(old, {})


BOUND, DISK, FAR = make.claim("c", bound="disk"), make.volume("disk", bound="c"), make.volume("disk", bound="c", zone="z")
OF_OTHERS = [DISK | {"spec": DISK["spec"] | {"claimRef": DISK["spec"]["claimRef"] | part}} for part in (
    {"name": "x"}, {"uid": "older"}, {"namespace": "shop"})]  # fmt: skip


@pytest.mark.parametrize(("objects", "wrong"), [
    ([BOUND, DISK, make.claim("other"), make.claim("d", bound="e"), make.volume("e", bound="d")], ""), ([make.claim("c", volumeName="disk")], ""),
    ([BOUND], "claim c is bound to volume disk, which is gone"),
    *(([BOUND, volume], "claim c is bound to volume disk, which is not bound to it") for volume in (
        make.volume("disk"), *OF_OTHERS)),
    ([BOUND, make.claim("b", bound="disk"), DISK], "volume disk serves the claims c and b"),
])  # fmt: skip
def test_claims_and_volumes_match(objects, wrong):
    """A bound claim's volume is there and bound to it by name, namespace and uid, and to no other; an unbound claim may name any."""
    assert wrong == claims_and_volumes_match({}, there(*objects))


PLACED = make.pod("p", node_name="n1", uid="u1")


@pytest.mark.parametrize(("before", "after", "wrong"), [
    ([PLACED], [PLACED], ""), ([PLACED], [], ""), ([], [PLACED], ""), ([make.pod("p", uid="u1")], [PLACED], ""),
    ([PLACED], [make.pod("p", node_name="n2", uid="u2")], ""), ([PLACED, make.pod("q", node_name="n1")], [PLACED, make.pod("q", node_name="n1")], ""),
    ([PLACED], [make.pod("p", node_name="n2", uid="u1")], "pod p was on n1 and is on n2"),
    ([PLACED], [make.pod("a"), make.pod("p", uid="u1")], "pod p was on n1 and is on none"),
])  # fmt: skip
def test_pods_stay(before, after, wrong):
    """A pod that has a node keeps it; one that is made anew under its name may be elsewhere."""
    assert wrong == pods_stay(there(*before), there(*after))


RUNS = make.pod("p", "c", running_on="n1")


@pytest.mark.parametrize(("objects", "wrong"), [
    ([RUNS, BOUND, DISK, make.node("n1", "a")], ""), ([RUNS, BOUND, FAR, make.node("n1", "z")], ""), ([RUNS, BOUND, FAR], ""),
    ([make.pod("p", "c", node_name="n1"), make.node("n1", "a")], ""),
    ([make.pod("q", running_on="n1"), RUNS, BOUND, FAR, make.node("n1", "a")], "pod p runs on n1, which cannot reach volume disk"),
    ([RUNS, BOUND], "pod p runs without the volume of its claim c"), ([RUNS, DISK], "pod p runs without the volume of its claim c"),
    ([RUNS, make.claim("c"), DISK], "pod p runs without the volume of its claim c"),
])  # fmt: skip
def test_pods_reach_their_volumes(objects, wrong):
    """A pod that runs has the volume of each claim, and its node, if it is there, reaches it."""
    assert wrong == pods_reach_their_volumes({}, there(*objects))


def on(name, node="n1", cpu="1", **fields):
    """Return a pod that asks for so much cpu on a node."""
    return make.pod(name, node_name=node, cpu=cpu, **fields)


@pytest.mark.parametrize(("pods", "wrong"), [
    ([], ""), ([on("a"), on("b")], ""), ([on("a"), on("b"), on("c", "n2"), make.pod("d", cpu="9")], ""),
    ([on("a"), on("b", cpu="1001m")], "node n1 has 2 cpu, its pods ask for 2001m"),
    ([on("a"), on("b", cpu="0"), on("c", cpu="0"), on("d", cpu="0")], "node n1 has 3 pods, its pods ask for 4"),
    ([on("a", cpu="9"), on("b", cpu="0"), on("c", cpu="0"), on("d", cpu="0")], "node n1 has 2 cpu, its pods ask for 9"),
    ([on("a", requests={"example.com/gpu": "1"})], "node n1 has 0 example.com/gpu, its pods ask for 1"),
    ([on("a", requests={"example.com/gpu": "1", "cpu": "9", "a.b/c": "1"})], "node n1 has 0 a.b/c, its pods ask for 1"),
    ([on("a"), on("b"), on("c", status={"phase": "Succeeded"}), on("d", cpu="1", status={"phase": "Failed"})], ""),
])  # fmt: skip
def test_nodes_hold_what_they_run(pods, wrong):
    """Of each resource, the first by name, and of places for pods; pods that have ended, wait or are elsewhere do not count."""
    nodes = make.node("n2", cpu="2"), make.node("n1", cpu="2", pods="3")

    assert wrong == nodes_hold_what_they_run({}, there(*nodes, *pods))


SPREAD = {"labels": {"app": "web"}, "topologySpreadConstraints": [make.spread(app="web")]}
NEW = make.pod("p", node_name="a1", **SPREAD)
LACKS = "pod p is on a1: 1 in topology.kubernetes.io/zone=a + self match 1 − minimum 0 = 2 > maxSkew 1"


@pytest.mark.parametrize(("before", "after", "wrong"), [
    ([], [NEW], ""), ([make.pod("p", **SPREAD)], [make.pod("q", node_name="a1", labels={"app": "web"}), NEW], LACKS),
    ([], [make.pod("q", node_name="a1", labels={"app": "web"}), NEW], LACKS), ([NEW], [make.pod("q", node_name="a1", labels={"app": "web"}), NEW], ""),
    ([], [make.pod("q", node_name="a1", labels={"app": "web"}), make.pod("r", node_name="b1", labels={"app": "web"}), NEW], ""),
    ([], [make.pod("p", node_name="gone", **SPREAD)], ""), ([], [make.pod("q", **SPREAD), make.pod("p", node_name="c1")], ""),
    ([], [make.pod("p", node_name="c1", **SPREAD)], "pod p is on c1, which has no label topology.kubernetes.io/zone"),
])  # fmt: skip
def test_pods_keep_max_skew_when_they_get_their_node(before, after, wrong):
    """Only then, by what others are where; a node without the label, but none that is gone, breaks the constraint."""
    nodes = make.node("a1", "a"), make.node("b1", "b"), make.node("c1")

    assert wrong == pods_within_max_skew(there(*nodes, *before), there(*nodes, *after))


@pytest.mark.parametrize(("pods", "runs", "has_node", "words"), [
    ([], True, True, "no pods"), ([make.pod("b", running_on="n1"), make.pod("a", running_on="n2")], True, True, "a runs on n2, b runs on n1"),
    ([make.pod("b", running_on="n1"), make.pod("a", node_name="n2")], False, True, "a on n2, b runs on n1"),
    ([make.pod("b"), make.pod("a", running_on="n2")], False, False, "a runs on n2, b stays pending"),
    ([make.pod("a", status={"phase": "Failed"}), make.pod("b", node_name="n1", status={"phase": "Succeeded"})], True, True, "a stays pending, b on n1"),
    ([make.pod("a", status={"phase": "Running"})], False, False, "a stays pending"),
])  # fmt: skip
def test_where_pods_are_in_the_end(pods, runs, has_node, words):
    """Every pod runs, or, without a kubelet, has a node; one that has ended is no reason to wait."""
    with_kubelet, without = (Cluster(components={"kubelet": {"absent": absent}}).world for absent in (False, True))
    objects = there(make.node("n1"), *pods)

    assert (runs, has_node, words) == (bool(everybody_runs(with_kubelet)(objects)), bool(everybody_runs(without)(objects)), outcome(objects))
    assert ("every pod runs", "every pod has a node") == (everybody_runs_in_words(with_kubelet), everybody_runs_in_words(without))


def test_a_pod_that_its_scheduler_would_place_is_forgotten():
    """Only while the scheduler waits: not if it has changes to see, turns to take or is delayed, nor is a pod on its way out."""
    c = Cluster.from_manifests([make.node("n1", cpu="1"), make.pod("b", cpu="2", finalizers=["a.b/c"]), make.pod("a", cpu="2")])
    c.run()
    assert "" == invariants.pods_forgotten(c)
    node = next(key for key in c.world.log.objects if key.kind == "Node")
    c.world.log.objects[node] = from_plain(make.node("n1", cpu="8"))  # its scheduler is not told
    told = "pod default/{} waits for an event, and n1 would fit"

    assert told.format("a") == invariants.pods_forgotten(c)
    assert [("default/a", "n1"), ("default/b", "n1")] == list(invariants.forgotten(c))
    key = next(key for key in c.world.log.objects if key.name == "a")
    going = evolve_parts(c.world.log.objects[key], metadata={"deletion_timestamp": "2026-01-01T00:00:00Z"})
    kept, c.world.log.objects[key] = c.world.log.objects[key], going
    assert told.format("b") == invariants.pods_forgotten(c)
    c.world.log.objects[key] = kept
    late = c.fork()
    late.delay("kube-scheduler", 60)
    assert "" == invariants.pods_forgotten(late)
    c.label("n1", "a=b")
    assert "" == invariants.pods_forgotten(c)
