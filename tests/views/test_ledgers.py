"""The ledgers at one moment: which moment, whose replica, all filters, points, pools; and words that stay apart."""

import re
from functools import cache
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from manifests import HOST, ZONE, claim, deployment, node, pod, spread, stateful_set, storage_class

from kvolsched import Cluster, UnknownName
from kvolsched.core.results import ApplyRefused
from kvolsched.questions.explain import judge_last_pass
from kvolsched.scheduler.framework.verdict import Ok
from kvolsched.scheduler.plugins.pod_topology_spread.skew import skews_on
from kvolsched.views import frame as f
from kvolsched.views import show
from kvolsched.views.drawing import text
from kvolsched.views.drawing.sheet import Sheet
from kvolsched.views.fill import skew_words
from kvolsched.views.fill.ledgers import capacity_at, skew_at, skew_ledgers
from kvolsched.views.pictures import ledger_parts, skew_hard, skew_rows, skew_soft
from kvolsched.views.pictures.picture import NAMED
from kvolsched.world.log import Key

from . import plain

WEB = {"app": "web"}
DRIVER = "disks.example.com"


def running(counts, **more):
    """Return pods app=web that run on the first node of zones a, b, c, ..., as many as the counts say."""
    return [pod(f"w{zone}{number}", running_on=f"{zone}1", labels=WEB, cpu="10m", **more)
            for zone, count in zip("abcdefgh", counts, strict=False) for number in range(count)]


def zones(count, **of_last):
    """Return zones of two nodes each; keywords are of the nodes of the last zone."""
    return [node(f"{zone}{number}", f"zone-{zone}", **(of_last if zone == "abcdefgh"[count - 1] else {}))
            for zone in "abcdefgh"[:count] for number in (1, 2)]


def waiting(*constraints, name="web-6", **more):
    """Return a pod app=web that waits under these constraints."""
    return pod(name, labels=WEB, topologySpreadConstraints=list(constraints) or [spread(ZONE, **WEB)], **more)


def shut(*constraints):
    """Return 3/3/0 over three zones, the last one tainted, with a node that has no zone."""
    return Cluster.from_manifests([*zones(3, taints=["maintenance"]), node("x1"), *running((3, 3, 0)),
                                   waiting(*constraints)])


# --- which moment, of whom -------------------------------------------------------------------------------------------


def test_a_ledger_is_of_now_of_the_last_pass_or_of_a_step():
    """The title says which moment; the cluster stays where it is, and a pod that came later is not there yet."""
    c = Cluster.from_manifests([*zones(2), *running((1, 0)), waiting()])
    c.step("scheduler")
    c.apply(pod("late", running_on="b1", labels=WEB))
    before, place = c.digest(), c.world.place
    counts = {at: [row.counted for row in skew_at(c, "web-6", at)[0].rows] for at in ("now", "pass", 0, 1, -1)}

    assert {"now": [1, 1], "pass": [1, 0], 0: [1, 0], 1: [1, 0], -1: [1, 1]} == counts
    assert "now: step 2, t = 0 s, after pass 1, rules upstream" in repr(c.skew("web-6"))
    assert "; pass 1: step 1, t = 0 s, rules upstream\n" in repr(c.skew("web-6", at="pass"))
    assert "; step 0, t = 0 s, rules upstream\n" in repr(c.skew("web-6", at=0))
    assert (before, place) == (c.digest(), c.world.place)


@pytest.mark.parametrize(("reference", "at", "words"), [
    ("web-6", "pass", "pod/web-6 has had no pass yet; at='now' judges it"),
    ("deploy/web", "pass", "deploy/web has no pass, only pods have"),
    ("web-6", "then", "no moment then; there are: now, pass"),
    ("web-6", 7, "no step 7; this branch has the steps 0 to 0"),
    ("node/a1", "now", "node/a1 is no"),
    ("web-7", "now", "no pod/web-7; there are: pod/"),
])  # fmt: skip
def test_what_is_not_there_is_one_sentence(reference, at, words):
    """An unknown pod, step or moment, and an object that is never placed, are named with what there is."""
    c = Cluster.from_manifests([*zones(2), *running((1, 0)), waiting(), deployment("web", 0)])
    for ask in (c.skew, c.capacity):
        with pytest.raises(UnknownName, match=re.escape(words)):
            ask(reference, at=at)


def test_a_running_pod_is_judged_without_its_own_place():
    """Its own place does not count, neither for the sum nor for the room on its node, and the answer says so."""
    c = Cluster.from_manifests([node("a1", "zone-a", cpu="100m"), node("b1", "zone-b", cpu="100m"),
                                pod("web-0", running_on="a1", labels=WEB, topologySpreadConstraints=[spread(ZONE, **WEB)])])
    ledger, = skew_at(c, "web-0")

    assert [("zone-a", 0, 1), ("zone-b", 0, 1)] == [(row.domain, row.counted, row.landing.fitting) for row in ledger.rows]
    assert "Where would web-0 land now?" in repr(c.skew("web-0"))
    assert "web-0 is on a1, which is not counted here." in ledger.sentence
    assert ledger.answer == "Scheduled again, web-0 may land in every zone."


