"""Controllers of your own: a function of what was seen is a component like any other."""

import itertools
from pathlib import Path

import pytest

from kvolsched import Cluster
from kvolsched.api.kinds.node import ZONE_LABEL
from kvolsched.writes import again, bind, create, delete, event, patch

CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
"""


def pod(name, *, gated=True, **labels):
    """Return the manifest of a pod, gated unless said otherwise."""
    spec = {"containers": [{"name": "app", "image": "app"}]}
    if gated:
        spec["schedulingGates"] = [{"name": "queue"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "spec": spec}


def node(name, zone="a"):
    """Return the manifest of a node."""
    room = {"cpu": "8", "memory": "8Gi", "pods": "10"}
    meta = {"name": name, "labels": {ZONE_LABEL: zone}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": {"allocatable": room}}


def cluster(*pods):
    """Return a cluster of one node with these pods, by default two gated ones."""
    return Cluster.from_manifests([node("node-a"), *(pods or (pod("a", queue="batch"), pod("b", queue="batch")))])


def admit(seen, ref):
    """Admit a pod of the queue while fewer than two run, in two calls: first its zone, then its gate."""
    pod = seen.get(ref)
    running = [p for p in seen.list("pods", selector="queue=batch") if p.spec.node_name]
    if pod is None or not pod.spec.scheduling_gates or len(running) >= 2:
        return []
    return [
        patch(ref, {"spec": {"nodeSelector": {ZONE_LABEL: "a"}}}),
        patch(ref, {"spec": {"schedulingGates": []}}),
    ]


def with_function(function, *pods, watches=("Pod",)):
    """Return a cluster whose controller `queue` is this function."""
    return cluster(*pods).with_controller("queue", watches=watches, reconcile=function)


def words(c):
    """Return the sentences of a whole run."""
    return [line for step in c.run(steps=60) for line in step.lines]


def next_of_queue(c):
    """Step until the controller acts, and return its step."""
    while step := c.step():
        if step.actor == "queue":
            return step
    raise AssertionError("the controller never acts")


def test_a_function_is_a_whole_controller():
    """The twelve lines of a queue controller admit two pods, in two writes each, and they run."""
    c = with_function(admit)

    c.run()

    assert ["Running", "Running"] == [c[f"pod/{name}"].status.phase for name in "ab"]
    assert {"queue"} == {row.actor for row in c.story("pod/a") if "Queue patches" in row.words.capitalize()}


def test_writes_are_made_one_a_turn():
    """The writes that a call returns are made one by one, and others may act between them."""
    c = with_function(admit)

    first = c.step("queue", turns=True)

    assert "Queue patches pod/a (spec.nodeSelector)." == first.words
    assert (True, True) == (bool(c["pod/a"].spec.scheduling_gates), bool(c["pod/a"].spec.node_selector))
    assert "Queue patches pod/a (spec.schedulingGates)." == c.step("queue").words


def test_it_knows_only_what_it_has_seen():
    """Until it sees its own write, a controller decides by the old object."""
    asked = []

    def look(seen, ref):
        pod = seen.get(ref)
        asked.append(None if pod is None else dict(pod.metadata.labels))
        return patch(ref, {"metadata": {"labels": {"mark": "yes"}}}) if "mark" not in pod.metadata.labels else None

    c = with_function(look, pod("a"))
    c.step("queue")
    c.step("queue")

    assert [{}, {}, {"mark": "yes"}, {"mark": "yes"}] == asked


def test_back_and_forward_is_the_same_run():
    """What a controller of your own does is in the log: back to the start and forward again is the same state."""
    c = with_function(admit)
    c.run()
    end = c.digest()

    c.goto(0)
    start = c.digest()
    c.goto(-1)

    assert end == c.digest()
    c.goto(0)
    assert start == c.digest()
    c.run()
    assert end == c.digest()


def test_views_built_equal_views_moved():
    """At every step, what the controller has seen is what is built from the log."""
    c = with_function(admit)
    while c.step():
        process = c.world.processes["queue"]
        moved = (process.seen.kinds, process.pending, process.work_queues["queue"].items, process.plans["queue"].items)
        moved = [dict(part) for part in moved]
        process.rebuild()
        built = (process.seen.kinds, process.pending, process.work_queues["queue"].items, process.plans["queue"].items)
        assert moved == [dict(part) for part in built]


def test_forks_share_the_digest_and_go_their_own_way():
    """A fork has the digest of its cluster, runs to the same end, and leaves the cluster as it was."""
    c = with_function(admit)
    c.step()
    fork, before = c.fork(), c.digest()

    assert before == fork.digest()
    fork.run()
    assert before == c.digest()
    c.run()
    assert fork.digest() == c.digest()


def test_with_controller_leaves_the_cluster_as_it_was():
    """with_controller returns a fork; the cluster that it was called on has no such controller."""
    before = cluster()

    before.with_controller("queue", watches=["Pod"], reconcile=admit)

    with pytest.raises(LookupError, match="no actor is called 'queue'"):
        before.step("queue")


def test_a_crash_drops_the_plan():
    """After a crash between two writes the controller lists everything and decides anew."""
    c = with_function(admit, pod("a", queue="batch"))
    c.step("queue", turns=True)

    c.crash("queue")

    assert "Queue patches pod/a (spec.nodeSelector)." == c.step("queue", turns=True).words
    c.run()
    assert "Running" == c["pod/a"].status.phase


def test_a_refused_write_drops_the_rest_and_is_retried():
    """A refusal ends the plan; after a back-off the function is called again and both writes are made."""
    c = with_function(admit, pod("a", queue="batch"))
    c.refuse("queue", 1)

    refused = c.step("queue")

    assert "refused" in refused.words
    assert not c["pod/a"].spec.node_selector
    after = next_of_queue(c)
    assert 0.005 == c.now
    assert ("Queue patches pod/a (spec.nodeSelector).", "Queue patches pod/a (spec.schedulingGates).") == after.lines


def test_a_note_is_remembered_and_lost_in_a_crash():
    """seen.note remembers a value in the log; back takes it back, a crash loses it."""
    def count(seen, ref):
        if seen.note("first") is None:
            seen.note("first", ref)

    c = with_function(count)
    step = c.step("queue")

    def note():
        return [value for key, value in c.world.log.notes.items() if key.sort == "memory"]

    assert "Queue notes first." == step.words
    assert ["pod/a"] == note()
    assert "queue notes memory" not in str(c.changes())
    c.back()
    assert [] == note()
    c.goto(-1)
    c.crash("queue")
    assert [] == note()


def test_a_note_is_part_of_the_digest():
    """Two clusters whose controllers remember different things differ."""
    def remember(value):
        return lambda seen, _ref: seen.note("value", value) and None

    digests = set()
    for value in (1, 2, (1, 2), {"a": [1]}, {"b", "a"}, "text"):
        c = with_function(remember(value), pod("a"))
        c.step("queue")
        digests.add(c.digest())

    assert 6 == len(digests)


def test_a_remembered_set_is_told_in_order():
    """The story of a pod has the items of a set in the order of the alphabet, whatever order they came in."""
    c = with_function(lambda seen, ref: seen.note(ref, {"c", "a", "b"}) and None, pod("a"))
    c.step("queue")

    assert "queue notes pod/a: none → ['a', 'b', 'c']" in repr(c.story("pod/a"))


def test_an_error_is_the_failure_of_the_controller():
    """An exception of the function is told with its line, as a turn and an Event, and the cause is retried later."""
    def broken(seen, ref):
        rooms = {}
        return [rooms[seen.get(ref).metadata.name]]

    c = with_function(broken, pod("a"))
    step = c.step("queue")

    line = f"{Path(__file__).name}:{broken.__code__.co_firstlineno + 2}"
    failure = f"KeyError 'a' ({line}, line 3 of broken: `return [rooms[seen.get(ref).metadata.name]]`)"
    assert f"queue: reconcile failed: {failure}." == step.words
    assert [("Warning", "ReconcileFailed", failure)] == [(e.type, e.reason, e.message) for e in c.objects("events")]
    assert f"in 0.005 s: queue: reconcile failed: {failure}" in str(c.next).replace("\n       ", " ")
    assert [0.005, 0.015, 0.035] == [next_of_queue(c).time for _ in range(3)]


@pytest.mark.parametrize(("function", "message"), [
    (lambda _seen, _ref: 7, "returned 7, which is no list of writes"),
    (lambda _seen, _ref: [7], "returned 7 at [0], which is no write"),
    (lambda _seen, _ref: {"kind": "Pod"}, "which is no list of writes: use create, patch, delete, bind, event"),
    (lambda _seen, _ref: "patch", "which is no list of writes"),
    (lambda _seen, _ref: create({"kind": "Pod"}), "apiVersion"),
    (lambda _seen, _ref: create("- 1"), "create: wants one object|a manifest is a mapping|faults? in the manifests"),
    (lambda _seen, _ref: patch("podd/x", {}), "unknown kind 'podd'"),
    (lambda _seen, _ref: patch("pod", {}), "'pod' is no reference"),
    (lambda _seen, _ref: patch(7, {}), "name an object by a reference such as 'pod/web-0', not 7"),
    (lambda _seen, ref: patch(ref, []), "a merge patch is a mapping of fields, not []"),
    (lambda _seen, ref: patch(ref, {}, kind="soft"), "no kind of patch is called 'soft'"),
    (lambda _seen, ref: patch(ref, {"spec": {"x": {1, 2}}}), "the patch.spec.x holds a set"),
    (lambda _seen, ref: patch(ref, {}, version="new"), "the version is an object that was seen"),
    (lambda _seen, ref: delete(ref, grace=-1), "the grace period is a number of seconds from 0, not -1"),
    (lambda _seen, ref: bind(ref, 7), "a node is named by its name, not by 7"),
    (lambda _seen, _ref: bind("node/x", "y"), "only a pod is bound to a node, not node/x"),
    (lambda _seen, ref: event(ref, "Why", "so", type="Bad"), "the type is Normal or Warning, not 'Bad'"),
    (lambda _seen, _ref: again(0), "wait more than 0 seconds"),
    (lambda _seen, _ref: again("soon"), "wait a number of seconds, not 'soon'"),
    (lambda seen, _ref: seen.get("node/node-a"), "queue does not watch nodes; it watches Pod: add 'Node' to watches"),
    (lambda seen, _ref: seen.list("widgets"), "unknown kind 'widgets'; known: namespaces"),
    (lambda seen, _ref: seen.list("pods", selector="a b"), "'a b' in the selector 'a b' cannot be read"),
    (lambda seen, ref: seen.note("pod", seen.get(ref)), "a note holds texts, numbers"),
])  # fmt: skip
def test_nonsense_is_a_failure_in_words(function, message):
    """What is no write, or asks for what is not there, is told in one sentence; nothing is written, nothing raised."""
    c = with_function(function, pod("a"))
    before = c["pod/a"]

    step = c.step("queue")

    assert step.words.startswith("queue: reconcile failed: ")
    assert any(part in step.words for part in message.split("|"))
    assert before is c["pod/a"]


def test_a_function_that_keeps_state_is_reported():
    """A function that answers otherwise when asked twice about the same contents is a failure, with both answers."""
    counter = itertools.count()

    def forgetful(_seen, ref):
        return event(ref, "Counted", f"call {next(counter)}")

    step = with_function(forgetful, pod("a")).step("queue")

    assert "forgetful answers differently when it is asked twice about the same contents" in step.words
    assert "Counted about pod/a: call 0; then event Counted about pod/a: call 1" in step.words


def test_an_object_as_reference_is_a_precondition():
    """A patch of an object that has changed since it was seen is refused with Conflict, then decided anew."""
    def mark(seen, ref):
        pod = seen.get(ref)
        return patch(pod, {"metadata": {"labels": {"mark": "yes"}}}) if "mark" not in pod.metadata.labels else None

    c = with_function(mark, pod("a"))
    c.world.deliver(c.world.processes["queue"])
    c._edit("pod/a", lambda old: old.__class__(metadata=old.metadata, spec=old.spec, status=old.status), "user")
    c.apply(pod("a", team="x"))
    trial = c.fork()
    turn = trial.world.turn(trial.world.processes["queue"], see=False)

    assert "the object has been modified" in turn.words
    c.run()
    assert {"mark": "yes", "team": "x"} == dict(c["pod/a"].metadata.labels)


def test_two_writes_with_a_precondition_follow_each_other():
    """The second write of a plan builds on what the first one stored, as a client uses the returned object."""
    def mark(seen, ref):
        pod = seen.get(ref)
        if pod.metadata.labels:
            return None
        return [patch(pod, {"metadata": {"labels": {str(n): "x"}}}) for n in (1, 2)]

    c = with_function(mark, pod("a"))
    c.run()

    assert {"1": "x", "2": "x"} == dict(c["pod/a"].metadata.labels)


def test_events_follow_their_writes():
    """An Event after a write is recorded only if the write is committed."""
    def remove(seen, ref):
        return [delete(ref), event(ref, "Removed", "It was in the way.")] if seen.get(ref) else []

    c = with_function(remove, pod("a"))
    c.refuse("queue", 1)
    c.step("queue")
    assert [] == c.objects("events")
    next_of_queue(c)

    assert "pod/a" not in c
    assert [("queue", "Removed")] == [(e.source.component, e.reason) for e in c.objects("events")]


def test_again_is_a_wake_up():
    """again(seconds) calls the function again after that time; a periodic one does not keep a run waiting."""
    def tick(seen, _ref):
        return again(10) if seen.now < 25 else None

    assert ["Queue looks at pod/a again in 10 s."] * 3 == words(with_function(tick, pod("a")))
    c = with_function(lambda _seen, _ref: again(10, periodic=True), pod("a"))
    assert ["Queue looks at pod/a again in 10 s."] == words(c)


def test_again_may_name_another_object():
    """again(0, other) has another object reconciled next."""
    def pass_on(seen, ref):
        if ref == "pod/b":
            seen.note("asked", 1)
            return again(0, "pod/a")
        return event(ref, "Asked", "It is asked for again.") if seen.note("asked") else None

    c = with_function(pass_on, pod("a"), pod("b"))

    assert "Queue notes asked, looks at pod/a next." in words(c)
    assert ["Asked"] == [found.reason for found in c.objects("events") if found.source.component == "queue"]


def test_it_creates_binds_and_deletes():
    """Create takes mappings and YAML, with an owner; bind is a scheduler's write; delete ends an object."""
    def act(seen, ref):
        pod = seen.get(ref)
        if ref == "pod/a" and not seen.list("pvc"):
            return [create(CLAIM, owner=pod), bind(pod, "node-a"), delete("pod/b")]
        return []

    c = with_function(act, pod("a", gated=False), pod("b"), watches=["pods", "pvc"])
    for _ in range(3):
        c.step("queue", turns=True)

    assert "a" == c["pvc/data"].metadata.owner_references[0].name
    assert "node-a" == c["pod/a"].spec.node_name
    assert "pod/b" not in c


