"""What happened, in words: notes, changes by field, stories, passes, and which nodes fitted."""

from types import SimpleNamespace

import attrs
import pytest

from kvolsched import Cluster, make, scenario
from kvolsched.api.text.manifest import from_plain
from kvolsched.controllers.custom_controller import MEMORY
from kvolsched.questions import explain
from kvolsched.questions.explain import (
    FieldChange,
    Fits,
    Passes,
    PassRow,
    Story,
    StoryRow,
    changed_fields,
    describe_note,
)
from kvolsched.world.log import Change, Key, Note
from kvolsched.world.outage import Outage
from kvolsched.world.rules import RunningRules

POD = Key("Pod", "default", "p")


@pytest.mark.parametrize(("value", "sort", "words"), [
    (None, MEMORY, ""), (frozenset({"b", "c", "a"}), MEMORY, "['a', 'b', 'c']"), (["b", "a"], MEMORY, "['b', 'a']"), ({"b": 1}, MEMORY, "{'b': 1}"),
    (RunningRules(("upstream",)), "rules", "upstream"), (RunningRules(("design", "upstream"), 1), "rules", "design and upstream, upstream leads"),
    ((Outage("kubelet", 5.0), Outage("kube-apiserver", 2.5)), "outages", "kubelet until t=5 s, kube-apiserver until t=2.5 s"),
    (SimpleNamespace(part="backoff"), "queue", "back-off"), (SimpleNamespace(part="waiting"), "queue", "waiting for volumes"),
    (SimpleNamespace(part="active"), "queue", "active"), (from_plain(make.pod(node_name="n1")), "assumed", "on n1"),
    (from_plain(make.volume(claim="data")), "assumed", "reserved for data"), (from_plain(make.volume()), "assumed", "free"),
    (from_plain(make.claim(selected_node="n1")), "assumed", "selected-node n1"), (SimpleNamespace(number=0), "attempt", "no. 0"),
    (SimpleNamespace(number=2, node=""), "attempt", "no. 2"), (SimpleNamespace(number=2, node="n1"), "attempt", "no. 2 for n1"),
    (3, "x", "3"), (0, "x", "0"), (2.5, "x", "2.5"), ("text", "x", "text"), ((1,), "x", "noted"), ("text", MEMORY, "text"),
])  # fmt: skip
def test_a_note_in_words(value, sort, words):
    """Parts of the queue, assumed objects, attempts, rules, outages, and what a controller of one's own remembers, sets in order."""
    assert words == describe_note(value, sort)


@pytest.mark.parametrize(("component", "sort", "name", "key"), [
    ("kube-scheduler", "queue", "shop/p", Key("Pod", "shop", "p")), ("kubelet", "started", "shop/p", Key("Pod", "shop", "p")),
    ("pd.csi", "attempt", "shop/c", Key("PersistentVolumeClaim", "shop", "c")), ("kube-scheduler", "assumed", "PersistentVolume//v",
                                                                                Key("PersistentVolume", "", "v")),
    ("x", "assumed", "pod/a/b", None), ("x", "assumed", "/a/b", None), ("x", "a", "b", None), ("x", "a", "A/b/c/d", None),
    ("mine", MEMORY, "pod/web", Key("Pod", "default", "web")), ("mine", MEMORY, "pvc/shop/data", Key("PersistentVolumeClaim", "shop", "data")),
    ("mine", MEMORY, "nokind/web", None), ("mine", MEMORY, "total", None),
])  # fmt: skip
def test_what_a_note_is_about(component, sort, name, key):
    """A pod, a claim or an object with its kind; what a controller of one's own remembers may be about nothing."""
    assert key == explain.key_of_note_subject(Note(component, sort, name))


def test_which_notes_a_story_shows():
    """Those of the queue and of the assume cache, attempts and memories; nothing of how components keep their books."""
    hidden = ("cursor", "clock", "gone", "pass", "wake", "config", "own", "unsaved", "binding", "failures", "bucket", "killed", "request", "asked",
              "similar", "made", "awaits", "template", "todo kubelet", "plan claims", "todo", "plan")  # fmt: skip
    shown = ("queue", "assumed", "attempt", MEMORY, "outages", "rules", "my plan")

    assert [False] * len(hidden) == [explain.is_shown(Note("x", sort, "a/b")) for sort in hidden]
    assert [True] * len(shown) == [explain.is_shown(Note("x", sort, "a/b")) for sort in shown]


