"""Predictions: candidates that betray nothing, verdicts of the engine, equal sums, and the count of answers."""

import pytest
from attrs import evolve
from manifests import node, pod

import kvolsched
from kvolsched import Cluster, make
from kvolsched.questions.predict import (
    ASKS,
    NONE,
    Bet,
    NotAnswered,
    forget_grades,
    grade,
    predict,
    question_of_next_step,
)
from kvolsched.questions.predict.candidates import GONE, NEW, PENDING
from kvolsched.rules.named import plugin_card
from kvolsched.scheduler.framework.verdict import PreFilterResult


@pytest.fixture(autouse=True)
def _no_grades():
    """Begin every test without counted answers."""
    forget_grades()


@pytest.fixture
def zonal():
    """Return the zonal example at its start."""
    return kvolsched.scenario("zonal-example")


def small(*nodes, **spec):
    """Return a cluster with a waiting pod."""
    return Cluster.from_manifests([*nodes, pod("app", **spec)])


@pytest.mark.parametrize("ask", ASKS)
def test_a_question_moves_nothing_and_shows_no_verdict(zonal, ask):
    """Asking leaves the cluster as it is; no verdict is told before an answer, and no outcome before the reveal."""
    before = zonal.digest()
    asked = predict(zonal, ask=ask)

    assert before == zonal.digest()
    assert asked.outcome is None
    assert [None] * len(asked.candidates) == [asked.verdict(each) for each in asked.candidates]
    assert "not answered yet" in repr(asked)


@pytest.mark.parametrize("ask", ASKS)
def test_the_reveal_is_the_step_itself(zonal, ask):
    """What is told is what happens when the cluster steps as far: the pass, the volume, the end, the next actor."""
    asked = predict(zonal, ask=ask)
    asked.give_up()

    happened = asked.outcome.happened
    assert 1 == sum(asked.happened(each) for each in asked.candidates)
    if ask in ("node", "plugin"):
        fits = zonal.fits("my-pod")
        assert {"node": fits.chosen, "plugin": fits.rejected["node-a-small"][0]}[ask] == happened
    elif ask == "volume":
        assert ("a new one", True) == (happened, bool(zonal["pvc/my-pvc"].spec.volume_name))
    elif ask == "end":
        assert zonal["pod/my-pod"].spec.node_name == happened
    else:
        assert zonal._last_step.actor == happened


@pytest.mark.parametrize(("cpu", "sentence", "verdict"), [
    ("4", "n0 is the pod's nominated node and passes all filters, so no node is scored.", "the nominated node, which is taken without scores"),
    ("1m", "Only n0 passes all filters, so no node is scored.", "the only node that passes all filters"),
])  # fmt: skip
def test_a_nominated_node_is_told_of_where_others_fit_too(cpu, sentence, verdict):
    """It is taken without scores; where no other node fits, that it is the only one says enough."""
    app = make.pod("app", cpu="1") | {"status": {"nominatedNodeName": "n0"}}
    told = Cluster.from_manifests([make.node("n0"), make.node("n1", cpu=cpu), app]).predict(ask="node").give_up().outcome

    assert (sentence, verdict) == (told.sentence, told.verdicts["n0"].words)
    assert ("fits, but was not chosen" if cpu == "4" else "Insufficient cpu") == told.verdicts["n1"].words


def test_what_waits_for_an_answer_is_shown_with_it(zonal):
    """What is shown once there is an answer waits for it, or is shown at once; before one the reveal is refused in a sentence."""
    asked, shown = predict(zonal, "Which?"), []
    asked.when_open(lambda: shown.append("waited"))
    with pytest.raises(NotAnswered) as refused:
        asked.reveal()
    assert "Which? Answer first: .answer(...); .give_up() shows it without an answer" == str(refused.value)
    assert ([], "node-a", False, False) == (shown, asked.right, asked.is_right, asked.has_moved)
    asked.answer("node-b").when_open(lambda: shown.append("at once"))
    assert ["waited", "at once"] == shown
    asked.answer("node-a").reveal()
    assert (["waited", "at once"], True, True) == (shown, asked.is_right, asked.has_moved)


