"""The verdict matrix: every cell has a glyph, the first rejection is strong, and the reading says the same."""

import re
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve

from kvolsched.views import frame as f
from kvolsched.views.drawing import text
from kvolsched.views.pictures import matrix, scores
from kvolsched.views.pictures.picture import NAMED

from . import frames, plain

HOSTILE = "\"><img src=x onerror=alert(1)>&'{}"
NS = "{http://www.w3.org/2000/svg}"

LEGEND = 3  # lines of a reading that say what letters and glyphs mean


def parsed(svg):
    """Parse a picture: it must be well-formed XML."""
    return ET.fromstring(svg)  # noqa: S314 - our own string


def cells(svg):
    """Return (ref, name) of every cell of a drawn matrix; a cell without a name has its row's."""
    return [
        (e.get("data-ref"), e.get("aria-label") or row.get("data-say"))
        for row in parsed(svg).iter(NS + "g")
        for e in row
        if "verdict/" in (e.get("data-ref") or "")
    ]


def glyphs(svg):
    """Return all glyphs that stand in cells of the table, the legend left out."""
    rows = [g for g in parsed(svg).iter(NS + "g") if g.get("role") == "row"]
    return "".join(t.text for row in rows for t in row.iter(NS + "text") if "k-g" in t.get("class", ""))


def test_reading_of_pass_two_word_for_word():
    """The reading gives letters, glyphs, the first rejection in words, and what each letter and glyph means."""
    expected = """\
pass 2 of pod/web-0: 1 of 3 nodes fit
node    U T A P F R L V Z S
node-a  ✓ ✓ ✓ – ✓ – ✓ ✓ – –  fits, chosen
node-b  ✓ ✓ ✓ – ✕ – ✓ × – –  NodeResourcesFit: Insufficient cpu
node-c  ✓ ✓ ✓ – ✓ – ✓ ⊘ – –  VolumeBinding: node(s) had volume node affinity conflict
U NodeUnschedulable, T TaintToleration, A NodeAffinity, P NodePorts, F NodeResourcesFit, R VolumeRestrictions,
L NodeVolumeLimits, V VolumeBinding, Z VolumeZone, S PodTopologySpread
✓ passes, – nothing to ask, ✕ rejects first, ⊘ rejects first; removing pods cannot help, × would also reject"""
    assert expected == matrix.reading(frames.zonal(12))


def test_reading_ends_with_the_words_of_the_selected_cell():
    """A cell's reasons and both sides of its comparison follow the table."""
    expected = [
        "✕ NodeResourcesFit on node-b: Insufficient cpu",
        "  requests.cpu 500m > allocatable 4000m − requested 3800m = 200m",
    ]
    assert expected == matrix.reading(frames.with_cell(frames.zonal(5))).splitlines()[-2:]


def test_before_the_first_pass_a_sentence_stands_for_the_table():
    """An empty matrix says what will fill it, in picture and reading."""
    frame = frames.zonal(4)
    assert matrix.EMPTY == matrix.reading(frame)
    assert matrix.EMPTY in matrix.draw(frame, 700)
    assert matrix.EMPTY == scores.reading(frame)


@pytest.mark.parametrize("frame", [*frames.zonal_run()[5:], frames.twelve(), frames.many(24), frames.many(200)])
@pytest.mark.parametrize("width", [700, 1400])
def test_no_cell_is_blank(frame, width):
    """Every row has one named cell and one glyph for each plugin."""
    svg = matrix.draw(frame, width)
    drawn, count = cells(svg), len(frame.verdicts.plugins)
    rows = len({ref.split("/")[1] for ref, _ in drawn})
    assert rows * count == len(drawn) == len(glyphs(svg))
    assert set(glyphs(svg)) <= set("✓–✕⊘!·")
    assert all(name for _, name in drawn)


