"""What `fix` advises first, and what it never offers: clusters that people posted, incidents, scenarios and dumps."""

from functools import cache
from pathlib import Path

import pytest
from waiting_pods import cluster_of, waiting_pod

from kvolsched import Cluster, decode, incidents, make
from kvolsched.api.notebook_output import IN_TERMINAL
from kvolsched.questions.fix.edit import (
    CLASSES,
    NEVER,
    ORDER,
    USUAL,
    Edit,
    ObjectChange,
    OutsideAct,
    combined,
    commands,
    worst,
)
from kvolsched.questions.near_names import near_misses
from kvolsched.questions.why import pending
from kvolsched.scheduler.plugins.taint_toleration import STATES

HERE = Path(__file__).parent
ROWS = [line.split("\t") for line in (HERE / "advice.tsv").read_text().splitlines() if not line.startswith("#")]
CURES = dict(line.split("\t") for line in (HERE / "cures.tsv").read_text().splitlines() if not line.startswith("#"))
# Incidents whose first cure is not among the first two cards, and why.
OTHER_CURES = {
    "both-disks-on-one-node": "it begins anew with a class that waits; on the running cluster that gives up the data, and a wish does not",
    "one-pod-holds-all-disks": "it deletes another pod, for which a node is added first",
    "two-volumes-one-pool": "it begins anew with two smaller claims; its second cure, more room, stands first",
    "volume-before-node": "it begins anew with a class that waits; on the running cluster that gives up the data, and a node there does not",
    "one-more-term-is-wider": "it is about what a gated pod may become, and the pod waits for its gate",
}
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
    assert ("G", "W") == (worst("AGC"), worst(""))
    assert set(USUAL.values()) <= set(CLASSES)


def test_a_card_says_who_does_what_and_what_it_costs():
    """The template of the workload is changed; the command says so, and that all replicas start anew."""
    cluster = cluster_of("own/17-spread-over-tainted-host")
    first = cluster.fix(waiting_pod(cluster, "web"))[0]

    assert ("owner of the workload", "kept", "kept") == (first.who, first.data, first.promises)
    assert "applied again" in first.lasts
    assert first.do.startswith("kubectl patch deployment web -n default --type=json -p '[{")
    assert "the 3 running pods of Deployment web" == first.restarts
    assert "wait as before" in first.undo
    assert "of Deployment web, 3 waited, none waits then" in first.tried
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
    for line in found.do.splitlines():
        typed.kubectl(line.removeprefix("kubectl ").partition("   #")[0])
    changed = [change.key for change in found.changes]

    assert all(mine.world.log.objects[key].metadata.labels == typed.world.log.objects[key].metadata.labels for key in changed)
    assert [getattr(mine.world.log.objects[key], "spec", None) for key in changed] == [
        getattr(typed.world.log.objects[key], "spec", None) for key in changed]  # fmt: skip
    for line in found.undo.splitlines():
        typed.kubectl(line.removeprefix("kubectl ").partition("   #")[0])
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


def test_a_copy_is_offered_where_a_claim_would_go_with_its_data():
    """Beside deleting the claim: a snapshot becomes a claim of the same name, and nobody makes an empty one meanwhile."""
    cluster = cluster_of("inc/zone-lost-volume-stays")
    copy, = [fix.edits[0] for fix in cluster.fix("db-0") if fix.kinds == ("restore snapshot",)]
    volume, = (each.metadata.name for each in cluster.objects("pv"))

    assert f"Restore a snapshot of {volume} as a new claim data-db-0 where nodes are" == copy.words
    assert f"{volume} KEEPS the original files" in copy.data
    steps = copy.do.splitlines()
    assert "keep db.yaml" in steps[0]
    assert [
        f"""kubectl patch pv {volume} -p '{{"spec":{{"persistentVolumeReclaimPolicy":"Retain"}}}}'""",
        "kubectl delete statefulset db -n default --cascade=orphan", "kubectl delete pod db-0 -n default",
        "kubectl delete pvc data-db-0 -n default",
    ] == steps[1:5]  # fmt: skip
    assert ("data-db-0", "kubectl apply -f db.yaml") == (steps[5].split()[2], steps[6])


