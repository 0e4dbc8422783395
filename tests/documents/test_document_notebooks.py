"""The documents, statement by statement: each has one answer, and every cell shows what is stored under it."""

import signal

import checklist
import document_notebook
import pytest

LONGEST = 120  # seconds after which a cell is ended
WRITTEN = [name for name in document_notebook.NAMES if document_notebook.path_of(name).exists()]


def statements():
    """Every cell of the notebooks, marked with the items of the checklist that it proves."""
    return [pytest.param(cell, id=anchor, marks=[pytest.mark.checklist(*proved)] if (proved := document_notebook.items(cell)) else [])
            for name in WRITTEN for anchor, cell in document_notebook.cells(name).items()]


@pytest.fixture
def bounded():
    """End a cell that never would."""
    def end(_signal, _frame):
        raise TimeoutError(f"not over after {LONGEST} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(LONGEST)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("cell", statements())
def test_the_cell_of_a_statement(cell, bounded):
    """The cell runs after the notebook's first one alone, and shows what is stored under it."""
    assert document_notebook.told(cell.outputs) == document_notebook.told(document_notebook.run(cell.source))


@pytest.mark.parametrize("name", WRITTEN)
def test_every_statement_has_one_answer(name):
    """Each statement stands in the document's order under its anchor, in our words, with a cell, words, or a reason."""
    assert document_notebook.faults(name) == []


@pytest.mark.answered("185")
def test_every_item_is_run_by_a_cell():
    """Every item of the checklist has a cell; the one that mentions an older document is answered in words."""
    run = {item for name in document_notebook.NAMES for cell in document_notebook.cells(name).values()
           for item in document_notebook.items(cell)}
    assert {"185"} == {item for item in checklist.ITEMS if item not in run}
    assert "words" == document_notebook.answers("S2")["S2-28-1"]
