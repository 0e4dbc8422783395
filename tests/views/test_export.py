"""What leaves the notebook: the still picture and the page that steps by itself."""

import json
import re
from xml.etree import ElementTree as ET

import pytest

from kvolsched.views.drawing import theme as styles
from kvolsched.views.panel import export
from kvolsched.views.panel.lab import Lab
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