def test_json_patches_and_generators_are_accepted():
    """A generator's items are its writes, and kind="json" is a list of operations."""
    def act(seen, ref):
        if not seen.get(ref).metadata.labels:
            yield patch(ref, [{"op": "add", "path": "/metadata/labels", "value": {"mark": "yes"}}], kind="json")

    c = with_function(act, pod("a"))
    c.run()

    assert {"mark": "yes"} == dict(c["pod/a"].metadata.labels)


def test_a_status_is_patched_by_itself():
    """A patch of the status changes nothing else, and one of the object leaves the status as it is."""
    def ready(seen, ref):
        if seen.get(ref).status.phase != "Failed":
            changes = {"status": {"phase": "Failed"}, "metadata": {"labels": {"mark": "yes"}}}
            return patch(ref, changes, subresource="status")
        return patch(ref, {"status": {"phase": "Running"}}) if not seen.note("said") and seen.note("said", "once") else ()

    c = with_function(ready, pod("a"))
    c.run()

    assert ("Failed", {}) == (c["pod/a"].status.phase, dict(c["pod/a"].metadata.labels))
    assert [("queue", "status"), ("queue", "")] == [(row.by, row.subresource) for row in c.requests()]


def test_a_bad_patch_is_refused_by_the_server():
    """A patch with an unknown field is refused like any other bad request, and the turn says so."""
    c = with_function(lambda _seen, ref: patch(ref, {"spec": {"schedulingGate": []}}), pod("a"))

    assert "schedulingGate" in c.step("queue").words


