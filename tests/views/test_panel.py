"""The panel without a browser: commands, buttons, slider, selection, texts and budgets."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve
from traitlets import TraitError

from kvolsched.views import frame as f
from kvolsched.views.drawing.figure import SCRIPT
from kvolsched.views.panel import host, layout
from kvolsched.views.panel.lab import Lab, judge_button, pod_of, reading
from kvolsched.views.panel.script import Script
from kvolsched.views.pictures import cluster_map, headline, lanes, log, matrix
from kvolsched.views.pictures.picture import NAMED

from . import frames, plain
from .fake_driver import FakeDriver

VIEWS = ("sentence", "map", "side", "lanes", "body")


@pytest.fixture
def lab():
    """Return a panel over the zonal example."""
    return Lab(FakeDriver(frames.zonal_run()))


def shown(lab, *names):
    """Return what the host shows, by view."""
    return {name: getattr(lab.host, name) for name in names or VIEWS}


class _Balanced(HTMLParser):
    """Collects every tag, and faults of nesting."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.faults = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)


def test_step_ten_times_and_back_ten_times_is_the_start(lab):
    """Ten steps and ten steps back give the first sentence, map, side and tables."""
    before = shown(lab, "sentence", "map", "side", "body")
    for _ in range(10):
        lab.do("step")
    assert before != shown(lab, "sentence", "map", "side", "body")
    for _ in range(10):
        lab.do("back")
    assert before == shown(lab, "sentence", "map", "side", "body")


def test_buttons_slider_and_chips_end_in_the_same_commands(lab):
    """What is pressed and dragged reaches the driver as one order each."""
    for name in ("step", "run", "back", "reset"):
        lab.buttons[name].click()
    lab.slider.value = 3
    lab.chips.children[2].click()
    lab.gear.value = "turns"
    assert lab.driver.orders == [
        ("step", None), ("run",), ("back",), ("goto", 0), ("goto", 3), ("step", "user"), ("gear", "turns"),
    ]  # fmt: skip


def test_messages_of_the_host_are_commands(lab):
    """Keys and clicks arrive as messages; an unknown command is not obeyed, and each is answered."""
    for message in ({"cmd": "step"}, {"cmd": "act", "number": 1}, {"cmd": "act", "number": 9}, {"cmd": "nonsense"},
                    {"cmd": "ping"}, {"cmd": "select", "ref": "node/node-a"}, {"cmd": "clear"}):  # fmt: skip
        lab.host._handle_custom_msg(message, [])
    assert lab.driver.orders == [("step", None), ("step", "statefulset")]
    assert (lab.selection, lab.host.tick) == ("", 6)


def test_an_unknown_command_is_refused_by_name(lab):
    """A test or a lesson that mistypes a command learns which there are."""
    with pytest.raises(KeyError) as unknown:
        lab.do("stp")

    assert (("no command 'stp': act, ask, back, beside, branch, chart, clear, gear, goto, judge, moment, only, pause, ping, play, "
            "reset, run, select, speed, step, tab, tick, toggle, user, width; did you mean step?"),) == unknown.value.args


def test_moving_the_slider_from_python_is_no_order(lab):
    """A step moves the slider without asking the driver again."""
    lab.do("step")
    assert (lab.slider.value, lab.slider.max, lab.driver.orders) == (1, 1, [("step", None)])


def test_idle_means_no_step_and_no_run(lab):
    """At the end nobody may act: Step and Run are disabled and do nothing."""
    lab.do("run")
    assert [lab.buttons[name].disabled for name in ("step", "run")] == [True, True]
    lab.do("step")
    assert (lab.frame.head.step, lab.chips.children[1].value) == (14, headline.IDLE)


