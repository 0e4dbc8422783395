"""Look at a lesson and a dashboard elsewhere: in Firefox, in Notebook 7, as Voila pages. Not part of `make test`.

    python tests/browser/elsewhere.py firefox            # JupyterLab in Debian's firefox-esr, over WebDriver BiDi
    python tests/browser/elsewhere.py notebook           # needs `pip install notebook`
    python tests/browser/elsewhere.py voila              # needs `pip install voila`
    python tests/browser/elsewhere.py jupyterlab         # in Chromium, of the version that is installed

Each runs lesson 01 and the dashboard of one file, presses Step in both, and fails if the panel does not move, if a chart
is not drawn, on an error of the page, or on a request outside this machine that an empty notebook does not make as well
(Voila's own page asks for fonts). A picture of each is kept in tests/artefacts.
"""

import argparse
import base64
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from nbformat import read, v4, write

from conftest import ARTEFACTS, CHROMIUM_OPTIONS, LOCAL, PACKAGE, RUN_ALL, chromium

LESSON = PACKAGE.parent / "notebooks" / "01-who-goes-first.ipynb"
DASHBOARD = PACKAGE.parent / "docs" / "dashboard-app.ipynb"
STEPS = "document.querySelector('.k-place')?.textContent"
PRESS = "document.querySelector('.k-lab .k-step').click()"
FIGURES = "[...document.querySelectorAll(':is(.k-fig, .k-lab) :is(svg, .k-page-words)')].filter(one => one.clientWidth > 300).length"
CHARTS = "[...document.querySelectorAll('.k-chart')].filter(one => one.shadowRoot?.querySelector('svg')).length"
# JupyterLab 4.4 hides the cells that are scrolled away
SCROLL = """(async () => {
  const book = window.jupyterapp?.shell.currentWidget?.content;
  const place = book?.widgets?.findIndex((cell) => cell.node.querySelector(".k-lab")) ?? -1;
  if (place >= 0) await book.scrollToItem(place);
  document.querySelector(".k-lab").scrollIntoView();
  return place;
})()"""
PORT, EMPTY = 8917, "empty.ipynb"


