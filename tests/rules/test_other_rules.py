"""A cluster's start under other rules: what is in it, what it says of the rest, and how two clusters are compared."""

import re

import pytest
from manifests import ZONE, node, pod

from kvolsched import Cluster, design, scenario
from kvolsched.questions.differences import Diff
from kvolsched.questions.explain import FieldChange
from kvolsched.rules.named import REVISIONS
from kvolsched.views.drawing.text import escape
from kvolsched.views.pages.differences import differences, reading
from kvolsched.views.pages.differences import draw as draw_pair
from kvolsched.views.pages.turns import different_fields, draw_diff

BOUND = ("pod/my-pod", "spec.nodeName")


def acted():
    """A run in which the user acted before anybody else, and later; with a fault."""
    c = scenario("zonal-example", "upstream")
    c.cordon("node-a")
    c.run()
    c.label("pod/my-pod", tier="db")
    c.taint("node-b", "k=v:NoSchedule")
    c.crash("scheduler")
    c.delete("pod/my-pod")
    c.run()
    return c


def told(answer):
    """The text of an answer on one line."""
    return re.sub(r"\s+", " ", repr(answer))


def test_what_was_set_up_before_anybody_acted_belongs_to_the_start():
    """A cluster that was built by apply and cordon starts with all of it, at step 0; a patch of a field is one again."""
    c = Cluster(name="built")
    c.apply(node("n1", "a"), node("n2", "b"))
    c.apply(pod("web"))
    c.cordon("n1")
    c.run()
    old = c.under("design")
    assert (0, 0) == (old.world.step_number, old.world.known_steps)
    assert (True, "") == (old["n1"].spec.unschedulable, old["web"].spec.node_name)
    assert "Not in it" not in repr(old)
    old.run()
    assert "n2" == old["web"].spec.node_name


def test_later_acts_are_named_or_made_again():
    """What the user did later is named with its step; with replay it is asked for again, faults are not."""
    c = acted()
    digest = c.digest()
    old = c.under("design")
    assert 0 == old.world.known_steps
    assert re.search(r"Not in it: user labels pod/my-pod tier=db \(step \d+\); user taints node-b k=v:NoSchedule "
                     r"\(step \d+\); user deletes pod/my-pod \(step \d+\)\. c.under\(\"design\", replay=True\)", told(old))
    assert "Not in it: kube-scheduler crashes and restarts" in told(old)
    again = c.under("design", replay=True)
    again.run()
    assert "pod/my-pod" not in again
    assert [("k", "v")] == [(taint.key, taint.value) for taint in again["node-b"].spec.taints]
    assert "tier: db" in repr(again.story("pod/my-pod")).replace("metadata.labels.", "")
    assert "replay=True" not in repr(again)
    assert "crashes" in repr(again)
    assert digest == c.digest()


def test_an_act_that_is_refused_is_told():
    """What the other rules' API server refuses is a remark, not an error."""
    c = Cluster.from_manifests([node("n1", "a"), pod("app", gates=["g"])])
    c.apply(pod("other"))
    c.run()
    c.patch("pod/app", {"spec": {"nodeSelector": {ZONE: "a"}}})
    off = design().with_gates({"kube-apiserver": {"PodSchedulingReadiness": False}})
    assert "Not in it, refused under these rules: user patches pod/app" in told(c.under(off, replay=True))


@pytest.mark.parametrize("rules", ["upstream", "design"])
def test_the_same_rules_are_said_to_be_the_same(rules):
    """Under its own rules a cluster goes as before, which is said, with the name of other rules."""
    other = {"upstream": "design", "design": "upstream"}[rules]
    assert f'rules that zonal-example has already, so both go alike: c.under("{other}")' in told(
        scenario("zonal-example", rules).under(rules))
    assert "already" not in told(scenario("zonal-example", rules).under(other))


