"""The picture of the gate workbench: differences, squares before over after, witnesses, and every width."""

import re

import attrs
import pytest

from kvolsched import Cluster, make
from kvolsched.api.kinds.node import ZONE_LABEL
from kvolsched.views.pages.may import by_zone, draw, effect, headline, note, witness

from .pages import cells, faults, parsed, texts, told

HOST = "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def terms(*wanted):
    """Return a patch that sets the required terms, each a list of (key, operator, values)."""
    told = [{"matchExpressions": [{"key": k, "operator": o, "values": list(v)} for k, o, v in term]} for term in wanted]
    return {"spec": {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": told}}}}}


NOW = (ZONE_LABEL, "In", ("zone-a", "zone-b"))
NARROWER = {"spec": {"nodeSelector": {ZONE_LABEL: "zone-a"}}}
SAME_NODES = terms([(ZONE_LABEL, "In", ("zone-a",))])
WIDER = terms([NOW], [(HOST, "In", ("node-c1",))])
LATER = terms([(ZONE_LABEL, "NotIn", ("zone-c",))])
NONE_LEFT = {"spec": {"nodeSelector": {ZONE_LABEL: "zone-c"}}}
GATE = {"spec": {"schedulingGates": [{"name": "example.com/quota"}, {"name": "<script>"}]}}
NO_POD = {"spec": {"priority": "<script>"}}
ALL = (NARROWER, SAME_NODES, WIDER, LATER, NONE_LEFT, GATE, NO_POD)


def gated(in_zone=2, names="node-{zone}{number}", revision="upstream"):
    """Return a cluster with nodes in three zones and a gated pod that may use two of them."""
    nodes = [
        {"apiVersion": "v1", "kind": "Node",
         "metadata": {"name": names.format(zone=zone, number=number),
                      "labels": {ZONE_LABEL: f"zone-{zone}", HOST: f"node-{zone}{number}"}}}
        for zone in "abc" for number in range(1, in_zone + 1)
    ]  # fmt: skip
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "nightly"},
           "spec": terms([NOW])["spec"] | {"schedulingGates": [{"name": "example.com/quota"}],
                                           "containers": [{"name": "app", "image": "app"}]}}  # fmt: skip
    return Cluster.from_manifests([*nodes, pod], revision=revision)


@pytest.fixture(scope="module")
def answers():
    """Return the answers to all patches."""
    return gated().may("nightly", *ALL)


def test_a_difference_shows_what_changes_and_no_more(answers):
    """Lines are YAML below the path that all changes share; what tells an item of a list from others stays."""
    changes = answers[1].changes
    assert f"spec.affinity.nodeAffinity.{REQUIRED}" == changes.path
    assert [
        "  nodeSelectorTerms:", "  - matchExpressions:", "    - key: topology.kubernetes.io/zone", "      operator: In",
        "-     values: [zone-a, zone-b]", "+     values: [zone-a]",
    ] == [str(line) for line in changes.lines]  # fmt: skip
    assert ["+ nodeSelector:", f"+   {ZONE_LABEL}: zone-a"] == [str(line) for line in answers[0].changes.lines]


def test_a_refused_narrowing_is_offered_as_an_allowed_patch(answers):
    """The offered patch is allowed and selects the nodes of the refused one; no widening has an offer."""
    offered = answers[1].instead
    again, = gated().may("nightly", offered)
    assert (True, answers[1].after) == (again.allowed, again.after)
    assert ["", "", ""] == [answers[number].instead for number in (0, 2, 3)]


def test_the_page_says_what_each_patch_does(answers):
    """Each patch has its effect in a few words, and the witness of a widening, real or made up."""
    assert "2 of 7 patches to nightly are allowed while its gate holds" == headline(answers)
    assert [
        "narrower", "narrower in truth, other text", "wider", "the same today, wider tomorrow",
        "no node here matches any more",
        "where it may go stays as it is", "no pod is left",
    ] == list(map(effect, answers))  # fmt: skip
    assert ["", "", "real", "made", "", "", ""] == [witness(row)[2] for row in answers]
    assert [("zone-a", 2), ("zone-b", 2), ("zone-c", 2)] == [(zone, len(names)) for zone, names in by_zone(answers).items()]