@contextmanager
def server(app, folder):
    """Serve the lesson and an empty notebook by `jupyterlab`, `notebook` or `voila`; give a notebook's address by name."""
    token = secrets.token_hex(8)
    shutil.copytree(LESSON.parent, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    shutil.copy(DASHBOARD, folder)
    cells = [v4.new_code_cell("1")]
    write(v4.new_notebook(cells=cells, metadata=read(LESSON, as_version=4).metadata), folder / EMPTY)
    if app == "voila":
        command = [f"--port={PORT}", "--no-browser", "--Voila.ip=127.0.0.1", str(folder)]
        path = "voila/render/{}"
    else:
        command = [f"--ServerApp.port={PORT}", "--no-browser", "--allow-root", f"--ServerApp.root_dir={folder}",
                   "--ServerApp.ip=127.0.0.1", f"--IdentityProvider.token={token}"]
        command += ["--LabApp.expose_app_in_browser=True"] if app == "jupyterlab" else ["--JupyterNotebookApp.expose_app_in_browser=True"]
        path = "lab/tree/{}?reset&token=" if app == "jupyterlab" else "notebooks/{}?token="
        path += token
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    with (folder.parent / "log").open("w") as log:
        process = subprocess.Popen([sys.executable, "-m", app, *command], env=environment, stdout=log, stderr=log)
        try:
            wait_until(lambda: listening(PORT), f"{app} does not answer: see {log.name}", 60)
            yield lambda name: f"http://127.0.0.1:{PORT}/" + path.format(name)
        finally:
            process.terminate()
            process.wait(20)


def listening(port):
    """Say whether somebody listens on a port of this machine."""
    import socket

    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def wait_until(test, complaint, seconds=120):
    """Wait until a test holds; its answer is returned."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := test():
            return answer
        time.sleep(0.25)
    raise SystemExit(complaint)


class Firefox:
    """Mutable: a page of firefox-esr, spoken to over WebDriver BiDi."""

    def __init__(self, home):
        import websocket

        binary = shutil.which("firefox-esr") or shutil.which("firefox")
        if not binary:
            raise SystemExit("no firefox-esr: apt install firefox-esr")
        profile = home / "profile"
        profile.mkdir()
        self.process = subprocess.Popen([binary, "--headless", "--remote-debugging-port=9227", "--profile", profile],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: listening(9227), "Firefox does not answer", 60)
        self.socket = websocket.create_connection("ws://127.0.0.1:9227/session", suppress_origin=True, timeout=300)
        self.number, self.errors, self.requests = 0, [], []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self.page = self.ask("browsingContext.create", type="tab")["context"]
        self.ask("browsingContext.setViewport", context=self.page, viewport={"width": 1440, "height": 900})

    def ask(self, method, **parameters):
        """Send a command; note what the page says until the answer comes."""
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            told = json.loads(self.socket.recv())
            if told.get("id") == self.number:
                if "error" in told:
                    raise SystemExit(f"{method}: {told['message']}")
                return told["result"]
            self.hear(told)

    def hear(self, told):
        """Keep errors of the page, and requests outside this machine."""
        detail = told.get("params", {})
        if told.get("method") == "log.entryAdded" and detail.get("level") == "error":
            self.errors.append(detail.get("text"))
        if told.get("method") == "network.beforeRequestSent":
            url = urlsplit(detail["request"]["url"])
            if url.scheme in {"http", "https", "ws", "wss"} and url.hostname not in LOCAL:
                self.requests.append(detail["request"]["url"])

    def goto(self, url):
        """Open an address."""
        self.ask("browsingContext.navigate", context=self.page, url=url, wait="complete")

    def evaluate(self, code, argument=None):
        """Evaluate an expression, or call a function, in the page; its answer travels as JSON."""
        call = code if argument is None else f"({code})({json.dumps(argument)})"
        wrapped = f"(async () => JSON.stringify((await ({call})) ?? null))()"
        told = self.ask("script.evaluate", expression=wrapped, target={"context": self.page}, awaitPromise=True)
        if told["type"] == "exception":
            raise SystemExit(told["exceptionDetails"]["text"])
        return json.loads(told["result"]["value"])

    def screenshot(self, path):
        """Keep a picture of the window."""
        data = self.ask("browsingContext.captureScreenshot", context=self.page)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self):
        """End Firefox."""
        self.process.terminate()
        self.process.wait(20)


class Chromium:
    """Mutable: a page of Chromium with the same few methods."""

    def __init__(self, _home):
        from playwright.sync_api import sync_playwright

        self.playwright = sync_playwright().start()
        self.running = self.playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_OPTIONS)
        self.page = self.running.new_page(viewport={"width": 1440, "height": 900})
        self.errors, self.requests = [], []
        self.page.on("console", lambda said: said.type == "error" and self.errors.append(said.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda asked: urlsplit(asked.url).scheme in {"http", "https"}
                     and urlsplit(asked.url).hostname not in LOCAL and self.requests.append(asked.url))

    def goto(self, url):
        """Open an address."""
        self.page.goto(url, timeout=180_000)

    def evaluate(self, code, argument=None):
        """Evaluate an expression, or call a function, in the page."""
        return self.page.evaluate(code, argument)

    def screenshot(self, path):
        """Keep a picture of the window."""
        self.page.screenshot(path=path)

    def close(self):
        """End the browser."""
        self.running.close()
        self.playwright.stop()


def complaints(page):
    """Return what a page said and asked outside, by the first words: addresses and stacks differ each time."""
    return {one[:60] for one in (*page.errors, *page.requests)}


def visit(app, browser, address, name, notebook):
    """Open a notebook, run it where that is not done by itself, press Step in its first panel; give the complaints."""
    with tempfile.TemporaryDirectory() as home:
        page = browser(Path(home))
        try:
            page.goto(address)
            if app != "voila":
                ran = page.evaluate(RUN_ALL, notebook)
                assert ran["faults"] == [], ran
                print(f"{ran['executed']} of {ran['cells']} cells ran")
            wait_until(lambda: page.evaluate(STEPS), "no panel is shown")
            page.evaluate("document.querySelector('.k-lab .k-reset').click()")
            wait_until(lambda: page.evaluate(STEPS).lstrip().startswith("0"), "Reset did not go to the start", 30)
            page.evaluate(PRESS)
            wait_until(lambda: page.evaluate(STEPS).lstrip().startswith("1"), "Step did not move the panel", 30)
            if notebook == DASHBOARD.name:
                wait_until(lambda: page.evaluate(CHARTS) == 3, "a chart is not drawn", 60)
            page.evaluate(SCROLL)
            wait_until(lambda: page.evaluate(FIGURES) + page.evaluate(CHARTS), "no picture is drawn", 60)
            figures = page.evaluate(FIGURES)
            page.evaluate(SCROLL)
            time.sleep(1)
            ARTEFACTS.mkdir(exist_ok=True)
            page.screenshot(ARTEFACTS / f"{name}.png")
            charts = page.evaluate(CHARTS)
            print(f"{name}: the panel steps, {figures} figures and {charts} charts are drawn")
            return complaints(page)
        finally:
            page.close()


def complaints_of_an_empty_notebook(browser, address):
    """Return what the front end itself complains of and asks for."""
    with tempfile.TemporaryDirectory() as home:
        page = browser(Path(home))
        try:
            page.goto(address)
            time.sleep(12)
            page.evaluate("1")
            return complaints(page)
        finally:
            page.close()


def look(where):
    """Visit the lesson and fail on what an empty notebook does not say."""
    app, browser = ("jupyterlab", Firefox) if where == "firefox" else (where, Chromium)
    new = set()
    with tempfile.TemporaryDirectory() as home, server(app, Path(home) / "root") as address:
        own = complaints_of_an_empty_notebook(browser, address(EMPTY))
        for name, path in ((where, LESSON), (f"{where}-dashboard", DASHBOARD)):
            new |= visit(app, browser, address(path.name), name, path.name) - own
    print(f"complaints: {len(new)}; of an empty notebook: {len(own)}")
    if new:
        raise SystemExit("\n".join(sorted(new)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("where", choices=["firefox", "notebook", "voila", "jupyterlab"])
    look(parser.parse_args().where)
