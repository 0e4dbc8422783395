"""A dashboard of one's own in JupyterLab: parts, a panel and a slider of one cluster, offline, light and dark."""

import pytest
from nbformat import v4, write
from test_pages import CELL, DOCS

from .conftest import ARTEFACTS, VIEW, open_notebook
from .test_panel import ASK

pytestmark = pytest.mark.browser

CELLS = [
    """import ipywidgets, kvolsched
from kvolsched.widgets import Capacity, Domains, Lanes, Map, Skew, Steps, Verdicts
c = kvolsched.scenario("zones", replicas=3)
_ = c.run()
slider = ipywidgets.IntSlider()
steps, skew = Steps(c), Skew(c, "deploy/web")
ipywidgets.dlink((steps, "steps_known"), (slider, "max"))
ipywidgets.link((steps, "step"), (slider, "value"))
ipywidgets.VBox([steps, slider, ipywidgets.HBox([Map(c), skew]), Verdicts(c), Domains(c), Lanes(c), Skew(c, "deploy/web", over="steps")])""",
    "lab = c.lab()\nlab",
]
RUN = """async code => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  await kernel.requestExecute({code, store_history: false}).done;
}"""
# The steps that are shown: in the parts' toolbar and sentence, in the slider of one's own, and in the panel.
SHOWN = """() => [
  ...[...document.querySelectorAll('.k-place b')].map(number => +number.innerText),
  ...[...document.querySelectorAll('.k-step-no')].map(number => +number.innerText),
  +document.querySelector('.jp-OutputArea .widget-readout').innerText]"""
# What the wait for a step costs, ms, after the code that moves the cluster has ended.
FOLLOWED = f"""async step => {{
  const shown = {SHOWN}, start = performance.now();
  while (shown().some(number => number !== step) && performance.now() < start + 10000) await new Promise(requestAnimationFrame);
  return performance.now() - start;
}}"""
CUT = """() => [...document.querySelectorAll('.k-widget svg')].filter(svg => {
  const room = svg.closest('.k-widget').getBoundingClientRect();
  return [...svg.querySelectorAll('text')].some(text => text.getBoundingClientRect().right > room.right + 1);
}).length"""

CHARTS = [
    """import ipywidgets, kvolsched
from kvolsched.widgets import Domains, Lanes, Map, Skew, Steps
c = kvolsched.scenario("zones", replicas=3)
_ = c.run()
steps = Steps(c)
ipywidgets.VBox([steps, ipywidgets.HBox([Skew(c, "deploy/web", chart=True), Map(c)]), Domains(c, chart=True), Lanes(c, chart=True)])""",
    """lab = c.lab()
lab.tab, lab.chart = "domains", True
lab""",
]
# Of each chart the count and the opacity of every zone's bar, or of every node's.
BARS = """() => [...document.querySelectorAll('.k-chart')].map(host => Object.fromEntries(
  [...host.shadowRoot.querySelectorAll('path[aria-roledescription=bar]')].map(bar => [
    /(?:domain|node): ([^;]*)/.exec(bar.getAttribute('aria-label'))?.[1],
    [/counted: (\\d+)/.exec(bar.getAttribute('aria-label'))?.[1], bar.getAttribute('opacity') ?? '1']])))"""

