"""The acts of a user beside apply and delete: what kubectl does, in its words, each a step that `back` undoes."""

import math

import pytest

import kvolsched
from kvolsched import ApplyRefused, Cluster

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: app, image: app}]}
"""
GATED = """
apiVersion: v1
kind: Pod
metadata: {name: job}
spec:
  schedulingGates: [{name: example.com/quota}, {name: example.com/zone}]
  containers: [{name: app, image: app}]
"""


@pytest.fixture
def cluster():
    """Return the zonal example before its first step."""
    return kvolsched.scenario("zonal-example")


# -- wait -----------------------------------------------------------------------------------------------------------


def test_waiting_ends_on_time(cluster):
    """What is due after the wait has not happened, what is due within it has; back undoes the wait as one step."""
    slow = kvolsched.scenario("two-replicas", **{"zonal.example.com": {"delay": 60.0}})
    before = slow.digest()
    slow.wait(10)
    volumes_after_10 = len(slow.objects("pv"))
    slow.wait(50)

    assert (volumes_after_10, len(slow.objects("pv")), slow.now) == (0, 2, 60.0)
    slow.goto(0)
    assert before == slow.digest()


def test_a_run_of_some_seconds_ends_on_time():
    """What is due later has not happened; the clock is where the run ended, every step is told, and runs add up."""
    slow = kvolsched.scenario("two-replicas", **{"zonal.example.com": {"delay": 60.0}})
    run = slow.run(seconds=10)
    assert ("10 s of simulated time are over", 10.0, len(run)) == (run.ended, slow.now, slow.world.known_steps)
    assert max(step.time for step in run) < 10.0
    for count in range(1, 5):
        assert (1, len(run) + count) == (len(slow.run(seconds=10)), slow.world.known_steps)
    assert (50.0, 0) == (slow.now, len(slow.objects("pv")))
    slow.run(seconds=10)
    assert (60.0, 2) == (slow.now, len(slow.objects("pv")))


def test_a_run_with_nothing_left_to_do_does_not_wait(cluster):
    """The clock stays at the last step, although more seconds were allowed."""
    run = cluster.run(seconds=600)
    assert ("nothing is left to do", run.steps[-1].time) == (run.ended, cluster.now)


@pytest.mark.parametrize("seconds", [0, -1, math.nan, math.inf])
def test_waiting_for_no_time_or_for_ever_is_refused(cluster, seconds):
    """Nobody waits for no time, or less; and no clock shows the end of time."""
    with pytest.raises(ValueError, match="must be greater than 0, and finite"):
        cluster.wait(seconds)


# -- patch ----------------------------------------------------------------------------------------------------------


def test_a_patch_is_one_step_with_a_sentence_that_back_undoes(cluster):
    """A patch as YAML changes the named field alone, is told as the user's, and is undone by back."""
    before = cluster.digest()
    assert "node/node-a patched" == repr(cluster.patch("node/node-a", "metadata: {labels: {disk: ssd}}"))
    assert "ssd" == cluster["node/node-a"].metadata.labels["disk"]
    assert "User patches node/node-a." == cluster._last_step.words
    cluster.back()
    assert before == cluster.digest()


def test_a_patch_of_the_status_changes_nothing_else(cluster):
    """Of one patch the subresource takes the status, the object itself the rest; requests and sentence name it."""
    change = {"metadata": {"labels": {"disk": "ssd"}}, "status": {"allocatable": {"cpu": "123"}}}
    cluster.patch("node/node-a", change, subresource="status")
    node = cluster["node/node-a"]
    assert ("123", None) == (node.status.allocatable["cpu"], node.metadata.labels.get("disk"))
    assert "User patches the status of node/node-a." == cluster._last_step.words
    assert "status" == cluster.requests()[-1].subresource
    cluster.patch("node/node-a", {**change, "status": {"allocatable": {"cpu": "7"}}})
    node = cluster["node/node-a"]
    assert ("123", "ssd") == (node.status.allocatable["cpu"], node.metadata.labels.get("disk"))
    with pytest.raises(ValueError, match="no subresource 'scale' can be patched; there is: status"):
        cluster.patch("node/node-a", change, subresource="scale")
    with pytest.raises(ApplyRefused, match="could not find the requested resource"):
        cluster.patch(f"storageclass/{cluster.objects('storageclasses')[0].metadata.name}", {}, subresource="status")


