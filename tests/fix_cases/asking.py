"""Cases of which fixes are told, in which order and with which proof: `asking.py` of `questions/fix`, on stand-ins of trials."""

from collections import Counter
from types import SimpleNamespace
from unittest.mock import patch

from attrs import evolve
from waiting_pods import cluster_of

from fix_cases.costs import hosting, world
from fix_cases.whole import owned
from kvolsched import Cluster, make
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.notebook_output import IN_TERMINAL
from kvolsched.api.text.manifest import from_plain
from kvolsched.core.results import ApplyRefused
from kvolsched.make import claim, node, pod, storage_class, volume
from kvolsched.questions.fix import Edit, Fix, ObjectChange, asking, trials
from kvolsched.questions.fix.edit import OutsideAct
from kvolsched.questions.fix.edit_search import FoundFix
from kvolsched.questions.fix.harm import Harm
from kvolsched.questions.fix.outcome import LostNode
from kvolsched.world.log import Key

APP = Key("Pod", "default", "app")
TWO = [node("n1"), node("n2")]
TAINTED = "node.kubernetes.io/unreachable:NoExecute"
UNINITIALISED = "node.cloudprovider.kubernetes.io/uninitialized:NoSchedule"


def outcome(*, node="n1", evicted=False, helped=1, gone=0, waits_now=0, restarted=0, lost=(), waited=1, waits=0, runs_more=False,
            helps=True, otherwise=False, not_needed=False):  # fmt: skip
    """Return a stand-in of a trial."""
    return SimpleNamespace(
        node=node, places=bool(node) and not evicted, helped=helped, gone=("x",) * gone, waits_now=("y",) * waits_now, helps=helps,
        harm=Harm(restarted={"ReplicaSet web": ("z",) * restarted} if restarted else {}, lost_claims=tuple(lost)), waited=waited, waits=waits,
        runs_more=runs_more, waits_for_other_reasons=otherwise, is_not_needed=not_needed, told_of_owner="of its owner some wait",
        headline="it still waits", lacks="it lacks room")  # fmt: skip


def asked_of(objects=(), *, large=False, outcomes=None, gates=(), **more):
    """Return a stand-in of the cluster that is asked."""
    there = world([*objects, *([] if any(each["metadata"]["name"] == "app" and each["kind"] == "Pod" for each in objects) else [pod("app")])])
    return SimpleNamespace(name="default/app", pod=APP, objects=there, is_large=large, gates=gates, for_owner=tuple,
                           try_changes=lambda _attempt, words: (outcomes or {}).get(words, outcome()), **more)  # fmt: skip


def edit(words, kind, cost=1, changes=1, acts=0, letter=""):
    """Return an edit that changes so many pods."""
    old = [from_plain(pod(f"{words.lower()}{number}")) for number in range(changes)]
    made = tuple(ObjectChange(each, evolve_parts(each, metadata={"labels": each.metadata.labels.with_(a="b")})) for each in old)
    more = {"letter": letter} if letter else {}
    return Edit(words, cost, made, kind, acts=tuple(OutsideAct(f"{words} {number}") for number in range(acts)), **more)


def fix(asked, *edits, nodes=("n1",)):
    """Return a fix of edits, each (words, kind, more)."""
    made = tuple(each if isinstance(each, Edit) else edit(*each) for each in edits)
    return Fix("default/app", made, nodes, "", asked=asked)


def order(*those, objects=TWO, **more):
    """Return the fixes that are told, in their order; each is one edit's (words, kind) or several of these."""
    asked = asked_of(objects, **more)
    fixes = [fix(asked, *(those_edits if isinstance(those_edits, list) else [those_edits])) for those_edits in those]
    return "\n".join(f"{each.number} {each.letter} {each.words}{''.join(f' or {other}' for other in each.others)}" for each in asking._told(fixes)) or "none"


def sorted_by(**outcomes):
    """Return the order of fixes of one class, told apart by what their trials show."""
    kinds = ("lower request", "smaller claim", "change selector", "drop selector", "drop affinity")
    asked = asked_of(TWO, outcomes=outcomes)
    return " ".join(each.words for each in sorted((fix(asked, (words, kind)) for words, kind in zip(outcomes, kinds, strict=False)), key=asking._rank))


