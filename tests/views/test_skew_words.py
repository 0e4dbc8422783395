"""The sentences of the skew ledger, whole: who may land where and why, what beats spreading, and at which weight it would not."""

from types import SimpleNamespace

import pytest
from attrs import evolve
from manifests import HOST, ZONE

from kvolsched import Cluster, make
from kvolsched.views import frame as f
from kvolsched.views.fill import skew_words
from kvolsched.views.fill.ledgers import skew_at

from . import plain

TAINT, CPU, DISK, PORT = (plain.Stop(name, 1, "x") for name in ("TaintToleration", "NodeResourcesFit", "VolumeBinding", "NodePorts"))
NEVER = "ScheduleAnyway never refuses, it only gives points."


def row(name, counted=0, placed=1, *stops, **fields):
    """Return a domain of one node, which plugins keep the pod off; more than one skew is too many."""
    landing = f.Landing(int(not stops and placed < 2), stops)
    return plain.SkewRow(name, 1, counted, **{"skew_if_placed": placed, "fits": placed < 2, "landing": landing} | fields)


def ledger(*rows, **fields):
    """Return the ledger of a pod p over these domains, of which the emptiest sets the minimum."""
    inside = [each for each in rows if not each.left_out]
    first = min(inside, key=lambda each: each.counted, default=row(""))
    return plain.SkewLedger("pod/p", ZONE, 1, **{"subject": "p", "rows": rows, "minimum": first.counted, "minimum_domain": first.domain,
                                                 "plugin": "PodTopologySpread"} | fields)


OUT = row("x", left_out="n1 lacks the topology key", landing=None)
FULL = [row(name, 3, 4) for name in "abcd"]


