"""Names on the face of a cluster: every method takes the four forms of a reference, and says what unknown names may mean."""

import inspect

import pytest

from kvolsched import Cluster, UnknownName, make, scenario
from kvolsched.core.upgrades import rules_of
from kvolsched.explore import Crash

FORMS = ("web-0", "pod/web-0", "demo/web-0", "po/demo/web-0")
NODE_FORMS = ("n1", "node/n1", "no/n1", "Node/n1")
DRIVER = "disks.example.com"

POD = {  # method -> a call of it with a reference to a pod
    "annotate": lambda c, pod: c.annotate(pod, "a=b"),
    "capacity": lambda c, pod: c.capacity(pod),
    "delete": lambda c, pod: c.delete(pod),
    "evict": lambda c, pod: c.evict(pod),
    "fits": lambda c, pod: c.fits(pod),
    "fix": lambda c, pod: c.fix(pod),
    "get": lambda c, pod: c.get(pod),
    "label": lambda c, pod: c.label(pod, "a=b"),
    "manifests": lambda c, pod: c.manifests(pod),
    "may": lambda c, pod: c.may(pod, {"metadata": {"labels": {"a": "b"}}}),
    "mounts": lambda c, pod: c.mounts(pod),
    "passes": lambda c, pod: c.passes(pod),
    "patch": lambda c, pod: c.patch(pod, {"metadata": {"labels": {"a": "b"}}}),
    "predict": lambda c, pod: c.predict(pod=pod, ask="end"),
    "replace": lambda c, pod: c.replace(c.manifests(pod), pod),
    "scores": lambda c, pod: c.scores(pod),
    "skew": lambda c, pod: c.skew(pod),
    "story": lambda c, pod: c.story(pod),
    "ungate": lambda c, pod: c.ungate(pod),
    "verdicts: one": lambda c, pod: c.verdicts(pod, "n1", "NodeName"),
    "verdicts": lambda c, pod: c.verdicts(pod),
    "whatif": lambda c, pod: c.whatif("why", pod=pod, **{"n1:spec.unschedulable": bool}).table,
    "why": lambda c, pod: c.why(pod),
    "may, edited": lambda c, pod: c.may(pod, "metadata: {labels: {a: b}}", edit=True).answers[0],
    "written": lambda c, pod: c.written(pod),
    "__getitem__": lambda c, pod: c[pod],
}
NODE = {
    "cordon": lambda c, node: c.cordon(node),
    "drain": lambda c, node: c.drain(node),
    "start_nodes": lambda c, node: c.start_nodes(node),
    "stop_nodes": lambda c, node: c.stop_nodes(node),
    "taint": lambda c, node: c.taint(node, "a=b:NoSchedule"),
    "uncordon": lambda c, node: c.uncordon(node),
    "verdicts of a node": lambda c, node: c.verdicts("web-0", node, "NodeName"),
}
WORKLOAD = {
    "scale": lambda c, reference: c.scale(reference, 2),
    "rollout_restart": lambda c, reference: c.rollout_restart(reference),
}
OTHERS = {  # method -> a call with a misspelled name, and what the sentence says
    "upgrade: API server": (lambda c: c.upgrade("desing", "kube-apiserver", beside=True), "no revision is called 'desing'; .*; did you mean design"),
    "crash": (lambda c: c.crash("PV controler"), r"no component is called .*; did you mean PV controller\?"),
    "create_volume_requests": (lambda c: c.create_volume_requests("dta"), "no pvc/dta"),
    "delay": (lambda c: c.delay("kublet", 1), r"no component is called 'kublet'; .*; did you mean kubelet\?"),
    "domains": (lambda c: c.domains("zone1"), "no node has the label zone1; there are: .*did you mean topology.kubernetes.io/zone"),
    "explore": (lambda c: c.explore(lag="orderd"), r"'orderd' is no lag; there are: ordered, .*; did you mean ordered\?"),
    "explore: component": (lambda c: c.explore(components=["kubelt"]), r"no component is called 'kubelt'; .*mean kubelet\?"),
    "explore: fault": (lambda c: c.explore(faults=[Crash("schedular")]), "no component is called 'schedular'; .*mean scheduler"),
    "explore: goal": (lambda c: c.explore(goal="web-0 Runing"), r"no condition 'Runing' of web-0; .*did you mean Running\?"),
    "explore: object": (lambda c: c.explore(never="pod/demo/wbe-0 Running"), "no pod/demo/wbe-0, and no workload .*mean pod/demo/web-0"),
    "get: kind": (lambda c: c.get("podds"), r"have a resource type \"podds\".*known: .*; did you mean pods or pod\?"),
    "map": (lambda c: c.map("topology.kubernetes.io/zoone"), "no node has the label .*; did you mean topology.kubernetes.io/zone"),
    "objects": (lambda c: c.objects("depoly"), "unknown kind 'depoly'; known: .*; did you mean deploy"),
    "outage": (lambda c: c.outage("kube-api"), r"no server is called 'kube-api'; .*; did you mean kube-apiserver\?"),
    "pools": (lambda c: c.pools("disk.example.com"), f"no driver 'disk.example.com' with pools; .*did you mean {DRIVER}"),
    "refuse": (lambda c: c.refuse("schedular"), r"no component is called 'schedular'; .*; did you mean scheduler\?"),
    "requests": (lambda c: c.requests(kode=201), r"requests have no column 'kode'; .*; did you mean code\?"),
    "rules_of": (lambda c: rules_of(c, "schedular"), r"no component is called 'schedular'; .*; did you mean scheduler\?"),
    "run": (lambda c: c.run("pod/x runing"), r"no condition 'runing' of pod/x; .*; did you mean Running\?"),
    "sample": (lambda c: c.sample(1, goal="pvc/x Bond"), r"no condition 'Bond' of pvc/x; .*; did you mean Bound\?"),
    "series": (lambda c: c.series(what="runing"), "runing.*; there are: .*; did you mean running"),
    "set_pool": (lambda c: c.set_pool(DRIVER, "zone-x"), r"has no pool 'zone-x'; there are: zone-a; did you mean zone-a\?"),
    "step": (lambda c: c.step("kubelt"), r"no actor is called 'kubelt'; .*; did you mean kubelet\?"),
    "step: cause": (lambda c: c.step("scheduler", "demo/web-9"), "scheduler has nothing to do about 'demo/web-9'; there are: none"),
    "get_capacity_requests": (lambda c: c.get_capacity_requests("disk.example.com"), f"no driver .*; .*did you mean {DRIVER}"),
    "goto": (lambda c: c.goto("man"), "no other branch is called 'man'; there are: none"),
    "ungate: gate": (lambda c: c.ungate("gated", "example.com/queu"), "no scheduling gate .*; did you mean example.com/queue"),
    "upgrade": (lambda c: c.upgrade("design", "kube-schedule"), r"no component is called .*; did you mean kube-scheduler\?"),
    "upgrade: gates": (lambda c: c.upgrade({"EvenPodSpread": True}, "kube-scheduler"), "did you mean EvenPodsSpread"),
    "verdicts: plugin": (lambda c: c.verdicts("web-0", "n1", "NodeNames"), r"no plugin NodeNames in .*; did you mean NodeName\?"),
    "whatif": (lambda c: c.whatif("skw", **{"n1:spec.unschedulable": bool}), "skw.*there are: .*; did you mean skew"),
    "whatif: object": (lambda c: c.whatif("map", **{"nod/n1:spec.unschedulable": bool}), "no object is called 'nod/n1'.*mean node/n1"),
    "with_autoscaler": (lambda c: c.with_autoscaler([], expandr="random"), r"no dial expandr; .*; did you mean expander\?"),
    "with_controller": (lambda c: c.with_controller("mine", ["Podd"], lambda _seen, _ref: None), "unknown kind 'Podd'; .*mean pod"),
    "with_webhook": (lambda c: c.with_webhook(validate=lambda _new, _old: True, kinds=["Podd"]), "unknown kind 'Podd'"),
    "branch, Cluster": (lambda _c: Cluster("upstraem"), r"no revision is called 'upstraem'; .*; did you mean upstream\?"),
    "dial": (lambda _c: Cluster(components={"kubelet": {"strt_delay": 1}}), r"kubelet has no dial strt_delay; .*mean start_delay\?"),
    "from_manifests": (lambda _c: Cluster.from_manifests([], revision="drft"), r"no revision is called 'drft'; .*; did you mean draft\?"),
    "under": (lambda c: c.under("desing"), "no revision is called 'desing'; .*; did you mean design"),
}
NAMED = {"reference", "references", "pod", "node", "which", "component", "driver", "kind", "topology_key", "server", "rules",
         "actor", "until", "what", "picture", "old", "branch"}  # parameters that name something