def test_chips_say_who_and_what(lab):
    """The default comes first and is outlined; the tooltip has the whole words, also that nothing would change."""
    lab.do("goto", step=5)
    first, second = lab.chips.children[1:3]
    assert first.description == "scheduler · bind worker\u2002annotate pvc/data-web-0 selected-node=node-a"
    assert ("k-default" in first._dom_classes, "k-default" in second._dom_classes) == (True, False)
    assert second.tooltip == "resync, changes nothing (nothing would change)"


def test_many_who_may_act_are_behind_a_button():
    """Chips take two lines, the others open; a chip stays the button of its actor when others come before it.

    Of many only the first are tried out, until somebody asks for the others.
    """
    rows = tuple(f.NextActor(f"a{i}", f"actor {i}", "x", "does something that takes words", default=i == 0)
                 for i in range(19))  # fmt: skip
    assert "+ 3 more" == Lab(FakeDriver([f.Frame(next=rows[:9])])).chips.children[-1].description
    driver = FakeDriver([f.Frame(next=rows), f.Frame(head=plain.Head(step=1), next=rows[1:])])
    lab = Lab(driver)
    *_, last, more = lab.chips.children
    count = len(lab.chips.children) - 2
    assert (count, more.description) == (6, "more…")
    lab.do("step")
    assert (last, "more…") == (lab.chips.children[count - 1], more.description)
    assert 18 == len(lab.frame.next)
    more.click()
    assert ("fewer", 18) == (more.description, len(lab.chips.children[1:-1]))
    lab.chips.children[18].click()
    assert driver.orders[-1] == ("step", "a18")


@pytest.mark.parametrize(
    ("label", "wait", "words", "shown"),
    [
        ("scheduler · pass", "", "Scheduler judges web-0: 1 of 3 nodes fit. It assumes the pod there.",
         "judges web-0: 1 of 3 nodes fit"),
        ("pd.csi provisioner", "in 0.3 s: ", "pd.csi creates pv/disk for data.", "in 0.3 s: creates pv/disk for data"),
        ("kubelet", "", "Kubelet on node-a runs pod/web-0.", "on node-a runs pod/web-0"),
        ("user", "", "in zone a: delete pod/web-0", "in zone a: delete pod/web-0"),
    ],
)
def test_a_chip_does_not_repeat_its_actor(label, wait, words, shown):
    """One sentence, its subject left out where the label names it, the waiting time kept."""
    assert shown == headline.chip_words(f.NextActor("x", label, "x", words, wait=wait))


def test_selecting_a_cell_marks_the_map_and_brings_the_words(lab):
    """A click in the matrix selects, rings the node's card and shows the rule's words."""
    lab.do("goto", step=5)
    lab.do("select", ref="verdict/node-b/NodeResourcesFit")
    assert lab.selection == "verdict/node-b/NodeResourcesFit"
    assert re.search(r'data-ref="node/node-b"[^>]*aria-pressed="true"', lab.host.map)
    assert "Insufficient cpu" in lab.host.body
    assert "both sides for node-b" in lab.host.body


@pytest.mark.parametrize("ref", ["node/node-b", "pod/web-0", "pvc/data-web-0", "pv/volume-1", "zone/us-central1-a"])
def test_a_selection_shows_in_the_map_and_again_clears(lab, ref):
    """Each kind of ref is marked; selecting it twice or pressing Escape clears."""
    lab.do("goto", step=8)
    plain = lab.host.map
    lab.selection = ref
    assert lab.host.map.count('aria-pressed="true"') >= 1
    lab.do("select", ref=ref)
    assert ("", plain) == (lab.selection, lab.host.map)


def test_a_mark_or_a_number_on_the_timeline_goes_there(lab):
    """Clicks on the timeline are places, a click on a lane's name unfolds it."""
    lab.do("run")
    lab.do("select", ref="mark/6/binder")
    assert lab.frame.head.step == 6
    lab.do("select", ref="step/9")
    assert (lab.frame.head.step, lab.selection) == (9, "")
    folded = lab.host.lanes
    lab.do("select", ref="lane/pv")
    assert len(folded) < len(lab.host.lanes)
    lab.do("select", ref="lane/pv")
    assert folded == lab.host.lanes