@pytest.mark.parametrize("kind", ["deploy", "rs", "sts"])
def test_the_next_replica_of_a_workload(kind):
    """It is the pod that the present template makes, with its revision's label; nothing of it is stored."""
    rule = {**spread(ZONE, **WEB), "matchLabelKeys": ["pod-template-hash"]}
    made = (stateful_set if kind == "sts" else deployment)("web", replicas=2, topologySpreadConstraints=[rule])
    c = Cluster.from_manifests([*zones(2), made, pod("other", running_on="b1", labels=WEB)])
    c.run()
    before = c.digest()
    reference = "rs/" + c.objects("rs")[0].metadata.name if kind == "rs" else f"{kind}/web"
    ledger, = skew_at(c, reference)

    assert f"the next replica of {reference}" in ledger.subject
    assert [1, 2 if kind == "sts" else 1] == [row.counted for row in ledger.rows]  # a StatefulSet has no such label
    assert before == c.digest()


def test_the_next_replica_of_a_changed_template_is_of_the_new_revision():
    """Before the controller has made the new ReplicaSet, no pod of the new revision counts."""
    rule = {**spread(ZONE, **WEB), "matchLabelKeys": ["pod-template-hash"]}
    c = Cluster.from_manifests([*zones(2), deployment("web", 2, topologySpreadConstraints=[rule])])
    c.run()
    c.apply(deployment("web", 2, cpu="200m", topologySpreadConstraints=[rule]))
    ledger, = skew_at(c, "web")

    assert [(0, ((1, "another pod-template-hash"),))] * 2 == [(row.counted, row.not_counted) for row in ledger.rows]


def test_the_next_replica_has_the_revision_that_its_controller_made():
    """A StatefulSet that its controller has not seen yet has no revision, nor has its next replica a label of one."""
    rule = {**spread(ZONE, **WEB), "labelSelector": {"matchExpressions": [{"key": "controller-revision-hash", "operator": "Exists"}]}}
    c = Cluster.from_manifests([*zones(2), stateful_set("web", replicas=1, topologySpreadConstraints=[rule])])
    before, = skew_at(c, "sts/web")
    c.run()
    after, = skew_at(c, "sts/web")

    assert ([0, 0], 0) == ([row.counted for row in before.rows], before.self_match)
    assert (1, 1) == (sum(row.counted for row in after.rows), after.self_match)


def test_the_claims_of_the_next_replica_have_ledgers():
    """A StatefulSet makes claims before the pod: they are judged with it, and are not stored."""
    driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": DRIVER},
              "spec": {"storageCapacity": True}}
    template = {"metadata": {"name": "data"}, "spec": claim(size="60Gi", storage_class="fast")["spec"]}
    sts = stateful_set("db", replicas=0)
    sts["spec"]["volumeClaimTemplates"] = [template]
    c = Cluster.from_manifests([node("n1"), storage_class("fast", DRIVER), driver, sts])

    assert "Where could data-db-0 be made? 60Gi of class fast" in repr(c.capacity("sts/db"))
    assert [] == c.objects("pvc")


def test_a_replica_that_the_server_refuses_is_refused_here():
    """What would be refused has no ledger: the server's words are raised."""
    made = deployment("web", 1, topologySpreadConstraints=[spread(ZONE, **WEB)], priorityClassName="missing")
    c = Cluster.from_manifests([*zones(2), made])

    with pytest.raises(ApplyRefused, match="missing"):
        c.skew("deploy/web")


# --- constraints that reject -----------------------------------------------------------------------------------------


def test_a_shut_domain_says_what_shuts_it():
    """The sum lets the pod in and a taint does not: the row, the sentence and the box say so, with the sums of Honor."""
    ledger, = skew_at(shut(), "web-6")
    rows = {row.domain: row for row in ledger.rows}

    assert (True, 0) == (rows["zone-c"].fits, rows["zone-c"].landing.fitting)
    assert plain.Stop("TaintToleration", 2, "taint maintenance=x:NoSchedule", "node", resolvable=False) in (
        rows["zone-c"].landing.stops)
    assert plain.Stop("PodTopologySpread", 2, "3 too many over zone-c", "spread", by_constraint=True) == rows["zone-a"].landing.stops[0]
    assert "Nobody may take it." == ledger.answer
    assert ledger.sentence == ("zone-c sets the minimum (0) and is shut by TaintToleration; zone-a and zone-b would "
                               "then be 4 ahead of it, and 1 is allowed.")
    assert ("With Honor:", "zone-c is left out, minimum 3, limit 4: zone-a and zone-b give 3 + 1 − 3 = 1 ≤ 1 ✓") in (
        ledger.notes)


def test_the_box_is_right_about_honor():
    """The sums that the box promises are those of the pod with nodeTaintsPolicy: Honor."""
    ledger, = skew_at(shut({**spread(ZONE, **WEB), "nodeTaintsPolicy": "Honor"}), "web-6")

    assert (3, ()) == (ledger.minimum, ledger.notes)
    assert [(3, 1, True), (3, 1, True)] == [(row.counted, row.skew_if_placed, row.fits) for row in ledger.rows[:2]]


