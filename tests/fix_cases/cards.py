"""Cases of one fix as a card: what `answer.py` of `questions/fix` tells of it, and what its page shows."""

from attrs import evolve

from fix_cases.costs import trial
from fix_cases.whole import owned
from kvolsched import Cluster, make
from kvolsched.api.kinds.meta import Frozen, evolve_parts
from kvolsched.make import apart, claim, csi_node, node, pod, storage_class, volume
from kvolsched.questions.fix import Edit, Fix, ObjectChange
from kvolsched.questions.fix.edit import OutsideAct
from kvolsched.questions.fix.harm import Harm
from kvolsched.questions.fix.outcome import LostNode, MovedPod
from kvolsched.questions.fix.trials import AskedCluster
from kvolsched.views.pages.fix import (
    NOT_TRIED,
    Beside,
    FixCard,
    FixPage,
    LiftedRow,
    beside_of,
    card_html,
    draw,
    draw_trial,
    is_short,
    outcome_of,
    page_of,
    touched_words,
)
from kvolsched.world.log import Key

SSD = {"disk": "ssd"}


def fix_of(manifests, *edits, name="app", nodes=("n1",), **fields):
    """Return a fix of a pod: each edit is (words, kind, {reference: what becomes of the object, None: it goes}, more)."""
    cluster = Cluster.from_manifests(manifests)
    return _fix(cluster, name, edits, nodes, fields)


def _fix(cluster, name, edits, nodes, fields):
    asked, now, made = AskedCluster(cluster, Key("Pod", "default", name), cluster.why(f"pod/{name}")), {}, []
    for words, kind, changes, more in edits:
        found = tuple(_change(cluster, now, ref.replace("POD", name), become) for ref, become in changes.items())
        made.append(Edit(words, 1, found, kind, **more))
    return Fix(f"default/{name}", tuple(made), nodes, "then it fits", asked=asked, **fields)


def _change(cluster, now, ref, become):
    if isinstance(become, dict):  # a manifest that is made
        return ObjectChange(None, next(iter(Cluster.from_manifests([become]).loaded_manifests.objects)))
    name = ref.removeprefix("anew ")
    old = now.get(name) or cluster[name]
    now[name] = become(old) if become else None
    return ObjectChange(old, now[name], recreate=ref.startswith("anew "))


def part(**changes):
    """Return a change of the parts of an object."""
    return lambda old: evolve_parts(old, **changes)


def told(fix):
    """Return all that a fix says, and its card on the page but for what is drawn beside."""
    page = page_of(fix)
    card = page.cards[0]
    shown = ("number", "words", "decides", "node", "where", "is_new", "lifted", "touched", "restart", "others", "outcome", "files", "code",
             "can_be_tried")  # fmt: skip
    facts = {"costs": fix.costs_others, "notes": fix.notes, "acts": [act.words for act in fix.acts], "written": len(fix.written),
             "lifted": [(each.node, each.plugin, each.reasons, each.sides, each.resolvable) for each in fix.lifted]}  # fmt: skip
    return "\n".join([repr(fix), *(f"{name}: {fact}" for name, fact in facts.items()),
                      f"{page.title} | {page.corner}", *(f"card {name}: {getattr(card, name)}" for name in shown),
                      *(f"card said: {pair}" for pair in card.said), *(f"card {side}: {place}" for side in ("without", "within")
                                                                      for place in getattr(card.beside, side)),
                      f"card steps: {card.beside.steps} {card.beside.rest}", *(f"card diff: {line}" for line in card.diff)])  # fmt: skip


def labelled(**labels):
    """Return a change of labels."""
    return lambda old: evolve_parts(old, metadata={"labels": old.metadata.labels.merged(labels)})


WAITS = [node("n1", cpu="2"), node("n2", cpu="1"), pod("app", nodeSelector=SSD)]
UNTAINT = part(spec={"taints": ()})
ROOM = ("Use a larger machine for n1", "larger machine")


def roomier(old):
    """Return a node with more cpu."""
    return evolve_parts(old, status={"allocatable": old.status.allocatable.merged({"cpu": "9"})})


def web(replicas=2, cpu="1", **fields):
    """Return a Deployment that runs as it can, and its pods: those that wait are named app-..."""
    return make.deployment("app", replicas, cpu=cpu, **fields)


def played(manifests, *edits, nodes=("n1",), **fields):
    """Return a fix of the first pod that waits once a cluster has come to rest."""
    cluster = Cluster.from_manifests(manifests)
    cluster.run()
    waiting = next(each for each in cluster.objects("pods") if not each.spec.node_name)
    return _fix(cluster, waiting.metadata.name, edits, nodes, fields)