def test_tabs_draw_only_what_is_open(lab):
    """Each tab replaces the body; events count in their tab; the story is of the selected object."""
    lab.do("goto", step=14)
    bodies = {}
    for name in lab.tabs:
        lab.tabs[name].click()
        bodies[name] = lab.host.body
    assert (len(set(bodies.values())), lab.tabs["events"].description) == (8, "Events 4")
    lab.selection = "pv/volume-1"
    assert "spec.nodeAffinity" in lab.host.body
    assert ["k-on" in tab._dom_classes for tab in lab.tabs.values()] == [*[False] * 7, True]


def test_a_failing_engine_is_shown_and_raised(lab):
    """The sentence says what went wrong, and the panel stays where the engine is."""
    lab.driver.broken = "<b>no such thing</b>"
    with pytest.raises(RuntimeError):
        lab.do("step")
    assert "RuntimeError: &lt;b&gt;no such thing" in lab.host.sentence
    assert (lab.frame.head.step, lab.host.tick) == (0, 1)


def test_the_width_reported_is_the_width_drawn(lab):
    """The host's width decides: two halves from 820 px on, and of many nodes the map beside them from 1280 on."""
    widths = {}
    for px in (700, 1000, 1400):
        lab.do("width", px=px)
        widths[px] = [
            int(float(re.search(r'width="([\d.]+)"', getattr(lab.host, v))[1])) for v in ("map", "lanes", "body")
        ]
    assert widths == {700: [700, 676, 700], 1000: [1000, 471, 495], 1400: [1400, 671, 695]}
    many = Lab(FakeDriver([frames.twelve()])).views(frames.twelve(), 1400)
    assert [int(float(re.search(r'width="([\d.]+)"', many[v])[1])) for v in ("map", "lanes", "body")] == [807, 559, 583]
    assert ("k-two" in lab.host.lanes, "k-beside" in many["lanes"]) == (True, True)


def test_the_line_of_what_was_written_opens_to_all_changes(lab):
    """One line has the first changes, and a click on its end shows all, another closes them."""
    lab.do("goto", step=8)
    line = lab.host.side
    assert ("Written" in line, "Written to the API" in line) == (True, False)
    lab.do("select", ref="fold/written")
    assert ("Written to the API" in lab.host.side, lab.selection) == (True, "")
    lab.do("select", ref="fold/written")
    assert line == lab.host.side


def test_other_topology_keys_redraw_the_map(lab):
    """Setting `topology` groups the nodes anew."""
    before = lab.host.map
    lab.topology = "kubernetes.io/hostname"
    assert before != lab.host.map
    assert "hostname node-a" in lab.host.map


@pytest.mark.parametrize("make", [frames.hostile, frames.long_names])
def test_hostile_names_stay_text_in_every_view(make):
    """Markup in any string of a frame reaches no view as markup."""
    lab = Lab(FakeDriver([make()]))
    for tab in lab.tabs:
        lab.do("tab", name=tab)
        for name, drawn in shown(lab).items():
            parser = _Balanced()
            parser.feed(drawn)
            known = {
                "svg",
                "g",
                "rect",
                "path",
                "text",
                "tspan",
                "circle",
                "line",
                "div",
                "p",
                "span",
                "b",
                "title",
                "polygon",
                *("table", "thead", "tbody", "tr", "th", "td", "h3", "h4", "wbr", "pre"),
            }
            assert ([], set()) == (parser.faults, parser.tags - known), name
    for widget in (lab.place, lab.badge):
        assert "<img" not in widget.value


@pytest.mark.parametrize(
    "frame", [*frames.zonal_run(), frames.twelve(), frames.many(200)], ids=lambda f: f"{f.head.scenario}-{f.head.step}"
)
def test_every_view_of_every_step_is_well_formed(frame):
    """Each view parses as XML."""
    for drawn in Lab(FakeDriver([frame])).views(frame, 1000, frame.head.focus).values():
        ET.fromstring(f"<div>{drawn}</div>")  # noqa: S314 - our own string