def test_a_patch_that_changes_nothing_says_so(cluster):
    """A patch with the present values prints kubectl's `no change`."""
    zone = cluster["node/node-a"].metadata.labels["topology.kubernetes.io/zone"]
    same = {"metadata": {"labels": {"topology.kubernetes.io/zone": zone}}}
    assert "node/node-a patched (no change)" == repr(cluster.patch("node/node-a", same))


def test_a_patch_is_refused_in_the_servers_words(cluster):
    """A patch of an immutable field raises the API server's refusal, and nothing changes."""
    with pytest.raises(ApplyRefused, match="spec is immutable after creation"):
        cluster.patch("pvc/my-pvc", {"spec": {"storageClassName": "x"}})
    with pytest.raises(ValueError, match="no kind of patch is called 'mrege'"):
        cluster.patch("pvc/my-pvc", {}, kind="mrege")


def test_a_strategic_patch_merges_lists_by_their_keys():
    """A container is changed by its name, and others stay; a merge patch replaces the list."""
    c = Cluster()
    c.apply(DEPLOYMENT)
    change = {"spec": {"template": {"spec": {"containers": [{"name": "log", "image": "log"}]}}}}
    c.patch("deployment/web", change, kind="strategic")
    assert {"app", "log"} == {each.name for each in c["deployment/web"].spec.template.spec.containers}
    c.patch("deployment/web", change)
    assert ["log"] == [each.name for each in c["deployment/web"].spec.template.spec.containers]


# -- labels and annotations -----------------------------------------------------------------------------------------


def test_labels_are_set_overwritten_and_removed(cluster):
    """A label keeps its value unless overwrite is given; `key-` removes it; the same value changes nothing."""
    cluster.label("node/node-a", "disk=ssd", rack="r1")
    assert "node/node-a not labeled" == repr(cluster.label("node/node-a", disk="ssd"))
    with pytest.raises(ValueError, match=r"^'disk' already has a value \(ssd\), and --overwrite is false$"):
        cluster.label("node/node-a", "disk=hdd")
    cluster.label("node/node-a", {"disk": "hdd"}, overwrite=True)
    assert "hdd" == cluster["node/node-a"].metadata.labels["disk"]
    assert "node/node-a unlabeled" == repr(cluster.label("node/node-a", "disk-", rack=None))
    assert not {"disk", "rack"} & set(cluster["node/node-a"].metadata.labels)
    with pytest.raises(ApplyRefused, match=r"metadata\.labels: Invalid value"):
        cluster.label("node/node-a", "disk=not a label")
    with pytest.raises(ValueError, match="write 'key=value'"):
        cluster.label("node/node-a", "disk")


def test_annotations_are_set_and_removed(cluster):
    """An annotation may hold any text."""
    cluster.annotate("pvc/my-pvc", "note=two words")
    assert "two words" == cluster["pvc/my-pvc"].metadata.annotations["note"]
    cluster.annotate("pvc/my-pvc", "note-")
    assert "note" not in cluster["pvc/my-pvc"].metadata.annotations


# -- taints ---------------------------------------------------------------------------------------------------------


