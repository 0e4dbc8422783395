"""What a stored notebook must be, which nbval does not see.

nbval skips every cell that was never run and every picture: so here each notebook has been run from top to
bottom, keeps no state of its widgets, hides no error, and its cells are short enough to read.
"""

import itertools
import json
import statistics
from pathlib import Path

import lesson_form
import nbformat
import pytest
import run_notebooks
from nbformat import v4

ROOT = Path(__file__).parent.parent.parent
NOTEBOOKS = [*sorted((ROOT / "notebooks").glob("*.ipynb")), ROOT / "docs" / "lesson-template.ipynb"]


def faults(notebook, most=3):
    """Everything wrong with this notebook, whose median code cell has so many lines at most: a sentence each."""
    found = []
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if not code:
        return ["no code cell"]
    if (counts := [cell.execution_count for cell in code]) != list(range(1, len(code) + 1)):
        found.append(f"not run from top to bottom: execution counts {counts}")
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        found.append("its kernel is not python3")
    if "widgets" in notebook.metadata:
        found.append("the state of its widgets is stored")
    for cell in code:
        outputs = cell.outputs
        if any(run_notebooks.WIDGET in output.get("data", {}) for output in outputs):
            found.append(f"cell {cell.id} stores a widget's random name")
        if "raises-exception" not in cell.metadata.get("tags", ()):
            found.extend(f"cell {cell.id} stores the error {output.ename}: {output.evalue}"
                         for output in outputs if output.output_type == "error")
        if "execution" in cell.metadata:
            found.append(f"cell {cell.id} stores when it ran")
    lines = [_lines(cell) for cell in code]
    if (median := statistics.median(lines)) > most:
        found.append(f"the median code cell has {median} lines: at most {most}")
    found.extend(f"cell {cell.id} has {long} lines: at most 12, a method is missing"
                 for cell, long in zip(code, lines, strict=True) if long > 12)
    return found


def _lines(cell):
    """How many lines a reader reads, without the one that says after which answer it is shown."""
    return len([line for line in cell.source.splitlines() if not line.startswith("%%after")])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_notebook_is_run_clean_and_short(path):
    """Every notebook is stored as a reader should find it."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)

    assert faults(notebook, most=5 if path.stem in lesson_form.REDONE else 3) == []  # fewer cells, each a question


def cell(source, count, **more):
    """Make a code cell that was run."""
    return v4.new_code_cell(source, execution_count=count, id=f"c{next(NAMES)}", **more)


NAMES = itertools.count()


def notebook_of(*cells, **metadata):
    """Make a notebook of these cells."""
    kernel = {"name": "python3", "display_name": "Python 3"}
    return v4.new_notebook(cells=list(cells), metadata={"kernelspec": kernel} | metadata)


NAMED = v4.new_output("display_data", {run_notebooks.WIDGET: {}})
ERROR = v4.new_output("error", ename="ValueError", evalue="no", traceback=[])


@pytest.mark.parametrize(("notebook", "words"), [
    (notebook_of(), "no code cell"),
    (notebook_of(cell("1", None)), "not run from top"),
    (notebook_of(cell("1", 1), cell("2", 3)), "not run from top"),
    (notebook_of(cell("1", 2), cell("2", 1)), "not run from top"),
    (v4.new_notebook(cells=[cell("1", 1)]), "kernel"),
    (notebook_of(cell("1", 1), widgets={}), "widgets"),
    (notebook_of(cell("1", 1, outputs=[NAMED])), "random name"),
    (notebook_of(cell("1", 1, outputs=[ERROR])), "ValueError: no"),
    (notebook_of(cell("1", 1, metadata={"execution": {}})), "when it ran"),
    (notebook_of(cell("1\n2\n3\n4", 1)), "median"),
    (notebook_of(cell("1\n" * 13, 1), cell("2", 2), cell("3", 3)), "13 lines"),
])
def test_each_fault_is_seen(notebook, words):
    """Each rule can fail."""
    found = faults(notebook)

    assert len(found) == 1
    assert words in found[0]


def test_an_expected_error_is_no_fault():
    """A cell may show an error when its tag says that it will."""
    assert faults(notebook_of(cell("1", 1, outputs=[ERROR], metadata={"tags": ["raises-exception"]}))) == []


def test_running_twice_stores_the_same_bytes(tmp_path):
    """The commit recipe leaves nothing random: a second run changes no byte, and the rules above hold."""
    path = tmp_path / "a.ipynb"
    folded = {"jupyter": {"outputs_hidden": True}}
    made = notebook_of(cell("import ipywidgets\nipywidgets.IntSlider(3)", None), cell("print(6 * 7)", None, metadata=folded))
    for nameless in made.cells:
        del nameless["id"]
    path.write_text(json.dumps(made), encoding="utf-8")
    run_notebooks.main(tmp_path)
    first = path.read_bytes()
    run_notebooks.main(path)

    assert path.read_bytes() == first
    assert faults(nbformat.read(path, as_version=4)) == []
    (empty, answer) = nbformat.read(path, as_version=4).cells[1].outputs  # JupyterLab shows a line of the first one
    assert ({}, "42\n") == (empty.data, answer.text)


def test_pieces_of_one_stream_are_stored_as_one():
    """In how many pieces a cell's text arrived is not stored; errors and the other stream stay apart."""
    pieces = [v4.new_output("stream", name=name, text=text) for name, text in (("stdout", "a"), ("stdout", "b"), ("stderr", "c"))]
    joined = run_notebooks.joined([*pieces, NAMED])

    assert [output.get("text") for output in joined] == ["ab", "c", None]
