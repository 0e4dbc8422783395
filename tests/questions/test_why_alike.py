"""Pods that are judged alike are judged once: the answers are those of each pod, and a page shows the largest causes."""

from functools import cache

import attrs
import pytest
from api.big_dump import CAUSES, big_dump
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from manifests import claim, node, pod
from scheduler.strategies import clusters, pending

from kvolsched import Cluster, make, scenario
from kvolsched.api.text.manifest import from_plain
from kvolsched.cli import main
from kvolsched.questions.why import asking
from kvolsched.questions.why.alike import what_decides
from kvolsched.rules.releases.design_documents import design_profile
from kvolsched.rules.releases.kubernetes_1_36 import upstream_profile
from kvolsched.scheduler.columns.attachments import Attachments
from kvolsched.scheduler.columns.column import LabelColumn
from kvolsched.scheduler.columns.pod_counts import PodCounts
from kvolsched.scheduler.columns.snapshot import snapshot
from kvolsched.scheduler.columns.storage_capacities import StorageCapacities
from kvolsched.scheduler.framework.judgement import judge
from kvolsched.scheduler.framework.verdict import OK
from kvolsched.views.pages.why_causes import draw

EACH = 4  # pods of each cause


def waiting():
    """Return a cluster in which so many pods of each cause wait, and one that fits."""
    return Cluster.from_manifests(big_dump(30, 60, pending=EACH * len(CAUSES)))


@cache
def answered():
    """Return it once, with its answers."""
    cluster = waiting()
    return cluster, cluster.why()


@pytest.fixture
def judged(monkeypatch):
    """The pods that are judged, in order."""
    found, judge_one = [], asking.judge_without_node

    def judge_and_note(pod, seen, profile):
        found.append(pod.metadata.name)
        return judge_one(pod, seen, profile)

    monkeypatch.setattr(asking, "judge_without_node", judge_and_note)
    return found


def test_pods_that_are_alike_are_judged_once(judged):
    """One pod of each cause is judged; pods of which each has a volume of its own are judged each."""
    cluster = waiting()
    cluster.why()
    of_one_cause = [sum(name.startswith(f"waits-{cause.replace(' ', '-')}-") for name in judged) for cause in CAUSES]
    assert [EACH if cause == "far volume" else 1 for cause in CAUSES] == of_one_cause


def test_what_kubectl_applied_last_makes_no_claim_another_one(judged):
    """Claims that differ in the copy of their manifest that `kubectl apply` keeps are alike, those with another note are not."""
    for key, count in (("kubectl.kubernetes.io/last-applied-configuration", 1), ("example.com/note", 3)):
        claims = [{**claim(f"data-{number}", "9Gi", "none"), "metadata": {"name": f"data-{number}", "annotations": {key: f"data-{number}"}}}
                  for number in range(3)]
        Cluster.from_manifests([node("n1"), *claims, *(pod(f"web-{number}", f"data-{number}") for number in range(3))]).why()

        assert count == len(judged)
        judged.clear()


def test_each_pod_has_its_own_answer():
    """The answer of a pod that was not judged is the one that asking for it gives, with its own names."""
    cluster, answers = answered()
    assert [repr(cluster.why(answer.pod)) for answer in answers] == [repr(answer) for answer in answers]
    assert list(answers) == list(answers.answers[:])
    lost = next(answer for answer in answers if answer.pod.startswith("team-0/waits-lost-claim-00039"))
    assert "waits-00039" in lost.sentence


def test_pods_that_differ_for_a_placed_one_are_judged_apart():
    """A label that only the anti-affinity of a pod on a node reads keeps one of two pods away, and not the other one."""
    placed = make.pod("cache", running_on="n0", affinity=make.apart(app="web"))
    cluster = Cluster.from_manifests([make.node("n0"), placed, *(make.pod(app, labels={"app": app}, cpu="9") for app in ("db", "web"))])
    answers = cluster.why()

    assert ["default/db", "default/web"] == sorted(answer.pod for answer in answers)
    assert [repr(cluster.why(answer.pod)) for answer in answers] == [repr(answer) for answer in answers]


