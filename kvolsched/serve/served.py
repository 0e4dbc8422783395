"""What a reader holds of a served cluster: its address, the kubeconfigs of its clients, and its end."""

import json
import os
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

from ..api.notebook_output import PrintedAnswer
from ..api.unknown_name import unknown_name
from ..core.acts import ClusterActs
from ..questions.other_scheduler import ComparedSchedulers, compare_schedulers
from .clients import REFUSALS, ServedClient
from .http import CLIENT, LOOPBACK, LoopbackServer
from .objects import ServedObjects
from .process import ClientProcess
from .resources import RESOURCES
from .routes import Routes
from .sweep import FAULTS, Check, ClientSweep, run_client, sweep_client

PACES = ("steps", "live")
USUAL_CLIENT = "kubectl"
MOST_SECONDS = 3_600.0  # of simulated time that pass by themselves after a client's write
QUIET = 0.25  # seconds for which nothing happens before a served cluster is settled
LOOKS = 0.01  # seconds between two looks whether it is


class ServedCluster(PrintedAnswer):
    """A cluster behind HTTP on this machine's loopback; mutable, and a context manager that stops it at its end.

    A client's write enters between two steps. `pace="steps"` leaves all further steps to the reader; with "live"
    everybody acts as soon as they can, and simulated time passes at once where all wait for it.
    """

    def __init__(self, cluster: ClusterActs, port: int = 0, pace: str = "steps") -> None:
        if pace not in PACES:
            raise ValueError(f"serve: pace: {pace!r}: must be one of {', '.join(PACES)}")
        self.cluster, self.pace = cluster, pace
        self.objects = ServedObjects(cluster)
        self._secret = secrets.token_urlsafe(16)
        try:
            self._server = LoopbackServer(port, self._secret, Routes(self.objects).answer)
        except (OSError, OverflowError, TypeError) as error:
            self.objects.end_listening()
            raise OSError(f"serve: port {port} of {LOOPBACK} cannot be had: {error}") from None
        self._stopped = threading.Event()
        self._rested = -1  # the position at which nobody has anything to do, if everybody acts by themselves
        self._processes: list[ClientProcess] = []
        self._folder = tempfile.TemporaryDirectory(prefix="kvolsched-")
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        if pace == "live":
            threading.Thread(target=self._act, daemon=True).start()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.server_address[1])

    def url(self, client: str = USUAL_CLIENT) -> str:
        """Return the address for a client, whose name its writes have in the cluster's history.

        Raises:
            ValueError: the name is none.

        >>> from kvolsched import Cluster
        >>> with Cluster().serve() as served:
        ...     served.url("my-operator").rpartition("/")[2]
        'my-operator'
        """
        if not CLIENT.fullmatch(client):
            raise ValueError(f"client: {client!r}: letters, digits, '-', '_' and '.', at most 63")
        self.objects.client(client)
        return f"http://{LOOPBACK}:{self.port}/c/{self._secret}/{client}"

    def kubeconfig(
        self, client: str = USUAL_CLIENT, path: str | Path = "kubeconfig", namespace: str = "default"
    ) -> Path:
        """Write the kubeconfig of a client, readable by you alone, and return its path.

        Args:
            client: its name: letters, digits, '-', '_' and '.'.
            path: where to write it.
            namespace: the namespace of commands that name none.

        Raises:
            ValueError: the name is none.
            OSError: the file cannot be written.

        >>> import tempfile
        >>> from kvolsched import Cluster
        >>> served, folder = Cluster().serve(), tempfile.TemporaryDirectory()
        >>> oct(served.kubeconfig("my-operator", f"{folder.name}/kubeconfig").stat().st_mode & 0o777)
        '0o600'
        >>> served.stop()
        """
        name = self.cluster.name or "kvolsched"
        content = {
            "apiVersion": "v1", "kind": "Config", "current-context": name,
            "clusters": [{"name": name, "cluster": {"server": self.url(client)}}],
            "users": [{"name": client, "user": {}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": client, "namespace": namespace}}],
        }
        target = Path(path)
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            target.chmod(0o600)  # a file that was there keeps its mode: before the secret is in it
            file.write(json.dumps(content, indent=2) + "\n")
        return target

    def stop(self) -> None:
        """End it: no connection stays open, and the cluster goes on without clients.

        >>> from kvolsched import Cluster
        >>> served = Cluster(name="empty").serve()
        >>> served.stop()
        >>> served
        empty: no longer served
        """
        if self._stopped.is_set():
            return
        self._stopped.set()
        for process in self._processes:
            process.crash()
        self.objects.end()
        self._server.shutdown()
        self._server.server_close()
        self._server.close_connections()
        self._folder.cleanup()

    def client(self, name: str) -> ServedClient:
        """Return what is known of a client: what it has seen and written, and the faults that wait for it.

        Raises:
            UnknownName: no client has this name. It is a KeyError.

        >>> from kvolsched import Cluster
        >>> with Cluster().serve() as served:
        ...     url = served.url("my-operator")
        ...     print(served.client("my-operator"))
        my-operator: watches nothing, 0 writes
        """
        if name not in self.objects.clients:
            raise unknown_name(f"client {name!r}", name, self.objects.clients)
        return self.objects.clients[name]

    def hold(self, client: str, resource: str = "", changes: int = 0) -> None:
        """Let the watches of a client get so many changes more, of a resource or ("") of all, and then none.

        Raises:
            UnknownName: there is no such client or resource. It is a KeyError.
            ValueError: the changes are no number of at least 0.

        >>> from kvolsched import Cluster
        >>> with Cluster().serve() as served:
        ...     url = served.url("my-operator")
        ...     served.hold("my-operator", "pods")
        ...     print(served.client("my-operator"))
        my-operator: watches nothing, 0 writes, pods held
        """
        self.client(client).hold(self._resource(resource), _least("hold: changes", changes))

    def release(self, client: str, changes: int | None = None, *, resource: str = "") -> None:
        """Let held watches of a client get so many changes more, or (None) all from now on.

        Raises:
            UnknownName: there is no such client or resource. It is a KeyError.
            ValueError: neither the resource nor all are held, or the changes are no number of at least 0.

        >>> from kvolsched import Cluster
        >>> with Cluster().serve() as served:
        ...     url = served.url("my-operator")
        ...     served.hold("my-operator")
        ...     served.release("my-operator")
        ...     print(served.client("my-operator"))
        my-operator: watches nothing, 0 writes
        """
        self.client(client).release(self._resource(resource), changes and _least("release: changes", changes))

    def refuse(self, client: str, code: int = 409, write: int = 1) -> None:
        """Refuse the next write of a client, or the one so many further, with a code and the words of a server.

        Raises:
            UnknownName: there is no such client. It is a KeyError.
            ValueError: no write is refused with this code, or the write is not at least 1.

        >>> from kvolsched import Cluster
        >>> with Cluster().serve() as served:
        ...     url = served.url("my-operator")
        ...     served.refuse("my-operator", 503)
        ...     print(served.client("my-operator"))
        my-operator: watches nothing, 0 writes, write 1 will get 503
        """
        if code not in REFUSALS:
            raise ValueError(f"refuse: code: {code!r}: must be one of {', '.join(map(str, REFUSALS))}")
        self.client(client).refuse(code, _least("refuse: write", write, 1, ", the next write"))

    def cut(self, client: str) -> None:
        """Cut the connections of a client, its watches among them; it may connect again.

        Raises:
            UnknownName: there is no such client. It is a KeyError.

        >>> from kvolsched import Cluster
        >>> with Cluster().serve() as served:
        ...     url = served.url("my-operator")
        ...     served.cut("my-operator")
        """
        self._server.close_connections(self.client(client).name)

    def run(self, command: Sequence[str], name: str = "client") -> ClientProcess:
        """Start a client as a process of ours, which ends with this; `{url}` in the command is its address.

        Its environment names a kubeconfig. `crash()` of what is returned kills it, `start()` starts it again.

        Raises:
            OSError: there is no such program.
            ValueError: the command is no list, or empty.
            RuntimeError: the cluster is no longer served.

        >>> from kvolsched import Cluster
        >>> with Cluster().serve() as served:
        ...     served.run(["sleep", "9"], "my-operator")
        my-operator: sleep 9: running
        """
        if isinstance(command, str) or not command:
            raise ValueError(f"run: command: {command!r}: must be a list, the program and each of its arguments")
        if self._stopped.is_set():
            raise RuntimeError(repr(self))
        config = self.kubeconfig(name, Path(self._folder.name) / name)
        self._processes.append(ClientProcess(name, command, self.url(name), config))
        return self._processes[-1]

    def settle(self, seconds: float = 30.0, quiet: float = QUIET) -> Self:
        """Wait until every client rests: each watch at its place or held, no request, each process of ours asleep.

        All must rest for `quiet` seconds: one that sleeps by the clock looks the same. Elsewhere than on Linux no
        process tells whether it sleeps: then only requests count.

        Raises:
            TimeoutError: after so many seconds somebody is still busy, who is named.
            RuntimeError: a process ended with an error; its last lines are told.

        >>> from kvolsched import Cluster
        >>> with Cluster().serve() as served:
        ...     served.settle(quiet=0.05) is served
        True
        """
        end, since, before = time.monotonic() + seconds, 0.0, None
        while True:
            busy, state = self._activity()
            if busy or state != before:
                since = time.monotonic()
            elif time.monotonic() - since > quiet:
                return self
            if time.monotonic() > end:
                raise TimeoutError(f"settle: after {seconds:g} s {busy or 'something still happens'}")
            before = state
            time.sleep(LOOKS)

    def _activity(self) -> tuple[str, tuple[Any, ...]]:
        """Return who is busy, "" for nobody, and what changes while somebody works."""
        place = self.cluster.world.place
        busy = "the cluster still acts" if self.pace == "live" and self._rested != place else ""
        for client in list(self.objects.clients.values()):
            behind = [kind for (kind, _), (seen, held) in list(client.places.items()) if seen < place and not held]
            if client.asking or behind:
                busy = f"{client.name} {f'has not seen all {behind[0]} changes' if behind else 'asks'}"
        used = []
        for process in self._processes:
            if process.has_failed:
                raise RuntimeError(repr(process))
            used.append(process.ticks if process.code is None else 0)
            if used[-1] is None:
                busy = f"{process.name} is awake"
        return busy, (place, *used, *(each.asked for each in self.objects.clients.values()))

    def sweep(
        self, command: Sequence[str], check: Check, act: Callable[[Any], object] | None = None, *,
        faults: Sequence[str] = FAULTS, seconds: float = 30.0, quiet: float = 0.6,
    ) -> ClientSweep:  # fmt: skip
        """Run a client beside forks of this cluster: once as it is, then with one fault at each point of that run.

        A held watch is released when all rest; when they rest again, the check is made. The forks act by themselves.

        Args:
            command: how the client is started; `{url}` in it is its address.
            check: what must hold of the cluster at the end: False, words or an AssertionError say that it does not.
            act: what happens when the client has begun to watch, such as applying an object to the cluster.
            faults: which faults: hold, refuse, cut, crash.
            seconds: the longest time that one run may take to rest.
            quiet: for how many seconds all must rest; a client that waits longer between its watches needs more.

        Raises:
            ValueError: there is no such fault.
            TimeoutError, RuntimeError: as `settle` says.

        >>> from kvolsched import Cluster
        >>> with Cluster().serve() as served:
        ...     served.sweep(["sleep", "9"], lambda c: True, quiet=0.05)
        Without a fault: changes seen: none; writes: 0; the check holds.
        0 runs with one fault each: the check fails in none.
        """
        beside = partial(ServedCluster, pace="live")
        return sweep_client(partial(run_client, self.cluster, beside, command, check, act, seconds, quiet), faults)

    def compare_with(self, scheduler: str) -> ComparedSchedulers:
        """Compare what a scheduler that is a client did with the pods that name it with what ours says of them there.

        Raises:
            UnknownName: no pod names this scheduler. It is a KeyError.

        >>> from kvolsched import scenario
        >>> c = scenario("zonal-example")
        >>> with c.serve() as served:
        ...     served.compare_with("default-scheduler")
        0 pods of default-scheduler: ours does otherwise with none.
        """
        with self.cluster.world.lock:
            return compare_schedulers(self.cluster, scheduler)

    def _resource(self, name: str) -> str:
        """Return the plural of a resource that a plural, a kind or a short name names; "" for all."""
        known = (*RESOURCES, *self.objects.custom())
        found = [each.plural for each in known if name.lower() in (each.plural, each.singular, *each.short)]
        if name and not found:
            raise unknown_name(f"resource {name!r}", name, sorted({each.plural for each in known}))
        return found[0] if name else ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        name = self.cluster.name or "a cluster"
        if self._stopped.is_set():
            return f"{name}: no longer served"
        paces = {"steps": "it moves when you step it", "live": "everybody acts as soon as they can"}
        return (f"serving {name} at {LOOPBACK}:{self.port}; {paces[self.pace]}. In a terminal:\n"
                f"kubectl --server={self.url()} get pods")  # fmt: skip

    def _act(self) -> None:
        """Step the cluster after every move of somebody else, until nobody has anything to do."""
        objects, world = self.objects, self.cluster.world
        while not self._stopped.is_set():
            limit = world.now + MOST_SECONDS
            while not self._stopped.is_set() and self._step(limit):
                pass
            self._rested = world.place
            while not self._stopped.is_set() and world.place == self._rested:
                with objects.moved:
                    objects.moved.wait(0.5)

    def _step(self, limit: float) -> bool:
        """Make one step, unless a request waits; say whether there may be more to do."""
        if self.objects.asking:
            self._stopped.wait(0.0002)
            return True
        with self.cluster.world.lock:
            return bool(self.cluster._taken(self.cluster.world.step(limit=limit)))


def _least(name: str, value: Any, least: int = 0, words: str = "") -> int:
    if not isinstance(value, int) or value < least:
        raise ValueError(f"{name}: {value!r}: must be at least {least}{words}")
    return value
