"""Whether a lesson asks before it tells, as a list of what spoils: `python tests/lesson_bets.py notebooks/01*.ipynb`.

A prediction is asked in a cell, the cell that answers it stands under `%%after`, and nothing that shows what was right
stands open before it. What was right is sealed with the outputs.
"""

import re
import sys
from pathlib import Path

import nbformat
from lesson_form import PREDICT, printed

from kvolsched.api.sealed_output import MIME, SUMMARY, outputs_of, right_of

AFTER = re.compile(r"%%after\s+(\w+)")
SUMMARIES = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
FOLDS = re.compile(r"<details>.*?</details>", re.DOTALL)


def faults(path):
    """Everything in which this lesson tells before it asks: a sentence each."""
    cells = nbformat.read(path, as_version=4).cells
    prose = [cell for cell in cells if cell.cell_type == "markdown"]
    found = [f"cell {cell.id} predicts in prose: kvolsched.ask asks" for cell in prose if PREDICT.search(cell.source)]
    found += [f"cell {cell.id} has a fold {summary!r}: every fold says {SUMMARY!r}" for cell in prose
              for summary in SUMMARIES.findall(cell.source) if summary != SUMMARY]
    asked = {name: place for place, cell in enumerate(cells) for name in _asks(cell)}
    answered = set()
    for place, cell in enumerate(cells):
        held = AFTER.match(cell.source) if cell.cell_type == "code" else None
        if held is None:
            continue
        if held[1] not in asked:
            found.append(f"cell {cell.id} is after {held[1]}, which no cell asks")
        elif held[1] not in answered:
            answered.add(held[1])
            found += _spoilt(cells, asked[held[1]], place)
    return found + [f"cell {cells[place].id} asks {name}, and no cell is after it"
                    for name, place in asked.items() if name not in answered]


def _asks(cell):
    """The names of the questions that a cell asks."""
    return re.findall(r"^(\w+) = (?:kvolsched\.ask|[\w.()\"' ]*\.predict)\(", cell.source, re.MULTILINE)


def _spoilt(cells, asked, place):
    """What is wrong with the question of cell `asked`, whose answer is sealed in cell `place`."""
    (question, cell) = cells[asked], cells[place]
    sealed = next((output.data for output in cell.outputs if MIME in output.get("data", {})), None)
    if sealed is None:
        return [f"cell {cell.id} is stored open: run it with tests/run_notebooks.py"]
    right, found = right_of(sealed), []
    if not right:
        found.append(f"cell {cell.id} does not say what was right: asked.was(value)")
    choices = [line.split("  ")[2].strip() for line in printed(question).splitlines() if re.match(r"  \d+  ", line)]
    told = [other for other in cells[:place] if _names(other, right, whole=other in cells[asked + 1:place])
            and not all(_names(other, choice, whole=True) for choice in choices)]
    found += [f"cell {other.id} has {right!r}, which cell {question.id} asks for" for other in told
              if other is not question]
    shown = "\n".join(output.get("text/plain", "") for output in outputs_of(sealed))
    places = [shown.find(choice) for choice in choices]
    if len(places) > 2 and -1 not in places and places == sorted(places):
        found.append(f"the choices of cell {question.id} stand in the order in which cell {cell.id} lists them")
    return found


def _names(cell, word, *, whole):
    """Whether open text of a cell has a word: its prose outside folds, or, if the whole cell counts, what it shows.

    A number above its question says nothing by itself: only with what it counts of, as in `4 of 12`.
    """
    if not word:
        return False
    number = re.fullmatch(r"-?[\d.]+", word) is not None
    pattern = rf"(?<![\w-]){re.escape(word)}(?![\w-])" if whole or not number else rf"\b{re.escape(word)} of \d"
    text = FOLDS.sub("", cell.source) if cell.cell_type == "markdown" else printed(cell) if whole else ""
    return re.search(pattern, text) is not None


if __name__ == "__main__":
    found = {place: faults(place) for place in map(Path, sys.argv[1:])}
    for place, said in found.items():
        print(place.stem, *(said or ["asks before it tells"]), sep="\n  ")
    sys.exit(any(found.values()))