NO_LOOK_UP = {"branch", "diff", "writes"}  # the name is new, or the argument is a cluster


@pytest.fixture(scope="module")
def cluster():
    """Pods of another namespace (one fits no node, one is gated, one has a node), a Deployment, nodes, a driver's pool."""
    dials = {DRIVER: {"pools": {"zone-a": "100Gi"}}}
    taints = [{"key": "old", "value": "x", "effect": "NoSchedule"}]
    c = Cluster.from_manifests(
        [make.node("n1", zone="a", taints=taints), make.node("n2", zone="b", cpu="1"), make.storage_class(provisioner=DRIVER),
         make.pod("web-0", namespace="demo", cpu="2"), make.pod("gated", namespace="demo", gates=["example.com/queue"]),
         make.pod("placed", namespace="demo", running_on="n2"),
         {**make.deployment("web", replicas=0), "metadata": {"name": "web", "namespace": "demo"}}],
        components=dials,
    )  # fmt: skip
    c.step("scheduler", "demo/web-0")
    c.label("demo/web-0", "touched=yes")
    return c


def told(answer):
    """Return an answer as a user reads it."""
    return repr(answer)


@pytest.mark.parametrize("method", POD)
def test_the_four_forms_name_one_pod(cluster, method):
    """Name, kind and name, namespace and name, and all three give one answer."""
    name = {"ungate": "gated", "fix": "placed"}.get(method, "web-0")
    forms = [form.replace("web-0", name) for form in FORMS]

    assert 1 == len({told(POD[method](cluster.fork("c"), form)) for form in forms})