# What cells print; of the chart of one's own on docs/dashboard.md, the last but one, pods and opacity of each zone's bar.
PRINTED = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
  .map(cell => cell.toJSON().outputs.map(output => output.data?.['text/plain'] ?? '').join(''))"""
OWN = """() => Object.fromEntries([...[...document.querySelectorAll('.k-chart')].at(-2).shadowRoot
  .querySelectorAll('path[aria-roledescription=bar]')].map(bar => [/domain: ([^;]*)/.exec(bar.getAttribute('aria-label'))[1],
    [+/pods: (\\d+)/.exec(bar.getAttribute('aria-label'))[1], +(bar.getAttribute('opacity') ?? 1)]]))"""
WIDER = "host => host.shadowRoot.querySelector('svg').getBoundingClientRect().width - host.getBoundingClientRect().width"


@pytest.fixture(scope="module")
def opened(lab_server, browser, tmp_path_factory):
    """Open the notebook of CELLS once for all tests of parts, and run it."""
    context = browser.new_context(viewport=VIEW)
    context.set_default_timeout(30_000)
    lab = run_notebook(lambda path: open_notebook(lab_server, context, path, "parts"), tmp_path_factory.mktemp("parts"), CELLS)
    lab.page.locator(".k-widget svg").nth(4).wait_for()
    lab.settle(800)
    yield lab
    context.close()


def run_notebook(opener, folder, cells):
    """Open a notebook of these cells and run it."""
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    write(notebook, folder / "dashboard.ipynb")
    lab = opener(folder / "dashboard.ipynb")
    assert lab.run_all().faults == []
    return lab


def in_theme(lab, theme, wide):
    """Show the page in a theme of JupyterLab, as wide as a window."""
    lab.page.evaluate(f"jupyterapp.commands.execute('apputils:change-theme', {{theme: 'JupyterLab {theme}'}})")
    lab.page.wait_for_function(f"document.body.dataset.jpThemeLight === '{str(theme == 'Light').lower()}'")
    lab.page.set_viewport_size(VIEW | {"width": wide, "height": 2400})
    lab.settle(1500)
    ARTEFACTS.mkdir(exist_ok=True)


def test_code_moves_panel_parts_and_slider(opened, capsys):
    """After the cell's end all show its step, how soon is printed; a slider, a key and a click move all, too."""
    page = opened.page
    last = page.evaluate(ASK, "c.world.step_number")
    assert {int(last)} == set(page.evaluate(SHOWN))
    page.evaluate(RUN, "c.scale('deploy/web', 6); c.run()")
    step = int(page.evaluate(ASK, "c.world.step_number"))
    late = [page.evaluate(FOLLOWED, step)]
    for to in (5, 12, step):
        page.evaluate(RUN, f"c.goto({to})")
        late.append(page.evaluate(FOLLOWED, to))
        assert {to} == set(page.evaluate(SHOWN))
    with capsys.disabled():
        print(f"\nshown after the end of a cell: {', '.join(f'{each:.0f}' for each in late)} ms")
    page.evaluate(RUN, "slider.value = 7")
    page.evaluate(FOLLOWED, 7)
    assert {7} == set(page.evaluate(SHOWN))
    page.locator(".k-widget").first.locator(".k-step").click()
    page.evaluate(FOLLOWED, 8)
    page.locator(".k-widget").nth(1).locator("[data-ref^='node/']").first.click()
    page.locator(".k-widget").nth(1).locator(".k-ring").first.wait_for()
    page.keyboard.press(",")
    page.evaluate(FOLLOWED, 7)
    assert {7} == set(page.evaluate(SHOWN))
    assert "'node/" in page.evaluate(ASK, "steps.selection")
    assert (opened.errors, opened.requests) == ([], [])


@pytest.mark.parametrize(("theme", "wide"), [("Light", 1400), ("Dark", 1000)])
def test_a_dashboard_fits_its_page(opened, theme, wide):
    """Parts beside each other share the width, in the page's colours, and nothing is cut."""
    in_theme(opened, theme, wide)
    page = opened.page
    page.locator(".jp-OutputArea").first.screenshot(path=ARTEFACTS / f"dashboard-{theme.lower()}-{wide}.png")
    left, right = (page.locator(".k-widget").nth(place).bounding_box() for place in (1, 2))
    assert abs(left["width"] - right["width"]) < 25
    assert left["x"] + left["width"] <= right["x"]
    assert 0 == page.evaluate(CUT)
    panel = page.locator(".jp-OutputArea").nth(1)
    for tab, words in (("Scores", "chosen"), ("Series", "pods run")):
        panel.locator(".k-tab", has_text=tab).click()
        panel.locator(":is(.k-v-body, .k-chart)").get_by_text(words).first.wait_for()
        panel.screenshot(path=ARTEFACTS / f"tab-{tab.lower()}-{theme.lower()}-{wide}.png")
    assert page.locator(".k-chart").count() == 3  # Domains, and the two tabs
    assert max(page.locator(".k-chart").evaluate_all(f"all => all.map({WIDER})")) < 1
    assert (opened.errors, opened.requests) == ([], [])