@pytest.mark.parametrize("tab", ["verdicts", "scores"])
@pytest.mark.parametrize("frame", [frames.zonal(8), frames.twelve(), frames.many(200), frames.many(1000)])
def test_pieces_are_whole_and_stand_in_no_piece(frame, tab):
    """What the host cuts out of a string, to parse it only if it changed, is one balanced group, and so is the rest."""
    served = re.search(r"replace\(/(.*?)/g,", host.script())[1].replace("[^]", r"[\s\S]")
    for drawn in Lab(FakeDriver([frame])).views(frame, 1000, frame.head.focus, tab).values():
        pieces = [found[0] for found in re.finditer(served, drawn)]
        assert drawn.count("<g data-key=") == drawn.count("</g >") == len(pieces)
        for piece in pieces:
            ET.fromstring(piece)  # noqa: S314 - our own string
        ET.fromstring(f"<div>{re.sub(served, '', drawn)}</div>")  # noqa: S314


@pytest.mark.parametrize(
    ("make", "most"), [(frames.twelve, 64), (lambda: frames.many(200), 64), (lambda: frames.many(1000), 64)]
)
def test_a_step_keeps_its_budget_of_bytes(make, most):
    """All views of one step together: 64 kB, also at 1,000 nodes."""
    frame = make()
    drawn = Lab(FakeDriver([frame])).views(frame, 1000)
    assert sum(len(view.encode()) for view in drawn.values()) <= most * 1024


def test_saved_state_of_the_example_is_small(lab):
    """The host's state in a saved notebook is at most 64 kB in every step."""
    sizes = []
    for step in range(15):
        lab.do("goto", step=step)
        sizes.append(sum(len(str(value).encode()) for value in lab.host.get_state().values()))
    assert max(sizes) <= 64 * 1024


def test_only_changed_views_travel(lab):
    """Selecting a tab leaves sentence, map, side and timeline untouched."""
    seen = []
    lab.host.observe(lambda change: seen.append(change["name"]), VIEWS)
    lab.do("tab", name="events")
    assert seen == ["body"]


def test_the_bundle_has_no_html(lab):
    """Without a kernel a trusted notebook shows the still picture by its script, another the PNG; never text/html."""
    bundle = lab._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", SCRIPT, "image/png", "text/plain"} == set(bundle)
    assert lab.reading() == bundle["text/plain"]


def test_reading_of_the_whole_panel(lab):
    """The first lines of the reading are the place, the sentence and who may act."""
    lab.do("goto", step=8)
    expected = """\
step 8 of 8, t=1.4 s, branch main, rules design, by provisioner pd.csi: Provisioner creates volume-1, already reserved for data-web-0: half of the binding.
next  1  PV controller: set volumeName=volume-1 on pvc/data-web-0
      2  user: delete pod/web-0
"""
    assert reading(lab.frame).startswith(expected)


def test_the_start_says_what_to_do():
    """An empty frame reads as the start, with nobody to act."""
    lab = Lab(FakeDriver([frames.f.Frame()]))
    assert (headline.START in lab.host.sentence, "nobody" in lab.reading()) == (True, True)


@pytest.mark.parametrize(("tab", "words"), [("verdict", "no tab 'verdict'; there are: verdicts, scores, skew, capacity, domains, series, events, story; did you mean verdicts?")])
def test_an_unknown_tab_is_refused_by_name(lab, tab, words):
    """The tabs are listed, and the nearest is named; the open one stays."""
    with pytest.raises(KeyError) as unknown:
        lab.do("tab", name=tab)

    assert ((words,), "verdicts") == (unknown.value.args, lab.tab)