def test_changes_of_one_note_are_one_change():
    """It stands where the note was changed last, from its first value to its last; changes of objects stay each."""
    one, other = Note("kube-scheduler", "queue", "default/p"), Note("kube-scheduler", "assumed", "Pod/default/p")
    changes = [Change(one, 1, 2), Change(POD, "a", "b"), Change(other, None, 5), Change(one, 2, 3), Change(POD, "b", "c")]

    assert [changes[1], changes[2], Change(one, 1, 3), changes[4]] == explain.merge_note_changes(changes)


EVENT = from_plain({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e", "namespace": "default"}, "reason": "Killing", "message": "it goes",
                    "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"}})  # fmt: skip
QUEUE, MINE = Note("kube-scheduler", "queue", "default/p"), Note("mine", MEMORY, "pod/p")
BOUND = from_plain(make.pod("p", node_name="n1"))


@pytest.mark.parametrize(("change", "about", "lines"), [
    (Change(POD, None, BOUND), True, ["pod/p created"]), (Change(POD, BOUND, None), True, ["pod/p gone"]),
    (Change(POD, from_plain(make.pod("p")), BOUND), True, ["spec.nodeName: n1"]),
    (Change(POD, BOUND, from_plain(make.pod("p", node_name="n2"))), True, ["spec.nodeName: n1 → n2"]),
    (Change(POD, BOUND, from_plain(make.pod("p"))), True, ["spec.nodeName: n1 → none"]), (Change(POD, BOUND, BOUND), True, []),
    (Change(Key("Pod", "shop", "p"), None, BOUND), False, ["pod/shop/p created"]),
    (Change(Key("Event", "default", "e"), None, EVENT), True, ["event Killing: it goes"]),
    (Change(Key("Event", "default", "e"), EVENT, None), True, ["event Killing: it goes"]),
    (Change(Key("Event", "default", "e"), None, attrs.evolve(EVENT, message="")), True, ["event Killing"]),
    (Change(Key("Event", "default", "p"), None, attrs.evolve(EVENT, involved_object=attrs.evolve(EVENT.involved_object, kind="Node"))), False,
     ["event Killing: it goes"]),
    (Change(QUEUE, None, SimpleNamespace(part="backoff")), True, ["kube-scheduler notes queue: none → back-off"]),
    (Change(QUEUE, SimpleNamespace(part="backoff"), None), True, ["kube-scheduler notes queue: back-off → none"]),
    (Change(QUEUE, SimpleNamespace(part="backoff"), SimpleNamespace(part="backoff")), True, []),
    (Change(Note("kube-scheduler", "pass", "default/p"), None, 1), False, ["kube-scheduler notes pass: none → 1"]),
    (Change(Note("kubelet", "queue", "default/q"), 1, 2), False, ["kubelet notes queue: 1 → 2"]),
    (Change(MINE, 1, 2), True, ["mine notes pod/p: 1 → 2"]),
])  # fmt: skip
def test_a_change_in_lines(change, about, lines):
    """An object that is made, goes or has other fields, an Event, a note of a component; and whether it is about pod/p."""
    assert (about, lines) == (explain.is_about(change, POD), [str(line) for line in explain.change_lines(change)])


