"""A fixture for pytest that checks manifests in the tests of a repository that deploys them.

Switch it on in the repository's top `conftest.py`: `pytest_plugins = ["kvolsched.measure.pytest_plugin"]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from .check import ClusterCheck, check


@pytest.fixture
def kvolsched_check(request: pytest.FixtureRequest) -> Callable[..., ClusterCheck]:
    """Return a function like `kvolsched.check` that fails the test if a pod would pend; paths are from the test's file.

    `kvolsched_check("deploy/", "cluster.yaml", without=["zone=a"])` returns the `ClusterCheck`. What cannot be read
    raises `UnreadableCheck`.
    """

    def checked(manifests: Any, cluster: Any, *, without: Iterable[str] = (), **options: Any) -> ClusterCheck:
        base = request.path.parent
        found = check(_from(base, manifests), _from(base, cluster), without=without, **options)
        if not found.fits:
            pytest.fail(repr(found), pytrace=False)
        return found

    return checked


def _from(base: Path, given: Any) -> list[Any]:
    """Return sources with texts and paths taken as paths from a directory."""
    several = given if isinstance(given, list | tuple) else [given]
    return [base / each if isinstance(each, str | Path) else each for each in several]
