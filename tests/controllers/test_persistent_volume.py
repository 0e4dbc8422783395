"""The PV controller in small worlds: what binds, what waits, what is released, and what a crash leaves to finish."""

from types import SimpleNamespace

import attrs
import pytest
from controllers.harness import Harness
from objects import claim, node, pod, storage_class, volume

import kvolsched
from kvolsched import make
from kvolsched.api.kinds.meta import Frozen, ObjectReference, evolve, evolve_parts
from kvolsched.api.kinds.volume import PROVISIONED_BY, SELECTED_NODE_KEYS
from kvolsched.cluster import Cluster
from kvolsched.controllers import persistent_volume
from kvolsched.controllers.persistent_volume import operations
from kvolsched.controllers.persistent_volume.operations import InTreePlugin
from kvolsched.world.apiserver import CLOCK
from kvolsched.world.log import Key, Note

BINDER = persistent_volume.NAME
FOUR_WRITES = [
    (BINDER, "update", "pv/disk"),
    (BINDER, "update_status", "pv/disk"),
    (BINDER, "update", "pvc/data"),
    (BINDER, "update_status", "pvc/data"),
]
REVISIONS = {"upstream": persistent_volume.UPSTREAM, "design": persistent_volume.DESIGN}


@pytest.fixture(params=REVISIONS)
def options(request):
    """The controller's options under each revision."""
    return REVISIONS[request.param]


def binder(options=persistent_volume.UPSTREAM, **more):
    """A world with the PV controller alone."""
    return Harness(persistent_volume.component(attrs.evolve(options, **more)))


@pytest.mark.checklist("40")
def test_immediate_claims_bind_without_any_pod(options):
    """An Immediate class: the claim is bound to the smallest volume that fits, and no pod is looked at."""
    world = binder(options).create(
        storage_class(waits=False), volume("big", "50Gi"), volume("disk"), volume("small", "5Gi")
    ).run()
    world.create(claim()).run()
    assert world["pvc/data"].spec.volume_name == "disk"
    assert [world[f"pv/{name}"].status.phase for name in ("big", "disk", "small")] == ["Available", "Bound", "Available"]


def test_a_bind_is_four_writes_in_kubernetes_order(options):
    """PV, PV status, claim, claim status: nothing else is written once the volume is Available."""
    world = binder(options).create(storage_class(waits=False), volume()).run()
    before = len(world.writes())
    world.create(claim()).run()
    assert world.writes()[before:] == FOUR_WRITES


@pytest.mark.parametrize("crash_after", range(4))
def test_a_crash_between_the_writes_of_a_bind_is_finished_by_the_next_process(options, crash_after):
    """Whatever of the four writes was made is not made again, and the rest follows."""
    world = binder(options).create(storage_class(waits=False), volume()).run()
    before = len(world.writes())
    world.create(claim())
    while len(world.writes()) < before + crash_after:
        assert world.sim.step(turns=True)
    world.sim.crash(BINDER)
    world.run()
    assert world.writes()[before:] == FOUR_WRITES
    assert world["pvc/data"].status.phase == world["pv/disk"].status.phase == "Bound"


@pytest.mark.checklist("41", "87", "88", "47")
def test_delayed_claims_wait_for_a_pod_and_say_so(options):
    """WaitForFirstConsumer: no binding though a volume fits, no provisioning though there is a driver, one event."""
    world = binder(options).create(storage_class(), volume(), claim()).run()
    assert world["pvc/data"].spec.volume_name == ""
    assert world["pv/disk"].spec.claim_ref is None
    assert ("WaitForFirstConsumer", "waiting for first consumer to be created before binding") in world.events("data")
    assert not any("storage-provisioner" in key for key in world["pvc/data"].metadata.annotations)


def test_a_pod_that_waits_is_named_today_but_not_in_the_design_era():
    """`WaitForPodScheduled` is younger than the documents."""
    for name, reason in (("upstream", "WaitForPodScheduled"), ("design", "WaitForFirstConsumer")):
        world = binder(REVISIONS[name]).create(storage_class(), pod("app", "data")).run().create(claim()).run()
        assert [reason for reason, _ in world.events("data")] == [reason]


