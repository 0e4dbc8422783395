"""A frame filled from a real cluster: every table, at every step of the zonal example, under both revisions."""

import attrs
import pytest

import kvolsched
from kvolsched import make
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.questions.explain import judge_last_pass
from kvolsched.views import frame as f
from kvolsched.views.fill import frame_of
from kvolsched.views.fill import verdicts as fill_verdicts
from kvolsched.views.fill.context import FrameContext, JudgedPass
from kvolsched.views.fill.history import seconds
from kvolsched.views.fill.objects import claim_state, pod_state, reach_of, short_key, volume_state
from kvolsched.views.fill.verdicts import plugin_heads

RULES = ("design", "upstream")
VOLUME = "pv/pvc-05fdc50e-3302-43be-438e-c4db7a9eab3f"

# By step: pod's state and part of the queue, claim's state, volume's state ("" for none).
STORY = {
    "design": [
        ("pending", "", "waits for first consumer", ""),
        ("pending", "binding", "assumed", ""),
        ("pending", "binding", "assumed", ""),
        ("pending", "waiting for volumes", "selected node", ""),
        ("pending", "waiting for volumes", "selected node", ""),
        ("pending", "waiting for volumes", "selected node", "reserved"),
        ("pending", "back-off", "bound", "bound"),
        ("assumed", "binding", "bound", "bound"),
        ("bound", "", "bound", "bound"),
        ("running", "", "bound", "bound"),
    ],
    "upstream": [
        ("pending", "", "waits for first consumer", ""),
        ("assumed", "binding", "assumed", ""),
        ("assumed", "binding", "assumed", ""),
        ("assumed", "binding", "selected node", ""),
        ("assumed", "binding", "selected node", ""),
        ("assumed", "binding", "selected node", ""),
        ("assumed", "binding", "selected node", "reserved"),
        ("assumed", "binding", "bound", "bound"),
        ("bound", "", "bound", "bound"),
        ("running", "", "bound", "bound"),
    ],
}


MOST_STEPS = 120
MOST_FRAMES = 20  # of a long run every tenth step is filled: a frame costs as much as all objects there are
HAS_NO_SUCH_DIAL = {("upstream", "resync-of-waiting-pods")}


def played(rules, name="zonal-example"):
    """Run a scenario to its end (some have none), and give the cluster and the frame of every step."""
    cluster = kvolsched.scenario(name, rules)
    frames = [frame_of(cluster)]
    while cluster.world.step_number < MOST_STEPS and cluster.step():
        if len(frames) <= MOST_FRAMES or cluster.world.step_number % 10 == 0:
            frames.append(frame_of(cluster))
    frames[-1] = frame_of(cluster)  # what was only seen after the last step belongs to it
    return cluster, frames


@pytest.fixture(scope="module", params=RULES)
def run(request):
    """Return rules, cluster at its end, and frames of the zonal example."""
    return request.param, *played(request.param)


def test_states_tell_the_story(run):
    """Pod, claim and volume go through the states of their revision, one row a step."""
    rules, _, frames = run
    told = [
        (one.pods[0].state, one.pods[0].queue, one.claims[0].state, one.volumes[0].state if one.volumes else "")
        for one in frames
    ]

    assert told == STORY[rules]


@pytest.mark.parametrize(("rules", "name"), [
    (rules, name) for rules in RULES for name in kvolsched.scenarios() if (rules, name) not in HAS_NO_SUCH_DIAL
])
def test_every_word_is_in_the_tables(rules, name):
    """Every state, verdict, sign and mark of every shipped scenario is one that the frame lists; rows are sorted."""
    _, frames = played(rules, name)
    for one in frames:
        assert {row.state for row in one.pods} <= set(f.POD_STATES)
        assert {row.queue for row in one.pods} <= set(f.QUEUE_STATES)
        assert {row.state for row in one.claims} <= set(f.CLAIM_STATES)
        assert {row.state for row in one.volumes} <= set(f.VOLUME_STATES)
        assert {row.verdict for row in one.nodes} <= set(f.NODE_VERDICTS)
        assert {head.family for head in one.verdicts.plugins} <= set(f.FAMILIES)
        assert {row.op for row in one.changes} <= set(f.CHANGE_OPS)
        assert {mark.kind for lane in one.lanes for mark in lane.marks} <= set(f.MARK_KINDS)
        codes = {f.PASS, f.NOTHING, f.REJECT, f.UNRESOLVABLE, f.ERROR, f.NOT_ASKED}
        assert {code for row in one.verdicts.rows for code in row.codes} <= codes
        for table in (one.nodes, one.volumes, one.classes):
            assert [row.name for row in table] == sorted(row.name for row in table)
        assert list(one.claims) == sorted(one.claims, key=lambda row: row.ref)


