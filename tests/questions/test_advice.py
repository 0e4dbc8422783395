"""What `fix` advises first, and what it never offers: clusters that people posted, incidents, scenarios and dumps."""

from functools import cache
from pathlib import Path

import pytest
from waiting_pods import cluster_of, waiting_pod

from kvolsched import Cluster, make
from kvolsched.questions.fix.advice import CLASSES, NEVER, ORDER, USUAL, worst
from kvolsched.questions.near_names import near_misses

HERE = Path(__file__).parent
ROWS = [line.split("\t") for line in (HERE / "advice.tsv").read_text().splitlines() if not line.startswith("#")]
DAEMONSET_POD, BUDGET, STATIC_POD = "extra-daemonset", "extra-pdb", "extra-static-pod"


@cache
def fixes_of(name, pod):
    """Return what is advised for a pod of a row's cluster, found once."""
    cluster = cluster_of(name)
    return cluster.fix(waiting_pod(cluster, pod))


@pytest.mark.parametrize(("name", "pod", "first", "names", "never"), ROWS, ids=[f"{row[0]}-{row[1]}" for row in ROWS])
def test_the_right_action_stands_first_and_nothing_forbidden_is_offered(name, pod, first, names, never):
    """The first fix has an edit of the expected kind on the expected object; none of the forbidden kinds is told."""
    fixes = fixes_of(name, pod)
    offered = {kind for fix in fixes for kind in fix.kinds}

    assert set(first.split("|")) & set(fixes[0].kinds), fixes
    assert names in fixes[0].words
    assert not offered & set(never.split("|")), fixes
    assert NEVER not in {fix.letter for fix in fixes}
    assert len(fixes) <= 5


@pytest.mark.parametrize("name", [DAEMONSET_POD, BUDGET, STATIC_POD])
def test_pods_that_must_stay_are_never_moved(name):
    """No DaemonSet's pod, no pod whose budget allows no disruption, no static pod is deleted for another pod."""
    cluster = cluster_of(f"own/{name}")
    for pod in (pod for pod in cluster.objects("pods") if not pod.spec.node_name):
        fixes = cluster.fix(f"{pod.metadata.namespace}/{pod.metadata.name}")
        assert not {"delete pods", "move pods"} & {kind for fix in fixes for kind in fix.kinds}, fixes


def test_fixes_come_in_the_order_of_their_classes():
    """What restores comes before what corrects, and so on; a fix has the class of its worst edit."""
    for name, pod, *_ in ROWS[::4]:
        letters = [fix.letter for fix in fixes_of(name, pod)]
        assert sorted(letters, key=ORDER.index) == letters, name
    assert "G" == worst("AGC")
    assert set(USUAL.values()) <= set(CLASSES)


def test_a_card_says_who_does_what_and_what_it_costs():
    """The template of the workload is changed; the command says so, and that all replicas start anew."""
    cluster = cluster_of("own/17-spread-over-tainted-host")
    first = cluster.fix(waiting_pod(cluster, "web"))[0]

    assert ("owner of the workload", "kept", "yes") == (first.who, first.data, first.lasts)
    assert first.do.startswith("kubectl patch deployment web -n default --type=json -p '[{")
    assert "all 3 replicas of Deployment web, one after another" == first.restarts
    assert "of Deployment web, 3 waited, 0 wait" in first.tried
    assert "+        nodeTaintsPolicy: Honor" in first.diff


@pytest.mark.parametrize(("name", "pod", "number"), [
    ("own/17-spread-over-tainted-host", "web", 0), ("own/08-selector-typo", "db", 0), ("own/03-cordoned-for-upgrade", "web", 0),
    ("own/07-unit-typo", "api", 0), ("inc/update-cannot-begin", "web", 0), ("inc/no-default-class", "web-0", 0),
])  # fmt: skip
def test_the_command_of_a_card_does_what_the_fix_does(name, pod, number):
    """Given to kubectl, the line changes the cluster as `.apply` does; the line that takes it back restores it."""
    cluster = cluster_of(name)
    found = cluster.fix(waiting_pod(cluster, pod))[number]
    mine, typed = cluster.fork("mine"), cluster.fork("typed")
    found.apply(mine)
    for line in found.do.split("; "):
        typed.kubectl(line.removeprefix("kubectl "))
    changed = [change.key for change in found.changes]

    assert all(mine.world.log.objects[key].metadata.labels == typed.world.log.objects[key].metadata.labels for key in changed)
    assert [getattr(mine.world.log.objects[key], "spec", None) for key in changed] == [
        getattr(typed.world.log.objects[key], "spec", None) for key in changed]  # fmt: skip
    for line in found.undo.split("; "):
        typed.kubectl(line.removeprefix("kubectl "))
    assert [getattr(change.old, "spec", None) for change in found.changes] == [
        getattr(typed.world.log.objects[key], "spec", None) for key in changed]  # fmt: skip


