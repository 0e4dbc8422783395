"""Cases of what a change costs others and of what becomes of a fix: `harm.py` and `outcome.py` of `questions/fix`."""

from functools import partial

from attrs import fields

from fix_cases.whole import budget, owned, replica_set, selector
from kvolsched import Cluster, make
from kvolsched.api.text.manifest import from_plain
from kvolsched.make import apart, claim, node, pod, required, spread, together, volume
from kvolsched.questions.fix.harm import Harm, Stars, harm, lies, stars
from kvolsched.questions.fix.outcome import LostNode, MovedPod, TriedFix, WaitingPod
from kvolsched.world.apiserver import key_of, ref
from kvolsched.world.log import Key

WEB, DB = partial(owned, kind="ReplicaSet", name="web-1"), partial(owned, kind="StatefulSet", name="db")


def world(manifests):
    """Return objects by key, as they stand in a file."""
    return {key_of(each): each for each in map(from_plain, manifests)}


def cost(before, after, start=None, but=None, also=()):
    """Return the harm of one world compared with another, its stars and the lies, in lines."""
    first, last = world([*also, *before]), world([*also, *after])
    objects = first if start is None else world([*also, *start])
    found = harm(first, last, objects, Key("Pod", "default", but) if but else None)
    good = stars(first, last, objects)
    lines = [f"{field.name}: {'; '.join(_told(getattr(found, field.name)))}" for field in fields(Harm) if getattr(found, field.name)]
    kept = [f"stars {field.name}: {'; '.join(getattr(good, field.name))}" for field in fields(Stars) if getattr(good, field.name)]
    return "\n".join([*lines, f"promises: {len(found.promises)}", *kept, f"{good!r} ({good.count})",
                      *(f"lie: {each}" for each in lies(first, last))])  # fmt: skip


def _told(value):
    if isinstance(value, dict):
        return [f"{owner}: {', '.join(names)}" for owner, names in value.items()]
    return [ref(each) if isinstance(each, Key) else each for each in value]


def runs(name, on="n1", uid="", **fields):
    """Return a pod on a node."""
    return pod(name, node_name=on, uid=uid or name, **fields)


def workload(kind="Deployment", name="web", replicas=3, **spec):
    """Return a workload of this kind; its template has these fields."""
    made = make.deployment(name, replicas or 0, **spec)
    if replicas is None or kind == "Job":
        del made["spec"]["replicas"]
    group = "batch/v1" if kind == "Job" else "apps/v1"
    return made | {"apiVersion": group, "kind": kind, "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"}}


def guarded(healthy, desired):
    """Return a budget with so many healthy pods."""
    return budget("b", 0, "web") | {"status": {"currentHealthy": healthy, "desiredHealthy": desired, "disruptionsAllowed": 0}}


def hosting(*ports):
    """Return the containers of a pod with ports of its node."""
    return {"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": port, "hostPort": port} for port in ports]}]}


