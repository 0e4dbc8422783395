"""The API server's admission: what it fills in, what it forbids, and what becomes of what was found before it."""

import manifests
import pytest
from manifests import storage_class

from kvolsched.api.text.manifest import from_plain, to_plain
from kvolsched.cluster import Cluster
from kvolsched.controllers import admission
from kvolsched.core.results import ApplyRefused
from kvolsched.world.apiserver import ApiServer, CommittedWrite, RefusedWrite, Write, key_of
from kvolsched.world.log import Key, Log


def thing(kind, name="x", version="v1", metadata=None, **fields):
    """A manifest as plain data."""
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, **(metadata or {})}, **fields}


def pod(name="p", **fields):
    """Return a pod of one small container."""
    return manifests.pod(name, **fields)


def claim(name="c", size="1Gi", **spec):
    """Return a claim that names no class."""
    return manifests.claim(name, size, None, **spec)


def priority_class(name, value, **fields):
    """A priority class."""
    return thing("PriorityClass", name, "scheduling.k8s.io/v1", value=value, **fields)


def created(plain, moment):
    """Return a manifest with the time of its creation."""
    return {**plain, "metadata": {**plain["metadata"], "creationTimestamp": moment}}


class Server:
    """An API server with all its plugins, and its log."""

    def __init__(self, *objects, admit=admission.DEFAULT_ADMISSION):
        self.log = Log()
        self.server = ApiServer(admit)
        for obj in objects:
            assert isinstance(self.put(obj), CommittedWrite)

    def put(self, plain):
        """Create an object, or replace the one that is there."""
        found = from_plain(plain)
        verb = "update" if key_of(found) in self.log.objects else "create"
        return self.server.commit(self.log, Write(verb, key_of(found), found), "user")

    def stored(self, plain):
        """The object as it is stored."""
        outcome = self.put(plain)
        assert isinstance(outcome, CommittedWrite), outcome.message
        return outcome.stored

    def refusal(self, plain):
        """Why an object is refused; nothing is written then."""
        place = self.log.place
        outcome = self.put(plain)
        assert isinstance(outcome, RefusedWrite)
        assert place == self.log.place
        return f"{outcome.reason}: {outcome.message}"


# --- priorities ------------------------------------------------------------------------------------------------------


def test_a_pod_has_the_priority_of_its_class():
    """Number and preemption policy are the class's, the two system classes are always there, and without one it is 0."""
    server = Server(priority_class("gold", 1000, preemptionPolicy="Never"))
    said = [
        server.stored(pod(name, **spec)).spec
        for name, spec in (("a", {"priorityClassName": "gold"}), ("b", {"priorityClassName": "system-node-critical"}), ("c", {}))
    ]

    assert [(1000, "Never"), (2_000_001_000, "PreemptLowerPriority"), (0, "PreemptLowerPriority")] == [
        (one.priority, one.preemption_policy) for one in said
    ]


def test_the_default_class_is_named_in_the_pod():
    """A pod without a class is put into the default one; there is only one of these."""
    server = Server(priority_class("usual", 5, globalDefault=True))
    spec = server.stored(pod()).spec

    assert ("usual", 5) == (spec.priority_class_name, spec.priority)
    assert server.refusal(priority_class("other", 6, globalDefault=True)) == (
        'Forbidden: priorityclasses.scheduling.k8s.io "other" is forbidden: PriorityClass usual is already marked as '
        "default. Only one default can exist"
    )
    assert server.stored(priority_class("usual", 5, globalDefault=True, description="still")).description == "still"


@pytest.mark.parametrize(("spec", "why"), [
    ({"priorityClassName": "none"}, "no PriorityClass with name none was found"),
    ({"priority": 7}, ("the integer value of priority (7) must not be provided in pod spec; priority admission controller "
                      "computed 0 from the given PriorityClass name")),
    ({"preemptionPolicy": "Never"}, ("the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority "
                                    "admission controller computed PreemptLowerPriority from the given PriorityClass name")),
])  # fmt: skip
def test_nobody_gives_himself_a_priority(spec, why):
    """An unknown class and a number or policy that is not the class's are forbidden, before anything else is judged."""
    assert f'Forbidden: pods "p" is forbidden: {why}' == Server().refusal(pod(**spec, nodeName="Bad Name"))


