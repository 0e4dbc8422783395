"""Pages of the documentation keep their word: their cells run from top to bottom and print what stands under them."""

import ast
import linecache
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
CELL = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", re.DOTALL)


def run(cell, names, file):
    """Run a cell as a notebook does, and give the text of its last expression."""
    linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
    body = ast.parse(cell).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), file, "exec"), names)  # noqa: S102 - our own text
    value = eval(compile(ast.Expression(last.value), file, "eval"), names) if last else None  # noqa: S307
    return "" if value is None else f"{value!r}\n"


@pytest.mark.parametrize(("page", "least"), [("controllers", 5), ("dashboard", 7), ("differences", 5), ("kubectl", 5), ("lab", 5), ("looks", 6), ("scheduling-queue", 1), ("serve", 2), ("sweeps", 5), ("teaching", 3), ("your-own-code", 2)])
def test_the_cells_print_what_stands_under_them(page, least, capsys, monkeypatch, tmp_path):
    """Every cell runs in the order of the page, and its text is the one that is printed under it."""
    monkeypatch.setenv("TQDM_DISABLE", "1")
    monkeypatch.chdir(tmp_path)  # where the page of a served cluster writes its kubeconfig
    names = {}
    cells = CELL.findall((DOCS / f"{page}.md").read_text("utf-8"))
    assert len(cells) >= least
    for number, (cell, promised) in enumerate(cells, 1):
        value = run(cell, names, f"<cell {number}>")
        printed = capsys.readouterr().out + value
        if promised:
            assert promised == printed