def test_a_bet_is_neither_right_nor_moved_before_its_value_is_known():
    """An answer is judged once a later cell has said what was right."""
    asked = Bet("Which of two?", ("a", "b")).answer("a")

    assert (False, "", None, False) == (asked.is_right, asked.right, asked.outcome, asked.has_moved)
    asked.was("a")
    assert (True, "a", "a") == (asked.is_right, asked.right, asked.outcome.happened)


def test_who_acts_next_is_told_with_since_when_others_wait():
    """Work that has waited less is told with both changes; an actor with several causes is told apart by them."""
    c = Cluster.from_manifests([make.node("n1"), make.deployment("web", 1), make.pod("x"), make.pod("b"), make.storage_class("late", waits=False),
                                make.claim("data")])
    less, oldest = "its work has waited less", "another component has the oldest unseen change"
    told = []
    for _ in range(6):
        asked = predict(c, ask="order").give_up()
        told.append({each.name: (asked.verdict(each).right, asked.verdict(each).words, asked.verdict(each).evidence) for each in asked.candidates})

    assert {"deployment-controller": (False, oldest, ""), "scheduling pass": (True, "it goes next", ""),
            "persistentvolume claims": (False, less, "since change 19, scheduling pass since change 13")} == told[0]  # fmt: skip
    x = "bind worker: default/x"
    assert {x: (True, "it goes next", ""), "bind worker: default/b": (False, less, f"since change 71, {x} since change 16"),
            "disks.example.com provisioner": (False, less, f"since change 81, {x} since change 16"),
            "replicaset-controller": (False, less, f"since change 49, {x} since change 16"),
            "scheduling pass": (False, less, f"since change 66, {x} since change 16")} == told[5]  # fmt: skip
    assert ("t=0 s", "Scheduler binds x to n1.") == (asked.outcome.note, asked.outcome.sentence)


def test_no_new_volume_is_offered_where_none_can_be_made(zonal):
    """A class without a provisioner offers its volumes and none; one with a provisioner a new one as well."""
    local = kvolsched.scenario("local-disks")
    claim = next(each for each in local.objects("pvc") if not each.spec.volume_name)
    asked = predict(local, ask="volume", claim=claim.metadata.name)

    assert NEW not in [each.name for each in asked.candidates]
    assert NEW in [each.name for each in predict(zonal, ask="volume").candidates]


def test_a_volume_that_exists_and_fits_leaves_no_new_one(zonal):
    """Both are candidates; whoever expected a new one is told that none is made, as one that exists fits."""
    zonal.apply(make.volume("spare", "100Gi", "zonal-class", zone="us-central1-b"))
    asked = predict(zonal, ask="volume").give_up()

    assert {"spare": "it is bound to the claim", NEW: "none is made: a volume that exists fits",
            NONE: "it gets spare"} == {each.name: asked.verdict(each).words for each in asked.candidates}


def test_candidates_are_sorted_by_name_and_carry_facts_of_the_api(zonal):
    """Order and words of the candidates do not depend on what happens."""
    asked = predict(zonal)
    assert ["node-a", "node-a-small", "node-b", "node-c", NONE] == [each.name for each in asked.candidates]
    assert "us-central1-a · 0.5 cpu, 2Gi free" == asked.candidates[1].facts
    plugins = [each.name for each in predict(zonal, ask="plugin").candidates]
    assert sorted(plugins[:-1]) == plugins[:-1]


def test_a_wrong_answer_is_told_what_speaks_against_it(zonal):
    """It shows the verdict of the candidate alone, with both sides; the others stay untold and may still be answered."""
    asked = predict(zonal).answer("node-a-small")
    shown = asked.verdict(asked.candidates[1])

    assert (False, "NodeResourcesFit", "Insufficient cpu") == (asked.is_right, shown.plugin, shown.words)
    assert "requests.cpu 1 > allocatable 500m − requested 0 = 500m" == shown.evidence
    assert asked.verdict(asked.candidates[0]) is None
    assert asked.answer("node-a").is_right
    assert ["node-a-small", "node-a"] == asked.answers
    assert ["node-a-small", "node-a"] == asked.answer("node-c").answers  # right is right