@pytest.mark.parametrize(("of", "answer", "sentence"), [
    (ledger(row("a")), "p may land in a.", "a sets the minimum (0), and nobody would be more than 1 ahead."),
    (ledger(row("a"), row("b")), "p may land in every zone.", "a and b share the minimum (0), and nobody would be more than 1 ahead."),
    (ledger(row("a"), row("b"), OUT), "p may land in a and b.", "a and b share the minimum (0), and nobody would be more than 1 ahead."),
    (ledger(row("a"), row("b"), row("c"), OUT), "p may land in a, b and c.",
     "a, b and c share the minimum (0), and nobody would be more than 1 ahead."),
    (ledger(*map(row, "abcd"), OUT), "p may land in 4 of 5 zones.", "4 zones share the minimum (0), and nobody would be more than 1 ahead."),
    (ledger(row("a"), row("b"), key=HOST), "p may land in every host.", "a and b share the minimum (0), and nobody would be more than 1 ahead."),
    (ledger(*map(row, "abcd"), OUT, key="example.com/disk"), "p may land in 4 of 5 domains.",
     "4 domains share the minimum (0), and nobody would be more than 1 ahead."),
    (ledger(FULL[0], row("b")), "p may land in b.", "b sets the minimum (0); a would then be 4 ahead of it, and 1 is allowed."),
    (ledger(FULL[0], row("b", 2, 3), row("c")), "p may land in c.", "c sets the minimum (0); a and b would then be 3 or 4 ahead of it, and 1 is allowed."),
    (ledger(FULL[0], row("b", 1, 2), row("c", 2, 3), row("d"), row("e"), max_skew=2), "p may land in d and e.",
     "d and e share the minimum (0); a, b and c would then be 2 to 4 ahead of them, and 2 is allowed."),
    (ledger(*FULL, row("e")), "p may land in e.", "e sets the minimum (0); 4 zones would then be 4 ahead of it, and 1 is allowed."),
    (ledger(*FULL, row("e", 0, 1, TAINT)), "Nobody may take it.",
     "e sets the minimum (0) and is shut by TaintToleration; 4 zones would then be 4 ahead of it, and 1 is allowed."),
    (ledger(row("a", 0, 1, TAINT), row("b")), "p may land in b.",
     "a and b share the minimum (0), 1 of them is shut by TaintToleration, and nobody would be more than 1 ahead."),
    (ledger(row("a", 0, 1, TAINT), row("b", 0, 1, CPU), row("c")), "p may land in c.",
     "a, b and c share the minimum (0), 2 of them are shut by NodeResourcesFit and TaintToleration, and nobody would be more than 1 ahead."),
    (ledger(row("a", 0, 1, evolve(TAINT, nodes=2)), row("b", 0, 1, CPU)), "Nobody may take it.",
     "a and b share the minimum (0), all of them are shut by TaintToleration and NodeResourcesFit, and nobody would be more than 1 ahead."),
    (ledger(row("a", 0, 1, TAINT, CPU, DISK, PORT, evolve(CPU, plugin="A", nodes=2))), "Nobody may take it.",
     "a sets the minimum (0) and is shut by A, NodePorts and 3 more, and nobody would be more than 1 ahead."),
    (ledger(row("a"), row("b", 1, 1, CPU)), "p may land in a.",
     "a sets the minimum (0), and nobody would be more than 1 ahead. b passes the sum and is shut by NodeResourcesFit."),
    (ledger(row("a"), row("b", 1, 1, CPU), row("c", 1, 1, TAINT), row("d", 1, 1, landing=None)), "p may land in a.",
     "a sets the minimum (0), and nobody would be more than 1 ahead. b and c pass the sum and are shut by NodeResourcesFit and TaintToleration."),
    (ledger(row("a", 1, 2), row("b", 1, 2), min_domains=3, minimum=0, minimum_domain=""), "Nobody may take it.",
     "There are 2 zones and minDomains is 3, so the minimum counts as 0; a and b would then be 2 ahead, and 1 is allowed."),
    (ledger(row("a"), min_domains=3, minimum_domain=""), "p may land in a.",
     "There is 1 zone and minDomains is 3, so the minimum counts as 0, and nobody would be more than 1 ahead."),
    (ledger(OUT), "Nobody may take it.", f"No node has the label {ZONE} and counts: the constraint has no domain."),
    (ledger(row("a"), place="n1"), "Scheduled again, p may land in a.",
     "p is on n1, which is not counted here. a sets the minimum (0), and nobody would be more than 1 ahead."),
    (ledger(row("a"), subject="the next replica, web-7, of sts/web"), "The next replica may land in a.",
     "a sets the minimum (0), and nobody would be more than 1 ahead."),
    (ledger(OUT, subject="the next replica of deploy/web", place="n1"), "Nobody may take it.",
     f"The next replica of deploy/web is on n1, which is not counted here. No node has the label {ZONE} and counts: the constraint has no domain."),
])  # fmt: skip
def test_who_may_land_where_and_why(of, answer, sentence):
    """The answer of a constraint that rejects, and what sets the minimum, who is too far ahead of it, what shuts the others."""
    assert (answer, sentence) == skew_words.hard_answer(of)


@pytest.mark.parametrize(("count", "passing", "words"), [
    (2, (), "Both constraints together allow no node."), (2, ("b1",), "Both constraints together allow b1."),
    (3, ("a", "b", "c", "d", "e", "f"), "All 3 constraints together allow a, b, c, d, e and f."),
    (3, ("a", "b", "c", "d", "e", "f", "g"), "All 3 constraints together allow a, b, c, d, e and 2 more."),
])  # fmt: skip
def test_what_constraints_allow_together(count, passing, words):
    """Up to six nodes by name, of more the first five."""
    assert words == skew_words.together(count, passing)


def best(name, score, *others, chosen=False, weight=2):
    """Return a domain with the points of its best node: of spreading, and of other plugins."""
    parts = [f.Points("PodTopologySpread", "S", "spread", score * weight, "spread")] * (score > 0)
    parts += [f.Points(plugin, plugin[0], "node", points, plugin) for plugin, points in others]
    points = sum(each.points for each in parts)
    return row(name, best=f.BestNode(f"{name}1", 0, score, weight, tuple(parts), points, chosen=chosen))


RESOURCES, IMAGES = "NodeResourcesFit", "ImageLocality"


