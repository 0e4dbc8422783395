"""The error for a name that nothing has: one sentence with what there is, and the nearest names."""

from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from linecache import getlines
from pathlib import Path
from traceback import extract_tb
from types import TracebackType

from kvolsched.api.notebook_output import printable
from kvolsched.api.words import first_of, one_of

HOUSE = str(Path(__file__).parent.parent)  # the package's own files
MAX_LISTED = 12  # names in a sentence; of more the nearest are enough
MAX_NEAREST = 3
CUTOFF = 0.6  # least likeness of two names, as difflib measures it
Compared = Callable[[str], str]
MARGIN = 0.15  # a name that is so much less alike than the best one is not suggested


class UnknownName(KeyError, ValueError):
    """Raised for a name that nothing has, or several things have: a KeyError, and a ValueError as any wrong argument.

    The sentence is given in one or in three parts: what there is not, what there is, and the nearest names.

    >>> from kvolsched import Cluster, UnknownName
    >>> try:
    ...     Cluster().crash("schedular")
    ... except UnknownName as unknown:
    ...     print(str(unknown).rpartition("; ")[2])
    did you mean scheduler?
    """

    def __init__(self, looked_for: object = "", there: str = "", near: str = "") -> None:
        super().__init__(f"{looked_for}{there}{near}")
        self.looked_for, self.there, self.near = str(looked_for), there, near

    @property
    def others(self) -> str:
        """What there is, and the nearest names."""
        return f"{self.there}{self.near}"[len("; ") :]

    def __str__(self) -> str:
        return printable(str(self.args[0])) if self.args else ""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: the line that asked, if its cell has several, and the sentence."""
        return [*_asking_line(self.__traceback__), f"{type(self).__name__}: {self}"]


def _asking_line(where: TracebackType | None) -> list[str]:
    """Return the last line outside this package that led here, if its file or cell has several."""
    asking = [frame for frame in extract_tb(where) if not frame.filename.startswith(HOUSE)]
    if not asking or not asking[-1].line or len(getlines(asking[-1].filename)) == 1:
        return []
    return [f"line {asking[-1].lineno}: {asking[-1].line}"]


def unknown_name(
    looked_for: str, name: str, there: Iterable[str], *, compared: Compared = str, plural: str = "", none: str = "none",
    most_listed: int = MAX_LISTED,
) -> UnknownName:  # fmt: skip
    """Return the error about a name: `no pod/web-9; there are: pod/web-0, pod/web-1; did you mean pod/web-1?`.

    Args:
        looked_for: what the sentence says that there is not.
        name: the name that is compared with those that there are.
        there: the names that there are, as they are printed.
        compared: the part of a printed name that is compared.
        plural: what many of them are called, such as `pods`.
        none: what the sentence says if there is nothing.
        most_listed: as many are listed beside the nearest ones; more are counted.
    """
    names = list(dict.fromkeys(there))
    hint = did_you_mean(name, names, compared=compared)
    if len(names) <= (most_listed if hint else MAX_LISTED):
        existing = f"there are: {', '.join(names) or none}"
    elif hint:
        existing = f"there are {len(names)}{f' {plural}' if plural else ''}"
    else:
        existing = f"there are: {first_of(names, MAX_LISTED)}"
    return UnknownName(f"no {looked_for}", f"; {existing}", hint)


def did_you_mean(name: str, there: Iterable[str], *, compared: Compared = str) -> str:
    """Return `; did you mean a or b?` with the names nearest to this one, or ""."""
    near = nearest(name, there, compared=compared)
    return f"; did you mean {one_of(near)}?" if near else ""


def nearest(
    name: str, there: Iterable[str], *, cutoff: float = CUTOFF, margin: float = MARGIN, compared: Compared = str
) -> list[str]:
    """Return the few names that are most like this one, the likest first; capitals do not count.

    `cutoff` is the least likeness, from 0 to 1; a name that is less alike than the best one by a `margin` is left out;
    `compared` returns the part of each name that is compared.
    """
    matcher = SequenceMatcher(b=name.lower(), autojunk=False)
    found: list[tuple[float, str]] = []
    for each in dict.fromkeys(there):
        matcher.set_seq1(compared(each).lower())
        if matcher.real_quick_ratio() >= cutoff and matcher.quick_ratio() >= cutoff:
            found.append((matcher.ratio(), each))
    best = max((ratio for ratio, _ in found), default=0.0)
    near = [each for each in found if each[0] >= max(cutoff, best - margin)]
    return [each for _, each in sorted(near, key=lambda pair: -pair[0])[:MAX_NEAREST]]
