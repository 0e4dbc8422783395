"""The lessons, as they ship with the package: copied to where a reader works, and opened there.

What a reader changed is never written over. Beside the notebooks stand the pages of the documentation, to which they
link.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from attrs import frozen

from ..api.notebook_output import PrintedAnswer

PARTS = ("notebooks", "docs")
START = "notebooks/ten-minutes.ipynb"
_SHIPPED = Path(__file__).parent.parent / "course"  # of a wheel; a checkout has the parts beside the package
LEFT_OUT = (".ipynb_checkpoints", "__pycache__", "static")
_OF_THE_BOOK = ("index.md", "reference.md", "glossary.md")  # they are read as pages of the built book only


class NoLessons(FileNotFoundError):
    """Raised when the lessons were not installed with the package."""


@frozen(repr=False)
class CopiedLessons(PrintedAnswer):
    """What was copied where.

    Args:
        folder: where the lessons are.
        written: the files that were written, relative to the folder.
        kept: the files that differ from what ships and were left as they are.
    """

    folder: Path
    written: tuple[str, ...]
    kept: tuple[str, ...]

    def __repr__(self) -> str:
        lessons = sum(name.startswith("notebooks/") and name.endswith(".ipynb") for name in self.written)
        others = len(self.written) - lessons
        line = f"{self.folder}: {lessons} lesson{'s' * (lessons != 1)} and {others} other files copied"
        if not self.kept:
            return line
        what = "1 file differs and is" if len(self.kept) == 1 else f"{len(self.kept)} files differ and are"
        return f"{line}\n{what} kept (--force writes over what you changed): {', '.join(self.kept)}"


def copy_lessons(folder: str | Path, *, force: bool = False) -> CopiedLessons:
    """Copy the lessons and the pages that they link to into a folder, but not over files that were changed there.

    Args:
        folder: where; it is made if there is none.
        force: write over changed files as well.

    Raises:
        NoLessons: the package was installed without them.
        OSError: the folder cannot be written.

    >>> import tempfile
    >>> copied = copy_lessons(tempfile.mkdtemp())
    >>> "notebooks/ten-minutes.ipynb" in copied.written
    True
    """
    target = Path(folder)
    written, kept = [], []
    for name, source in _files():
        place, content = target / name, source.read_bytes()
        if place.is_file() and place.read_bytes() == content:
            continue
        if place.exists() and not force:
            kept.append(name)
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        written.append(name)
    return CopiedLessons(target, tuple(written), tuple(kept))


def course() -> Path:
    """Return the folder in which the lessons stand as they ship.

    Raises:
        NoLessons: the package was installed without them.
    """
    root = _SHIPPED if _SHIPPED.is_dir() else Path(__file__).parents[2]
    if not (root / START).is_file():
        raise NoLessons(f"the lessons are not installed: there is no {root / START}")
    return root


def _files() -> Iterator[tuple[str, Path]]:
    """Yield the files that ship, by their names relative to the folder, in order."""
    root = course()
    for part in PARTS:
        for source in sorted((root / part).rglob("*")):
            left_out = source.suffix == ".py" or source.name in _OF_THE_BOOK or set(LEFT_OUT) & set(source.parts)
            if source.is_file() and not left_out:
                yield str(source.relative_to(root).as_posix()), source


def open_lab(folder: str | Path, arguments: Sequence[str] = ()) -> int:
    """Start JupyterLab on the first lesson in a folder and return its exit code.

    Raises:
        ModuleNotFoundError: JupyterLab, or what the panel needs, is not installed; the message says how to.
    """
    if missing := [name for name in ("jupyterlab", "ipywidgets", "anywidget") if find_spec(name) is None]:
        names = ", ".join(missing)
        raise ModuleNotFoundError(f"{names} not installed: pip install 'kvolsched[lab]' brings all that a lesson needs")
    root = ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    import subprocess  # noqa: PLC0415 - who copies or searches them starts no program

    command = [sys.executable, "-m", "jupyterlab", *root, f"--ServerApp.root_dir={Path(folder).resolve()}",
               f"--LabApp.default_url=/lab/tree/{START}", *arguments]  # fmt: skip
    try:
        return subprocess.call(command)  # noqa: S603 - our own Python, and arguments of the user
    except KeyboardInterrupt:
        return 130
