"""How fast a served cluster answers: figures beside the aims of a client that waits, in wall-clock seconds."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPResponse
from statistics import median
from time import perf_counter
from urllib.parse import urlsplit

from ...api.text import manifest
from ...cluster import Cluster
from ...learn.scenario import nodes, pods, scenario

PODS = "/api/v1/namespaces/default/pods"
ONE = f"{PODS}/pod-00000"
MERGE = "application/merge-patch+json"
QUIET = 0.25  # seconds, those of `settle`; its room is imported by the call, which is measured


class _Client:
    """One connection. Mutable: it counts its labels."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.base, self.turn = parts.path, 0
        self.connection = HTTPConnection(parts.netloc, timeout=60)

    def ask(self, method: str, path: str, body: str | None = None) -> HTTPResponse:
        """Send a request and return its answer, whose body is still to be read."""
        self.connection.request(method, self.base + path, body, {"Content-Type": MERGE})
        return self.connection.getresponse()

    def patch(self) -> None:
        """Write a new label."""
        self.turn += 1
        self.ask("PATCH", ONE, json.dumps({"metadata": {"labels": {"turn": str(self.turn)}}})).read()


def serving_seconds(number: int, watches: int, runs: int) -> Iterator[tuple[str, float, float]]:
    """Yield what was measured of a served cluster of so many pods, its seconds, and those that it may take."""
    plain = [manifest.to_plain(obj) for obj in (*nodes(max(number // 10, 1)), *pods(number))]
    cluster = Cluster.from_manifests(plain)
    began = perf_counter()
    with cluster.serve() as served, ExitStack() as open_watches:
        client = _Client(served.url("bench"))
        client.ask("GET", "/readyz").read()
        yield "a served cluster is ready", perf_counter() - began, 1.0
        yield "  GET of a pod", _median(lambda: client.ask("GET", ONE).read(), runs), 0.002
        yield "  PATCH of a pod", _median(client.patch, runs), 0.003
        client.ask("GET", PODS).read()
        yield f"  LIST of {number:,} pods, known texts", _median(lambda: client.ask("GET", PODS).read(), 3), 0.2
        version = served.objects.version
        answers = []
        for _ in range(watches):
            watcher = _Client(served.url("watcher"))
            open_watches.callback(watcher.connection.close)
            answers.append(watcher.ask("GET", f"{PODS}?watch=true&resourceVersion={version}"))

        def told() -> None:
            client.patch()
            for answer in answers:
                answer.readline()

        told()
        yield f"  PATCH until {watches} watches have it", _median(told, runs), 0.003 + 0.005
        answers[1:] = []
        yield "  PATCH until one watch of these has it", _median(told, runs), 0.010
    with scenario("zonal-example").serve() as served:
        began = perf_counter()
        served.sweep(["sleep", "60"], lambda _: True, lambda c: c.label("pod/my-pod", "turn=1"), quiet=QUIET)
        yield f"  one run of a sweep, twice {QUIET:g} s of quiet", perf_counter() - began, 1.0


def _median(act: Callable[[], object], runs: int) -> float:
    """Return the median of the seconds that an act takes."""
    taken = []
    for _ in range(runs):
        began = perf_counter()
        act()
        taken.append(perf_counter() - began)
    return median(taken)
