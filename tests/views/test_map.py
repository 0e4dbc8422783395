"""The cluster map: what it says, that it parses, that it fits, and what stays where it is."""

import re
from collections import Counter
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve

import kvolsched
from kvolsched.views import frame as f
from kvolsched.views.drawing import svg, text
from kvolsched.views.drawing.scene import Box, Scene
from kvolsched.views.fill import frame_of
from kvolsched.views.pictures import cluster_map, headline, map_cards, map_groups, map_pods, map_tiles, states

from . import frames, plain

WIDTHS = (700, 1400)


def parsed(svg):
    """Parse a picture, its namespace left out."""
    return ET.fromstring(svg.replace(' xmlns="http://www.w3.org/2000/svg"', ""))  # noqa: S314 - our own string


def test_words_about_a_pod_give_way_to_its_name():
    """In a narrow block, and in the node where it is assumed, the pod's name is whole."""
    pods = (plain.PodRow("pod/my-pod", "my-pod", state="assumed", assumed_node="node-0", in_focus=True, queue="waiting for volumes"),)
    nodes = tuple(plain.NodeRow(f"node/node-{i}", f"node-{i}", (("z", str(i)),)) for i in range(5))
    said = [word.text for word in parsed(cluster_map.draw(f.Frame(pods=pods, nodes=nodes), 700, key="z")).iter("text")]
    assert said.count("my-pod") == 2


def test_the_letters_of_cards_stand_in_a_legend():
    """Below the cards stands the plugin of each letter that they show, and no other; a map without letters has none."""
    parts = {e.get("data-key"): e for e in parsed(cluster_map.draw(frames.zonal(12), 1000)).iter("g")}

    assert ["F", "NodeResourcesFit", "V", "VolumeBinding"] == [t.text for t in parts["0:letters"].iter("text")]
    assert "0:letters" not in cluster_map.draw(frames.zonal(0), 1000)


def test_reading_of_the_half_bound_step():
    """The reading names what waits, each node with its verdict, its pods and the volumes of its domain."""
    expected = """\
waiting  pod web-0 Waiting for volumes
           claim data-web-0 100Gi zonal-class: selected-node node-a
zone us-central1-a
  node node-a  cpu 1200m/4000m  mem 3Gi/16Gi  ✓ fits, chosen
    pod api-0 Running
  volume volume-1 100Gi zonal-class: reserved (claimRef), claimRef data-web-0
zone us-central1-b
  node node-b  cpu 3800m/4000m  mem 12Gi/16Gi  ✕ NodeResourcesFit: Insufficient cpu
    pod batch-7 Running
    pod batch-9 Running
zone us-central1-c
  node node-c  cpu 600m/4000m  mem 2Gi/16Gi  ⊘ VolumeBinding: didn't find available persistent volumes to bind
    pod api-1 Running"""
    assert expected == cluster_map.reading(frames.zonal(8))


def test_reading_of_many_nodes_is_one_line_a_domain():
    """Over 24 nodes the reading counts verdicts instead of naming nodes, and says whose verdicts they are."""
    lines = cluster_map.reading(frames.many(200)).splitlines()
    assert len(lines) == 6
    assert lines[2] == "verdicts: pass 1 of db-6"
    assert lines[3].startswith("zone zone-a  67 nodes  31 fits, ")


def test_nodes_that_nobody_judged_are_seen():
    """Before the first pass each of many nodes is an outlined cell on a ground of another colour."""
    frame = frames.many(200)
    nodes = tuple(evolve(node, verdict="not judged", first=-1, reason="") for node in frame.nodes)
    svg = cluster_map.draw(evolve(frame, nodes=nodes, verdicts=f.Verdicts()), 1000)
    grounds = {group.get("class") for group in parsed(svg).iter("g") if group.get("data-say")}

    assert {"k-blank k-l-none"} == grounds
    assert 200 == svg.count('data-ref="node/') - 1  # one is opened below


