"""Names of modules: those that people import without their room, and none that a function hides."""

import ast
import importlib
import pickle
import sys
import tomllib
from pathlib import Path

import pytest

import kvolsched

ROOT = Path(__file__).parent.parent
HOUSE = ROOT / "kvolsched"
SHORT = {"alternatives": "compare", "custom_scheduler": "ways", "documents": "ran", "experiments": "gates", "explore": "Crash",
         "make": "pod", "queueing": "hold", "scenario": "read", "widgets": "Steps",
         "writes": "patch"}  # fmt: skip


def short_names():
    """Return the modules that people import without their room, and where they lie."""
    return dict(kvolsched._SHORT_NAMES)


@pytest.mark.parametrize("name", sorted(SHORT))
def test_a_short_name_is_the_module_of_its_room(name):
    """`import`, `from ... import` and pickle know the module under both names, and it is one module."""
    there = importlib.import_module(f"kvolsched.{short_names()[name]}")
    spec = there.__spec__.name
    word = SHORT[name]
    found = {}
    exec(f"import kvolsched.{name} as module\nfrom kvolsched.{name} import {word}\nfrom kvolsched import {name}", found)  # noqa: S102

    assert sys.modules[f"kvolsched.{name}"] is there
    assert found[word] is getattr(there, word)
    assert found["module"] is found[name] is getattr(kvolsched, name)
    assert pickle.loads(f"ckvolsched.{name}\n{word}\n.".encode()) is getattr(there, word)  # noqa: S301 - made here
    assert pickle.loads(pickle.dumps(getattr(there, word))) is getattr(there, word)  # noqa: S301
    assert there.__spec__.name == spec == f"kvolsched.{short_names()[name]}"


def test_a_module_below_a_short_name_is_read_once():
    """A class is one class, whichever of the two names it was imported by."""
    below = importlib.import_module("kvolsched.experiments.early_stop")
    assert below is importlib.import_module("kvolsched.measure.experiments.early_stop")


def test_mypy_knows_the_short_names():
    """Each has a stub that says where it lies, and `short_names.py`, which mypy reads with the package, imports each."""
    asked = ast.parse((ROOT / "tests" / "short_names.py").read_text("utf-8")).body
    for name, there in short_names().items():
        assert (HOUSE / f"{name}.pyi").read_text("utf-8") == f"from .{there} import *\n"
    assert sorted(path.stem for path in HOUSE.glob("*.pyi")) == sorted(short_names())
    assert {f"kvolsched.{name}" for name in SHORT} == {str(node.module) for node in asked if isinstance(node, ast.ImportFrom)} - {"collections.abc", "typing"}
    assert "tests/short_names.py" in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]["files"]


def test_no_function_hides_a_module():
    """`import a.b.c as m` gives a module: no package exports another value under the name of one of its modules."""
    hidden = []
    for init in HOUSE.rglob("__init__.py"):
        modules = {path.stem for path in init.parent.glob("*.py")} | {path.parent.name for path in init.parent.glob("*/__init__.py")}
        for node in ast.parse(init.read_text("utf-8")).body:
            named = {node.name} if isinstance(node, ast.FunctionDef | ast.ClassDef) else set()
            if isinstance(node, ast.ImportFrom) and node.module:
                named = {alias.asname or alias.name for alias in node.names}
            hidden += [f"{init.parent.relative_to(ROOT)}.{name}" for name in named & modules]
    assert hidden == []
