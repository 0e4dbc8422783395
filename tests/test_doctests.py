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
ACTS = sorted(name for owner in (kvolsched.cluster_acts.ClusterActs, kvolsched.cluster_faults.ClusterFaults)
              for name in vars(owner) if not name.startswith("_"))  # fmt: skip


@pytest.mark.parametrize("module", PUBLIC)
def test_examples_run(module):
    """Every example of a public module prints what its docstring says."""
    assert 0 == doctest.testmod(importlib.import_module(module)).failed


@pytest.mark.parametrize("act", ACTS)
def test_every_act_has_an_example(act):
    """Each act of the user shows a call that runs."""
    assert ">>> " in getattr(Cluster, act).__doc__