LABEL = ("Label n1 disk=ssd", "label truly", {"node/n1": labelled(**SSD)}, {"note": "only if it is true", "who": "operator of the cluster"})
SHRINK = ("Ask for less", "lower request", {"anew pod/POD": lambda old: evolve(old, spec=evolve(
    old.spec, containers=(evolve(old.spec.containers[0], resources=evolve(old.spec.containers[0].resources, requests=old.spec.containers[
        0].resources.requests.merged({"cpu": "100m"}))),)))}, {})
CLASSED = [storage_class("late"), claim("data"), volume("disk", zone="b")]
JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "pi"}, "spec": {"template": {"spec": {
    "restartPolicy": "Never", "containers": [{"name": "app", "image": "app:1", "resources": {"requests": {"cpu": "5"}}}]}}}}  # fmt: skip
CARDS = {
    "card: a label": lambda: told(fix_of(WAITS, LABEL)),
    "card: a label of which it is not enough": lambda: told(fix_of(
        [node("n1", taints=["closed"]), pod("app", nodeSelector=SSD)], LABEL)),
    "card: two edits of two deciders": lambda: told(fix_of(
        [node("n1", taints=["closed"]), pod("app", nodeSelector=SSD)], LABEL,
        ("Remove the taint", "untaint", {"node/n1": UNTAINT}, {"note": "only if it is true"}), number=3, every=True)),
    "card: a cordon": lambda: told(fix_of(
        [node("n1", unschedulable=True, annotations={"a": "b"}), pod("app")], ("Uncordon n1", "uncordon", {"node/n1": part(spec={"unschedulable": False, "taints": ()})}, {}))),
    "card: a machine": lambda: told(fix_of(
        [node("n1", cpu="1"), csi_node("n1", 1), pod("app", cpu="2")],
        (*ROOM, {"node/n1": roomier, "csinode/n1": part(spec={"drivers": ()})},
         {"acts": (OutsideAct("it is larger"),), "do": "kubectl drain n1", "restarts": "every pod of n1", "data": "GONE", "who": "us; them"}))),
    "card: a new node": lambda: told(fix_of(
        [node("n1", cpu="1"), pod("app", cpu="2")],
        ("Add a node", "add node", {"node": node("n1-more"), "csinode": csi_node("n1-more", 1)}, {"do": "buy it", "undo": "give it back"}),
        nodes=("n1-more",))),
    "card: a pod that is in the way": lambda: told(fix_of(
        [node("n1", cpu="2"), pod("db", running_on="n1", cpu="2"), pod("app", cpu="1")],
        ("Delete db", "delete pods", {"pod/db": None}, {}))),
    "card: the pod is made anew": lambda: told(fix_of(
        WAITS, ("Remove disk", "drop selector", {"anew pod/app": part(spec={"node_selector": Frozen()})}, {}), nodes=("n1", "n2", "n3"), every=False)),
    "card: the pod of a set that is not here": lambda: told(fix_of(
        [node("n1"), owned(pod("app", nodeSelector=SSD), "ReplicaSet", "web-1")],
        ("Remove disk", "drop selector", {"anew pod/app": part(spec={"node_selector": Frozen()})}, {}))),
    "card: a template": lambda: told(played([node("n1", cpu="1500m"), web()], SHRINK)),
    "card: fewer replicas": lambda: told(played(
        [node("n1", cpu="1500m"), web()], ("Scale to 1", "scale down", {"deploy/app": part(spec={"replicas": 1})}, {}))),
    "card: a Deployment that is changed otherwise": lambda: told(played(
        [node("n1", cpu="1500m"), web()], ("Wait longer", "strategy", {"deploy/app": part(spec={"min_ready_seconds": 5})}, {}))),
    "card: what Helm manages": lambda: told(fix_of(
        [*WAITS, storage_class("late") | {"metadata": {"name": "late", "labels": {"app.kubernetes.io/managed-by": "Helm"}}}],
        ("Change the class", "allow topology", {"anew sc/late": (
            lambda old: evolve(old, volume_binding_mode="Immediate"))}, {}))),
    "card: what two things manage": lambda: told(fix_of(
        [*WAITS, owned(claim("data"), "Database", "db"), storage_class("late") | {"metadata": {
            "name": "late", "labels": {"app.kubernetes.io/managed-by": "Helm"}}}, storage_class("other") | {"metadata": {
                "name": "other", "labels": {"app.kubernetes.io/managed-by": "x"}}}],
        ("Change the claim", "smaller claim", {"pvc/data": part(spec={"volume_name": "disk"})}, {}),
        ("Change the other", "allow topology", {"anew sc/other": lambda old: evolve(old, volume_binding_mode="Immediate")}, {}),
        ("Change the class", "allow topology", {"anew sc/late": lambda old: evolve(old, volume_binding_mode="Immediate")}, {}))),
    "card: a class that is made anew, and a claim that is changed": lambda: told(fix_of(
        [*WAITS, *CLASSED], ("Change the class", "allow topology", {"anew sc/late": lambda old: evolve(old, volume_binding_mode="Immediate")}, {}),
        ("Change the claim", "smaller claim", {"pvc/data": part(spec={"volume_name": "disk"})}, {}))),
    "card: a claim and a volume": lambda: told(fix_of(
        [*WAITS, *CLASSED], ("Change the claim", "smaller claim", {"pvc/data": part(spec={"volume_name": "disk"})}, {}),
        ("Keep the files", "delete claim", {"pv/disk": part(spec={"persistent_volume_reclaim_policy": "Delete"})}, {"undo": "bring it back"}))),
    "card: a claim that goes, and how it comes back": lambda: told(fix_of(
        [*WAITS, *CLASSED], ("Delete claim", "delete claim", {"pvc/data": None}, {"undo": "make it anew", "data": "EMPTY"}), others=("do that",))),
    "card: a claim that goes, with another edit": lambda: told(fix_of(
        [*WAITS, *CLASSED], ("Delete claim", "delete claim", {"pvc/data": None}, {"undo": "make it anew"}), LABEL)),
    "card: nothing but to wait": lambda: told(fix_of(WAITS, ("Wait", "wait", {}, {}))),
    "card: nothing to try": lambda: told(fix_of(WAITS, ("Ask", "ask the autoscaler", {}, {"do": "look", "who": "them", "undo": "ask again"}))),
    "card: a gated pod": lambda: told(fix_of(
        [node("n1"), pod("app", gates=["q", "r"])], ("Remove gates", "remove gates", {"pod/app": part(spec={"scheduling_gates": ()})}, {}))),
    "card: rejected before any node is looked at": lambda: told(fix_of(
        [node("n1"), storage_class("late"), pod("app", "data")], ("Create the claim", "create claim", {"pvc": claim("data")}, {}))),
    "card: two verdicts on the node that was rejected least": lambda: told(fix_of(
        [node("n1", taints=["closed"]), node("n2", cpu="1", taints=["closed"]), pod("x", running_on="n1", labels={"app": "x"}),
         pod("app", cpu="2", nodeSelector=SSD, affinity=apart(app="x"))], LABEL, nodes=("n2", "n1"))),
    "card: a Job begins anew": lambda: told(played(
        [node("n1", cpu="1500m"), JOB], SHRINK)),
    "card: a Job that is changed in place": lambda: told(fix_of([*WAITS, JOB], (
        "Change its template", "lower request", {"job/pi": lambda old: evolve_parts(old, spec={"template": evolve_parts(
            old.spec.template, metadata={"labels": Frozen({"x": "y"})})})}, {}))),
    "card: without a cluster": lambda: repr(evolve(fix_of(WAITS, LABEL), asked=None)),
    "card: refused": lambda: told(fix_of(
        WAITS, ("Change it", "change selector", {"pod/app": part(spec={"node_selector": Frozen({"disk": "hdd"})})}, {}))),
    "page: as it is drawn": lambda: draw(page_of(fix_of(
        [node("n1", taints=["closed"]), pod("x", running_on="n1"), pod("app", nodeSelector=SSD)], LABEL,
        ("Remove the taint", "untaint", {"node/n1": UNTAINT}, {"note": "and so on", "data": "EMPTY"}))), 700).replace("><", ">\n<"),
    "page: a new node, as it is drawn": lambda: draw(page_of(fix_of(
        [node("n1", cpu="1"), pod("app", cpu="2")], ("Add a node", "add node", {"node": node("n1-more")}, {}), nodes=("n1-more",))), 700).replace("><", ">\n<"),
    "page: nothing to try, as it is drawn": lambda: draw(page_of(fix_of(
        [node("n1", cpu="1"), pod("app", cpu="2")], ("Ask", "ask the autoscaler", {}, {}))), 700).replace("><", ">\n<"),
    "page: of all fixes": lambda: draw(page_of(Cluster.from_manifests(
        [node("n1", cpu="1"), pod("x", running_on="n1", cpu="900m"), pod("app", cpu="500m")]).fix("app")), 700).replace("><", ">\n<"),
    "page: of a trial": lambda: draw_trial(fix_of(WAITS, LABEL).try_it(), 700).replace("><", ">\n<"),
}  # fmt: skip


