"""Every cell of docs/experiments.md runs as printed, for itself, and shows what it says; every story has one."""

import ast
import re
import signal
from pathlib import Path

import checklist
import document_notebook
import public_face
import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "experiments.md").read_text("utf-8")
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
STORY = re.compile(r"^\*\*((?:\d+[a-z]?(?:, )?)+)\*\* · (.*?)\n\n```python\n(.*?)```", re.DOTALL | re.MULTILINE)
WAITING = "Not yet run"  # the section of stories without a cell
LONGEST = 120  # seconds after which a cell is ended


def stories():
    """Every story of the page with its cell, marked with the items that it runs."""
    return [pytest.param(told, cell, id=items.replace(", ", "+"), marks=pytest.mark.checklist(*items.split(", ")))
            for items, told, cell in STORY.findall(PAGE)]


def run_cell(cell):
    """Run the page's imports, then a cell, and compare what its lines show with what they promise."""
    first = BLOCK.search(PAGE)[1]
    names = {"__name__": "__page__"}
    exec(compile(first, "experiments.md, first block", "exec"), names)  # noqa: S102 - the page's own text
    lines = cell.splitlines()
    for part in ast.parse(cell).body:
        promised = lines[part.end_lineno - 1].partition("  # -> ")[2]
        if promised and isinstance(part, ast.Expr):
            shown = repr(eval(compile(ast.Expression(part.value), "cell", "eval"), names))  # noqa: S307
            assert promised == " ".join(shown.split())
        else:
            exec(compile(ast.Module([part], []), "cell", "exec"), names)  # noqa: S102


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


@pytest.mark.parametrize(("told", "cell"), stories())
def test_the_cell_of_a_story(told, cell, bounded):
    """The cell runs as printed, after the page's first block alone, and shows what it promises."""
    assert told
    assert "assert " in cell or "# -> " in cell or "play(" in cell, "a cell proves something"
    run_cell(cell)


def test_every_block_belongs_to_a_story():
    """No cell stands outside the stories but the first block."""
    assert 1 + len(STORY.findall(PAGE)) == len(BLOCK.findall(PAGE))


def test_every_story_of_the_documents_is_listed():
    """Every item is in a story with a cell, here or in a document's notebook, or among those answered in words."""
    run = {item for items, _, _ in STORY.findall(PAGE) for item in items.split(", ")}
    run |= {item for name in document_notebook.NAMES for cell in document_notebook.cells(name).values()
            for item in document_notebook.items(cell)}
    _, _, rest = PAGE.partition("\n## In words\n")
    named = set(re.findall(r"\*\*(\d+[a-z]?)\*\*", rest))
    assert set() == {item for item in (run | named) if item not in checklist.ITEMS}
    assert [] == [item for item in checklist.ITEMS if item not in run | named]
    assert set() == run & named


def test_a_cell_is_short():
    """A cell fits a notebook: one to five statements in most, at most ten lines, none too long."""
    cells = [(items, cell) for items, _, cell in STORY.findall(PAGE)]
    assert [] == [items for items, cell in cells if len(cell.splitlines()) > 10]
    assert [] == [items for items, cell in cells if max(map(len, cell.splitlines())) > 175]
    assert len(cells) * 0.85 < sum(len(ast.parse(cell).body) <= 5 for _, cell in cells)


def test_the_cells_keep_to_the_public_face():
    """A cell is what a reader can run: none reaches into the engine."""
    cells = BLOCK.findall(PAGE)
    assert {} == {cell: reached for cell in cells if (reached := public_face.reached_by_cell(cell))}