def test_pods_that_are_loaded_have_the_priority_of_their_class():
    """Written by hand beside their class, in any order, they count as it says; a number in the manifest stays."""
    objects = [pod("a", priorityClassName="gold"), pod("b", priorityClassName="gold", priority=3), pod("c"), pod("d", priorityClassName="lost")]
    cluster = Cluster.from_manifests([*objects, priority_class("gold", 1000, preemptionPolicy="Never")])

    assert {"a": (1000, "Never"), "b": (3, "PreemptLowerPriority"), "c": (0, "PreemptLowerPriority"), "d": (None, "PreemptLowerPriority")} == {
        name: (cluster[f"pod/{name}"].spec.priority, cluster[f"pod/{name}"].spec.preemption_policy) for name in "abcd"
    }


def test_an_update_keeps_the_priority():
    """A pod replaced by its manifest keeps what admission gave it, also when the class is gone."""
    server = Server(priority_class("gold", 1000), pod(priorityClassName="gold"))
    server.log.write(Key("PriorityClass", "", "gold"), None)

    assert 1000 == server.stored(pod(labels={"a": "b"}, priorityClassName="gold")).spec.priority


# --- storage ---------------------------------------------------------------------------------------------------------


def test_the_default_storage_class():
    """A claim that names none gets the default class, of several the newest; one that names "" gets none."""
    mark = {"storageclass.kubernetes.io/is-default-class": "true"}
    server = Server()
    assert server.stored(claim("early")).spec.storage_class_name is None
    for name, born in (("b", "2026-01-01T00:00:00Z"), ("c", "2026-01-02T00:00:00Z"), ("a", "2026-01-02T00:00:00Z")):
        server.put(created(storage_class(name, annotations=mark), born))
    server.put(created(storage_class("d"), "2026-01-03T00:00:00Z"))

    assert ["a", ""] == [
        server.stored(claim(name, **spec)).spec.storage_class_name
        for name, spec in (("late", {}), ("none", {"storageClassName": ""}))
    ]


