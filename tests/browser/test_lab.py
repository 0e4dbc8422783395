"""Every notebook, in JupyterLab, in a browser, offline."""

from pathlib import Path

import pytest
from nbformat import v4, write

pytestmark = pytest.mark.browser
NOTEBOOKS = sorted((Path(__file__).parent.parent.parent / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs_and_nothing_leaves_the_machine(path, lab_page):
    """All cells run with no error, no complaint of the page, and no request outside this machine."""
    lab = lab_page(path)
    ran = lab.run_all()
    lab.settle()
    lab.screenshot(path.stem)

    assert ran.faults == []
    assert ran.executed == ran.cells
    assert lab.errors == []
    assert lab.requests == []


def test_errors_complaints_and_requests_are_seen(lab_page, tmp_path):
    """The four assertions above can fail; an error that its cell's tag expects is none."""
    cells = [
        v4.new_code_cell("assert 0, 'expected'", metadata={"tags": ["raises-exception"]}),
        v4.new_code_cell("from IPython.display import HTML, Javascript\nJavascript('console.error(\"complaint\")')"),
        v4.new_code_cell("HTML('<img src=\"http://outside.invalid/a.png\">')"),
        v4.new_code_cell("assert 0, 'unexpected'"),
        v4.new_code_cell("1"),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    write(v4.new_notebook(cells=cells, metadata=kernel), tmp_path / "bad.ipynb")
    lab = lab_page(tmp_path / "bad.ipynb")
    ran = lab.run_all()
    lab.settle()

    assert ran.faults == ["AssertionError: unexpected"]
    assert (ran.executed, ran.cells) == (4, 5)
    assert "complaint" in lab.errors
    assert set(lab.requests) == {"http://outside.invalid/a.png"}
