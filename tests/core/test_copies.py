"""A cluster is copied by `fork` alone."""

import copy
import pickle

import pytest

import kvolsched


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copy_and_pickle_say_what_copies_a_cluster(copied):
    """A copy that would share the world, or fail within, is refused with the name of what copies a cluster."""
    with pytest.raises(TypeError, match=r"use c\.fork\(\)"):
        copied(kvolsched.Cluster())