def test_causes_say_that_their_pods_are_alike():
    """A cause of pods that are judged alike says how many, and names no claim of one of them."""
    _, answers = answered()
    lines = {cause.pods[0].split("/")[1].rpartition("-")[0]: repr(cause) for cause in answers.causes}
    assert ("The claim finds no volume of class pools (class pools: 10Gi > 5Gi) – 4 pods alike: team-0/waits-full-pools-00007"
            in lines["waits-full-pools"])  # fmt: skip
    assert "VolumeRestrictions: The claim does not exist in namespace team-0 – 4 pods alike" in lines["waits-lost-claim"]
    assert "alike" not in lines["waits-far-volume"]


def test_a_page_has_the_causes_of_most_pods(tmp_path):
    """`most` causes are printed, drawn, and printed by the command line; the others are counted."""
    cluster, answers = answered()
    few = cluster.why(most=2)
    pods, rest = sum(map(len, few.causes[2:])), len(few.causes) - 2
    counted = [line.split()[0] for line in repr(few).splitlines() if line[:4].strip().isdigit()]
    assert [str(len(few.causes[0])), str(len(few.causes[1])), str(pods)] == counted
    assert f"{pods}  of {rest} more causes" in repr(few)
    assert f"{pods} pods of {rest} more causes" in draw(few)
    assert answers.causes == few.causes
    with pytest.raises(ValueError, match="most is 0"):
        cluster.why(most=0)
    (tmp_path / "dump.yaml").write_text(cluster.manifests())
    printed = CliRunner().invoke(main, ["why", str(tmp_path / "dump.yaml"), "--most", "2"]).output
    assert repr(few).replace("`.causes`, or a larger `most`", "a larger --most") == printed.rstrip()


