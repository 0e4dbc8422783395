"""Print the time from a click on Step until it is painted, in JupyterLab: `python -m tests.browser.click_to_paint`.

A figure is the median of 20 clicks, with the least and the worst; the median time in the kernel (frame and drawing),
and the bytes that travel a step. On a busy machine the least says more. The rest is the socket, the script in the page, layout and paint.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from statistics import median

import pytest
from nbformat import v4, write

from . import conftest as lab

SOURCE = """import time
import kvolsched
from kvolsched.scenario import nodes, pods, storage_class
c = kvolsched.Cluster("upstream", name="{nodes} nodes")
c._load([storage_class("zonal"), *nodes({nodes}), *pods(30, claims="zonal"), *pods(30, first=30)])
for _ in range({start}):
    c.step()
spent, sent = [], []
panel = c.lab()
act, send = panel._drive, panel.host.comm.send
def timed(*arguments, **more):
    start = time.perf_counter()
    act(*arguments, **more)
    spent.append(1000 * (time.perf_counter() - start))
def counted(data=None, **more):
    sent.append(len(str(data)))
    return send(data, **more)
panel._drive, panel.host.comm.send = timed, counted
panel"""
ASK = """async expression => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  const reply = await kernel.requestExecute({code: '', store_history: false, user_expressions: {said: expression}}).done;
  return reply.content.user_expressions.said.data['text/plain'];
}"""
# From the click until the frame is painted in which the sentence's number has changed.
PAINTED = """async () => {
  const root = document.querySelector('.k-lab'), number = root.querySelector('.k-step-no');
  const old = number.textContent, start = performance.now();
  root.querySelector('.k-step').click();
  while (number.textContent === old && performance.now() < start + 10000) await new Promise(requestAnimationFrame);
  await new Promise(go => setTimeout(go));
  const taken = performance.now() - start;
  await new Promise(go => setTimeout(go, 250));
  return taken;
}"""


def measure(server: lab.LabServer, browser: object, count: int, clicks: int, start: int) -> str:
    """Open a panel of so many nodes, press Step, and return the line of figures."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clicks.ipynb"
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        write(v4.new_notebook(cells=[v4.new_code_cell(SOURCE.format(nodes=count, start=start))], metadata=kernel), path)
        page = lab.open_notebook(server, context, path, f"clicks-{count}")
    ran = page.run_all()
    assert ran.faults == [], ran.faults
    page.page.locator(".k-lab .k-v-map svg").wait_for()
    page.settle(1500)
    page.page.evaluate("document.querySelector('.k-lab').scrollIntoView()")
    page.page.evaluate(PAINTED)
    page.page.evaluate(ASK, "(spent.clear(), sent.clear())")
    taken = [page.page.evaluate(PAINTED) for _ in range(clicks)]
    spent = json.loads(page.page.evaluate(ASK, "spent"))
    sent = json.loads(page.page.evaluate(ASK, "sent"))
    context.close()
    return (
        f"{count:5} nodes  median {median(taken):4.0f} ms  least {min(taken):4.0f} ms  worst {max(taken):4.0f} ms  kernel {median(spent):4.0f} ms"
        f"  {sum(sent) / clicks / 1024:6.1f} kB a step"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[12, 200, 1000])
    parser.add_argument("--clicks", type=int, default=20)
    parser.add_argument("--start", type=int, default=20, help="steps before the first click")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    folders = tempfile.TemporaryDirectory()
    serving = lab.lab_server.__wrapped__ if hasattr(lab.lab_server, "__wrapped__") else lab.lab_server
    factory = pytest.TempPathFactory(Path(folders.name), 3, "all", lambda *_, **__: None, _ispytest=True)
    server = serving(factory)
    try:
        running = next(server)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=lab.chromium(), args=lab.CHROMIUM_OPTIONS)
            for count in options.nodes:
                print(measure(running, browser, count, options.clicks, options.start), flush=True)
            browser.close()
    finally:
        server.close()
        folders.cleanup()


if __name__ == "__main__":
    main()
