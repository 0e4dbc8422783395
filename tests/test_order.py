"""What `conftest.py` lists by name exists: a test that is renamed or moved leaves its list."""

import ast
from pathlib import Path

HERE = Path(__file__).parent


def first():
    """Return the words of conftest's list of what is begun first."""
    for node in ast.parse((HERE / "conftest.py").read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "FIRST":
            return {each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    raise KeyError("FIRST")


def test_what_is_begun_first_exists():
    """Each word is a file of tests, or the ending of notebooks."""
    known = {path.name for path in HERE.rglob("test_*.py")} | {".ipynb"}

    assert set() == first() - known