def test_a_label_that_no_node_has_groups_nothing(lab):
    """The labels of the nodes are listed; zone and host are always taken, and any label where there are no nodes."""
    zone, host = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
    bare = Lab(FakeDriver([evolve(frames.zonal(8), nodes=tuple(evolve(node, topology=(("b", "1"), ("a", "2"))) for node in frames.zonal(8).nodes))]))
    for key in ("a", "b", zone, host):
        bare.topology = key
        assert key == bare.topology
    with pytest.raises(KeyError) as unknown:
        bare.topology = "c"
    none = Lab(FakeDriver([f.Frame()]))
    none.topology = "c"

    assert ("no node has the label c; there are: a, b",) == unknown.value.args
    assert (host, "c") == (bare.topology, none.topology)


def test_the_panel_is_put_together_whole(lab):
    """Toolbar, who may act and what the reader may do, tabs with their moment, and the views; each has its class."""
    bar, doing, tabs, last = lab.grid.children

    assert ((host.ROOT, "k-lab"), (lab.grid,)) == (lab._dom_classes, lab.children)
    assert (lab.toolbar.box, lab.host) == (bar, last)
    assert [lab.chips, lab.acts.row, lab.acts.form, lab.acts.script, lab.slot] == list(doing.children)
    assert [*lab.tabs.values(), lab.moment.form, lab.moment.way, lab.moment.step] == list(tabs.children)
    assert [("k-grid",), ("k-toolbar",), ("k-doing",), ("k-tabs",), ("k-chips",), ("k-slot",)] == [
        each._dom_classes for each in (lab.grid, bar, doing, tabs, lab.chips, lab.slot)]
    assert [("verdicts", "now", False, False, "topology.kubernetes.io/zone")] == [
        (lab.tab, lab.at, lab.chart, lab.only_differences, lab.topology)]
    assert "show all who may act, or the first of them" == lab._more_chips.tooltip
    assert ("k-more-b",) == lab._more_chips._dom_classes
    assert {("k-tab",), ("k-tab", "k-on")} == {each._dom_classes for each in lab.tabs.values()}


def test_a_moment_is_now_the_last_pass_or_a_step(lab):
    """Anything else is refused, and the moment that was shown stays."""
    for moment in ("pass", 3, "now"):
        lab.at = moment
        assert moment == lab.at
    with pytest.raises(TraitError):
        lab.at = "later"
    assert "now" == lab.at


def test_the_reading_has_every_part(lab):
    """Sentence, who may act, map, changes, timeline, verdicts and events follow each other with an empty line between."""
    frame = frames.zonal(8)
    parts = [cluster_map.reading(frame), log.changes_reading(frame), lanes.reading(frame), matrix.reading(frame), log.events_reading(frame)]

    assert reading(frame) == "\n\n".join([f"{headline.reading(frame)}\n{headline.next_reading(frame)}", *parts])
    assert reading(frame, "guess") == "\n\n".join([f"{headline.reading(frame)}\nguess", *parts])
    lab.do("goto", step=8)
    assert reading(lab.frame) == lab.reading()
    lab.next_words = lambda: "guess"
    assert reading(lab.frame, "guess") == lab.reading()


@pytest.mark.parametrize(("px", "width"), [(320, 320), (319, 320), (0, 320), (4000, 4000), (4001, 4000), (640.7, 640), ("700", 700), (1000, 1000)])
def test_a_width_is_drawn_between_320_and_4000_px(lab, px, width):
    """A page may say anything; what is drawn already is not drawn again."""
    drawn = []
    lab._draw = lambda *_: drawn.append(lab._width)
    lab.host._handle_custom_msg({"cmd": "width", "px": px}, [])

    assert (width, [] if width == 1000 else [width]) == (lab._width, drawn)


@pytest.mark.parametrize(("messages", "shown"), [
    ([], -1), (["seen"], 1), (["seen", "seen"], 2), (["gone"], 0), (["seen", "gone"], 0), (["gone", "seen"], 1), (["seen", "gone", "gone"], 0), (["step"], -1), ([""], -1),
])  # fmt: skip
def test_a_host_counts_the_places_that_show_it(messages, shown):
    """Pages say that they show it, or do so no more; before the first it is not known."""
    counted = host.Host()
    for cmd in messages:
        counted._handle_custom_msg({"cmd": cmd} if cmd else {}, [])

    assert shown == counted.shown


