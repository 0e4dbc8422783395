"""The examples in docstrings run as they stand; every part of the public face has one."""

import ast
import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import kvolsched
from kvolsched import Cluster


def answers():
    """Return the classes that methods of a cluster return: those that its file imports for types."""
    imports = [each for each in ast.walk(ast.parse(inspect.getsource(kvolsched.cluster))) if isinstance(each, ast.ImportFrom)]
    named = {(each.module, name.name) for each in imports if each.level == 1 for name in each.names}
    found = (getattr(importlib.import_module(f"kvolsched.{module}"), name) for module, name in sorted(named))
    return [each for each in found if inspect.isclass(each) and not issubclass(each, kvolsched.cluster.ClusterCore)]


CLASSES = answers()
PACKAGE = Path(kvolsched.__file__).parent
WITH_EXAMPLES = [
    ".".join(["kvolsched", *file.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
    for file in sorted(PACKAGE.rglob("*.py")) if ">>> " in file.read_text("utf-8")
]
METHODS = [
    pytest.param(each, name, id=f"{each.__name__}.{name}") for each in CLASSES for name, value in sorted(vars(each).items())
    if not name.startswith("_") and inspect.isroutine(value) and each is not Cluster
]
FUNCTIONS = sorted(name for name in kvolsched.__all__ if inspect.isroutine(getattr(kvolsched, name)))
FACE = sorted(name for name in dir(Cluster) if not name.startswith("_"))


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_run(module):
    """Every example of a module, public or not, prints what its docstring says."""
    assert 0 == doctest.testmod(importlib.import_module(module)).failed


@pytest.mark.parametrize("name", FACE)
def test_every_method_has_an_example(name):
    """Each public method and property of a cluster shows a call of itself."""
    shown = [line.strip() for line in getattr(Cluster, name).__doc__.splitlines() if line.strip().startswith((">>> ", "... "))]

    assert any(name in line for line in shown)


@pytest.mark.parametrize(("answer", "name"), METHODS)
def test_every_method_of_an_answer_has_an_example(answer, name):
    """What a cluster's methods return shows a call of each of its own methods."""
    shown = (line for line in getattr(answer, name).__doc__.splitlines() if line.strip().startswith((">>> ", "... ")))
    assert f".{name}(" in "".join(shown)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_has_an_example(name):
    """Each function of the package shows a call that runs."""
    assert ">>> " in getattr(kvolsched, name).__doc__


def test_completion():
    """Tab offers the references of a cluster's objects, and no names that only the engine uses."""
    c = kvolsched.scenario("zonal-example")

    assert ["node/node-a", "node/node-a-small"] == c._ipython_key_completions_()[:2]
    assert {"why", "lab", "name"} <= set(dir(c))
    assert not {"world", "rule_sets", "first_rules"} & set(dir(c))
    assert {"scenario", "Cluster", "make"} <= set(dir(kvolsched))
    assert "cluster_core" not in dir(kvolsched)
