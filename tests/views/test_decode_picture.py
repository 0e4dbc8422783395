"""The picture of a decoded sentence: clauses in their places, the sieve, and every width."""

import re
from pathlib import Path

import pytest

from kvolsched import decode
from kvolsched.views.pages.decode import draw, marked

from .pages import parsed, told

TWO = ("0/6 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity, 4 node(s) didn't match Pod's "
       "node affinity/selector. no new claims to deallocate, preemption: 0/6 nodes are available: "
       "6 Preemption is not helpful for scheduling.")  # fmt: skip
BOTH = ("0/5000 nodes are available: 1200 Insufficient cpu, 3000 Insufficient memory, 800 node(s) had untolerated taint "
        "{gpu: true}, 400 node(s) were unschedulable, 300 vendor says <script>no</script>.")  # fmt: skip
WHOLE = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims."
LONG = "0/2 nodes are available: 2 node(s) had untolerated taint {" + "example.com/" + "x" * 120 + ": y}."
DESCRIBED = """Warning  FailedScheduling  5m  default-scheduler  0/2 nodes are available: 2 Insufficient cpu.
Normal  NotTriggerScaleUp  4m  cluster-autoscaler  pod didn't trigger scale-up: 1 Insufficient cpu, 1 max node group size reached
Warning  FailedScheduling  3m  default-scheduler  0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory."""
CUT = "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had…"
DOCUMENTED = (Path(__file__).parent.parent / "documented_sentences.txt").read_text(encoding="utf-8").splitlines()


def stages(sentence):
    """Return (plugin, least, most) of each plugin that stops nodes."""
    return [(gate.plugin, gate.least, gate.most) for gate in marked(decode(sentence)).gates if gate.most]


def test_nodes_stop_in_the_order_of_the_plugins():
    """The sieve asks plugins in kube-scheduler's order, not in the order of the sentence."""
    assert [("NodeAffinity", 4, 4), ("VolumeBinding", 2, 2)] == stages(TWO)
    assert "Two plugins share the blame: 4 nodes at NodeAffinity, 2 at VolumeBinding" == marked(decode(TWO)).headline


def test_several_reasons_of_one_node_are_not_counted_twice():
    """Where counts exceed the nodes, what one plugin stops follows from the others, or stays a range."""
    assert ("NodeResourcesFit", 3500, 3500) in stages(BOTH)
    assert ("?", 300, 300) in stages(BOTH)
    assert "700 of them have both reasons" in draw(decode(BOTH), 940)
    two = "0/3 nodes are available: 2 Insufficient cpu, 3 Insufficient memory."
    assert [("NodeResourcesFit", 3, 3)] == stages(two)
    short = "0/9 nodes are available: 2 Insufficient cpu, 3 Insufficient memory."
    assert [("NodeResourcesFit", 3, 5)] == stages(short)


def test_a_rejection_of_the_pod_asks_no_node():
    """A clause without count stops every node before the first plugin."""
    rows = marked(decode(WHOLE))
    assert "VolumeBinding rejects the pod: no node is asked" == rows.headline
    assert [("VolumeBinding", 3, 3)] == stages(WHOLE)
    assert "VolumeBinding" == rows.gates[0].plugin
    preempted = WHOLE + " preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    assert (rows.headline, [("VolumeBinding", 3, 3)]) == (marked(decode(preempted)).headline, stages(preempted))


def test_what_prefilter_leaves_out_is_counted():
    """Nodes that PreFilter leaves out are counted like others; only where it leaves none is no node asked."""
    some, every = (f"0/5 nodes are available: {count} node(s) didn't satisfy plugin(s) [NodeAffinity]." for count in (2, 5))

    assert [("PreFilter", 2, 2)] == stages(some)
    assert "2 of 5 nodes stop at PreFilter" == marked(decode(some)).headline
    assert "2 stop at PreFilter" in told(draw(decode(some), 940))
    assert "PreFilter rejects the pod: no node is asked" == marked(decode(every)).headline
    assert "PreFilter rejects the pod" in told(draw(decode(every), 940))


def test_a_sentence_that_counts_no_nodes_has_no_sieve():
    """Where a sentence does not say of how many nodes it speaks, or of none, no plugin stops any."""
    for before in ("", "0/0 nodes are available: "):
        rows = marked(decode(f"{before}pod has unbound immediate PersistentVolumeClaims"))

        assert (0, (), "A sentence of VolumeBinding") == (rows.size, rows.gates, rows.headline)