def test_going_back_gives_the_same_frames(run):
    """At every step, coming back from the end, the frame is as it was, but for the future that is known now."""
    _, cluster, frames = run
    for number, before in enumerate(frames):
        cluster.goto(number)
        after = frame_of(cluster)
        lanes = [attrs.evolve(lane, marks=tuple(m for m in lane.marks if m.step <= number)) for lane in after.lanes]
        known = attrs.evolve(after.head, steps_known=before.head.steps_known)

        assert attrs.evolve(after, head=known, lanes=tuple(lanes)) == before
    cluster.goto(-1)


def test_head_says_where_and_who(run):
    """The head counts steps, names the actor as people do, and says what happened in sentences."""
    rules, _, frames = run
    start, first, last = frames[0].head, frames[1].head, frames[-1].head

    assert (start.step, start.actor, start.sentence) == (0, "", "The objects are stored; no component has acted on them yet.")
    assert (start.scenario, start.revision, start.branch, start.gear) == ("zonal-example", rules, "main", "steps")
    assert (first.step, first.actor, first.actor_id) == (1, "scheduler · pass", "scheduling pass")
    assert first.sentence.startswith("Scheduler judges my-pod, pass 1: 2 of 4 nodes fit, it chooses node-a.")
    assert first.hot == ("pod/my-pod", "pvc/my-pvc")[: len(first.hot)]
    assert last.sentence == "Kubelet on node-a starts pod/my-pod."
    assert [one.head.focus for one in frames] == ["pod/my-pod"] * len(frames)
    assert [one.head.time for one in frames] == sorted(one.head.time for one in frames)


@pytest.mark.parametrize("rules", RULES)
def test_chips_lead_with_the_default(rules):
    """Only the first chip is the default; it says what a plain step then does, and when; at the end there is none."""
    c = kvolsched.scenario("zonal-example", revision=rules)
    now, waits = frame_of(c, tell=True), []
    while c.step():
        then = frame_of(c, tell=True)
        late = then.head.time - now.head.time
        first = now.next[0]
        assert [chip.default for chip in now.next] == [True] + [False] * (len(now.next) - 1)
        assert (first.label, first.wait) == (then.head.actor, f"in {late:g} s: " * (late > 0))
        assert first.words
        assert then.head.sentence.startswith(first.words)
        waits.append(first.wait)
        now = then
    assert now.next == ()
    assert {bool(wait) for wait in waits} == {False, True}


def test_nodes_carry_use_and_verdict(run):
    """What the pod requests is used only once the API has it there; verdicts are those of its last pass."""
    _, _, frames = run
    first, last = frames[1], frames[-1]

    assert [row.verdict for row in frames[0].nodes] == ["not judged"] * 4
    assert [row.verdict for row in first.nodes] == ["chosen", "rejected", "fits", "rejected"]
    assert [row.cpu_used for row in first.nodes] == [0, 0, 0, 0]
    assert (last.nodes[0].cpu_used, last.nodes[0].memory_used, last.nodes[0].pods_used) == (1000, 2**30, 1)
    assert [(row.cpu, row.pods, row.ready) for row in first.nodes[:2]] == [(4000, 110, True), (500, 110, True)]
    small, far = first.nodes[1], first.nodes[3]
    assert (small.reason, small.resolvable) == ("Insufficient cpu", False)
    assert first.verdicts.plugins[small.first].letter == "F"
    assert (far.reason, far.resolvable) == ("node(s) didn't find available persistent volumes to bind", False)
    assert first.nodes[0].score > first.nodes[2].score > -1