def ranked(*edits, large=False):
    """Return the order of edits by themselves."""
    asked = asked_of(TWO, large=large)
    return " ".join(each.words for each in sorted((fix(asked, each) for each in edits), key=asking._rank))


ON_DISK = [*TWO, pod("app", "data"), claim("data", bound="disk"), volume("disk", bound="data")]
ORDER = {
    "tell: of each class, what restores first": lambda: order(
        ("Tolerate", "tolerate"), ("Lower", "lower request"), ("Add", "add node"), ("Use", "use class"), ("Uncordon", "uncordon"), ("Wait", "wait")),
    "tell: what costs others alone": lambda: order(("Delete", "delete pods"), ("Tolerate", "tolerate"), ("New", "new claim")),
    "tell: on the only node, what costs others, too": lambda: order(
        ("Tolerate", "tolerate"), ("Delete", "delete pods"), ("Add", "add node"), objects=[node("n1")]),
    "tell: what is always told": lambda: order(
        ("Add", "add node"), ("Relabel", "relabel"), ("Gates", "remove gates"), ("Topology", "allow topology"), ("Elsewhere", "run elsewhere")),
    "tell: no data are given up where what corrects or keeps is enough": lambda: order(("Strategy", "strategy"), ("New", "new claim")),
    "tell: data are given up where machines alone would do": lambda: order(("Add", "add node"), ("New", "new claim"), ("Old", "delete claim")),
    "tell: no data are given up that a node reaches": lambda: order(("Add", "add node"), ("New", "new claim"), objects=ON_DISK),
    "tell: data are given up that no node reaches": lambda: "\n\n".join(order(("New", "new claim"), objects=objects) for objects in (
        [*ON_DISK[2:], node("n1", taints=[TAINTED])], [node("n1", "a"), *ON_DISK[2:4], volume("disk", zone="b", bound="data")],
        [*TWO, *ON_DISK[2:4]], [*TWO, *ON_DISK[2:3]], [*TWO, ON_DISK[2], claim("data")])),
    "tell: two volumes, of which a node reaches one": lambda: order(
        ("New", "new claim"), objects=[node("n1", "a"), node("n2", "b"), pod("app", "data", "logs"), claim("data", bound="disk"), claim("logs", bound="d2"),
                                       volume("disk", zone="a", bound="data"), volume("d2", zone="b", bound="logs")]),
    "tell: of data the other ways as well": lambda: order(("A", "new claim"), ("B", "new claim"), ("C", "new claim"), ("D", "delete claim")),
    "tell: of other kinds one alone": lambda: order(("A", "lower request"), ("B", "lower request"), ("Smaller", "smaller claim")),
    "tell: five at most": lambda: order(*((kind, kind) for kind in (
        "uncordon", "use class", "strategy", "add node", "larger machine", "lower request", "smaller claim"))),
    "tell: who slipped needs no machine": lambda: "\n\n".join([
        order(("Add", "add node"), ("Larger", "larger machine"), ("Select", "use selector")),
        order(("Add", "add node"), ("Larger", "larger machine"), edit("Less", "lower request", letter="B")),
        order(("Add", "add node"), ("Larger", "larger machine"), edit("Less", "lower request")),
        order(("Add", "add node"), [("Select", "use selector"), ("Uncordon", "uncordon")])]),
    "tell: a new node would be in the state of all others": lambda: "\n\n".join(order(
        ("Add", "add node"), ("Larger", "larger machine"), objects=[node(f"n{number}", taints=each) for number, each in enumerate(taints)]) for taints in (
            [[TAINTED], [TAINTED]], [[TAINTED], []], [[TAINTED]], [[UNINITIALISED]], [[UNINITIALISED], [TAINTED]])),
    "tell: after two simple ones none of more edits": lambda: order(
        ("Uncordon", "uncordon"), ("Use", "use class"), [("Lower", "lower request"), ("Drop", "drop selector")]),
    "tell: after one simple one those of more edits, but none that has its kind": lambda: order(
        ("Uncordon", "uncordon"), [("Lower", "lower request"), ("Drop", "drop selector")], [("Uncordon n2", "uncordon"), ("Drop b", "drop selector")]),
    "tell: several edits of which one costs others": lambda: order(
        ("Uncordon", "uncordon"), [("Relabel", "relabel"), ("Drop", "drop selector")], [("Untaint", "untaint"), ("Gates", "remove gates")]),
    "tell: the empty disk for one that is lost": lambda: "\n\n".join([
        order(("Add", "add node"), [edit("Delete", "delete claim"), edit("Disk", "add volume")]),
        order(("Add", "add node"), [edit("Delete", "delete claim"), edit("Disk", "add volume", letter="B")]),
        order(("Add", "add node"), [edit("Delete", "delete claim"), edit("Uncordon", "uncordon")])]),
    "tell: none": order,
    "rank: who is helped, who harmed, who restarted": lambda: "\n".join([
        sorted_by(A=outcome(), B=outcome(helped=2), C=outcome(helped=0)), sorted_by(A=outcome(gone=1), B=outcome(waits_now=2), C=outcome()),
        sorted_by(A=outcome(restarted=2), B=outcome(), C=outcome(restarted=1)),
        sorted_by(A=outcome(gone=1, restarted=0), B=outcome(restarted=5), C=outcome(helped=2, gone=3))]),
    "rank: by class, the port last, costs, objects, for good, words": lambda: "\n".join([
        ranked(edit("A", "lower request", 9), edit("B", "add node", 9), edit("C", "drop host port", 1), edit("D", "wait", 9)),
        ranked(edit("A", "lower request", 2), edit("B", "lower request", 1)), ranked(edit("A", "lower request", changes=2), edit("B", "lower request")),
        ranked(edit("B", "lower request"), edit("A", "lower request"), Edit("Gone", 1, (ObjectChange(from_plain(pod("gone")), None),), "lower request")),
        ranked(edit("A", "lower request", 2), edit("B", "lower request", 1), large=True)]),
}  # fmt: skip