def test_fields_are_told_by_their_paths():
    """Conditions, references and terms are one field each; other items of a list go by type, name or number; server's own fields go."""
    before = {"metadata": {"name": "a", "labels": {"app": "x"}}, "spec": {"same": 1, "gone": "y"}}
    term = {"key": "zone", "operator": "In", "values": ["a", "b"]}
    after = {
        "metadata": {
            "name": "a", "uid": "u", "resourceVersion": "7", "creationTimestamp": "now", "managedFields": [{"manager": "kubectl"}],
            "labels": {"app": "x", "example.com/a": "1", "plain": ""}, "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
            "ownerReferences": [{"kind": "Job", "name": "j", "controller": True}, {"kind": "Pod", "name": "q", "blockOwnerDeletion": True},
                                {"kind": "Set", "name": "s", "controller": True, "blockOwnerDeletion": True}]},
        "spec": {"same": 1, "claimRef": {"namespace": "shop", "name": "data", "uid": "u"}, "term": term, "exists": {"key": "gpu", "operator": "Exists"},
                 "operator": {"operator": "In", "x": 1}, "taints": [{"key": "k", "effect": "NoSchedule"}], "none": None,
                 "ports": [{"name": "http", "type": "TCP"}, {"name": "b"}, 5], "flat": [1, "a"], "nested": [[1], [2]]},
        "status": {"conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": "t"}, {"type": "Bare", "status": "False", "message": "why"},
            {"type": "Failed", "status": "False", "reason": "Because", "message": "why not"}, {"type": "Reasoned", "status": "Unknown", "reason": "R"}]},
    }  # fmt: skip

    assert [
        ("metadata.labels.plain", "", '""'), ("metadata.labels[example.com/a]", "", "1"), ("metadata.ownerReferences[j]", "", "Job j, controller"),
        ("metadata.ownerReferences[q]", "", "Pod q, holds up its deletion"),
        ("metadata.ownerReferences[s]", "", "Set s, controller, holds up its deletion"), ("spec.claimRef", "", "shop/data"),
        ("spec.exists", "", "gpu Exists []"), ("spec.flat", "", "[1, a]"), ("spec.gone", "y", ""), ("spec.nested[0]", "", "[1]"),
        ("spec.nested[1]", "", "[2]"), ("spec.none", "", "None"), ("spec.operator.operator", "", "In"), ("spec.operator.x", "", "1"),
        ("spec.ports[2]", "", "5"), ("spec.ports[TCP].name", "", "http"), ("spec.ports[TCP].type", "", "TCP"), ("spec.ports[b].name", "", "b"),
        ("spec.taints[0].effect", "", "NoSchedule"), ("spec.taints[0].key", "", "k"), ("spec.term", "", "zone In [a, b]"),
        ("status.conditions[Bare]", "", "False: why"), ("status.conditions[Failed]", "", "False, Because: why not"),
        ("status.conditions[Ready]", "", "True"), ("status.conditions[Reasoned]", "", "Unknown, R"),
    ] == [attrs.astuple(change) for change in changed_fields(before, after)]  # fmt: skip
    assert ["created", "spec.gone: y → none"] == [str(FieldChange("created", "", "")), str(FieldChange("spec.gone", "y", ""))]
    assert [("spec.gone", "y", "")] == [attrs.astuple(change) for change in changed_fields({"spec": {"gone": "y"}}, None)]


def test_a_story_as_text():
    """Each turn has its step, time and sentence, or its actor, and below it what changed, each wrapped under itself."""
    rows = (StoryRow(3, 0.0, "kubelet", "kubelet starts pod/p", ("status.phase: Pending → Running",)),
            StoryRow(1234, 1_234.5, "my controller", "", ("one: " + "word " * 17 + "word", "two")),
            StoryRow(5, 2.0, "x", "user " + "waits " * 15 + "long", ()))  # fmt: skip

    assert "story of pod/p: 0 turns" == repr(Story("pod/p", ()))
    assert """story of pod/p: 3 turns
   3  t=0 s     Kubelet starts pod/p.
                  status.phase: Pending → Running
1234  t=1234.5 s my controller
                  one: word word word word word word word word word word word word word word word word word
                    word
                  two
   5  t=2 s     User waits waits waits waits waits waits waits waits waits waits waits waits waits waits waits
                long.""" == repr(Story("pod/p", rows))


def test_passes_as_text():
    """A line for each pass in columns, or why there is none; one pass is no passes."""
    rows = (PassRow(1, 0.0, "0 of 3 nodes fit", "", 2, 0, 3), PassRow(12, 2.5, "1 of 30 nodes fit", "node-1", 0, 1, 30))

    assert ["pod/p, rules upstream: 0 passes", "pod/p, rules upstream: 0 passes. It is gone."] == [
        repr(Passes("pod/p", "upstream", (), why)) for why in ("", "It is gone.")]
    assert "pod/p, rules upstream: 1 pass\npass 1  step 1  t=0 s  0 of 3 nodes fit  chooses none" == repr(Passes("pod/p", "upstream", rows[:1], ""))
    assert """pod/p, rules upstream: 2 passes
pass 1  step 1   t=0 s    0 of 3 nodes fit   chooses none
pass 2  step 12  t=2.5 s  1 of 30 nodes fit  chooses node-1""" == repr(Passes("pod/p", "upstream", rows, ""))


