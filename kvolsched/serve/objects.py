"""The objects of a cluster as its clients see them: their text, with versions that only grow and times of this era.

A version of the API is a position of the log plus a number that grows whenever the cluster leaves its past, so that no
version is ever given twice. Times are those of the simulated clock plus a difference that lets an object be some
minutes old. Both belong to an era: when it ends, every watch does.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import lru_cache
from operator import itemgetter
from threading import Condition
from typing import Any

from ..api.kinds.kind import KINDS_BY_NAME
from ..api.text.convert import to_plain
from ..controllers import garbage_collector
from ..controllers.garbage_collector import FOREGROUND, ORPHAN
from ..core.acts import ClusterActs
from ..kubectl.printers.events import sort_events
from ..world.log import Key
from ..world.namespaces import NAMESPACE, ReadObjects
from .clients import ServedClient
from .resources import CRD, Resource, defined_resource
from .status import StatusError

AGE = 1_800  # seconds by which simulated time is behind the wall clock when an era begins
MOST_TEXTS = 1 << 16  # that are kept; then all are made again
MOST_CHANGES = 200  # that are kept of objects without a history; then those of half of it
_TIME_FIELD = re.compile(r'"(\w*(?:Time|Timestamp)|timeAdded)": ?"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)((?:\.\d+)?Z)"')
_SERVER_TIME = re.compile(r'"((?:creation|deletion)Timestamp)": ?"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(Z)"')


class ServedObjects:
    """What the clients of one cluster see. Mutable: it follows the cluster's moves.

    `moved` is notified after each move; `era` counts the times at which the cluster left its past.
    """

    def __init__(self, cluster: ClusterActs, wall_clock: Callable[[], float] = time.time) -> None:
        self.cluster, self.world, self.wall_clock = cluster, cluster.world, wall_clock
        self.moved = Condition()
        self.asking = 0  # requests that wait for the lock, which whoever steps the cluster gives way to
        self.era = 0
        self.offset = 0
        self._texts: dict[int, tuple[Any, bytes]] = {}
        self._shift = self._new_shift()
        self.clients: dict[str, ServedClient] = {}
        self._definitions: tuple[tuple[Any, ...], tuple[Resource, ...]] = ((), ())
        self._last = self._last_change()
        self.end_listening = self.world.on_move(self._follow)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the cluster's lock for a request."""
        with self.moved:
            self.asking += 1
        with self.world.lock:
            with self.moved:
                self.asking -= 1
            yield

    def client(self, name: str) -> ServedClient:
        """Return what is known of a client, which is known from its first request or mention on."""
        with self.moved:
            if name not in self.clients:
                self.clients[name] = ServedClient(name, self.moved)
                self.world.watching[name] = self.clients[name].places
            return self.clients[name]

    def _new_shift(self) -> int:
        return int(self.wall_clock() - self.world.date.timestamp()) - AGE

    def _last_change(self) -> tuple[int, Any]:
        """Return the present position, and the change that led there, by which another past is known."""
        log = self.world.log
        return log.place, log.changes.new[log.place - log.base - 1] if log.place > log.base else None

    def _follow(self) -> None:
        """Begin an era if the cluster left its past, or its clock overtook the wall clock; wake the watches."""
        place, new = self._last
        log = self.world.log
        stays = place <= log.place and place >= log.base
        if not stays or (place > log.base and log.changes.new[place - log.base - 1] is not new):
            self.begin_era(place + self.offset)
        elif self.world.date.timestamp() + self._shift > self.wall_clock():
            self.begin_era(log.place + self.offset)
        self._last = self._last_change()
        with self.moved:
            self.moved.notify_all()

    def begin_era(self, highest: int) -> None:
        """Let every version from now on be above the highest that was served."""
        self.era += 1
        self.offset = highest
        self._shift = self._new_shift()
        self._texts.clear()

    def forget_past(self) -> None:
        """Tell of a write without a history, of which watches need the newest changes alone."""
        log = self.world.log
        if log.place - log.base > MOST_CHANGES:
            log.restore(dict(log.objects), dict(log.notes), log.changes[-MOST_CHANGES // 2 :], log.place)
            self._texts.clear()
        with self.moved:
            self.moved.notify_all()

    def end(self) -> None:
        """End every watch, and follow the cluster no more."""
        self.end_listening()
        for name in self.clients:
            self.world.watching.pop(name, None)
        self.era += 1
        with self.moved:
            self.moved.notify_all()

    def served_time(self, text: str) -> str:
        """Return a time of the simulated clock as it is served."""
        return _moved_time(text.removesuffix("Z"), self._shift) + "Z"

    @property
    def version(self) -> int:
        """The version of the present contents."""
        return self.world.place + self.offset

    def place_of(self, version: str) -> int:
        """Return the position of a version; a negative one if it is of another era."""
        if not (version.isascii() and version.isdigit() and len(version) < 20):
            raise StatusError("BadRequest", f"Invalid value for resourceVersion: {version!r}")
        number = int(version)
        if number > self.version:
            cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
            raise StatusError("Timeout", f"Too large resource version: {number}, current: {self.version}",
                              {"causes": [cause], "retryAfterSeconds": 1})  # fmt: skip
        return number - self.offset if number > self.offset or not self.offset else -1

    def precondition(self, version: str) -> int:
        """Return the version that a write builds on as the log counts it: 0 for any, -1 for one that is gone."""
        if version in ("", "0"):
            return 0
        known = version.isascii() and version.isdigit() and len(version) < 20 and int(version) > self.offset
        return int(version) - self.offset if known else -1

    @property
    def objects(self) -> Mapping[Key, Any]:
        """What a reader of the API gets, namespaces that nobody wrote among them."""
        return ReadObjects(self.world.log)

    def custom(self) -> Sequence[Resource]:
        """Return the resources that the stored CustomResourceDefinitions define."""
        definitions = tuple(self.world.log.of_kind(CRD))
        if definitions != self._definitions[0]:
            found = (defined_resource(each) for each in definitions)
            self._definitions = definitions, tuple(each for each in found if each is not None)
        return self._definitions[1]

    def collect(self, obj: Any) -> None:
        """Let the garbage collector follow an object that has owners or waits as one, though nobody models its kind."""
        owners = obj.metadata.owner_references
        found = next((each for each in self.world.components if each.name == garbage_collector.NAME), None)
        if found is None or not (owners or {FOREGROUND, ORPHAN} & set(obj.metadata.finalizers)):
            return
        if new := {obj.kind, *(owner.kind for owner in owners)} - {*found.watches, "Event"}:
            others = (*found.watches[len(garbage_collector.WATCHED) :], *sorted(new))
            self.world.replace_components([garbage_collector.component(others)])

    def stored(self, resource: Resource, namespace: str | None) -> list[tuple[Key, Any]]:
        """Return the objects of a resource in a namespace (None: all), sorted as an API server lists them."""
        if resource.kind == NAMESPACE:
            return [(key, self.objects[key]) for key in sorted(self.objects) if key.kind == NAMESPACE]
        found = [(resource.key(obj), obj) for obj in self.world.log.of_kind(resource.kind)
                 if namespace in (None, obj.metadata.namespace) and obj.api_version == resource.api_version]
        if resource.kind == "Event":
            return [(resource.key(event), event) for event in sort_events(found)]
        return sorted(found, key=itemgetter(0))

    def text(self, obj: Any) -> bytes:
        """Return an object as JSON; it is made once for each frozen object of an era."""
        known = self._texts.get(id(obj))
        if known is not None and known[0] is obj:
            return known[1]
        if len(self._texts) > MOST_TEXTS:
            self._texts.clear()
        made = self.text_of_plain(to_plain(obj), obj.metadata.resource_version)
        self._texts[id(obj)] = obj, made
        return made

    def text_of_plain(self, plain: dict[str, Any], version: int) -> bytes:
        """Return plain data of an object as JSON, with its version and times as they are served."""
        meta = {**plain.get("metadata", {}), "resourceVersion": str(version + self.offset)}
        if owners := meta.get("managedFields"):
            meta["managedFields"] = [{**each, "time": self.served_time(each["time"])} for each in owners]
        text = json.dumps({**plain, "metadata": meta}, separators=(",", ":"), ensure_ascii=False)
        fields = _TIME_FIELD if plain.get("kind") in KINDS_BY_NAME else _SERVER_TIME
        return fields.sub(lambda found: self._moved(found, self._shift), text).encode()

    def plain(self, obj: Any) -> dict[str, Any]:
        """Return an object as plain data, as it is served."""
        found: dict[str, Any] = json.loads(self.text(obj))
        return found

    def own_times(self, data: Any, *, modelled: bool) -> Any:
        """Return plain data of a client with times of the simulated clock."""
        fields = _TIME_FIELD if modelled else _SERVER_TIME
        return json.loads(fields.sub(lambda found: self._moved(found, -self._shift), json.dumps(data)))

    @staticmethod
    def _moved(found: re.Match[str], seconds: int) -> str:
        return f'"{found[1]}":"{_moved_time(found[2], seconds)}{found[3]}"'


@lru_cache(maxsize=1 << 14)
def _moved_time(text: str, seconds: int) -> str:
    try:
        return (datetime.fromisoformat(text) + timedelta(seconds=seconds)).isoformat()
    except (ValueError, OverflowError):
        return text


def meta_of(data: Any) -> Mapping[str, Any]:
    """Return the metadata of plain data, an empty mapping if it has none."""
    meta = data.get("metadata") if isinstance(data, dict) else None
    return meta if isinstance(meta, dict) else {}