@pytest.mark.parametrize("rules", ["design", "upstream"])
@pytest.mark.parametrize("width", WIDTHS)
def test_no_link_runs_through_a_label(rules, width):
    """The name of a kind of link stands where no link runs, at every step of two pods that choose at the same time."""
    cluster = kvolsched.scenario("replicated-database", rules)
    for _ in range(14):
        cluster.step()
        svg = parsed(cluster_map.draw(frame_of(cluster), width))
        ways = [re.findall(r"[ML]([\d.]+) ([\d.]+)", path.get("d", "")) for path in svg.iter("path")
                if "k-link" in path.get("class", "")]
        for label in (group.find("rect") for group in svg.iter("g") if group.get("data-key", "").startswith("8:")):
            x, y, wide, high = (float(label.get(side)) for side in ("x", "y", "width", "height"))
            crossed = [
                way for way in ways for (ax, ay), (bx, by) in pairwise([(float(a), float(b)) for a, b in way])
                if min(ax, bx) < x + wide and max(ax, bx) > x and min(ay, by) < y + high and max(ay, by) > y
            ]

            assert [] == crossed
            assert 0 <= x <= width - wide


def test_empty_worlds_say_so():
    """Without nodes, without waiting pods and without volumes the map says it in words."""
    assert cluster_map.reading(f.Frame()) == cluster_map.EMPTY
    assert cluster_map.EMPTY in cluster_map.draw(f.Frame(), 700)
    drawn = cluster_map.draw(frames.zonal(14), 700)
    assert ("Nothing is waiting." in drawn, "no volume in reach" in drawn) == (True, True)
    assert cluster_map.draw(frames.zonal(4), 700).count("not judged yet") >= 3


def test_truth_is_solid_and_belief_is_dashed():
    """A pod that is only assumed keeps its block in the tray and gets a dashed ghost in the node."""
    drawn = cluster_map.draw(frames.zonal(12), 1000)
    assert ("k-pod k-dash" in drawn, "4:ghost pod/web-0" in drawn) == (True, True)
    bound = cluster_map.draw(frames.zonal(13), 1000)
    assert ("k-pod k-dash" in bound, "ghost" in bound) == (False, False)


@pytest.mark.parametrize(
    ("step", "links"),
    [
        (4, []),
        (5, ["7:pvc/data-web-0 node/node-a"]),
        (8, ["7:pvc/data-web-0 node/node-a", "7:pvc/data-web-0 pv/volume-1"]),
        (14, ["7:pvc/data-web-0 pv/volume-1"]),
    ],
)
def test_links_say_who_is_promised_to_whom(step, links):
    """Assumed, annotated, claimRef only and bound each have their link, and nothing else has."""
    keys = [g.get("data-key") for g in parsed(cluster_map.draw(frames.zonal(step), 1000)).iter("g")]
    assert links == [key for key in keys if key and key.startswith("7:")]


def test_nothing_jumps_when_the_pod_lands():
    """Cards and domains of the zonal example stand at the same place in all fifteen steps."""
    places = set()
    for frame in frames.zonal_run():
        groups = [(g.get("data-key", ""), g.get("style")) for g in parsed(cluster_map.draw(frame, 1000)).iter("g")]
        places.add(tuple(place for place in groups if place[0].startswith(("1:zone/", "2:node/"))))
    assert len(places) == 1


def test_siblings_stand_in_the_order_of_their_keys():
    """The host keeps elements in place only when siblings are sorted."""
    for frame in (frames.zonal(8), frames.twelve(), frames.many(200)):
        keys = [g.get("data-key") for g in parsed(cluster_map.draw(frame, 1000))]
        assert sorted(keys) == keys
        assert len(set(keys)) == len(keys)


def test_what_changed_glows_and_what_is_selected_is_ringed():
    """Hot refs have the halo, the selected ref and what it concerns the ring and aria-pressed."""
    drawn = cluster_map.draw(frames.zonal(8), 1000, "verdict/node-b/NodeResourcesFit")
    pressed = re.findall(r'data-ref="([^"]*)"[^>]*aria-pressed="true"', drawn)
    assert (pressed, drawn.count("k-ring"), drawn.count("k-glow")) == (["node/node-b"], 1, 1)
    bound = cluster_map.draw(frames.zonal(14), 1000, "pod/web-0")
    pod = re.findall(r'data-ref="([^"]*)"[^>]*aria-pressed="true"', bound)
    assert pod == ["pv/volume-1", "pod/web-0"]


def test_everything_selectable_has_role_and_name():
    """In cards each ref has role and name; a cell's are given by the host from its group."""
    for element in parsed(cluster_map.draw(frames.zonal(12), 1000)).iter():
        if element.get("data-ref"):
            assert (element.get("role"), bool(element.get("aria-label"))) == ("button", True)
    cells = parsed(cluster_map.draw(frames.many(200), 1000))
    said = [g for g in cells.iter("g") if g.get("data-say")]
    assert sum(len(g) for g in said) == 200


