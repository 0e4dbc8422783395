"""Rules that only mixed features show, in kube-scheduler's own behaviour (v1.36.2); the recorded cases are family `wild`."""

from pathlib import Path

import pytest
from matrices import check, matrix
from objects import claim, node, pod, volume

from kvolsched import Cluster, make, scenario, upstream
from kvolsched.api.kinds.meta import Frozen, evolve_parts
from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.measure.conform import judge_case, read
from kvolsched.measure.conform.families import FAMILIES
from kvolsched.measure.conform.verdicts import from_plain_with_defaults
from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.ranking import rank
from kvolsched.scheduler.loop.scheduling_cycle import post_filter
from kvolsched.scheduler.requests import held_requests
from kvolsched.scheduler.shortcuts import without_shortcuts

WILD = Path(__file__).parents[1] / "conformance" / "wild.jsonl.gz"
EVIDENCE = {  # the recorded cases that told a rule
    "187-disrupt": "who is put back takes the port again, though another holder is still removed",
    "2990-wide2": "a nominated pod is counted by a spread constraint whose empty selector counts nobody",
    "3396-spread": "pods without a start time are put back from the last to the first",
    "3794-wide": "nothing is assumed of containers where the pod as a whole has requests",
}
HOST = "kubernetes.io/hostname"
EVERY = 100  # a walk over all nodes by every rule is slow


def judged(wanted, *objects):
    """Judge a pod in a cluster; the columns say what the rules say."""
    judgement = judge(wanted, snapshot(objects), upstream_profile())
    check(judgement)
    return judgement


def preempted(wanted, *objects):
    """Return node and victims of a pod that preempts, with columns and without."""
    def found():
        way = post_filter(wanted, judge(wanted, snapshot(objects), upstream_profile()))
        return way.nominated, [victim.metadata.name for victim in way.victims]

    with without_shortcuts():
        plainly = found()
    assert found() == plainly
    return plainly


def running(name, on, priority=0, *ports, start=None, **spec):
    """A pod on a node that holds these host ports."""
    held = [{"containerPort": 80, "hostPort": port, "hostIP": ip} for port, ip in ports]
    made = {"name": "c", "image": "i", "ports": held, "resources": {"requests": spec.pop("requests", {})}}
    return pod(name, node_name=on, priority=priority, containers=[made], **spec,
               status={"phase": "Running", **({"startTime": start} if start else {})})


def test_the_recorded_cases_that_told_a_rule():
    """Each of the cases that no other rule explains agrees in every aspect."""
    wanted = {f"wild-62000-{name}" for name in EVIDENCE}
    with_text = [recorded for recorded in read(WILD) if recorded.id in wanted]
    assert len(EVIDENCE) == len(with_text)
    for recorded in with_text:
        for aspect, expected, answered in FAMILIES["wild"].compare(recorded.case, upstream()):
            assert expected == answered, (recorded.id, aspect)


