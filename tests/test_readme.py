"""The README keeps its word: its Python runs as printed, its links lead somewhere, its kubectl line is ours."""

import ast
import re
import shlex
from pathlib import Path

import pytest
import store_panel
from click.testing import CliRunner

from kvolsched.api.text.dump_checks import DUMP_COMMAND
from kvolsched.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
README = PAGES[0].read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=[f"block-{n}" for n in range(1, len(BLOCKS) + 1)])
def test_python_runs_as_printed(block, capsys):
    """Every Python block runs by itself, and what a comment says of a printed value is what it prints."""
    exec(compile(block, "README.md", "exec"), {})  # noqa: S102 - our own text
    said = capsys.readouterr().out

    for promised in re.findall(r"# (Pending|True False|two passes)", block):
        assert promised.replace("two", "2") in said


def test_kubectl_line_is_the_one_that_dumps_what_we_read():
    """The command in the README names exactly the kinds that a dump should have."""
    assert DUMP_COMMAND in README


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    """Every relative link of a page names a file or folder of the repository."""
    for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_code_that_pages_name_exists():
    """`file.py::Class.method` in a page is a file of the package and a name in it; `folder/` a folder."""
    house = ROOT / "kvolsched"
    found = [named for page in PAGES for named in re.findall(r"`([\w/]+\.py)::([\w.]+)`", page.read_text("utf-8"))]
    assert found
    for path, name in found:
        body = ast.parse((house / path).read_text("utf-8")).body
        for part in name.split("."):
            (inner,) = [node for node in body if getattr(node, "name", "") == part]
            body = inner.body


def test_files_that_pages_name_exist():
    """A path in backquotes that ends in .py is one of ours."""
    for page in PAGES:
        for path in re.findall(r"`([\w/]+/[\w]+\.py)`", page.read_text("utf-8")):
            assert any((root / path).is_file() for root in (ROOT, ROOT / "kvolsched")), path


CONSOLE = re.findall(r"```console\n\$ kvolsched (.*?)\n(.*?)```", "\n".join(p.read_text("utf-8") for p in PAGES), re.DOTALL)


@pytest.mark.parametrize(("command", "printed"), CONSOLE, ids=[command for command, _ in CONSOLE])
def test_what_a_page_shows_of_a_command_is_what_it_prints(command, printed, monkeypatch):
    """Every whole line of a console block is printed by its command; a line with dots is one that was shortened."""
    monkeypatch.chdir(ROOT)
    done = CliRunner().invoke(main, shlex.split(command))

    assert 0 == done.exit_code, done.output
    assert [line for line in printed.splitlines() if "…" not in line and line not in done.output.splitlines()] == []
    shortened = [line.partition("…")[0] for line in printed.splitlines() if "…" in line]
    assert all(line in done.output for line in shortened)


def test_the_picture_at_the_top_is_what_the_project_draws():
    """The panel in the README is drawn by this version."""
    assert store_panel.picture() == store_panel.TARGET.read_text("utf-8")
    assert f"({store_panel.TARGET.relative_to(ROOT)})](docs/static/ten-minutes.html)" in README


def test_the_readme_is_short_and_names_every_lesson():
    """At most 200 lines; every lesson stands there and on the contents page."""
    contents = (ROOT / "notebooks" / "contents.md").read_text("utf-8")
    lessons = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))

    assert len(README.splitlines()) <= 200
    assert [name for name in lessons if f"(notebooks/{name})" not in README or f"({name})" not in contents] == []