def test_equal_sums_count_as_right():
    """Where the scheduler draws, every node with the highest sum is right, and a lower sum is told by its scores."""
    c = small(node("n1", "a"), node("n2", "b"), node("n3", "c", cpu="2"), containers=[
        {"name": "app", "image": "app", "resources": {"requests": {"cpu": "1"}}}])  # fmt: skip
    for name in ("n1", "n2"):
        assert predict(c).answer(name).is_right
    lower = predict(c).answer("n3")
    assert not lower.is_right
    told = lower.verdict(lower.candidates[2])
    assert told.words == "fits, but 436 points against 455"
    assert told.evidence == "NodeResourcesFit 74 to 87, NodeResourcesBalancedAllocation 62 to 68"
    assert "2 nodes have" in lower.give_up().outcome.sentence


def test_none_of_them_is_a_candidate():
    """Where no node fits, or no pass comes, "none of them" is right; and the grade counts it."""
    cordoned = small(node("n1", unschedulable=True))
    assert predict(cordoned).answer("none").is_right
    held = small(node("n1"), gates=("example.com/quota",))
    asked = predict(held).answer("n1")
    assert not asked.is_right
    assert "held by example.com/quota" in asked.give_up().outcome.sentence
    assert predict(small(node("n1", unschedulable=True)), ask="end").answer("pending").is_right


ROOMY, SHUT, SMALL = make.node("n1", "a", cpu="8"), make.node("n2", "b", cpu="8", unschedulable=True), make.node("n3", "b", cpu="1", taints=["t"])
UNJUDGED, STAYS = "no pass judged it", "no node takes it"


@pytest.mark.parametrize(("nodes", "gates", "sentence", "note", "told"), [
    ((ROOMY, SHUT, SMALL), (), "pod/app is Running on n1.", "after 4 steps, t=0 s", {
        "n1": (True, "the only node that passes all filters", "", True, ()),
        "n2": (False, "node(s) were unschedulable", "NodeUnschedulable", False, ("TaintToleration",)),
        "n3": (False, "node(s) had untolerated taint(s)", "TaintToleration", False, ("NodeResourcesFit",)),
        PENDING: (False, "it is on n1", "", True, ()), GONE: (False, "it is on n1", "", True, ())}),
    ((SMALL,), (), "pod/app stays Pending: No node passes all filters, so the pod stays in the queue.", "after 1 step, t=0 s", {
        "n3": (False, "node(s) had untolerated taint(s)", "TaintToleration", False, ("NodeResourcesFit",)),
        PENDING: (True, STAYS, "", True, ()), GONE: (False, STAYS, "", True, ())}),
    ((ROOMY,), ("a/b", "c/d"), "pod/app stays Pending: no pass judged it.", "after 0 steps, t=0 s", {
        "n1": (False, UNJUDGED, "", True, ()), PENDING: (True, STAYS, "", True, ()), GONE: (False, STAYS, "", True, ())}),
    ((ROOMY, make.node("n4", "a", cpu="8")), (), "pod/app is Running on n4.", "after 3 steps, t=0 s", {
        "n1": (True, "an equal sum, 455: counts as right", "", True, ()), "n4": (True, "chosen, with 455 points", "", True, ()),
        PENDING: (False, "it is on n4", "", True, ()), GONE: (False, "it is on n4", "", True, ())}),
])  # fmt: skip
def test_how_a_pod_ends_is_told_of_every_node(nodes, gates, sentence, note, told):
    """Each node has the verdict of the last pass, of which an equal sum counts as right; staying Pending and going have where it is."""
    asked = predict(Cluster.from_manifests([*nodes, make.pod("app", cpu="2", gates=gates)]), ask="end").give_up()
    verdicts = {each.name: asked.verdict(each) for each in asked.candidates}

    assert (sentence, note) == (asked.outcome.sentence, asked.outcome.note)
    assert told == {name: (each.right, each.words, each.plugin, each.resolvable, each.also) for name, each in verdicts.items()}
    assert [each.name for each in asked.candidates if asked.counts_as_right(each)] == [name for name, (right, *_) in told.items() if right]