def test_several_constraints_say_what_they_allow_together():
    """Each has a ledger; the last one names the nodes that all of them allow, and a row which one is in the way."""
    c = Cluster.from_manifests([*zones(2), *running((1, 0)), waiting(spread(ZONE, **WEB), spread(HOST, 2, **WEB))])
    zone, host = skew_at(c, "web-6")

    assert ("", "Both constraints together allow b1 and b2.") == (zone.together, host.together)
    assert "another of its constraints forbids it" == host.rows[0].landing.stops[0].reason


counts = st.lists(st.integers(0, 5), min_size=1, max_size=8)


@given(counts, st.integers(1, 4), st.sampled_from([None, 1, 3, 9]), st.booleans(), st.booleans())
@settings(max_examples=25, deadline=None)
def test_every_sum_is_the_rules(pods, max_skew, min_domains, matches, tainted):
    """On every node: what the reading prints is what the rule adds up, and it allows what the rule allows."""
    rule = {**spread(ZONE, max_skew, **WEB), **({"minDomains": min_domains} if min_domains else {})}
    last = {"taints": ["closed"]} if tainted else {}
    asked = pod("next", labels=WEB if matches else {}, topologySpreadConstraints=[rule])
    c = Cluster.from_manifests([*zones(len(pods), **last), *running(pods), asked])
    judgement = judge_last_pass(c, Key("Pod", "default", "next"), now=True).judgement
    plugin, seen = judgement.profile.plugin("PodTopologySpread"), judgement.seen
    ledger, = skew_ledgers(judgement)
    rows, lines = {row.domain: row for row in ledger.rows}, repr(c.skew("next"))

    for each in seen.all_nodes():
        skew, = skews_on(judgement.pod, each, plugin.hard_constraints(judgement.pod), seen)
        row = rows[skew.domain]
        sum_ = f"{skew.match_num} + {skew.constraint.self_match} − {skew.min_match} = {skew.skew} "
        assert row.sum.startswith(sum_)
        assert sum_ in lines
        assert row.fits == isinstance(plugin.rule(judgement.pod, each, seen), Ok)
        assert (row.landing.fitting > 0) == (each.metadata.name in judgement.feasible)


# --- constraints that rank -------------------------------------------------------------------------------------------


def soft():
    """Return a cluster in which zone-c spreads best and b1 wins, since c1 is nearly full."""
    nodes = [node("a1", "zone-a", cpu="8"), node("b1", "zone-b", cpu="8"), node("c1", "zone-c", cpu="2")]
    rule = spread(ZONE, soft=True, **WEB)
    return Cluster.from_manifests([*nodes, *running((4, 2, 1)), pod("big", running_on="c1", cpu="1200m"),
                                   waiting(rule, cpu="200m")])


def test_a_soft_constraint_shows_points_and_no_limit():
    """Raw → score × weight is what the ranking has, the total is the sum of the parts, and nothing is forbidden."""
    c = soft()
    ledger, = skew_at(c, "web-6")
    ranking = judge_last_pass(c, Key("Pod", "default", "web-6"), now=True).ranking

    for row in ledger.rows:
        raw, score, weighted = ranking.scores_of(row.best.node)["PodTopologySpread"]
        assert (round(raw), score, weighted) == (row.best.raw, row.best.score, row.best.points)
        assert ranking.total()[row.best.node] == row.best.total == sum(part.points for part in row.best.parts)
    drawn = c.skew("web-6").draw(960, "") + repr(c.skew("web-6"))
    assert [] == [word for word in ("✕", "limit 1", "minimum", "ActualSkew") if word in drawn]
    pods, ranks = (float(re.search(rf'<text x="([\d.]+)"[^>]*>{head}', drawn)[1]) for head in ("● matching", "raw → score"))
    assert 5 * 30 + 8 + 14 == ranks - pods  # room for four pods and the new one, and none for pods that do not count


def test_the_sentence_says_what_beats_spreading():
    """zone-c spreads best, but b1 has more room: the plugin, both nodes' points, and the least weight that would win."""
    ledger, = skew_at(soft(), "web-6")
    best = {row.domain: row.best for row in ledger.rows}
    lead = best["zone-b"].total - best["zone-c"].total

    assert (True, lead > 0) == (best["zone-b"].chosen, True)
    assert f"zone-c spreads best, but b1 wins by {lead} points: NodeResourcesFit gives b1" in ledger.sentence
    words = dict(ledger.notes)["to win"]
    weight, ours, theirs = map(int, re.match(r"with weight (\d+) instead of 2, c1 would lead (\d+) to (\d+)", words).groups())
    rest = {zone: each.total - each.points for zone, each in best.items()}
    totals = {zone: rest[zone] + weight * each.score for zone, each in best.items()}
    before = {zone: rest[zone] + (weight - 1) * each.score for zone, each in best.items()}
    assert ("zone-c", ours, theirs) == (max(totals, key=totals.get), totals["zone-c"], totals["zone-b"])
    assert before["zone-c"] <= before["zone-b"]


