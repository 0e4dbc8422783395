"""The book, built from what is stored: every page, every name of the public face, folded answers, a panel without a kernel."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest

import kvolsched

ROOT = Path(__file__).parent.parent
LESSONS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
FIRST = "01-who-goes-first"


class Links(HTMLParser):
    """What a page links to or shows, and the names that its parts have."""

    def __init__(self):
        super().__init__()
        self.targets, self.names = [], set()

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.targets.append(value)
            if name == "id":
                self.names.add(value)


def links(page):
    """Read a page's links."""
    found = Links()
    found.feed(page.read_text("utf-8"))
    return found


def run(*command):
    """Run a command at the root of the repository; a failure shows what it printed."""
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the book once, with the panel of one lesson as a page."""
    folder = tmp_path_factory.mktemp("book") / "site"
    run(ROOT / "docs" / "run_pages.py", folder / "run", FIRST)
    run("-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-c", ROOT / "docs", ROOT, folder)
    return folder


def test_every_lesson_and_page_is_in_the_book(site):
    """The contents lead to each of them, and the root of the site to the contents."""
    contents = links(site / "docs" / "index.html").targets
    pages = [path.stem for path in (ROOT / "docs").glob("*.md")]

    assert [name for name in LESSONS if f"../notebooks/{name}.html" not in contents] == []
    assert [name for name in pages if not (site / "docs" / f"{name}.html").is_file()] == []
    assert "docs/index.html" in links(site / "index.html").targets


def test_every_link_leads_somewhere_and_nothing_is_fetched(site):
    """A page of the book links to files and places that exist; it loads nothing from elsewhere."""
    pages = {page: links(page) for page in site.rglob("*.html") if page.name not in ("search.html", "genindex.html")}
    dead = []
    for page, found in pages.items():
        for target in found.targets:
            path, _, place = unquote(target).partition("#")
            if re.match(r"(https?|mailto|data|javascript):", target) or target == "#":
                continue
            meant = (page.parent / path.partition("?")[0]).resolve() if path else page
            if not meant.exists() or (place and meant in pages and place not in pages[meant].names):
                dead.append(f"{page.relative_to(site)} -> {target}")
    assert dead == []
    loaded = re.compile(r"""<(?:script|img|link|iframe)[^>]*(?:src|href)=["'](https?:[^"']*)""")
    assert [match for page in pages for match in loaded.findall(page.read_text("utf-8"))] == []


def test_every_name_of_the_public_face_is_in_the_reference(site):
    """Who looks for a public name finds it, and every method of a cluster."""
    reference = links(site / "docs" / "reference.html").names
    modules = {"alternatives", "experiments", "queueing"}
    names = [*(set(kvolsched.__all__) - modules), *(f"Cluster.{name}" for name in dir(kvolsched.Cluster) if name[0] != "_")]

    assert sorted(name for name in names if f"kvolsched.{name}" not in reference) == []
    assert sorted(name for name in modules if f"module-kvolsched.{name}" not in reference) == []


def test_answers_and_solutions_are_folded(site):
    """A cell whose answer or source is folded in the notebook is folded in the book."""
    for name in LESSONS:
        cells = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells
        folded = sum(not {"hide-input", "hide-output"}.isdisjoint(cell.metadata.get("tags", ())) for cell in cells)
        page = (site / "notebooks" / f"{name}.html").read_text("utf-8")
        assert (name, folded) == (name, len(re.findall(r'<div class="cell tag_hide-[^"]*docutils', page)))


def test_a_lessons_panel_works_in_the_book(site):
    """Under the cell that opens the panel stands the panel itself, with steps to go through."""
    page = (site / "notebooks" / f"{FIRST}.html").read_text("utf-8")
    panel = (site / "run" / f"{FIRST}.html").read_text("utf-8")

    assert f'<iframe class="run" src="../run/{FIRST}.html"' in page
    assert panel.count('"sentence"') > 5