def test_every_clause_is_marked_where_it_stands():
    """Each clause of each documented sentence has its place in the sentence, in which its words are found again."""
    for sentence in DOCUMENTED:
        rows = marked(decode(sentence))
        for clause in rows.clauses:
            assert clause.start >= 0, (sentence, clause.of.clause)
            assert clause.of.clause in rows.sentence[clause.start : clause.end]


def test_a_clause_is_marked_in_its_own_message():
    """What an autoscaler counts is marked within its sentence, also where a later message has the same words."""
    rows = marked(decode(DESCRIBED))

    assert ["2 Insufficient cpu", "pod didn't trigger scale-up: 1 Insufficient cpu, 1 max node group size reached",
            "1 Insufficient cpu", "1 max node group size reached", "1 Insufficient cpu", "1 Insufficient memory"] == [
                rows.sentence[clause.start : clause.end] for clause in rows.clauses]  # fmt: skip
    assert sorted({clause.start for clause in rows.clauses}) == [clause.start for clause in rows.clauses]
    again = decode('0/9 nodes are available: 1 running PreBind plugin "x": 0/2 nodes are available: 2 a, 2 a.')
    assert [(25, 83), (-1, -1)] == [(clause.start, clause.end) for clause in marked(again).clauses][::2]
    assert told(draw(again, 940)).startswith("Two plugins share the blame: 2 nodes at an unknown rule, 1 at kube-scheduler")


def test_a_command_is_copied_as_one_line():
    """The kubectl line of a clause stands as one piece of text, as `decode` gives it."""
    found = decode(TWO)
    commands = [each.text for each in parsed(draw(found, 520)).iter("code")]
    assert found[0].next_line == commands[0]


def test_an_answer_shows_its_picture_and_prints_its_lines():
    """The figure of an answer reads as the answer prints."""
    found = decode(TWO)
    assert repr(found) == repr(found.figure())
    assert {"application/javascript", "text/plain"} <= set(found._repr_mimebundle_())


def test_the_picture_names_the_incidents_that_the_text_names():
    """The incidents of each clause stand in its row and in the words of the picture."""
    found = decode("pod/web-0: 0/2 nodes are available: 2 node(s) had volume node affinity conflict.")
    names = [name for row in found for name in row.incidents_to_play]
    svg = draw(found, 940)

    assert len(names) >= 2
    assert [] == [name for name in names if f'kvolsched.incident("{name}")' not in told(svg)]
    assert [] == [name for name in names if name not in repr(found)]


def test_a_cut_sentence_says_so_in_its_picture():
    """The last clause says that the sentence was cut there, and one cut before any reason says that instead."""
    found = decode(CUT)
    assert [("Insufficient cpu", False), ("node(s) had…", True)] == [(row.of.clause, row.of.cut) for row in marked(found).clauses]
    assert "The sentence was cut here" in draw(found, 940)
    assert "The sentence was cut before any rule" == marked(decode("0/5 nodes are available: ...")).headline


@pytest.mark.parametrize(("sentence", "bands"), [
    ("0/5000 nodes are available: 1 Insufficient cpu, 4999 node(s) were unschedulable.", [("node", "50.5"), ("resources", "1.5")]),
    ("0/13 nodes are available: 6 Insufficient cpu, 7 node(s) were unschedulable.", [("node", "26.5"), ("resources", "22.5")]),
    ("0/13 nodes are available: 6 Insufficient cpu, 6 node(s) were unschedulable.", [("node", "22.5"), ("resources", "22.5"), ("none", "2.5")]),
    ("0/12 nodes are available: 12 Insufficient cpu.", [("resources", "2.8")] * 12),
    ("0/3 nodes are available: 1 Insufficient cpu.", [("resources", "4"), *[("none", "4")] * 2]),
])  # fmt: skip
def test_nodes_are_lines_or_bands_to_scale(sentence, bands):
    """Up to twelve nodes are a line each; of more a band has their share of the height, at least one and a half px."""
    drawn = re.findall(r'<rect class="k-s-(\w+)" x="128" y="[\d.]+" width="[\d.]+" height="([\d.]+)"', draw(decode(sentence), 940))

    assert bands == drawn


