"""The page about kubectl keeps its word: its cells run from top to bottom and print what stands under them."""

import ast
import re
from pathlib import Path

PAGE = Path(__file__).parent.parent.parent / "docs" / "kubectl.md"
CELL = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", re.DOTALL)


def test_the_cells_print_what_stands_under_them():
    """Every cell runs in the order of the page, and the text of its last expression stands under it."""
    names = {}
    cells = CELL.findall(PAGE.read_text("utf-8"))
    assert len(cells) > 5
    for cell, promised in cells:
        body = ast.parse(cell).body
        last = body.pop()
        exec(compile(ast.Module(body, []), "cell", "exec"), names)  # noqa: S102 - our own text
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
        assert promised == f"{value!r}\n"
