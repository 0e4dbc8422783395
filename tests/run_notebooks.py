"""Run notebooks and store what they show, so that running them again changes no byte.

`python tests/run_notebooks.py FILE_OR_FOLDER...`: each notebook is executed where it lies; out of what is
stored go the times, the widgets' state and their random names, and the patch version of Python. An answer that is stored
folded gets an output without data before it, because JupyterLab shows the first line of a folded cell's first output.
"""

import json
import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import v4

os.environ["TQDM_DISABLE"] = "1"  # a progress bar shows seconds: nothing to store
WIDGET = "application/vnd.jupyter.widget-view+json"


def read(path):
    """Read a notebook; a cell without a lasting name gets one by its place, so that nothing random is stored."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    raw["nbformat_minor"] = max(raw["nbformat_minor"], 5)  # cells have names from 4.5 on
    for place, cell in enumerate(raw["cells"]):
        cell.setdefault("id", f"cell-{place:02}")
    return nbformat.reads(json.dumps(raw), as_version=4)


def strip(notebook):
    """Take out what differs between two runs that show the same."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata.get("language_info", {}).pop("version", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(WIDGET, None)
        if "outputs" in cell:
            cell.outputs = joined(cell.outputs)
            if cell.outputs and cell.metadata.get("jupyter", {}).get("outputs_hidden"):
                cell.outputs.insert(0, v4.new_output("display_data"))


def joined(outputs):
    """Put texts of one stream together: how many pieces they came in is a matter of milliseconds."""
    found = []
    for output in outputs:
        last = found[-1] if found else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            found.append(output)
    return found


def run(path):
    """Execute one notebook in its folder and write it back."""
    notebook = read(path)
    client = NotebookClient(notebook, kernel_name="python3", timeout=300, store_widget_state=False,
                            resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    strip(notebook)
    nbformat.write(notebook, path)


def main(*places):
    """Run every notebook named, and those in the folders named."""
    for place in map(Path, places):
        for path in sorted(place.glob("*.ipynb")) if place.is_dir() else [place]:
            print(path)
            run(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
