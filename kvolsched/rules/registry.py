"""Sets of rules by name: those that rooms above `revision` make, and which release or document each stands for.

The package registers the functions, and asking for one imports it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

LATER_REVISIONS: dict[str, Callable[[], Any]] = {}
STANDS_FOR: dict[str, str] = {
    "upstream": "Kubernetes v1.36",
    "design": "the design documents, and Kubernetes 1.11 and 1.16 where they are silent",
    "draft": "the earliest of the documents, and design where it does not differ",
}
"""What each set of rules stands for; all others are designs that the documents reject."""
TODAY = "upstream"
_VERSION = re.compile(r"\bv?1\.(\d+)\b")


def stands_for(name: str) -> str:
    """Return the release or the documents that rules of this name stand for, with settings or not; "" if not known.

    >>> stands_for("upstream (phase 1)")
    'Kubernetes v1.36'
    """
    return STANDS_FOR.get(re.split(r"[ ,;]", name, maxsplit=1)[0], "")


def of_release(asked: str) -> str:
    """Return the name of the rules that stand for a release such as "1.16", or the nearest one; "" if none is named.

    >>> of_release("v1.14"), of_release("kubernetes-1.35"), of_release("late_binder")
    ('design', 'upstream', '')
    """
    found = _VERSION.search(asked)
    if found is None:
        return ""
    minor = int(found[1])
    near = {name: [abs(int(each) - minor) for each in _VERSION.findall(words)] for name, words in STANDS_FOR.items()}
    return min((min(distances), name) for name, distances in near.items() if distances)[1]


def known_revisions(names: list[str]) -> str:
    """Return all names as words: those that stand for something with it, then the others.

    >>> known_revisions(["upstream", "late_binder"])
    'upstream (Kubernetes v1.36); rejected designs: late_binder'
    """
    others = [name for name in names if name not in STANDS_FOR]
    first = ", ".join(f"{name} ({STANDS_FOR[name]})" for name in names if name in STANDS_FOR)
    return f"{first}; rejected designs: {', '.join(others)}" if others else first