@pytest.mark.checklist("89", "97")
@pytest.mark.parametrize("key", SELECTED_NODE_KEYS)
def test_the_selected_node_is_the_signal_to_provision_in_every_spelling(options, key):
    """The annotation by which the scheduler hands a claim over: the driver is named on the claim."""
    world = binder(options).create(storage_class(provisioner="ebs.example.com"), claim()).run()
    world.change("pvc/data", lambda c: evolve_parts(
        c,
        metadata={"annotations": c.metadata.annotations.merged({key: "node-a"})},
    )).run()
    annotations = world["pvc/data"].metadata.annotations
    assert {annotations[k] for k in annotations if "storage-provisioner" in k} == {"ebs.example.com"}


def test_a_claim_handed_to_provisioning_may_take_a_static_volume_only_in_1_11():
    """The annotation switches delay off in 1.11: any volume will do, whatever its node. Today it stays on."""
    for name, bound in (("upstream", ""), ("design", "disk")):
        world = binder(REVISIONS[name]).create(storage_class(), volume()).run().create(claim(selected_node="node-a")).run()
        assert world["pvc/data"].spec.volume_name == bound


@pytest.mark.checklist("83")
def test_prebound_volumes_and_claims_bind_at_once_even_in_a_delayed_class(options):
    """Either side that names the other is bound by the controller, without waiting for a pod."""
    world = binder(options).create(storage_class(), volume(claim="data"), claim()).run()
    assert world["pvc/data"].spec.volume_name == "disk"
    assert "pv.kubernetes.io/bound-by-controller" not in world["pv/disk"].metadata.annotations
    assert "pv.kubernetes.io/bound-by-controller" in world["pvc/data"].metadata.annotations
    world = binder(options).create(storage_class(), volume()).run().create(claim(volumeName="disk")).run()
    assert world["pvc/data"].status.phase == "Bound"
    assert "pv.kubernetes.io/bound-by-controller" in world["pv/disk"].metadata.annotations
    assert "pv.kubernetes.io/bound-by-controller" not in world["pvc/data"].metadata.annotations


def test_a_volume_that_comes_later_is_found_at_the_next_period_of_15_seconds():
    """Nobody wakes a claim when a volume becomes Available: the resync finds it."""
    world = binder().create(storage_class(waits=False, provisioner="kubernetes.io/no-provisioner"), claim()).run()
    assert world["pvc/data"].status.phase == "Pending"
    world.create(volume()).run()
    assert world["pvc/data"].spec.volume_name == "disk"
    assert world.sim.now == 15.0


@pytest.mark.parametrize("waits", [False, True])
def test_a_volume_kept_for_a_claim_that_waits_already_is_taken_at_the_next_period(options, waits):
    """A claimRef without uid wakes nobody, as in syncVolume; the claim's own sync at the resync binds the two."""
    manual = storage_class(waits=waits, provisioner="kubernetes.io/no-provisioner")
    world = binder(options).create(manual, claim()).run()
    assert world["pvc/data"].status.phase == "Pending"
    world.create(volume(claim="data")).run()
    assert (world["pvc/data"].spec.volume_name, world["pv/disk"].status.phase) == ("disk", "Bound")
    assert world.sim.now == 15.0


def test_a_default_class_is_assigned_late():
    """A claim without class gets the default one at the first period after there is one."""
    world = binder().create(claim(storage_class=None)).run()
    assert world.events("data")[0][0] == "FailedBinding"
    default = storage_class("standard")
    notes = default.metadata.annotations.merged({"storageclass.kubernetes.io/is-default-class": "true"})
    world.create(evolve_parts(default, metadata={"annotations": notes})).run()
    assert world["pvc/data"].spec.storage_class_name == "standard"


def lost(options):
    """A world in which the volume disk of the claim data has been deleted."""
    return binder(options).create(storage_class(waits=False), volume()).run().create(claim()).run().delete("pv/disk").run()


def test_a_claim_whose_volume_is_deleted_is_lost(options):
    """The claim's phase is Lost, with Kubernetes' words, and nobody binds it again to another volume."""
    world = lost(options).create(volume("other")).run()
    assert (world["pvc/data"].status.phase, world["pv/other"].status.phase) == ("Lost", "Available")
    assert ("ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!") in world.events("data")


@pytest.mark.parametrize("kept", [False, True], ids=["without claimRef", "with its claimRef"])
def test_a_lost_claim_is_bound_again_when_its_volume_comes_back(options, kept):
    """At the next period after its volume is created again, free or with the old claimRef, the claim is Bound."""
    world = lost(options)
    ref = ObjectReference(kind="PersistentVolumeClaim", namespace="default", name="data", uid=world["pvc/data"].metadata.uid)
    world.create(evolve_parts(volume(), spec={"claim_ref": ref if kept else None})).run()
    assert (world["pvc/data"].status.phase, world["pv/disk"].status.phase) == ("Bound", "Bound")
    assert world["pvc/data"].status.capacity == {"storage": "10Gi"}
    assert world["pv/disk"].spec.claim_ref.uid == world["pvc/data"].metadata.uid
    assert world.sim.now == 15.0


