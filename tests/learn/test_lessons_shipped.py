"""The lessons that ship with the package: `kvolsched lessons`, `kvolsched lab`."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from kvolsched.cli import main
from kvolsched.learn import lessons

FIRST = "notebooks/ten-minutes.ipynb"


def test_copied_lessons_find_what_they_link_to(tmp_path):
    """Notebooks and pages stand beside each other, as the links between them expect."""
    copied = lessons.copy_lessons(tmp_path / "course")

    assert FIRST in copied.written
    assert "docs/lab.md" in copied.written
    assert copied.kept == ()
    assert repr(copied).startswith(f"{tmp_path / 'course'}: {len(list((tmp_path / 'course' / 'notebooks').rglob('*.ipynb')))} lessons and ")


def test_a_readers_work_is_kept(tmp_path):
    """A second copy writes only what is missing; a changed lesson stays until it is asked to go."""
    lessons.copy_lessons(tmp_path)
    (tmp_path / FIRST).write_text("mine")
    (tmp_path / "docs" / "lab.md").unlink()

    again = lessons.copy_lessons(tmp_path)
    assert (again.written, again.kept) == (("docs/lab.md",), (FIRST,))
    assert "\n1 file differs and is kept (--force writes over what you changed): notebooks/ten" in repr(again)
    assert (tmp_path / FIRST).read_text() == "mine"
    assert lessons.copy_lessons(tmp_path, force=True).written == (FIRST,)


def test_the_command_says_what_it_copied_and_why_it_cannot(tmp_path, monkeypatch):
    """`kvolsched lessons DIR` says where the lessons are; a folder that is a file, or a package without them, is one line."""
    done = CliRunner().invoke(main, ["lessons", str(tmp_path / "course")])
    assert (done.exit_code, f"{tmp_path / 'course'}: " in done.output) == (0, True)
    (tmp_path / "file").write_text("")
    assert "is a file" in CliRunner().invoke(main, ["lessons", str(tmp_path / "file")]).output
    monkeypatch.setattr(lessons, "START", "notebooks/gone.ipynb")
    none = CliRunner().invoke(main, ["lessons", str(tmp_path / "none")])
    assert (none.exit_code, "the lessons are not installed" in none.output) == (2, True)


@pytest.mark.parametrize(("words", "folder", "arguments"), [
    (["lab"], "kvolsched-lessons", []),
    (["lab", "./mine", "--no-browser", "--port=8899"], "mine", ["--no-browser", "--port=8899"]),
    (["lab", "--no-browser"], "kvolsched-lessons", ["--no-browser"]),
])
def test_lab_opens_the_first_lesson_of_the_copy(tmp_path, monkeypatch, words, folder, arguments):
    """`kvolsched lab` copies the lessons and starts JupyterLab there, with the reader's own arguments."""
    started = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "call", lambda command: started.append(command) or 0)

    assert CliRunner().invoke(main, words).exit_code == 0
    (command,) = started
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={tmp_path / folder}" in command
    assert f"--LabApp.default_url=/lab/tree/{FIRST}" in command
    assert (tmp_path / folder / FIRST).is_file()
    assert command[len(command) - len(arguments):] == arguments


def test_lab_without_jupyterlab_says_what_to_install(tmp_path, monkeypatch):
    """Where only the core is installed, one line names the extra."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lessons, "find_spec", lambda name: None if name == "jupyterlab" else object())
    done = CliRunner().invoke(main, ["lab"])

    assert done.exit_code == 2
    assert "Error: jupyterlab not installed: pip install 'kvolsched[lab]' brings all that a lesson needs\n" in done.output
