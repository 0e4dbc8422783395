"""Outages: for some time the API server, or a webhook that it calls, answers nobody.

One note of the world holds all of them; each ends when the clock reaches its end. While the API server is out, its
clients' writes fail and their watches bring nothing. A component can be out as well: it is delayed, sees nothing and
does nothing.
"""

from collections.abc import Collection, Mapping
from typing import Any

import attrs

from kvolsched.api.kinds.kind import KINDS_BY_NAME

from .apiserver import RefusedWrite, Write
from .digest import DIGEST_WAIT
from .log import Log, Note

API_SERVER = "kube-apiserver"
ADDRESS = "10.96.0.1:443"  # of the API server's Service, where components find it
REFUSED = "connect: connection refused"
UNREACHABLE = "ConnectionRefused"  # the reason of a write that reached no server
OUTAGES = Note("world", "outages", "")


_METHODS = {"update": "Put", "update_status": "Put", "patch": "Patch", "delete": "Delete"}  # others: Post
_SUBRESOURCES = {"update_status": "status", "bind": "binding", "evict": "eviction"}


@attrs.frozen
class Outage:
    """One server that is out, and until when (simulated time, s)."""

    server: str
    until: float = attrs.field(metadata=DIGEST_WAIT)


def is_out(notes: Mapping[Note, Any], server: str) -> bool:
    """Return whether a server is out."""
    outages: tuple[Outage, ...] | None = notes.get(OUTAGES)
    return outages is not None and any(outage.server == server for outage in outages)


def first_return(notes: Mapping[Note, Any], names: Collection[str]) -> float | None:
    """Return when the API server or one of these components is back, the first of them; None if none is out."""
    outages: tuple[Outage, ...] = notes.get(OUTAGES, ())
    ends = (outage.until for outage in outages if outage.server == API_SERVER or outage.server in names)
    return min(ends, default=None)


def begin_outage(log: Log, server: str, until: float) -> None:
    """Note that a server is out until a time; a longer outage that has begun goes on."""
    others = [outage for outage in log.notes.get(OUTAGES, ()) if outage.server != server]
    begun = [outage.until for outage in log.notes.get(OUTAGES, ()) if outage.server == server]
    outages = sorted([*others, Outage(server, max([until, *begun]))], key=lambda outage: outage.server)
    log.write(OUTAGES, tuple(outages))


def end_outages(log: Log, now: float) -> None:
    """End the outages whose time is over."""
    outages: tuple[Outage, ...] = log.notes.get(OUTAGES, ())
    if outages:
        log.write(OUTAGES, tuple(outage for outage in outages if outage.until > now) or None)


def unreachable(write: Write) -> RefusedWrite:
    """Return the outcome of a write that reaches no server, in client-go's words."""
    kind = KINDS_BY_NAME.get(write.key.kind)
    api_version = str(kind.type.api_version) if kind is not None else "v1"
    parts = ["apis" if "/" in api_version else "api", api_version]
    parts += ["namespaces", write.key.namespace] if write.key.namespace else []
    parts += [kind.plural if kind is not None else write.key.kind.lower() + "s"]
    parts += [write.key.name] if write.verb != "create" else []
    parts += [_SUBRESOURCES[write.verb]] if write.verb in _SUBRESOURCES else []
    method = write.method.capitalize() or _METHODS.get(write.verb, "Post")
    said = f'{method} "https://{ADDRESS}/{"/".join(parts)}": dial tcp {ADDRESS}: {REFUSED}'
    return RefusedWrite(write, UNREACHABLE, said)