@pytest.mark.parametrize("uid", ["other", ""], ids=["another uid", "no uid"])
def test_a_bound_claim_whose_volume_is_given_away_is_lost(options, uid):
    """At the next period after the uid of its volume's claimRef is another, the claim is Lost, with Kubernetes' words."""
    world = binder(options).create(storage_class(waits=False), volume()).run().create(claim()).run()
    world.change("pv/disk", lambda old: evolve_parts(old, spec={"claim_ref": evolve(old.spec.claim_ref, uid=uid)})).run()
    assert world["pvc/data"].status.phase == "Lost"
    words = "Two claims are bound to the same volume, this one is bound incorrectly"
    assert ("ClaimMisbound", words) in world.events("data")


def test_a_lost_claim_leaves_a_volume_that_comes_back_for_another_claim(options):
    """Its volume is created again and is kept for another claim: this one gets it, the first stays Lost without an Event."""
    world = lost(options).create(claim("other")).run().create(volume(claim="other")).run()
    assert [world[f"pvc/{name}"].status.phase for name in ("data", "other")] == ["Lost", "Bound"]
    assert [reason for reason, _ in world.events("data") if reason != "ClaimLost"] == []


def test_a_bound_claim_takes_its_volume_again_that_has_come_unbound(options):
    """Somebody removes the claimRef of a bound volume: at the next period the claim that names it is in it again."""
    world = binder(options).create(storage_class(waits=False), volume()).run().create(claim()).run()
    world.change("pv/disk", lambda disk: evolve_parts(disk, spec={"claim_ref": None})).run()
    assert world["pv/disk"].spec.claim_ref.uid == world["pvc/data"].metadata.uid
    assert (world["pvc/data"].status.phase, world["pv/disk"].status.phase) == ("Bound", "Bound")


def test_retain_keeps_a_released_volume_until_its_claim_ref_is_removed(options):
    """Released with claimRef; removed by hand, it is Available again and the mark of the controller stays."""
    world = binder(options).create(storage_class(waits=False), volume()).run().create(claim()).run().delete("pvc/data").run()
    assert world["pv/disk"].status.phase == "Released"
    assert world["pv/disk"].spec.claim_ref.name == "data"
    world.change("pv/disk", lambda v: evolve_parts(v, spec={"claim_ref": None})).run()
    assert world["pv/disk"].status.phase == "Available"
    assert "pv.kubernetes.io/bound-by-controller" in world["pv/disk"].metadata.annotations


@pytest.mark.parametrize(("options", "phase", "events"), [
    (persistent_volume.UPSTREAM, "Released", []),
    (persistent_volume.DESIGN, "Failed", [
        ("VolumeFailedDelete", 'Error getting deleter volume plugin for volume "disk": no volume plugin matched')]),
])
def test_a_csi_volume_made_by_hand_is_left_to_its_driver(options, phase, events):
    """With the policy Delete it stays Released, and nothing is said; 1.11 looked for a plugin and set it Failed."""
    source = Frozen(csi=Frozen(driver="one.csi", volumeHandle="h"))
    made = evolve_parts(volume(policy="Delete"), spec={"rest": source})
    world = binder(options).create(storage_class(waits=False), made).run().create(claim()).run().delete("pvc/data").run()

    assert (phase, events) == (world["pv/disk"].status.phase, world.events("disk"))


@pytest.mark.parametrize(("options", "spec", "why"), [
    (persistent_volume.UPSTREAM, {"volume_attributes_class_name": "gold", "access_modes": ("ReadOnlyMany",)},
     "volumeAttributesClassName does not match"),
    (persistent_volume.UPSTREAM, {"storage_class_name": "other"}, "storageClassName does not match"),
    (persistent_volume.DESIGN, {"storage_class_name": "other"}, "storageClasseName does not match"),
])
def test_why_a_named_volume_is_no_match(options, spec, why):
    """The class of attributes is compared before the access modes; 1.11 misspelt the storage class."""
    world = binder(options).create(storage_class(), evolve_parts(volume(), spec=spec)).run()
    world.create(claim(volumeName="disk")).run()

    assert ("VolumeMismatch", f'Cannot bind to requested volume "disk": {why}') in world.events("data")


