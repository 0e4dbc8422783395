"""Questions before their answers, as a person meets them in JupyterLab after Run All."""

import re

import pytest
from nbformat import v4, write

pytestmark = pytest.mark.browser
CELLS = [
    "import kvolsched\nc = kvolsched.scenario('two-disks-each')",
    "bet = kvolsched.ask('How many of the twelve run?', 'all 12', '6 to 11', '1 to 5')\nbet",
    "%%after bet\nc.run()\ncount = str(c.get('pods')).count('Running')\nprint('there run', count)\nbet.was(count)\nc.map()",
    "number = kvolsched.ask('How many wait?', number=True)\nnumber",
    "%%after number\nnumber.was(12 - count)\nkvolsched.scenario('third-pod').whatif('map', **{'deploy/web:spec.replicas': (1, 3)})",
    "'later cells', count",
]
OUTPUTS = """place => [...jupyterapp.shell.currentWidget.content.model.cells].filter(cell => cell.type === 'code')[place]
  .toJSON().outputs.map(output => Object.keys(output.data ?? {}))"""


def test_what_a_cell_shows_comes_with_the_answer(lab_page, tmp_path):
    """Run All opens nothing and misses nothing; a click puts picture and print into their place, and only there."""
    made = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in CELLS],
                           metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    write(made, tmp_path / "ask.ipynb")
    lab = lab_page(tmp_path / "ask.ipynb")
    ran = lab.run_all()
    cells = lab.page.locator(".jp-CodeCell")

    assert (ran.cells, ran.executed, ran.faults) == (6, 6, [])
    cells.nth(5).get_by_text("('later cells', 4)").wait_for()
    assert cells.nth(2).locator(".jp-OutputArea").inner_text().count("sealed until you have answered") == 1
    assert "there run" not in lab.page.locator(".jp-OutputArea").nth(1).inner_text()
    assert cells.nth(2).locator(".k-fig").count() == 0
    assert "application/vnd.kvolsched.sealed+json" in lab.page.evaluate(OUTPUTS, 2)[0]

    cells.nth(1).get_by_role("button", name=re.compile("6 to 11")).click()
    cells.nth(2).get_by_text("there run 4").wait_for()
    cells.nth(2).locator(".k-fig").first.wait_for()
    cells.nth(1).get_by_text("It was 4.").wait_for()
    assert not any("application/vnd.kvolsched.sealed+json" in kinds for kinds in lab.page.evaluate(OUTPUTS, 2))
    assert cells.nth(4).locator(".noUi-handle").count() == 0

    field = cells.nth(3).locator("input")
    field.fill("8")
    field.press("Enter")
    cells.nth(4).locator(".noUi-handle").first.wait_for()
    cells.nth(3).get_by_text("It was 8.").wait_for()
    assert lab.errors == []
    assert lab.requests == []