HIGH = {"cpu": "99"}


def ended(*others, **fields):
    """Return what a page shows of a trial of a pod in the namespace demo, in few words and in full, and the fork beside."""
    found = trial(*(pod(name, namespace=namespace, **HIGH) for namespace, name in others), name="demo/app",
                  why=[f"{namespace}/{name}" for namespace, name in others], **fields)  # fmt: skip
    shown, both = outcome_of(found), beside_of(found)
    return "\n".join([str(shown), *(f"{side}: {place}" for side in ("without", "within") for place in getattr(both, side)),
                      f"{both.steps} {both.rest}"])  # fmt: skip


GONE = tuple(Key("Pod", namespace, name) for namespace, name in (("demo", "a"), ("default", "b"), ("far", "c")))
ONE_NODE = {"node": "n1", "phase": "Running", "steps": 1}
PLACED = tuple(MovedPod(f"demo/{name}", "", "n1") for name in "ab")
MANY = {f"demo/p{number}": "n1" for number in range(6)} | {"demo/x": "n2", "far/y": "n3", "demo/z": "n4", "demo/w": "n5", "demo/v": ""}


def many(**changed):
    """Return the nodes of many pods, some of which are elsewhere."""
    return {**MANY, **{f"demo/{name}": on for name, on in changed.items()}}


