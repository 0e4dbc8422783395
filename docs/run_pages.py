"""Write each lesson's panel as one page that steps without a kernel: `python docs/run_pages.py FOLDER [LESSON...]`.

A lesson is run up to the cell that opens its panel, and the panel's run is saved. The book shows the page under that
cell.
"""

import ast
import contextlib
import io
import os
import sys
from pathlib import Path

import nbformat

LESSONS = Path(__file__).parent.parent / "notebooks"
MOST_STEPS = 30


def opens_a_panel(source):
    """Whether a cell's last line is a panel: `c.lab()`, or a name's own `lab`."""
    lines = ast.parse(source).body if ".lab(" in source else ()
    return bool(lines) and isinstance(lines[-1], ast.Expr) and ".lab(" in ast.unparse(lines[-1])


def panel_of(path):
    """Run a lesson up to its first panel and return that panel.

    Raises:
        LookupError: the lesson opens none.
    """
    names = {"__name__": "__main__"}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code" or "raises-exception" in cell.metadata.get("tags", ()):
            continue
        tree = ast.parse(cell.source.partition("\n")[2] if cell.source.startswith("%%after") else cell.source)
        last = ast.Expression(tree.body.pop().value) if opens_a_panel(cell.source) else None
        exec(compile(tree, path.name, "exec"), names)  # noqa: S102 - our own lessons
        if last is not None:
            return eval(compile(last, path.name, "eval"), names)  # noqa: S307 - as above
    raise LookupError(f"{path.name} opens no panel")


def save(panel, path):
    """Save a panel's run; one that has not begun is run for its first steps, for there is something to step through."""
    head = panel.driver.frame().head
    for _ in range(MOST_STEPS if head.steps_known <= head.step else 0):
        panel.driver.step()
    return panel.save(path)


def main(folder, *lessons):
    """Write the pages of these lessons, of all without one."""
    target = Path(folder).resolve()
    target.mkdir(parents=True, exist_ok=True)
    os.environ["TQDM_DISABLE"] = "1"
    os.chdir(LESSONS)
    for path in [LESSONS / f"{name}.ipynb" for name in lessons] or sorted(LESSONS.glob("[0-9]*.ipynb")):
        with contextlib.redirect_stdout(io.StringIO()):
            saved = save(panel_of(path), target / f"{path.stem}.html")
        print(saved)


if __name__ == "__main__":
    main(*sys.argv[1:])
