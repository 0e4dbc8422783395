"""A real client as a process of ours: started with a kubeconfig, crashed, started anew, and seen to sleep."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ..api.notebook_output import PrintedAnswer

ASLEEP = frozenset({"S", "I"})  # states of threads that wait for something
LAST_LINES = 8


class ClientProcess(PrintedAnswer):
    """One process of a client, whose address is `{url}` in its command. Mutable: it may be killed and started again."""

    def __init__(self, name: str, command: Sequence[str], url: str, kubeconfig: Path) -> None:
        self.name = name
        self.command = [str(part).replace("{url}", url) for part in command]
        self._environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "PYTHONUNBUFFERED": "1"}
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as a process writes to it
        self._process: subprocess.Popen[bytes] | None = None
        self._crashed = False
        self.start()

    def start(self) -> None:
        """Start the command; one that runs goes on.

        Raises:
            OSError: there is no such program.
        """
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(  # noqa: S603 - a command of the reader's
                self.command, env=self._environment, stdin=subprocess.DEVNULL, stdout=self._log,
                stderr=subprocess.STDOUT)  # fmt: skip
        self._crashed = False

    def crash(self) -> None:
        """Kill it at once, as a machine that fails does: it cleans nothing up."""
        self._crashed = True
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @property
    def code(self) -> int | None:
        """The exit code, negative after a signal; None while it runs."""
        return None if self._process is None else self._process.poll()

    @property
    def has_failed(self) -> bool:
        """Whether it ended with an error, and nobody crashed it."""
        return bool(self.code) and not self._crashed

    @property
    def ending(self) -> str:
        """How it ended, with the last line that it printed; "" while it runs."""
        last = self.last_lines.rpartition("\n")[2]
        return "" if self.code is None else f"the client ended with {self.code}{last and ': '}{last}"

    @property
    def last_lines(self) -> str:
        """What it printed last."""
        self._log.flush()
        with open(self._log.fileno(), "rb", closefd=False) as log:
            place = log.seek(0, os.SEEK_END)
            log.seek(max(0, place - 10_000))
            text = log.read().decode(errors="replace")
            log.seek(place)
        return "\n".join(text.splitlines()[-LAST_LINES:])

    @property
    def ticks(self) -> int | None:
        """The processor time that its threads have used, where the system tells it; None if one of them is awake."""
        used = 0
        pid = self._process.pid if self._process is not None else 0
        for task in Path(f"/proc/{pid}/task").glob("*/stat"):
            with suppress(OSError):  # a thread that has ended meanwhile
                state, *fields = task.read_text().rpartition(")")[2].split()
                if state not in ASLEEP:
                    return None
                used += int(fields[10]) + int(fields[11])
        return used

    def __repr__(self) -> str:
        state = "running" if self.code is None else f"ended with {self.code}"
        lines = f"; its last lines:\n{self.last_lines}" if self.has_failed else ""
        return f"{self.name}: {' '.join(self.command)}: {state}{lines}"