def test_the_words_of_one_patch_stand_alone():
    """One patch has a sentence of its own; what is allowed has no warning, and a legend says what its squares mean."""
    one = gated().may("nightly", NONE_LEFT)
    svg = draw(one, 940)

    assert "The patch to nightly is allowed while its gate holds" == headline(one)
    assert "The patch to nightly is refused while its gate holds" == headline(gated().may("nightly", WIDER))
    assert "no node here matches" == witness(one[0])[0]
    assert ("no node newly matches", "proved for every node that can exist") == (
        witness(first := gated().may("nightly", NARROWER)[0])[0], note(first))
    assert "△" not in svg
    assert "matches no longer" in texts(svg)


def test_squares_are_drawn_in_their_states(answers):
    """A node that newly matches is gold, one that would match is dashed, one that no longer does is struck."""
    svg = draw(answers, 940)
    for state in ("node-c1, zone-c: does not match now, would newly match",
                  "node-a1, zone-a: matches now, would still match",
                  "node-b1, zone-b: matches now, matches no longer", "node-a1, zone-a: matches now, still matches"):
        assert state in svg


def test_many_nodes_are_bars_with_their_counts_in_one_line():
    """Each zone has its two bars, and beside them the counts before and after, which never wrap."""
    svg = draw(gated(40).may("nightly", NARROWER), 940)
    assert [("zone-a", "40 → 40")] == re.findall(r'"k-name">(zone-a)</td>.*?<td class="k-short">([^<]*)<', svg)


def zoned(count, zones, **labels):
    """Return a cluster of nodes in zones with these labels, and a gated pod that wants the second zone."""
    nodes = [make.node(f"n{number:02}", f"z{number % zones}", labels=labels) for number in range(count)]
    return Cluster.from_manifests([*nodes, make.pod("app", gates=("a/b",), nodeSelector={ZONE_LABEL: "z1"})])


@pytest.mark.parametrize(("count", "zones", "more"), [(24, 9, None), (25, 8, ""), (25, 9, "1 more zone"), (26, 10, "2 more zones")])
def test_from_25_nodes_on_each_of_eight_zones_has_its_bars(count, zones, more):
    """Up to 24 nodes are squares in all zones; of more the first eight zones have bars, then all nodes, then how many zones more."""
    page = draw(zoned(count, zones).may("app", {"spec": {"nodeSelector": {ZONE_LABEL: "z2"}}}), 900)
    bars = [("k-s-ok", "0%"), ("k-p-ok", "0%"), ("k-s-ok", "100%"), ("k-p-ok", "0%"), ("k-s-ok", "0%"), ("k-p-ok", "100%")]

    if more is None:
        assert [["", *(f"z{zone}" for zone in range(zones)), ""], 3, 3] == [cells(page)[0], *(int(line[-1].split()[0]) for line in cells(page)[1:])]
        assert 2 * count == page.count('data-ref="node/')
    else:
        empty = [[f"z{zone}", "", "0 → 0"] for zone in range(3, 8)]
        assert [["", "before, would be", ""], ["z0", "", "0 → 0"], ["z1", "", f"{-(-(count - 1) // zones)} → 0"],
                ["z2", "", "0 → 3 3 new"], *empty, [f"all {count}", "", f"{-(-(count - 1) // zones)} → 3 3 new"]] == cells(page)  # fmt: skip
        assert bars == re.findall(r'class="k-bar"><div class="([^"]+)" style="width:([^"]+)"', page)[:6]
        assert more == "".join(re.findall(r"\d+ more zones?", page))
    assert [] == faults(page)


