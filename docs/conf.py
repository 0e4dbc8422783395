"""The book: lessons with their stored pictures, the pages of this folder, and the reference of the public face.

`make site` builds it from the root of the repository, without a network and without running a notebook. A warning is
an error: dead links and missing references fail.
"""

import html
import json
import re
import sys
from pathlib import Path

import kvolsched
from kvolsched.api.sealed_output import unseal
from kvolsched.learn import said

sys.path.insert(0, str(Path(__file__).parent))
from run_pages import opens_a_panel

ROOT = Path(__file__).parent.parent
project = "kvolsched"
author = copyright = "the kvolsched authors"  # noqa: A001 - Sphinx reads this name
release = version = kvolsched.__version__
html_title = "kvolsched"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = ["docs/*.md", "notebooks/*.ipynb", "notebooks/documents/*.ipynb"]
exclude_patterns = ["**/.ipynb_checkpoints"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_copy_source = False
html_show_sourcelink = False

nb_execution_mode = "off"  # what is stored is what `make test` proved
nb_merge_streams = True
# A figure's script asks JupyterLab for its place on the page; here its picture is shown, and text where there is none.
nb_mime_priority_overrides = [("html", "image/png", 1), ("html", "text/html", 2), ("html", "text/plain", 3),
                              ("html", "application/javascript", None)]
myst_enable_extensions = ["attrs_inline", "deflist", "html_image"]
myst_heading_anchors = 4
myst_url_schemes = ("http", "https", "mailto")
suppress_warnings = ["myst.header", "mystnb.unknown_mime_type"]  # a lesson may step from a title to a third level

autodoc_typehints = "none"  # a signature says what a call takes; types are for checkers
autodoc_member_order = "bysource"
napoleon_google_docstring = True
napoleon_use_ivar = True
nitpicky = True
nitpick_ignore_regex = [("py:class", r".*[(']VolumeScheduling.*")]  # a default value that is read as a type

# Links to files of the repository that are no pages of the book: shown as words.
_FILES = re.compile(r"\[([^\]]*)\]\((?:lesson-template|dashboard-app|"
                    r"(?:\.\./)+(?:kvolsched|tests|binder|notebooks/contents|README\.md|LICENSE))[^)]*\)")

_PANEL = """\
The panel, as a page that steps without a kernel:

<iframe class="run" src="../run/{0}" loading="lazy" title="The panel"></iframe>

<a href="../run/{0}">Open it alone</a>
"""


def _without_links_into_the_repository(_app, _name, source):
    """Show a link to a file of the repository as its words: the book has no such page."""
    source[0] = _FILES.sub(r"\1", source[0])


def _without_seals(_app, name, source):
    """Put a closed fold in the place of each output that waits for an answer: a book has no kernel."""
    if name.startswith("notebooks/"):
        notebook = json.loads(source[0])
        if unseal(notebook):
            source[0] = json.dumps(notebook)


def _with_links_between_statements(_app, name, source):
    """Lead a statement's anchor, and a link to another statement, to its place in the book, which only HTML has."""
    if name.startswith("notebooks/documents/"):
        source[0] = re.sub(r"\[(S\d-\d+-\w+)\]\((S\d)?(?:\.ipynb)?#\1\)", _link_to_statement, source[0])


def _link_to_statement(found):
    page = f"{found[2]}.html" if found[2] else ""
    return f"<a href='{page}#{found[1]}'>{found[1]}</a>"


def _with_the_panel(app, name, source):
    """Show under the cell that opens a lesson's panel the same panel as a page that steps without a kernel."""
    page = Path(app.outdir, "run", f"{Path(name).name}.html")
    if not name.startswith("notebooks/") or not page.is_file():
        return
    notebook = json.loads(source[0])
    for place, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code" and opens_a_panel("".join(cell["source"])):
            shown = {"cell_type": "markdown", "id": "panel-without-kernel", "metadata": {}}
            notebook["cells"].insert(place + 1, shown | {"source": _PANEL.format(page.name)})
            break
    source[0] = json.dumps(notebook)


def _a_sentence_is_no_type(_app, what, _name, _object, _options, lines):
    """Keep what a property says as a sentence: napoleon reads words before a colon as its type."""
    if what in ("property", "attribute") and lines:
        lines[0] = lines[0].replace(": ", "; ")
    for number, line in enumerate(lines):
        if line.strip() == "Returns:" and number + 1 < len(lines):
            lines[number + 1] = lines[number + 1].replace(": ", "; ")


def _found_by_its_name(_app, env, node, _content):
    """Resolve a name without its module, as docstrings write errors, to the one object of that name."""
    named = [each for each in env.domains["py"].objects if each.rpartition(".")[2] == node["reftarget"]]
    if len(named) != 1:
        return None
    node["reftarget"] = named[0]
    return env.domains["py"].resolve_xref(env, node["refdoc"], _app.builder, node["reftype"], named[0], node, _content)


def _index_of_statements(app, error):
    """Write what the page that finds statements searches: each with its terms, as `said` weighs them."""
    if error is None:
        words = json.dumps(said.search_index(), ensure_ascii=False, separators=(",", ":"))
        Path(app.outdir, "_static", "said-index.js").write_text(f"window.SAID = {words};\n", "utf-8")


def _first_page(app, error):
    """Lead from the root of the site to the contents."""
    if error is None:
        target = html.escape(f"{root_doc}.html")
        Path(app.outdir, "index.html").write_text(
            f'<!doctype html><meta charset="utf-8"><title>kvolsched</title>'
            f'<meta http-equiv="refresh" content="0; url={target}"><a href="{target}">kvolsched</a>\n', "utf-8")


def setup(app):
    """Connect what this book does beside Sphinx."""
    app.connect("source-read", _without_links_into_the_repository)
    app.connect("source-read", _without_seals)
    app.connect("source-read", _with_links_between_statements)
    app.connect("source-read", _with_the_panel)
    app.connect("autodoc-process-docstring", _a_sentence_is_no_type, priority=400)  # before napoleon's 500
    app.connect("missing-reference", _found_by_its_name)
    app.connect("build-finished", _index_of_statements)
    app.connect("build-finished", _first_page)
