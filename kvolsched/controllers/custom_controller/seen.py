"""What a controller of your own has seen and remembers: all that its function knows.

Objects come from the controller's informer cache, which may be stale. What the function remembers is kept aside until
its answer is accepted, so that asking it twice changes nothing.
"""

from collections.abc import Mapping
from typing import Any

from ...api.kinds.kind import KINDS_BY_NAME, find_kind
from ...api.kinds.meta import freeze
from ...api.kinds.selector import LabelSelector, read_label_selector
from ...api.text import manifest
from ...world.apiserver import key_for, key_of, ref
from ...world.component import TurnContext
from ...world.log import Key

MEMORY = "memory"  # the sort of the notes that a function makes
Objects = list[Any]
_ASK: Any = object()


class NotWatchedError(LookupError):
    """The function asks for a kind that its controller does not watch."""


class Seen:
    """What a controller has seen, as its function is told it. Mutable: it collects what the function remembers.

    `looked_beyond` says whether the function asked for more than the object that it reconciles.
    """

    def __init__(self, ctx: TurnContext, cause: Key) -> None:
        self._ctx = ctx
        self._cause = cause
        self.remembered: dict[str, Any] = {}
        self.looked_beyond = False

    def get(self, ref: Any) -> Any:
        """Return an object as last seen, such as `pod/web-0` or `pod/shop/web-0`; None if it was not seen.

        Raises:
            NotWatchedError: the controller does not watch this kind.
        """
        key = self._key(ref)
        self.looked_beyond = self.looked_beyond or key != self._cause
        return self._ctx.seen.at(key)

    def list(self, kind: str, namespace: str = "", selector: str | Mapping[str, str] | LabelSelector = "") -> Objects:
        """Return the objects of a kind as last seen, sorted by namespace and name.

        Args:
            kind: `pods`, `pod`, `Pod`, `po`.
            namespace: only of this namespace; "" for all.
            selector: only with these labels, as kubectl writes it: `queue=batch,zone in (a, b)`.

        Raises:
            NotWatchedError: the controller does not watch this kind.
        """
        self.looked_beyond = True
        name, wanted = self._watched(find_kind(kind).name), read_label_selector(selector)
        return [
            obj
            for obj in self._ctx.seen.all(name)
            if namespace in ("", key_of(obj).namespace) and wanted.matches(obj.metadata.labels)
        ]

    def manifest(self, ref: Any) -> dict[str, Any] | None:
        """Return an object as last seen as plain data, as its manifest has it; None if it was not seen."""
        found = self.get(ref)
        return None if found is None else manifest.to_plain(found)

    def note(self, key: str, value: Any = _ASK) -> Any:
        """Return what the controller remembers under a key, None if nothing; with a value, remember it.

        A value is plain data (lists come back as tuples); None forgets. A crash loses every note.

        Raises:
            TypeError: the key is no text, or the value no plain data.
        """
        self.looked_beyond = True
        if not isinstance(key, str):
            raise TypeError(f"seen.note: the key is a text, not {key!r}")
        if value is not _ASK:
            self.remembered[key] = freeze(_checked(value, key))
        return self.remembered[key] if key in self.remembered else self._ctx.note(MEMORY, key)

    @property
    def now(self) -> float:
        """Simulated time in seconds."""
        self.looked_beyond = True
        return self._ctx.now

    @property
    def moment(self) -> str:
        """The present time as objects write it: `2026-01-01T00:01:00Z`."""
        self.looked_beyond = True
        return self._ctx.moment

    def _key(self, reference: Any) -> Key:
        key = key_for(reference) if isinstance(reference, str) else key_of(reference)
        self._watched(key.kind)
        return key

    def _watched(self, kind: str) -> str:
        watches = self._ctx.process.component.watches
        if kind not in watches:
            plural = KINDS_BY_NAME[kind].plural
            raise NotWatchedError(
                f"{self._ctx.process.name} does not watch {plural}; it watches {', '.join(watches)}: "
                f"add {kind!r} to watches"
            )
        return kind

    def __repr__(self) -> str:
        counts = (f"{len(self._ctx.seen.kinds[kind])} {kind}" for kind in self._ctx.process.component.watches)
        return f"Seen by {self._ctx.process.name} for {ref(self._cause)}: {', '.join(counts)}"


def _checked(value: Any, place: str) -> Any:
    """Return a value if it is plain data.

    Raises:
        TypeError: a part of it is not.
    """
    if isinstance(value, Mapping):
        return {key: _checked(item, f"{place}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_checked(item, f"{place}[{number}]") for number, item in enumerate(value)]
    if isinstance(value, set | frozenset):
        return frozenset(_checked(item, place) for item in value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(
        f"seen.note: {place} holds a {type(value).__name__}; a note holds texts, numbers, lists, sets and mappings "
        "(of an object, remember its name)"
    )