def headlines(*those, **more):
    """Return what is said of fixes before they are told."""
    asked = asked_of(TWO, **more)
    return asking._headline([evolve(fix(asked, each), number=number) for number, each in enumerate(those)])


ASK = edit("Ask", "ask the autoscaler", changes=0)
HEADS = {
    "head: one, two, one that is not tried": lambda: "\n".join([
        headlines(edit("A", "uncordon")), headlines(edit("A", "uncordon"), edit("B", "add node")), headlines(edit("A", "uncordon"), ASK),
        headlines(ASK), headlines(ASK, ASK), headlines(ASK, edit("A", "uncordon"), ASK)]),
    "head: nothing harmless, partly harmless": lambda: "\n".join([
        headlines(edit("A", "tolerate"), edit("B", "delete pods")), headlines(edit("A", "tolerate"), edit("B", "uncordon"))]),
    "head: needed and not enough": lambda: "\n".join([
        headlines(edit("A", "uncordon"), outcomes={"A": outcome(helped=0)}),
        headlines(edit("A", "uncordon"), edit("B", "add node"), outcomes={"A": outcome(helped=0), "B": outcome(helped=0)})]),
}  # fmt: skip


def good(**of_trial):
    """Return whether a trial proves a fix, and what is said if it does not."""
    acts = of_trial.pop("acts", 0)
    nodes = of_trial.pop("nodes", ("n1",))
    found = fix(asked_of(TWO, outcomes={"A": outcome(**of_trial)}), edit("A", "uncordon", acts=acts), nodes=nodes)
    return f"{asking._is_good(found)}: {asking._refutation(found)}"


PROOFS = {
    "good: it is placed, nobody waits for it": good,
    "good: it is not placed": lambda: good(node=""),
    "good: it is evicted": lambda: good(evicted=True),
    "good: as many wait as before": lambda: good(waited=2, waits=2),
    "good: more wait than before": lambda: good(waited=1, waits=2),
    "good: as many wait, but more run": lambda: good(waited=2, waits=2, runs_more=True),
    "good: fewer wait": lambda: good(waited=2, waits=1),
    "good: none waited": lambda: good(waited=0, waits=0),
    "good: another waits": lambda: good(waits_now=1),
    "good: a claim is lost": lambda: good(lost=["c"]),
    "good: a node would take it, after an act": lambda: good(node="", acts=1, otherwise=True),
    "good: a node would take it, without an act, and with an act on no node": lambda: "\n".join([
        good(node="", otherwise=True), good(node="", acts=1, otherwise=True, nodes=()), good(node="", acts=1)]),
}  # fmt: skip