def test_charts_follow_select_and_fit(lab_page, tmp_path):
    """Three parts and a tab of the panel are altair charts with one engine: code moves them, a click selects in all.

    None is wider than its place, light or dark.
    """
    lab = run_notebook(lab_page, tmp_path, CHARTS)
    page = lab.page
    page.wait_for_function(f"() => {{ const bars = ({BARS})(); return bars.length === 4 && bars.every(each => Object.keys(each).length); }}")
    assert {f"zone-{number}": ["1", "1"] for number in (1, 2, 3)} == page.evaluate(BARS)[0]
    page.evaluate(RUN, "c.scale('deploy/web', 6); c.run(); steps.selection = 'zone/zone-2'")
    page.wait_for_function(f"() => ({BARS})()[0]['zone-1'].join() === '2,0.3'")
    assert {"zone-1": ["2", "0.3"], "zone-2": ["2", "1"], "zone-3": ["2", "0.3"]} == page.evaluate(BARS)[0]
    page.locator(".k-chart").nth(1).locator("path[aria-roledescription=bar][aria-label*='node-1-2']").first.click(force=True)
    page.wait_for_function(f"() => ({BARS})()[3]['node-2-1'][1] === '0.3'")
    assert "'node/node-1-2'" == page.evaluate(ASK, "lab.selection")
    assert {"1"} == {opacity for _, opacity in page.evaluate(BARS)[0].values()}
    for theme, wide in (("Light", 1400), ("Dark", 1000)):
        in_theme(lab, theme, wide)
        for place, name in enumerate(("parts", "tabs")):
            page.locator(".jp-OutputArea").nth(place).screenshot(path=ARTEFACTS / f"charts-{name}-{theme.lower()}-{wide}.png")
        assert max(page.locator(".k-chart").evaluate_all(f"all => all.map({WIDER})")) < 1
    assert (lab.errors, lab.requests) == ([], [])


def test_the_dashboard_of_the_page(lab_page, tmp_path):
    """Cells of docs/dashboard.md in a browser: they print what stands there, and a chart has the bars of each step.

    Of a chart of one's own only rows differ from step to step.
    """
    cells = CELL.findall((DOCS / "dashboard.md").read_text("utf-8"))
    lab = run_notebook(lab_page, tmp_path, [cell for cell, _ in cells])
    page = lab.page
    for printed, (_, said) in zip(page.evaluate(PRINTED), cells, strict=True):
        assert not said or said.split() == printed.split()  # long lists are broken into lines
    for step, bar in ((-1, 2), (10, 1), (-1, 2)):
        page.evaluate(RUN, f"c.goto({step})")
        page.wait_for_function(f"() => Object.values(({OWN})()).map(each => each[0]).join() === '{bar},{bar},{bar}'")
    assert {"zone-1": [2, 0.3], "zone-2": [2, 1], "zone-3": [2, 0.3]} == page.evaluate(OWN)
    for theme, wide in (("Light", 1400), ("Dark", 1000)):
        in_theme(lab, theme, wide)
        page.locator(".k-chart").nth(-1).screenshot(path=ARTEFACTS / f"charts-joined-{theme.lower()}-{wide}.png")
        page.wait_for_function(f"() => [...document.querySelectorAll('.k-chart')].every(host => ({WIDER})(host) < 1)")
    assert (lab.errors, lab.requests) == ([], [])