@pytest.mark.parametrize(
    ("expression", "everywhere"),
    [
        ({"key": "team", "operator": "NotIn", "values": ["red"]}, True),
        ({"key": "team", "operator": "DoesNotExist"}, True),
        ({"key": "team", "operator": "In", "values": ["blue"]}, False),
    ],
)
def test_a_namespace_selector_that_accepts_empty_labels_accepts_every_namespace(expression, everywhere):
    """Of the pod's own terms; a term of a pod on a node is asked with the labels of the pod's namespace."""
    spaces = [from_plain({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": team}}})
              for name, team in (("default", "red"), ("other", "red"))]
    term = {"topologyKey": HOST, "labelSelector": {}, "namespaceSelector": {"matchExpressions": [expression]}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    places = [node(name, labels={HOST: name}) for name in "ab"]

    own = judged(pod(affinity=apart), *places, *spaces, pod("e", node_name="a", namespace="other"))
    theirs = judged(pod(), *places, *spaces, pod("e", node_name="a", namespace="other", affinity=apart))

    assert (("b",) if everywhere else ("a", "b")) == own.feasible
    assert ("a", "b") == theirs.feasible


@pytest.mark.parametrize("waits", [True, False], ids=["free", "bound"])
def test_fields_of_a_volumes_affinity_are_not_read(waits):
    """A term of matchFields alone reaches every node, for volumes that are bound and for those still to be bound."""
    field = {"key": "metadata.name", "operator": "In", "values": ["nowhere"]}
    affinity = {"required": {"nodeSelectorTerms": [{"matchFields": [field]}]}}
    disk = volume("disk", nodeAffinity=affinity, **({} if waits else {"bound": "data"}))
    asks = claim("data", **({} if waits else {"bound": "disk"}))
    late = from_plain({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "late"},
                       "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"})
    uses = pod(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])

    assert ("a", "b") == judged(uses, node("a"), node("b"), disk, asks, late).feasible


def test_images_of_volumes_are_wanted_too():
    """An image volume adds its image's size; the number of containers stays the divisor."""
    there = evolve_parts(node("a"), status={"rest": Frozen(images=(Frozen(names=("data:1",), sizeBytes=500 * 2**20),))})
    judgement = judged(pod(volumes=[{"name": "v", "image": {"reference": "data:1"}}]), there, node("b"))
    plain = judged(pod(), there, node("b"))

    assert {"a": 23, "b": 0} == {name: rank(judgement).scores_of(name)["ImageLocality"][1] for name in "ab"}
    assert 0 == rank(plain).scores_of("a")["ImageLocality"][1]


@pytest.mark.parametrize(
    ("held_back", "counts"),
    [({}, True), ({"gates": ["example.com/wait"]}, False), ({"phase": "Failed"}, False)],
    ids=["waits", "gated", "ended"],
)
def test_only_a_nominated_pod_that_may_get_the_node_is_counted(held_back, counts):
    """A gated pod, and one that has ended, leave the room on their nominated node to others."""
    phase = held_back.pop("phase", "Pending")
    other = pod("n", requests={"cpu": "2"}, priority=9, status={"nominatedNodeName": "a", "phase": phase}, **held_back)
    judgement = judged(pod(requests={"cpu": "2"}), node("a", cpu="3"), other)

    assert (() if counts else ("a",)) == judgement.feasible


def test_a_nominated_pods_claim_counts_by_its_name():
    """If an in-tree disk keeps VolumeRestrictions awake, a claim of the same name counts, also in another namespace."""
    single = claim("data", bound="v", accessModes=["ReadWriteOncePod"])
    has = volume("v", accessModes=["ReadWriteOncePod"], bound="data")
    uses = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    disk = [{"name": "disk", "gcePersistentDisk": {"pdName": "d"}}]
    other = pod("n", namespace="other", priority=9, volumes=uses, status={"nominatedNodeName": "a", "phase": "Pending"})
    reason = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"

    awake = judged(pod(volumes=[*uses, *disk]), node("a"), node("b"), single, has, other)
    asleep = judged(pod(volumes=uses), node("a"), node("b"), single, has, other)

    assert ((reason,), ("b",)) == (awake.verdict("a", "VolumeRestrictions")[0], awake.feasible)
    assert ("a", "b") == asleep.feasible


def test_the_ports_of_a_node_are_a_set():
    """Of two holders of a port either frees it by leaving, and takes it again when it is put back."""
    port, other = (80, "10.0.0.1"), (81, "10.0.0.1")
    wanted = running("p", "", 5, (80, ""))
    stays, goes = running("stays", "a", 9, port), running("goes", "a", 1, port)

    assert ("a", ["goes"]) == preempted(wanted, node("a"), stays, goes)
    assert ("a", ["e", "f"]) == preempted(wanted, node("a"), running("e", "a", 1, port), running("f", "a", 2, port))
    assert ("a", ["e"]) == preempted(wanted, node("a"), running("e", "a", 1, port), running("f", "a", 2, other))


def test_a_nominated_pod_holds_its_port_though_a_victim_freed_it():
    """The port of a removed pod is taken by the nominated pod that is tried on the node, and free again without it."""
    promised = pod("q", priority=9, status={"nominatedNodeName": "a", "phase": "Pending"},
                   containers=[{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}])

    wanted, holder = running("p", "", 5, (80, "")), running("e", "a", 1, (80, ""))

    assert ("", []) == preempted(wanted, node("a"), holder, promised)
    assert ("b", ["f"]) == preempted(wanted, node("a"), node("b"), holder, promised, running("f", "b", 1, (80, "")))


def test_pods_without_start_time_are_put_back_from_the_last():
    """Each counts as started when it is looked at; among those that have started the earliest is put back first."""
    asks = {"requests": {"cpu": "1"}}
    wanted = pod("p", requests={"cpu": "1"}, priority=5)
    room = node("a", cpu="2")

    assert ("a", ["d"]) == preempted(wanted, room, running("d", "a", **asks), running("e", "a", **asks))
    day = [f"2026-01-0{number}T00:00:00Z" for number in (1, 2)]
    assert ("a", ["e"]) == preempted(wanted, room, *(running(name, "a", start=at, **asks) for name, at in zip("de", day, strict=True)))
    assert ("a", ["d"]) == preempted(wanted, room, running("d", "a", **asks), running("e", "a", start=day[0], **asks))


def test_spreading_counts_a_nominated_pod_by_its_labels_alone():
    """A constraint with an empty selector counts nobody on nodes, but each pod that a trial adds."""
    even = {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    places = [node(name, labels={HOST: name}) for name in "ab"]
    there = [pod(f"e{number}", node_name="a") for number in range(3)]
    promised = pod("q", priority=9, status={"nominatedNodeName": "a", "phase": "Pending"})
    wanted = pod(topologySpreadConstraints=[even])

    assert ("a", "b") == judged(wanted, *places, *there).feasible
    assert ("b",) == judged(wanted, *places, *there, promised).feasible


def test_of_containers_nothing_is_assumed_beside_requests_of_the_whole_pod():
    """Scores count 100m and 200Mi for a container without requests, unless the pod as a whole, or any part, has some."""
    given = {"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "i", "resources": {"requests": {"memory": "1Gi"}}}]}
    plain, whole = (held_requests(pod(**given, **more)) for more in ({}, {"resources": {"requests": {"cpu": "2"}}}))

    assert (200, (1024 + 200) << 20) == (plain.scored_cpu, plain.scored_memory)
    assert (2000, 1 << 30) == (whole.scored_cpu, whole.scored_memory)


def test_loading_gives_pods_of_the_host_network_their_ports():
    """Two pods with hostNetwork and one containerPort do not share a node, as a user loads them from a file."""
    app = {"name": "app", "image": "app", "ports": [{"containerPort": 80}]}
    c = Cluster.from_manifests([node("a"), *(pod(name, hostNetwork=True, containers=[app]) for name in ("one", "two"))])
    c.run()

    assert ["", "a"] == sorted(each.spec.node_name for each in c.objects("pods"))
    assert "0.0.0.0:80/TCP" in repr(c.why("two")) + repr(c.why("one"))


def test_a_disk_of_a_migrated_plugin_is_checked_by_its_drivers_zone():
    """The check before binding asks the CSI translation of a volume, so a zone in a label alone is heard before the pod is bound."""
    ends = {}
    for plugins in ("", "kubernetes.io/gce-pd"):
        c = scenario("zone-in-a-label", "upstream")
        for name, zone in (("node-a", "a"), ("node-b", "b")):
            c.patch(f"node/{name}", {"metadata": {"labels": {"topology.gke.io/zone": zone}}})
            c.apply({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {
                "name": name, "annotations": {"storage.alpha.kubernetes.io/migrated-plugins": plugins}},
                "spec": {"drivers": []}})
        c.run()
        ends[plugins] = c["pod/app"].spec.node_name
        told = [event.message for event in c.objects("events") if event.reason == "FailedScheduling"]

    assert {"": "node-b", "kubernetes.io/gce-pd": "node-a"} == ends
    said = 'pv "disk" node affinity doesn\'t match node "node-b": no matching NodeSelectorTerms'
    assert [f'running PreBind plugin "VolumeBinding": binding volumes: {said}'] == told


@pytest.mark.parametrize("resource", ["example.com/gpu", "deviceclass.resource.kubernetes.io/gpus"])
def test_what_device_classes_offer_is_not_counted(resource):
    """An extended resource of a DeviceClass is allocated dynamically, except on nodes whose kubelet has some of it."""
    offers = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpus"},
              "spec": {"extendedResourceName": "example.com/gpu"}}
    has = evolve_parts(node("b"), status={"allocatable": Frozen({**node("b").status.allocatable, resource: "1"})})
    wanted = pod("app", requests={resource: "2"})
    objects = list(map(to_plain, (node("a"), has, wanted)))

    assert () == tuple(Cluster.from_manifests(objects).fits("app"))
    offered = Cluster.from_manifests([*objects, offers])
    assert ("a",) == tuple(offered.fits("app"))
    judgement = judge(wanted, snapshot([node("a"), has]), offered.revision.profile)
    check(judgement)
    assert (f"Insufficient {resource}",) == judgement.verdict("b", "NodeResourcesFit")[0]
    assert () == tuple(Cluster.from_manifests([*objects, offers], revision="design").fits("app"))
    assert ("a",) == tuple(offered.under("upstream").fits("app"))
    limited = make.pod("late")
    limited["spec"]["containers"][0]["resources"] = {"limits": {resource: "2"}}
    for later in (offered.fork(), Cluster.from_manifests([*objects, offers], revision="design"), Cluster()):
        later.upgrade("upstream")
        later.apply(*map(to_plain, (node("a"), has)), offers, limited)
        later.run()
        assert "a" == later["late"].spec.node_name
    offered.run()
    assert "a" == offered["app"].spec.node_name


def test_columns_say_what_rules_say_on_mixed_features():
    """In a sample of the recorded cases each column gives what its rule gives, and shortcuts change no answer."""
    for recorded in list(read(WILD))[::EVERY]:
        judgement = judge_case(recorded.case, upstream_profile(), from_plain_with_defaults)
        check(judgement)
        with without_shortcuts():
            plainly = judge_case(recorded.case, upstream_profile(), from_plain_with_defaults)
        assert matrix(plainly) == matrix(judgement)
