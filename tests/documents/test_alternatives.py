"""Where else volumes could have been bound (S0, Other Alternatives Considered): each runs, and shows why it was not taken."""

import attrs
import pytest
from documents.clusters import cluster, events, where
from manifests import HOST, ZONE, claim, node, pod, storage_class, volume

from kvolsched import Cluster, volumes
from kvolsched.api.kinds.meta import evolve_parts
from kvolsched.api.kinds.volume import BIND_COMPLETED
from kvolsched.api.text import manifest
from kvolsched.revision import revision_named
from kvolsched.scheduler.loop import binding_flow as flow
from kvolsched.scheduler.loop import volume_binder as binder
from kvolsched.scheduler.loop.binding_flow import WaitInPreBind
from kvolsched.world.apiserver import Write, key_of
from kvolsched.world.component import Component
from kvolsched.world.log import Key
from kvolsched.world.plan import PlanBuilder, report_done, report_refused
from kvolsched.world.reconciler import Reconciler

LOCAL = "kubernetes.io/no-provisioner"
BINDER, ZONE_LABEL = "late-binder", "failure-domain.beta.kubernetes.io/zone"


@attrs.frozen
class PlaceFirst(WaitInPreBind):
    """Placing before binding: volumes are chosen and remembered, the pod is bound, nothing is written for volumes."""

    def reserve(self, ctx, name, pod, node, found):
        """Assume the volumes, in memory only, and place the pod."""
        binder.assume_pod_volumes(ctx, ctx.views["cache"], found, node, self.options, writes_all=True)
        return flow._assume_and_bind(ctx, name, pod, node)


def late_binder(*, two_way=False):
    """A binder driven by placed pods: it finds volumes for the node anew; `two_way` makes all four writes itself."""
    def pods(_hand, key, _old, new):
        if key.kind == "Pod" and new is not None and new.spec.node_name and new.metadata.deletion_timestamp is None:
            yield f"{key.namespace}/{key.name}"

    def sync(ctx, cause):
        found = ctx.seen.at(Key("Pod", *cause.split("/")))
        on = found and ctx.seen.get("Node", found.spec.node_name)
        decision, taken = PlanBuilder(ctx, BINDER), set()
        for name in found.claim_names() if on else ():
            asked = ctx.seen.get("PersistentVolumeClaim", name, found.metadata.namespace)
            if asked is None or asked.spec.volume_name:
                continue
            every = sorted(ctx.seen.all("PersistentVolume"), key=lambda each: each.metadata.name)
            chosen = volumes.find_matching_volume(asked, every, node=on, excluded=taken)
            if chosen is None:
                decision.update(asked, volumes.with_selected_node(asked, on.metadata.name), f"it selects for {name}")
                continue
            taken.add(chosen.metadata.name)
            bound = decision.update(chosen, volumes.bind_volume_to_claim(chosen, asked), f"it reserves for {name}")
            if two_way:
                both(decision, bound, asked)
        return decision.writes

    def both(decision, bound, asked):
        decision.update_status(bound, evolve_parts(bound, status={"phase": "Bound"}), "PV Bound")
        named = evolve_parts(
            asked,
            spec={"volume_name": bound.metadata.name},
            metadata={"annotations": asked.metadata.annotations.merged({BIND_COMPLETED: "yes"})},
        )
        decision.update(asked, named, "it names the volume")
        decision.update_status(named, evolve_parts(named, status={"phase": "Bound"}), "PVC Bound")

    kinds = ("Pod", "Node", "PersistentVolume", "PersistentVolumeClaim")
    return Component(BINDER, kinds, (Reconciler(BINDER, pods, sync, report_refused, report_done),))


def placed_first(*objects, two_way=False, rules="upstream", **components):
    """A cluster that places pods first, with its binder."""
    made = revision_named(rules)
    made = attrs.evolve(made, flow=PlaceFirst(made.flow.volume_binding, made.flow.options))
    c = Cluster(made, components=components)
    c.world.add_components([late_binder(two_way=two_way)])
    c.load(manifest.from_plain(each) for each in objects)
    return c


def disks(*more):
    """Two nodes with a disk each, n1 the more attractive, and a class that waits."""
    return [node("n1", cpu="32"), node("n2", cpu="2"), storage_class(provisioner=LOCAL),
            volume("d1", "10Gi", "late", {HOST: ["n1"]}), volume("d2", "10Gi", "late", {HOST: ["n2"]}), *more]


