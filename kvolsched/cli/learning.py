"""The commands of those who learn: a sentence explained, incidents, the lessons and JupyterLab on them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from .output import DONE, FOUND, PathType, Refused, say

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_FOLDER = "kvolsched-lessons"


class FolderType(PathType):
    """A folder that is there, or one to be made: the usual one, or one that is written as a path."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; a bare word is more likely meant as something else than as a new folder."""
        word = str(value)
        folder = super().convert(value, param, ctx)
        if not (word == DEFAULT_FOLDER or word.startswith("-") or {"/", os.sep} & set(word) or folder.exists()):
            self.fail(f"there is no folder {word!r}; to make it, write ./{word}", param, ctx)
        return folder


MAX_PASTED = 100_000  # characters that are read of a pasted text; decode() refuses more than it takes


@click.command("decode", epilog='Example: kvolsched decode "2 Insufficient cpu"')
@click.argument("sentence", nargs=-1)
def decode_(sentence: tuple[str, ...]) -> None:
    """Explain a pasted SENTENCE of a scheduler, controller, kubelet or API server.

    Without one, standard input is read. Exits with 1 if a part of it is unknown.
    """
    from ..questions.decode import decode

    try:
        found = decode(" ".join(sentence) if sentence else sys.stdin.read(MAX_PASTED))
    except ValueError as error:
        raise Refused(str(error)) from None
    say(repr(found))
    sys.exit(FOUND if found.unknown else DONE)


@click.command("said", epilog='Example: kvolsched said "nodeSelector additions"')
@click.argument("words", nargs=-1)
def said_(words: tuple[str, ...]) -> None:
    """Find a statement of the design documents by WORDS, and the cell that runs it.

    WORDS are names, a section, an anchor (S4-12-8), or a pasted sentence; without any, standard input is read.
    Exits with 1 if nothing fits.
    """
    from ..learn.said import said

    found = said(" ".join(words) if words else sys.stdin.read(MAX_PASTED))
    say(repr(found))
    sys.exit(DONE if found else FOUND)


@click.command("lessons", epilog="Example: kvolsched lessons ./course")
@click.argument("folder", default=DEFAULT_FOLDER, type=FolderType(file_okay=False))
@click.option("--force", is_flag=True, help="Write over lessons that you changed.")
def lessons_(folder: Path, force: bool) -> None:  # noqa: FBT001 - a flag
    """Copy the lessons into FOLDER; what you changed there stays.

    A FOLDER that is not there is made if it is written as a path: ./course
    """
    _copy_lessons(folder, force=force)


@click.command("lab", epilog="Example: kvolsched lab ./course --no-browser",
               context_settings={"ignore_unknown_options": True})
@click.argument("folder", default=DEFAULT_FOLDER, type=FolderType(file_okay=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def lab_(folder: Path | str, arguments: tuple[str, ...]) -> None:
    """Copy the lessons into FOLDER and open them in JupyterLab.

    JupyterLab gets the ARGUMENTS, and its exit code is the command's.
    """
    from ..learn.lessons import open_lab

    if str(folder).startswith("-"):
        folder, arguments = DEFAULT_FOLDER, (str(folder), *arguments)
    _copy_lessons(folder, force=False)
    try:
        sys.exit(open_lab(folder, arguments))
    except ModuleNotFoundError as error:
        raise Refused(str(error)) from None


def _copy_lessons(folder: Path | str, *, force: bool) -> None:
    from ..learn.lessons import copy_lessons

    try:
        say(repr(copy_lessons(folder, force=force)))
    except OSError as error:
        raise Refused(f"{folder}: {error.strerror or error}") from None


@click.command("night", epilog="Example: kvolsched night ./ten-minutes.html --no-browser")
@click.argument("file", default="ten-minutes.html", type=PathType(dir_okay=False))
@click.option("--no-browser", is_flag=True, help="Only write it.")
def night_(file: Path, no_browser: bool) -> None:  # noqa: FBT001 - a flag
    """Write ten minutes of play as one page to FILE, and open it in a browser.

    It needs neither Python nor a network: a pod waits, six acts, three stars.
    """
    from ..learn.night import save_night

    try:
        saved = save_night(file).resolve()
    except OSError as error:
        raise Refused(f"{file}: {error.strerror or error}") from None
    say(str(saved))
    if not no_browser:
        import webbrowser

        webbrowser.open(saved.as_uri())


@click.command("page", epilog="Example: kvolsched page ada --level 2")
@click.argument("name")
@click.option("--level", default=1, show_default=True, help="1 one rule, 2 two, 3 order and time, 4 it runs, and yet.")
@click.option("--number", default=1, show_default=True, help="Which page of this level.")
@click.option("--report", "reported", is_flag=True, help="Add it to kvolsched-NAME.json when it is done.")
def page_(name: str, level: int, number: int, reported: bool) -> None:  # noqa: FBT001 - a flag
    """Free what waits by kubectl commands on standard input; the run judges them.

    NAME draws the cluster. Other words: hint, undo, done. Exits with 1 if there are less than three stars.
    """
    from ..learn.class_report import report
    from ..learn.pager import page
    from ..questions.fix.harm import MOST

    try:
        drawn = page(name, level, number)
    except ValueError as error:
        raise Refused(str(error)) from None
    say(f"{drawn!r}\n\nkubectl commands, hint, undo, done")
    others = {"hint": drawn.hint, "undo": drawn.undo}
    for line in sys.stdin:
        if (typed := line.strip()) == "done":
            break
        if typed:
            said = others[typed]() if typed in others else drawn.kubectl(typed)
            say(f"{said!r}" if not isinstance(said, str) else said)
    done = drawn.done()
    say(repr(done))
    if reported:
        say(str(report(name)))
    sys.exit(DONE if done.stars.count == MOST else FOUND)


@click.command("ready", epilog="Example: kvolsched ready")
def ready_() -> None:
    """Say in 20 seconds whether this machine can give the class.

    Looked at are Python, JupyterLab, widgets, a kernel, and a browser. Exits with 1 if something lacks.
    """
    from ..learn.ready import ready

    found = ready()
    say(repr(found))
    sys.exit(DONE if found else FOUND)


@click.command("grade", epilog="Example: kvolsched grade kvolsched-*.json")
@click.argument("files", nargs=-1, required=True, type=PathType(dir_okay=False))
def grade_(files: tuple[Path, ...]) -> None:
    """Judge the reports of a class again: every page is drawn by its name, and its commands replayed.

    Exits with 1 if something is odd about one.
    """
    from ..learn.class_report import ClassGrade, grade

    try:
        found = grade(*files)
    except ValueError as error:
        raise Refused(str(error)) from None
    say(repr(found))
    sys.exit(FOUND if isinstance(found, ClassGrade) and any(row.remarks for row in found) else DONE)


@click.command("incidents", epilog="Example: kvolsched incidents --play dead-zone")
@click.argument("words", nargs=-1)
@click.option("--play", is_flag=True, help="Show the best match: kubectl's output, question, cause, cures.")
def incidents_(words: tuple[str, ...], play: bool) -> None:  # noqa: FBT001 - a flag
    """Find incidents by WORDS: free text, a kind, or a sentence of kubectl.

    Without words all are listed. Exits with 1 if none matches.
    """
    from ..learn.incidents import incidents

    found = incidents(" ".join(words))
    say(repr(found))
    if play and found:
        first = found[0]
        say(f"\n{first!r}\n\n{first.symptom!r}\n\n{first.asked_question().give_up()!r}\n\n{first.cure()!r}")
    sys.exit(DONE if found else FOUND)
