"""Charts in JupyterLab: painted offline, whole at the width of a small window, in the colours of the page, linked."""

import subprocess
import sys

import pytest
from nbformat import v4, write

pytestmark = pytest.mark.browser

WIDTHS = (1000, 1200, 1400)  # px of a window; at 1000, with the file browser, a cell has 632
CELLS = (
    """
import altair as alt, kvolsched
c = kvolsched.scenario("zones", replicas=3); c.run(); c.scale("deploy/web", 6); c.run(); c.cordon("node-1-1")
soft, pools = kvolsched.scenario("soft-spread"), kvolsched.scenario("two-volumes-one-pool")
_ = soft.run(), pools.run()
many = kvolsched.scenario("zones", nodes=30)
rows = kvolsched.sweep(lambda zones, mode: zones * len(mode), {"zones": [1, 2], "mode": ["a", "bb"]}, progress=False)
""",
    'c.skew("deploy/web").chart', 'c.skew("deploy/web", over="steps")', "c.map().chart", "pools.capacity().chart",
    "soft.scores(soft.objects('pod')[-1].metadata.name).chart", "c.series(c.under('design'))", 'c.series(what="lives")',
    "c.timeline().chart", "c.sample(3).chart", 'rows.chart("zones", by="mode")', 'rows.chart("mode", by="zones")',
    "many.map().chart", 'c.skew("deploy/web").chart & c.skew("deploy/web", over="steps").chart',
    'import altair as alt; (c.skew("deploy/web").chart | c.capacity().chart).properties(title="mine")',
    'alt.Chart(alt.Data(values=c.skew("deploy/web").table)).mark_bar().encode(x="counted:Q", y="domain:N")',
    'c.skew("deploy/web").chart | c.skew("deploy/web", at=10).chart',
    'c.skew("deploy/web").chart + c.skew("deploy/web").chart',
    'c.skew("deploy/web").chart.facet("constraint:N")', 'c.skew("deploy/web").chart.properties(width=400).interactive(bind_y=False)',
    'c.skew("deploy/web", over="steps").chart.interactive(bind_y=False)',
    """mine = alt.Chart(alt.Data(values=c.skew("deploy/web").table)).mark_bar().encode(x="counted:Q", y="domain:N")
c.skew("deploy/web", over="steps").chart | mine""",
)  # fmt: skip
PAINTED = "document.querySelectorAll('.jp-Notebook .vega-embed svg.marks').length"
CUT = """() => [...document.querySelectorAll('.jp-Notebook .vega-embed svg.marks')].map(svg => {
  const box = svg.getBoundingClientRect();
  const room = svg.closest('.jp-OutputArea-output').getBoundingClientRect();
  const cut = [...svg.querySelectorAll('text')].filter(text => {
    const at = text.getBoundingClientRect();
    return text.textContent.includes('…') || at.width && (at.left < box.left - 1 || at.right > box.right + 1
      || at.top < box.top - 1 || at.bottom > box.bottom + 1);
  }).map(text => text.textContent);
  return box.right > room.right + 1 ? [...cut, `${Math.round(box.width)} px in ${Math.round(room.width)}`] : cut;
})"""
REOPEN = """async path => {
  const shell = jupyterapp.shell, panel = shell.currentWidget;
  await jupyterapp.commands.execute('docmanager:save');
  await panel.sessionContext.shutdown();
  panel.dispose();
  const again = await jupyterapp.commands.execute('docmanager:open', {path, kernel: {shouldStart: false}});
  await again.context.ready;
  await again.revealed;
  return again.sessionContext.hasNoKernel;
}"""
INKS = """() => [...document.querySelectorAll('.jp-Notebook .vega-embed svg.marks .role-title-text text')]
  .map(text => getComputedStyle(text).fill)"""
SHADED = """number => [...document.querySelectorAll('.jp-Notebook .vega-embed')][number]
  .querySelectorAll('svg.marks path[opacity="0.3"]').length"""


def test_charts_paint_offline_and_whole(lab_page, lab_server, tmp_path):
    """Every chart paints without network or error, whole, in the page's ink; a click shades the rest; reopened it is there."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    write(v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in CELLS], metadata=kernel), tmp_path / "charts.ipynb")
    opened = lab_page(tmp_path / "charts.ipynb")
    assert [] == opened.run_all().faults
    opened.page.wait_for_function(f"{PAINTED} === {len(CELLS) - 1}")
    for wide in WIDTHS:
        opened.page.set_viewport_size({"width": wide, "height": 900})
        opened.settle()
        cut = dict(zip(CELLS[1:], opened.page.evaluate(CUT), strict=True))
        assert {} == {cell: found for cell, found in cut.items()  # two beside each other may scroll
                      if found and (" | " not in cell or " px in " not in found[0])}
    linked = next(place for place, cell in enumerate(CELLS) if " & " in cell) - 1
    assert 0 == opened.page.evaluate(SHADED, linked)
    opened.page.locator(".jp-Notebook .vega-embed").nth(linked).locator("path[aria-roledescription='bar']").first.click()
    opened.page.wait_for_function(f"({SHADED})({linked}) > 3")
    opened.screenshot("charts-light")
    opened.page.evaluate("jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    opened.page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
    opened.settle()
    opened.screenshot("charts-dark")
    for ink in opened.page.evaluate(INKS):
        assert min(int(part) for part in ink.removeprefix("rgb(").removeprefix("rgba(").rstrip(")").split(",")[:3]) > 200
    assert ([], []) == (opened.errors, opened.requests)

    assert opened.page.evaluate(REOPEN, opened.path)
    opened.page.wait_for_function(f"{PAINTED} === {len(CELLS) - 1}")
    assert ([], []) == (opened.errors, opened.requests)
    saved = lab_server.root / opened.path
    subprocess.run([sys.executable, "-m", "nbconvert", "--to", "html", saved], check=True, capture_output=True)
    opened.page.context.set_offline(True)
    opened.page.goto(saved.with_suffix(".html").as_uri())
    drawn = opened.page.locator(".jp-RenderedSVG img").evaluate_all("all => all.map(each => each.naturalWidth > 50)")
    assert [True] * (len(CELLS) - 1) == drawn