def test_only_known_states_are_drawn():
    """Every state of a pod and a claim has its glyph; only states of volumes have a level."""
    assert (set(f.POD_STATES), set(f.CLAIM_STATES)) == (set(states.POD_GLYPHS), set(states.CLAIM_GLYPHS))
    assert set(states.VOLUME_LEVEL) <= set(f.VOLUME_STATES)


@pytest.mark.parametrize("name", ["b", "europe-west-1", "europe-west-of-the-large-river-zone-a-first", "z" * 200])
def test_the_name_of_a_tile_and_its_facts_never_meet(name):
    """Name and facts stand inside their tile and apart, at any width; each is cut, or left out, only where it has no room."""
    nodes = tuple(plain.NodeRow(f"node/n{i}", f"n{i}", (("z", name if i % 2 else "a"),)) for i in range(30))
    facts, cut, whole = ["15 nodes", "not judged yet", "0 placed", "0 volumes"], set(), set()
    for width in range(148, 1600, 12):  # tiles are whole px wide
        tile = next(group for group in parsed(cluster_map.draw(f.Frame(nodes=nodes), width, key="z")).iter("g")
                    if group.get("data-key") == f"1:zone/{name}")  # fmt: skip
        wide, (told, shown) = float(tile.find("rect").get("width")) + 1, [word for word in tile.iter("text") if word.get("y") == "18"]
        start, end = float(shown.get("x")) + text.width(shown.text, 11, bold=True), float(told.get("x")) - text.width(told.text, 10)
        cut.add(shown.text != name)
        whole.add(told.text == " · ".join(facts))

        assert (10, wide - 10) == (float(shown.get("x")), float(told.get("x")))
        assert start + 8 <= end + 1e-6, width
        assert shown.text == name or start + 8 + 2 * 11 > end, width  # a letter, and the one at the other end
        assert ("k-w k-end", "k-b") == (told.get("class"), shown.get("class"))
        assert told.text in [" · ".join(facts[:count]) for count in range(1, 5)] or (width < 200 and told.text[:2] + told.text[-1] == "15…")
        more = " · ".join(facts[: told.text.count("·") + 2])
        assert more == told.text or text.width(more, 10) > wide - 30 - min(90, text.width(name, 11, bold=True)), width
    assert ({True, False}, {"z" * 200: {True}}.get(name, {False, len(name) > 20})) == (whole, cut)


def test_another_topology_key_regroups_the_nodes():
    """Nodes without the key stand in a last box, and volumes of zones in a strip of their own."""
    base = frames.zonal(14)
    nodes = (evolve(base.nodes[0], topology=(*base.nodes[0].topology, ("rack", "r1"))), *base.nodes[1:])
    frame = evolve(base, nodes=nodes)
    assert [name for name, _ in states.group_by(frame, "rack")] == ["r1", "(no label)"]
    assert "of several domains" in cluster_map.draw(frame, 1000, key="rack")


def test_more_nodes_share_cards():
    """Up to 24 nodes each has a card; of more, those of a domain and verdict share one: with a cell each under 300."""
    shapes = [cluster_map.draw(frames.many(count), 1000) for count in (12, 200, 1000, 2000)]
    assert [drawn.count('data-key="2:node/') for drawn in shapes] == [12, 0, 0, 0]
    assert [len(re.findall(r"<path d=\"M[\d.]+ [\d.]+h\d+v\d+h-\d+z\" data-ref", drawn)) for drawn in shapes] == [0, 200, 0, 0]
    assert [drawn.count('data-ref="kind/') for drawn in shapes] == [0, 18, 18, 18]


def test_the_cell_that_is_selected_is_pressed():
    """Of many nodes one is said to be pressed, and its cell has the ring."""
    drawn = cluster_map.draw(frames.many(1000), 1000, "node/a-n004")
    pressed = re.findall(r'data-ref="([^"]*)" aria-pressed="true"/>', drawn)
    assert (["node/a-n004"], 1) == (pressed, drawn.count("k-cell-ring"))
    assert 2 == cluster_map.draw(frames.many(200), 1000, "node/a-n004").count("k-cell-ring")  # in its card, and opened


