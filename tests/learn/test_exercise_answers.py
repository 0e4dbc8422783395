"""Every exercise of a lesson takes right answers, and rejects wrong ones with the case on which they fail.

The answers are those of `exercise_answers.yaml`. They are written into the cell that a reader finds; the cells before it
that it needs are run once.
"""

import contextlib
import io
from functools import cache
from pathlib import Path

import nbformat
import pytest
import yaml

HERE = Path(__file__).parent
NOTEBOOKS = HERE.parent.parent / "notebooks"
ANSWERS = yaml.safe_load((HERE / "exercise_answers.yaml").read_text(encoding="utf-8"))
QUICK = ("01-ex2", "03-ex1", "03-ex2", "11-ex2")  # those that take a second
EXERCISES = [
    pytest.param(lesson, cell, id=f"{lesson[:2]}-{cell}", marks=[] if f"{lesson[:2]}-{cell}" in QUICK else [pytest.mark.long])
    for lesson, cells in ANSWERS.items() for cell in cells
]  # fmt: skip


@cache
def cells_of(lesson):
    """The code cells of a lesson, by their names."""
    notebook = nbformat.read(NOTEBOOKS / f"{lesson}.ipynb", as_version=4)
    return {cell.id: cell.source for cell in notebook.cells if cell.cell_type == "code"}


def run(source, names):
    """Execute a cell and return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(source, "cell", "exec"), names)  # noqa: S102 - a cell of our own notebooks
    return printed.getvalue()


def test_every_exercise_has_answers():
    """No exercise of a lesson is without right and wrong answers."""
    exercises = {(path.stem, cell.id) for path in NOTEBOOKS.glob("*.ipynb") for cell in nbformat.read(path, as_version=4).cells
                 if "attempt(" in cell.source and not cell.metadata.get("jupyter", {}).get("source_hidden")}

    assert exercises == {(lesson, cell) for lesson, cells in ANSWERS.items() for cell in cells}


@pytest.mark.parametrize(("lesson", "cell"), EXERCISES)
def test_wrong_answers_are_told_where_they_fail_and_right_ones_are_taken(lesson, cell, monkeypatch):
    """Each check takes two right answers at least, and rejects five wrong ones, each with its own counter-example."""
    exercise, cells = ANSWERS[lesson][cell], cells_of(lesson)
    monkeypatch.chdir(NOTEBOOKS)
    before = {"display": lambda *_: None}
    for source in (*(cells[name] for name in exercise["needs"]), exercise.get("setup", "")):
        run(source, before)

    def told(answer):
        source = cells[cell].replace(exercise.get("gap", "..."), answer, 1)
        assert source != cells[cell]
        return run(source, dict(before)).splitlines()

    assert len(exercise["right"]) >= 2
    assert len(exercise["wrong"]) >= 5
    for answer in exercise["right"]:
        assert told(answer)[-1] == "solved", answer
    for answer, words in exercise["wrong"].items():
        said = "\n".join(told(answer))
        assert "not yet: " in said, answer
        assert words in said, f"{answer}: {said}"
