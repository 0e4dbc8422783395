"""A rule of one's own: a plain function or a small class, made a plugin that the profile takes like any other.

`rule(pod, node, seen)` answers `Ok` or `Reject`, or True or False, or why not ("": nothing against it). A number of 0
to 100 is asked for by `prefer(pod, node, seen)`. Anything else is refused with a sentence, never read as a Yes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod

from ..columns.arrays import Integers
from ..columns.snapshot import Snapshot
from .extension_points import ColumnContext, QueueingHint
from .verdict import OK, Code, Ok, Reject

WHOLE = ("prefilter", "column", "reads", "events_to_register", "postfilter", "score")
"""Who has one of these speaks the frame's own language already."""
Judge = Callable[[Pod, Node, Snapshot], Any]


def as_verdict(given: Any, otherwise: str) -> Ok | Reject:
    """Return a learner's answer as a verdict; a bare False is given the reason `otherwise`.

    Raises:
        TypeError: the answer is neither a Yes nor a No.
    """
    if isinstance(given, Ok | Reject):
        return given
    if isinstance(given, bool | np.bool_):
        return OK if given else Reject((otherwise,), Code.UNSCHEDULABLE)
    if isinstance(given, str):
        return Reject((given,), Code.UNSCHEDULABLE) if given else OK
    raise TypeError(f"the rule answers {given!r}; a verdict is True, False, a reason as text, Ok or Reject")


@attrs.frozen(slots=False)
class CustomFilter:
    """A filter plugin made of a function."""

    events_to_register: ClassVar[tuple[QueueingHint, ...]] = tuple(
        QueueingHint(kind, "it may read anything") for kind in ("Node", "Pod", "PersistentVolume", "PersistentVolumeClaim")
    )

    name: str
    judge: Judge
    otherwise: str

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """What the function says."""
        return as_verdict(self.judge(pod, node, seen), self.otherwise)


@attrs.frozen(slots=False)
class CustomScore:
    """A score plugin made of a function that gives each node 0 to 100."""

    name: str
    prefer: Judge

    def score(self, pod: Pod, at: ColumnContext) -> NDArray[Any]:
        """What the function gives each node that fits, node by node."""
        scores = np.zeros(len(at.nodes.names), np.int64)
        for node in at.seen.all_nodes():
            row = at.nodes.row_of[node.metadata.name]
            if at.candidates is None or at.candidates[row]:
                scores[row] = int(self.prefer(pod, node, at.seen))
        return scores

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Cut to 0 to 100."""
        cut: Integers = np.clip(raw, 0, 100).astype(np.int64)
        return cut


@attrs.frozen(slots=False)
class CustomFilterAndScore(CustomFilter, CustomScore):
    """A plugin that judges and ranks, of two functions."""


def custom_plugin(rule: Any = None, prefer: Judge | None = None, name: str = "") -> Any:
    """Return a plugin made of a rule, a preference, or both; a whole plugin is returned as it is.

    Args:
        rule: a function `(pod, node, seen)`, or an object with `rule` or `prefer`; its name and the first line of its
            docstring are the plugin's name and the reason of a bare False.
        prefer: a function `(pod, node, seen)` that gives a node 0 to 100.
        name: what the plugin is called instead.

    Raises:
        TypeError: it is no function and has no method `rule` or `prefer`.
    """
    held = rule() if inspect.isclass(rule) else rule
    if any(hasattr(held, more) for more in WHOLE):
        return held
    judge = held if inspect.isroutine(held) else getattr(held, "rule", None)
    prefer = prefer or getattr(held, "prefer", None)
    spoken = judge or prefer
    if spoken is None:
        raise TypeError(f"{rule!r} is no rule: a rule is a function (pod, node, seen), or a class with such a method")
    called = name or display_name(held if held is not None else spoken)
    reason = (inspect.getdoc(held) or "").partition("\n")[0].rstrip(".") if held is not None else ""
    if prefer is None:
        return CustomFilter(called, spoken, reason or f"node(s) rejected by {called}")
    if judge is None:
        return CustomScore(called, prefer)
    return CustomFilterAndScore(name=called, prefer=prefer, judge=judge, otherwise=reason or f"node(s) rejected by {called}")


def display_name(rule: Any) -> str:
    """Return what a function, also a partial one, an object or a class of one's own is called."""
    rule = getattr(rule, "func", rule)
    name = str(getattr(rule, "name", "") or getattr(rule, "__name__", "") or type(rule).__name__)
    return name if name != "<lambda>" else "own rule"