def test_claim_volume_and_class_say_what_is_written_and_what_assumed(run):
    """The selected node is assumed before it is written; the volume reaches one zone and is the claim's."""
    _, _, frames = run
    assumed = frames[1].claims[0]
    assert (assumed.assumed_node, assumed.selected_node, assumed.mode) == ("node-a", "", "WaitForFirstConsumer")
    written = next(one for one in frames if one.claims[0].state == "selected node").claims[0]
    assert (written.assumed_node, written.selected_node, written.pods) == ("", "node-a", ("pod/my-pod",))
    volume = frames[-1].volumes[0]
    assert (volume.ref, volume.reach, volume.claim) == (VOLUME, "zone:us-central1-a", "pvc/my-pvc")
    assert (volume.size, volume.class_name) == ("100Gi", "zonal-class")
    row = frames[0].classes[0]
    assert (row.name, row.mode, row.provisioner) == ("zonal-class", "WaitForFirstConsumer", "kubernetes.io/gce-pd")
    assert "us-central1-a" in row.topologies


def test_verdicts_are_those_of_the_last_pass(run):
    """The matrix has a row a node and a code a plugin; a second pass replaces the first; scores add up."""
    rules, _, frames = run
    numbers = [one.verdicts.number for one in frames]
    assert numbers == sorted(numbers)
    assert (numbers[0], numbers[-1]) == (0, 2 if rules == "design" else 1)
    for one in frames[1:]:
        assert {len(row.codes) for row in one.verdicts.rows} == {len(one.verdicts.plugins)}
        assert [row.node for row in one.verdicts.rows] == [row.name for row in one.nodes]
        assert not one.verdicts.rules_changed
    first = frames[1]
    for row in first.nodes:
        parts = [s for s in first.verdicts.scores if s.node == row.name]
        assert sum(s.total for s in parts) == (row.score if parts else 0)
        assert all(s.total == s.normalised * s.weight for s in parts)
    if rules == "design":
        assert frames[-1].verdicts.scores == ()


def test_a_cell_is_explained_with_both_sides():
    """A No has the rule's reason and evidence; the volume rule's Yes says what would be bound or made."""
    cluster = kvolsched.scenario("zonal-example")
    cluster.step()
    no = frame_of(cluster, selected="verdict/node-c/VolumeBinding").verdicts.cell
    yes = frame_of(cluster, selected="verdict/node-a/VolumeBinding").verdicts.cell
    disks = kvolsched.scenario("local-disks")
    disks.step()
    match = frame_of(disks, selected="verdict/node-1/VolumeBinding").verdicts.cell

    assert (no.code, no.reasons) == (f.UNRESOLVABLE, ("node(s) didn't find available persistent volumes to bind",))
    assert "us-central1-c" in no.evidence[0]
    assert (yes.code, yes.evidence) == (f.PASS, ("claim my-pvc would be provisioned for node-a",))
    assert match.evidence == ("claim data would take volume disk-100",)
    for nowhere in ("verdict/node-z/VolumeBinding", "verdict/node-a/Nothing", "node/node-a", ""):
        assert frame_of(cluster, selected=nowhere).verdicts.cell is None


def test_changes_are_net_and_tell_truth_from_notes():
    """A note that changed twice in a step is told once; what a created volume says of its place is listed."""
    _, frames = played("design")
    notes = {(row.ref, row.field): (row.op, row.old, row.new) for row in frames[1].changes}
    assert notes == {
        ("pod/my-pod", "queue"): ("+", "", "binding"),
        ("pvc/my-pvc", "assumed"): ("+", "", "selected-node node-a"),
    }
    made = [(row.kind, row.ref, row.field, row.new) for row in frames[5].changes if row.kind == "api"]
    assert made[:2] == [
        ("api", VOLUME, "PersistentVolume", "created"), ("api", VOLUME, "spec.claimRef", "default/my-pvc")]
    assert made[2][3] == "failure-domain.beta.kubernetes.io/zone In [us-central1-a]"
    attempt = [row for row in frames[4].changes if row.kind == "note"]
    assert [(row.component, row.ref, row.new) for row in attempt] == [
        ("kubernetes.io/gce-pd", "pvc/my-pvc", "no. 1 for node-a")]


