"""What was done in a panel, as lines of Python that do it again on a cluster `c`."""

from collections.abc import Iterator
from contextlib import contextmanager


class Script:
    """Lines of Python, each an order of the panel; moves that follow each other are one line. Mutable: it grows."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._steps = 0  # how many plain steps the last line stands for; 0: it is another line

    def add(self, line: str) -> None:
        """Add a line."""
        self._lines.append(line)
        self._steps = 0

    def step(self) -> None:
        """Add a plain step, to those before it."""
        number = self._steps + 1
        if number > 1:
            self._lines.pop()
        self.add("c.step()" if number == 1 else f"for _ in range({number}): c.step()")
        self._steps = number

    def goto(self, step: int) -> None:
        """Add a move to a known step, in place of one just before."""
        if self._lines and self._lines[-1].startswith("c.goto("):
            self._lines.pop()
        self.add(f"c.goto({step})")

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Forget what is done inside: moves that lead back to where they began."""
        lines, steps = list(self._lines), self._steps
        try:
            yield
        finally:
            self._lines, self._steps = lines, steps

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __repr__(self) -> str:
        return "\n".join(self._lines)
