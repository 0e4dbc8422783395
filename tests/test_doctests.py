"""The examples in docstrings of the public face run as they stand."""

import doctest
import importlib
import inspect

import pytest

import kvolsched
from kvolsched import Cluster

EXPORTED = [getattr(kvolsched, name) for name in kvolsched.__all__]
PUBLIC = sorted({"kvolsched", "kvolsched.make", "kvolsched.writes",
                 *(each.__name__ if inspect.ismodule(each) else each.__module__ for each in EXPORTED),
                 *(getattr(each, "__module__", "kvolsched.alternatives") for name in kvolsched.alternatives.__all__
                   for each in [getattr(kvolsched.alternatives, name)]),
                 *(getattr(kvolsched.experiments, name).__module__ for name in kvolsched.experiments.__all__),
                 *(cls.__module__ for cls in kvolsched.Revision.__mro__ if cls.__module__.startswith("kvolsched")),
                 *(cls.__module__ for cls in Cluster.__mro__ if cls.__module__.startswith("kvolsched"))})  # fmt: skip
FACE = sorted(name for name in dir(Cluster) if not name.startswith("_"))


@pytest.mark.parametrize("module", PUBLIC)
def test_examples_run(module):
    """Every example of a public module prints what its docstring says."""
    assert 0 == doctest.testmod(importlib.import_module(module)).failed


@pytest.mark.parametrize("name", FACE)
def test_every_method_has_an_example(name):
    """Each public method and property of a cluster shows a call of itself."""
    shown = [line.strip() for line in getattr(Cluster, name).__doc__.splitlines() if line.strip().startswith((">>> ", "... "))]

    assert any(name in line for line in shown)