def test_the_groups_of_a_domain_count_each_of_its_nodes_once():
    """The cards of a domain name their counts, verdicts and reasons, and no node is missing or in two of them."""
    frame = frames.many(1000)
    svg = cluster_map.draw(frame, 1000)
    counts = [int(count) for count in re.findall(r'data-ref="kind/[^"]*"[^>]*aria-label="(\d+) nodes', svg)]
    assert 1000 == sum(counts)
    assert re.search(r'aria-label="\d+ nodes: NodeResourcesFit, Insufficient cpu"', svg)


@pytest.mark.parametrize("selection", ["kind/zone-b/NodeResourcesFit", "node/b-n342", "verdict/b-n342/VolumeBinding"])
def test_a_group_opens_on_a_click(selection):
    """The nodes of the selected card, or of the card of the selected node, can be selected each."""
    frame = frames.many(1000)
    svg = cluster_map.draw(frame, 1000, selection)
    opened = set(re.findall(r'<path d="[^"]*" data-ref="node/([^"]*)"', svg))
    fifth = [node.name for node in frame.nodes if node.name.startswith("b-") and node.first == 4]
    assert set(fifth) == opened
    assert ('aria-pressed="true"' in svg) is True


def test_few_nodes_of_an_open_group_have_their_names():
    """Up to sixty nodes are named, more are cells."""
    frame = frames.many(1000)
    few = cluster_map.draw(frame, 1000, "kind/zone-b/NodeUnschedulable")
    assert all(f">{node.name}<" in few for node in frame.nodes if node.name.startswith("b-") and node.first == 0)


def test_pods_claims_and_volumes_in_every_state_are_drawn():
    """No state, queue part or reach breaks the picture or its reading."""
    base = frames.zonal(8)
    pods = tuple(
        plain.PodRow(f"pod/p{i}-{j}", f"p{i}-{j}", state=state, queue=queue, in_focus=j % 2 == 0, wait=2.0, nominated_node="node-b")
        for i, state in enumerate(f.POD_STATES) for j, queue in enumerate(f.QUEUE_STATES)
    )  # fmt: skip
    claims = tuple(plain.ClaimRow(f"pvc/c{i}", f"c{i}", state=state, size="1Gi") for i, state in enumerate(f.CLAIM_STATES))
    reaches = ("node:node-a", "zone:us-central1-b", "zones:us-central1-a,us-central1-b", "all", "nowhere", "node:gone")
    volumes = tuple(
        plain.VolumeRow(f"pv/v{i}-{j}", f"v{i}-{j}", state=state, reach=reach, size="1Gi")
        for i, state in enumerate(f.VOLUME_STATES) for j, reach in enumerate(reaches)
    )  # fmt: skip
    frame = evolve(base, pods=pods, claims=claims, volumes=volumes)
    for width in WIDTHS:
        assert parsed(cluster_map.draw(frame, width)).tag == "svg"
    assert "p0-0" in cluster_map.reading(frame)


def test_words_of_a_narrow_map_are_whole():
    """A class has a second line; a card without room for a taint's sentence leaves out what its verdict says."""
    base = frames.zonal(12)
    taint = "node(s) had taint {dedicated: database}, that the pod didn't tolerate"
    rejected = evolve(base.nodes[0], verdict="rejected", first=2, reason=taint)
    storage = evolve(base.classes[0], topologies="zone us-central1-a, us-central1-b")
    svg = cluster_map.draw(evolve(base, nodes=(rejected, *base.nodes[1:]), classes=(storage,)), 520)
    words = " ".join(each.text or "" for each in parsed(svg).iter("text"))

    assert "had taint {dedicated: database}" in words
    assert "tolerate" not in words
    assert "WaitForFirstConsumer, zones us-central1-a, -b" in words
    assert "didn't tolerate" in cluster_map.draw(evolve(base, nodes=(rejected,)), 1136).replace("&#39;", "'")


