"""What `conftest.py` lists by name exists: a test that is renamed or moved leaves its list."""

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def listed(name):
    """Return the words of a list of conftest.py."""
    for node in ast.parse((HERE / "conftest.py").read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == name:
            return {each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    raise KeyError(name)


@pytest.mark.parametrize("name", ["UNTRACED", "UNTRACED_FOLDERS", "FIRST"])
def test_what_is_listed_exists(name):
    """Each word is a file of tests, a function of one, a folder, or the ending of notebooks."""
    files = sorted(HERE.rglob("test_*.py"))
    known = {path.name for path in files} | {path.parent.name for path in files} | {"notebooks", ".ipynb"}
    known |= {node.name for path in files for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)}

    assert set() == listed(name) - known