def test_a_volume_whose_migration_cannot_be_written_says_so():
    """The finalizer of a volume is part of the same write, so its error names both."""
    made = evolve_parts(volume(), metadata={"annotations": Frozen({PROVISIONED_BY: "kubernetes.io/aws-ebs"})})
    plan = SimpleNamespace(update=lambda *_, refusal_words: said.append(refusal_words))
    said: list[str] = []
    persistent_volume.UPSTREAM.migration.mark_volume(plan, made)

    assert ["persistent Volume Controller can't anneal migration annotations or finalizer: {error}"] == said


def test_a_second_claim_of_a_volume_is_refused_in_words():
    """The volume is taken: an event, and Pending."""
    world = binder().create(storage_class(), volume()).run().create(claim("one", volumeName="disk")).run()
    world.create(claim("two", volumeName="disk")).run()
    assert world["pvc/two"].status.phase == "Pending"
    assert ("FailedBinding", 'volume "disk" already bound to a different claim.') in world.events("two")


def prebound_and_waiting(options):
    """A world in which a claim and a volume with its uid were just made, and the controller has seen nothing yet."""
    made = claim(storage_class="fast", annotations={"pv.kubernetes.io/bind-completed": "yes"}, volumeName="disk")
    world = Harness(persistent_volume.component(options)).create(storage_class("fast", waits=False)).run().create(made)
    bound = volume(storage_class="fast", claim="data", policy="Delete")
    ref = attrs.evolve(bound.spec.claim_ref, uid=world["pvc/data"].metadata.uid)
    return world.create(evolve_parts(bound, spec={"claim_ref": ref}))


@pytest.mark.checklist("275")
def test_66287_a_controller_that_sees_the_volume_before_its_claim_takes_the_claim_for_deleted():
    """Lag per kind: the volume's cursor moves first. Without a second look the volume is released; with one it is not."""
    for name, phase in (("design", "Failed"), ("upstream", "Bound")):
        world = prebound_and_waiting(REVISIONS[name])
        process = world.sim.processes[BINDER]
        world.sim.deliver(process, ["PersistentVolume"])
        while process.work_queues["persistentvolume volumes"].items or process.plans["persistentvolume volumes"].items:
            actor = next(a for a in process.component.actors if a.name == "persistentvolume volumes")
            world.sim.turn(process, actor, see=False)
        assert world["pv/disk"].status.phase == phase


@pytest.mark.checklist("90")
@pytest.mark.parametrize("name", REVISIONS)
def test_an_in_tree_failure_takes_the_selected_node_away(name):
    """The controller's own plugin fails: annotation gone, so that the scheduler may choose another node."""
    options = attrs.evolve(REVISIONS[name], in_tree_plugins=frozenset({"kubernetes.io/host-path"}))
    plugin = InTreePlugin(
        name="kubernetes.io/host-path", source="hostPath", provisions=True, fails={"provision": "disk full"}
    )
    world = Harness(persistent_volume.component(options, [operations.routine([plugin], options)]))
    world.create(node("node-a", "zone-a"), storage_class("host", provisioner="kubernetes.io/host-path")).run()
    world.create(claim(storage_class="host", selected_node="node-a"))
    world.run()
    assert not any(key in world["pvc/data"].metadata.annotations for key in SELECTED_NODE_KEYS)
    assert ("ProvisioningFailed", 'Failed to provision volume with StorageClass "host": disk full') in world.events("data")


def gated_runs():
    """The same scenarios without any delayed class, with the gate for delayed provisioning on and off."""
    def immediate(world):
        world.create(storage_class(waits=False), volume()).run().create(claim()).run()

    def taken(world):
        immediate(world)
        world.create(claim("two", volumeName="disk")).run().delete("pvc/data").run()

    def prebound(world):
        world.create(storage_class(), volume(claim="data"), claim()).run()

    def lost(world):
        immediate(world)
        world.delete("pv/disk").run()

    return [immediate, taken, prebound, lost]


@pytest.mark.checklist("92")
@pytest.mark.parametrize("play", gated_runs(), ids=lambda play: play.__name__)
def test_the_gate_changes_nothing_but_delayed_claims(play):
    """Differential: writes, events and objects are the same with the gate on and off."""
    worlds = [binder(persistent_volume.DESIGN, delayed_provisioning=gate) for gate in (True, False)]
    for world in worlds:
        play(world)
    on, off = worlds
    assert on.writes() == off.writes()
    assert on.sim.log.objects == off.sim.log.objects


