"""Upgrades in a running cluster: components restart with other rules; back undoes it; views, forks and searches agree."""

import re

import pytest
from documents.clusters import patch, refusal
from hypothesis import given, settings
from hypothesis import strategies as st
from manifests import HOST, LOCAL, ZONE, claim, node, pod, storage_class, volume
from world.toy_components import picture

from kvolsched import Cluster, scenario
from kvolsched.core.upgrades import rules_of
from kvolsched.explore import Crash, explore
from kvolsched.rules.named import revision_named

GATE = "PodSchedulingReadiness"


def small(revision="upstream", **options):
    """Return a cluster with a claim to provision."""
    return Cluster.from_manifests([node("a1", "a"), node("b1", "b"), storage_class(), claim(), pod("app", "data")],
                                  revision=revision, **options)  # fmt: skip


def changes(c, number):
    """Make one of some changes of the rules, or a step."""
    match number:
        case 0:
            c.upgrade("design", component="kube-scheduler")
        case 1:
            c.upgrade("upstream", component="kube-scheduler")
        case 2:
            c.upgrade("design")
        case 3:
            c.upgrade({"VolumeScheduling": False}, component="kube-controller-manager")
        case 4:
            c.upgrade("draft", component="kube-scheduler", beside=True)
        case 5:
            c.crash("kube-scheduler")
        case 6:
            c.upgrade({GATE: False}, "kube-apiserver")
            c.upgrade("upstream", "kube-apiserver", beside=True, share=0.3)
        case 7:
            c.outage(seconds=2)
        case 8:
            refusal(c.apply, pod("late", "data"))
        case _:
            c.step()


LIVES = st.lists(st.integers(0, 14), max_size=14)
FEW = settings(max_examples=25, deadline=None)


@FEW
@given(LIVES, st.data())
def test_back_and_forward_over_upgrades(life, data):
    """At every step contents, notes, views and digest are those of the first visit, in whatever order steps are visited."""
    c = small()
    start = c.digest()
    for number in life:
        changes(c, number)
    seen = {}
    for number in range(c.world.known_steps + 1):
        c.goto(number)
        seen[number] = c.digest(), picture(c.world), c.revision.name, repr(c)
    for number in data.draw(st.lists(st.integers(0, c.world.known_steps), max_size=6)):
        c.goto(number)
        assert seen[number] == (c.digest(), picture(c.world), c.revision.name, repr(c))
    c.goto(0)
    assert start == c.digest()


@FEW
@given(LIVES)
def test_views_built_and_moved_are_equal_after_upgrades(life):
    """Rebuilt views equal moved ones, at the end and on the way back; a fork is equal."""
    c = small()
    for number in life:
        changes(c, number)
    for _ in range(3):
        moved = picture(c.world)
        assert moved == picture(c.fork().world)
        digest = c.digest()
        assert digest == c.fork().digest()
        c.world.rebuild()
        assert (moved, digest) == (picture(c.world), c.digest())
        c.back()


@FEW
@given(LIVES, LIVES)
def test_checkpoints_over_upgrades(life, more):
    """A restored checkpoint has the contents, views and digest of the moment it was taken, whatever rules ran since."""
    c = small()
    for number in life:
        changes(c, number)
    before = c.digest(), picture(c.world)
    saved = c.world.checkpoint()
    for number in more:
        changes(c, number)
    c.world.restore(saved)
    assert before == (c.digest(), picture(c.world))


def test_one_component_runs_other_rules():
    """The scheduler alone becomes the design's: two passes; the repr tells the mix, and the scheduler's rules are asked."""
    c = small()
    assert "rules upstream:" in repr(c)
    step = c.upgrade("design", component="scheduler")
    assert "step 1, t=0 s: kube-scheduler restarts with the rules design: what it remembered is lost." == repr(step)
    assert "rules upstream; kube-scheduler: design:" in repr(c)
    assert ("design", "upstream") == (c.revision.name, rules_of(c, "kubelet").name)
    c.run("pod/app Running")
    assert 2 == len(c.passes("app"))
    assert "(rules: design)" in repr(c.why("app")) or "design" in repr(c.passes("app"))