@pytest.mark.parametrize(("rows", "first", "answer", "sentence"), [
    ([best("a", 9, chosen=True), best("b", 5)], ["a1"], "Every zone is allowed.", f"{NEVER} a spreads best, and a1 wins with 18 points."),
    ([best("a", 9), best("b", 9, chosen=True), best("c", 1)], ["b1"], "Every zone is allowed.",
     f"{NEVER} a and b spread best, and b1 wins with 18 points."),
    ([best("a", 9), best("b", 9)], ["a1", "b1"], "Every zone is allowed.",
     f"{NEVER} a and b spread best; a1 and b1 have 18 points each, and a draw decides."),
    ([best("a", 9), best("b", 5, (RESOURCES, 9), chosen=True)], ["b1"], "Every zone is allowed.",
     f"{NEVER} a spreads best, but b1 wins by 1 point: NodeResourcesFit gives b1 9 and a1 0."),
    ([best("a", 9, (IMAGES, 3)), best("b", 5, (RESOURCES, 9), (IMAGES, 30)), best("c", 5, (RESOURCES, 39))], ["b1", "c1"], "Every zone is allowed.",
     f"{NEVER} a spreads best, but b1 (b1 and c1 draw) wins by 28 points: ImageLocality gives b1 30 and a1 3."),
    ([best("a", 9), best("b", 9, (IMAGES, 2)), best("c", 0, (RESOURCES, 25), chosen=True)], ["c1"], "Every zone is allowed.",
     f"{NEVER} a and b spread best, but c1 wins by 5 points: NodeResourcesFit gives c1 25 and b1 0."),
    ([best("a", 9, chosen=True), row("b", 0, 1, TAINT)], ["a1"], "b is shut by other filters.",
     f"{NEVER} a spreads best, and a1 wins with 18 points."),
    ([best("a", 9, chosen=True), row("b", 0, 1, TAINT), row("c", 0, 1, CPU), row("d", landing=None)], ["a1"], "b and c are shut by other filters.",
     f"{NEVER} a spreads best, and a1 wins with 18 points."),
    ([row("a"), row("b", 0, 1, TAINT)], [], "No node is scored: only one fits, or the nominated one does.",
     f"Other nodes are shut by TaintToleration. {NEVER}"),
    ([row("a", 0, 1, evolve(CPU, nodes=2)), row("b", 0, 1, TAINT), row("c", landing=None)], None, "Nobody may take it.",
     f"All nodes are shut by NodeResourcesFit and TaintToleration. {NEVER}"),
    ([row("a", landing=None)], None, "Nobody may take it.", f" {NEVER}"),
])  # fmt: skip
def test_what_beats_spreading(rows, first, answer, sentence):
    """The answer of a constraint that only ranks: who spreads best, who wins, and the plugin that makes the difference."""
    of = ledger(*rows, when="ScheduleAnyway", open=first is not None)
    ranking = SimpleNamespace(best=first) if first else None

    assert (answer, sentence) == skew_words.soft_answer(of, ranking)
    assert (answer, f"The next one is on n1, which is not counted here. {sentence}") == skew_words.soft_answer(
        evolve(of, place="n1", subject="The next one, of sts/web"), ranking)


@pytest.mark.parametrize(("rows", "words"), [
    ([best("a", 9, chosen=True), best("b", 5)], None),
    ([best("a", 9), best("b", 9)], None),
    ([best("a", 9), best("b", 5, (RESOURCES, 8))], "with weight 3 instead of 2, a1 would lead 27 to 23 (b1)."),
    ([best("a", 9), best("b", 5, (RESOURCES, 17)), best("c", 8, (RESOURCES, 2))], "with weight 5 instead of 2, a1 would lead 45 to 42 (b1)."),
    ([best("a", 9), best("b", 5, (RESOURCES, 17)), best("c", 8, (RESOURCES, 7))], "with weight 8 instead of 2, a1 would lead 72 to 71 (c1)."),
    ([best("a", 9), best("b", 9, (IMAGES, 1)), best("c", 1, (RESOURCES, 90))], "with weight 12 instead of 2, b1 would lead 109 to 102 (c1)."),
    ([row("a")], ()),
])  # fmt: skip
def test_the_weight_at_which_the_best_spread_wins(rows, words):
    """How points are made, and the least weight of spreading at which its best node leads; none where it leads already."""
    asked = []
    spreading = SimpleNamespace(soft_constraints=lambda pod, seen: asked.append((pod, seen)) or [1], spread_score=SimpleNamespace(formula="raw is a sum"))
    judgement = SimpleNamespace(pod="p", seen="s", profile=SimpleNamespace(extending=lambda _: spreading))
    told = [("points", "raw is a sum; points = score × weight."), *([("to win", words)] if words else [])]

    assert ([] if words == () else told) == [*skew_words.soft_notes(ledger(*rows), judgement)]
    spreading.soft_constraints = lambda *_: [1, 2]
    assert [*skew_words.soft_notes(ledger(*rows), judgement)][:1] == (
        [] if words == () else [("points", "raw is a sum, summed over 2 constraints; points = score × weight.")])
    assert [("p", "s")] * (words != ()) == asked