def test_a_long_word_of_the_legend_ends_where_the_picture_does():
    """An entry that is longer than a whole line is cut behind its mark, so that nothing stands beyond the picture."""
    sheet, legend = Sheet(300), ledger_parts.Legend()
    legend.add("a selector of many words " * 9, ledger_parts.box("ink"))
    legend.draw(sheet, 0)
    cut, = re.findall(r"<text[^>]*>([^<]+)", sheet.svg())

    assert 250 < text.width(cut, 10.5) <= 300 - 25


@pytest.mark.parametrize(("pitch", "marks", "words"), [(15, 3, ["+1"]), (14.9, 1, ["3", "+1"]), (3, 1, ["+1", "3"])])
def test_pods_of_a_soft_constraint_are_squares_while_they_have_room(pitch, marks, words):
    """With less than 15 px for each they are one bar with their number in it or beside it; the place of the pod to come is dashed."""
    sheet, legend = Sheet(960), ledger_parts.Legend()
    skew_soft._pods(sheet, plain.SkewRow("zone-a", 1, 3), 0, pitch, 12, legend)

    assert marks == sheet.svg().count('style="fill:var(--kv-ink)"')
    assert words == re.findall(r"<text[^>]*>([^<]*)", sheet.svg())
    assert 1 == sheet.svg().count("stroke-dasharray")


@pytest.mark.parametrize(("count", "largest", "room", "strokes", "end"), [
    (180, 180, 900, 180, 720), (181, 181, 900, 0, 900), (9, 181, 905, 0, 45), (1, 400, 400, 0, 2),
    (5, 100, 160, 5, 8), (5, 100, 159, 0, 7.95), (5, 5, 900, 5, 20),
])  # fmt: skip
def test_domains_that_are_alike_are_strokes_as_far_as_there_is_room(count, largest, room, strokes, end):
    """A domain is a stroke, at most 4 and at least 1.6 px from the next; of more than 180 they are a bar, 2 px at least."""
    sheet = Sheet(1000)
    skew_hard._strokes(sheet, count, largest, 0, 0, room, "ok")

    assert (strokes, int(not strokes)) == (sheet.svg().count("M"), sheet.svg().count("<rect"))
    assert [(f"{round(end + 7, 1):g}", str(count))] == re.findall(r'<text x="([^"]*)"[^>]*>(\d+)<', sheet.svg())


def test_many_pods_of_a_soft_constraint_are_bars_with_their_number():
    """Bars are as long as their counts, the numbers can be read on them, and pods in no domain are pale."""
    c = Cluster.from_manifests([*(node(f"{each}1", f"zone-{each}", cpu="8") for each in "ab"), node("x1", cpu="8"),
                                *running((40, 3)), *(pod(f"x{n}", running_on="x1", labels=WEB, cpu="10m") for n in range(20)),
                                waiting(spread(ZONE, soft=True, **WEB))])
    drawn = c.skew("web-6").draw(960, "")

    bars = re.findall(r'<rect x="84" y="[\d.]+" width="([\d.]+)" height="24" rx="3" style="fill:var\(--kv-(\w+)\)"/>', drawn)
    assert ["ink", "ink", "line"] == [ink for _, ink in bars]
    pitch = (float(bars[0][0]) + 2) / 40
    assert [40, 3, 20] == [round((float(wide) + 2) / pitch, 1) for wide, _ in bars]
    counts = re.findall(r'<text x="91" y="[\d.]+" class="k-b"(?: style="fill:var\(--kv-(\w+)\)")?>(\d+)<', drawn)
    assert [("paper", "40"), ("paper", "3"), ("", "20")] == counts


# --- many ------------------------------------------------------------------------------------------------------------


@cache
def crowd(*, soft_=False):
    """Return 40 hosts with 0 to 3 pods each, of which every tenth is tainted and empty."""
    nodes = [node(f"host-{n:02d}", taints=["closed"] if n % 10 == 0 else []) for n in range(40)]
    pods = [pod(f"w{n}-{k}", running_on=f"host-{n:02d}", labels=WEB, cpu="10m")
            for n in range(40) if n % 10 for k in range(1 + n % 3)]
    return Cluster.from_manifests([*nodes, *pods, waiting(spread(HOST, soft=soft_, **WEB))])


def test_domains_that_are_alike_are_one_row():
    """40 hosts are four rows, the minimum first, and every host is in one of them; a label names them all."""
    ledger, = skew_at(crowd(), "web-6")
    alike = skew_rows.groups(ledger, ledger.rows)

    assert [(4, 0), (12, 1), (12, 2), (12, 3)] == [(len(each.rows), each.first.counted) for each in alike]
    assert sorted(row.domain for row in ledger.rows) == sorted(name for each in alike for name in each.names)
    assert "4 of 40 domains (host-00, host-10, host-20, host-30)  ▼ minimum  counted 0" in (
        re.sub(" {2,}", "  ", repr(crowd().skew("web-6"))))
    assert "host-00, host-10, host-20, host-30" in crowd().skew("web-6").draw(960, "")