@pytest.mark.parametrize(("width", "nodes", "alone", "place"), [
    (819, 3, True, (819, 819, 819, "k-one")), (820, 3, True, (820, 405, 405, "k-two")), (1279, 9, True, (1279, 634, 634, "k-two")),
    (1280, 6, True, (1280, 635, 635, "k-two")), (1280, 7, True, (737, 533, 533, "k-beside")), (1400, 7, False, (1400, 1400, 1400, "k-one")),
    (1000, 9, False, (1000, 1000, 1000, "k-one")),
])  # fmt: skip
def test_views_stand_where_there_is_room(width, nodes, alone, place):
    """Two halves below the map, or both at its right where there are many nodes; of a pair everything below each other."""
    assert layout.PanelLayout(*place) == layout.layout(width, nodes, alone=alone)
    if alone:
        assert layout.PanelLayout(*place) == layout.layout(width, nodes)


def test_the_views_of_a_panel_are_drawn_whole():
    """Sentence, map, what was written with all of it where it is open, and the lanes with what was last, in their box."""
    frame, unfolded = frames.zonal(8), frozenset({"written", "pv"})
    place = layout.PanelLayout(900, 500, 400, "k-two")
    closed, opened = (layout.views(frame, place, 1000, "pod/web-0", "kubernetes.io/hostname", each) for each in (frozenset(), unfolded))

    def timeline(each):
        return (f'<div class="k-box k-two">{lanes.draw(frame, 476, "pod/web-0", unfolded=each, fold=True)}'
                f'<div class="k-recent">{log.draw_recent(frame, 476, "pod/web-0")}</div></div>')

    assert closed == {
        "sentence": headline.draw(frame, 1000, "pod/web-0"), "map": cluster_map.draw(frame, 900, "pod/web-0", "kubernetes.io/hostname"),
        "side": log.draw_written(frame, 1000, "pod/web-0", open_=False), "lanes": timeline(frozenset()),
    }  # fmt: skip
    assert opened == closed | {
        "side": log.draw_written(frame, 1000, "pod/web-0", open_=True) + f'<div class="k-box">{log.draw_changes(frame, 976, "pod/web-0")}</div>',
        "lanes": timeline(unfolded),
    }  # fmt: skip


def test_moves_that_follow_each_other_are_one_line():
    """Steps are counted in one line, of two moves the last one stays, and what is done unrecorded is forgotten."""
    script = Script()
    seen = []
    for do in (script.step, script.step, script.step, lambda: script.goto(4), lambda: script.goto(2), script.step, lambda: script.add("c.run()"),
               script.step, lambda: script.goto(1)):  # fmt: skip
        do()
        seen.append(list(script))
    with script.unrecorded():
        script.goto(9)
        script.step()
    script.goto(3)
    with script.unrecorded():
        script.step()
    script.step()

    many = "for _ in range(3): c.step()"
    assert [["c.step()"], ["for _ in range(2): c.step()"], [many], [many, "c.goto(4)"], [many, "c.goto(2)"], [many, "c.goto(2)", "c.step()"],
            [many, "c.goto(2)", "c.step()", "c.run()"], [many, "c.goto(2)", "c.step()", "c.run()", "c.step()"],
            [many, "c.goto(2)", "c.step()", "c.run()", "c.step()", "c.goto(1)"]] == seen  # fmt: skip
    assert [*seen[-1][:-1], "c.goto(3)", "c.step()"] == list(script)
    assert (7, "\n".join(script)) == (len(script), repr(script))
    assert len(Script()) == 0