@pytest.mark.parametrize(("labels", "wanted", "told"), [
    (4, {ZONE_LABEL: "z0"}, [f"{HOST}: n00", "l0: v", "l1: v", "l2: v", "l3: v", f"{ZONE_LABEL}: z0"]),
    (5, {ZONE_LABEL: "z0"}, [f"{ZONE_LABEL}: z0", "# 6 more"]),
    (5, {ZONE_LABEL: None, "l3": "v"}, ["l3: v", f"{ZONE_LABEL}: z0", "# 5 more"]),
    (5, None, [f"{HOST}: n00", "l0: v", "l1: v", "l2: v", "l3: v", "# 2 more"]),
    (9, {ZONE_LABEL: None, **{f"l{number}": "v" for number in range(6)}}, [*(f"l{number}: v" for number in range(5)), "# 6 more"]),
])  # fmt: skip
def test_a_witness_with_many_labels_shows_those_of_the_patch(labels, wanted, told):
    """Seven lines are shown whole; of more only labels that the patch names, or the first five, and how many more there are."""
    row, = zoned(2, 2, **{f"l{number}": "v" for number in range(labels)}).may("app", {"spec": {"nodeSelector": wanted}})
    said, lines, kind = witness(row)

    assert ("n00, a node here, would newly match", "real") == (said, kind)
    assert ["labels:", *(f"  {line}" for line in told)] == list(lines)


@pytest.mark.parametrize(("entries", "more"), [(15, []), (16, ["… 1 more line"]), (17, ["… 2 more lines"])])
def test_sixteen_lines_of_a_change_are_shown(entries, more):
    """Of more the last line says how many there are."""
    page = draw(zoned(2, 2).may("app", {"spec": {"nodeSelector": {ZONE_LABEL: "z1", **{f"k{number:02}": "v" for number in range(entries + 1)}}}}), 900)

    assert (min(16, entries + 1), more) == (page.count('class="k-add"'), re.findall(r"… [^<\n]+", page))


STATES = {  # what is asked -> the squares before and after, what it does to the nodes, the witness, what is said without one
    '{"spec": {"nodeSelector": {"k": "v"}}}': (
        "narrower", "a: matches now, matches no longer|b: does not match now, does not match", "no node here matches any more",
        ("no node here matches", (), ""), "allowed all the same: a patch may narrow to nothing"),
    '{"spec": {"nodeSelector": {"ZONE": "b"}}}': (
        "different", "a: matches now, matches no longer|b: does not match now, would newly match", "other nodes",
        ("b1, a node here, would newly match", ("labels:", f"  {HOST}: b1", f"  {ZONE_LABEL}: b"), "real"), ""),
    '{"spec": {"nodeSelector": {"ZONE": "c"}}}': (
        "different", "a: matches now, matches no longer|b: does not match now, does not match", "other nodes",
        ("new-node, made up, would newly match", ("labels:", f"  {ZONE_LABEL}: c"), "made"), ""),
    '{"spec": {"nodeSelector": null}}': (
        "wider", "a: matches now, would still match|b: does not match now, would newly match", "wider",
        ("b1, a node here, would newly match", ("labels:", f"  {HOST}: b1", f"  {ZONE_LABEL}: b"), "real"), ""),
    '{"spec": {"tolerations": null}}': (
        "same", "a: matches now, would still match|b: does not match now, does not match", "where it may go stays as it is",
        ("the same nodes match", (), ""), "neither nodeSelector nor node affinity changes"),
    '{"metadata": {"labels": {"a": "b"}}}': (
        "same", "a: matches now, still matches|b: does not match now, does not match", "where it may go stays as it is",
        ("the same nodes match", (), ""), "neither nodeSelector nor node affinity changes"),
    '{"spec": {"nodeSelector": {"HOST": "a1"}}}': (
        "narrower", "a: matches now, still matches|b: does not match now, does not match", "narrower",
        ("no node newly matches", (), ""), "proved for every node that can exist"),
    '{"spec": {"nodeSelector": 3}}': ("unknown", "", "no pod is left", ("", (), ""), ""),
}  # fmt: skip