SET = replica_set()
LABELS = {make.ZONE: "a", "disk": "ssd", "team": "shop"}
BOUND = claim("data", bound="disk")
DISK = volume("disk", bound="data")
HARM = {
    "harm: none": lambda: cost([runs("a"), pod("b")], [runs("a"), pod("b")]),
    "harm: pods that are gone, but not those that waited or had ended": lambda: cost(
        [runs("z"), runs("a"), pod("b"), runs("c", status={"phase": "Succeeded"}), runs("d")], [runs("d")]),
    "harm: two of an owner are gone, one came": lambda: cost(
        [WEB(runs("w1")), WEB(runs("w2")), WEB(pod("w0"))], [WEB(runs("w3")), WEB(pod("w0"))], also=[SET]),
    "harm: one of an owner is gone, one that waited runs": lambda: cost(
        [WEB(runs("w1")), WEB(pod("w2"))], [WEB(runs("w2"))], also=[SET]),
    "harm: one of an owner is gone, one waits in its place": lambda: cost([WEB(runs("w1"))], [WEB(pod("w2"))], also=[SET]),
    "harm: two of an owner wait in the place of one that waited": lambda: cost(
        [WEB(pod("w1")), WEB(runs("w2"))], [WEB(pod("w1")), WEB(pod("w3"))], also=[SET]),
    "harm: of two that wait the one that ran": lambda: cost(
        [WEB(pod("a")), WEB(runs("z"))], [WEB(pod("a")), WEB(pod("z"))], also=[SET]),
    "harm: one waits that waited under another name": lambda: cost([WEB(pod("w1"))], [WEB(pod("w9"))], also=[SET]),
    "harm: of a set each waits by itself": lambda: cost([DB(runs("db-1")), DB(pod("db-0"))], [DB(pod("db-1")), DB(runs("db-0"))]),
    "harm: the next of a set waits": lambda: cost([DB(pod("db-0"))], [DB(runs("db-0")), DB(pod("db-1"))]),
    "harm: one of another namespace waits": lambda: cost(
        [pod("a"), runs("a", namespace="far")], [runs("a"), pod("a", namespace="far")]),
    "harm: the pod itself does not count": lambda: cost([runs("a"), runs("b")], [pod("a"), pod("b")], but="a"),
    "harm: one that ran in another namespace is gone": lambda: cost([runs("a", namespace="far")], []),
    "harm: made anew, by whom": lambda: cost(
        [WEB(runs("w1")), WEB(runs("w2")), DB(runs("db-0", uid="old")), runs("bare", uid="old"), WEB(pod("w0"))],
        [WEB(runs("w3")), WEB(runs("w4")), DB(runs("db-0", uid="new")), runs("bare", uid="new"), WEB(pod("w0"))], also=[SET]),
    "harm: made anew in both worlds": lambda: cost(
        [DB(runs("db-0", uid="one")), DB(runs("db-1", uid="one"))], [DB(runs("db-0", uid="two"))],
        start=[DB(runs("db-0", uid="start"))]),
    "harm: a claim is Lost, one was before": lambda: cost(
        [claim("a"), claim("z"), claim("was") | {"status": {"phase": "Lost"}}],
        [{**claim(name), "status": {"phase": "Lost"}} for name in ("z", "a", "was")]),
    "harm: a volume is gone, with its claim and without": lambda: cost(
        [BOUND, DISK, claim("b", bound="disk2"), volume("disk2", bound="b")], [claim("b", bound="disk2")]),
    "harm: files are left behind": lambda: cost(
        [BOUND, DISK, claim("b", bound="disk2"), volume("disk2", bound="b"), claim("c", bound="disk3"), volume("disk3", bound="c")],
        [DISK, claim("b", bound="other"), volume("disk2", bound="b"), claim("c", bound="disk3"), volume("disk3", bound="c")]),
    "harm: a claim that had no volume goes": lambda: cost([claim("a"), claim("named", volumeName="gone")], []),
    "harm: a volume that was not there is no loss, the claim's files are": lambda: cost([claim("a", bound="gone")], [claim("a")]),
    "harm: fewer replicas, more, as many, none told": lambda: cost(
        [workload(name="a"), workload(name="b"), workload(name="c"), workload(name="d", replicas=None), workload("StatefulSet", "e", 2),
         workload("Job", "f", 1)],
        [workload(name="a", replicas=1), workload(name="b", replicas=4), workload(name="c"), workload(name="d", replicas=1),
         workload("StatefulSet", "e", 0)]),
    "harm: what a controller owns is nobody's promise": lambda: cost(
        [replica_set(of="web") | {"spec": {"replicas": 3, **workload()["spec"]}}], []),
    "harm: a budget is no longer kept": lambda: "\n\n".join(
        cost([guarded(*old)], [guarded(*new)] if new else []) for old, new in (
            ((3, 3), (2, 3)), ((2, 3), (2, 3)), ((2, 3), (1, 3)), ((5, 3), (3, 3)), ((5, 3), (2, 3)), ((3, 3), None))),
    "harm: a claim asks for fewer modes": lambda: cost(
        [claim("a", accessModes=["ReadWriteOnce", "ReadWriteMany"]), claim("b", accessModes=["ReadWriteMany"])],
        [claim("a", accessModes=["ReadWriteOnce"]), claim("b", accessModes=["ReadWriteOnce", "ReadWriteMany"])]),
    "harm: less is asked for, by a pod, a template and one of a controller": lambda: "\n\n".join([
        cost([pod("web", requests={"cpu": "2", "memory": "1Gi", "x.com/a": "1"})],
             [pod("web", requests={"cpu": "1500m", "memory": "2Gi"})]),
        cost([workload(cpu="2")], [workload(cpu="1")]), cost([WEB(pod("w", cpu="2"))], [WEB(pod("w", cpu="1"))]) ]),
    "harm: a wider spread, none, a narrower, a soft one": lambda: "\n\n".join(
        cost([pod("web", topologySpreadConstraints=old)], [pod("web", topologySpreadConstraints=new)]) for old, new in (
            ([spread(app="w"), spread(make.HOST, 2, app="w")], [spread(skew=2, app="w"), spread(make.HOST, 1, app="w")]),
            ([spread(app="w")], [spread(app="w", soft=True)]), ([spread(app="w", soft=True)], []), ([spread(app="w", skew=2)], [spread(app="w", skew=2)]))),
    "harm: no longer selected": lambda: "\n\n".join([
        cost([pod("web", nodeSelector={"disk": "ssd", "row": "r"})], [pod("web", nodeSelector={"disk": "hdd"})]),
        cost([pod("web", affinity=required({"disk": ["ssd"]}))], [pod("web")]),
        cost([pod("web", affinity=required({"disk": ["ssd"]}))], [pod("web", affinity=selector([("disk", "In", "hdd")]))])]),
    "harm: terms of affinity": lambda: "\n\n".join([
        cost([pod("web", affinity={**together(app="a"), **apart(app="b")})], [pod("web", affinity=together(app="a"))]),
        cost([workload(affinity={**together(app="a"), **apart(app="b")})], [workload(affinity=apart(app="b"))])]),
    "harm: ports of nodes": lambda: cost([pod("web", **hosting(443, 80, 0))], [pod("web", **hosting(443))]),
    "harm: a new pod promises nothing": lambda: cost([], [pod("web")]),
    "harm: a label says what is not so, another is new": lambda: cost(
        [node("n1", labels=LABELS), node("n2", "a"), node("n3")],
        [node("n1", labels={**LABELS, make.ZONE: "b", "disk": "hdd", "new": "x"}), node("n2"), node("n3", labels={"a.com/b": "c"}), node("n4")]),
    "harm: a node says that it has more": lambda: cost(
        [node("n1", cpu="2", memory="4Gi")], [{**node("n1", cpu="4", memory="2Gi"), "status": {"allocatable": {
            "cpu": "2500m", "memory": "2Gi", "pods": "110", "x.com/a": "1"}}}]),
    "harm: stars, what still waits, is gone, or waits instead": lambda: "\n\n".join([
        cost([pod("a"), pod("b")], [pod("a"), runs("b")]), cost([pod("a")], []), cost([pod("a"), runs("b")], [runs("a"), pod("b")]),
        cost([WEB(pod("w1")), WEB(runs("w2"))], [WEB(runs("w2"))], also=[SET]), cost([WEB(pod("w1")), WEB(runs("w2"))], [WEB(runs("w3"))], also=[SET]),
        cost([WEB(pod("w1")), WEB(pod("w2"))], [WEB(runs("w2"))], also=[SET]), cost([WEB(pod("w1"))], [], also=[SET]),
        cost([WEB(pod("w2")), WEB(pod("w1"))], [WEB(pod("w3"))], also=[SET])]),
    "harm: stars of what is harmed, and of what is given up": lambda: "\n\n".join([
        cost([runs("a"), runs("b"), claim("c"), node("n1", "a"), workload(replicas=2)],
             [{**claim("c"), "status": {"phase": "Lost"}}, node("n1", "b"), workload(replicas=1)]),
        cost([workload(cpu="2")], [workload(cpu="1")])]),
}  # fmt: skip


