"""Every picture of a frame at every width: texts stay in their cards and never meet, links cross nothing."""

import re
from functools import cache
from itertools import pairwise

import pytest

import kvolsched
from kvolsched.learn.scenario import nodes, pods, storage_class
from kvolsched.views.drawing import theme
from kvolsched.views.drawing.theme import resolve
from kvolsched.views.fill import frame_of
from kvolsched.views.panel.layout import layout
from kvolsched.views.pictures import lanes
from kvolsched.views.pictures.picture import NAMED

from . import frames
from .placed import boxes, meeting

WIDTHS = (340, 1240)
NAMES = ("map", "verdicts", "timeline")


@cache
def recorded():
    """Return frames of real runs and made ones: few and many nodes, long names, refusals, gates, back-off."""
    found = []
    for rules in ("design", "upstream"):
        for name in ("zonal-example", "replicated-database"):
            cluster = kvolsched.scenario(name, rules)
            for step in range(12):
                found.append((f"{name}-{rules}-{step}", frame_of(cluster, chips=False)))
                cluster.step()
    crowd = kvolsched.Cluster("design", name="crowd")
    crowd._load([storage_class("zonal"), *nodes(12), *pods(4, claims="zonal"), *pods(12, first=4)])
    for step in range(30):
        crowd.step()
        if step % 6 == 5:
            found.append((f"crowd-{step}", frame_of(crowd, chips=False)))
    found += [(f"zonal-{step}", frame) for step, frame in enumerate(frames.zonal_run())]
    made = {"refused": frames.refused(frames.zonal(9)), "cell": frames.with_cell(frames.zonal(5)),
            "long": frames.long_names(), "hostile": frames.hostile(), "twelve": frames.twelve(),
            "200": frames.many(200), "1000": frames.many(1000)}  # fmt: skip
    return [*found, *made.items()]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_texts_stay_in_their_cards_and_over_no_other_text(name, width):
    """Every picture of every recorded frame at every width: nothing sticks out and nothing overlaps."""
    shown = recorded() if name == "map" else recorded()[::4] + recorded()[-7:]
    faults = []
    for label, frame in shown:
        texts, loose = boxes(resolve(NAMED[name].svg(frame, width)))
        faults += [(label, fault) for fault in (*meeting(texts), *loose)]
    assert [] == faults


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("selection", ["kind/zone-b/NodeUnschedulable", "kind/zone-a/fits", "node/a-n015"])
def test_an_open_group_stays_in_its_room(selection, width):
    """The nodes of an open group, named or as cells, stay inside the map and over no other text."""
    texts, loose = boxes(resolve(NAMED["map"].svg(frames.many(1000), width, selection)))
    assert ([], []) == (meeting(texts), loose)


@pytest.mark.parametrize("width", [340, 980])
def test_the_panels_lines_stay_in_their_room(width):
    """The folded lanes keep to the width that the layout gives them."""
    faults = []
    for label, frame in recorded()[::3]:
        place = layout(width, len(frame.nodes))
        texts, loose = boxes(resolve(lanes.draw(frame, place.lanes - 24, fold=True)))
        faults += [(label, fault) for fault in (*meeting(texts), *loose)]
    assert [] == faults


@pytest.mark.parametrize("width", WIDTHS)
def test_links_cross_no_chip_and_no_word(width):
    """No link of the map runs through a word, a chip, a line or a ticket but those where it ends."""
    faults = []
    for label, frame in recorded():
        if len(frame.nodes) > 24:
            continue
        svg = NAMED["map"].svg(frame, width)
        ways = [[(float(x), float(y)) for x, y in re.findall(r"[MLQ]([\d.]+) ([\d.]+)", way)]
                for way in re.findall(r'<path d="([^"]*)" class="k-link', svg)]  # fmt: skip
        words = [box for box in boxes(resolve(svg))[0] if box[0] not in ("bound", "claimRef only")]
        chips = [("chip", x, x + w, y, y + h) for x, y, w, h in chips_of(svg)]
        faults += [
            (label, box[0]) for way in ways for (ax, ay), (bx, by) in pairwise(way) for box in (*words, *chips)
            if min(ax, bx) < box[2] and max(ax, bx) > box[1] and min(ay, by) < box[4] and max(ay, by) > box[3]
        ]  # fmt: skip
    assert [] == faults


def chips_of(svg):
    """Yield the boxes of the chips of a map."""
    for key, x, y, wide, high in re.findall(
        r'data-key="(4:[^"]*)" style="transform:translate\(([\d.]+)px,([\d.]+)px\)"[^>]*><rect[^>]*width="([\d.]+)" height="([\d.]+)"',
        svg):  # fmt: skip
        assert key
        yield float(x), float(y), float(wide), float(high)


def test_one_condition_arranges_the_views_at_every_width():
    """The class that Python draws decides: one column below 820 px, then two, and a map of many nodes beside both."""
    used = {(px, nodes): layout(px, nodes).name for px in range(320, 1601, 20) for nodes in (3, 12)}
    assert used == {
        (px, nodes): "k-one" if px < 820 else "k-beside" if px >= 1280 and nodes == 12 else "k-two" for px, nodes in used
    }
    sheet = theme.sheet()
    plain = re.sub(r"@container[^{]*\{(?:[^{}]*\{[^{}]*\})*\s*\}", "", sheet)
    placed = set(re.findall(r"grid-area:(\w+)", plain))  # whatever the width of the container is
    assert set(re.findall(r"grid-area:(\w+)", sheet)) == placed
    templates = [
        set(" ".join(re.findall('"([^"]+)"', rule)).split()) for rule in re.findall(r"grid-template:([^;}]+)", sheet)
    ]
    assert templates == [placed] * 3
    narrow = max(int(px) for px in re.findall(r"@container \(min-width:(\d+)px\)\{\.kv \.k-grid", sheet))
    assert narrow <= min(px for px, _ in used if used[px, 3] == "k-two")