def test_a_sieve_stands_where_it_has_room():
    """Its plugins are at equal distances, wider if they stop a node; the words at the left begin at the edge, those below stand under their plugin."""
    page = draw(decode("0/3 nodes are available: 1 Insufficient cpu, 1 blue moon."), 560)
    boxes = re.findall(r'<rect class="(k-[^b][^"]+)" x="([\d.]+)" y="0" width="(\d+)" height="60" rx="3"/>', page)
    words = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" class="([^"]+)">([^<]+)', page)
    blanks = re.findall(r'<rect class="k-blank" x="([\d.]+)" y="(-?\d+)" width="([\d.]+)" height="(\d+)"', page)

    assert [("k-p-node", "98.3", "16"), ("k-p-node", "126.9", "16"), ("k-s-resources", "240.4", "18"), ("k-p-storage", "270", "16"),
            ("k-also k-l-ink k-part", "440.7", "18")] == [boxes[place] for place in (0, 1, 5, 6, 12)]  # fmt: skip
    assert [("96.3", "-1", "20", "62"), ("238.4", "-1", "22", "62"), ("163.7", "66", "171.4", "28"), ("358.6", "66", "182.2", "28")] == [
        blanks[place] for place in (0, 5, 13, 14)]  # fmt: skip
    assert [("106.3", "34", "k-letters k-t-node", "U"), ("249.4", "35", "k-letters k-big k-on", "F"), ("449.7", "35", "k-letters k-big", "?")] == [
        words[place] for place in (0, 5, 12)]  # fmt: skip
    assert [
        ("0", "26", "k-h", "3 nodes"), ("0", "41", "k-w", "come in; the"), ("0", "54", "k-w", "order of asking"), ("476", "26", "k-h", "1 of 3"),
        ("476", "41", "k-w", "in no clause"), ("249.4", "78", "k-m k-b k-mid k-t-resources", "1 stops at NodeResourcesFit"),
        ("249.4", "91", "k-w k-mid", "no later plugin is asked about them"), ("449.7", "78", "k-m k-b k-mid k-strong", "1 stops at an unknown rule"),
        ("449.7", "91", "k-w k-mid", "1 at least: the 1 before may fail here too"),
    ] == words[13:]  # fmt: skip
    assert ["M249.4 60V66", "M449.7 60V66"] == re.findall(r'<path d="([^"]+)" class="k-l-none"', page)
    assert '<svg xmlns="http://www.w3.org/2000/svg" width="560" height="102"' in page
    wide = draw(decode("0/3 nodes are available: 1 Insufficient cpu, 1 blue moon."), 940)
    assert [("0", "26", "k-h", "3 nodes come in"), ("0", "41", "k-w", "plugins ask in this order"), ("826", "26", "k-h", "1 of 3")] == re.findall(
        r'<text x="([\d.]+)" y="([\d.]+)" class="([^"]+)">([^<]+)', wide)[13:16]


def test_how_many_nodes_come_in_stays_beside_the_sieve():
    """The number of nodes stands in bold at the left, of a large cluster in fewer words."""
    def comes_in(number):
        page = draw(decode(f"0/{number} nodes are available: {number} Insufficient cpu."), 940)
        return re.findall(rf'class="k-h"[^>]*>({number} [^<]*)<', page)

    assert [["1 node comes in"], ["9999 nodes come in"], ["12000 come in"]] == [comes_in(number) for number in (1, 9999, 12000)]


@pytest.mark.parametrize("width", [560, 940])
@pytest.mark.parametrize("size", [5000, 12_000, 130_000])
def test_the_message_of_a_large_cluster_is_decoded_and_drawn_whole(size, width):
    """Each count of thousands of nodes is read, and beside the sieve no word is cut, whether all nodes are counted or not."""
    for left in (0, 1000):
        taints = size - 3000 - left
        clauses = f"{taints} node(s) had untolerated taint(s), 1200 node(s) didn't match Pod's node affinity/selector, 1800 Too many pods"
        helpless = f"preemption: 0/{size} nodes are available: {size - 1800} Preemption is not helpful for scheduling, 1800 No preemption victims found for incoming pod."
        found = decode(f"0/{size} nodes are available: {clauses}. no new claims to deallocate, {helpless}")

        assert () == found.unknown
        assert [taints, 1200, 1800, None, size - 1800, 1800] == [row.count for row in found]
        assert {size} == {row.size for row in found}
        assert [] == [words for words in re.findall(r">([^<>]+)<", draw(found, width)) if "…" in words]