def test_the_own_cache_saves_a_second_write_while_the_watch_lags():
    """A controller that has not seen its own writes yet does not make them again, and gets no conflict."""
    world = binder().create(storage_class(waits=False), volume()).run().create(claim())
    process = world.sim.processes[BINDER]
    world.sim.deliver(process)
    claims = next(a for a in process.component.actors if a.name == "persistentvolume claims")
    while process.work_queues[claims.name].items or process.plans[claims.name].items:
        world.sim.turn(process, claims, see=False)
    assert len([k for k in world.sim.log.notes if isinstance(k, Note) and k.sort == "own"]) == 2
    with_own = process.views["cache"].at(Key("PersistentVolumeClaim", "default", "data"))
    assert with_own.status.phase == "Bound"
    before = len(world.writes())
    world.run()
    assert len(world.writes()) == before
    assert not [k for k in world.sim.log.notes if isinstance(k, Note) and k.sort == "own"]


def test_back_and_forward_again_is_the_same_world():
    """Every note of the controller travels: the digest of each place is met again."""
    world = binder().create(storage_class(waits=False), volume(), claim()).run()
    last = world.sim.step_number
    digest, objects = world.sim.digest(), dict(world.sim.log.objects)
    world.sim.goto(0)
    world.sim.goto(last)
    assert (world.sim.digest(), world.sim.log.objects) == (digest, objects)


# -- the resync -------------------------------------------------------------------------------------------------------

WAITING = """
apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {kubernetes.io/hostname: node-a}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: ebs}
provisioner: ebs.example.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: ebs, resources: {requests: {storage: 1Gi}}}
"""
USER = """
apiVersion: v1
kind: Pod
metadata: {name: app}
spec:
  schedulingGates: [{name: later}]
  containers: [{name: app, image: app}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
"""
TICKS = {persistent_volume.NAME: {"ticks": True}}


def said_of(cluster):
    """What Events tell of the claim: reason -> count."""
    events = [obj for key, obj in cluster.world.log.objects.items() if key.kind == "Event"]
    return {e.reason: e.count for e in events if e.involved_object.name == "data"}


def at(cluster, seconds):
    """Let the clock go to a moment and everybody do what is due then."""
    world = cluster.world
    with world.transaction() as step:
        start = world.place
        world.log.write(CLOCK, float(seconds))
        step.add(world.actorless_turn(start, "world", f"t = {seconds} s"))
    cluster.run()


def test_at_every_tick_a_waiting_claim_is_told_again_and_a_pod_that_has_come_is_named():
    """With `ticks` the Event is counted up every 15 s; a pod that comes meanwhile is named at the tick, not before."""
    cluster = Cluster.from_manifests(WAITING, components=TICKS)
    cluster.run()
    for second in (15, 30):
        at(cluster, second)
    assert {"WaitForFirstConsumer": 3} == said_of(cluster)
    cluster.apply(USER)
    cluster.run()
    assert {"WaitForFirstConsumer": 3} == said_of(cluster)
    at(cluster, 45)
    assert {"WaitForFirstConsumer": 3, "WaitForPodScheduled": 1} == said_of(cluster)


def test_ticks_cost_a_search_nothing_but_what_they_change():
    """The state space with ticks is finite too; without them it is the smaller one."""
    sizes = []
    for dials in ({}, TICKS):
        cluster = Cluster.from_manifests(WAITING, components=dials)
        cluster.apply(USER)
        found = cluster.explore(until=None, lag="none", max_states=2_000, progress=False)
        assert "Exhausted" in repr(found)
        sizes.append(found.states)
    assert sizes[0] <= sizes[1]


def controller_turns(cluster):
    """Return the turns in which a worker of the PV controller took up a cause."""
    return [turn for turn in cluster.world.turns if turn.component == BINDER and turn.actor]


@pytest.mark.parametrize(("scenario", "revision"), [
    ("zonal-example", "upstream"), ("local-disks", "upstream"), ("local-disks", "design"), ("disk-stolen", "design"),
])
def test_no_turn_is_spent_on_what_is_settled(scenario, revision):
    """Own writes that come back over the watch queue nothing: each turn writes, waits or says something."""
    cluster = kvolsched.scenario(scenario, revision=revision)
    cluster.run()
    assert controller_turns(cluster)
    assert [turn for turn in controller_turns(cluster) if turn.quiet] == []


def test_what_is_bound_when_it_is_first_seen_is_not_synced(options):
    """A controller that starts over bound claims and free volumes has nothing to do."""
    world = binder(options).create(storage_class(waits=False), volume(), volume("free", "1Gi"), claim()).run()
    world.sim.crash(BINDER)
    assert [turn.words for step in world.sim.run() for turn in step if turn.actor] == []