def test_a_refused_write_is_a_change_that_was_none():
    """A conflict stands in the table with its reason; the object's row is not there."""
    cluster = kvolsched.scenario("zonal-example")
    cluster.refuse("kube-scheduler")
    cluster.run("pod/my-pod Running", steps=4)
    rows = [row for number in range(5) for row in _changes_at(cluster, number) if row.outcome != "done"]

    assert [(row.outcome, row.ref, row.kind) for row in rows] == [("Conflict", "pvc/my-pvc", "api")]


def _changes_at(cluster, number):
    cluster.goto(number)
    return frame_of(cluster).changes


def test_events_have_the_step_that_last_raised_them(run):
    """Every Event is there with its words, sorted by step."""
    rules, cluster, frames = run
    rows = frames[-1].events
    waits = "WaitForFirstConsumer" if rules == "design" else "WaitForPodScheduled"

    assert [row.step for row in rows] == sorted(row.step for row in rows)
    assert rows[0].reason == waits
    assert (rows[-1].reason, rows[-1].type, rows[-1].ref) == ("Scheduled", "Normal", "pod/my-pod")
    assert rows[-1].message == "Successfully assigned default/my-pod to node-a"
    assert rows[-1].time == int(cluster.now)


def test_an_event_that_was_loaded_is_of_no_step():
    """What stood in the manifests was raised before the first step."""
    event = """{apiVersion: v1, kind: Event, metadata: {name: e, namespace: default}, type: Normal, reason: Pulled, message: m,
               involvedObject: {kind: Pod, name: web, namespace: default}}"""
    row, = frame_of(kvolsched.Cluster.from_manifests(event)).events

    assert ("Pulled", 0) == (row.reason, row.step)


def test_events_of_one_step_are_by_object_and_reason():
    """Events that one step raised stand by the object that they are of, then by their reason."""
    event = """{{apiVersion: v1, kind: Event, metadata: {{name: {0}, namespace: default}}, type: Normal, reason: {1}, message: m,
               involvedObject: {{kind: Pod, name: {2}, namespace: default}}}}"""
    made = [("e1", "A", "y"), ("e2", "Z", "x"), ("e3", "B", "x")]
    rows = frame_of(kvolsched.Cluster.from_manifests("\n---\n".join(event.format(*each) for each in made))).events

    assert [("pod/x", "B"), ("pod/x", "Z"), ("pod/y", "A")] == [(row.ref, row.reason) for row in rows]


def test_rows_are_sorted_by_name():
    """Labels of a node by key, what a lane watches by kind, its marks by step, be they of its component's crash."""
    cluster = kvolsched.scenario("zonal-example")
    cluster.apply("{apiVersion: v1, kind: Node, metadata: {name: extra, labels: {z: '1', a: '2'}}}")
    cluster.step("scheduler")
    cluster.crash("scheduler")
    cluster.run()
    frame = frame_of(cluster)

    assert [["a", "z"]] == [[key for key, _ in node.topology if key in ("a", "z")] for node in frame.nodes if node.name == "extra"]
    assert all([*lane.cursors] == sorted(lane.cursors, key=lambda cursor: cursor.kind) for lane in frame.lanes)
    crashed, = (lane for lane in frame.lanes if any(mark.kind == "crash" for mark in lane.marks))
    assert [*crashed.marks] == sorted(crashed.marks, key=lambda mark: mark.step)
    assert crashed.marks[-1].kind != "crash"


def test_a_client_that_watches_has_a_lane_of_its_own():
    """Its lane belongs to whoever uses the cluster, as no component of the cluster runs it."""
    cluster = kvolsched.scenario("zonal-example")
    cluster.world.watching["kubectl"] = {("Pod", 1): (0, True)}
    lane = frame_of(cluster).lanes[1]

    assert ("client kubectl", "user", "client kubectl") == (lane.actor, lane.component, lane.label)
    assert ["Pod"] == [cursor.kind for cursor in lane.cursors]