def forked(fits=(), node="n1", eviction=None, steps=3, nodes_there=2):
    """Return a stand-in of a fork."""
    there = {Key("Node", "", f"n{number}"): 1 for number in range(nodes_there)} | {APP: 1}
    log = SimpleNamespace(objects=there)
    return SimpleNamespace(fits=tuple(fits), node=node, eviction=eviction, steps_until_scheduled=steps, run=lambda: None,
                           cluster=SimpleNamespace(world=SimpleNamespace(log=log)))  # fmt: skip


def proof(*edits, error=None, outcomes=None, large=False, nodes=("n9",), **of_fork):
    """Return how a fix is proved, on a fork or by the plugins alone."""
    def fork_with(_changes):
        if error is not None:
            raise error
        return forked(**of_fork)

    asked = asked_of(TWO, outcomes=outcomes, fork_with=fork_with)
    found = (asking._judged if large else asking._prove)(asked, FoundFix(tuple(edits) or (edit("A", "uncordon"),), nodes))
    return found if isinstance(found, str) or found is None else f"{found.nodes} {found.proof} every {found.every} steps {found.steps}"


def of_claim(kind="PersistentVolumeClaim", *, gone=False):
    """Return an edit of an object of this kind."""
    objects = {"PersistentVolumeClaim": claim(), "PersistentVolume": volume(), "StorageClass": storage_class(), "Pod": pod("other")}
    old = from_plain(objects[kind])
    new = None if gone else evolve_parts(old, metadata={"labels": old.metadata.labels.with_(a="b")})
    return Edit(f"Change {kind}", 1, (ObjectChange(old, new),), "use class")


REFUSED = [KeyError("no such thing"), ApplyRefused([SimpleNamespace(message="it is forbidden", code="Forbidden")])]
PROOFS |= {
    "proof: it fits one node, every node, the only node": lambda: "\n".join([
        proof(fits=["n1"]), proof(fits=["n0", "n1"]), proof(fits=["n0"], nodes_there=1), proof(fits=["n0", "n1", "n2"])]),
    "proof: refused, or an object is not there": lambda: "\n".join(proof(error=each) for each in REFUSED),
    "proof: by a run, of claims, volumes, classes, and of what is deleted": lambda: "\n".join(
        proof(each, fits=["n1"]) for each in (*map(of_claim, ("PersistentVolumeClaim", "PersistentVolume", "StorageClass")), of_claim("Pod", gone=True),
                                             of_claim("Pod"))),
    "proof: no node, an eviction, a claim that is lost": lambda: "\n".join([
        proof(node=""), proof(eviction=LostNode("n1", 5, "a taint")), proof(node="", eviction=LostNode("n1", 5, "a taint")),
        proof(outcomes={"A": outcome(lost=["a", "b"])}), proof(fits=["n1"], outcomes={"A": outcome(lost=["a"])})]),
    "proof: judged alone": lambda: "\n".join(str(each) for each in (
        proof(large=True, fits=["n1"]), proof(large=True, fits=["n0", "n1"]), proof(large=True), proof(of_claim(), large=True),
        proof(of_claim(), large=True, nodes=()), proof(of_claim(), large=True, nodes=("n1", "n2")), proof(large=True, error=KeyError("x")),
        proof(of_claim(), large=True, fits=["n1"]))),
}  # fmt: skip


def needed(*edits, losses, without=None):
    """Return which edits are kept, where each set of edits costs these losses (None: it gets no node)."""
    def of(attempt, *, keep=False):
        words = "".join(sorted(each.key.name[0] for each in attempt))
        return (losses.get(words) if words else without)

    asked = asked_of(TWO, losses=of)
    found = asking._without_unneeded_edits(asked, FoundFix(edits, ("n1",)))
    return " ".join(each.words for each in found.edits)