def trial(*manifests, why=(), name="default/app", **fields):
    """Return a trial: a fork with these objects, and what differs there."""
    cluster = Cluster.from_manifests([node("n1"), *manifests])
    waiting = tuple(WaitingPod(name, cluster.why(f"pod/{name}")) for name in why)
    return TriedFix(name, "Do it", cluster, **({"waits_now": waiting} if why else {}), **fields)


def tried(*manifests, **fields):
    """Return what a trial says."""
    found = trial(*manifests, **fields)
    facts = {"helps": found.helps, "places": found.places, "not needed": found.is_not_needed, "gone": found.is_gone,
             "otherwise": found.waits_for_other_reasons}  # fmt: skip
    lists = {"next": found.next, "leaving": found.leaving, "restarts": found.restarts}
    return "\n".join([repr(found), f"helped {found.helped}; {', '.join(name for name, so in facts.items() if so)}",
                      *(f"{name}: {'; '.join(those)}" for name, those in lists.items() if those)])  # fmt: skip


ON = {"node": "n1", "phase": "Running", "steps": 5}
LOST = Harm(gone=(Key("Pod", "default", "a"), Key("Pod", "far", "b")), lost_claims=("default/c", "default/d"))
MANY = [f"p{number}" for number in range(8)]
APP = pod("app", cpu="99")
PLACED = pod("app", running_on="n1")
OUTCOMES = {
    "tried: it is placed": lambda: tried(PLACED, **ON),
    "tried: it is placed and does not run, after one step": lambda: tried(PLACED, node="n1", phase="Pending", steps=1),
    "tried: refused": lambda: tried(APP, refused="no such thing"),
    "tried: evicted": lambda: tried(PLACED, **ON, eviction=LostNode("n1", 1.5, "a taint")),
    "tried: it still waits": lambda: tried(APP, steps=2),
    "tried: it waits though a node would take it": lambda: tried(pod("app"), steps=2),
    "tried: it is gone": lambda: tried(steps=2),
    "tried: it is gone with others": lambda: tried(steps=2, owner="Deployment web", waited=2, waits=1),
    "tried: it is not asked for any more": lambda: tried(steps=2, owner="Deployment web", waited=1, waits=0),
    "tried: it is not asked for any more, and the others wait": lambda: tried(
        pod("app2", cpu="99"), why=["app2"], steps=2, owner="Deployment web", waited=3, waits=2),
    "tried: another stands for it": lambda: tried(
        pod("app2", running_on="n1"), **ON, owner="Deployment web", stand_in="default/app2", waited=3, waits=1),
    "tried: another stands for it and waits": lambda: tried(pod("app2", cpu="99"), owner="Deployment web", stand_in="default/app2", waited=1, waits=1),
    "tried: none of them waits then": lambda: tried(PLACED, **ON, owner="Deployment web", waited=3, waits=0),
    "tried: two of them wait then": lambda: tried(PLACED, **ON, owner="Deployment web", waited=3, waits=2, runs_more=True),
    "tried: others wait": lambda: tried(PLACED, pod("a", cpu="99"), pod("b", cpu="98"), why=["a", "b"], **ON),
    "tried: seven others wait": lambda: tried(PLACED, *(pod(name, cpu="99") for name in MANY[:7]), why=MANY[:7], **ON),
    "tried: six others wait": lambda: tried(PLACED, *(pod(name, cpu="99") for name in MANY[:6]), why=MANY[:6], **ON),
    "tried: the lack moves": lambda: tried(PLACED, pod("a", cpu="99"), why=["a"], **ON, lack_moves_to=("default/a",)),
    "tried: pods and volumes are lost": lambda: tried(PLACED, **ON, harm=LOST),
    "tried: a claim loses its volume": lambda: tried(PLACED, **ON, harm=Harm(lost_claims=("default/c",))),
    "tried: pods are placed and moved": lambda: tried(
        PLACED, **ON, placed=(MovedPod("default/b", "", "n2"),), moved=(MovedPod("default/c", "n1", "n2"), MovedPod("far/d", "n2", "n1"))),
    "tried: pods are made anew": lambda: tried(
        PLACED, **ON, harm=Harm(restarted={"Deployment web": ("default/w1", "default/w2"), "StatefulSet db": ("default/db-0",)})),
    "tried: the next of a set waits": lambda: tried(
        PLACED, **ON, owner="StatefulSet db", waited=1, without_fix={"default/app": "", "default/x": ""},
        with_fix={"default/app": "n1", "default/x": "", "default/db-1": "", "default/db-2": "n1"}),
    "tried: the next of a set waits, of which more waited": lambda: tried(
        PLACED, **ON, owner="StatefulSet db", waited=2, waits=1, with_fix={"default/app": "n1", "default/db-1": ""}),
    "tried: stopped before the end": lambda: tried(PLACED, **ON, is_idle=False, ended="after 3000 steps"),
}  # fmt: skip
