"""Sliders, predictions, the gate workbench, two clusters side by side, and figures, as a person uses them in JupyterLab."""

import re

import pytest
from nbformat import v4, write

from .conftest import ARTEFACTS
from .test_panel import ASK

pytestmark = pytest.mark.browser
WHAT_IF, PREDICT, WORKBENCH, PAIR, WHY, FIX = range(1, 7)
CELLS = [
    "import kvolsched",
    'what = kvolsched.scenario("third-pod").whatif("map", **{"deploy/web:spec.replicas": (1, 4)})\nwhat',
    'asked = kvolsched.scenario("zonal-example").predict("Which node?", pod="my-pod")\nasked',
    'bench = kvolsched.scenario("gated-jobs").may("job-1", "spec: {nodeSelector: {vm: spot}}", edit=True)\nbench',
    'pair = kvolsched.scenario("zonal-example", "upstream").lab(beside="design")\npair',
    'dead = kvolsched.scenario("dead-zone")\n_ = dead.run()\ndead.why("next")',
    'dead.fix("next")',
]


def test_controls_and_figures_in_the_dark_at_1000_px(lab_page, tmp_path):
    """Each control answers, each figure is dark and inside its cell; the page complains of nothing and asks nobody."""
    notebook = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in CELLS],
                               metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    write(notebook, tmp_path / "controls.ipynb")
    lab = lab_page(tmp_path / "controls.ipynb")
    page, ask = lab.page, lambda expression: lab.page.evaluate(ASK, expression)
    page.set_viewport_size({"width": 1000, "height": 1400})
    ran = lab.run_all()
    page.evaluate("jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    cells = page.locator(".jp-CodeCell")

    handle = cells.nth(WHAT_IF).locator(".noUi-handle").first
    handle.focus()
    before = ask("list(what.values.values())")
    handle.press("ArrowRight")
    page.wait_for_function(f"({ASK})('list(what.values.values())').then(said => said !== {before!r})")
    assert ("[2]", "[3]") == (before, ask("list(what.values.values())"))

    question = cells.nth(PREDICT)
    question.get_by_role("button", name=re.compile("node-c")).first.click()
    question.get_by_text("VolumeBinding").first.wait_for()
    question.get_by_role("button", name=re.compile("node-a(?!-)")).first.click()
    question.get_by_role("button", name="Let it happen").click()
    question.get_by_text("highest sum").first.wait_for()

    workbench = cells.nth(WORKBENCH)
    assert "'allowed (200)'" == ask("bench.answers[0].verdict")
    workbench.locator("textarea").first.fill("spec: {nodeSelector: {zone: nowhere}, hostname: other}")
    workbench.get_by_text("refused").first.wait_for()
    assert "'refused (422 Invalid)'" == ask("bench.answers[0].verdict")

    both = cells.nth(PAIR)
    both.locator(".k-step").first.click()
    both.get_by_text("≠").first.wait_for()
    both.locator(".k-only select").select_option("differences only")
    both.get_by_text("alike in both").first.wait_for()

    why = cells.nth(WHY).locator(".k-fig")
    why.locator("[data-ref]").first.click()
    why.locator(".k-said").filter(has_text=re.compile(".")).first.wait_for()
    card = cells.nth(FIX).locator("details:not([open])").first
    closed = cells.nth(FIX).locator("details:not([open])").count()
    card.locator("summary").first.click()
    assert closed - 1 == cells.nth(FIX).locator("details:not([open])").count()
    for place in (WHY, FIX):
        figure = cells.nth(place).locator(".k-fig")
        assert "rgb(20, 24, 31)" == figure.evaluate("at => getComputedStyle(at).backgroundColor")
        assert figure.evaluate("at => at.scrollWidth <= at.clientWidth + 1")
    ARTEFACTS.mkdir(exist_ok=True)
    for place, name in ((WHAT_IF, "what-if"), (PREDICT, "predict"), (WORKBENCH, "workbench"), (PAIR, "pair"),
                        (WHY, "why"), (FIX, "fix")):  # fmt: skip
        cells.nth(place).screenshot(path=ARTEFACTS / f"{name}-dark-1000.png")

    assert (ran.faults, ran.executed) == ([], ran.cells)
    assert (lab.errors, lab.requests) == ([], [])

