"""What leaves the notebook: the still picture and the page that steps by itself."""

import json
import re
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve

from kvolsched.views.drawing import theme as styles
from kvolsched.views.drawing.svg import height
from kvolsched.views.frame import NextActor
from kvolsched.views.panel import export
from kvolsched.views.panel.host import ROOT
from kvolsched.views.panel.lab import Lab
from kvolsched.views.panel.pair import BESIDE
from kvolsched.views.pictures import cluster_map, headline, lanes, log
from kvolsched.views.pictures.picture import TABS

from . import frames
from .fake_driver import FakeDriver


@pytest.fixture
def page(tmp_path):
    """Return a panel at step 8 of 14 and the page it saves."""
    lab = Lab(FakeDriver(frames.zonal_run()))
    lab.do("run")
    lab.do("goto", step=8)
    return lab, lab.save(tmp_path / "run.html").read_text("utf-8")


def test_a_page_holds_every_known_step(page):
    """Fifteen steps, each made of distinct fragments; it opens at the first, whatever the panel shows."""
    _, text = page
    run = json.loads(re.search(r'id="run">(.*?)</script>', text, re.DOTALL)[1])
    assert (len(run["steps"]), run["at"]) == (15, 0)
    numbers = [number for step in run["steps"] for parts in step.values() for number in run["lists"][parts]]
    assert len(set(run["pool"])) == len(run["pool"]) == max(numbers) + 1


def test_a_page_has_every_tab(page):
    """Each tab of the panel is in every step, and has its button."""
    _, text = page
    run = json.loads(re.search(r'id="run">(.*?)</script>', text, re.DOTALL)[1])
    names = [picture.name for picture in TABS]
    assert [name for step in run["steps"] for name in names if not run["lists"][step[name]]] == []
    assert names == re.findall(r'data-tab="(\w+)"', text)


def test_a_page_is_called_as_its_scenario(page):
    """The title of the tab is the scenario's name; without one it is ours."""
    lab, text = page
    assert f"<title>{lab.frame.head.scenario}</title>" in text
    assert ("<title>a&amp;b</title>" in export._page("a&b", [], [], 700), "<title>kvolsched</title>" in export._page("", [], [], 700)) == (True, True)


def test_a_page_needs_no_network(page):
    """No address but the namespaces of SVG stands in the page."""
    _, text = page
    assert {"http://www.w3.org/2000/svg"} == set(re.findall(r"https?://[^\s\"'\\<]+", text))


def test_saving_leaves_the_place(page):
    """The driver stands where it stood."""
    lab, _ = page
    assert lab.driver.at == 8


def test_pages_keep_their_budget(page, tmp_path):
    """The zonal example fits in 220 kB, eleven steps of 200 nodes in 700 kB."""
    _, text = page
    lab = Lab(FakeDriver([frames.many(200, step) for step in range(11)]))
    lab.do("run")
    many = lab.save(tmp_path / "many.html").stat().st_size
    assert (len(text.encode()) <= 220 * 1024, many <= 700 * 1024) == (True, True)


def test_a_hostile_run_cannot_close_its_script(tmp_path):
    """Markup in names neither ends the data nor becomes an element."""
    text = Lab(FakeDriver([frames.hostile()])).save(tmp_path / "x.html").read_text("utf-8")
    assert (text.count("</script>"), "<img" in text) == (2, False)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("make", [lambda: frames.zonal(8), frames.twelve, lambda: frames.many(200), frames.hostile])
def test_pictures_stand_alone(make, theme):
    """A resolved picture is well-formed, has no variable and no class, and parses."""
    still = styles.resolve(export.picture(make(), 1000), theme)
    root = ET.fromstring(still)  # noqa: S314 - our own string
    assert ("var(" in still, any(e.get("class") for e in root.iter())) == (False, False)


def test_the_page_runs_the_host_as_a_plain_script(page):
    """The host's module is served without its export, which a plain script may not have."""
    _, text = page
    assert ("export default" in text, "function render(" in text) == (False, True)


@pytest.mark.parametrize("name", ["run", "run.pdf", "run.svg"])
def test_a_run_is_saved_as_html_only(name, tmp_path):
    """Another ending is refused in one sentence, and nothing is written."""
    lab = Lab(FakeDriver(frames.zonal_run()))
    with pytest.raises(ValueError, match="^cannot save a run as '" + re.escape(name) + "': the name must end in .html; "):
        lab.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


STEPS = [{"sentence": [0, 1], "place": [2]}, {"sentence": [0, 1], "place": [3]}]