def test_pods_that_have_a_node_from_the_start():
    """A dump whose pods all run says that nobody judges them; `again` begins with some of them without a node."""
    c = Cluster.from_manifests([node("n1"), pod("a", nodeName="n1"), pod("b", nodeName="n1")])
    assert 'All 2 pods have nodes from the start, so nobody judges them: c.under("design", again="a")' in told(
        c.under("design"))
    none = c.under("design").passes("a")
    assert 0 == len(none)
    assert 'It was on n1 from the start, so nobody judges it; c.under("design", again="a")' in told(none)
    assert "from the start" in none.figure().draw(828, "")
    old = c.under("design", again="pod/a")
    assert "from the start" not in repr(old)
    old.run()
    assert (1, "n1", 0) == (len(old.passes("a")), old["a"].spec.node_name, len(old.passes("b")))
    with pytest.raises(KeyError, match="no pod/c"):
        c.under("design", again=["c"])


def test_why_a_pod_has_no_pass():
    """Gated, not yet taken up: the table of passes says which."""
    c = Cluster.from_manifests([node("n1"), pod("held", gates=["example.com/g"]), pod("new")])
    assert "Its scheduling gates hold it: example.com/g" in told(c.passes("held"))
    assert "The scheduler has not taken it up yet" in told(c.passes("new"))


@pytest.mark.parametrize(("asked", "meant"), [("1.16", "design"), ("v1.11", "design"), ("kubernetes-1.13", "design"),
                                              ("1.36", "upstream"), ("v1.34.2", "upstream"), ("desing", "design")])
def test_a_release_is_no_name_of_rules_but_near_one(asked, meant):
    """An unknown name is answered with what each set of rules stands for, and the nearest."""
    with pytest.raises(KeyError, match=rf"no revision is called '{re.escape(asked)}'.*did you mean {meant}\?") as error:
        scenario("zonal-example").under(asked)
    for name in REVISIONS:
        assert name in str(error.value)
    assert "design (the design documents, and Kubernetes 1.11 and 1.16 where they are silent)" in str(error.value)


def test_a_scenario_says_that_its_rules_are_not_todays():
    """One line of a scenario's print, unless the reader chose the rules, or they are today's."""
    assert ['  - Its rules are design (the design documents), not today\'s: scenario("one-more-term", "upstream").'] == repr(
        scenario("one-more-term")).splitlines()[1:]
    for chosen in (scenario("one-more-term", "design"), scenario("one-more-term", "upstream"), scenario("gated-jobs")):
        assert "Its rules" not in repr(chosen)


# --- what differs --------------------------------------------------------------------------------------------------


def test_what_a_person_asks_first_stands_first():
    """Where a pod runs, its phase and passes first, bookkeeping counted at the end; nothing is lost."""
    c = scenario("zonal-example", "upstream")
    c.run()
    old = c.under("design")
    paths = [(about, change.path) for about, change in c.diff(old).told]
    assert [BOUND, ("pod/my-pod", "status.phase")] == paths[:2]
    assert ("pod/my-pod", "(passes)") in paths
    old.run()
    found = c.diff(old)
    assert [("pod/my-pod", "(passes)")] == [(about, change.path) for about, change in found.told][:1]
    assert [("1 pass: 2 of 4 nodes fit, node-a is chosen", "2 passes, the last: 1 of 4 nodes fit, node-a is chosen")] == [
        (change.old, change.new) for _, change in found.passes]
    assert set(found.rows) == {*found.told, *found.bookkeeping} - set(found.passes)
    assert "finalizers" not in " ".join(change.path for _, change in found.told)
    assert f"{len(found.bookkeeping)} fields of bookkeeping differ, too" in told(found)
    assert "scheduling passes" in found.figure().draw(828, "")


def test_bookkeeping_alone_is_shown():
    """If nothing else differs, bookkeeping is no footnote; a node's readiness is none."""
    alone = Diff(("a", "b"), (("pod/x", FieldChange("status.startTime", "1", "2")),), (), (), "")
    assert "status.startTime" in repr(alone)
    assert not alone.bookkeeping
    both = Diff(("a", "b"), (("pod/x", FieldChange("status.conditions[Ready]", "True", "")),
                             ("node/n", FieldChange("status.conditions[Ready]", "True", "Unknown"))), (), (), "")
    assert ["node/n"] == [about for about, _ in both.told]