@pytest.mark.parametrize(("count", "rows"), [(6, 6), (24, 24), (25, 2)])
def test_up_to_24_domains_have_a_row_each(count, rows):
    """Six are roomy and by name, up to 24 thin and by count; of more, those alike are one row."""
    ledger = plain.SkewLedger("pod/w", "zone", 1, minimum_domain="d00", rows=tuple(
        plain.SkewRow(f"d{n:02d}", 1, int(n > 0), fits=True, skew_if_placed=1) for n in range(count)))

    assert rows == len(skew_rows.groups(ledger, ledger.rows))


@pytest.mark.parametrize(("count", "headings"), [
    (6, ["domain", "nodes", "● matching pods, counted", "app=web", "ActualSkew", "now (S3)", "sum if placed here"]),
    (7, ["domain", "nodes", "● matching pods, counted", "app=web", "sum if placed here"]),
])  # fmt: skip
def test_only_columns_that_are_there_have_headings(count, headings):
    """Thin rows have no ActualSkew, nor a heading of it."""
    c = Cluster.from_manifests([*zones(count), *running((1,)), waiting()])
    words = re.findall(r"<text[^>]*>([^<]*)<", c.skew("web-6").draw(1200, ""))

    assert headings == words[words.index("domain"):words.index("sum if placed here") + 1]


@pytest.mark.parametrize(("more", "skews"), [(0, ["41 − 39 = 2", "40 − 39 = 1", "39 − 39 = 0"]), (9_000, ["2", "1", "0"])])
def test_a_skew_of_many_pods_ends_before_the_sum(more, skews):
    """Where the terms of ActualSkew have no room before the next column, the difference alone stands there."""
    c = Cluster.from_manifests([*zones(3), *running((41, 40, 39)), waiting(spread(ZONE, 2, **WEB))])
    found, = skew_at(c, "web-6")
    rows = tuple(evolve(row, counted=row.counted + more) for row in found.rows)
    ledger = evolve(found, rows=rows, minimum=found.minimum + more)
    sheet = Sheet(960)
    skew_hard.draw(sheet, ledger, 0, ledger_parts.Legend())
    words = re.findall(r"<text[^>]*>([^<]*)<", sheet.svg())

    assert skews == [each for each in words if re.fullmatch(r"\d|\d+ − \d+ = \d+", each)]


def test_many_pods_are_bars_that_end_where_they_should():
    """A bar ends at its count on the same scale as minimum and limit: the pod that is allowed ends at the limit."""
    c = Cluster.from_manifests([*zones(3), *running((41, 40, 39)), waiting(spread(ZONE, 2, **WEB))])
    ledger, = skew_at(c, "web-6")
    columns = skew_hard._columns(ledger, skew_rows.groups(ledger, ledger.rows), 960, thin=False)

    assert columns.bars
    assert columns.at(41) == columns.line(ledger.limit)
    assert columns.at(39) == columns.line(ledger.minimum)


# --- pools -----------------------------------------------------------------------------------------------------------


@cache
def pools(*, truth=True, count=3):
    """Return a claim of 60Gi over pools that are as published, larger than they are, too small, and silent."""
    driver = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": DRIVER},
              "spec": {"storageCapacity": True}}
    names = [f"n{number}" for number in range(count + 1)]
    published = [{"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "metadata": {"name": f"c-{name}"},
                  "storageClassName": "fast", "nodeTopology": {"matchLabels": {HOST: name}},
                  "capacity": ("120Gi", "120Gi", "50Gi")[number % 3]} for number, name in enumerate(names[:-1])]
    sizes = [("120Gi", "10Gi", "50Gi")[number % 3] for number in range(count)] + ["200Gi"]
    true = [{"topology": {HOST: name}, "capacity": size} for name, size in zip(names, sizes, strict=True)]
    dials = {DRIVER: {"pools": true, "publishing": {"interval": 0.0}}} if truth else {}
    return Cluster.from_manifests([*map(node, names), storage_class("fast", DRIVER), driver, *published,
                                   claim("data", "60Gi", "fast"), pod("app", "data")], components=dials)


def test_two_verdicts_stand_beside_each_other():
    """What the rule reads and what the driver would answer differ where news are old, and where nothing is published."""
    ledger, = capacity_at(pools(), "app")
    lines = repr(pools().capacity("app")).splitlines()

    assert ledger.answer == "1 pool looks large enough and is not."
    assert "n3 has the room, but the rule says no." in ledger.sentence
    assert [("✓ 60Gi ≤ 120Gi", "✓ has 120Gi: enough"), ("✓ 60Gi ≤ 120Gi", "✕ has 10Gi: creation fails"),
            ("✕ 60Gi > 50Gi", "✕ has 50Gi: never asked"), ("✕ no entry = not sufficient", "✓ has 200Gi: never asked")] == [
        tuple(re.search(r"rule (.*?)  +driver (.*)", line).groups()) for line in lines[2:]]


