"""What a served cluster knows of each of its clients, and the faults that a reader sets on one.

A held watch gets no change of a resource until it is released, one change or all; a write is refused with a code; open
connections are cut. Each change, write and request is counted, so that a sweep knows where a fault can be.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition

from ..api.notebook_output import PrintedAnswer
from ..api.words import counted
from .resources import Resource
from .status import CODES, StatusError

CONFLICT = "the object has been modified; please apply your changes to the latest version and try again"
REFUSALS = {CODES[reason]: (reason, words) for reason, words in (
    ("Forbidden", '{resource} "{name}" is forbidden: User "{client}" cannot write resource "{resource}"'),
    ("Conflict", f'Operation cannot be fulfilled on {{resource}} "{{name}}": {CONFLICT}'),
    ("TooManyRequests", "the server has received too many requests and has asked us to try again later"),
    ("InternalError", "Internal error occurred: etcdserver: leader changed"),
    ("ServiceUnavailable", "the server is currently unable to handle the request"),
    ("Timeout", "Timeout: request did not complete within requested timeout - context deadline exceeded"),
)}  # fmt: skip
"""Codes with which a write can be refused: the reason and the words of a server."""
UNCOUNTED = frozenset({"Event"})  # kinds that clients write by the clock


class ServedClient(PrintedAnswer):
    """One client by its name. Mutable: `moved` guards it, and is notified when a fault begins or ends."""

    def __init__(self, name: str, moved: Condition) -> None:
        self.name, self.moved = name, moved
        self.credit: dict[str, float] = {}  # by held resource ("": all others): changes that may still be sent
        self.refused: dict[int, int] = {}  # by number of the write: the code that it gets
        self.sent: Counter[str] = Counter()  # changes, by resource
        self.writes = 0
        self.asking = 0  # requests that are being answered, watches left out
        self.asked = time.monotonic()
        self.places: dict[tuple[str, object], tuple[int, bool]] = {}  # by watch: its position, and whether it is held
        self.on_count: Callable[[], None] = lambda: None  # called after each change and write

    def hold(self, resource: str, changes: int = 0) -> None:
        """Let watches of a resource ("": of all) send so many changes more, and then no other."""
        with self.moved:
            if not resource:
                self.credit.clear()
            self.credit[resource] = changes

    def release(self, resource: str, changes: int | None = None) -> None:
        """Let held watches send so many changes more, or all (None); "" means every held resource.

        Raises:
            ValueError: neither the resource nor all are held.
        """
        with self.moved:
            if resource and resource not in self.credit and "" not in self.credit:
                held = ", ".join(sorted(self.credit)) or "nothing"
                raise ValueError(f"release: {self.name}: {resource} are not held; held: {held}")
            if not resource and changes is None:
                self.credit.clear()
            elif changes is None and "" not in self.credit:
                del self.credit[resource]
            else:
                more = math.inf if changes is None else changes
                for each in [resource] if resource else list(self.credit):
                    self.credit[each] = self.credit.get(each, 0) + more
            self.moved.notify_all()

    def refuse(self, code: int, write: int) -> None:
        """Refuse a write with a code, the first one from now on being 1."""
        with self.moved:
            self.refused[self.writes + write] = code

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request while it is answered."""
        with self.moved:
            self.asking += 1
        try:
            yield
        finally:
            with self.moved:
                self.asking, self.asked = self.asking - 1, time.monotonic()

    def may_send(self, resource: Resource) -> bool:
        """Say whether a watch may send one more change of a resource, and count it if so."""
        with self.moved:
            held = next((name for name in (resource.plural, "") if name in self.credit), None)
            if held is not None:
                if self.credit[held] <= 0:
                    return False
                self.credit[held] -= 1
            self.sent[resource.plural] += 1
        self.on_count()
        return True

    def begin_write(self, resource: Resource, name: str) -> None:
        """Count a write.

        Raises:
            StatusError: it is one that a reader has refused.
        """
        if resource.kind in UNCOUNTED:
            return
        with self.moved:
            self.writes += 1
            code = self.refused.pop(self.writes, None)
        if code is not None:
            reason, words = REFUSALS[code]
            raise StatusError(reason, words.format(resource=resource.qualified, name=name, client=self.name))

    def __repr__(self) -> str:
        """Say in one line how far its watches are, and which faults wait for it."""
        watched = Counter(kind for kind, _ in self.places)
        parts = [f"watches {', '.join(sorted(watched)) or 'nothing'}", counted(self.writes, "write")]
        free = ", ".join(sorted(name for name, left in self.credit.items() if left == math.inf))
        every = f"every watch but {free}" if free else "every watch"
        parts += [f"{name or every} held" for name, left in sorted(self.credit.items()) if left < math.inf]
        parts += [f"write {write} will get {code}" for write, code in sorted(self.refused.items())]
        return f"{self.name}: {', '.join(parts)}"