@pytest.mark.checklist("141c")
def test_bound_after_placing_pods_that_bypass_the_scheduler_run():
    """A pod with nodeName, one of a scheduler that knows no volumes, and a DaemonSet's get their volumes; here they do not."""
    daemons = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": {
        "selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {
            "nodeName": "n2", "containers": [{"name": "a", "image": "registry.k8s.io/pause:3.10"}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "daemon"}}]}}}}
    objects = disks(claim("by-hand"), claim("custom"), claim("daemon"), volume("d3", "10Gi", "late", {HOST: ["n2"]}))

    def run(c):
        c.apply(pod("by-hand", "by-hand", nodeName="n1"), pod("custom", "custom", schedulerName="mine"))
        mine = c["pod/custom"]
        c.world.perform("user", [Write("bind", key_of(mine), "n2", uid=mine.metadata.uid)], "a custom scheduler binds")
        c.apply(daemons)
        c.run(seconds=120)
        phases = {each.metadata.name: each.status.phase for each in c.objects("pods") if each.spec.node_name == "n2"}
        return c["pod/by-hand"].status.phase, c["pod/custom"].status.phase, set(phases.values())

    assert ("Running", "Running", {"Running"}) == run(placed_first(*objects))
    assert ("Pending", "Pending", {"Pending"}) == run(cluster(*objects, revision="upstream"))


@pytest.mark.checklist("141c")
def test_bound_after_placing_an_old_scheduler_is_enough():
    """A scheduler from before the feature places pods and the new controller binds; in the design they wait for ever."""
    old = revision_named("upstream")
    profile = attrs.evolve(old.profile, plugins=tuple(
        each for each in old.profile.plugins if each.name not in ("VolumeBinding", "VolumeZone")))

    @attrs.frozen
    class Unaware(WaitInPreBind):
        """Placing as if there were no volumes."""

        def find(self, _pod, _node, _cache):
            """Nothing is looked for."""
            return binder.FoundVolumes()

        def reserve(self, ctx, name, pod, node, _found):
            """The pod alone is placed."""
            return flow._assume_and_bind(ctx, name, pod, node)

    c = Cluster(attrs.evolve(old, profile=profile, flow=Unaware(old.flow.volume_binding)))
    c.world.add_components([late_binder()])
    c.load(manifest.from_plain(each) for each in disks(claim("data"), pod("app", "data")))
    c.run(seconds=60)
    assert "Running" == c["pod/app"].status.phase
    gates = {"kube-scheduler": {"VolumeScheduling": False}}
    design = cluster(*disks(claim("data"), pod("app", "data")), revision=revision_named("design").with_gates(gates))
    design.run(seconds=600)
    assert ("Pending", "Pending") == (design["pod/app"].status.phase, design["pvc/data"].status.phase)


def scheduled(c, name):
    """Let the scheduler alone act until a pod has its node."""
    while not where(c, name)[0]:
        assert c.step("kube-scheduler")


@pytest.mark.checklist("141d")
def test_bound_after_placing_both_choose_and_differ():
    """The binder must watch pods; it takes a disk that the scheduler did not, whose own choice is then held for nobody."""
    controller = cluster(*disks()).world.processes["persistent-volume-binder"].component
    assert ("Pod" in late_binder().watches, "Pod" in controller.watches) == (True, False)
    c = placed_first(node("n1"), storage_class(provisioner=LOCAL), volume("d10", "10Gi", "late", {HOST: ["n1"]}),
                     claim("small", "5Gi"), claim("large", "10Gi"))
    c.apply(pod("one", "small"))
    scheduled(c, "one")
    c.apply(volume("d6", "6Gi", "late", {HOST: ["n1"]}))
    while c["pv/d6"].status.phase != "Available":
        assert c.step("persistent-volume-binder")
    c.run("pod/one Running", seconds=60)
    assert ("d6", None) == (c["pvc/small"].spec.volume_name, c["pv/d10"].spec.claim_ref)
    c.apply(pod("two", "large"))
    c.run(seconds=120)
    assert [""] == where(c, "two")  # d10 is free, and the scheduler believes that it has given it away
    c.crash("kube-scheduler")
    c.run("pod/two Running", seconds=600)
    assert "d10" == c["pvc/large"].spec.volume_name


@pytest.mark.parametrize(("crash", "ends"), [(False, ["n1", "n2"]), (True, ["n1", "n1"])])
@pytest.mark.checklist("141e")
def test_bound_after_placing_a_restart_forgets_the_choices(crash, ends):
    """The choice of a disk is in memory only: after a restart the same disk is counted on twice, and a pod is stuck."""
    c = placed_first(*disks(claim("one"), claim("two")))
    c.apply(pod("one", "one"))
    scheduled(c, "one")
    if crash:
        c.crash("kube-scheduler")
    c.apply(pod("two", "two"))
    scheduled(c, "two")
    assert ends == where(c, "one", "two")
    c.run(seconds=600)
    phases = sorted(c[f"pod/{name}"].status.phase for name in ("one", "two"))
    assert (["Pending", "Running"] if crash else ["Running", "Running"]) == phases