def test_a_pod_that_is_deleted_before_its_pass_is_gone():
    """Its controller deletes it, which no gate hinders: no pass takes it up, and at the end there is no such pod."""
    c = Cluster.from_manifests([make.node("n1"), make.deployment("web", schedulingGates=[{"name": "a/b"}])])
    c.run()
    c.scale("deploy/web", 0)
    name = c.objects("pods")[0].metadata.name
    node, end = (predict(c.fork(), pod=name, ask=ask).give_up().outcome for ask in ("node", "end"))

    assert (NONE, "No pass takes it up until the cluster is idle: no node is judged.", "no pass") == (node.happened, node.sentence, node.note)
    assert (GONE, f"pod/{name} is deleted.") == (end.happened, end.sentence)
    assert {"n1": (False, UNJUDGED), PENDING: (False, "it is deleted"), GONE: (True, "it is deleted")} == {
        each: (verdict.right, verdict.words) for each, verdict in end.verdicts.items()}


def test_a_node_that_prefilter_leaves_out_has_the_plugins_that_do():
    """No filter is asked about it: the plugins that name other nodes stand there, and removing pods would not help."""
    c = Cluster.from_manifests([ROOMY, make.node("n2", cpu="8"), make.node("n3", cpu="8"), make.pod("app")])
    for name, nodes in (("Mars", ["n1"]), ("Moon", ["n1", "n2"])):
        named = PreFilterResult(name, frozenset(nodes))
        c = c.with_plugin(type(name, (), {"name": name, "prefilter": lambda *_, named=named: named})())
    asked = predict(c).give_up()

    assert [("the only node that passes all filters", "", True), ("outside the nodes that PreFilter allows", "Mars", False),
            ("outside the nodes that PreFilter allows", "Mars, Moon", False), ("1 node passes all filters", "", True)] == [
                (each.words, each.plugin, each.resolvable) for each in map(asked.verdict, asked.candidates)]  # fmt: skip


@pytest.mark.parametrize("nothing", [None, True, False])
def test_no_answer_is_refused(nothing):
    """Who has not made up his mind has not said "none of them", and a truth is no number: one sentence has the candidates."""
    asked = predict(small(node("n1", unschedulable=True)))

    with pytest.raises(ValueError, match=f"^{nothing} is no answer; there are: n1, none of them$"):
        asked.answer(nothing)
    assert not asked.is_open
    assert asked.answer("none").is_right


