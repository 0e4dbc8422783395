"""Run the cells of `docs/looks.md` and store what they print and draw: `python tests/store_looks.py`.

Counts alone, which no machine changes: nothing of the benchmarks is measured again. A chart is stored beside the page, with
the text that it shows as its description.
"""

import contextlib
import io
import os
import re
from html import escape

from test_pages import CELL, DOCS, run

os.environ["TQDM_DISABLE"] = "1"
PAGE = DOCS / "looks.md"


def charts(page):
    """Return the text under each cell that makes a chart, with the name of the chart's picture."""
    shown = [text for cell, text in CELL.findall(page) if ".chart(" in cell]
    return {f"looks-{number}.svg": text for number, text in enumerate(shown, 1)}


def described(picture, text):
    """Return a picture whose description is a text."""
    head, end, rest = picture.partition(">")
    return f"{head}{end}<desc>{escape(text)}</desc>{rest}"


def store():
    """Write the page and its pictures."""
    names, drawn = {}, []

    def filled(found):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            value = run(found[1], names, "looks.md")
        if ".chart(" in found[1]:
            drawn.append(eval(found[1].rstrip().splitlines()[-1], names))  # noqa: S307 - our own page
        return f"```python\n{found[1]}```\n\n```text\n{said.getvalue()}{value}```"

    page = re.sub(r"```python\n(.*?)```(?:\n\n```text\n.*?```)?", filled, PAGE.read_text("utf-8"), flags=re.DOTALL)
    PAGE.write_text(page, "utf-8")
    for figure, (name, text) in zip(drawn, charts(page).items(), strict=True):
        place = figure.save(DOCS / name)
        place.write_text(described(place.read_text("utf-8"), text), "utf-8")


if __name__ == "__main__":
    store()
