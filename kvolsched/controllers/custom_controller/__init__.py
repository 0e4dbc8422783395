"""Controllers of your own: a function of what was seen, run as a component like any other.

It has its own cursors, notes, work queue and lane; one write a turn; it may lag, crash and be refused. `writes` of
`kvolsched` describes what the function returns.
"""

import re
from collections.abc import Collection, Iterable

from ...api.kinds.kind import find_kind
from ...world.apiserver import ref
from ...world.component import Component
from .routine import CustomReconciler, CustomSync, ReconcileFunction, report_committed, report_refused
from .seen import MEMORY, NotWatchedError, Seen
from .user_function import check_function, may_ask_for_time

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,62}")
UNSEEN_KINDS = ("Event",)  # no component reads them, and an exploration writes none


def custom_controller(name: str, watches: str | Iterable[str], reconcile: ReconcileFunction,
                      taken: Collection[str] = ()) -> Component:  # fmt: skip
    """Return the component of a user's function.

    Args:
        name: its name, in lanes and for `crash` and `refuse`.
        watches: the kinds that it watches: `Pod`, `pods`, `po`.
        reconcile: `f(seen, ref)`, which returns writes.
        taken: names of components and actors; its own can be mistaken for none of them.

    Raises:
        ValueError: the name is taken or has other characters, or there is no kind to watch.
        KeyError: there is no such kind; the message lists them.
        TypeError: the function cannot be called with (seen, ref).
    """
    if not _NAME.fullmatch(str(name)):
        raise ValueError(f"a controller's name has letters, digits, spaces, '.', '_' and '-', not {name!r}")
    if mistaken := sorted(other for other in taken if f" {other}".endswith(f" {name}") or name.endswith(f" {other}")):
        instead = f"a cluster with components={{{mistaken[0]!r}: {{'absent': True}}}} has it not"
        raise ValueError(f"{name!r} is taken: {mistaken[0]!r} is there ({instead}); others are: "
                         f"{', '.join(sorted(taken))}")
    kinds = _kinds(name, watches)
    check_function(reconcile)
    sync = CustomSync(name, reconcile)
    routine = CustomReconciler(name, lambda _ctx, key, _old, _new: (ref(key),), sync, report_refused, report_committed)
    return Component(name, kinds, (routine,), reads_clock=may_ask_for_time(reconcile))


def is_custom(component: Component) -> bool:
    """Say whether a component is a controller of a user."""
    return any(isinstance(actor, CustomReconciler) for actor in component.actors)


def _kinds(name: str, watches: str | Iterable[str]) -> tuple[str, ...]:
    words = [watches] if isinstance(watches, str) else list(watches)
    if not words:
        raise ValueError(f"{name} watches nothing: name at least one kind, such as watches=['Pod']")
    kinds = tuple(dict.fromkeys(find_kind(word).name for word in words))
    for kind in kinds:
        if kind in UNSEEN_KINDS:
            raise ValueError(f"{name} cannot watch {kind}: Events are recorded for people, no component acts on them")
    return kinds


__all__ = ["MEMORY", "NotWatchedError", "ReconcileFunction", "Seen", "custom_controller", "is_custom"]