def test_taints_are_added_and_removed_in_kubectls_words(cluster):
    """Several taints at once; an existing one needs overwrite; removal by key takes every effect."""
    assert "node/node-a tainted" == repr(cluster.taint("node-a", "k=v:NoSchedule", "k=v:NoExecute", "l:PreferNoSchedule"))
    with pytest.raises(ValueError, match="node node-a already has k taint"):
        cluster.taint("node-a", "k=w:NoSchedule")
    assert "node/node-a modified" == repr(cluster.taint("node/node-a", "k=w:NoSchedule", overwrite=True))
    assert ["k=w:NoSchedule", "k=v:NoExecute", "l:PreferNoSchedule"] == [*map(str, cluster["node/node-a"].spec.taints)]
    assert "node/node-a untainted" == repr(cluster.taint("node-a", "k-"))
    assert "node/node-a untainted" == repr(cluster.taint("node-a", "l:PreferNoSchedule-"))
    assert () == cluster["node/node-a"].spec.taints


@pytest.mark.parametrize(("texts", "message"), [
    (["k=v"], "invalid taint spec: k=v"),
    (["k=v:Now"], "invalid taint effect: Now"),
    (["gone-"], 'taint "gone" not found'),
    (["k:NoSchedule", "k:NoSchedule"], "duplicated taints with the same key and effect: k:NoSchedule"),
    (["k:NoSchedule", "k-"], "can not both modify and remove"),
    ([], "at least one taint update is required"),
])  # fmt: skip
def test_a_taint_that_makes_no_sense_is_one_sentence(cluster, texts, message):
    """A wrong taint is refused in kubectl's words, and no step is made."""
    with pytest.raises(ValueError, match=message):
        cluster.taint("node-a", *texts)
    assert 0 == cluster.world.known_steps


# -- workloads ------------------------------------------------------------------------------------------------------


def test_a_workload_is_scaled_and_restarted():
    """The Deployment controller follows: 3 pods after scaling, 3 new ones after a restart."""
    c = kvolsched.scenario("zonal-example", "upstream")
    c.apply(DEPLOYMENT)
    c.run()
    c.scale("deployment/web", 3)
    c.run()
    first = {pod.metadata.name for pod in c.objects("pods")}
    assert 3 == len([name for name in first if name.startswith("web-")])
    c.rollout_restart("deploy/web")
    with pytest.raises(ValueError, match="if restart has already been triggered within the past second"):
        c.rollout_restart("deploy/web")
    c.run()
    second = {pod.metadata.name for pod in c.objects("pods") if pod.metadata.name.startswith("web-")}
    assert (3, set()) == (len(second), first & second)


def test_what_cannot_be_scaled_or_restarted_says_so(cluster):
    """A kind without replicas and a number below 0 are errors."""
    with pytest.raises(ValueError, match="pod/my-pod has no replicas; these kinds have: Deployment"):
        cluster.scale("pod/my-pod", 2)
    with pytest.raises(ValueError, match='pods "my-pod" restarting is not supported'):
        cluster.rollout_restart("pod/my-pod")
    cluster.apply(DEPLOYMENT)
    with pytest.raises(ValueError, match="0 or greater, not -1"):
        cluster.scale("deployment/web", -1)


def test_gates_are_removed_by_name_or_all():
    """A named gate goes alone; without names all go, and the pod is scheduled; an unknown gate lists those there."""
    c = Cluster()
    c.apply(GATED)
    with pytest.raises(ValueError, match=r"no scheduling gate x; there are: example\.com/quota, example\.com/zone"):
        c.ungate("job", "x")
    c.ungate("pod/job", "example.com/quota")
    assert ["example.com/zone"] == [gate.name for gate in c["pod/job"].spec.scheduling_gates]
    c.ungate("default/job")
    assert () == c["pod/job"].spec.scheduling_gates
    assert "pod/job unchanged" == repr(c.ungate("job"))


# -- names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("reference", "message"), [
    ("node/node-aa", "no node/node-aa; there are: node/node-a, .*; did you mean node/node-a"),
    ("pod/shop/my-pod", "no pod/shop/my-pod; there are: pod/my-pod; did you mean pod/my-pod[?]"),
    ("sts/web", "no sts/web; there are: none of that kind"),
])  # fmt: skip
def test_an_unknown_reference_has_the_nearest_names(cluster, reference, message):
    """A reference without object is one sentence with the nearest names, wherever it is used."""
    for act in (cluster.__getitem__, cluster.delete, lambda ref: cluster.patch(ref, {})):
        with pytest.raises(KeyError, match=message):
            act(reference)


