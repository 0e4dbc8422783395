"""The form of a lesson, as a list of what a notebook misses: `python tests/lesson_form.py notebooks/06*.ipynb`.

A lesson is a question, a cast, claims that can be false, predictions that are not spoiled, a control to drag, a panel
early, exercises that say "not yet", today's box and two links. Those of `REDONE` begin with play and are shorter: four to
six bets, two exercises, what the documents said, and a page of the pager as the way out. What cannot be counted, a reader
judges.
"""

import re
import sys
from pathlib import Path

import nbformat

MOST_BYTES = 1_000_000
MOST_WORDS = 90  # of a markdown cell that is neither the question nor a list
REDONE = frozenset({"01-who-goes-first", "02-two-disks", "03-topology-and-node-affinity", "04-dynamic-provisioning", "05-storage-capacity",
                    "06-even-spreading", "07-gated-pods", "08-who-wrote-what", "09-the-design-that-was-reversed",
                    "10-bring-your-own-cluster", "11-write-a-plugin", "12-your-own-kubectl"})
REDONE_BYTES, REDONE_CELLS, OPENING_WORDS, BETS = 600_000, 30, 40, range(4, 7)
FOLDED = {"outputs_hidden": True}
SOLUTION = {"source_hidden": True, "outputs_hidden": True}
BANNED = ("!", "simply", "magic", "obviously", "of course")
ASKED = re.compile(r"\.predict\(|kvolsched\.ask\(")
PREDICT = re.compile(r"\*\*predict", re.IGNORECASE)
OPEN_MODULES = {"kvolsched", "kvolsched.make", "kvolsched.explore", "kvolsched.writes", "kvolsched.measure.conform", "altair"}
CONTROL = r"\.whatif\(|\.may\(.*edit=True"
PLAY = r"\.lab\(|\.whatif\(|\.may\(|rescue\("
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def is_folded(cell, how=FOLDED):
    """Whether a cell's output, or the whole cell, is stored folded, for JupyterLab and for static books."""
    kept = cell.metadata.get("jupyter", {})
    tags = {"outputs_hidden": "hide-output", "source_hidden": "hide-input"}
    return all(kept.get(name) is True and tags[name] in cell.metadata.get("tags", ()) for name in how)