def test_lanes_have_marks_and_cursors(run):
    """One lane an actor, kubelet last; a write has its verb; who has not seen a change is behind."""
    _, _, frames = run
    labels = [lane.label for lane in frames[0].lanes]
    assert labels[:3] == ["user", "scheduler · pass", "scheduler · bind worker"]
    assert "PV controller · claims" in labels
    assert labels[-1] == "kubelet"
    assert [lane.label for lane in frames[-1].lanes] == labels, "no lane comes or goes"
    last = {lane.label: lane for lane in frames[-1].lanes}
    assert last["scheduler · bind worker"].marks[-1] == f.Mark(len(frames) - 2, "write", "bind", "pod/my-pod")
    assert last["scheduler · pass"].marks[0] == f.Mark(1, "note", "pass", "pod/my-pod")
    made = next(one for one in frames if one.volumes)
    behind = {lane.label: {c.kind: c.pending for c in lane.cursors} for lane in made.lanes}
    assert behind["scheduler · pass"]["PersistentVolume"] == 1
    assert behind["PV controller · claims"]["PersistentVolume"] == 1
    assert last["user"].cursors == ()


def test_controllers_are_called_what_people_call_them():
    """Lanes, sentences and `step` call a controller by one name."""
    cluster = kvolsched.scenario("rolling-update", "upstream")
    named = [row.label for row in frame_of(cluster).next[:1]]
    acted = cluster.step("Deployment controller")

    assert ["Deployment controller"] == named
    assert (True, True) == (bool(acted), "Deployment controller" in {lane.label for lane in frame_of(cluster).lanes})


def test_an_owner_is_one_change():
    """That an object gets an owner is one line, however many fields a reference has."""
    cluster = kvolsched.scenario("rolling-update", "upstream")
    cluster.step()
    cluster._edit("rs/" + cluster.objects("rs")[0].metadata.name, lambda rs: evolve_parts(
        rs,
        metadata={"owner_references": ()},
    ))
    told = [(row.field, row.new) for row in frame_of(cluster).changes if "owner" in row.field]

    assert [("metadata.ownerReferences[web]", "")] == told


def test_marks_name_what_is_gone_by_now():
    """A mark keeps the name of the object that it was about, also once that is deleted."""
    cluster = kvolsched.scenario("zonal-example")
    cluster.step("PV controller")
    cluster.step("scheduler")
    cluster.delete("pod/my-pod", "pvc/my-pvc")
    cluster.run()
    marks = {mark.step: mark.ref for lane in frame_of(cluster).lanes for mark in lane.marks}

    assert (False, False) == ("pvc/my-pvc" in cluster, "pod/my-pod" in cluster)
    assert ("pvc/my-pvc", "pod/my-pod") == (marks[1], marks[2])


def test_the_panels_story_has_no_gaps():
    """What a note of an object became is what it was before its next change, also where somebody only saw something."""
    cluster = kvolsched.scenario("zonal-example", "design")
    cluster.run()
    story = frame_of(cluster, selected="pod/my-pod", tables=["story"]).story
    queue = [row for row in story.rows if row.field.endswith("queue")]

    assert [row.new for row in queue[:-1]] == [row.old for row in queue[1:]]


def test_a_crash_marks_its_component():
    """A crash stands on the first lane of the component."""
    cluster = kvolsched.scenario("zonal-example")
    cluster.step()
    cluster.crash("kube-scheduler")
    lane = next(lane for lane in frame_of(cluster).lanes if lane.label == "scheduler · pass")

    assert [(mark.step, mark.kind) for mark in lane.marks] == [(1, "note"), (2, "crash")]