@pytest.mark.parametrize("method", NODE)
def test_the_forms_of_a_node(cluster, method):
    """A node has no namespace; its name alone, and with its kind by any name, give one answer."""
    if method == "start_nodes":
        cluster = cluster.fork()
        cluster.stop_nodes("n1")

    assert 1 == len({told(NODE[method](cluster.fork("c"), form)) for form in NODE_FORMS})


@pytest.mark.parametrize("method", WORKLOAD)
def test_the_forms_of_a_workload(cluster, method):
    """Workloads have the four forms, too."""
    forms = ("web", "deploy/web", "demo/web", "deployments/demo/web")

    assert 1 == len({told(WORKLOAD[method](cluster.fork("c"), form)) for form in forms})


@pytest.mark.parametrize("method", ["fits", "fix", "passes", "scores", "verdicts", "verdicts: one"])
def test_a_workload_stands_for_its_first_pod(method):
    """Who asks about the passes of a workload is told of its first pod, of a waiting one first, as `why` tells of it."""
    c = Cluster.from_manifests([make.node("n1"), make.node("n2"), make.deployment("web", replicas=2)])
    c.run()
    placed = told(POD[method](c, c.objects("pods")[0].metadata.name))
    forms = ("web", "deploy/web", "default/web", "deployments/default/web")

    assert {placed} == {told(POD[method](c, form)) for form in forms}
    for node in ("n1", "n2"):
        c.cordon(node)
    c.scale("web", 3)
    c.run()
    waiting, = [pod.metadata.name for pod in c.objects("pods") if not pod.spec.node_name]
    assert told(POD[method](c, waiting)) == told(POD[method](c, "web"))


@pytest.mark.parametrize(("calls", "unknown", "sentence"), [
    *((call, "demo/web-9", "web-9.*did you mean (pod/)?demo/web-0|web-9") for call in POD.values()),
    *((call, "n9", "no node/n9; there are: node/n1, node/n2") for call in NODE.values()),
    *((call, "demo/wep", "demo/wep.*did you mean deploy/demo/web") for call in WORKLOAD.values()),
], ids=[*POD, *NODE, *WORKLOAD])
def test_an_unknown_name_is_one_sentence(cluster, calls, unknown, sentence):
    """It says what was looked for and what is near, on one line, and nothing changes."""
    before = cluster.digest()
    with pytest.raises(UnknownName, match=sentence) as raised:
        calls(cluster, unknown)

    assert "\n" not in str(raised.value)
    assert before == cluster.digest()