def test_claims_that_ask_alike_share_a_ledger():
    """Two claims of one class and size are told once, with both names; as data each has its own."""
    c = Cluster.from_manifests([*map(node, ("n0", "n1")), storage_class("fast", DRIVER), *(
        claim(name, "60Gi", "fast") for name in ("a", "b")), claim("c", "1Gi", "fast"), pod("app", "a", "b", "c")])
    told = c.capacity("app")

    assert ["Where could a and b be made? 60Gi each of class fast", "Where could c be made? 1Gi of class fast"] == [
        line.partition(";")[0] for line in repr(told).splitlines() if "Where" in line]
    assert ["pvc/a", "pvc/b", "pvc/c"] == [ledger.claim for ledger in capacity_at(c, "app")]


def test_a_narrow_ledger_says_what_its_sums_are():
    """Where sums stand below the marks, a line says what they are, as headings do where there is room."""
    drawn = Cluster.from_manifests([*zones(2), waiting(spread(ZONE, **WEB))]).skew("web-6").draw(520, "")
    assert "below: ActualSkew · sum if placed here, counted + self − min. · may it land here?" in drawn


def test_a_claim_means_the_pod_that_uses_it():
    """A claim, with its kind or without, stands for its pod; one that no pod uses is refused."""
    c = pools()
    c.apply(claim("spare", "1Gi", "fast"))

    assert capacity_at(c, "app") == capacity_at(c, "pvc/data") == capacity_at(c, "data")
    with pytest.raises(UnknownName, match="no pod uses pvc/spare; name a pod or a workload"):
        c.capacity("pvc/spare")


def test_the_driver_answers_as_it_will():
    """Each verdict of the driver's column is what the driver then does with a volume of that size."""
    c = pools()
    storage = c.revision.drivers(c.components).storages[DRIVER]
    ledger, = capacity_at(c, "app")
    for row in ledger.rows:
        makes = storage.has_room(c.world.log, {}, ((HOST, row.pool),), ledger.request)
        assert makes == (row.driver_now >= ledger.request), row


def test_a_dump_knows_no_driver():
    """Manifests have only what was published: the driver's column says unknown, and nothing is called stale."""
    words = repr(pools(truth=False).capacity("app"))

    assert 4 == words.count("driver unknown")
    assert "stale" not in words


def test_pools_that_are_alike_are_one_row():
    """Of over 24 pools, those that publish and have the same are one row, with all names in its label."""
    lines = repr(pools(count=30).capacity("app")).splitlines()[2:]

    assert ["10 pools", "10 pools", "10 pools", "n30"] == [" ".join(line.split()[: 2 - line.startswith("n30")]) for line in lines]


# --- how they are drawn ----------------------------------------------------------------------------------------------


def hostile():
    """Return the shut ledger with markup in place of every name."""
    bad = '<script>alert("x")</script>'
    ledger, = skew_at(shut(), "web-6")
    rows = tuple(evolve(row, domain=f"{bad}{number}") for number, row in enumerate(ledger.rows))
    return evolve(ledger, subject=bad, sentence=bad, rows=rows, notes=((bad, bad),))


def frames():
    """Return frames of every form that a ledger takes."""
    long = "a-very-long-name-that-someone-generated-from-a-template-x-yz-"
    longest = evolve(skew_at(shut(), "web-6")[0], subject=long, rows=tuple(
        evolve(row, domain=f"{long}{row.domain}"[-63:]) for row in skew_at(shut(), "web-6")[0].rows))
    many = [*zones(8), *running((41, 40, 39, 3, 2, 1, 0, 0))]
    deploy = Cluster.from_manifests([*zones(3), deployment("web", 4, topologySpreadConstraints=[
        spread(ZONE, **WEB), spread(HOST, 2, **WEB)])])
    deploy.run()
    yield "shut", f.Frame(skew=skew_at(shut(), "web-6"))
    yield "two", f.Frame(skew=skew_at(deploy, "deploy/web"))
    yield "soft", f.Frame(skew=skew_at(soft(), "web-6"))
    yield "crowd", f.Frame(skew=skew_at(crowd(), "web-6"))
    yield "soft crowd", f.Frame(skew=skew_at(crowd(soft_=True), "web-6"))
    yield "bars", f.Frame(skew=skew_at(Cluster.from_manifests([*many, waiting(spread(ZONE, 2, **WEB))]), "web-6"))
    yield "long", f.Frame(skew=(longest,))
    yield "hostile", f.Frame(skew=(hostile(),))
    yield "pools", f.Frame(capacity=capacity_at(pools(), "app"))
    yield "dump", f.Frame(capacity=capacity_at(pools(truth=False), "app"))
    yield "many pools", f.Frame(capacity=capacity_at(pools(count=30), "app"))


DRAWN = dict(frames())


@pytest.mark.parametrize(("name", "entries"), [
    ("shut", ["matching pod, counted", "web-6, if placed: over the limit", "web-6, if placed: allowed by the sum",
              "room under the limit"]),
    ("soft", ["matching pod, counted", "this pod, if placed here", "PodTopologySpread", "TaintToleration",
              "NodeResourcesFit", "NodeResourcesBalancedAllocation"]),
    ("dump", ["published, enough", "published, rejected", "no entry"]),
])  # fmt: skip
def test_the_legend_has_what_is_drawn_and_nothing_else(name, entries):
    """Every colour of the picture has an entry, and there is none for what is not drawn."""
    frame = DRAWN[name]
    svg = NAMED["skew" if frame.skew else "capacity"].svg(frame, 1000)
    words = [each.text for each in ET.fromstring(svg).iter() if each.tag.endswith("text")]  # noqa: S314 - our own string
    last = max(place for place, each in enumerate(words) if each == entries[0])

    assert [] == [each for each in entries if each not in words]
    assert ("⊖" in words, "in no domain" in words) == (False, False)
    assert set(entries) == {each for each in words[last:] if each in entries or "placed" in each}