def test_nodes_that_fit_as_text():
    """How many of all, which, and the chosen one; then node by node the plugin that rejects it first, by its name in the document."""
    rejected = {"n1": ("A", "too small"), "node-22": ("Long", "one reason", "another")}
    found = Fits("pod/p", ("n3", "n4"), rejected, {}, "n3", {"Long": "Long (Document)"})

    assert """2 of 4 nodes fit pod/p: n3, n4; n3 is chosen
  n1       A                too small
  node-22  Long (Document)  one reason, another""" == repr(found)
    assert ("0 of 2 nodes fit pod/p", "1 of 1 nodes fit pod/p: n3") == (
        repr(attrs.evolve(found, nodes=(), chosen="")).split("\n")[0], repr(Fits("pod/p", ("n3",), {}, {}, "", {})))
    assert (2, ["n3", "n4"], True, False) == (len(found), list(found), "n3" in found, "n1" in found)


def test_why_a_pod_was_never_judged():
    """It was on a node from the start, has gates, got a node from somebody else, or waits for the scheduler; a pod that is gone says nothing."""
    c = Cluster.from_manifests([make.node("n1"), make.pod("placed", running_on="n1"), make.pod("gated", gates=["a.example.com/x", "b.example.com/y"]),
                                make.pod("new")])  # fmt: skip
    told = {name: c.passes(name).why_none for name in ("placed", "gated", "new")}
    c.apply(make.pod("other", node_name="n1"))
    told["other"] = c.passes("other").why_none
    c.delete("pod/other")
    c.delete("pod/placed")

    assert told == {
        "placed": 'It was on n1 from the start, so nobody judges it; c.under("upstream", again="placed") begins without that.',
        "gated": "Its scheduling gates hold it: a.example.com/x, b.example.com/y.", "new": "The scheduler has not taken it up yet.",
        "other": "It got n1 from somebody else than the scheduler."}
    c.run()
    assert "" == c.passes("other").why_none
    assert [("1 of 1 nodes fit", "n1", 1, 1)] == [(row.fit, row.node, row.feasible, row.judged) for row in c.passes("new")]
    assert "" == c.passes("new").why_none


def test_fits_are_those_of_the_last_pass_up_to_now():
    """Scores are of nodes that compete; before a pod's pass it is judged on what the scheduler has seen, its own node left out."""
    c = Cluster.from_manifests([make.node("n1", cpu="1"), make.node("n2"), make.node("n3"), make.pod("p", cpu="1")])
    before = c.fits("p")
    c.run()
    after = c.fits("p")

    assert (("n1", "n2", "n3"), "", set()) == (before.nodes, before.chosen, {*before.rejected})
    assert (before.nodes, c["pod/p"].spec.node_name) == (after.nodes, after.chosen)
    assert [*after.nodes] == sorted(after.scores) == sorted(before.scores)
    assert all(score.weighted % 1 == 0 and 0 <= score.normalised <= 100 for plugins in after.scores.values() for score in plugins.values())
    best = {node: sum(score.weighted for score in plugins.values()) for node, plugins in after.scores.items()}
    assert best[after.chosen] == max(best.values())
    c.apply(make.pod("big", cpu="4"))
    c.run()
    assert ("NodeResourcesFit", "Insufficient cpu") == c.fits("big").rejected["n1"]
    alone = Cluster.from_manifests([make.node("n1"), make.pod("p")])
    assert ({}, ("n1",)) == (alone.fits("p").scores, alone.fits("p").nodes)
    assert explain.judge_last_pass(alone, Key("Pod", "default", "nobody")) is None


def test_a_pass_is_judged_as_the_scheduler_saw_it():
    """Judged again at its place a pass is the same, whatever came later; asked about now, the pod is one without a node."""
    c = scenario("zonal-example", "upstream")
    c.run()
    key = Key("Pod", "default", "my-pod")
    then, now = explain.judge_last_pass(c, key), explain.judge_last_pass(c, key, now=True)
    place = c.world.place
    read = explain.read_last_pass(c, key, explain.last_pass(c, key), lambda found: (found.judgement.feasible, found.chosen, found.number, found.rules_changed))

    assert (then.judgement.feasible, then.chosen, then.number, then.rules_changed) == read
    assert (1, False, 0, False, "") == (then.number, then.rules_changed, now.number, now.rules_changed, now.chosen)
    assert now.judgement.pod.spec.node_name == "" != then.chosen
    assert place == c.world.place
    assert explain.last_pass(c) == explain.last_pass(c, key)
    c.goto(0)
    assert explain.last_pass(c) is None