def test_seen_lists_by_namespace_and_selector():
    """seen.list takes any name of the kind, a namespace and kubectl's selectors; seen.manifest is plain data."""
    found = {}

    def look(seen, ref):
        for word in ("Pod", "pods", "po"):
            found[word] = [p.metadata.name for p in seen.list(word)]
        for selector in ("app=x", "app!=x", "app in (x, y),!old", "app", "!app", "old notin (z)"):
            found[selector] = [p.metadata.name for p in seen.list("pods", selector=selector)]
        found["shop"] = [p.metadata.name for p in seen.list("pods", namespace="shop")]
        found["plain"] = seen.manifest(ref)["metadata"]["name"]
        found["none"] = seen.get("pod/none")

    pods = [pod("a", app="x"), pod("b", app="y", old="z"), pod("c")]
    pods[2]["metadata"]["namespace"] = "shop"
    with_function(look, *pods).step("queue")

    assert {
        "Pod": ["a", "b", "c"], "pods": ["a", "b", "c"], "po": ["a", "b", "c"], "app=x": ["a"], "app!=x": ["b", "c"],
        "app in (x, y),!old": ["a"], "app": ["a", "b"], "!app": ["c"], "old notin (z)": ["a", "c"], "shop": ["c"],
        "plain": "c", "none": None,
    } == found  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), [
    ({"name": "kube-scheduler"}, "'kube-scheduler' is taken"),
    ({"name": "scheduler"}, "'scheduler' is taken"),
    ({"name": "user"}, "'user' is taken"),
    ({"name": "world"}, "'world' is taken"),
    ({"name": "bind worker"}, "'bind worker' is taken"),
    ({"name": "worker"}, "'worker' is taken: 'bind worker' is there"),
    ({"name": "my scheduler"}, "'my scheduler' is taken: 'scheduler' is there"),
    ({"name": "a|b"}, "a controller's name has letters"),
    ({"name": ""}, "a controller's name has letters"),
    ({"watches": []}, "queue watches nothing"),
    ({"watches": ["Widget"]}, "unknown kind 'Widget'; known: namespaces"),
    ({"watches": ["Event"]}, "queue cannot watch Event"),
    ({"reconcile": 7}, "reconcile is a function of"),
    ({"reconcile": lambda _pod: None}, r"called with \(seen, ref\)"),
])  # fmt: skip
def test_bad_arguments_are_refused(arguments, message):
    """A taken name, an unknown kind or a function of other arguments is one clear error."""
    given = {"name": "queue", "watches": ["Pod"], "reconcile": admit, **arguments}

    with pytest.raises((ValueError, KeyError, TypeError), match=message):
        cluster().with_controller(**given)