# --- what a domain's row says ----------------------------------------------------------------------------------------

TAINT = plain.Stop("TaintToleration", 1, "had untolerated taint(s)")


def domain(name, *stops, nodes=1, fitting=0, judged=True, **fields):
    """Return a row of a ledger in which so many nodes pass all filters, and these plugins stop others."""
    landing = f.Landing(fitting, stops) if judged else None
    return plain.SkewRow(name, nodes, counted=2, landing=landing, skew_if_placed=fields.pop("placed", 1), **fields)


@pytest.mark.parametrize(("rows", "glyph", "ink", "words", "why", "read"), [
    ([domain("a", nodes=3, fitting=3)], "✓", "ok", "yes", "", "may land on 3 of 3 nodes"),
    ([domain("a", TAINT, nodes=3, fitting=2)], "✓", "ok", "yes: 2 of 3 nodes",
     "TaintToleration: had untolerated taint(s)", "may land on 2 of 3 nodes"),
    ([domain("a", evolve(TAINT, nodes=3), nodes=3)], "✕", "node", "no: TaintToleration",
     "had untolerated taint(s), on all 3 nodes", "cannot land: TaintToleration on 3 of 3 nodes"),
    ([domain("a", evolve(TAINT, nodes=2), nodes=2)], "✕", "node", "no: TaintToleration",
     "had untolerated taint(s), on both nodes", "cannot land: TaintToleration on 2 of 2 nodes"),
    ([domain("a", TAINT)], "✕", "node", "no: TaintToleration", "had untolerated taint(s)",
     "cannot land: TaintToleration on 1 of 1 node"),
    ([domain("a", TAINT, plain.Stop("NodeResourcesFit", 2, "Insufficient cpu", "resources"), nodes=3)], "✕", "node",
     "no: TaintToleration", "had untolerated taint(s), on 1 of 3 nodes; NodeResourcesFit on 2",
     "cannot land: TaintToleration on 1 of 3 nodes; NodeResourcesFit on 2 of 3 nodes"),
    ([domain("a", evolve(TAINT, resolvable=False))], "⊘", "node", "no: TaintToleration", "had untolerated taint(s)",
     "cannot land: TaintToleration on 1 of 1 node"),
    ([domain("a", TAINT, nodes=2), domain("b", TAINT, nodes=2)], "✕", "node", "no: TaintToleration",
     "had untolerated taint(s), on 2 of 4 nodes", "cannot land: TaintToleration on 2 of 4 nodes"),
    ([domain("a", nodes=2, fitting=1), domain("b", nodes=2, fitting=2)], "✓", "ok", "yes: 3 of 4 nodes", "",
     "may land on 3 of 4 nodes"),
    ([domain("a", plain.Stop("PodTopologySpread", 2, "didn't match", "spread", by_constraint=True), TAINT, nodes=3, fits=False)], "✕", "spread",
     "no: PodTopologySpread", "didn't match; TaintToleration too",
     "cannot land: PodTopologySpread, didn't match; TaintToleration on 1 of 3 nodes"),
    ([domain("a", plain.Stop("PodTopologySpread", 1, "missing label", "spread", by_constraint=True), left_out="no value for the topology key")],
     "✕", "soft", "no: key missing", "the rule rejects such nodes", "cannot land: PodTopologySpread on 1 of 1 node"),
    ([domain("a", nodes=0)], "✕", "soft", "no: it has no node", "", "cannot land: no node"),
    ([domain("a", judged=False, left_out="not asked")], "–", "soft", "not judged", "not asked", ""),
])
def test_whether_a_pod_may_land_is_said_with_the_nodes_that_stop_it(rows, glyph, ink, words, why, read):
    """Glyph, colour, words and reason of a row, and its reading: how many of its nodes each plugin stops."""
    alike = skew_rows.AlikeRows(tuple(rows))

    assert ledger_parts.LedgerVerdict(glyph, ink, words, why) == skew_rows.verdict(alike)
    assert read == skew_rows.landing_words(alike)


