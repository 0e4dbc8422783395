"""A real client under one fault at a time: a reference run, then one run for each fault at each point of it.

A process cannot be forked: these are runs beside a cluster that acts as soon as it can, and no proof. An author's own
controller in `Cluster.with_controller` can be explored exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import attrs
from tqdm.auto import tqdm

from ..api.notebook_output import PrintedAnswer
from ..api.words import counted
from ..core.acts import ClusterActs

FAULTS = ("hold", "refuse", "cut", "crash")
REFUSED = 500
MOST_PRINTED = 12
Check = Callable[[Any], object]
Serve = Callable[[ClusterActs], Any]


@attrs.frozen
class ClientFault:
    """One fault of a client, and the point of its run at which it comes: after how many changes, or at which write."""

    kind: str
    at: int
    resource: str = ""

    def __str__(self) -> str:
        changes = counted(self.at, "change")
        return {"hold": f"{self.resource} held after {changes}", "cut": f"connections cut after {changes}",
                "refuse": f"write {self.at} refused with {REFUSED}",
                "crash": f"killed after write {self.at}, before its answer"}.get(self.kind, "no fault")  # fmt: skip


NO_FAULT = ClientFault("", 0)


@attrs.frozen
class ClientRun:
    """How a run with a fault ended: `failure` is what the check said, "" if it holds."""

    fault: ClientFault
    failure: str
    changes: Mapping[str, int]
    writes: int


@attrs.frozen(repr=False)
class ClientSweep(PrintedAnswer):
    """The runs of one client; the first has no fault. `failed` are those in which the check fails."""

    runs: tuple[ClientRun, ...]
    ended: str = ""

    @property
    def failed(self) -> tuple[ClientRun, ...]:
        """The runs in which the check fails."""
        return tuple(run for run in self.runs if run.failure)

    def __repr__(self) -> str:
        first, *others = self.runs
        seen = ", ".join(f"{number} of {name}" for name, number in sorted(first.changes.items())) or "none"
        held = f"the check fails: {first.failure}" if first.failure else "the check holds"
        lines = [f"Without a fault: changes seen: {seen}; writes: {first.writes}; {held}."]
        failed = [run for run in others if run.failure]
        lines.append(f"{counted(len(others), 'run')} with one fault each: the check fails in {len(failed) or 'none'}"
                     f"{':' if failed else '.'}")  # fmt: skip
        lines += [f"  {run.fault}: {run.failure}" for run in failed[:MOST_PRINTED]]
        if len(failed) > MOST_PRINTED:
            lines.append(f"  ... and {len(failed) - MOST_PRINTED} more: .failed")
        return "\n".join([*lines, *([self.ended] if self.ended else [])])


def sweep_client(run: Callable[[ClientFault], ClientRun], faults: Sequence[str]) -> ClientSweep:
    """Run a client without a fault, then with each.

    Raises:
        ValueError: there is no such fault.
    """
    if unknown := [each for each in faults if each not in FAULTS]:
        raise ValueError(f"sweep: faults: {unknown[0]!r}: must be one of {', '.join(FAULTS)}")
    runs = [run(NO_FAULT)]
    points = list(_points(runs[0], faults))
    ended = ""
    try:
        for fault in tqdm(points, desc="faults", leave=False):
            runs.append(run(fault))  # noqa: PERF401 - kept if interrupted
    except KeyboardInterrupt:
        ended = f"Interrupted: {len(points) - len(runs) + 1} of {len(points)} faults were not tried."
    return ClientSweep(tuple(runs), ended)


def _points(reference: ClientRun, faults: Sequence[str]) -> Iterator[ClientFault]:
    """Yield each fault at each point of a run at which it can come."""
    for kind in faults:
        if kind == "hold":
            for name, number in sorted(reference.changes.items()):
                yield from (ClientFault(kind, at, name) for at in range(number))
        else:
            last = sum(reference.changes.values()) if kind == "cut" else reference.writes
            yield from (ClientFault(kind, at) for at in range(1, last + 1))


def run_client(cluster: ClusterActs, serve: Serve, command: Sequence[str], check: Check, act: Check | None,
               seconds: float, quiet: float, fault: ClientFault) -> ClientRun:  # fmt: skip
    """Run a client beside a fork of a cluster until all rest, with one fault, and check how it ended."""
    name, fork = "client", cluster.fork()
    with serve(fork) as served:
        client = served.objects.client(name)

        def strike() -> None:
            reached = sum(client.sent.values()) if fault.kind == "cut" else client.writes
            if fault.kind not in ("cut", "crash") or reached != fault.at:
                return
            client.on_count = lambda: None  # one fault a run, however much is counted at this point
            if fault.kind == "cut":
                served.cut(name)
            else:
                process.crash()
                process.start()

        if fault.kind == "hold":
            served.hold(name, fault.resource, fault.at)
        elif fault.kind == "refuse":
            served.refuse(name, REFUSED, fault.at)
        process = served.run(command, name)
        client.on_count = strike
        failure = ""
        try:
            served.settle(seconds, quiet)
            if act is not None:
                act(fork)
                served.settle(seconds, quiet)
            if fault.kind == "hold":
                served.release(name, resource=fault.resource)
                served.settle(seconds, quiet)
        except (TimeoutError, RuntimeError) as error:  # what the fault did to the client
            if fault is NO_FAULT:
                raise
            failure = process.ending or str(error)
        return ClientRun(fault, failure or _failure(check, fork), dict(client.sent), client.writes)


def _failure(check: Check, cluster: Any) -> str:
    """Return what a check says against a cluster: words that it returns or asserts; "" if it holds."""
    try:
        found = check(cluster)
    except AssertionError as error:
        return str(error) or "an assertion fails"
    return found if isinstance(found, str) else "" if found in (None, True) else f"the check says {found!r}"
