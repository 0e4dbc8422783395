"""The page about controllers of your own keeps its word: its cells run from top to bottom and print what stands there."""

import ast
import linecache
import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "controllers.md"
CELL = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", re.DOTALL)


def run(cell, names, number):
    """Run a cell as a notebook does, and give the text of its last expression."""
    file = f"<cell {number}>"
    linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
    body = ast.parse(cell).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), file, "exec"), names)  # noqa: S102 - our own text
    value = eval(compile(ast.Expression(last.value), file, "eval"), names) if last else None  # noqa: S307
    return "" if value is None else f"{value!r}\n"


def test_the_cells_print_what_stands_under_them(capsys, monkeypatch):
    """Every cell runs in the order of the page, and its text is the one that is printed under it."""
    monkeypatch.setenv("TQDM_DISABLE", "1")
    names = {}
    cells = CELL.findall(PAGE.read_text("utf-8"))
    assert len(cells) > 5
    for number, (cell, promised) in enumerate(cells, 1):
        value = run(cell, names, number)
        printed = capsys.readouterr().out + value
        if promised:
            assert promised == printed