def test_the_same_name_replaces_a_controller():
    """with_controller under the same name replaces the function; the controller restarts without its notes."""
    c = with_function(lambda seen, _ref: seen.note("old", 1) and None, pod("a"))
    c.run()

    other = c.with_controller("queue", watches=["Pod", "Node"], reconcile=admit)

    assert "queue crashes and restarts" in other._last_step.words.lower()
    other.run()
    assert not [note for note in other.world.log.notes if note.sort == "memory"]
    assert bool(c["pod/a"].spec.scheduling_gates)
    assert not other["pod/a"].spec.scheduling_gates
    other.goto(0)
    other.goto(-1)
    assert not other["pod/a"].spec.scheduling_gates


def test_it_composes_with_plugins_of_your_own():
    """A controller and a plugin of your own are in one cluster, in any order."""
    def only_b(_pod, node, _seen):
        return node.metadata.name == "node-b"

    for build in (
        lambda c: c.with_plugin(only_b).with_controller("queue", ["Pod"], admit),
        lambda c: c.with_controller("queue", ["Pod"], admit).with_plugin(only_b),
    ):
        c = build(Cluster.from_manifests([node("node-a"), node("node-b"), pod("a", queue="batch")]))
        c.run()
        assert "node-b" == c["pod/a"].spec.node_name


