"""What a reader holds of a served cluster: its address, the kubeconfigs of its clients, and its end."""

import json
import os
import re
import secrets
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from ..api.notebook_output import PrintedAnswer
from ..core.acts import ClusterActs
from .http import LOOPBACK, LoopbackServer
from .objects import ServedObjects
from .routes import Routes

PACES = ("steps", "live")
USUAL_CLIENT = "kubectl"
MOST_SECONDS = 3_600.0  # of simulated time that pass by themselves after a client's write
_CLIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


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
        except (OSError, OverflowError) as error:
            self.objects.end_listening()
            raise OSError(f"serve: port {port} of {LOOPBACK} cannot be had: {error}") from None
        self._stopped = threading.Event()
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
        >>> served = Cluster().serve()
        >>> served.url("my-operator").rpartition("/")[2]
        'my-operator'
        >>> served.stop()
        """
        if not _CLIENT.fullmatch(client):
            raise ValueError(f"client: {client!r}: letters, digits, '-', '_' and '.', at most 63")
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
        self.objects.end()
        self._server.shutdown()
        self._server.server_close()
        self._server.close_connections()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        name = self.cluster.name or "a cluster"
        if self._stopped.is_set():
            return f"{name}: no longer served"
        paces = {"steps": "it moves when you step it", "live": "everybody acts as soon as they can"}
        return (f"serving {name} at {LOOPBACK}:{self.port}; {paces[self.pace]}. In a terminal:\n"
                f"kubectl --server={self.url()} get pods")  # fmt: skip

    # -- live -------------------------------------------------------------------------------------------------

    def _act(self) -> None:
        """Step the cluster after every move of somebody else, until nobody has anything to do."""
        objects, world = self.objects, self.cluster.world
        while not self._stopped.is_set():
            limit = world.now + MOST_SECONDS
            while not self._stopped.is_set() and self._step(limit):
                pass
            rested = world.place
            while not self._stopped.is_set() and world.place == rested:
                with objects.moved:
                    objects.moved.wait(0.5)

    def _step(self, limit: float) -> bool:
        """Make one step, unless a request waits; say whether there may be more to do."""
        if self.objects.asking:
            self._stopped.wait(0.0002)
            return True
        with self.cluster.world.lock:
            return bool(self.cluster._taken(self.cluster.world.step(limit=limit)))


def serve(cluster: ClusterActs, port: int = 0, pace: str = "steps") -> ServedCluster:
    """Serve a cluster to real clients; see `Cluster.serve`."""
    return ServedCluster(cluster, port, pace)
