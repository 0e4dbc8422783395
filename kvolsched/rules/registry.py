"""Sets of rules by name: those that rooms above `revision` make, and which release or document each stands for.

The package registers the functions, and asking for one imports it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

LATER_REVISIONS: dict[str, Callable[[], Any]] = {}
STANDS_FOR: dict[str, tuple[str, str]] = {
    "upstream": ("Kubernetes v1.36", ""),
    "design": ("the design documents", "and Kubernetes 1.11 and 1.16 where they are silent"),
    "draft": ("the earliest of the documents", "and design where it does not differ"),
}
"""What each set of rules stands for, and where it says nothing; all others are designs that the documents reject."""
MINORS = {"upstream": (36,), "design": (11, 16)}  # of Kubernetes 1
TODAY = "upstream"
_VERSION = re.compile(r"\bv?1\.(\d+)\b")


def stands_for(called: str) -> str:
    """Return the release or the documents that rules stand for; "" if not known.

    >>> stands_for("upstream")
    'Kubernetes v1.36'
    """
    return ", ".join(filter(None, STANDS_FOR.get(called, ())))


def documents_of(called: str) -> str:
    """Return the release or the documents alone that rules stand for; "" if not known."""
    return STANDS_FOR[called][0] if called in STANDS_FOR else ""


def of_release(asked: str) -> str:
    """Return the name of the rules that stand for a release such as "1.16", or the nearest one; "" if none is named.

    >>> of_release("v1.14"), of_release("kubernetes-1.35"), of_release("late_binder")
    ('design', 'upstream', '')
    """
    found = _VERSION.search(asked)
    if found is None:
        return ""
    minor = int(found[1])
    return min((min(abs(each - minor) for each in minors), name) for name, minors in MINORS.items())[1]


def known_revisions(names: list[str]) -> str:
    """Return all names as words: those that stand for something with it, then the others.

    >>> known_revisions(["upstream", "late_binder"])
    'upstream (Kubernetes v1.36); rejected designs: late_binder'
    """
    others = [name for name in names if name not in STANDS_FOR]
    first = ", ".join(f"{name} ({stands_for(name)})" for name in names if name in STANDS_FOR)
    return f"{first}; rejected designs: {', '.join(others)}" if others else first