def test_what_no_client_can_do_is_tried_and_not_applied():
    """A machine that comes back is a hypothesis: the fork has it, `.apply` refuses."""
    cluster = cluster_of("own/01-unreachable-only-node")
    found = cluster.fix(waiting_pod(cluster, "keeper"))[0]

    assert "n1" == found.try_it().node
    assert "" == found.diff
    with pytest.raises(ValueError, match="no write does this, somebody must: Bring n1 back"):
        found.apply(cluster.fork())


def test_lost_data_is_said_in_capitals():
    """Deleting claim and pod says what becomes of the files, and cannot be taken back."""
    cluster = cluster_of("inc/disk-outlives-its-node")
    last = list(cluster.fix("db-0"))[-1]

    assert ("H", "none") == (last.letter, last.undo)
    assert last.data.startswith("EMPTY VOLUME: pvc-")
    assert last.data.endswith("(10Gi, Delete) is GONE with its claim")


def test_only_what_costs_others_is_announced():
    """Where nothing harmless helps, the headline says so first."""
    cluster = cluster_of("inc/two-disks-two-zones")

    assert "nothing harmless helps; what is left costs others something" == cluster.fix("web-0").headline


def test_what_the_trial_refutes_is_one_line():
    """A soft anti-affinity cannot roll out beside pods that still refuse each other: it is told as tried, not as a fix."""
    cluster = cluster_of("own/16-anti-affinity-replicas-exceed-nodes")
    fixes = cluster.fix(waiting_pod(cluster, "web"))

    assert "soften spread" not in {kind for fix in fixes for kind in fix.kinds}
    assert "tried, does not help: Set the podAntiAffinity over kubernetes.io/hostname as a preference" in repr(fixes)


@pytest.mark.parametrize(("name", "there", "near"), [
    ("fast-sdd", ["fast-ssd", "slow"], ["fast-ssd"]),
    ("grafana-dat", ["grafana-data", "data"], ["grafana-data"]),
    ("sdd", ["hdd", "ssd", "nvme"], ["ssd", "hdd"]),
    ("imports", ["reports"], []),
    ("zone-a", ["zone-b", "zone-c"], []),
    ("web-1", ["web-2", "web-0"], []),
    ("a", ["b"], []),
])  # fmt: skip
def test_names_that_somebody_nearly_wrote(name, there, near):
    """A slip of the pen is near; another zone, another replica and another word are not."""
    assert near == near_misses(name, there)


def test_a_helm_release_is_changed_in_its_chart():
    """What Helm manages is written back by the next upgrade: the card says where to change it."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {
        "containers": [{"name": "c", "image": "i"}], "nodeSelector": {"disktype": "sdd"}}}  # fmt: skip
    web = {"apiVersion": "apps/v1", "kind": "Deployment",
           "metadata": {"name": "web", "labels": {"app.kubernetes.io/managed-by": "Helm"}},
           "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template}}  # fmt: skip
    cluster = Cluster.from_manifests([make.node("n1", labels={"disktype": "ssd"}), web])
    cluster.run()

    assert "change it in Helm, or it is written back" == cluster.fix(waiting_pod(cluster, "web"))[0].lasts


def test_a_machine_is_not_changed_under_a_budget_and_names_whom_a_drain_loses():
    """No larger machine where a drain never ends; elsewhere its card says whose pods stop, and which nobody makes again."""
    assert "larger machine" not in {kind for fix in fixes_of(f"own/{BUDGET}", "api") for kind in fix.kinds}
    larger = next(fix for fix in fixes_of("own/02-disk-pressure", "nginx") if "larger machine" in fix.kinds)
    assert "every pod of n2" in larger.restarts
    assert "drain stops at pod/busy-n2" in " ".join(larger.notes)


def test_a_claim_template_is_mended_before_the_claim_goes():
    """What to type is one procedure: the file first, then the set without its pods, pod and claim, and the set anew."""
    first = fixes_of("own/13-class-typo", "web-0")[0]
    places = [first.do.index(words) for words in (
        "correct volumeClaimTemplates", "--cascade=orphan", "delete pod web-0", "delete pvc data-web-0", "apply -f web.yaml")]
    assert sorted(places) == places
    assert first.do.count("delete") == 3


def test_data_are_kept_before_their_claim_goes():
    """A snapshot is ready and the policy Retain before the claim is deleted; a set of one replica has no other copy."""
    fixes = fixes_of("own/12-zone-node-cordoned", "db-0")
    snapshot = next(fix for fix in fixes if "restore snapshot" in fix.kinds)
    places = [snapshot.do.index(words) for words in ("readyToUse", "Retain on pv", "--cascade=orphan", "delete pvc", "apply -f")]
    assert sorted(places) == places
    assert "NO OTHER COPY" in " ".join(next(fix for fix in fixes if "delete claim" in fix.kinds).notes)
