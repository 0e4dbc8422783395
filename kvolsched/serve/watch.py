"""Watches: the changes of a kind since a version, each as one line of JSON.

A watch reads the log behind a cursor of its own, as a component does. It ends by its time, with its client, or with the
era of its versions: then 410 tells the client to list again. Mirrors apiserver `endpoints/handlers/watch.go` (v1.36.2).
"""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ..api.kinds.meta import evolve_parts
from .http import ClientRequest, ServerResponse, is_set, query_number
from .objects import ServedObjects
from .reads import TABLE, accepted_form, partial, table
from .resources import Resource
from .selectors import Matches, selector_of
from .status import StatusError

LONGEST = 3_600.0  # seconds of a watch whose client names no time
LOOK = 0.5  # seconds after which a silent watch looks whether its client is there
BOOKMARK = 30.0  # seconds between bookmarks
INITIAL_END = {"annotations": {"k8s.io/initial-events-end": "true"}}


def watch_objects(served: ServedObjects, resource: Resource, namespace: str | None, request: ClientRequest,
                  name: str = "") -> ServerResponse:
    """Answer a watch."""
    watch = Watch(served, resource, namespace, request, name)
    return ServerResponse(200, stream=watch.events())


class Watch:
    """One watch. Mutable: its cursor moves through the log."""

    def __init__(self, served: ServedObjects, resource: Resource, namespace: str | None, request: ClientRequest,
                 name: str = "") -> None:
        query = request.query
        self.served, self.resource, self.namespace, self.request = served, resource, namespace, request
        self.form = accepted_form(request.headers)
        self.matches: Matches | None = selector_of(resource, query, name)
        self.bookmarks = is_set(query, "allowWatchBookmarks")
        self.initial_end = is_set(query, "sendInitialEvents")
        if self.initial_end and query.get("resourceVersionMatch") != "NotOlderThan":
            raise StatusError("Invalid", "sendInitialEvents: resourceVersionMatch must be NotOlderThan")
        version = query.get("resourceVersion", "")
        self.lists = version in ("", "0") or self.initial_end
        place = served.place_of(version) if version not in ("", "0") else served.world.place
        self.place = served.world.place if self.lists else place
        self.era = served.era
        self.client = served.client(request.client)
        self.held = False  # whether a change waits until the reader releases it
        self.asked = version
        self.headed = True
        self.until = time.monotonic() + (query_number(query, "timeoutSeconds") or LONGEST)

    def events(self) -> Iterator[bytes]:
        """Yield lines until the time is over, the client is gone, or the era has ended; held changes wait."""
        try:
            yield from self._lines()
        finally:
            self.client.places.pop((self.resource.kind, self), None)

    def _lines(self) -> Iterator[bytes]:
        if self.place < self.served.world.log.base:
            yield self._expired(f"too old resource version: {self.asked} ({self.served.version})")
            return
        if self.lists:
            yield from self._initial()
        told = time.monotonic()
        while time.monotonic() < self.until and self.request.is_open():
            with self.served.locked():
                lines = self._news()
                self.client.places[self.resource.kind, self] = self.place, self.held
            if lines is None:
                yield self._expired("The resourceVersion for the provided watch is too old.")
                return
            if lines:
                yield b"".join(lines)
                continue
            if self.bookmarks and time.monotonic() - told > BOOKMARK:
                told = time.monotonic()
                yield self._bookmark({})
            self._wait()

    def _wait(self) -> None:
        """Wait for a move of the cluster."""
        moved = self.served.moved
        with moved:
            if self.served.era == self.era and (self.held or self.served.world.place <= self.place):
                moved.wait(min(LOOK, max(0.0, self.until - time.monotonic())))

    def _initial(self) -> Iterator[bytes]:
        with self.served.locked():
            if self.served.era != self.era:
                return  # going back has ended it before it began
            self.place = self.served.world.place
            found = self.served.stored(self.resource, self.namespace)
            lines = [self._line("ADDED", obj) for _, obj in found if self.matches is None or self.matches(obj)]
            if self.initial_end:
                lines.append(self._bookmark(INITIAL_END))
        if lines:
            yield b"".join(lines)

    def _news(self) -> list[bytes] | None:
        """Return what changed behind the cursor, and move it; None if the era has ended."""
        served = self.served
        if served.era != self.era:
            return None
        lines: list[bytes] = []
        self.held = False
        for place, change in served.world.log.changes_between(self.resource.kind, self.place, served.world.place):
            key: Any = change.key
            news = self._event(place, change.old, change.new) if self.namespace in (None, key.namespace) else []
            if news and not self.client.may_send(self.resource):
                self.place, self.held = place, True
                return lines
            lines += news
        self.place = served.world.place
        return lines

    def _event(self, place: int, old: Any, new: Any) -> list[bytes]:
        before, after = (obj is not None and (self.matches is None or self.matches(obj)) for obj in (old, new))
        if after:
            return [self._line("MODIFIED" if before else "ADDED", new)]
        return [self._line("DELETED", old, place + 1)] if before else []

    def _line(self, kind: str, obj: Any, version: int = 0) -> bytes:
        """Return one event; `version` is that of a deletion, for the last state of its object."""
        if version:
            obj = evolve_parts(obj, metadata={"resource_version": version})
        if not self.form:
            text = self.served.text(obj)
        else:
            include = self.request.query.get("includeObject", "")
            shown = (table(self.served, self.resource, [obj], include, headed=self.headed) if self.form == TABLE
                     else partial(self.served, obj))  # fmt: skip
            self.headed = False
            text = json.dumps(shown, separators=(",", ":")).encode()
        return b'{"type":"%b","object":%b}\n' % (kind.encode(), text)

    def _bookmark(self, meta: Mapping[str, Any]) -> bytes:
        version = {"resourceVersion": str(self.place + self.served.offset), "creationTimestamp": None, **meta}
        if self.form == TABLE:
            shown = {**table(self.served, self.resource, [], headed=False), "metadata": version}
        else:
            shown = {"kind": self.resource.kind, "apiVersion": self.resource.api_version, "metadata": version}
        return json.dumps({"type": "BOOKMARK", "object": shown}).encode() + b"\n"

    @staticmethod
    def _expired(message: str) -> bytes:
        return json.dumps({"type": "ERROR", "object": StatusError("Expired", message).status()}).encode() + b"\n"