A, B = edit("A", "uncordon"), edit("B", "uncordon")
PROOFS |= {
    "needed: both, one, none": lambda: "\n".join([
        needed(A, B, losses={"ab": Counter()}), needed(A, B, losses={"ab": Counter(), "a": Counter()}), needed(A, losses={"a": Counter(), "": Counter()})]),
    "needed: one alone costs more, or as much": lambda: "\n".join([
        needed(A, B, losses={"ab": Counter(), "a": Counter(x=1)}), needed(A, B, losses={"ab": Counter(x=1), "a": Counter(x=1)}),
        needed(A, B, losses={"ab": Counter(x=1), "b": Counter(x=2)})]),
    "needed: it gets no node by both, or gets one by itself": lambda: "\n".join([
        needed(A, B, losses={"a": Counter()}), needed(A, B, losses={"ab": Counter(), "a": Counter()}, without=Counter())]),
}  # fmt: skip


def answer(*manifests, pod="app", run=True, revision=None):
    """Return the whole answer."""
    cluster = Cluster.from_manifests(manifests, **({"revision": revision} if revision else {}))
    if run:
        cluster.run(steps=500)
    return repr(cluster.fix(pod))


def typed(*manifests):
    """Return the whole answer, in a terminal."""
    token = IN_TERMINAL.set(True)
    try:
        return answer(*manifests, run=False)
    finally:
        IN_TERMINAL.reset(token)


def large(call):
    """Return an answer of a cluster that counts as large."""
    with patch.object(trials, "LARGE", 2):
        return call()


WAITING = storage_class("late", provisioner="gone.example.com")
ANSWERS = {
    "fix: nothing to fix": lambda: answer(node("n1"), pod("app")),
    "fix: nothing lifts it": lambda: answer(pod("app")),
    "fix: a gate": lambda: answer(node("n1"), pod("app", gates=["example.com/q"])),
    "fix: a gate, and no room": lambda: answer(node("n1", cpu="1"), node("n2", cpu="500m"), pod("app", cpu="2", gates=["example.com/q"])),
    "fix: a port of the only node is taken": lambda: answer(
        node("n1"), {**pod("x", running_on="n1"), "spec": {**pod("x")["spec"], **hosting(80), "nodeName": "n1"}}, pod("app", **hosting(80)), run=False),
    "fix: an autoscaler's taint": lambda: answer(node("n1", taints=["ToBeDeletedByClusterAutoscaler=1767225600:NoSchedule"]), node("n2", cpu="50m"), pod("app")),
    "fix: a large cluster, in a notebook and in a terminal": lambda: large(lambda: "\n".join([
        answer(node("n1"), node("n2"), pod("app", nodeSelector={"disk": "ssd"}), run=False),
        typed(node("n1"), node("n2"), pod("app", nodeSelector={"disk": "ssd"}))])),
    "fix: replicas that take each other's room": lambda: answer(node("n1", cpu="1500m"), node("n2", cpu="100m"), make.deployment("app", 3, cpu="700m"), pod="deploy/app"),
    "fix: a scheduler that is older than what the pod needs": lambda: repr(cluster_of("scen/skew-old-scheduler-new-controller").fix("app")),
    "fix: volumes are still made": lambda: answer(node("n1"), WAITING, claim("data"), pod("app", "data")),
    "fix: a taint that nobody minds, and who is first": lambda: answer(
        node("n1", taints=["closed"]), pod("app", cpu="3", priority=0), pod("vip", cpu="3", priority=9), run=False),
    "fix: a claim of a set with a snapshot": lambda: answer(
        node("n1", "a"), storage_class(), volume("disk", zone="b", bound="data-db-0"), claim("data-db-0", bound="disk"),
        owned(pod("db-0", labels={"app": "db"}, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]), "StatefulSet", "db"),
        make.stateful_set("db", 1, "late") | {"metadata": {"name": "db", "namespace": "default", "uid": "uid-db"}}, pod="db-0", run=False),
}  # fmt: skip

ASKED = {**ORDER, **HEADS, **PROOFS, **ANSWERS}