def test_both_sides_of_a_row_show_something():
    """Values that are cut alike are shown where they differ; an empty text is not the same as none."""
    c = scenario("zonal-example", "upstream")
    c.run()
    old = c.under("design")
    old.run()
    assert ('""', "") in {(change.old, change.new) for _, change in c.diff(old)} | {
        (change.new, change.old) for _, change in c.diff(old)}
    long = "node(s) had taints that the pod didn't tolerate " * 8
    rows = different_fields(Diff(("a", "b"), (("pod/x", FieldChange("spec.x", f"{long}one", f"{long}two")),
                                              ("pod/x", FieldChange("spec.y", "k" * 400 + "1", "k" * 400 + "2"))), (), (), ""))
    for width in (500, 1000):
        shown = draw_diff(rows, width)
        assert [] == [value for row in rows.rows for value in (row.left, row.right) if escape(value) not in shown]


def parted():
    """Two clusters with a pod that today's rules shut out, since it wants three domains, and design's do not."""
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3,
                  "labelSelector": {"matchLabels": {"app": "web"}}}
    placed = pod("old", nodeName="a1", labels={"app": "web"})
    held = pod("held", nodeName="b1", labels={"app": "web"})
    waits = pod("web-1", labels={"app": "web"}, topologySpreadConstraints=[constraint])
    c = Cluster.from_manifests([node("a1", "a"), node("b1", "b"), placed, held, waits], revision="upstream")
    c.run()
    return c, c.under("design")


def test_the_first_difference_is_a_verdict():
    """On top stands the first pass with another verdict: both rules, node, plugin, what is not read, and a call."""
    c, old = parted()
    old.run()
    digests = c.digest(), old.digest()
    said = c.diff(old).because
    assert said.startswith("First difference: pass 1 of pod/web-1: under design b1 (and 1 more) fits, under upstream "
                           "PodTopologySpread rejects it: node(s) didn't match pod topology spread constraints.")
    assert said.endswith('Rules design do not read minDomains of pod/web-1. See c.skew("web-1").')
    assert digests == (c.digest(), old.digest())
    assert said in told(c.diff(old))
    assert "First difference" in c.diff(old).figure().draw(828, "")
    other_way = old.diff(c).because
    assert "under design b1 (and 1 more) fits, under upstream PodTopologySpread rejects it" in other_way
    assert "" == c.diff(c.fork()).because


def test_the_first_difference_is_else_a_write():
    """Where first passes are alike it is the first write that the other run has not, never a renamed annotation."""
    c = scenario("zonal-example", "upstream")
    c.run()
    old = c.under("design")
    old.run()
    said = c.diff(old).because
    assert re.match(r"First difference: under upstream .* \(step \d+\), under design .* \(step \d+\)\. See c\.story\(", said)
    assert "selected" not in said
    pair = differences(c, old, ("upstream", "design"))
    assert said == pair.because
    lines = reading(pair).splitlines()
    assert said == lines[1]
    assert "first row" not in lines[0]
    assert "First difference" in draw_pair(pair, 900)


def test_a_run_that_was_forgotten_is_named():
    """A cluster under other rules that has made no step differs in everything: the answer says to run it."""
    c, old = parted()
    said = "The cluster with rules design has made no step: call .run() on it, then compare."
    assert said == c.diff(old).because
    assert said in told(c.diff(old))
    assert said in draw_diff(different_fields(c.diff(old)), 1000)
    assert said == old.diff(c).because
    old.run()
    old.goto(0)
    assert "call .goto(step) or .run() on it" in c.diff(old).because


def test_only_clusters_are_compared():
    """Rules by name are a TypeError that says how to make a cluster of them."""
    c = scenario("zonal-example")
    with pytest.raises(TypeError, match=r'old = c\.under\("design"\); old\.run\(\); c\.diff\(old\)'):
        c.diff("design")
    with pytest.raises(TypeError, match=r'c\.under\("upstream"\)'):
        c.diff(REVISIONS["upstream"]())


def test_a_page_is_no_picture():
    """Saving a run as a picture names what saves one."""
    with pytest.raises(ValueError, match=r"must end in \.html; for a picture of the present step: c\.map\(\)\.save"):
        scenario("zonal-example").lab().save("run.png")