@pytest.mark.parametrize("nth", [2, 3, 4])
def test_a_bind_whose_later_write_is_refused_is_finished_at_once(options, nth):
    """What the earlier writes changed is seen again: the claim waits for no resync."""
    world = binder(options).create(storage_class(waits=False), volume()).run()
    world.sim.refuse(BINDER, nth)
    world.create(claim()).run(seconds=1)
    assert world["pvc/data"].status.phase == world["pv/disk"].status.phase == "Bound"


def test_a_claim_is_told_once_to_wait_for_its_provisioner():
    """The controller's own annotation queues the claim no more, so the Event is not repeated for nothing."""
    world = binder().create(storage_class(provisioner="zonal.example.com", waits=False)).run()
    world.create(claim()).run()
    assert [e.count for e in world.all("Event") if e.reason == "ExternalProvisioning"] == [1]


def test_a_recycler_that_fails_leaves_the_volume_failed():
    """Policy Recycle: the plugin's words stand in the Event and in the volume's status."""
    plugin = InTreePlugin(name="kubernetes.io/host-path", source="hostPath", recycles=True, fails={"recycle": "mount failed"})
    world = Harness(persistent_volume.component(persistent_volume.UPSTREAM, [operations.routine([plugin])]))
    scratch = evolve_parts(volume(policy="Recycle"), spec={"rest": Frozen(hostPath=Frozen(path="/disk"))})
    world.create(storage_class(waits=False), scratch).run().create(claim()).run()
    world.delete("pvc/data").run()
    assert (world["pv/disk"].status.phase, world["pv/disk"].status.message) == ("Failed", "Recycle failed: mount failed")
    assert world.events("disk") == [("VolumeFailedRecycle", "Recycle failed: mount failed")]


@pytest.mark.parametrize("policy", ["Delete", "Retain"])
def test_a_provisioned_volume_that_cannot_be_saved_is_cleaned_up(policy):
    """Five tries to save it, then five to clean up, each with a look at the API server; both are told."""
    options = attrs.evolve(persistent_volume.UPSTREAM, in_tree_plugins=frozenset({"kubernetes.io/host-path"}))
    plugin = InTreePlugin(name="kubernetes.io/host-path", source="hostPath", provisions=True, deletes=True)
    world = Harness(persistent_volume.component(options, [operations.routine([plugin], options)]))
    world.create(storage_class("host", waits=False, provisioner="kubernetes.io/host-path", reclaimPolicy=policy)).run()
    world.create(claim(storage_class="host"))
    world.sim.refuse(BINDER, 2, "Timeout")  # its first write annotates the claim
    tried = []
    while len(tried) < 5:
        creates = [turn for turn in world.sim.step() if any(each.write.verb == "create" for each in turn.outcomes)]
        tried += creates
        if creates and len(tried) < 5:
            world.sim.refuse(BINDER, 1, "Timeout")
    name = f"pvc-{world['pvc/data'].metadata.uid}"
    assert world.sim.now == 40
    assert tried[-1].reads == (Key("PersistentVolume", "", name),) * 5
    told = dict(world.events("data"))
    assert told["ProvisioningFailed"].startswith("Error creating provisioned PV object for claim default/data: ")
    assert told["ProvisioningFailed"].endswith(". Deleting the volume.")
    assert told["ProvisioningCleanupFailed"] == (
        f'Error cleaning provisioned volume for claim default/data: persistentvolumes "{name}" not found. '
        "Please delete manually."
    )


@pytest.mark.parametrize("rules", ["upstream", "design"])
def test_a_volume_is_released_though_another_claim_has_the_name_of_its_own(rules):
    """A claim that is deleted and made anew before the PV controller looks again is another one: its volume waits for an admin."""
    nodes = [make.node("n1", "a"), make.storage_class("local", "kubernetes.io/no-provisioner", waits=False)]
    cluster = Cluster.from_manifests([*nodes, make.disk("disk", "n1"), make.claim("data", "1Gi", "local")], revision=rules)
    cluster.run()
    cluster.delete("pvc/data")
    while cluster.objects("pvc"):
        cluster.step("PVC protection")
    cluster.apply(make.claim("data", "1Gi", "local"))
    cluster.run()

    assert ("Released", "Pending") == (cluster["pv/disk"].status.phase, cluster["pvc/data"].status.phase)