@pytest.mark.parametrize(("owner", "name", "call"), [
    (asking, "judge_without_node", 6), (Attachments, "_use", 3), (LabelColumn, "write", 40), (StorageCapacities, "_compute", 1),
    (PodCounts, "_compute", 1),
])  # fmt: skip
def test_an_interrupt_leaves_no_half_of_anything(monkeypatch, owner, name, call):
    """Asked again after an interrupt, be it while something is built that later questions share, all is answered."""
    cluster, whole, calls = waiting(), getattr(owner, name), []

    def interrupted(*args, **options):
        calls.append(name)
        if len(calls) == call:
            raise KeyboardInterrupt
        return whole(*args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            cluster.why()
    assert repr(answered()[1]) == repr(cluster.why())


@settings(max_examples=40)
@given(clusters, pending, st.data())
def test_what_decides_alike_is_judged_alike(objects, pod, data):
    """A pod that differs in name, labels and the names of equal claims gets the verdicts of the other, if they are alike."""
    pod = attrs.evolve(pod, spec=attrs.evolve(pod.spec, node_name=""))
    twins = {claim.metadata.name: attrs.evolve(claim, metadata=attrs.evolve(claim.metadata, name=f"{claim.metadata.name}-twin", uid="twin"))
             for claim in objects if claim.kind == "PersistentVolumeClaim"}  # fmt: skip
    labels = pod.metadata.labels.merged({data.draw(st.sampled_from(["app", "tier", "own"])): data.draw(st.sampled_from(["x", "y", "z"]))})
    twin = attrs.evolve(
        pod, metadata=attrs.evolve(pod.metadata, name="twin", uid="twin", labels=labels),
        spec=attrs.evolve(pod.spec, volumes=tuple(_with_claim_of(volume, twins) for volume in pod.spec.volumes)),
    )  # fmt: skip
    seen = snapshot([*objects, *twins.values()])
    for profile in (upstream_profile(), design_profile()):
        decides = what_decides(pod, "", seen, profile)
        assume(decides is not None and decides == what_decides(twin, "", seen, profile))
        one, other = judge(pod, seen, profile), judge(twin, seen, profile)
        assert (one.rejected_by is None) == (other.rejected_by is None)
        if one.rejected_by is None:
            assert one.fingerprint == other.fingerprint


def _with_claim_of(volume, twins):
    source = volume.persistent_volume_claim
    if source is None or source.claim_name not in twins:
        return volume
    name = twins[source.claim_name].metadata.name
    return attrs.evolve(volume, persistent_volume_claim=attrs.evolve(source, claim_name=name))


def test_a_workload_without_pods_is_no_answer(tmp_path):
    """Manifests of a Deployment alone have no pod that could wait: the answer says so, and `--fix` prints it, too."""
    path = tmp_path / "mine.yaml"
    path.write_text(scenario("zones").written("nodes", "deploy/web"))
    told = repr(Cluster.from_manifests(path).why())
    ran = Cluster.from_manifests(path)
    ran.run()

    assert told.startswith("No pod waits for a node: deploy/web has no pods yet. c.run() lets")
    assert repr(ran.why()) == "No pod waits for a node."
    for more in ((), ("--fix",)):
        printed = CliRunner().invoke(main, ["why", str(path), *more]).output.strip()
        assert printed == f"{told.partition('c.run()')[0]}`kvolsched check` makes them of manifests."


def decides(plain, *objects, said="", profile=None):
    """Return what decides on a pod, beside a node and these objects."""
    return what_decides(from_plain(plain), said, snapshot(map(from_plain, (make.node("n1"), *objects))), profile or upstream_profile())


def changed(plain, **fields):
    """Return a pod with other fields of its spec."""
    return plain | {"spec": plain["spec"] | fields}


def with_container(plain, group="containers", **fields):
    """Return a pod whose container has other fields."""
    return changed(plain, **{group: [plain["spec"]["containers"][0] | fields]})


WEB, TOKENS = make.pod("web-0", labels={"app": "web"}), [{"name": f"kube-api-access-{each}", "projected": {"sources": []}} for each in "ab"]
MOUNTS = [{"name": "v", "mountPath": f"/{each}"} for each in "ab"]
LIKES = make.together(app="web")
LIKES["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0] |= {"mismatchLabelKeys": ["tier"]}
EXPRESSION = make.apart()
EXPRESSION["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]["labelSelector"] = {
    "matchExpressions": [{"key": "tier", "operator": "Exists"}]}
BY_VERSION = {"topologySpreadConstraints": [{**make.spread(app="web"), "matchLabelKeys": ["version"]}]}


@pytest.mark.parametrize(("one", "other", "alike"), [
    (WEB, make.pod("web-1", labels={"app": "web"}), True), (WEB, make.pod("web-1", labels={"app": "db", "x": "y"}), True),
    (WEB, make.pod("web-0", namespace="shop"), False), (WEB, make.pod("web-0", cpu="2"), False),
    (changed(WEB, hostname="a", subdomain="b"), changed(WEB, hostname="c", subdomain="d"), True), (changed(WEB, hostname="a"), WEB, True),
    (changed(WEB, priorityClassName="a"), changed(WEB, priorityClassName="b"), False), (changed(WEB, restartPolicy="Never"), WEB, False),
    (changed(WEB, volumes=TOKENS[:1]), changed(WEB, volumes=TOKENS[1:]), True),
    (changed(WEB, volumes=[{"name": "a", "emptyDir": {}}]), changed(WEB, volumes=[{"name": "b", "emptyDir": {}}]), False),
    (with_container(WEB, volumeMounts=MOUNTS[:1]), with_container(WEB, volumeMounts=MOUNTS[1:]), True),
    (with_container(WEB, "initContainers", volumeMounts=MOUNTS[:1]), with_container(WEB, "initContainers", volumeMounts=MOUNTS[1:]), True),
    (with_container(WEB, image="a"), with_container(WEB, image="b"), False),
    (with_container(WEB, "initContainers", image="a"), with_container(WEB, "initContainers", image="b"), False),
    (changed(WEB, **BY_VERSION), make.pod("web-1", labels={"app": "db"}, **BY_VERSION), False),
    *((make.pod(labels={"app": "web", key: "1"}, **BY_VERSION), make.pod(labels={"app": "web", key: "2"}, **BY_VERSION), alike) for key, alike in (
        ("version", False), ("other", True))),
    *((make.pod(labels={key: "1"}, affinity=LIKES), make.pod(labels={key: "2"}, affinity=LIKES), alike) for key, alike in (
        ("app", False), ("tier", False), ("other", True))),
    *((make.pod(labels={key: "1"}, affinity=EXPRESSION), make.pod(labels={key: "2"}, affinity=EXPRESSION), alike) for key, alike in (
        ("tier", False), ("app", True))),
])  # fmt: skip
def test_pods_that_differ_in_what_nobody_reads_are_alike(one, other, alike):
    """Names, hostnames, tokens, mounts, and labels that no selector of the pod itself reads; all else is told apart."""
    assert alike == (decides(one) == decides(other))


def test_labels_that_placed_pods_and_services_read_are_told_apart():
    """A term of a pod on a node, and the selector of a Service that owns one of the pods, may read any label."""
    placed = make.pod("on", running_on="n1", affinity=EXPRESSION)
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": {"app": "web"}}}
    one, other = make.pod(labels={"app": "web", "tier": "a"}), make.pod(labels={"app": "db", "tier": "b"})

    assert decides(one) == decides(other)
    assert decides(one, placed) != decides(other, placed)
    assert decides(make.pod(labels={"tier": "a", "x": "1"}), placed) == decides(make.pod(labels={"tier": "a", "x": "2"}), placed)
    assert decides(one, service) != decides(other, service)
    assert decides(one, said="1 node") != decides(one, said="2 nodes")


def noted(name, **annotations):
    """Return a claim with annotations."""
    return make.claim(name, annotations=annotations)


ONE, TWO = make.pod("p0", "data-0"), make.pod("p1", "data-1")


@pytest.mark.parametrize(("objects", "alike"), [
    ([], True), ([make.claim("data-0")], False), ([make.claim("data-0"), make.claim("data-1")], True),
    ([make.claim("data-0"), make.claim("data-1", "9Gi")], False), ([noted("data-0", a="1"), noted("data-1", a="2")], False),
    ([noted("data-0", **{"kubectl.kubernetes.io/last-applied-configuration": "1"}), make.claim("data-1")], True),
    ([make.claim("data-0"), make.claim("data-1") | {"status": {"phase": "Lost"}}], False), ([make.claim("data-0"), make.claim("data-1", bound="v")], None),
    ([make.claim("data-0"), make.claim("data-1", volumeName="v")], None), ([make.claim("data-0"), make.claim("data-1"), make.volume(claim="data-1")], None),
    ([make.claim("data-0"), make.claim("data-1"), make.pod("on", "data-1", running_on="n1")], None),
])  # fmt: skip
def test_claims_are_alike_while_nothing_is_special_about_them(objects, alike):
    """Missing ones, and unbound ones of equal fields; one that is bound, used by a placed pod or waited for by a volume is judged alone."""
    one, other = decides(ONE, *objects), decides(TWO, *objects)

    assert (alike is None) == (other is None)
    assert one is not None
    assert bool(alike) == (one == other)


def test_the_order_of_a_pods_claims_counts():
    """The scheduler binds claims in the order of their names, so pods whose claims sort otherwise are told apart; a message is without names."""
    claims = [make.claim(name) for name in "abcd"]
    going = make.claim("b")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    assert decides(make.pod("p", "a", "b"), *claims) == decides(make.pod("q", "c", "d"), *claims) != decides(make.pod("q", "d", "c"), *claims)
    assert decides(make.pod("p", "a"), *claims, said='claim "a" is lost') == decides(make.pod("p", "b"), *claims, said='claim "b" is lost')
    assert decides(make.pod("p", "a"), *claims, said="claim a is lost") != decides(make.pod("p", "b"), *claims, said="claim b is lost")
    assert decides(make.pod("p", "a"), *claims[:1], going) != decides(make.pod("p", "b"), *claims[:1], going)


def test_some_pods_are_judged_by_themselves():
    """One that is nominated to a node, one with an ephemeral volume, and one with claims where a plugin is somebody's own."""
    own = upstream_profile().with_plugin(type("Own", (), {"name": "Own", "rule": lambda *_: OK})())
    scratch = [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": make.claim()["spec"]}}}]

    assert [None] * 3 == [decides(make.pod(status={"nominatedNodeName": "n1"})), decides(make.pod(volumes=scratch)), decides(ONE, profile=own)]
    assert decides(WEB, profile=own) == decides(make.pod("web-1", labels={"app": "web"}), profile=own)
    for other in (make.pod("web-1"), make.pod("web-1", labels={"app": "web"}, namespace="shop"), make.pod("web-1", labels={"app": "web"}, cpu="3")):
        assert decides(WEB, profile=own) != decides(other, profile=own)
    assert decides(WEB, profile=own, said="a") != decides(WEB, profile=own, said="b")