ENDS = {
    "end: refused": lambda: ended(refused="no"),
    "end: evicted": lambda: ended(**ONE_NODE, eviction=LostNode("n1", 2.5, "a taint")),
    "end: not asked for any more": lambda: ended(owner="Deployment web", waited=1),
    "end: not asked for any more, and another waits": lambda: ended(("demo", "b"), owner="Deployment web", waited=1),
    "end: it still waits": lambda: ended(steps=2, stand_in="demo/app"),
    "end: the lack moves": lambda: ended(**ONE_NODE, lack_moves_to=("demo/a", "default/b", "far/c")),
    "end: one waits, two, three": lambda: "\n\n".join(ended(*those, **ONE_NODE) for those in (
        [("far", "a")], [("demo", "a"), ("default", "b")], [("demo", "a"), ("default", "b"), ("far", "c")])),
    "end: one is lost, three": lambda: "\n\n".join(ended(**ONE_NODE, harm=Harm(gone=gone)) for gone in (GONE[:1], GONE)),
    "end: one is placed as well, two": lambda: "\n\n".join(ended(**ONE_NODE, placed=placed) for placed in (PLACED[:1], PLACED)),
    "end: none": lambda: ended(**ONE_NODE),
    "beside: many pods on many nodes": lambda: ended(
        **ONE_NODE, without_fix=many(app=""), with_fix=many(app="n1", p5="n2", x="n1", w="", v="n5", new="n6"), new_nodes=("n6",)),
    "beside: a new node, where another stands for it": lambda: ended(
        **ONE_NODE | {"node": "n6"}, stand_in="demo/app2", without_fix={**MANY, "demo/app": ""}, with_fix={**MANY, "demo/app2": "n6"}, new_nodes=("n6",)),
    "beside: nothing differs": lambda: ended(**ONE_NODE, without_fix=MANY, with_fix=MANY),
    "beside: five of a node differ": lambda: ended(
        **ONE_NODE, without_fix=many(), with_fix=many(p0="", p1="", p2="", p3="", p4="")),
    "page: what a card touches": lambda: "\n".join(", ".join(touched_words(evolve(blank(), touched=touched, restart=restart))) for touched, restart in (
        ((), "no"), ((("claim", "new"),), "yes"), ((("class", "new"), ("pod", "gone"), ("class", "edited"), ("pod", "gone")), "driver"))),
    "page: chips, at most four": lambda: "\n\n".join(card_html(evolve(
        blank(), lifted=LIFTED[:count], is_new=new, node=on, number=count, others="x", where="n1" * (count > 1)), opened=new).replace("><", ">\n<")
        for count, new, on in ((0, True, "n9"), (0, False, "n1"), (0, False, ""), (1, False, "n1"), (4, False, "n1"), (5, False, "n1 +2"))),
    "page: short and long differences": lambda: " ".join(str(is_short(evolve(blank(), diff=diff))) for diff in (
        (), ("+a",) * 8, ("-a",) * 8 + (" b", "@ c"), ("+a",) * 9)),
    "page: notes, what was refuted, and what nothing lifts": lambda: draw(FixPage(
        "t", "c", (evolve(blank(), notes=("one", "two"), said=(("do", "x\ny"), ("data", "GONE"), ("undo", "z"), ("lasts", "yes"))),), ("no", "way"), "a; b"),
        700).replace("><", ">\n<"),
}  # fmt: skip
LIFTED = tuple(LiftedRow(letter, "node", f"Plugin{letter}", "✕", f"{letter} > 1") for letter in "ABCDE")


def blank():
    """Return a card that says next to nothing."""
    return FixCard(0, "Do it", "A restores", (), "n1", "", is_new=False, lifted=(), touched=(), restart="no", others="", outcome=NOT_TRIED, notes=(),
                   diff=(), files="", beside=Beside((), (), 0), code="c.fix()", can_be_tried=False)  # fmt: skip


CARDS |= ENDS
