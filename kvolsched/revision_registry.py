"""Revisions that rooms above `revision` make, by name: the package registers them, and asking for one imports it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LATER_REVISIONS: dict[str, Callable[[], Any]] = {}
