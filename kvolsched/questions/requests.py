"""Requests and visits: every write that was sent to the API server, refused ones too; and volumes that were looked at.

Requests are counted as an audit log or a metric counts them; one that reached no server has the code 0. Visits of
volumes are counted by the scheduler in each pass, by the PV controller in each sync of a claim (S0, Performance and
Optimizations). Both are read from the turns of the history: nothing is stored for it, they change no decision and no
digest, and going back takes them back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import attrs

from ..api.kinds.kind import KINDS_BY_NAME
from ..api.notebook_output import NumberedRows, PrintedAnswer, table_text
from ..api.unknown_name import UnknownName, did_you_mean
from ..core.component_names import DISPLAY_NAMES
from ..core.core import USER, ClusterCore
from ..scheduler.loop.scheduling_cycle import PASS
from ..world.apiserver import CommittedWrite, RefusedWrite, Write
from ..world.history import Turn
from ..world.log import Key
from .explain import changes_of

# Verb of a write -> HTTP verb, Kubernetes' verb, subresource, code of success.
_VERBS = {
    "create": ("POST", "create", "", 201),
    "update": ("PUT", "update", "", 200),
    "update_status": ("PUT", "update", "status", 200),
    "patch": ("PATCH", "patch", "status", 200),
    "delete": ("DELETE", "delete", "", 200),
    "bind": ("POST", "create", "binding", 201),
    "evict": ("POST", "create", "eviction", 201),
}
CODES = {
    "Invalid": 422, "Conflict": 409, "AlreadyExists": 409, "NotFound": 404, "Forbidden": 403, "Unauthorized": 401,
    "BadRequest": 400, "Gone": 410, "TooManyRequests": 429, "InternalError": 500, "ServerTimeout": 500,
    "ServiceUnavailable": 503, "Timeout": 504, "ConnectionRefused": 0,
}  # fmt: skip
PRINTED = ("time", "by", "verb", "resource", "subresource", "name", "code", "reason")
COLUMNS = (*PRINTED, "message", "operation", "namespace", "server")
MAX_PRINTED = 40


@attrs.frozen
class ApiRequest:
    """One write request.

    Args:
        time: when it was answered (simulated, s).
        by: the component that sent it, or the client of a served cluster.
        verb: the HTTP verb: POST, PUT, PATCH or DELETE.
        resource: the resource with its group: `pods`, `statefulsets.apps`.
        subresource: such as `status`, `binding` or `eviction`.
        name: the object's name.
        code: the HTTP status code; 0 if no server was reached.
        reason: Kubernetes' reason of a refusal.
        message: the words of a refusal.
        operation: Kubernetes' verb: create, update, patch or delete.
        namespace: the object's namespace.
        server: the API server that answered, if there are several.
    """

    time: float
    by: str
    verb: str
    resource: str
    subresource: str
    name: str
    code: int
    reason: str
    message: str
    operation: str
    namespace: str
    server: str


@attrs.frozen(repr=False)
class ApiRequests(NumberedRows[ApiRequest], PrintedAnswer):
    """Write requests in the order of their answers; printed as a table."""

    rows: tuple[ApiRequest, ...]

    def filter(self, **columns: Any) -> ApiRequests:
        """Return the requests whose columns have these values; a tuple or set is one of several.

        Raises:
            ValueError: there is no such column.

        >>> from kvolsched import Cluster
        >>> c = Cluster()
        >>> _ = c.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
        >>> len(c.requests().filter(verb=("POST", "PUT"))), len(c.requests().filter(code=409))
        (1, 0)
        """
        _check_columns(columns)
        wanted = {name: value if isinstance(value, tuple | set | frozenset | list) else (value,)
                  for name, value in columns.items()}  # fmt: skip
        return ApiRequests(tuple(row for row in self.rows if all(getattr(row, n) in v for n, v in wanted.items())))

    def count(self, by: str | tuple[str, ...] = "code") -> dict[Any, int]:
        """Return the number of requests by a column, or by several; sorted.

        Raises:
            ValueError: there is no such column.

        >>> from kvolsched import Cluster
        >>> c = Cluster()
        >>> _ = c.apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
        >>> c.requests().count(by=("verb", "code"))
        {('POST', 201): 1}
        """
        names = (by,) if isinstance(by, str) else tuple(by)
        _check_columns(names)
        values = (tuple(getattr(row, name) for name in names) for row in self.rows)
        counted = Counter(value[0] if isinstance(by, str) else value for value in values)
        return dict(sorted(counted.items()))

    def __repr__(self) -> str:
        if not self.rows:
            return "no requests"
        shown = self.rows[-MAX_PRINTED:]
        columns = PRINTED if not any(row.server for row in shown) else (*PRINTED, "server")
        table = [tuple(name.upper() for name in columns)]
        table += [(f"{row.time:g}", *(str(getattr(row, name)) for name in columns[1:])) for row in shown]
        hidden = len(self.rows) - len(shown)
        return "\n".join([*([f"({hidden} earlier ones)"] if hidden else []), *table_text(table, 3)])


def requests(cluster: ClusterCore, *, events: bool = False, **columns: Any) -> ApiRequests:
    """Return the write requests up to the present place.

    Args:
        cluster: the cluster whose past is read.
        events: with the requests that record Events.
        columns: values that columns must have, as in `ApiRequests.filter`.

    Raises:
        ValueError: there is no such column.
    """
    world = cluster.world
    turns = [turn for turn in (*world.history.turns, *world.history.refused) if turn.end <= world.place]
    rows = (row for turn in sorted(turns, key=lambda turn: turn.end) for row in _rows(cluster, turn, events=events))
    return ApiRequests(tuple(rows)).filter(**columns)


def _rows(cluster: ClusterCore, turn: Turn, *, events: bool) -> Iterator[ApiRequest]:
    """Yield the requests of one turn."""
    for outcome in turn.outcomes:
        yield _row(turn, outcome)
    if not events or not turn.events:
        return
    for change in changes_of(cluster, turn):
        if type(change.key) is Key and change.key.kind == "Event" and change.new is not None:
            write = Write("create" if change.old is None else "update", change.key, change.new, method="")
            write = write if change.old is None else attrs.evolve(write, method="PATCH")
            yield _row(turn, CommittedWrite(write, change.new))


def _row(turn: Turn, outcome: CommittedWrite | RefusedWrite) -> ApiRequest:
    write = outcome.write
    verb, operation, subresource, code = _VERBS.get(write.verb, ("POST", "create", write.verb, 201))
    if write.verb == "patch" and getattr(write.new, "admitted", False):
        subresource = ""
    if write.method:
        verb, operation = write.method, write.method.lower() if write.method == "PATCH" else operation
    refused = outcome if isinstance(outcome, RefusedWrite) else None
    kind = KINDS_BY_NAME.get(write.key.kind)
    return ApiRequest(
        time=turn.time, by=turn.component if turn.component != USER else turn.actor, verb=verb,
        resource=kind.resource if kind is not None else write.key.kind.lower() + "s", subresource=subresource,
        name=write.key.name, code=code if refused is None else CODES.get(refused.reason, 500),
        reason="" if refused is None else refused.reason, message="" if refused is None else refused.message,
        operation=operation, namespace=write.key.namespace, server=outcome.server,
    )  # fmt: skip


def _check_columns(names: Iterable[str]) -> None:
    unknown = [name for name in names if name not in COLUMNS]
    if unknown:
        hint = did_you_mean(unknown[0], COLUMNS)
        raise UnknownName(f"requests have no column {unknown[0]!r}; there are: {', '.join(COLUMNS)}{hint}")


class VisitRow(NamedTuple):
    """Volumes visited in one turn: by which component, for which pod or claim."""

    step: int
    time: float
    component: str
    subject: str
    volumes: int


@attrs.frozen(repr=False)
class Visits(NumberedRows[VisitRow], PrintedAnswer):
    """The turns in which volumes were looked for, in order: every pass of a pod, and every sync that visited some."""

    revision: str
    rows: tuple[VisitRow, ...]

    @property
    def total(self) -> int:
        """How many volumes were visited."""
        return sum(row.volumes for row in self.rows)

    def of(self, component_or_subject: str) -> int:
        """Return how many volumes a component (scheduler, PV controller) visited, or all for a pod or claim.

        >>> import kvolsched
        >>> c = kvolsched.scenario("local-disks")
        >>> _ = c.run()
        >>> c.visits().of("scheduler") <= c.visits().total
        True
        """
        return sum(row.volumes for row in self.rows if component_or_subject in (row.component, row.subject))

    def __repr__(self) -> str:
        table = [(f"step {step}", f"t={time:g} s", component, subject, str(volumes))
                 for step, time, component, subject, volumes in self.rows]
        return "\n".join([f"visits of volumes, rules {self.revision}: {self.total}", *table_text(table)])


def visits(cluster: ClusterCore) -> Visits:
    """Return the visits of volumes up to now."""
    rows = []
    for turn in cluster.world.turns:
        if turn.end <= cluster.world.place and (turn.visits or turn.actor == PASS):
            subject = f"{'pod' if turn.actor == PASS else 'pvc'}/{turn.cause.removeprefix('default/')}"
            component = DISPLAY_NAMES.get(turn.component, turn.component)
            rows.append(VisitRow(turn.step, turn.time, component, subject, turn.visits))
    return Visits(cluster.revision.name, tuple(rows))
