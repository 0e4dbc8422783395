"""Custom plugins: a plain function or a small class wrapped as a plugin for a profile.

`rule(pod, node, seen)` returns `Ok` or `Reject`, True or False, or the reason of a rejection as text ("" passes).
A rule that raises an error answers with it, as a plugin of kube-scheduler that returns one: it ends the whole pass.
`prefer(pod, node, seen)` returns a score of 0 to 100. Any other verdict is a TypeError, never taken for a pass.
"""

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import attrs
import numpy as np
from numpy.typing import NDArray

from kvolsched.api.kinds.node import Node
from kvolsched.api.kinds.pod import Pod

from ..columns.column import Integers
from ..columns.snapshot import Snapshot
from .evidence import Evidence, Stated
from .extension_points import ColumnContext, QueueingHint
from .verdict import OK, Code, Ok, Reject

PLUGIN_ATTRIBUTES = ("prefilter", "column", "reads", "events_to_register", "postfilter", "score")
"""An object with one of these attributes is a complete plugin already."""
NodeFunction = Callable[[Pod, Node, Snapshot], Any]


def as_verdict(answer: Any, default_reason: str) -> Ok | Reject:
    """Convert the answer of a custom rule to a verdict; False becomes a rejection with the default reason.

    Raises:
        TypeError: the answer is no verdict.
    """
    if isinstance(answer, Reject):
        given: tuple[object, ...] = answer.evidence
        stated = (each if isinstance(each, Evidence) else Stated(str(each)) for each in given)
        return attrs.evolve(answer, evidence=tuple(stated))
    if isinstance(answer, Ok):
        return answer
    if isinstance(answer, bool | np.bool_):
        return OK if answer else Reject((default_reason,), Code.UNSCHEDULABLE)
    if isinstance(answer, str):
        return Reject((answer,), Code.UNSCHEDULABLE) if answer else OK
    raise TypeError(f"the rule answers {answer!r}; a verdict is True, False, a reason as text, Ok or Reject")


@attrs.frozen(slots=False)
class CustomFilter:
    """A filter plugin that wraps a function."""

    events_to_register: ClassVar[tuple[QueueingHint, ...]] = tuple(
        QueueingHint(kind, "it may read anything")
        for kind in ("Node", "Pod", "PersistentVolume", "PersistentVolumeClaim")
    )

    name: str
    function: NodeFunction
    default_reason: str

    def rule(self, pod: Pod, node: Node, seen: Snapshot) -> Ok | Reject:
        """Return the function's answer as a verdict, or its error."""
        try:
            answer = self.function(pod, node, seen)
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises is shown, not raised
            return Reject((_in_words(error),), Code.ERROR)
        return as_verdict(answer, self.default_reason)


def _in_words(error: Exception) -> str:
    """Return an error as `KeyError 'x' (line 3 of rule)`: the line of the function that was called."""
    said = f"{type(error).__name__} {error}".rstrip()
    called = error.__traceback__.tb_next if error.__traceback__ is not None else None
    if called is None:
        return said
    code = called.tb_frame.f_code
    return f"{said} (line {called.tb_lineno - code.co_firstlineno + 1} of {code.co_name})"


@attrs.frozen(slots=False)
class CustomScore:
    """A score plugin that wraps a function which scores a node 0 to 100."""

    name: str
    prefer: NodeFunction

    def score(self, pod: Pod, columns: ColumnContext) -> NDArray[Any]:
        """Call the function for each feasible node."""
        scores = np.zeros(len(columns.nodes.names), np.int64)
        for node in columns.seen.all_nodes():
            row = columns.nodes.row_of[node.metadata.name]
            if columns.candidates is None or columns.candidates[row]:
                scores[row] = int(self.prefer(pod, node, columns.seen))
        return scores

    def normalise(self, raw: NDArray[Any]) -> Integers:
        """Clip the scores to 0 to 100."""
        clipped: Integers = np.clip(raw, 0, 100).astype(np.int64)
        return clipped


@attrs.frozen(slots=False)
class CustomFilterAndScore(CustomFilter, CustomScore):
    """A plugin that wraps a filter function and a score function."""


def custom_plugin(rule: Any = None, prefer: NodeFunction | None = None, name: str = "") -> Any:
    """Return a plugin made of a rule, a preference, or both; a complete plugin is returned unchanged.

    Args:
        rule: a function `(pod, node, seen)`, or an object with `rule` or `prefer`; its name is the plugin's name, and
            the first line of its docstring the reason if it returns False.
        prefer: a function `(pod, node, seen)` that scores a node 0 to 100.
        name: another name for the plugin.

    Raises:
        TypeError: it is no function and has no method `rule` or `prefer`, or cannot be called with (pod, node, seen).
    """
    plugin = rule() if inspect.isclass(rule) else rule
    if any(hasattr(plugin, attribute) for attribute in PLUGIN_ATTRIBUTES):
        return plugin
    function = plugin if inspect.isroutine(plugin) else getattr(plugin, "rule", None)
    prefer = prefer or getattr(plugin, "prefer", None)
    if function is None and prefer is None:
        raise TypeError(f"{rule!r} is no rule: a rule is a function (pod, node, seen), or a class with such a method")
    for role, called in (("rule", function), ("prefer", prefer)):
        if called is not None:
            _check_signature(role, called)
    name = name or display_name(plugin if plugin is not None else prefer)
    docstring = inspect.getdoc(plugin) if plugin is not None else None
    reason = (docstring or "").partition("\n")[0].rstrip(".") or f"node(s) rejected by {name}"
    if function is None:
        assert prefer is not None
        return CustomScore(name, prefer)
    if prefer is None:
        return CustomFilter(name, function, reason)
    return CustomFilterAndScore(name=name, prefer=prefer, function=function, default_reason=reason)


def _check_signature(role: str, function: Any) -> None:
    """Refuse what cannot be called with (pod, node, seen).

    Raises:
        TypeError: it cannot; the message shows what it takes.
    """
    answers = "True, False or a reason" if role == "rule" else "a score from 0 to 100"
    wanted = f"{role} is a plain function of (pod, node, seen) that returns {answers}"
    if not callable(function) or inspect.iscoroutinefunction(function):
        raise TypeError(f"{wanted}, not {function!r}")
    try:
        signature = inspect.signature(function)
    except ValueError:  # built-in functions do not tell theirs
        return
    try:
        signature.bind(None, None, None)
    except TypeError:
        raise TypeError(f"{wanted}; {display_name(function)} takes {signature}") from None


def display_name(rule: Any) -> str:
    """Return the name of a function, a partial function, an object or a class."""
    rule = getattr(rule, "func", rule)
    name = str(getattr(rule, "name", "") or getattr(rule, "__name__", "") or type(rule).__name__)
    return name if name != "<lambda>" else "own rule"