def test_everything_is_upgraded_and_rolled_back():
    """An upgrade of all in the middle of a claim's way: everything restarts, lists, and finishes the work."""
    for old, new in (("upstream", "design"), ("design", "upstream")):
        c = small(old)
        c.run(steps=4)
        c.upgrade(new)
        assert f"rules {new}:" in repr(c)
        c.run("pod/app Running")
        assert "Running" == c["pod/app"].status.phase
        c.upgrade(old)
        assert f"rules {old}:" in repr(c)
        assert {} == {note: value for note, value in c.world.log.notes.items() if note[:2] == ("world", "rules")}


def test_the_same_upgrade_is_the_same_state():
    """Two clusters upgraded by themselves have equal digests; so has one that was upgraded there and back."""
    one, other, straight = small(), small(), small()
    one.upgrade("design", component="kube-scheduler")
    other.upgrade(revision_named("design"), component="scheduler")
    assert one.digest() == other.digest()
    assert one.digest() != straight.digest()
    one.upgrade("upstream", component="kube-scheduler")
    assert one.digest() == straight.digest()


def test_components_that_only_one_set_of_rules_has():
    """The design has no controller of ephemeral volumes: upgraded to upstream it begins, rolled back it stops."""
    c = Cluster.from_manifests([node("a1", "a"), storage_class()], revision="design")
    ephemeral = {"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": {
        "storageClassName": "late", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}}  # fmt: skip
    plain = pod("app")
    plain["spec"]["volumes"] = [ephemeral]
    c.apply(plain)
    c.run(seconds=30)
    assert [] == c.objects("pvc")
    before = c.digest()
    upgraded = c.upgrade("upstream").number
    c.run(seconds=30)
    assert ["app-data"] == [each.metadata.name for each in c.objects("pvc")]
    assert "Running" == c["pod/app"].status.phase
    c.goto(upgraded - 1)
    assert before == c.digest()


def test_two_masters_and_who_leads():
    """A second master is started beside the first; one leads and acts, drawn anew at every crash, equal in every run."""
    leaders = []
    for _ in range(2):
        c = small()
        c.upgrade("design", component="kube-scheduler", beside=True)
        found = [c.revision.name]
        for _ in range(8):
            c.crash("kube-scheduler")
            found.append(c.revision.name)
        assert "kube-scheduler: upstream and design (" in repr(c)
        leaders.append(found)
    assert leaders[0] == leaders[1]
    assert {"design", "upstream"} == set(leaders[0])
    c.run("pod/app Running")
    assert "Running" == c["pod/app"].status.phase


def test_a_leader_change_at_any_moment_is_searched():
    """With a crash of the leader anywhere and either master leading after it: the pod always runs."""
    def search(second):
        c = Cluster.from_manifests(
            [node("n1"), node("n2"), storage_class(provisioner=LOCAL), volume("v1", "10Gi", "late", {HOST: ["n1"]}),
             claim(), pod("app", "data")], components={"kubelet": {"absent": True}})  # fmt: skip
        c.upgrade(second, component="kube-scheduler", beside=True)
        return c.explore(faults=[Crash("kube-scheduler")], progress=False)

    same = search({"EvenPodsSpread": False})
    assert same.exhausted
    assert not same
    older = search("design")
    assert older.exhausted
    assert not older


def test_gates_of_one_kubelet():
    """One kubelet is older than the others: without the gate it starts a pod whose volume its node cannot reach."""
    def run(*which):
        c = Cluster.from_manifests([node("a1", "a"), node("b1", "b"), storage_class(), claim("data", bound="disk"),
                                    volume("disk", "10Gi", "late", {ZONE: ["c"]}, bound="data"),
                                    pod("one", "data", running_on=""), pod("two", "data")])
        for name in which:
            c.upgrade({"VolumeScheduling": False}, component=f"kubelet/{name}")
        for name, where in (("one", "a1"), ("two", "b1")):
            c.delete(f"pod/{name}")
            c.apply({**pod(name, "data"), "spec": {**pod(name, "data")["spec"], "nodeName": where}})
        c.run(seconds=30)
        return [c[f"pod/{name}"].status.phase for name in ("one", "two")]

    assert ["Pending", "Pending"] == run()
    assert ["Running", "Pending"] == run("a1")
    assert ["Running", "Running"] == run("a1", "b1")