@pytest.mark.parametrize(("half", "root"), [("y", ROOT), ('<div class="k-half">', f"{ROOT} k-paired")])
def test_a_page_is_put_together_whole(half, root):
    """Buttons, slider, place, badge, chips and tabs stand above the views; equal lists of fragments are stored once."""
    text = export._page("a<b", STEPS, ["x", half, "1", "2"], 700)
    data = json.loads(re.search(r'id="run">(.*?)</script>', text, re.DOTALL)[1])
    body = text.partition("<body>")[2].partition("<script")[0]
    tabs = "".join(f'<button class="k-tab" data-tab="{picture.name}">{picture.tab}</button>' for picture in TABS)

    assert data == {"steps": [{"sentence": 0, "place": 1}, {"sentence": 0, "place": 2}], "lists": [[0, 1], [2], [3]],
                    "pool": ["x", half, "1", "2"], "at": 0, "root": ROOT}  # fmt: skip
    assert "<title>a&lt;b</title>" in text
    assert f"@container (max-width:{BESIDE - 20}px)" in text
    assert f'[data-ref="{log.WRITTEN}"]{{display:none}}' in text
    assert "".join(body.split("\n")) == (
        f'<div class="{root} k-lab k-page" style="max-width:720px"><div class="k-grid"><div class="k-toolbar">'
        '<button class="k-btn k-reset" data-cmd="reset">Reset</button><button class="k-btn k-back" data-cmd="back">Back</button>'
        '<button class="k-btn k-step" data-cmd="step">Step</button><button class="k-btn k-run" data-cmd="run">Run</button>'
        '<input type="range" class="k-slider" aria-label="timeline" min="0" max="1" value="0">'
        '<div class="k-html" data-show="place"></div><div class="k-html" data-show="badge"></div></div>'
        '<div class="k-doing"><div class="k-chips"><span class="k-html" data-show="chips"></span></div></div>'
        f'<div class="k-tabs">{tabs}</div><div id="host"></div></div></div>')


def test_a_row_has_every_view_in_fragments():
    """Views, the body of each tab, who may act with what each would do, place and badge; fragments are shared by number."""
    rows = (NextActor("a", "PV controller", "c", "Would bind <x>.", default=True), NextActor("b", "user", "c", "", about="about it"))
    frame = evolve(frames.zonal(8), next=rows)
    asked, pool = [], {"known": 0}

    def views(frame, width, selection, tab):
        asked.append((width, selection, tab))
        return {name: f"<g {name}><text>{name}" for name in export.ORDER} | {"body": f"known<div>{tab}"}

    row = export._row(frame, views, 640, pool)
    parts = list(pool)
    texts = {name: "".join(parts[number] for number in numbers) for name, numbers in row.items()}

    assert [(640, "", picture.name) for picture in TABS] == asked
    assert texts == {
        **{name: f"<g {name}><text>{name}" for name in ("sentence", "map", "side", "lanes")}, **{picture.name: f"known<div>{picture.name}" for picture in TABS},
        "chips": '<span class="k-q-label">May act next</span>'
                 '<span class="k-chip-b k-default" title="Would bind &lt;x&gt;."><b>PV controller</b> Would bind &lt;x&gt;</span>'
                 f'<span class="k-chip-b" title="about it"><b>user</b> {headline.chip_words(rows[1])}</span>',
        "place": headline.place_html(frame), "badge": headline.badge_html(frame),
    }  # fmt: skip
    assert [0, pool["<div>events"]] == row["events"]
    idle = export._row(evolve(frame, next=()), views, 640, pool)
    assert f'<span class="k-q-label">May act next</span><span class="k-q-label">{headline.IDLE}</span>' == "".join(
        list(pool)[number] for number in idle["chips"])


@pytest.mark.parametrize(("name", "hint"), [("run.svg", "run.svg"), ("run.png", "run.png"), ("run.pdf", "run.png"), ("run", "run.png")])
def test_another_ending_says_what_a_picture_is_saved_by(name, hint, tmp_path):
    """Of a picture the line that saves one has the name that was given, else a name like it."""
    with pytest.raises(ValueError, match="cannot save") as refused:
        Lab(FakeDriver(frames.zonal_run())).save(tmp_path / name)

    assert (f"cannot save a run as {name!r}: the name must end in .html; for a picture of the present step: c.map().save({hint!r})",) == (
        refused.value.args)


def test_a_still_picture_is_the_panels_three_views():
    """Sentence, map by the label, and timeline stand under each other, what is selected marked, with the reading as its name."""
    frame, hosts = frames.zonal(8), "kubernetes.io/hostname"
    parts = [cluster_map.draw(frame, 800, "pod/web-0", hosts), lanes.draw(frame, 800, "pod/web-0")]
    drawn = headline.stacked([headline.draw_svg(frame, 800), *((part, height(part)) for part in parts)], 800, headline.reading(frame))

    assert drawn == export.picture(frame, 800, "pod/web-0", hosts) == export.still(frame, 700, "words", "pod/web-0", hosts).draw(800, "")
    assert ("words", 700) == (export.still(frame, 700, "words").reading, export.still(frame, 700, "words").width)
    assert export.picture(frame, 800) == export.still(frame, 800, "words").draw(800, "other")