def test_focus_is_who_was_judged_last_or_who_is_asked_for():
    """By default the last pass's pod; another on request; before any pass the first that waits; with no pod, nobody."""
    cluster = kvolsched.scenario("two-replicas")
    assert frame_of(cluster).head.focus == "pod/web-0"
    assert frame_of(cluster).verdicts == f.Verdicts()
    cluster.run(steps=3)
    assert frame_of(cluster).head.focus == "pod/web-1"
    asked = frame_of(cluster, focus="pod/web-0")
    assert (asked.head.focus, asked.verdicts.pod) == ("pod/web-0", "pod/web-0")
    empty = frame_of(kvolsched.Cluster())
    assert (empty.head.focus, empty.nodes, empty.next) == ("", (), ())


def test_a_frame_does_not_move_the_cluster(run):
    """Filling a frame, chips and all, leaves world, place and digest as they were."""
    _, cluster, _ = run
    before = cluster.digest(), cluster.world.place, cluster.world.known_steps
    frame_of(cluster, selected="verdict/node-a/VolumeBinding")

    assert (cluster.digest(), cluster.world.place, cluster.world.known_steps) == before


POD = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, image: b}]}}"
CLAIM = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {accessModes: [ReadWriteOnce]}}"
DISK = "{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {capacity: {storage: 1Gi}}}"


def changed(text, kind, **fields):
    """Read one object and evolve its parts: `status={...}`, `metadata={...}`, `spec={...}`."""
    (obj,) = kvolsched.Cluster.from_manifests(text).objects(kind)
    return attrs.evolve(obj, **{part: attrs.evolve(getattr(obj, part), **new) for part, new in fields.items()})


def stored(kind, name, api="v1", **fields):
    """Return an object of a kind by its name."""
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, **fields}