@pytest.mark.parametrize("width", [438, 455])
def test_half_a_panel_names_the_plugin_that_rejects_and_counts_the_nodes(width):
    """In windows of 1366 and 1400 px beside the file browser nothing of a row's outcome is cut, nor how many fit."""
    frame = frames.twelve()
    plugins = tuple(evolve(each, name="PodTopologySpread") if each.letter == "F" else each
                    for each in frame.verdicts.plugins)
    frame = evolve(frame, verdicts=evolve(frame.verdicts, plugins=plugins, pod="pod/web-8547748d59-b28vq"))
    texts = [each.text or "" for each in parsed(matrix.draw(frame, width)).iter(NS + "text")]

    assert [] == [each for each in texts if "PodTopo" in each and each != "PodTopologySpread"]
    assert texts.count("PodTopologySpread") > 1
    assert re.search(r"\d+ of 12 nodes fit</text>", matrix.caption(frame, width))


def test_the_first_rejection_is_strong_and_later_ones_are_outlined():
    """In pass 2 node-b is rejected by resources first; the volume would also reject it."""
    names = dict(cells(matrix.draw(frames.zonal(12), 1000)))
    assert "NodeResourcesFit rejects first" == names["verdict/node-b/NodeResourcesFit"]
    assert "VolumeBinding would also reject" == names["verdict/node-b/VolumeBinding"]
    expected = "VolumeBinding rejects first; removing pods cannot help"
    assert expected == names["verdict/node-c/VolumeBinding"]


def test_more_than_24_nodes_are_grouped_by_equal_codes():
    """Patterns stand feasible first, then by size, and their counts add up to all nodes."""
    lines = matrix.reading(frames.many(200)).splitlines()[2:-LEGEND]
    counts = [int(m[1]) if (m := re.match(r"(\d+) nodes e\.g\.", line)) else 1 for line in lines]
    assert 200 == sum(counts)
    feasible = [line.endswith(("fits", "fits, chosen")) for line in lines]
    assert sorted(feasible, reverse=True) == feasible
    rejected = counts[feasible.count(True) :]
    assert sorted(rejected, reverse=True) == rejected


@pytest.mark.parametrize(("room", "told"), [
    (34, []), (34.5, ["no…-1"]), (39, ["nod…-1"]), (41, ["node-a-1"]), (59, ["node-a-1"]), (60, ["e.g. node-a-1"]),
])  # fmt: skip
def test_a_row_of_many_nodes_names_one_of_them_where_there_is_room(room, told):
    """Beside their number stands an example, without the words for it or cut if need be, or none of it."""
    left = text.width("124 nodes", 12, bold=True) + 10 + 6 + room
    drawn = matrix._row_name("node-a-1", 124, 0, left, on=False)

    assert ["124 nodes", *told] == re.findall(r"<text[^>]*>([^<]*)", drawn)
    assert 'aria-label="124 nodes, for example node-a-1"' in drawn


def test_more_than_24_patterns_end_in_a_count():
    """Nothing is dropped in silence: the last line of the table counts the patterns and nodes left out."""
    rows = tuple(
        plain.VerdictRow(f"n{i:03d}", "".join("px"[i >> b & 1] for b in range(10)), (i & -i).bit_length() - 1)
        for i in range(1, 61)
    )
    frame = evolve(frames.zonal(5), verdicts=f.Verdicts("pod/web-0", 1, frames.PLUGINS, rows))
    assert "… 36 more patterns, 36 nodes" == matrix.reading(frame).splitlines()[-1 - LEGEND]
    assert "… 36 more patterns, 36 nodes" in matrix.draw(frame, 1000)


def test_first_to_reject_counts_stand_under_their_plugins():
    """The foot counts each node once, at the plugin that rejects it first."""
    root = parsed(matrix.draw(frames.twelve(), 1000))
    foot = [t.text for t in root.iter(NS + "text") if re.fullmatch(r"\d+", t.text or "")]
    assert ["1", "1", "0", "0", "3", "0", "0", "1", "0", "0"] == foot