@pytest.mark.parametrize(("ledger", "minimum"), [
    (plain.SkewLedger("pod/p", ZONE, 1, minimum=2, minimum_domain="a", rows=(domain("a"),)), ("minimum 2", "set by a")),
    (plain.SkewLedger("pod/p", ZONE, 2, minimum=2, minimum_domain="a", rows=(domain("a"), domain("b"))),
     ("minimum 2", "set by 2 domains")),
    (plain.SkewLedger("pod/p", ZONE, 1, min_domains=3, rows=(domain("a"), domain("b", left_out="why"))),
     ("minimum 0", "forced: 1 of 3 domains")),
    (plain.SkewLedger("pod/p", ZONE, 1), ("minimum 0", "there is no domain")),
])
def test_the_minimum_is_told_with_who_sets_it(ledger, minimum):
    """One domain by its name, several by their number, minDomains as what forces it; the limit is the rule's sum."""
    told = evolve(ledger, limit=9)

    assert minimum == skew_rows.minimum_words(ledger)
    assert f"limit 9 = minimum {ledger.minimum} + maxSkew {ledger.max_skew}" == skew_rows.limit_words(told)


@pytest.mark.parametrize(("ledger", "title"), [
    (plain.SkewLedger("pod/p", ZONE, 1, subject="p"), f"Where may p land? Spread over {ZONE}, maxSkew 1, DoNotSchedule"),
    (plain.SkewLedger("pod/p", ZONE, 2, min_domains=4, subject="p", open=False),
     f"Who holds p back? Spread over {ZONE}, maxSkew 2, minDomains 4, DoNotSchedule"),
    (plain.SkewLedger("pod/p", "rack", 1, when="ScheduleAnyway", subject="the next replica, of sts/web"),
     "Where should the next replica, of sts/web, go? Spread over rack, maxSkew 1, ScheduleAnyway"),
    (plain.SkewLedger("pod/p", "rack", 1, subject="a, b", open=False), "Who holds a, b, back? Spread over rack, maxSkew 1, DoNotSchedule"),
    (plain.SkewLedger("pod/p", "rack", 1, subject="p", place="n1"), "Where would p land now? Spread over rack, maxSkew 1, DoNotSchedule"),
])
def test_the_title_asks_what_the_ledger_answers(ledger, title):
    """May it land, who holds it back, where should it go, where would it land: by constraint, answer and place."""
    assert title == skew_rows.title(ledger)


@pytest.mark.parametrize(("count", "room", "told"), [
    (1, 200, "node-1"), (4, 200, "node-1, node-2, node-3, node-4"), (5, 201, "node-1, node-2, node-3, node-4, … 1 more"),
    (5, 160, "node-1, node-2, … 3 more"), (5, 170, "node-1, node-2, node-3, … 2 more"), (9, 90, "node-1, … 8 more"), (0, 90, ""),
])  # fmt: skip
def test_as_many_names_stand_as_fit(count, room, told):
    """Up to four names as far as there is room for them, at least one, and how many more there are."""
    assert told == ledger_parts.with_more([f"node-{number + 1}" for number in range(count)], room, 10.5)


def test_a_ledger_says_which_pods_are_counted():
    """The selector stands in words, with the labels in which a pod must be like this one; without a selector none counts."""
    several = spread(ZONE, **WEB) | {"matchLabelKeys": ["rev", "color"]}
    lone = {key: value for key, value in spread(ZONE, **WEB).items() if key != "labelSelector"}
    rules = spread(ZONE, **WEB), spread(ZONE, **WEB) | {"matchLabelKeys": ["rev"]}, several, lone

    assert ["app=web", "app=web, same rev", "app=web, same rev and color", "nothing"] == [
        skew_at(Cluster.from_manifests([*zones(1), waiting(rule)]), "web-6")[0].selector for rule in rules]


def test_a_frame_with_a_ledger_has_no_words_for_its_lack():
    """Why there is no ledger stands in a frame only where there is none."""
    c = Cluster.from_manifests([*zones(1), waiting(spread(ZONE, **WEB)), pod("bare")])
    frames = [show._ledger_frame(c, "skew", name, "now") for name in ("web-6", "bare", "")]

    assert [(1, ""), (0, "bare has no spread constraint."), (0, "")] == [(len(each.skew), each.no_ledger) for each in frames]


@pytest.mark.parametrize(("winner", "other", "least"), [
    ((10, 2, 30), (5, 2, 40), 5), ((5, 2, 30), (4, 2, 20), 2), ((5, 2, 30), (4, 2, 30), 3), ((5, 2, 30), (4, 2, 29), 2), ((5, 2, 30), (4, 2, 31), 4),
])
def test_the_least_weight_at_which_a_node_leads(winner, other, least):
    """It is exact: with one less it has at most as many points as the other, which has a lower score of the plugin."""
    best = [f.BestNode("n", raw=0, score=score, weight=weight, parts=(), total=total, chosen=False)
            for score, weight, total in (winner, other)]

    assert least == skew_words._least_weight(best[0], best[1:])


def test_pods_that_do_not_count_stand_behind_those_that_do():
    """Their number stands beside the place of the pod to come, in the soft colour, with an entry in the legend."""
    sheet, legend = Sheet(960), ledger_parts.Legend()
    skew_soft._pods(sheet, plain.SkewRow("zone-a", 1, 3, not_counted=((2, "terminating"), (3, "another rev"))), 0, 15, 12, legend)

    assert ["+1", "⊖ 5"] == re.findall(r"<text[^>]*>([^<]*)", sheet.svg())
    assert re.search(r"--kv-soft[^>]*>⊖ 5<", sheet.svg())