def test_a_later_driver_runs_the_rules_of_the_upgrade():
    """A class that is applied after an upgrade of everything gets a driver with the new rules."""
    late = Cluster.from_manifests([node("a1", "a")], revision="upstream")
    late.upgrade("draft")
    late.apply(storage_class(), claim(), pod("app", "data"))
    fresh = Cluster.from_manifests([node("a1", "a")], revision="draft")
    fresh.apply(storage_class(), claim(), pod("app", "data"))
    for c in (late, fresh):
        c.run(seconds=60)
    assert [row.verb for row in fresh.requests()] == [row.verb for row in late.requests()]


def test_plugins_and_webhooks_after_an_upgrade():
    """A plugin joins the scheduler's present rules; a webhook is asked by every API server."""
    c = small()
    c.upgrade("design", component="kube-scheduler")
    c.upgrade({GATE: False}, "kube-apiserver", beside=True)
    other = c.with_plugin(lambda _pod, node, _seen: node.metadata.name == "b1", name="OnlyB")
    assert "design + OnlyB" == other.revision.name
    other.run("pod/app scheduled")
    assert "b1" == other["pod/app"].spec.node_name
    asked = c.with_webhook(validate=lambda _new, _old: "not today")
    for number in range(6):
        assert "not today" in refusal(asked.apply, pod(f"p{number}"))
    assert "" == refusal(c.apply, pod("p"))


@pytest.mark.parametrize(("act", "words"), [
    (lambda c: c.upgrade("design", "kube-schedule"), "no component is called 'kube-schedule'; there are: kube-apiserver, "),
    (lambda c: c.upgrade({"Unicorns": True}, "kube-scheduler"), "no gate Unicorns of kube-scheduler"),
    (lambda c: c.upgrade({"EvenPodsSpread": True}), "name the component whose gates these are"),
    (lambda c: c.upgrade("design", beside=True), "beside: name the component"),
    (lambda c: c.upgrade({"kube-apiserver": {GATE: False}, "kube-scheduler": {GATE: False}}, beside=True),
     "beside: name the component"),
    (lambda c: c.upgrade({"VolumeScheduling": False}, "kubelet/nowhere"), "no component is called 'kubelet/nowhere'"),
    (lambda c: c.upgrade("design", "kube-apiserver", beside=True, share=2), "share: 2: must be between 0 and 1"),
    (lambda c: c.upgrade("design", "kube-scheduler", beside=True, share=7), "share: 7: must be between 0 and 1"),
    (lambda c: c.upgrade("design", "kube-scheduler", beside=True, share=0.7), "share: 0.7: only a second API server"),
    (lambda c: c.upgrade("design", "kube-apiserver", share=0.7), "share: 0.7: only a second API server"),
])
def test_what_is_wrong_is_named(act, words):
    """Unknown components, gates and shares are refused, and nothing has changed."""
    c = small()
    before = c.digest()
    with pytest.raises(ValueError) as caught:
        act(c)
    assert words in str(caught.value)
    assert (before, 0) == (c.digest(), c.world.known_steps)


def test_patches_through_two_servers_are_drawn_alike():
    """Which server answers depends on seed and request alone: equal runs, and another seed gives others."""
    def run(seed):
        c = scenario("zonal-example", "upstream", seed=seed)
        c.apply(pod("gated", gates=("g",)))
        c.upgrade({GATE: False}, "kube-apiserver", beside=True, share=0.5)
        for number in range(10):
            refusal(patch, c, "pod/gated", spec={"nodeSelector": {f"example.com/n{number}": "x"}})
        return [row.code for row in c.requests(verb="PATCH")]

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_what_an_upgrade_changed_is_told():
    """The last step's changes name the rules, who leads, and until when a server is out."""
    c = small()
    c.upgrade("design")
    assert "+ note world every component rules: none → design" in repr(c.changes())
    c.upgrade("upstream", component="kube-scheduler", beside=True)
    assert "rules: none → design and upstream, " in repr(c.changes())
    c.outage(seconds=3)
    assert "outages: none → kube-apiserver until t=3 s" in repr(c.changes())


# --- the same objects under other rules --------------------------------------------------------------------------------


def test_under_other_rules_a_cluster_starts_as_this_one_did():
    """After a run, `under` gives the objects of the start: as if they had been loaded with those rules at once."""
    for rules, others in (("upstream", "design"), ("design", "upstream")):
        c, wanted = (scenario("zonal-example", each, seed=7) for each in (rules, others))
        c.run()
        before = c.digest()
        other = c.under(others)

        assert (wanted.digest(), before) == (other.digest(), c.digest())
        wanted.run()
        other.run()
        assert wanted.digest() == other.digest()