@pytest.mark.parametrize("name", OTHERS)
def test_names_of_other_things(cluster, name):
    """Components, conditions, kinds, labels, plugins, pools, revisions, gates and dials are told with what there is."""
    call, sentence = OTHERS[name]
    with pytest.raises(UnknownName, match=sentence) as raised:
        call(cluster)

    assert "\n" not in str(raised.value)


def test_every_method_that_takes_a_name_is_tried():
    """A new method with a reference, or another name, needs its line in one of these tables."""
    tried = {name.partition(":")[0] for name in (*POD, *NODE, *WORKLOAD, *OTHERS)}
    methods = ((name, getattr(Cluster, name)) for name in dir(Cluster) if not name.startswith("_"))
    asks = {name for name, method in methods if callable(method) and NAMED & set(inspect.signature(method).parameters)}

    assert [] == sorted(asks - tried - NO_LOOK_UP)


def test_the_forms_in_conditions(cluster):
    """A run waits for a pod in each form, also for one that does not exist yet; at its end it says what never came."""
    for form in FORMS:
        assert f"{form} exists holds" == cluster.fork().run(f"{form} exists").ended
    c = cluster.fork()
    c.run()
    c.scale("web", 1)
    assert "demo/none Running" not in c.run("demo/none Running").ended
    assert c.run("demo/none Running").ended.startswith("nothing is left to do; no pod/demo/none; there are: ")


def test_deleted_objects_have_stories():
    """What is deleted is still known to its story, its passes and verdicts."""
    c = scenario("zonal-example")
    c.step("scheduler")
    c.delete("my-pod")
    c.run()

    assert "my-pod" not in c
    assert "pod/my-pod gone" in repr(c.story("my-pod"))
    assert 1 == len(c.passes("default/my-pod"))
    with pytest.raises(UnknownName, match="no pod/my-pod; there are: none of that kind"):
        c.why("my-pod")


def test_a_plugin_of_other_arguments_is_refused(cluster):
    """A rule or a preference that cannot be called with (pod, node, seen) is refused with what it takes."""
    def mine(pod):
        return bool(pod)

    with pytest.raises(TypeError, match=r"rule is a plain function of \(pod, node, seen\) that returns True, False or a reason; "
                                        r"mine takes \(pod\)"):
        cluster.with_plugin(mine)
    with pytest.raises(TypeError, match=r"prefer is a plain function of \(pod, node, seen\) that returns a score from 0 to 100"):
        cluster.with_plugin(prefer=lambda _node: 1)
    assert "always" in cluster.with_plugin(lambda *_everything: True, name="always").revision.name


def test_faults_return_their_step(cluster):
    """A crash, a refused write and a delay are each the step that was made; a crash that loses nothing is none."""
    c = cluster.fork()
    first = c._last_step.number
    steps = [c.crash("scheduler"), c.refuse("scheduler"), c.delay("scheduler", 1)]

    assert [first + 1, first + 2, first + 3] == [step.number for step in steps]
    assert ["crashes and restarts", "will be refused with Conflict", "is delayed by 1 s"] == [
        words for words, step in zip(("crashes and restarts", "will be refused with Conflict", "is delayed by 1 s"), steps,
                                     strict=True) if words in step.words]
    assert not scenario("zonal-example").crash("scheduler")
    with pytest.raises(ValueError, match="nth: 0: must be at least 1"):
        c.refuse("scheduler", 0)


def test_names_in_the_panel(cluster):
    """A misspelled command, tab or act is told with the nearest ones."""
    lab = cluster.fork().lab()
    for call, near in ((lambda: lab.do("stpe"), "step or speed"), (lambda: lab.do("tab", name="skw"), "skew"),
                       (lambda: lab.user("cordn", node="n1"), "cordon or uncordon")):  # fmt: skip
        with pytest.raises(UnknownName, match=rf"did you mean {near}\?"):
            call()
