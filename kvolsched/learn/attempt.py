"""An exercise of a lesson: a gap that a reader fills, and a check that is green only when it is solved.

One that nobody has tried yet is no error: it says "not yet", and a notebook that is run from top to bottom goes on.
"""

import sys
from traceback import walk_tb
from types import TracebackType
from typing import Self

from ..api.notebook_output import printable

GAP = "..."
OURS = __name__.partition(".")[0]


class attempt:  # noqa: N801 - it is read as a verb: `with kvolsched.attempt(hint):`
    """Check an exercise: print "not yet" with a hint while an assertion of the block fails, "solved" when none does.

    A gap is written as `...`; what goes wrong only because it is still there is "not yet", too, and so is what this
    package refuses: a manifest, a text, a name that does not exist. Any other error is the reader's own and is raised.

    Args:
        hint: what to think of; the message of an assertion that fails is said instead of it.

    Raises:
        ValueError: the hint is empty.

    >>> with attempt("how many claims does the pod use?"):
    ...     answer = 2
    ...     assert answer == 3
    not yet: how many claims does the pod use?
    """

    def __init__(self, hint: str) -> None:
        if not hint.strip():
            raise ValueError('attempt("..."): a hint is what helps somebody who is stuck; it is empty')
        self.hint = hint

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> bool:
        by = [at.f_globals.get("__name__", "") for at, _ in [*walk_tb(trace)][-1:] if isinstance(error, ValueError)]
        if error is None:
            _tell("solved")
        elif isinstance(error, Exception) and "llipsis" in str(error):  # of a type, or of a value
            _tell(f"not yet: {GAP} is still to be filled in")
        elif isinstance(error, AssertionError):
            _tell(f"not yet: {next((str(part) for part in error.args if str(part).strip()), self.hint)}")
        elif isinstance(error, Exception) and OURS in {one.partition(".")[0] for one in (type(error).__module__, *by)}:
            _tell(f"not yet: {error.args[0] if isinstance(error, KeyError) and error.args else error}")
        else:
            return False
        return True


def _tell(line: str) -> None:
    sys.stdout.write(printable(line) + "\n")