def test_a_reference_of_another_kind_is_refused(cluster):
    """A node's act does not take a pod's reference."""
    with pytest.raises(KeyError, match="pod/my-pod is no Node"):
        cluster.cordon("pod/my-pod")


@pytest.mark.parametrize("name", ["PV controller", "pv controller", "persistent-volume-binder", "persistentvolume claims"])
def test_faults_take_the_names_that_people_see(cluster, name):
    """A component is crashed and refused by its display name, its own, or an actor's."""
    cluster.step(name)
    cluster.crash(name)
    assert "persistent-volume-binder" == cluster._last_step.turns[0].component
    cluster.refuse(name)
    assert "write 1 of persistent-volume-binder will be refused" in cluster._last_step.words


def test_a_refused_scheduler_is_refused(cluster):
    """A refusal by display name has an effect: the scheduler's next write meets it."""
    cluster.refuse("scheduler", reason="Conflict")
    cluster.run(steps=12)
    refused = [turn for step in range(1, cluster.world.known_steps + 1) for turn in cluster.goto(step).turns
               if "refused" in turn.words and turn.component == "kube-scheduler"]
    assert refused


def test_an_unknown_component_lists_what_there_is(cluster):
    """An unknown name is one sentence with the nearest names and every component, for crash, refuse and step."""
    for act in (cluster.crash, cluster.refuse, cluster.step):
        with pytest.raises(LookupError, match=r"no (component|actor) is called 'schedular'; there are: user.*did you mean .*scheduler"):
            act("schedular")
    assert 0 == cluster.world.known_steps


# -- dials of nobody ------------------------------------------------------------------------------------------------


def test_dials_take_the_names_that_people_see():
    """Dials of the scheduler may be given by its display name; the component is absent."""
    c = Cluster(components={"scheduler": {"absent": True}})
    assert "kube-scheduler" not in c.world.processes


def test_dials_of_a_misspelled_component_are_refused():
    """A name that is nearly a component's is one sentence with the nearest names and the components."""
    with pytest.raises(ValueError, match=r"no component or driver is called 'schedular'; .*did you mean scheduler"):
        Cluster(components={"schedular": {"absent": True}})
    with pytest.raises(ValueError, match="statefulset-controller has no dial delay; there are: absent, denied"):
        Cluster(components={"StatefulSet controller": {"delay": 1}})
    with pytest.raises(ValueError, match="garbage-collector has no dial delay; there are: absent, denied"):
        Cluster(components={"garbage collector": {"delay": 1}})


def test_dials_of_a_misspelled_driver_are_refused():
    """A `fails` under a name that is nearly that of a loaded class's driver is one sentence, not silence."""
    driver = kvolsched.scenario("zonal-example").objects("storageclasses")[0].provisioner
    with pytest.raises(ValueError, match=rf"{driver}: fails\[0\] has no dial claim; there are: "):
        Cluster(components={driver: {"fails": [{"claim": "default/my-pvc"}]}})
    fails = {"fails": [{"times": 1}]}
    with pytest.raises(ValueError, match=rf"names a driver '{driver}x', so its dials have no effect; .*did you mean {driver}"):
        Cluster.from_manifests(kvolsched.scenario("zonal-example").manifests(), components={f"{driver}x": fails})


def test_dials_of_a_driver_that_nobody_names_are_told():
    """Dials may come before their class; a run that ends without it says that they had no effect."""
    c = Cluster(components={"later.example.com": {"delay": 2.0}})
    assert "nothing is left to do; no class names later.example.com, whose dials have no effect" == c.run().ended
    c.apply({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "later"},
             "provisioner": "later.example.com"})  # fmt: skip
    assert "nothing is left to do" == c.run().ended