WHY, IGNORED = "Why does a shut zone count?", "nodeTaintsPolicy is Ignore: a tainted node still makes a domain."


@pytest.mark.parametrize(("counts", "shut", "more", "words"), [
    ("a3 b3 c0", "c", {}, [(WHY, IGNORED), ("With Honor:", "c is left out, minimum 3, limit 4: a and b give 3 + 1 − 3 = 1 ≤ 1 ✓")]),
    ("b3 a3 c0", "c", {}, [(WHY, IGNORED), ("With Honor:", "c is left out, minimum 3, limit 4: a and b give 3 + 1 − 3 = 1 ≤ 1 ✓")]),
    ("a3 b2 c0", "c", {}, [(WHY, IGNORED), ("With Honor:", "c is left out, minimum 2, limit 3: b gives 2 + 1 − 2 = 1 ≤ 1 ✓")]),
    ("a3 b3 c0 d0", "cd", {}, [(WHY, IGNORED), ("With Honor:", "c and d are left out, minimum 3, limit 4: a and b give 3 + 1 − 3 = 1 ≤ 1 ✓")]),
    ("a9 b3 c0", "c", {"maxSkew": 2}, [(WHY, IGNORED), ("With Honor:", "c is left out, minimum 3, limit 5: b gives 3 + 1 − 3 = 1 ≤ 2 ✓")]),
    ("c0 a1", "ca", {}, [(WHY, IGNORED)]),  # Honor would leave no domain
    ("a3 b3 c0", "", {"cpu": "2"}, [(WHY, "The rule counts nodes that have the label, whether or not the pod has room there.")]),
    ("a3 z0", "", {"nodeSelector": {"disk": "ssd"}, "nodeAffinityPolicy": "Ignore"},
     [(WHY, "nodeAffinityPolicy is Ignore: a node that the pod does not select still makes a domain."),
      ("With Honor:", "z is left out, minimum 3, limit 4: a gives 3 + 1 − 3 = 1 ≤ 1 ✓")]),
    ("a3 b3 c0", "c", {"revision": "design"}, [(WHY, "These rules do not read nodeTaintsPolicy: a tainted node still makes a domain.")]),
    ("a0 c0", "c", {}, []), ("a3 c0", "c", {"minDomains": 3}, []), ("a3 b3 c0", "c", {"nodeTaintsPolicy": "Honor"}, []),
])  # fmt: skip
def test_why_a_shut_domain_counts(counts, shut, more, words):
    """The policy that lets it count, and the sums without it; nothing where nobody is too far ahead, or the minimum is forced."""
    of_rule = {name: value for name, value in more.items() if name in ("maxSkew", "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy")}
    of_pod = {name: value for name, value in more.items() if name in ("cpu", "nodeSelector")}
    zones = [(each[0], int(each[1:])) for each in counts.split()]
    nodes = [make.node(f"n{place}", zone, taints=["shut"] if zone in shut else [], labels={} if zone == "z" else {"disk": "ssd"}, cpu="1")
             for place, (zone, _) in enumerate(zones)]  # fmt: skip
    placed = [make.pod(f"{zone}-{number}", running_on=f"n{place}", labels={"app": "web"}, cpu="10m")
              for place, (zone, count) in enumerate(zones) for number in range(count)]  # fmt: skip
    asks = make.pod("p", labels={"app": "web"}, topologySpreadConstraints=[make.spread(app="web") | of_rule], **of_pod)
    cluster = Cluster.from_manifests([*nodes, *placed, asks], revision=more.get("revision", "upstream"))

    assert tuple(words) == skew_at(cluster, "p")[0].notes
