"""Cases of fixes that are tried beside a run without them: `trials.py` of `questions/fix`, and whose template is changed."""

from attrs import fields

from fix_cases.commands import labels
from fix_cases.whole import owned, replica_set
from kvolsched import Cluster, make
from kvolsched.api.kinds.meta import Frozen, evolve_parts
from kvolsched.api.text.manifest import from_plain
from kvolsched.make import claim, node, pod, storage_class, volume
from kvolsched.questions.fix import ObjectChange
from kvolsched.questions.fix.edit import OutsideAct
from kvolsched.questions.fix.outcome import TriedFix
from kvolsched.questions.fix.owners import for_owner, owner_on_top, siblings
from kvolsched.questions.fix.trials import AskedCluster
from kvolsched.world.apiserver import ref
from kvolsched.world.log import Key

LEFT_OUT = {"cluster", "words"}


def asked_of(manifests, name="app", *, run=False):
    """Return the cluster that is asked, and the pod of this name or the first that waits of those it begins."""
    cluster = Cluster.from_manifests(manifests)
    if run:
        cluster.run(steps=500)
    found = sorted((each for each in cluster.objects("pods") if each.metadata.name.startswith(name)), key=lambda each: (bool(each.spec.node_name), each.metadata.name))
    name = found[0].metadata.name
    return cluster, AskedCluster(cluster, Key("Pod", "default", name), cluster.why(f"pod/{name}"))


def tried(manifests, *changes, name="app", run=False, acts=()):
    """Return all that a trial found; each change is (reference, what becomes of it) or a manifest that is made."""
    cluster, asked = asked_of(manifests, name, run=run)
    made = tuple(_change(cluster, asked, *each) if isinstance(each, tuple) else ObjectChange(None, from_plain(each)) for each in changes)
    found = asked.try_changes((*made, *acts), "Do it")
    lines = [f"{field.name}: {_text(getattr(found, field.name))}" for field in fields(TriedFix)
             if field.name not in LEFT_OUT and getattr(found, field.name) not in ("", (), None, {}, 0)]  # fmt: skip
    losses = asked.losses((*made, *acts))
    return "\n".join([*lines, f"losses: {None if losses is None else dict(losses)}", f"left alone: {asked.without_fix.node or 'no node'}"])


def _change(cluster, asked, name, become):
    old = cluster[name.replace("POD", asked.pod.name)]
    return ObjectChange(old, become(old) if become else None)