def test_what_is_said_in_a_narrow_card_is_not_cut():
    """A reason that two lines cannot hold has a third, a taint a line of its own; a reserved volume names its node."""
    base = frames.zonal(12)
    rejected = evolve(base.nodes[0], verdict="rejected", first=2, reason="node(s) didn't match PersistentVolume's node affinity")
    tainted = evolve(base.nodes[1], verdict="rejected", first=1, reason="Insufficient cpu", taints=("room=blue:NoSchedule",))
    reserved = evolve(base.volumes[0], state="reserved", reach="node:node-a")
    svg = cluster_map.draw(evolve(base, nodes=(rejected, tainted, *base.nodes[2:]), volumes=(reserved,)), 520)
    words = [each.text or "" for each in parsed(svg).iter("text")]

    assert "didn't match PersistentVolume's node affinity" in " ".join(words)
    assert "taint room=blue:NoSchedule" in words
    assert not any(word.endswith("…") and ("node" in word or "taint" in word or "reserved" in word) for word in words)


def test_the_taint_of_a_cordon_is_said_once():
    """A cordoned node is called cordoned: the taint that says the same is left out, other taints stay."""
    row = evolve(frames.zonal(5).nodes[0], unschedulable=True,
                 taints=("node.kubernetes.io/unschedulable:NoSchedule", "gpu=yes:NoSchedule"))
    assert "cordoned, taint gpu=yes:NoSchedule" == states.node_facts(row)


@pytest.mark.parametrize(("radius", "there", "back"), [
    (3, "M0 0L7 0Q10 0 10 2L10 2Q10 4 13 4L20 4", "M20 4L13 4Q10 4 10 2L10 2Q10 0 7 0L0 0"),
    (9, "M0 0L5 0Q10 0 10 2L10 2Q10 4 15 4L20 4", "M20 4L15 4Q10 4 10 2L10 2Q10 0 5 0L0 0"),
    (0, "M0 0L10 0Q10 0 10 0L10 4Q10 4 10 4L20 4", "M20 4L10 4Q10 4 10 4L10 0Q10 0 10 0L0 0"),
])  # fmt: skip
def test_a_rounded_corner_takes_at_most_half_of_a_side(radius, there, back):
    """The corners of a link's way begin and end within its sides, however short these are, in either direction."""
    way = [(0, 0), (10, 0), (10, 4), (20, 4)]

    assert (there, back) == (svg.rounded(way, radius), svg.rounded(way[::-1], radius))


@pytest.mark.parametrize("room", range(90, 300, 15))
def test_words_beside_a_pod_keep_a_third_of_its_line(room):
    """A long name and long words share a line two to one; short words leave their room to the name."""
    name, words = map_pods._shared("n" * 63, "w" * 63, room, 11)
    longer, short = map_pods._shared("n" * 63, "wait", room, 11)
    wide = text.width(name, 11, bold=True)

    assert (True, True) == (room * 2 / 3 - 18 < wide <= room * 2 / 3, text.width(words, 10) <= room - wide)
    assert (short, text.width(words, 10) > room / 3 - 14) == ("wait", True)
    assert room - text.width("wait", 10) - 18 < text.width(longer, 11, bold=True)


@pytest.mark.parametrize(("wide", "label", "told"), [
    (420, "example.com/pool", ["TaintToleration: had taint {example.com/pool: blue}, that the pod didn't tolerate"]),
    (300, "example.com/pool", ["had taint {example.com/pool: blue}, that the pod didn't tolerate"]),
    (240, "example.com/pool", ["had taint {example.com/pool: blue}"]),
    (200, "a", ["TaintToleration: had taint {a: blue}, that", "the pod didn't tolerate"]),
    (160, "example.com/pool", ["had taint {example.com/pool:", "blue}"]),
])  # fmt: skip
def test_a_card_says_why_in_the_words_that_have_room(wide, label, told):
    """First the plugin's name is left out, then what every verdict of taints says; what has room is said whole."""
    reason = f"node(s) had taint {{{label}: blue}}, that the pod didn't tolerate"
    node = evolve(frames.zonal(0).nodes[0], verdict="rejected", reason=reason)
    assert told == [words for words, _ in map_cards._reason_rows(node, "TaintToleration", wide, 2)]


def test_the_last_fact_of_a_tile_is_cut_and_not_left_out():
    """Facts that have no room go from the last on; the first one stays, with dots where it ends."""
    scene = Scene(frozenset(), frozenset())
    facts = ["a fact that is far too long for such a tile", "another"]
    map_tiles.draw_tile(scene, Box(0, 0, 180, 60), "zone-a", facts, [(("", "none", "not judged"), 3)], "zone")
    (_, tile), = scene.parts

    assert ["a fact that is far too lon…", "zone-a"] == [each.text for each in parsed(tile).iter("text")]