def test_lost_data_is_said_in_capitals():
    """Deleting claim and pod keeps the volume first, says what becomes of the files, and how they come back."""
    cluster = cluster_of("inc/disk-outlives-its-node")
    last = list(cluster.fix("db-0"))[-1]

    assert last.letter == "H"
    assert "with volumeName: pvc-" in last.undo
    assert last.data.startswith("EMPTY VOLUME: ")
    assert "would be GONE" in last.data
    assert ["patch", "delete", "delete"] == [line.split()[1] for line in last.do.splitlines()]
    assert ["Released"] == [each.status.phase for each in last.fork.objects("pv") if each.status.phase != "Bound"]


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


@pytest.mark.parametrize(("name", "pod"), [
    (f"own/{BUDGET}", "api"), ("own/02-disk-pressure", "nginx"), ("own/10-gpus-taken", "train-b"), (f"own/{STATIC_POD}", "api")])
def test_a_machine_is_not_changed_where_its_drain_ends_something(name, pod):
    """No larger machine where a budget refuses the drain, for a pod that nobody makes again, or for the control plane."""
    assert "larger machine" not in {kind for fix in fixes_of(name, pod) for kind in fix.kinds}


def test_a_new_node_does_not_help_where_all_are_in_one_state():
    """Where all nodes wait for the network plugin or the cloud controller, a new one would, too."""
    assert ["bring back"] == [kind for fix in fixes_of("own/04-no-cni-yet", "coredns") for kind in fix.kinds]
    first, = fixes_of("own/31-cloud-not-initialised", "coredns")
    assert ["n1", "n2"] == [change.key.name for change in first.changes]


def test_the_limit_of_pods_is_the_kubelets():
    """Too many pods on a node is ended by its kubelet's maxPods, for all pods that wait, and by fewer replicas."""
    cards = fixes_of("own/47-too-many-pods", "web")

    assert ["raise maxPods", "add node", "scale down"] == [kind for fix in cards for kind in fix.kinds]
    assert 0 == cards[0].try_it().waits


def test_a_claim_template_is_mended_before_the_claim_goes():
    """What to type is one procedure: the file first, then the set without its pods, pod and claim, and the set anew."""
    first = fixes_of("own/13-class-typo", "web-0")[0]
    places = [first.do.index(words) for words in (
        "correct volumeClaimTemplates", "--cascade=orphan", "delete pod web-0", "delete pvc data-web-0", "apply -f web.yaml")]
    assert sorted(places) == places
    assert first.do.count("delete") == 3


def test_data_are_kept_before_their_claim_goes():
    """A snapshot is ready and the policy Retain before the claim is deleted; a set of one replica has no other copy."""
    fixes = fixes_of("own/11-zone-without-nodes", "db-0")
    snapshot = next(fix for fix in fixes if "restore snapshot" in fix.kinds)
    places = [snapshot.do.index(words) for words in ("readyToUse", '"Retain"', "--cascade=orphan", "delete pvc", "apply -f")]
    assert sorted(places) == places
    assert "NO OTHER COPY" in " ".join(next(fix for fix in fixes if "delete claim" in fix.kinds).notes)


@pytest.mark.parametrize("name", [found.name for found in incidents()])
def test_the_first_cure_of_an_incident_is_among_the_first_two(name):
    """Where an incident ends with a pod that waits, what it tells to do first is one of the first two cards."""
    waiting = pending(cluster_of(f"inc/{name}"))
    if not waiting:
        assert name not in CURES
        assert name not in OTHER_CURES
        return
    first = [kind for fix in list(fixes_of(f"inc/{name}", waiting[0].split("/")[1]))[:2] for kind in fix.kinds]

    assert (name in CURES) is not (name in OTHER_CURES)
    assert CURES.get(name, "") in first or name in OTHER_CURES, first