@pytest.mark.parametrize("patch", STATES)
def test_each_patch_has_its_squares_its_effect_and_its_witness(patch):
    """Every node has its state before and after in words, and what the patch does to all that can exist has a card or a sentence."""
    c = Cluster.from_manifests([make.node("b1", "b"), make.node("a1", "a"), make.pod("app", gates=("a/b",), nodeSelector={ZONE_LABEL: "a"},
                                                                                      tolerations=[{"key": "k", "operator": "Exists"}])])  # fmt: skip
    answers = c.may("app", patch.replace("ZONE", ZONE_LABEL).replace("HOST", HOST))
    states = dict.fromkeys(re.findall(r'aria-label="\w1, (\w: match[^"]*|\w: does not match[^"]*)"', draw(answers, 900)))

    assert STATES[patch] == (answers[0].relation, "|".join(states), effect(answers[0]), witness(answers[0]), note(answers[0]))


MATCHES, NOT, NO_LONGER = ("s-ok k-on", "matches"), ("chip k-soft", "does not match"), ("chip k-old", "matches no longer")
SOLID, DASHED = ("chip", "solid card: a node of the cluster"), ("chip k-part", "dashed card: made up to show it")


@pytest.mark.parametrize(("count", "wanted", "told"), [
    (3, [{"a": "b"}], [NOT, MATCHES, NO_LONGER]), (3, [{ZONE_LABEL: "z1"}], [NOT, MATCHES]), (3, [3], []),
    (3, [None], [NOT, MATCHES, ("newly", "newly matches: what makes a patch wider"), ("would k-t-ok", "would match if the patch were allowed"), SOLID]),
    (3, [{ZONE_LABEL: "zz"}], [NOT, MATCHES, NO_LONGER, DASHED]), (25, [{ZONE_LABEL: "zz"}, {ZONE_LABEL: "z2"}], [SOLID, DASHED]),
])  # fmt: skip
def test_a_legend_says_what_is_drawn_and_no_more(count, wanted, told):
    """The grounds of squares in the order in which they are met, then the cards of witnesses; bars need no legend."""
    page = draw(zoned(count, 3).may("app", *({"spec": {"nodeSelector": each}} for each in wanted)), 900)
    legend = re.findall(r'<span><span class="k-square k-([^"]+)">\u00a0</span> ([^<]+)', page)

    assert told == legend


def test_the_figure_reads_as_the_answer_prints(answers):
    """Notebook tests compare the lines; the picture is beside them."""
    assert repr(answers) == repr(answers.figure())


def test_what_may_change_has_a_row_each_that_opens():
    """Suggested changes are short rows, each with its detail folded below; the head says which rules."""
    page = gated().may("nightly").figure().draw(720, "")
    assert "What may I change on nightly? " in page
    assert len(gated().may("nightly")) == page.count("<details")
    assert "Now 4 of 6 nodes match. Of the spec of a gated pod only these " in told(page)
    assert " immutable. Tried on its own spec, each alone.1✓ allowed" in told(page)
    assert "not today&#39;s" in gated(revision="design").may("nightly").figure().draw(828, "")


def test_without_a_patch_the_page_asks_for_one(answers):
    """A workbench begins with the sentence that says what to do, and with no row."""
    page = draw(attrs.evolve(answers, rows=()), 828)
    assert ("No patch yet. Write one, and see what the API server answers." in page, page.count("<details")) == (True, 0)


def test_many_patches_are_folded():
    """Twenty-one patches are a row each, of which only the selected one is open."""
    page = gated().may("nightly", *ALL * 3)
    opened = [[each.get("open") for each in parsed(draw(page, 828, selection)).iter("details")]
              for selection in ("", "patch/2")]
    assert [[None] * 21, [None, "open", *[None] * 19]] == opened
    assert "<details" not in draw(attrs.evolve(page, rows=page.rows[:7]), 828)