def test_many_nodes_are_one_candidate_for_each_group_judged_alike():
    """Over eight nodes, groups with equal verdicts and sums stand for all their nodes, with the count."""
    closed = {"unschedulable": True, "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}
    nodes = [node(f"n{number:02}", "ab"[number // 6], **(closed if number % 2 else {})) for number in range(12)]
    asked = predict(small(*nodes))

    assert ["n00", "n01", NONE] == [each.name for each in asked.candidates]
    assert asked.candidates[1].facts.startswith("and 5 judged alike · ")  # no zone: they are in two
    assert asked.candidates[1].facts.endswith(" · cordoned")
    assert not asked.answer("n03").is_right
    assert ["n01"] == asked.answers
    assert predict(small(*nodes)).answer("n04").is_right


def test_nodes_with_other_reasons_are_not_judged_alike():
    """One plugin has several reasons: nodes that lack memory are a group apart from those that lack cpu, or both, or have a taint, too."""
    kinds = ({"cpu": "1"}, {"memory": "1Gi"}, {"cpu": "1", "memory": "1Gi"}, {"cpu": "1", "taints": ["t"]}, {"cpu": "8"}, {"cpu": "8"})
    nodes = [make.node(f"n{number:02}", **kinds[number % 6]) for number in range(12)]
    asked = predict(Cluster.from_manifests([*nodes, make.pod("app", requests={"cpu": "2", "memory": "4Gi"})])).give_up()

    assert {("n00", "n06"): "Insufficient cpu", ("n01", "n07"): "Insufficient memory", ("n02", "n08"): "Insufficient cpu, Insufficient memory",
            ("n03", "n09"): "node(s) had untolerated taint(s)", ("n04", "n05", "n10", "n11"): "an equal sum, 454: counts as right"} == {
                each.members: asked.verdict(evolve(each, members=())).words for each in asked.candidates[:-1]}  # fmt: skip
    assert ("NodeResourcesFit",) == asked.outcome.verdicts["n03"].also
    chosen, = (each for each in asked.candidates if asked.happened(each))
    assert ("n04", "chosen, with 454 points", True) == (chosen.name, asked.verdict(chosen).words, asked.outcome.happened in ("n05", "n10", "n11"))


@pytest.mark.parametrize(("count", "hidden"), [
    (11, ""), (12, " 1 more node is judged in other ways."), (13, " 2 more nodes are judged in other ways.")])
def test_of_many_groups_twelve_are_candidates(count, hidden):
    """The largest groups stand there, and always that of the node that is chosen; how many nodes are in others is said."""
    nodes = [make.node(f"n{number:02}", cpu=f"{number + 3}", memory=f"{2 * number + 1}Gi") for number in range(count)]
    small = [make.node(f"z{number}", cpu="1") for number in range(2)]
    asked = predict(Cluster.from_manifests([*nodes, *small, make.pod("app", requests={"cpu": "2", "memory": "1Gi"})]))
    names = [each.name for each in asked.candidates]

    assert f"It asks for 2 cpu and 1Gi of memory.{hidden}" == asked.about
    assert [*(f"n{number:02}" for number in range(min(count, 11) - 1)), f"n{count - 1}", "z0", NONE] == names
    assert [("z0", "z1")] == [each.members for each in asked.candidates if len(each.members) > 1]
    assert f"n{count - 1}" == asked.right


def test_a_claim_may_be_named_and_must_be_without_a_volume():
    """The named claim is meant, by default the pod's first that has no volume; one that has a volume is no question."""
    c = Cluster.from_manifests([make.node("n1"), make.storage_class("late"), make.volume("v1", bound="a"), make.claim("a", bound="v1"),
                                make.claim("c"), make.claim("b"), make.pod("app", "c", "b", "a", "absent")])  # fmt: skip

    assert ["Which volume will b get?", "Which volume will c get?"] == [predict(c, ask="volume", **named).title for named in ({}, {"claim": "c"})]
    with pytest.raises(ValueError, match=r"^pvc/a has v1 already: nothing is left to predict$"):
        predict(c, ask="volume", claim="a")
    bound = Cluster.from_manifests([make.node("n1"), make.volume("v1", bound="a"), make.claim("a", bound="v1"), make.pod("app", "a")])
    with pytest.raises(ValueError, match=r"^pod/app has no claim without a volume: nothing is left to predict$"):
        predict(bound, ask="volume")


def test_a_plugin_of_ones_own_may_be_the_one_that_rejects():
    """It is a candidate like those that ship, without words on what it looks at; a named node that fits is rejected by none."""
    c = Cluster.from_manifests([make.node("n2", "a"), make.node("n1", "b"), make.pod("app")])
    c = c.with_plugin(lambda _pod, node, _seen: node.metadata.name == "n1" or "too far", name="moon")
    rejected, fitting = predict(c, ask="plugin"), predict(c, ask="plugin", node="n1")

    assert [("NodeName", "the pod's spec.nodeName"), ("moon", "a plugin of your own"), (NONE, "the pod fits there")] == [
        (each.name, each.facts) for each in rejected.candidates if each.name in ("NodeName", "moon", NONE)]  # fmt: skip
    assert ("Which plugin rejects n2 first for app?", "n2: a · 4 cpu, 64Gi free. It asks for 0.1 cpu.") == (rejected.title, rejected.about)
    assert "moon is the first in the order of plugins that rejects n2: too far." == rejected.give_up().outcome.sentence
    assert ("n1: b · 4 cpu, 64Gi free. It asks for 0.1 cpu.", NONE, "Every plugin passes n1.") == (
        fitting.about, fitting.right, fitting.give_up().outcome.sentence)


def test_volumes_that_are_not_shown_are_counted_in_the_right_number():
    """Of nine volumes eight are shown and one is not; of ten, two are not."""
    one, two = (predict(kvolsched.scenario("disks-by-node", nodes=nodes, exact=exact), ask="volume").about
                for nodes, exact in ((4, 1), (5, 0)))  # fmt: skip

    assert "It asks for 10Gi of class local. 1 more volume of the class is not shown." == one
    assert "It asks for 10Gi of class local. 2 more volumes of the class are not shown." == two


def test_a_volume_that_exists_is_compared_with_the_one_that_is_taken():
    """The smallest free volume that fits is right; others are too small, too large or out of reach."""
    c = kvolsched.scenario("local-disks")
    waiting = next(p for p in c.objects("pods") if not p.spec.node_name)
    asked = predict(c, pod=waiting.metadata.name, ask="volume")
    happened = asked.give_up().outcome.happened
    claim = min(waiting.claim_names())

    assert c[f"pvc/{claim}"].spec.volume_name == happened
    words = {asked.verdict(each).words for each in asked.candidates if not asked.happened(each)}
    assert all(words)


def with_volumes(*volumes, waits=True, provisioner="kubernetes.io/no-provisioner", cpu="2", **claim):
    """Return what becomes of a claim of 10Gi of a pod that fits node n1 in zone a alone: (question, the verdicts by candidate)."""
    c = Cluster.from_manifests([make.node("n1", "a"), make.node("n2", "b", cpu="1"), make.storage_class("late", provisioner, waits=waits),
                                make.claim("data", **claim), make.pod("app", "data", cpu=cpu), *volumes])
    asked = predict(c, ask="volume").give_up()
    told = {each.name: asked.verdict(each) for each in asked.candidates}
    return asked, {name: (verdict.right, f"{verdict.words} {verdict.evidence}".strip()) for name, verdict in told.items()}


def test_each_volume_is_told_why_it_is_not_taken():
    """Size, access modes, volume mode, phase, labels, then reach are compared in this order; the smallest that fits is bound."""
    both = ["ReadWriteOnce", "ReadOnlyMany"]
    db = {"labels": {"tier": "db"}, "zone": "a", "phase": "Available", "accessModes": both}
    asked, told = with_volumes(
        make.volume("small", "5Gi", **db | {"phase": "Released", "zone": "b", "accessModes": []}),
        make.volume("many", volumeMode="Block", **db | {"accessModes": ["ReadOnlyMany", "ReadWriteMany"]}), make.volume("block", volumeMode="Block", **db | {"phase": "Released"}),
        make.volume("released", **db | {"phase": "Released", "labels": {}}), make.volume("other", **db | {"labels": {"tier": "web"}, "zone": "b"}),
        make.volume("far", **db | {"zone": "b"}), make.volume("large", "20Gi", **db), make.volume("zlast", **db),
        selector={"matchLabels": {"tier": "db"}}, accessModes=both)  # fmt: skip

    assert {
        "block": (False, "another volume mode Block ≠ Filesystem"), "far": (False, "it cannot be reached from n1"),
        "large": (False, "it fits, but zlast is smaller 10Gi < 20Gi"), "many": (False, "other access modes ReadOnlyMany, ReadWriteMany ≠ ReadWriteOnce, ReadOnlyMany"),
        "other": (False, "the claim's selector does not match its labels"), "released": (False, "it is Released"),
        "small": (False, "too small 5Gi < 10Gi"), "zlast": (True, "it is bound to the claim"), NONE: (False, "it gets zlast"),
    } == told  # fmt: skip
    assert [*sorted(told.keys() - {NONE}), NONE] == list(told)
    assert ("zlast", "pvc/data gets zlast, the smallest free volume that fits and can be reached from n1.", "after 7 steps, t=0 s", 7) == (
        asked.outcome.happened, asked.outcome.sentence, asked.outcome.note, asked.outcome.steps)


def test_of_equal_volumes_the_first_by_name_is_taken():
    """Where a claim is bound at once no node is chosen, and of volumes of one size the first by name is bound."""
    asked, told = with_volumes(make.volume("z2", "20Gi"), make.volume("b1"), make.volume("a1"), waits=False)

    assert {"a1": (True, "it is bound to the claim"), "b1": (False, "it fits as well, but a1 comes first of equals"),
            "z2": (False, "it fits, but a1 is smaller 10Gi < 20Gi"), NONE: (False, "it gets a1")} == told  # fmt: skip
    assert "pvc/data gets a1, the smallest free volume that fits." == asked.outcome.sentence


@pytest.mark.parametrize(("cpu", "right", "new", "none"), [
    ("2", NEW, "{} is made for it", "it gets {}"), ("99", NONE, "none is made until the cluster is idle", "the claim stays without volume")])
def test_a_volume_is_made_or_none_is(cpu, right, new, none):
    """A driver makes one once the pod has a node; if no node takes the pod, the claim stays as it is."""
    asked, told = with_volumes(make.volume("small", "5Gi"), provisioner=make.DRIVER, cpu=cpu)
    got = "" if right == NONE else asked.cluster["pvc/data"].spec.volume_name

    assert {"small": (False, "too small 5Gi < 10Gi"), NEW: (right == NEW, new.format(got)), NONE: (right == NONE, none.format(got))} == told
    assert (f"pvc/data gets {got}, a volume made for it." if got else "pvc/data stays unbound.") == asked.outcome.sentence


def test_a_claim_that_goes_with_its_pod_gets_no_volume():
    """A claim of an ephemeral volume is deleted with its pod, before a volume is made for it."""
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": "late", "resources": {"requests": {"storage": "1Gi"}}}
    volume = {"name": "d", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}
    c = Cluster.from_manifests([make.node("n1"), make.storage_class("late"), make.deployment("web", schedulingGates=[{"name": "a/b"}], volumes=[volume])])
    c.run()
    c.scale("deploy/web", 0)
    name = c.objects("pvc")[0].metadata.name

    assert f"pvc/{name} stays unbound." == predict(c, ask="volume", claim=name).give_up().outcome.sentence
    assert [] == c.objects("pvc")


def test_what_never_comes_to_rest_is_followed_for_a_thousand_steps():
    """A claim that names no size, as a dump may have it, is tried again and again; a volume without a size is too small for another."""
    claim = make.claim("data", "10Gi")
    none, wanting = claim | {"spec": {**claim["spec"], "resources": {}}}, make.volume("v")
    wanting["spec"].pop("capacity")
    endless, small = (predict(Cluster.from_manifests([make.node("n1"), make.storage_class("late", waits=False), asking, volume, make.pod("app", "data")],
                                                     lenient=True), ask="volume").tell()
                      for asking, volume in ((none, make.volume("v")), (claim, wanting)))  # fmt: skip

    assert (NONE, 1000, "It asks for a volume of class late.") == (endless.outcome.happened, endless.outcome.steps, endless.about)
    assert ("too small", "0 < 10Gi") == (small.verdict(small.candidates[0]).words, small.verdict(small.candidates[0]).evidence)


def test_a_cluster_that_has_moved_is_not_stepped(zonal):
    """What was asked holds for the place where it was asked; the reveal then tells and steps nothing."""
    for asked, move in ((predict(zonal), zonal.step), (predict(zonal.fork(), ask="end"), zonal.run)):
        move()
        before, step = zonal.digest(), zonal.world.step_number
        assert "node-a" == asked.give_up().outcome.happened
        assert (before, step) == (zonal.digest(), zonal.world.step_number)


def test_answers_are_counted_by_question_with_first_tries_apart(zonal):
    """A question asked again at its place is the same one; a reveal without an answer counts as not answered."""
    predict(zonal).answer("node-b")
    predict(zonal).answer("node-a")
    predict(zonal, ask="order").answer("scheduling pass")
    predict(zonal, ask="end").give_up()
    rows = {row.ask: (row.asked, row.answered, row.first, row.later) for row in grade()}

    assert {"node": (1, 1, 0, 1), "order": (1, 1, 1, 0), "end": (1, 0, 0, 0)} == rows
    assert (3, 1) == (kvolsched.grade().asked, kvolsched.grade().first)
    assert "right at first" in repr(grade())
    forget_grades()
    assert "no question has been asked" == repr(grade())


def test_the_question_of_a_step_is_about_that_step(zonal):
    """Before a pass it asks for the node, before other steps who acts; without a choice it asks nothing."""
    kinds = []
    while zonal.next.turns:
        asked = question_of_next_step(zonal)
        if asked is None:
            zonal.step()
            continue
        assert 1 == asked.steps
        kinds.append(asked.ask)
        asked.give_up()
    assert "node" == kinds[0]
    assert {"node", "order"} >= set(kinds)
    assert question_of_next_step(zonal) is None


def test_candidates_stand_by_name_whatever_happens():
    """Groups of nodes, be they larger or the ones that are right, and who acts next stand by their names."""
    closed = {"unschedulable": True, "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}
    nodes = [node(f"n{number:02}", **({} if number in (5, 6) else closed)) for number in range(12)]
    nodes[3] = node("n03", cpu="500m", **closed)
    asked = predict(small(*nodes, containers=[{"name": "c", "image": "c", "resources": {"requests": {"cpu": "1"}}}]))
    crowded = Cluster.from_manifests([make.node("n1"), make.deployment("web", 1), make.pod("x")])

    assert ["n00", "n03", "n05", NONE] == [each.name for each in asked.candidates]
    order = [each.name for each in predict(crowded, ask="order").candidates]
    assert sorted(order) == order != [turn.actor for turn in crowded.next]


def test_errors_list_what_there_is(zonal):
    """An unknown answer, kind of question, pod or claim is one sentence that lists what exists."""
    with pytest.raises(ValueError, match="there are: node-a, node-a-small, node-b, node-c, none of them"):
        predict(zonal).answer("node-x")
    for number in (0, 6):
        with pytest.raises(ValueError, match=f"^there are 5 candidates; {number} is none of their numbers$"):
            predict(zonal).answer(number)
    for ask in ("node", "plugin"):
        with pytest.raises(ValueError, match=r"'2\.5' is no candidate; there are: "):
            predict(zonal, ask=ask).answer(2.5)
    with pytest.raises(ValueError, match="did you mean node"):
        predict(zonal, ask="nod")
    with pytest.raises(KeyError, match="my-pod"):
        predict(zonal, pod="my-pods")
    with pytest.raises(ValueError, match="2 pods have no node: pod/app, pod/other"):
        predict(Cluster.from_manifests([node("n1"), pod("other"), pod("app")]))
    zonal.run()
    with pytest.raises(ValueError, match="no pod is without a node"):
        predict(zonal)
    with pytest.raises(ValueError, match="is on node-a already"):
        predict(zonal, pod="my-pod")
    with pytest.raises(ValueError, match="nobody has anything to do"):
        predict(zonal, ask="order")


def test_every_filter_plugin_says_what_it_looks_at():
    """A plugin of any revision has words for its card."""
    for revision in (kvolsched.upstream(), kvolsched.design()):
        assert all(plugin_card(name).looks_at for name in revision.profile.filter_names)


def test_the_volumes_that_are_shown_are_far_apart_by_name():
    """Of many volumes eight are shown, spread over their names, with the one that is taken in place of its neighbour."""
    shown = {nodes: [each.name for each in predict(kvolsched.scenario("disks-by-node", nodes=nodes, exact=0), ask="volume").candidates]
             for nodes in (5, 8)}  # fmt: skip

    assert ["disk-1-200", "disk-1-50", "disk-2-200", "disk-2-50", "disk-3-50", "disk-4-200", "disk-4-50", "disk-5-200", NONE] == shown[5]
    assert ["disk-1-200", "disk-2-50", *(f"disk-{node}-200" for node in range(3, 9)), NONE] == shown[8]


def test_of_many_volumes_of_which_none_is_taken_eight_are_shown():
    """They are spread over their names as well where the claim gets none of them."""
    asked = with_volumes(*(make.volume(f"v{number:02}", "5Gi") for number in range(12)))[0]

    assert (NONE, [*(f"v{number:02}" for number in (0, 1, 3, 4, 6, 7, 9, 10)), NONE]) == (asked.right, [each.name for each in asked.candidates])


def test_a_claim_that_may_get_a_default_class_may_get_a_volume():
    """A claim without a class may still be provisioned for; one that asks for no class may not."""
    asked = {name: predict(Cluster.from_manifests([node("n1"), make.claim("data", storage_class=name), pod("app", "data")]), ask="volume")
             for name in (None, "")}  # fmt: skip

    assert {None: [NEW, NONE], "": [NONE]} == {name: [each.name for each in each.candidates] for name, each in asked.items()}


def test_of_many_waiting_pods_eight_are_named():
    """Who names no pod is told how many have no node, with the first eight of them."""
    names = [f"p{number}" for number in range(9)]
    with pytest.raises(ValueError, match="say which pod") as refused:
        predict(Cluster.from_manifests(map(pod, names)))

    assert f"say which pod: 9 pods have no node: {', '.join(f'pod/{name}' for name in names[:8])}" == str(refused.value)