def card_of(name, pod, kind):
    """Return the card of a kind of edit for a pod of a posted cluster."""
    return next(fix for fix in fixes_of(f"own/{name}", pod) if kind in fix.kinds)


def test_the_way_back_from_a_claim_begins_with_its_pod():
    """A claim in use stays until no pod has it: the command that makes it anew says so, where it would hang."""
    back = card_of("46-class-of-a-volume-typo", "web", "use class").undo
    assert "replace --force" in back
    assert "delete the pod first" in back


@pytest.mark.parametrize(("name", "pod"), [row[:2] for row in ROWS[::3] if row[0].startswith("own/")])
def test_a_command_is_printed_on_one_line(name, pod):
    """Whatever its length, a command and the one that takes it back stand on a line each, so that it can be pasted."""
    fixes = fixes_of(name, pod)
    printed = [line.strip() for line in repr(fixes).splitlines()]
    for fix in fixes:
        for command in (line for line in (*fix.do.splitlines(), *fix.undo.splitlines()) if line.startswith("kubectl ")):
            assert any(line.endswith(command) for line in printed), command


def test_edits_that_are_combined_keep_what_each_says():
    """What to do, who decides and what becomes of data are told of each edit that is made with another."""
    node = Cluster.from_manifests([make.node("n1")])["node/n1"]
    first = Edit("Start n2", 1, (), "bring back", acts=(OutsideAct("n2 runs"),), do="start the machine n2", data="KEPT")
    second = Edit("Delete n1", 1, (ObjectChange(node, None),), "delete claim", note="nobody misses it")
    fix = type(fixes_of("own/01-unreachable-only-node", "keeper")[0])("default/web", (combined((first, second)),), (), "", asked=None)

    assert "kubectl delete node n1\nstart the machine n2" == fix.do
    assert ("nobody misses it",) == fix.notes
    assert "KEPT" == fix.data
    assert {"operator of the cluster", "owner of the data, in writing"} == set(fix.who.split("; "))


def test_a_volume_by_hand_is_put_where_room_is_and_says_who_waits_next():
    """The disk goes to the empty node; taking it back says what holds it; the next replica lacks one, too."""
    card = card_of("64-one-local-disk-three-replicas", "db", "add volume")

    assert ("n2",) == card.nodes
    assert "pod and claim first" in card.undo
    assert ("default/db-2",) == card.try_it().next


def test_min_domains_is_set_to_the_domains_that_there_are():
    """With two zones, minDomains 3 becomes 2."""
    change, = card_of("36-min-domains", "web", "soften spread").changes

    assert [2] == [each.min_domains for each in change.new.spec.template.spec.topology_spread_constraints]


def test_a_key_that_no_node_has_is_corrected_and_not_softened():
    """A spread over a key that nodes nearly have can never be met: the key is the one thing to change."""
    assert {"use selector"} == {kind for fix in fixes_of("own/40-spread-key-typo", "web") for kind in fix.kinds}


def test_a_new_node_with_devices_has_the_taint_of_those_that_there_are():
    """Where every GPU node is tainted, a new one is, so that it takes no pod without the toleration, and the others do."""
    assert not {"add node", "larger machine"} & {kind for fix in fixes_of("own/50-gpu-node-is-kept", "train") for kind in fix.kinds}
    new = card_of("10-gpus-taken", "train-b", "add node").changes[0].new
    assert ["nvidia.com/gpu"] == [taint.key for taint in new.spec.taints]


def test_another_machine_is_an_image_for_it():
    """Who lets a pod run on other machines is told for which ones its image must be built."""
    assert "amd64" in " ".join(card_of("23-arch", "web", "drop selector").notes)