def _text(value):
    if isinstance(value, tuple):
        return "; ".join(map(_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(each)}" for key, each in value.items())
    return ref(value) if isinstance(value, Key) else getattr(value, "name", "") + " " + value.lack if hasattr(value, "lack") else str(value)


def roomier(cpu):
    """Return what gives a node so much cpu."""
    return lambda old: evolve_parts(old, status={"allocatable": old.status.allocatable.merged({"cpu": cpu})})


SSD = {"disk": "ssd"}
WAITING = [node("n1", cpu="2"), node("n2", cpu="1"), pod("app", nodeSelector=SSD), pod("b", nodeSelector=SSD), pod("z", cpu="9")]
WEB = make.deployment("app", 2, cpu="1")
TRIALS = {
    "trial: nothing is changed": lambda: tried(WAITING),
    "trial: a label, by which another is placed, too": lambda: tried(WAITING, ("node/n2", labels(labels=SSD))),
    "trial: a label for one, which takes the other's room": lambda: tried(
        [node("n1", cpu="150m"), node("n2", taints=["closed"]), pod("app", nodeSelector=SSD), pod("b")], ("node/n1", labels(labels=SSD))),
    "trial: another is elsewhere for it": lambda: tried(
        [node("n1", cpu="100m"), node("n2", cpu="100m", labels=SSD, taints=["x"]), pod("a", nodeSelector={make.HOST: "n1"}), pod("app", priority=5)],
        ("node/n2", lambda old: evolve_parts(old, spec={"taints": ()}))),
    "trial: a new node": lambda: tried([node("n1", cpu="1"), pod("app", cpu="2")], node("n2"), make.csi_node("n2", 1)),
    "trial: a bare pod goes": lambda: tried([node("n1", cpu="2"), pod("x", running_on="n1", cpu="2"), pod("app", cpu="1")], ("pod/x", None)),
    "trial: refused, not there": lambda: "\n\n".join([
        tried(WAITING, ("pod/app", lambda old: evolve_parts(old, spec={"node_selector": Frozen()}))), tried(WAITING, node("n1"))]),
    "trial: more room for a Deployment": lambda: tried([node("n1", cpu="1500m"), WEB], ("node/n1", roomier("2")), run=True),
    "trial: more room for some of a Deployment": lambda: tried(
        [node("n1", cpu="1500m"), make.deployment("app", 4, cpu="1")], ("node/n1", roomier("2")), run=True),
    "trial: fewer replicas": lambda: tried([node("n1", cpu="1500m"), WEB], ("deploy/app", lambda old: evolve_parts(old, spec={"replicas": 1})), run=True),
    "trial: the next of a set": lambda: tried(
        [node("n1", cpu="500m"), make.stateful_set("app", 3, cpu="1")], ("node/n1", roomier("1")), run=True),
    "trial: the pod itself goes": lambda: tried(WAITING, ("pod/app", None)),
    "trial: an act": lambda: tried(WAITING, acts=[OutsideAct("a node comes", lambda cluster: cluster.apply(node("n3", labels=SSD)))]),
    "trial: a volume goes": lambda: tried(
        [node("n1", cpu="1"), storage_class(), claim("data", bound="disk"), volume("disk", bound="data"), pod("app", cpu="2")],
        ("node/n1", roomier("3")), ("pv/disk", None)),
    "trial: it is evicted": lambda: tried(
        [node("n1", cpu="1", taints=["gone:NoExecute"]), pod("app", cpu="2", tolerations=[
            {"key": "gone", "operator": "Exists", "tolerationSeconds": 60}])], ("node/n1", roomier("3"))),
    "trial: it gets a node anyway": lambda: tried([node("n1"), pod("app"), pod("z", cpu="9")], ("node/n1", roomier("5"))),
}  # fmt: skip


def owners(kind, *, again=False, suspended=False, refuse=False):
    """Return whose change that of a pod becomes: each object, whether it is deleted or made anew."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Always"}}
    made = {"apiVersion": "batch/v1" if kind == "Job" else "v1" if kind == "ReplicationController" else "apps/v1", "kind": kind,
            "metadata": {"name": "web", "namespace": "default", "uid": "uid-web"}, "spec": {"template": template, **({"suspend": True} if suspended else {})}}  # fmt: skip
    if kind == "StatefulSet":
        made["spec"]["serviceName"] = "web"
    pods = [owned(pod(name, uid=name, labels={"app": "web"}, **more), kind, "web") for name, more in (
        ("app", {}), ("w1", {"node_name": "n1"}), ("w2", {}), ("w3", {"node_name": "n1", "status": {"phase": "Failed"}}))]
    there = [made, *pods, pod("other"), owned(pod("far", namespace="far"), kind, "web")]
    objects = {Key(each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): from_plain(each) for each in there}
    old = objects[Key("Pod", "default", "app")]
    affinity = from_plain(pod("x", affinity=make.apart(app="web"))).spec.affinity
    new = evolve_parts(old, spec={"affinity": affinity} if refuse else {"priority": 7})
    other = objects[Key("Pod", "default", "other")]
    changes = for_owner([ObjectChange(old, new, recreate=again), ObjectChange(other, evolve_parts(other, spec={"priority": 7})), ObjectChange(old, None)], old, objects)
    told = [f"{ref(each.key)} {'goes' if each.new is None else 'changes'}{' anew' * each.recreate}" for each in changes]
    alike = ", ".join(each.metadata.name for each in siblings(old, objects))
    return f"{kind}: {'; '.join(told)} | {alike} | {owner_on_top(old, objects)} | {[each.metadata.name for each in siblings(other, objects)]}"


def on_top(*sets, hash_of="1", uid=""):
    """Return the owner on top of a pod of the ReplicaSet web-1, where these objects are there."""
    app = from_plain(owned(pod("app", labels={"pod-template-hash": hash_of} if hash_of else {}), "ReplicaSet", "web-1"))
    objects = {Key(each["kind"], "default", each["metadata"]["name"]): from_plain(each) for each in sets}
    return str(owner_on_top(app, objects))


def _loop():
    """Return two sets that own each other."""
    return [owned(replica_set("web-1"), "ReplicaSet", "web-2"), owned(replica_set("web-2"), "ReplicaSet", "web-1")]


TRIALS |= {
    "owner: whose template is changed": lambda: "\n".join([
        *(owners(kind) for kind in ("Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "DaemonSet", "Job")),
        owners("Job", suspended=True), owners("StatefulSet", refuse=True), owners("Deployment", refuse=True), owners("Deployment", again=True)]),
    "owner: on top": lambda: "\n".join([
        on_top(), on_top(hash_of=""), on_top(hash_of="2"), on_top(replica_set(of="web")), on_top(replica_set()), on_top(*_loop(), hash_of="")]),
}  # fmt: skip