def test_pictures_show_it_under_its_own_name():
    """Timeline, writes, next and changes name the controller as the user did."""
    c = with_function(admit)
    c.step("queue")

    assert "1:patch pod/a" in next(line for line in str(c.timeline()).split("\n") if line.startswith("queue"))
    assert "queue" in str(c.writes()).split("\n")[1]
    assert "provisioner" not in str(c.writes())
    assert "nodeSelector zone a" in str(c.writes())
    assert "schedulingGates queue removed" in str(c.writes())
    assert "queue" in str(c.next)
    assert "queue" in str(c.lab(text=True))


def test_it_composes_with_upgrades_outages_and_delays():
    """A controller of your own goes on through an upgrade, an outage and a delay, and back and forward over each."""
    c = with_function(admit)
    c.step("queue", turns=True)
    c.upgrade("design")
    c.outage("kube-apiserver", 30)
    c.delay("queue", 60)
    c.run()
    end = c.digest()

    assert ["Running", "Running"] == [c[f"pod/{name}"].status.phase for name in "ab"]
    assert c.now >= 60
    c.goto(1)
    assert "queue" in c.world.processes
    assert c["pod/a"].spec.scheduling_gates
    c.goto(-1)
    assert end == c.digest()
    later = c.with_controller("second", ["Node"], lambda _seen, ref: event(ref, "Looked", "It is there."))
    later.goto(0)
    assert "second" in str(later.next)


def test_a_webhook_refuses_its_writes():
    """Admission webhooks are asked about a controller's patches, and its turn tells their refusal."""
    def needs_team(new, _old):
        return True if "team" in new.metadata.labels or new.spec.scheduling_gates else "no team"

    c = with_function(admit, pod("a", queue="batch")).with_webhook(validate=needs_team, kinds=["Pod"])

    assert "denied the request: no team." in c.step("queue").words
    c.label("pod/a", team="x")
    c.run()
    assert "Running" == c["pod/a"].status.phase


def test_a_built_in_driver_can_make_room_for_ones_own():
    """The refusal of its name says how it is left out; then the name is free."""
    with pytest.raises(ValueError, match=r"components=\{'own.example.com': \{'absent': True\}\}"):
        Cluster(components={"own.example.com": {}}).with_controller("own.example.com", ["Pod"], lambda *_: None)
    c = Cluster(components={"own.example.com": {"absent": True}})
    assert "own.example.com" in c.with_controller("own.example.com", ["Pod"], lambda *_: None).world.processes