def test_prefilter_rejects_the_whole_pod_in_one_row():
    """No node was asked: all cells are dots, and one row says which plugin and why."""
    rows = tuple(plain.VerdictRow(name, "." * 10) for name in ("node-a", "node-b"))
    words = 'persistentvolumeclaim "data-web-0" not found'
    verdicts = f.Verdicts("pod/web-0", 1, frames.PLUGINS, rows, prefilter=words, prefilter_plugin="VolumeBinding")
    frame = evolve(frames.zonal(5), verdicts=verdicts)
    assert "." not in glyphs(matrix.draw(frame, 900))
    assert "·" * 20 == glyphs(matrix.draw(frame, 900))
    expected = f"⊘ VolumeBinding rejected the pod before any node: {words}"
    assert expected == matrix.reading(frame).splitlines()[-1 - LEGEND]
    assert "0 of 2 nodes fit" in matrix.reading(frame)


def test_changed_rules_are_said():
    """When judging again gives other codes, the caption and the reading say so."""
    frame = frames.zonal(5)
    frame = evolve(frame, verdicts=evolve(frame.verdicts, rules_changed=True))
    assert "the rules have changed since" in matrix.draw(frame, 900)
    assert "the rules have changed since" in matrix.reading(frame)


def test_a_selected_cell_is_ringed_and_its_row_marked():
    """Selection marks the cell, the row and brings the rule's words."""
    frame, ref = frames.with_cell(frames.zonal(5)), "verdict/node-b/NodeResourcesFit"
    svg = matrix.draw(frame, 900, ref)
    assert 1 == svg.count('class="k-ring"')
    assert "requests.cpu 500m &gt; allocatable" in svg
    plain = matrix.draw(evolve(frame, verdicts=evolve(frame.verdicts, cell=None)), 900)
    assert "k-s-accent" in svg
    assert "k-s-accent" not in plain


def test_a_selected_zone_marks_its_rows():
    """The four nodes of zone-b are marked when the zone is selected."""
    svg = matrix.draw(frames.twelve(), 900, "zone/zone-b")
    assert 4 == svg.count("k-t-accent")


def test_hostile_names_and_words_are_escaped():
    """Markup in a node's name, a reason and a plugin's name stays text, and the picture stays XML."""
    frame = frames.with_cell(frames.zonal(5))
    v = frame.verdicts
    v = evolve(
        v, rows=(evolve(v.rows[0], node=HOSTILE), *v.rows[1:]),
        plugins=(f.PluginHead(HOSTILE, "<", "node"), *v.plugins[1:]),
        cell=evolve(v.cell, reasons=(HOSTILE,), evidence=(HOSTILE,)),
    )  # fmt: skip
    for drawn in (matrix.draw(evolve(frame, verdicts=v), 700), NAMED["scores"].svg(evolve(frame, verdicts=v), 700)):
        parsed(drawn)
        assert "<img" not in drawn


def test_scores_say_raw_normalised_weight_and_sum():
    """The reading of scores writes the sum as the scheduler makes it."""
    expected = """\
scores of pass 1 of pod/web-0
node-a  87  NodeResourcesFit 57 → 57 × 1 = 57, NodeResourcesBalancedAllocation 30 → 30 × 1 = 30"""
    assert expected == scores.reading(frames.zonal(5))


def test_without_scores_a_sentence_says_why():
    """A pass over twelve nodes without score rows says that none was scored."""
    assert scores.UNSCORED == scores.reading(frames.twelve())
    assert scores.UNSCORED in NAMED["scores"].svg(frames.twelve(), 900)


def test_a_renamed_plugin_has_both_names_in_its_head_and_one_in_the_last_column():
    """The rule's words find their cell by the first name, and the last column does not cut it."""
    frame = frames.with_cell(frames.zonal(5))
    head = f.PluginHead("NodeResourcesFit (PodFitsResources)", "F", "resources")
    plugins = tuple(head if p.letter == "F" else p for p in frame.verdicts.plugins)
    frame = evolve(frame, verdicts=evolve(frame.verdicts, plugins=plugins))
    svg = matrix.draw(frame, 900, "verdict/node-b/NodeResourcesFit (PodFitsResources)")
    assert "requests.cpu 500m &gt; allocatable" in svg
    assert (1, 1) == (svg.count(">NodeResourcesFit (PodFitsResources)<"), svg.count(">Insufficient cpu</text>"))
    told = evolve(frame, nodes=tuple(evolve(n, reason="") for n in frame.nodes))
    assert 1 == matrix.draw(told, 900).count(">NodeResourcesFit</text>")
