"""A real JupyterLab and a headless Chromium, for tests that look at what a person would see.

`lab_page(path)` opens a copy of that notebook (its folder comes along) in a server of our own: own settings,
own kernels, a random token, a free port. The page that it gives keeps every console error and every request
that left this machine. Playwright is used directly; its event loop lives for one test file only.

KVOLSCHED_SLOWER=4 makes the browser four times as slow and each answer of the kernel late: it finds the tests that
hold on a quick machine only.
"""

import contextlib
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

import kvolsched

PACKAGE = Path(kvolsched.__file__).parent
ARTEFACTS = Path(__file__).parent.parent / "artefacts"
VIEW = {"width": 1400, "height": 1000}
TALLEST = 12_000
SLOWER = int(os.environ.get("KVOLSCHED_SLOWER", "1"))
LATE = f"""import time, ipywidgets
def late(self, message, handle=ipywidgets.Widget._handle_msg):
    time.sleep({(SLOWER - 1) / 10})
    return handle(self, message)
ipywidgets.Widget._handle_msg = late
"""
FAILED = pytest.StashKey()  # of a test: when it failed
LOCAL = {"localhost", "127.0.0.1", "::1", None}
CHROMIUM_OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-quic",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "notebook-extension/tracker": {"windowingMode": "none"},  # every cell is drawn, also off the screen
}
# Without the wait for the path, the command silently runs on no notebook at all.
TURN_TO = """async path => {
  while (!window.jupyterapp) await new Promise(go => setTimeout(go, 50));
  await jupyterapp.restored;
  const panel = await jupyterapp.commands.execute('docmanager:open', {path});
  await panel.context.ready;
  await panel.revealed;
  while (jupyterapp.shell.currentWidget !== panel) {
    jupyterapp.shell.activateById(panel.id);
    await new Promise(go => setTimeout(go, 50));
  }
}"""
SHUT = """async () => {
  const panel = jupyterapp.shell.currentWidget;
  await panel.sessionContext.shutdown();
  panel.dispose();
}"""
RUN_ALL = """async path => {
  const within = (what, promise) => Promise.race([promise, new Promise((_, no) =>
    setTimeout(() => no(new Error('waited too long for ' + what)), 120000))]);
  const until = async (what, test) => within(what, (async () => {
    while (!test()) await new Promise(go => setTimeout(go, 50));
  })());
  await until('JupyterLab', () => window.jupyterapp);
  const app = window.jupyterapp;
  await within('the layout', app.restored);
  await until(path, () => app.shell.currentWidget?.context?.path === path);
  const panel = app.shell.currentWidget;
  await within('the notebook', panel.context.ready);
  await within('the kernel', panel.sessionContext.ready);
  await until('a kernel', () => panel.sessionContext.session?.kernel);
  await within('the kernel', panel.sessionContext.session.kernel.info);
  await app.commands.execute('notebook:clear-all-cell-outputs');
  await within('the cells', app.commands.execute('notebook:run-all-cells'));
  // The command is over at the first error, also at an expected one: ask the kernel behind all cells.
  await within('the last cell', panel.sessionContext.session.kernel.requestKernelInfo());
  await until('the last output', () => ![...panel.node.querySelectorAll('.jp-InputPrompt')]
    .some(prompt => prompt.textContent.includes('*')));
  const cells = [...panel.content.model.cells].filter(cell => cell.type === 'code').map(cell => cell.toJSON());
  const expected = cell => (cell.metadata.tags ?? []).includes('raises-exception');
  return {
    cells: cells.length,
    executed: cells.filter(cell => cell.execution_count !== null).length,
    faults: cells.filter(cell => !expected(cell)).flatMap(cell => cell.outputs)
      .filter(output => output.output_type === 'error').map(output => output.ename + ': ' + output.evalue),
  };
}"""


@dataclass(frozen=True)
class Ran:
    """What running all cells came to: how many there are, how many ran, and the errors that no tag expects."""

    cells: int
    executed: int
    faults: list


@dataclass
class LabPage:
    """Mutable: one notebook open in JupyterLab, and what its page has complained about or asked for."""

    page: object  # playwright's Page
    path: str  # of the notebook, below the server's root
    errors: list = field(default_factory=list)  # of the console, warnings of our scripts and charts, uncaught exceptions
    requests: list = field(default_factory=list)  # every address outside this machine

    def watch(self):
        """Hear the page's complaints and requests from now on."""
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.on("websocket", lambda socket: self._asked(socket.url))

    def _said(self, said):
        """Note an error, and a warning of what we have loaded (the scripts of widgets are blobs) or of Vega."""
        ours = said.location["url"].startswith("blob:") or said.text.startswith("WARN ")
        if said.type == "error" or (said.type == "warning" and ours):
            self.errors.append(said.text)

    def _asked(self, url):
        parts = urlsplit(url)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname not in LOCAL:
            self.requests.append(url)

    def turn_to(self, name):
        """Open another notebook of the same folder in this page; what was complained of before is forgotten."""
        self.path = str(Path(self.path).parent / name)
        self.page.evaluate(TURN_TO, self.path)
        self.errors.clear()
        self.requests.clear()

    def shut(self):
        """End the notebook's kernel and close it unsaved."""
        self.page.evaluate(SHUT)

    def run_all(self):
        """Clear the outputs and run every cell, in order; wait until the last is done."""
        return Ran(**self.page.evaluate(RUN_ALL, self.path))

    def settle(self, milliseconds=500):
        """Let charts and widgets finish drawing."""
        self.page.wait_for_timeout(milliseconds)

    def screenshot(self, name):
        """Picture the whole notebook, also below the screen, as tests/artefacts/NAME.png; give its path."""
        ARTEFACTS.mkdir(exist_ok=True)
        height = self.page.evaluate(
            "Math.max(0, ...[...document.querySelectorAll('.jp-Notebook, .jp-WindowedPanel-outer')]"
            ".map(part => { part.scrollTop = 0; return part.scrollHeight; }))")
        target = ARTEFACTS / f"{name}.png"
        self.page.set_viewport_size(VIEW | {"height": min(max(VIEW["height"], height + 200), TALLEST)})
        self.settle()
        self.page.screenshot(path=target)
        self.page.set_viewport_size(VIEW)
        return target