@pytest.mark.checklist("141f")
def test_bound_after_placing_no_predicate_of_bound_claims_is_asked():
    """A disk whose zone is only in its labels is bound to a pod elsewhere, and nobody notices; two passes do."""
    objects = [*(node(f"{zone}1", zone, labels={ZONE_LABEL: zone}) for zone in "ab"), storage_class(provisioner=LOCAL),
               volume("disk", "10Gi", "late", labels={ZONE_LABEL: "a"}), claim("data")]
    late, design = placed_first(*objects), cluster(*objects)
    for c in (late, design):
        c.apply(pod("app", "data", nodeSelector={ZONE: "b"}))
        c.run(seconds=120)
        assert "disk" == c["pvc/data"].spec.volume_name
    assert (["b1"], "Running") == (where(late, "app"), late["pod/app"].status.phase)
    assert [""] == where(design, "app")


WITHOUT = {"persistent-volume-binder": {"absent": True}}


@pytest.mark.parametrize("controller", [True, False])
@pytest.mark.checklist("141b")
def test_the_whole_binding_in_the_scheduler_has_no_pod_to_drive_the_rest(controller):
    """Without a controller of volumes a lost volume is not told, a released one not reclaimed: no pod asks for it."""
    dials = {} if controller else WITHOUT
    c = placed_first(*disks(claim("one"), claim("two")), two_way=True, **dials)
    c.apply(pod("one", "one"), pod("two", "two", nodeSelector={HOST: "n2"}))
    c.run(seconds=60)
    assert ["Running", "Running"] == [c[f"pod/{name}"].status.phase for name in ("one", "two")]
    c.edit("pv/d1", lambda old: evolve_parts(old, metadata={"finalizers": ()}))
    c.delete("pv/d1")
    c.delete("pod/two")
    c.run(seconds=60)
    c.delete("pvc/two")
    c.run(seconds=600)
    told = c["pvc/one"].status.phase, c["pv/d2"].status.phase
    assert (("Lost", "Released") if controller else ("Bound", "Bound")) == told
    assert controller == bool(events(c, "one", "ClaimLost"))


@pytest.mark.parametrize("controller", [True, False])
@pytest.mark.checklist("141b")
def test_the_whole_binding_in_the_scheduler_leaves_halves(controller):
    """The pod goes between two of the four writes: without a controller the binding stays half done for ever."""
    c = placed_first(*disks(claim("one")), two_way=True, **({} if controller else WITHOUT))
    c.refuse(BINDER, 3, "InternalError")
    c.apply(pod("one", "one"))
    while c["pv/d1"].status.phase != "Bound":
        assert c.step(BINDER) or c.step("kube-scheduler")
    c.delete("pod/one")
    c.run(seconds=600)
    assert ("Bound" if controller else "Pending") == c["pvc/one"].status.phase
    assert "Bound" == c["pv/d1"].status.phase


@pytest.mark.checklist("141g")
def test_binding_in_the_kubelet_shows_it_the_volumes_of_others():
    """What a kubelet must read to bind: of local disks its own node's, of zonal ones every unbound one of its zone."""
    made = [node(f"{zone}{n}", zone) for zone in "ab" for n in range(4)]
    made += [volume(f"local-{zone}{n}", "10Gi", "late", {HOST: [f"{zone}{n}"]}) for zone in "ab" for n in range(4)]
    made += [volume(f"zonal-{zone}{n}", "10Gi", "late", {ZONE: [zone]}, bound="data" if zone + str(n) == "a0" else "")
             for zone in "ab" for n in range(10)]
    made += [claim("data", bound="zonal-a0")]
    c = cluster(*made)
    free = [each for each in c.objects("pv") if each.spec.claim_ref is None]
    seen = {found.metadata.name: [each.metadata.name for each in free if volumes.volume_fits_node(each, found)]
            for found in c.objects("nodes")}
    assert {1} == {sum(name.startswith("local") for name in names) for names in seen.values()}
    assert {"a": {9}, "b": {10}} == {zone: {sum(each.startswith("zonal") for each in names) for on, names in seen.items()
                                            if on[0] == zone} for zone in "ab"}
    assert 28 - 1 == len(free)