def test_a_taint_that_no_condition_explains_may_be_stale():
    """Where no condition says that memory is short, the card asks whether the taint is; where one does, it does not."""
    stale, sound = card_of("55-memory-pressure-everywhere", "web", "free a node"), card_of("02-disk-pressure", "nginx", "free a node")

    assert "stale" in " ".join(stale.notes)
    assert "stale" not in " ".join(sound.notes)
    assert stale.do.startswith("kubectl top pod -A --sort-by=memory")
    assert "what is stopped to free it" == stale.restarts


def test_a_class_is_the_operators_to_create():
    """A claim's owner creates no class, and one of a name that looks like a slip says so; its file is shown."""
    fixes = fixes_of("own/13-class-typo", "web-0")
    card = next(fix for fix in fixes if "create class" in fix.kinds)

    assert "operator of the cluster" == card.who
    assert "a slip for fast-ssd" in " ".join(card.notes)
    assert "+++ b/storageclass/fast-sdd.yaml" in repr(fixes)


def test_a_disk_that_is_lost_for_good():
    """Where a machine may be gone with its disk, an empty one is offered with what becomes of the data; first to look."""
    back, empty = fixes_of("own/22-local-pv-of-a-gone-node", "minio-0")

    assert "if the disk survived" in back.data
    assert "its kubelet, restarted, registers it" in back.do
    assert {"delete claim", "add volume"} == set(empty.kinds)
    assert ("H", True) == (empty.letter, empty.data.startswith("EMPTY VOLUME"))


def test_no_data_are_given_up_beside_a_cordon():
    """Where a node is only cordoned, nobody is told to delete a claim."""
    assert {"uncordon", "add node"} == {kind for fix in fixes_of("own/12-zone-node-cordoned", "db-0") for kind in fix.kinds}


def test_what_a_machine_must_have_is_allocatable_and_a_new_one_can_go_again():
    """A machine is larger than what its node lets pods have; who added one drains it to take it back."""
    card = card_of("57-ephemeral-storage", "build", "add node")

    assert "at least 50Gi ephemeral-storage allocatable" in card.words
    assert "drain" in card.undo
    assert "at least 50Gi" in card_of("57-ephemeral-storage", "build", "larger machine").words


@pytest.mark.parametrize(("name", "pod"), [("07-unit-typo", "api"), ("48-cpu-unit-slip", "web")])
def test_a_slip_of_the_unit_needs_no_machine(name, pod):
    """Where a request is larger than any machine, by a unit, nobody buys one for it."""
    assert [fix.kinds for fix in fixes_of(f"own/{name}", pod)] == [("lower request",)]


def test_what_never_ran_is_not_measured():
    """A request may be lowered after a look at what the pods use, or, if none ran, at who knows."""
    assert "none of it ran yet" in repr(card_of("extra-daemonset", "agent", "lower request"))


def test_promises_are_told_where_one_is_broken():
    """A card says what a workload no longer asks for; a slip that is corrected promised nothing."""
    assert "Deployment web asks for 2 replicas instead of 3" == card_of("36-min-domains", "web", "scale down").promises
    assert "kept" == card_of("07-unit-typo", "api", "lower request").promises
    assert "kept" == card_of("57-ephemeral-storage", "build", "add node").promises


def test_a_terminal_is_told_no_python():
    """What a command prints names no method."""
    typed = IN_TERMINAL.set(True)
    try:
        assert "`." not in repr(fixes_of("own/08-selector-typo", "db"))
    finally:
        IN_TERMINAL.reset(typed)
    assert "`.apply(cluster)`" in repr(fixes_of("own/08-selector-typo", "db"))


