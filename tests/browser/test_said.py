"""A statement of the documents is found and its cell put below, as a person does it in JupyterLab."""

from pathlib import Path

import pytest
from nbformat import v4, write

from kvolsched.learn import said

SCRIPT = Path(__file__).parents[2] / "docs" / "static" / "said.js"
pytestmark = pytest.mark.browser


def test_a_button_puts_the_cell_below(lab_page, tmp_path):
    """A click adds a cell under the answer with the code of the statement, and it runs there as it is."""
    made = v4.new_notebook(cells=[v4.new_code_cell("import kvolsched\nkvolsched.said('S0-2-1')"), v4.new_code_cell("'last'")],
                           metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    write(made, tmp_path / "said.ipynb")
    lab = lab_page(tmp_path / "said.ipynb")
    lab.run_all()
    cells = lab.page.locator(".jp-CodeCell")
    cells.nth(0).get_by_role("button", name="Put the cell of S0-2-1 below").click()
    cells.nth(1).get_by_text("from kvolsched.documents import *").wait_for()
    assert cells.count() == 3
    lab.page.keyboard.press("Control+Enter")
    cells.nth(1).get_by_text("'zone b': ['b1']").wait_for()
    assert lab.errors == []


def test_the_book_finds_what_said_finds(browser):
    """The script of the book ranks statements as Python does: words, names, a section, an anchor, nothing."""
    page = browser.new_page()
    page.add_script_tag(path=SCRIPT)
    page.evaluate("data => { window.SAID = data; }", said.search_index())
    words = [" ".join(each) for each in said.index().values() if len(each) > 3][::40]
    for asked in [*words, "ActualSkew", "annSelectedNode", "s4-12", "S0-2-1", "the of", "qwertzuiop"]:
        found = page.evaluate("words => ranked(window.SAID, words).map(place => window.SAID.statements[place].anchor)", asked)
        assert (asked, found) == (asked, [each.anchor for each in said.said(asked)])
    page.close()
