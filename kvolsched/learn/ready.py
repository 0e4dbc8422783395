"""Whether this machine can give the class: what it needs, each tried."""

import shutil
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from attrs import frozen

from ..api.notebook_output import PrintedAnswer

LEAST = (3, 11)
PACKAGES = ("jupyterlab", "ipykernel", "ipywidgets", "anywidget", "altair")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox", "microsoft-edge", "safari")
SECONDS = 20
# In a kernel of its own: import and run a cluster.
_PLAYS = """
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(startup_timeout={seconds})
cell = "import kvolsched; kvolsched.scenario('zonal-example').run()"
reply = client.execute_interactive(cell, timeout={seconds}, output_hook=lambda _: None)
manager.shutdown_kernel(now=True)
assert reply["content"]["status"] == "ok", reply["content"]
"""


@frozen
class Checked:
    """One thing that was tried: what, whether it works, what was found, and whether the class needs it."""

    what: str
    works: bool
    found: str
    needed: bool = True


@frozen(repr=False)
class Readiness(PrintedAnswer):
    """All that was tried; true if nothing lacks that is needed. Printed, a line each."""

    rows: tuple[Checked, ...]

    def __bool__(self) -> bool:
        return all(row.works for row in self.rows if row.needed)

    def __repr__(self) -> str:
        lines = [f"{'✓' if row.works else '✕' if row.needed else '–'} {row.what}: {row.found}" for row in self.rows]
        return "\n".join([*lines, "ready" if self else "not ready: pip install 'kvolsched[lab]' brings what lacks"])


def ready(seconds: float = SECONDS) -> Readiness:
    """Try what a class needs, and return what works; the kernel gets so many seconds."""
    return Readiness(tuple(_checked(seconds)))


def _checked(seconds: float) -> Iterator[Checked]:
    yield Checked("Python", sys.version_info >= LEAST, sys.version.split()[0])
    lacks = False
    for name in PACKAGES:
        try:
            yield Checked(name, True, version(name))
        except PackageNotFoundError:
            lacks = True
            yield Checked(name, False, "not installed")
    if not lacks:
        yield _kernel(seconds)
    named = next(filter(None, map(shutil.which, BROWSERS)), "")
    try:
        named = named or str(webbrowser.get().name)
    except webbrowser.Error:
        named = ""
    words = named or "none found; JupyterLab prints its address, and ten minutes is one page for any browser"
    yield Checked("browser", bool(named), words, needed=False)


def _kernel(seconds: float) -> Checked:
    command = [sys.executable, "-c", _PLAYS.format(seconds=seconds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * seconds, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return Checked("a kernel", works=False, found=f"no answer in {2 * seconds:g} s")
    said = [line for line in done.stderr.splitlines() if line and not line.startswith("[")]  # a kernel's warnings
    last = said[-1] if said else "it ended"
    return Checked("a kernel", done.returncode == 0, "a cell ran" if not done.returncode else last)