def disk(name, terms="", phase="Available", **spec):
    """Return a volume that is reached from where these labels are, each as `key=value,value`."""
    wanted = [{"key": key, "operator": "In", "values": values.split(",")} for key, _, values in (each.partition("=") for each in terms.split())]
    where = {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": wanted}]}}} if terms else {}
    return stored("PersistentVolume", name, status={"phase": phase}, spec={
        "capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "csi": {"driver": "d", "volumeHandle": name}, **where, **spec})


def allowed(*labels):
    """Return one of the allowed topologies of a class."""
    return {"matchLabelExpressions": [{"key": key, "values": values.split(",")} for key, _, values in (each.partition("=") for each in labels)]}


def test_rows_of_objects_as_they_are_stored():
    """Every value of the rows of nodes, pods, claims, volumes and classes, sorted by name: of few labels, none, and of what is gone."""
    requests = {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    conditions = [("DiskPressure", "False"), ("Ready", "Unknown")], [("Ready", "True"), ("Other", "False")]
    stopped, silent = ([{"type": name, "status": status} for name, status in each] for each in conditions)
    late = allowed(f"{make.ZONE}=a,b", "rack=r1"), allowed(f"{make.ZONE}=c")
    frame = frame_of(kvolsched.Cluster.from_manifests([
        make.node("n2", "b", taints=["old"]), make.node("n1", "a", cpu="2", memory="3Gi"), stored("Node", "n4", status={"conditions": silent}),
        stored("Node", "n3", spec={"unschedulable": True}, status={"capacity": {"cpu": "1500m", "memory": "1Gi", "pods": "7"}, "conditions": stopped}),
        make.pod("two", "data", "more", running_on="n1", containers=[{"name": "a", "image": "b", **requests}]), make.pod("run", "data", running_on="n1", cpu="250m"),
        make.pod("done", running_on="n2", cpu="1") | {"status": {"phase": "Succeeded"}}, make.pod("gated", gates=("a/b", "c/d")),
        make.claim("more", "9Gi", "late"), make.claim("data", "5Gi", "fast", volumeName="v1") | {"status": {"phase": "Bound"}}, make.claim("other", "1Gi", "none"),
        disk("v2", f"{make.ZONE}=b,a", claimRef={"namespace": "shop", "name": "x"}), disk("v4"),
        disk("v1", f"{make.ZONE}=a", "Bound", storageClassName="fast", claimRef={"namespace": "default", "name": "data"}),
        disk("v3", f"{make.HOST}=n2", "Released", claimRef={"namespace": "default", "name": "gone"}),
        stored("StorageClass", "late", "storage.k8s.io/v1", provisioner="d", volumeBindingMode="WaitForFirstConsumer", allowedTopologies=late),
        stored("StorageClass", "fast", "storage.k8s.io/v1", provisioner="e")]))
    labels = {name: ((make.HOST, name), (make.ZONE, zone)) for name, zone in (("n1", "a"), ("n2", "b"))}
    gi, judged = 1 << 30, ("not judged", -1, "", True, -1)

    assert [
        ("node/n1", "n1", labels["n1"], 1250, 2000, gi, 3 * gi, 2, 110, True, False, (), *judged),
        ("node/n2", "n2", labels["n2"], 0, 4000, 0, 64 * gi, 0, 110, True, False, ("old=x:NoSchedule",), *judged),
        ("node/n3", "n3", (), 0, 1500, 0, gi, 0, 7, False, True, (), *judged),
        ("node/n4", "n4", (), 0, 0, 0, 0, 0, 0, True, False, (), *judged),
    ] == [*map(attrs.astuple, frame.nodes)]
    assert [
        ("pod/done", "done", "default", "n2", "", "", "succeeded", (), False, (), 1000, 0, "", 0.0),
        ("pod/gated", "gated", "default", "", "", "", "gated", ("a/b", "c/d"), True, (), 100, 0, "", 0.0),
        ("pod/run", "run", "default", "n1", "", "", "running", (), True, ("pvc/data",), 250, 0, "", 0.0),
        ("pod/two", "two", "default", "n1", "", "", "running", (), True, ("pvc/data", "pvc/more"), 1000, gi, "", 0.0),
    ] == [*map(attrs.astuple, frame.pods)]
    assert [
        ("pvc/data", "data", "fast", "Immediate", "5Gi", "bound", "", "", "v1", "", ("pod/run", "pod/two")),
        ("pvc/more", "more", "late", "WaitForFirstConsumer", "9Gi", "waits for first consumer", "", "", "", "", ("pod/two",)),
        ("pvc/other", "other", "none", "Immediate", "1Gi", "pending", "", "", "", "", ()),
    ] == [*map(attrs.astuple, frame.claims)]
    assert [
        ("pv/v1", "v1", "fast", "5Gi", "bound", "zone:a", "pvc/data", ""), ("pv/v2", "v2", "", "5Gi", "reserved", "zones:b,a", "pvc/shop/x", ""),
        ("pv/v3", "v3", "", "5Gi", "released", "node:n2", "pvc/gone", ""), ("pv/v4", "v4", "", "5Gi", "available", "all", "", ""),
    ] == [*map(attrs.astuple, frame.volumes)]
    assert [("sc/fast", "fast", "Immediate", "any", "e"), ("sc/late", "late", "WaitForFirstConsumer", "zone a, b and rack r1 or zone c", "d")] == [
        *map(attrs.astuple, frame.classes)]


def test_other_states_are_read_off_objects():
    """Terminating, finished, lost, released and failed have their words."""
    gone = {"metadata": {"deletion_timestamp": "2026-01-01T00:00:00Z"}}
    assert pod_state(changed(POD, "pods", **gone), "") == "terminating"
    assert pod_state(changed(POD, "pods", status={"phase": "Failed"}), "") == "failed"
    assert pod_state(changed(POD.replace("spec: {", "spec: {schedulingGates: [{name: example.com/quota}], "), "pods"), "") == "gated"
    assert claim_state(changed(CLAIM, "pvc", **gone), "Immediate", "", "") == "terminating"
    assert claim_state(changed(CLAIM, "pvc", status={"phase": "Lost"}), "Immediate", "", "") == "lost"
    assert claim_state(changed(CLAIM, "pvc"), "Immediate", "", "") == "pending"
    assert volume_state(changed(DISK, "pv", **gone), assumed=False) == "terminating"
    assert volume_state(changed(DISK, "pv", status={"phase": "Released"}), assumed=False) == "released"
    assert volume_state(changed(DISK, "pv", status={"phase": "Available"}), assumed=True) == "assumed"
    assert volume_state(changed(DISK, "pv", status={"phase": "Available"}), assumed=False) == "available"


@pytest.mark.parametrize(("terms", "reach"), [
    ("", "all"),
    ("[{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1]}]}]", "node:n1"),
    ("[{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]}]", "zone:a"),
    ("[{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a, b]}]}]", "zones:a,b"),
    ("[{matchExpressions: [{key: topology.kubernetes.io/zone, operator: NotIn, values: [z]}]}]", "all"),
    ("[{matchExpressions: [{key: rack, operator: Exists}]}]", "node:n2"),
    ("[{matchExpressions: [{key: nothing, operator: Exists}]}]", "nowhere"),
    ("[{matchExpressions: [{key: d/zone, operator: In, values: [b]}]}, {matchExpressions: [{key: d/zone, operator: In, values: [a]}]}]", "nowhere"),
    (f"[{{matchExpressions: [{{key: {make.ZONE}, operator: In, values: [b]}}]}}, {{matchExpressions: [{{key: {make.ZONE}, operator: In, values: [a, c]}}]}}]",
     "zones:a,b"),
    (f"[{{matchExpressions: [{{key: {make.ZONE}, operator: In, values: [a]}}]}}, {{matchExpressions: [{{key: rack, operator: Exists}}]}}]", "zone:a"),
    ("[{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [b]}, {key: rack, operator: Exists}]}]", "node:n2"),
])
def test_reach_in_words(terms, reach):
    """From where a volume can be reached is one of the frame's words, whatever its terms."""
    affinity = f", nodeAffinity: {{required: {{nodeSelectorTerms: {terms}}}}}" if terms else ""
    text = f"{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: v}}, spec: {{capacity: {{storage: 1Gi}}{affinity}}}}}"
    nodes = [
        "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {topology.kubernetes.io/zone: a}}}",
        "{apiVersion: v1, kind: Node, metadata: {name: n2, labels: {topology.kubernetes.io/zone: b, rack: r}}}",
    ]
    cluster = kvolsched.Cluster.from_manifests("\n---\n".join([text, *nodes]))

    assert reach_of(cluster["pv/v"], cluster.objects("nodes")) == reach


def test_small_words():
    """Keys are shortened, timestamps become seconds, a plugin of one's own gets a letter that is free."""
    assert short_key("topology.kubernetes.io/zone") == "zone"
    texts = ("2026-01-01T00:00:03Z", "2020-01-01T00:00:00Z", "never", None)
    assert [seconds(text, kvolsched.Cluster()) for text in texts] == [3, 0, 0, 0]
    heads = plugin_heads(["VolumeBinding", "Vicinity"], ["VolumeBinding (CheckVolumeBinding)", "Vicinity"])
    assert [(head.name, head.letter, head.family) for head in heads] == [
        ("VolumeBinding (CheckVolumeBinding)", "V", "storage"), ("Vicinity", "C", "node")]


@pytest.mark.parametrize("name", ["zonal-example", "replicated-database", "local-disks"])
def test_a_pass_read_in_place_is_the_pass_judged_on_a_fork(name):
    """Forward and back, the rows of the last pass equal those of a fork, and the cluster stays as it was."""
    cluster = kvolsched.scenario(name, "design")
    for move in [cluster.step] * 12 + [cluster.back] * 12:
        move()
        before = cluster.digest()
        context = FrameContext(cluster)
        passed = judge_last_pass(cluster, context.focus) if context.last_turn is not None else None
        if passed is not None:
            assert fill_verdicts._rows(passed) == fill_verdicts.pass_rows(context)
            assert before == cluster.digest()


def test_a_remembered_pass_gives_the_same_frames():
    """Frames that follow each other, forward and back, equal frames that are filled from nothing."""
    cluster, judged = kvolsched.scenario("zonal-example", "design"), JudgedPass()
    passes = set()
    for move in [cluster.step] * 10 + [cluster.back] * 10:
        move()
        remembered = frame_of(cluster, chips=False, judged=judged)
        passes.add(judged.turn)

        assert frame_of(cluster, chips=False) == remembered
    assert len(passes) > 1