@pytest.mark.parametrize(("count", "more"), [(1, []), (8, []), (9, ["and 1 more"]), (10, ["and 2 more"])])
def test_more_commands_than_somebody_types_are_counted(count, more):
    """Eight lines are written out; of more objects the first are told, and how many there are besides."""
    nodes = Cluster.from_manifests([make.node(f"n{number}") for number in range(count)]).objects("nodes")
    lines = [f"kubectl delete node n{number}" for number in range(min(count, 8))]

    assert [*lines, *more] == commands([ObjectChange(node, None) for node in nodes])


def test_every_state_of_a_node_has_an_edit_that_ends_it():
    """What a controller's taint says is ended by an edit that the classes know; what somebody set on purpose is not."""
    assert {"", *USUAL} >= {state.mend for state in STATES.values()}
    assert [""] == [state.mend for key, state in STATES.items() if key.startswith("node-role")]


@pytest.mark.parametrize("key", STATES)
def test_a_taint_means_the_same_wherever_it_is_told(key):
    """What `decode` says of a taint in a pasted sentence is not what it says of one that somebody set on purpose."""
    def rule_of(taint):
        return decode(f"0/1 nodes are available: 1 node(s) had untolerated taint {{{taint}: }}.")[0].rule

    assert rule_of(key) != rule_of("dedicated"), key


def test_volumes_by_hand_need_no_class_object():
    """Where volumes of a class exist, its object is not created; a volume as large as the claim, or a smaller claim, does."""
    fixes = fixes_of("own/45-claim-larger-than-volume", "web")

    assert {"add volume", "smaller claim"} == {kind for fix in fixes for kind in fix.kinds}
    assert "changed as in the diff" in card_of("45-claim-larger-than-volume", "web", "smaller claim").do


def test_no_data_are_given_up_where_room_is_enough_and_who_is_in_the_way_may_run_elsewhere():
    """A node reaches the volume and lacks cpu: machines, then the bare pod there made anew on another node by its owner."""
    fixes = fixes_of("own/53-zone-of-the-volume-is-full", "db-0")

    assert [("add node",), ("run elsewhere",)] == [fix.kinds for fix in fixes]
    assert "--force -f busy.yaml" in fixes[1].do
    assert ("default/busy", "n2") in fixes[1].try_it().with_fix.items()


def test_the_machine_of_the_only_node_is_not_changed_before_less_is_asked_for():
    """From the only node its pods have nowhere to go; a control plane that runs there alone forbids it altogether."""
    cluster = cluster_of(f"own/{DAEMONSET_POD}")
    waits = next(pod.metadata.name for pod in cluster.objects("pods") if not pod.spec.node_name)
    assert [("lower request", "E"), ("larger machine", "F")] == [(fix.kinds[0], fix.letter) for fix in cluster.fix(waits)]
    assert "larger machine" not in {kind for fix in fixes_of(f"own/{STATIC_POD}", "api") for kind in fix.kinds}


def test_of_two_volumes_the_one_that_matters_less_is_given_up():
    """A claim for logs is made anew rather than one for data; its old files stay while that claim is there."""
    card, = fixes_of("inc/two-disks-two-zones", "web-0")

    assert "claim logs-wait" in card.words
    assert any("claim data-wait" in note for note in card.notes)
    assert card.data.endswith("UNTIL logs is deleted")
    assert "kubectl replace --force -f web-0.yaml   # as it was" in card.undo.splitlines()


def test_a_volume_that_a_claim_names_is_replaced_by_nothing_in_silence():
    """Where a named volume is missing, a claim without it starts empty and promises less; free volumes are named."""
    fixes = fixes_of("dump/storage", "named")
    other = next(fix for fix in fixes if "new claim" in fix.kinds)

    assert ("E", "EMPTY VOLUME: what missing-volume held is not on it") == (other.letter, other.data)
    assert "or is old meant" in fixes[0].notes[0]


def test_where_a_node_is_must_be_looked_up():
    """A zone that no object tells is left for the reader to fill in."""
    assert fixes_of("inc/node-without-the-zone-label", "web-1")[0].do.endswith("topology.kubernetes.io/zone=<its zone>")
