"""Progress bars that appear when something takes long; until then the library that draws them is not even imported."""

import os
import time
from types import TracebackType
from typing import Any, Self

DELAY = 1.0  # seconds after which a bar appears


class ProgressBar:
    """A bar that appears once the work inside its `with` has taken a second. Mutable.

    Args:
        total: how much there is to do, if that is known; it may be changed as long as the bar has not appeared.
        disable: whether it never appears; so it is where the environment has TQDM_DISABLE.
        options: what tqdm is given.

    >>> with ProgressBar(3, unit=" pods") as bar:
    ...     for _ in range(3):
    ...         bar.update()
    >>> bar.done
    3
    """

    def __init__(self, total: float | None = None, *, disable: bool = False, **options: Any) -> None:
        self.total = total
        self.done: float = 0
        self.options = options
        never = disable or bool(os.environ.get("TQDM_DISABLE"))  # tqdm's own bar for notebooks does not read it
        self.due = float("inf") if never else time.monotonic() + DELAY
        self.shown: Any = None

    def update(self, count: float = 1) -> None:
        """Say that so much more is done."""
        self.done += count
        if self.shown is not None:
            self.shown.total = self.total
            self.shown.update(count)
        elif time.monotonic() >= self.due:
            from tqdm.auto import tqdm  # noqa: PLC0415 - few bars appear

            self.shown = tqdm(total=self.total, leave=False, disable=False, **self.options)
            self.shown.start_t -= DELAY
            self.shown.update(self.done)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _where: TracebackType | None) -> None:
        if self.shown is not None:
            self.shown.close()