@pytest.mark.parametrize(("count", "most", "named", "cells", "told"), [
    (60, 1500, 60, 60, "zone-a: 60 nodes fit best: n59"), (61, 1500, 0, 61, "zone-a: 61 nodes fit best: n60"),
    (61, 61, 0, 61, "zone-a: 61 nodes fit best: n60"), (64, 61, 0, 61, "zone-a: 64 nodes fit 3 more are not shown"),
])  # fmt: skip
def test_an_open_group_names_up_to_sixty_nodes(monkeypatch, count, most, named, cells, told):
    """Of more it has cells alone, and of more than it can show it says how many are left out."""
    monkeypatch.setattr(map_groups, "MOST_OPEN", most)
    nodes = [plain.NodeRow(f"node/n{number}", f"n{number}", (), verdict="fits", score=number) for number in range(count)]
    scene = Scene(frozenset(), frozenset())
    map_groups._open(scene, 0, 900, map_groups.VerdictGroup("zone-a", ("✓", "ok", "fits"), nodes, 0), Counter())
    (_, body), = scene.parts
    words = [word.text for word in parsed(body).iter("text")]

    assert (told, [f"n{number}" for number in range(named)]) == (" ".join(words[:2]), words[2:])
    assert cells == body.count("data-ref=")


def test_the_nodes_of_interest_are_those_that_a_pod_needs():
    """First what is selected, then what is chosen, assumed or nominated, changed, and fits; of nothing of it the first ones."""
    verdicts = {"g": "chosen", "e": "fits", "c": "rejected"}
    nodes = tuple(plain.NodeRow(f"node/{name}", name, (), verdict=verdicts.get(name, "not judged")) for name in "abcdefgh")
    pods = (plain.PodRow("pod/p", "p", assumed_node="f"), plain.PodRow("pod/q", "q", nominated_node="d"), plain.PodRow("pod/r", "r", node="h"))
    head = plain.Head(hot=("node/b", "node/d", "node/e"))
    frame, still = f.Frame(head=head, nodes=nodes, pods=pods), f.Frame(nodes=nodes[:3])

    def shown(frame, selection):
        return "".join(node.name for node in map_tiles.interesting(frame, selection, 9))

    assert ["gdfeb", "agdfeb", "hgdfeb", "fgdeb", "cgdfeb"] == [
        shown(frame, selection) for selection in ("", "node/a", "pod/r", "pod/p", "verdict/c/NodePorts")]
    assert ("abc", "c") == (shown(still, ""), shown(still, "node/c"))
    assert "gd" == "".join(node.name for node in map_tiles.interesting(frame, "", 2))


def test_a_card_has_a_cell_in_each_row_however_narrow_it_is():
    """Cells stand beside each other as far as they have room, at least one."""
    assert [1, 1, 2] == [map_groups._in_a_row(width) for width in (10, 12 + map_groups.CELL, 12 + 2 * map_groups.CELL)]


def test_the_saved_sentence_says_who_acts():
    """Beside the number of the step stands its actor, cut to less than a third of the width, then what it did."""
    rows = f.Frame()
    shown = [headline.draw_svg(evolve(rows, head=evolve(rows.head, step=4, actor=actor, sentence="It acts.")), 300)[0]
             for actor in ("kubelet", "a controller " * 9, "")]
    words, cut, alone = ([(each.text, float(each.get("x"))) for each in parsed(f"<g>{marks}</g>").iter("text")] for marks in shown)

    assert ["4", "kubelet", "It acts."] == [word for word, _ in words]
    assert ["4", "It acts."] == [word for word, _ in alone]
    assert words[1][1] == cut[1][1] == alone[1][1] < words[2][1] < cut[2][1] < alone[1][1] + 300 * 0.3 + 11


def test_the_lines_of_the_sentence_stand_below_each_other():
    """The sentence is wrapped to lines 19 px apart, the first beside its step, and the picture is as high as they are."""
    rows = f.Frame()
    marks, height = headline.draw_svg(evolve(rows, head=evolve(rows.head, sentence="a word " * 30)), 300)

    assert ["18.5", "37.5", "56.5"] == re.findall(r'y="([\d.]+)" class="k-b k-say-s"', marks)
    assert 68 == height