@dataclass(frozen=True)
class LabServer:
    """A running JupyterLab: its address without a path, its token, and the folder it serves."""

    url: str
    token: str
    root: Path


def chromium():
    """Find the Chromium of the distribution; without one, or what its driver needs, skip (fail in CI)."""
    import playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    node = Path(playwright.__file__).parent / "driver" / "node"
    driver = subprocess.run([node, "--version"], check=False, capture_output=True)
    if found and driver.returncode == 0:
        return found
    wanted = "no Chromium, or no libatomic, for browser tests (`make browser` installs them or says how)"
    return pytest.fail(f"{wanted}, and CI is set") if os.environ.get("CI") else pytest.skip(wanted)


def wait_for_server(process, runtime, log):
    """Poll until the server has written its address and answers there; give that address."""
    for _ in range(600):
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError, ValueError, StopIteration):
            told = json.loads(next(runtime.glob("jpserver-*.json")).read_text())
            url = f"http://127.0.0.1:{told['port']}"
            request = urllib.request.Request(f"{url}/api/status", headers={"Authorization": f"token {told['token']}"})
            with urllib.request.urlopen(request, timeout=5):
                return url
        time.sleep(0.1)
    return pytest.fail(f"JupyterLab did not start:\n{log.read_text()}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Tell a fixture's end whether its test has failed."""
    report = yield
    item.stash.setdefault(FAILED, set()).update({report.when} if report.failed else ())
    return report


@pytest.fixture(scope="session")
def lab_server(tmp_path_factory):
    """JupyterLab with nothing of the user's: folders, token and port of its own, and no news."""
    chromium()  # no server without a browser to look at it
    home = tmp_path_factory.mktemp("lab")
    folders = {name: home / name.lower() for name in (
        "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTERLAB_SETTINGS_DIR",
        "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR")}
    for folder in (*folders.values(), home / "root"):
        folder.mkdir()
    for plugin, settings in SETTINGS.items():
        path = folders["JUPYTERLAB_SETTINGS_DIR"] / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))
    if SLOWER > 1:
        startup = folders["IPYTHONDIR"] / "profile_default" / "startup"
        startup.mkdir(parents=True)
        (startup / "late.py").write_text(LATE)
    token, log = secrets.token_hex(16), home / "log"
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port=0", f"--ServerApp.root_dir={home / 'root'}", "--LabApp.expose_app_in_browser=True",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate", "--LabApp.extension_manager=readonly",
    ]
    package = os.pathsep.join(filter(None, (str(PACKAGE.parent), os.environ.get("PYTHONPATH"))))  # also for kernels
    environment = os.environ | {name: str(folder) for name, folder in folders.items()}
    environment |= {"JUPYTER_TOKEN": token, "PYTHONPATH": package}
    with log.open("w") as out, subprocess.Popen(command, cwd=home, env=environment, stdout=out, stderr=out) as process:
        try:
            yield LabServer(wait_for_server(process, folders["JUPYTER_RUNTIME_DIR"], log), token, home / "root")
        finally:
            process.terminate()
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium, for the tests of one file: playwright's event loop must not outlive it."""
    executable = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_OPTIONS)
        yield running
        running.close()


def open_notebook(server, context, notebook, name, place="lab/tree/{}"):
    """Copy a notebook's folder to the server as NAME and something random; open the copy in JupyterLab."""
    notebook = Path(notebook)
    folder = re.sub(r"\W+", "-", name).strip("-") + "-" + secrets.token_hex(3)
    shutil.copytree(notebook.parent, server.root / folder, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    opened = LabPage(context.new_page(), f"{folder}/{notebook.name}")
    opened.watch()
    if SLOWER > 1:
        context.new_cdp_session(opened.page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    opened.page.goto(f"{server.url}/{place.format(quote(opened.path))}?token={server.token}&reset")
    return opened


@pytest.fixture
def lab_page(lab_server, browser, request):
    """Open notebooks in JupyterLab: `lab_page(path)` gives a LabPage; all are closed when the test ends."""
    context = browser.new_context(viewport=VIEW)
    context.set_default_timeout(30_000)
    yield lambda notebook: open_notebook(lab_server, context, notebook, request.node.name)
    context.close()