def test_under_keeps_what_belongs_to_the_cluster():
    """Webhooks, controllers of your own and dials stay, but for dials that the other rules do not know."""
    dials = {"kube-scheduler": {"fine": True, "bind_timeout": 60.0}, "kubelet": {"start_delay": 3.0}}
    c = scenario("zonal-example", "upstream", **dials)
    c = c.with_webhook(validate=lambda _new, _old: True).with_controller("labeller", ["Pod"], lambda _seen, _ref: None)
    other = c.under(revision_named("design"), name="old")

    assert ("old", "design") == (other.name, other.revision.name)
    assert ["policy.example.com"] == [each.name for each in other.first_rules.webhooks]
    assert "labeller" in other.world.processes
    assert {"kube-scheduler": {"fine": True}, "kubelet": {"start_delay": 3.0}} == other.components


def test_the_panel_takes_rules_by_name():
    """`c.lab(beside=...)` means `c.under(...)`; an unknown name is an error that lists those that there are."""
    c = scenario("zonal-example", "upstream")

    assert c.lab(beside=c.under("design")).reading() == c.lab(beside="design").reading()
    for ask in (c.under, lambda name: c.lab(beside=name)):
        with pytest.raises(KeyError, match=r"no revision is called 'desing'; .*; did you mean design"):
            ask("desing")


def test_the_controllers_of_one_process_crash_together():
    """kube-controller-manager is one process: all its controllers lose their notes in one step, and nobody else does."""
    c = scenario("zonal-example", "design")
    c.run("pvc/my-pvc Bound")
    before = {note.component for note in c.world.log.notes}
    step = c.crash("kube-controller-manager")
    lost = before - {note.component for note in c.world.log.notes}
    assert {"persistent-volume-binder", "kubernetes.io/gce-pd"} <= lost
    assert {"kube-scheduler", "kubelet"}.isdisjoint(lost)
    assert (1, 1) == (len({turn.step for turn in step.turns}), len(step.lines))
    c.run()
    assert "Running" == c["pod/my-pod"].status.phase


def test_a_process_steps_is_refused_and_crashes_by_its_name():
    """`step`, `refuse` and the explorer's Crash take kube-controller-manager as `crash` does: all its controllers."""
    manager = "kube-controller-manager"
    c = scenario("zonal-example", "design")
    assert {turn.component for turn in c.step(manager).turns if turn.actor} == {"persistent-volume-binder"}
    assert not c.step(manager)
    assert "write 1 of each component of kube-controller-manager" in repr(c.refuse(manager))
    run = c.run("my-pod Running")
    refused = {turn.component for step in run.steps for turn in step.turns for each in turn.outcomes if hasattr(each, "reason")}
    assert {"persistent-volume-binder", "kubernetes.io/gce-pd"} == refused
    found = explore(scenario("zonal-example", "design"), goal="my-pod Running", faults=[Crash(manager)], progress=False)
    assert found.exhausted
    assert "kube-controller-manager crashes, once" in repr(found)


def test_two_managers_are_known_by_the_name_of_their_process():
    """After a second kube-controller-manager, its crash elects one leader for all controllers, as the rules in words say.

    That a controller alone has crashed before, and so elected its own, changes nothing of it.
    """
    c = scenario("zonal-example", "design", seed=3)
    c.upgrade("upstream", "kube-controller-manager", beside=True)
    leaders = set()
    for _ in range(6):
        c.crash("PV controller")
        assert repr(c.crash("kube-controller-manager")).count("leads") == 1
        leaders |= set(re.findall(r"kube-controller-manager: design and upstream \((\w+) leads\)", repr(c)))
    assert {"design", "upstream"} == leaders


def test_a_paused_process_pauses_all_its_controllers():
    """A delay of kube-controller-manager lets no controller of it act meanwhile; the scheduler goes on."""
    c = scenario("zonal-example", "design")
    c.delay("kube-controller-manager", 20)
    c.run(seconds=60)
    writers = {row.by for row in c.requests() if row.time < 20} - {"kubelet", "user"}
    assert {"kube-scheduler"} == writers
    assert "Running" == c["pod/my-pod"].status.phase