@pytest.mark.parametrize(("expands", "grows"), [(True, True), (False, False), (None, False)])
def test_a_bound_claim_grows_if_its_class_allows_it(expands, grows):
    """Size is asked for later only where allowVolumeExpansion is true; the claim is told so otherwise."""
    fields = {} if expands is None else {"allowVolumeExpansion": expands}
    bound = {**claim(storageClassName="s", volumeName="v"), "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}
    cluster = Cluster.from_manifests([storage_class("s", **fields), bound])
    wanted = claim(size="2Gi", storageClassName="s", volumeName="v")
    if grows:
        cluster.apply(wanted)
        assert "2Gi" == cluster["pvc/c"].spec.resources.requests["storage"]
    else:
        with pytest.raises(ApplyRefused, match="only dynamically provisioned pvc can be resized and the storageclass"):
            cluster.apply(wanted)


# --- nodes, labels, overhead -----------------------------------------------------------------------------------------


def test_a_new_node_is_not_ready():
    """The API server taints it once; in a cluster that is simulated nobody would lift that, so the plugin is off there."""
    taints = Server().stored(thing("Node", "n", spec={"taints": [{"key": "a", "effect": "NoExecute"}]})).spec.taints
    cluster = Cluster()
    cluster.apply(thing("Node", "n"))

    assert ["a:NoExecute", "node.kubernetes.io/not-ready:NoSchedule"] == [str(taint) for taint in taints]
    assert () == cluster["node/n"].spec.taints


def test_a_pod_carries_its_nodes_zone():
    """Bound or created on a node, a pod has that node's zone and region labels, and no others of it."""
    zone, region = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
    labels = {zone: "z", region: "r", "disk": "ssd"}
    cluster = Cluster.from_manifests(thing("Node", "n", metadata={"labels": labels}, status={"allocatable": {"cpu": "9", "pods": "9"}}))
    cluster.apply(pod("placed", nodeName="n"), pod("lost", nodeName="none"), pod("free"))
    cluster.run(seconds=30)  # then the pod garbage collector deletes the lost one

    expected = {"placed": {zone: "z", region: "r"}, "free": {zone: "z", region: "r"}, "lost": {}}
    assert expected == {name: cluster[f"pod/{name}"].metadata.labels for name in expected}


def test_overhead_comes_from_a_runtime_class():
    """A pod that names an overhead without a runtime class is forbidden, if nothing else is wrong with it."""
    assert Server().refusal(pod(overhead={"cpu": "1"})) == (
        'Forbidden: pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead'
    )
    assert Server().refusal(pod(overhead={"cpu": "1"}, nodeName="Bad Name")).startswith("Invalid: ")


# --- order, wholeness ------------------------------------------------------------------------------------------------


def test_what_is_wrong_is_said_before_that_it_is_there():
    """A second object of one name is refused for its faults first, then because it exists."""
    server = Server(claim())

    def create(plain):
        found = from_plain(plain)
        return server.server.commit(server.log, Write("create", key_of(found), found), "user")

    assert "Invalid" == create(claim(accessModes=[])).reason
    assert "AlreadyExists" == create(claim()).reason


def test_every_fault_is_a_cause():
    """A refusal for invalid fields holds each of them with its path, and says all of them in one sentence."""
    outcome = Server().put(claim(size="0", accessModes=[], storageClassName="Bad Name"))

    assert ["spec.accessModes", "spec.resources[storage]", "spec.storageClassName"] == [cause.path for cause in outcome.causes]
    assert outcome.message.startswith('PersistentVolumeClaim "c" is invalid: [spec.accessModes: Required value: ')


def test_a_new_object_has_no_history():
    """What a manifest says of its status is dropped on creation; a node brings its own."""
    server = Server()

    assert "Pending" == server.stored({**pod(), "status": {"phase": "Running"}}).status.phase
    assert "4" == server.stored(thing("Node", "n", status={"capacity": {"cpu": "4"}})).status.capacity["cpu"]


def test_what_was_found_stays_as_found():
    """An object loaded without what a server fills in is changed by an update in what that says alone."""
    cluster = Cluster.from_manifests(thing("Node", "n"), pod())
    cluster.cordon("n")

    assert {"unschedulable": True} == to_plain(cluster["node/n"])["spec"]
    assert "nodeInfo" not in to_plain(cluster["node/n"]).get("status", {})
    cluster.apply(pod("new"))
    assert "IfNotPresent" == cluster["pod/new"].spec.containers[0].rest["imagePullPolicy"]


def test_plugins_are_turned_off_by_name():
    """As with --disable-admission-plugins; a name that is none is refused with those that there are."""
    off = Server(admit=admission.DEFAULT_ADMISSION.without("Priority", "TaintNodesByCondition"))

    assert 7 == off.stored(pod(priority=7)).spec.priority
    assert () == off.stored(thing("Node", "n")).spec.taints
    by_others = admission.Admission(relax=admission.allow_volume_rollback)
    assert admission.allow_volume_rollback is by_others.without("Priority").relax
    with pytest.raises(ValueError, match=r"no admission plugin Prioritty; there are: DefaultStorageClass, "):
        admission.DEFAULT_ADMISSION.without("Prioritty")


def test_objects_of_a_kind_are_found():
    """Those that are there now, however they came and went, in a log and in one restored without its past."""
    server = Server(storage_class("a"), storage_class("b"), claim())
    server.log.write(Key("StorageClass", "", "a"), None)
    there = [obj.metadata.name for obj in server.log.of_kind("StorageClass")]
    restored = Log()
    restored.restore(server.log.objects, server.log.notes, (), server.log.place)

    assert ["b"] == there == [obj.metadata.name for obj in restored.of_kind("StorageClass")]
    server.log.seek(0)
    assert [] == server.log.of_kind("StorageClass")