PLACED = f.Frame(
    pods=(plain.PodRow("pod/a", "a"), plain.PodRow("pod/b", "b")), claims=(plain.ClaimRow("pvc/both", "both", pods=("pod/b", "pod/a")), plain.ClaimRow("pvc/none", "none")),
    volumes=(plain.VolumeRow("pv/bound", "bound", claim="pvc/both"), plain.VolumeRow("pv/assumed", "assumed", assumed_claim="pvc/both"),
             plain.VolumeRow("pv/free", "free"), plain.VolumeRow("pv/lost", "lost", claim="pvc/gone")),
)  # fmt: skip


@pytest.mark.parametrize(("ref", "pod"), [
    ("pod/a", "pod/a"), ("pod/b", "pod/b"), ("pod/gone", ""), ("pvc/both", "pod/b"), ("pvc/none", ""), ("pv/bound", "pod/b"), ("pv/assumed", "pod/b"),
    ("pv/free", ""), ("pv/lost", ""), ("node/a", ""), ("", ""),
])  # fmt: skip
def test_an_object_is_about_a_pod(ref, pod):
    """A pod is about itself, a claim about its first user, a volume about that of its claim, also one that is only assumed."""
    assert pod == pod_of(PLACED, ref)


@pytest.mark.parametrize(("change", "there"), [
    ({}, True), ({"nodes": ()}, False), ({"pods": ()}, False), ({"head": plain.Head(focus="pod/other")}, False),
    ({"verdicts": frames.zonal(8).verdicts}, False),
])  # fmt: skip
def test_a_pod_that_nobody_has_judged_can_be_judged(change, there):
    """The button stands where there are nodes, the pod in focus is there, and no verdict is."""
    pods = (plain.PodRow("pod/<web>", "<web>"), plain.PodRow("pod/b", "b"))
    frame = evolve(f.Frame(nodes=frames.zonal(0).nodes, pods=pods, head=plain.Head(focus="pod/<web>")), **change)
    button = ('<div class="k-judge"><span class="k-btn k-plain" data-ref="judge/now" role="button" aria-label="judge &lt;web&gt; now, on a fork">'
              'Judge &lt;web&gt; now</span><span class="k-q-label">on a fork: the scheduler learns nothing of it</span></div>')  # fmt: skip

    assert (button if there else "") == judge_button(frame)


def test_each_view_is_drawn_for_what_is_asked(lab):
    """The tab that is named, else the open one; a panel is drawn for its width, a page for the one that is asked for."""
    lab.do("goto", step=8)
    lab.tab = "domains"
    frame = lab.frame
    expected = [NAMED[name].svg(frame, 495, "pod/web-0", lab.topology) for name in ("domains", "events")]

    assert expected == [lab.views(frame, 1000, "pod/web-0", *tab)["body"] for tab in ((), ("events",))]
    lab.driver.broken = "once"
    with pytest.raises(RuntimeError):
        lab.do("step")
    assert '<p class="k-say k-error" role="alert"><b>RuntimeError: once</b></p>' == lab.host.sentence


def test_the_first_of_a_stop_is_said_before_what_else_is(lab):
    """Why play stopped, what an act said, that an act here begins a branch, and what is not modelled stand in one line."""
    lab.driver.frames = tuple(evolve(frame, head=evolve(frame.head, not_read="PodDisruptionBudget is not read")) for frame in lab.driver.frames)
    lab.do("goto", step=3)
    lab.do("goto", step=2)
    lab.run.ended, lab._said = "the end", "said"
    lab._draw()
    notes = [lab.acts.note.value]
    lab.run.ended, lab._said = "", ""
    lab.do("goto", step=3)
    notes.append(lab.acts.note.value)

    assert ["Play stopped: the end · said · starts a branch at step 2 · PodDisruptionBudget is not read", "PodDisruptionBudget is not read"] == notes
    assert ["Events" if not len(frame.events) else f"Events {len(frame.events)}" for frame in (lab.frame,)] == [lab.tabs["events"].description]