def printed(cell):
    """What a code cell printed or showed, as text."""
    shown = (output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", ()))
    return "".join("".join(text) for text in shown)


def words(source):
    """How many words of prose a markdown cell has outside lists and headings."""
    lines = (line for line in source.splitlines() if not re.match(r"\s*([-*|#<]|\d+\.|\*\*\d)", line))
    return len(" ".join(lines).split())


def faults(path):
    """Everything in which this notebook is not in the form: a sentence each."""
    notebook, name = nbformat.read(path, as_version=4), path.stem
    cells = notebook.cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    prose = [cell for cell in cells if cell.cell_type == "markdown"]
    is_redone = name in REDONE
    found = []
    if (size := path.stat().st_size) > (most := REDONE_BYTES if is_redone else MOST_BYTES):
        found.append(f"{size:,} bytes: at most {most:,}")
    if len(cells) > (most := REDONE_CELLS if is_redone else 40):
        found.append(f"{len(cells)} cells: at most {most}")
    if not cells[0].source.startswith("# ") or "?" not in cells[0].source:
        found.append("the first cell is no title with a question")
    found += _parts_of_redone(cells) if is_redone else _parts(cells, code, prose, name)
    found += _predictions(cells)
    found += _exercises(code)
    found += _prose(prose)
    found += _links(prose, path.parent)
    return found + _code(code)


READ, PLAYED, ASKED_FOR, TRIED, LINES = 200, 2, 1, 4, 15  # words a minute; minutes for the play, a question, an exercise; lines of code a minute


def minutes(cells):
    """How long a reader takes alone: reading, the play, each question, each exercise, code, and ten seconds for a cell to run."""
    code = [cell for cell in cells if cell.cell_type == "code" and not is_folded(cell, SOLUTION)]
    read = sum(len(cell.source.split()) for cell in cells if cell.cell_type == "markdown")
    tried = sum("attempt(" in cell.source for cell in code)
    asked = sum(bool(ASKED.search(cell.source)) for cell in code)
    lines = sum(len(cell.source.splitlines()) for cell in code if not cell.metadata.get("jupyter", {}).get("source_hidden"))
    return round(read / READ + PLAYED + asked * ASKED_FOR + tried * TRIED + lines / LINES + len(code) / 6)


def _parts_of_redone(cells):
    """Which parts a lesson that begins with play misses."""
    found = []
    if (count := words(cells[0].source)) > OPENING_WORDS:
        found.append(f"the first cell has {count} words: at most {OPENING_WORDS}")
    if cells[1].cell_type != "code" or not re.search(PLAY, cells[1].source):
        found.append("the second cell is no play")
    asked = sum(cell.cell_type == "code" and bool(ASKED.search(cell.source)) for cell in cells)
    if asked not in BETS:
        found.append(f"{asked} bets: {BETS[0]} to {BETS[-1]}")
    tried = [place for place, cell in enumerate(cells) if cell.cell_type == "code" and "attempt(" in cell.source]
    named = [place for place, cell in enumerate(cells) if cell.cell_type == "markdown" and "Enough for a class" in cell.source]
    if not named or not tried or not tried[0] < named[0] < tried[-1]:
        found.append('no line "Enough for a class" after the first exercise')
    for what, pattern in (('part "What the documents said"', r"^## What the documents said"), ("fork or way back", r"\.(fork|back|goto)\(")):
        if not any(re.search(pattern, cell.source, re.MULTILINE) for cell in cells):
            found.append(f"no {what}")
    if "kvolsched.page(" not in cells[-1].source:
        found.append("the last cell is no page of the pager")
    return found


def _parts(cells, code, prose, name):
    """Which parts a lesson of the older form misses."""
    found = []
    if not any("## What Kubernetes does today" in cell.source for cell in prose):
        found.append('no box "What Kubernetes does today"')
    panel = next((place for place, cell in enumerate(cells) if cell.cell_type == "code" and ".lab(" in cell.source), None)
    by = len(cells) // 3
    if panel is None or panel > by:
        found.append(f"the panel is cell {panel}: at the latest cell {by}")
    for what, least, pattern in (("asserts", 5, r"^\s*assert |; assert "), ("controls that a reader drags", 1, CONTROL),
                                 ("c.predict(...)", 1, r"\.predict\("), ("forks or ways back", 1, r"\.(fork|back|goto)\(")):
        if (count := sum(bool(re.search(pattern, cell.source, re.MULTILINE)) for cell in code)) < least:
            found.append(f"{count} cells with {what}: at least {least}")
    return found


def _code(code):
    found = []
    for cell in code:
        modules = re.findall(r"^\s*(?:from|import) (kvolsched[\w.]*|altair)", cell.source, re.MULTILINE)
        found += [f"cell {cell.id} imports {module}: a reader needs no internal module" for module in modules
                  if module not in OPEN_MODULES]
        if is_folded(cell) and cell.outputs and cell.outputs[0].get("data") != {}:
            found.append(f"folded cell {cell.id} shows its first line: store it with tests/run_notebooks.py")
        if "raises-exception" in cell.metadata.get("tags", ()):
            found.append(f"cell {cell.id} shows a traceback")
    return found


def _predictions(cells):
    found = []
    asked = [place for place, cell in enumerate(cells)
             if ASKED.search(cell.source) or (cell.cell_type == "markdown" and PREDICT.search(cell.source))]
    if len(asked) < 4:
        found.append(f"{len(asked)} questions to the reader (**Predict** or c.predict): at least 4")
    for place in asked:
        after = next((cell for cell in cells[place + 1:] if cell.cell_type == "code"
                      and not ASKED.search(cell.source) and (cell.outputs or "attempt(" in cell.source)), None)
        if after is not None and not re.search(r"attempt\(|^%%after", after.source) and not is_folded(after):
            found.append(f"cell {after.id} answers the prediction of cell {cells[place].id} unfolded")
    return found


def _exercises(code):
    found = []
    tried = [cell for cell in code if "attempt(" in cell.source]
    gaps = [cell for cell in tried if not is_folded(cell, SOLUTION)]
    solutions = [cell for cell in tried if is_folded(cell, SOLUTION)]
    if not 2 <= len(gaps) <= 3 or len(solutions) != len(gaps):
        found.append(f"{len(gaps)} exercises with {len(solutions)} folded solutions: two or three, a solution each")
    found += [f'exercise {cell.id} does not store "not yet"' for cell in gaps if "not yet:" not in printed(cell)]
    found += [f'solution {cell.id} does not store "solved"' for cell in solutions
              if "solved" not in printed(cell) or "not yet" in printed(cell)]
    return found


def _prose(prose):
    found = []
    for place, cell in enumerate(prose):
        if place and (count := words(cell.source)) > MOST_WORDS:
            found.append(f"cell {cell.id} has {count} words: at most {MOST_WORDS}")
        text = re.sub(r"`[^`]*`|\]\([^)]*\)", "", cell.source).lower()
        found += [f"cell {cell.id} says {word!r}" for word in BANNED if word in text]
    return found


def _links(prose, folder):
    links = [link for cell in prose for link in LINK.findall(cell.source)]
    found = [f"the link {link} leads nowhere" for link in links
             if not link.startswith(("http:", "https:")) and not (folder / link).exists()]
    if not prose[-1].source.startswith("## Where next") or len(LINK.findall(prose[-1].source)) < 2:
        found.append('the last text is no "Where next" with two links')
    return found


if __name__ == "__main__":
    found = {place: faults(place) for place in map(Path, sys.argv[1:])}
    for place, said in found.items():
        print(place.stem, *(said or ["in the form"]), sep="\n  ")
    sys.exit(any(found.values()))
