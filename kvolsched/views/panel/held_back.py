"""`%%after asked`: a cell that runs at once, and whose output is held back until a question is answered.

Its variables are there for later cells, so that a notebook that is run from top to bottom never waits. What it shows is
stored sealed, and put into its place at the first answer. An error is never held back. IPython comes as an argument.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import TextIOBase
from typing import Any
from uuid import uuid4

from kvolsched.api.sealed_output import WIDGET, seal
from kvolsched.questions.predict import AskedQuestion

NAME = "after"


class Held(TextIOBase):
    """Outputs in their order: what was printed, and what was displayed. Mutable; it stands in for both."""

    def __init__(self, publisher: Any) -> None:
        self.outputs: list[tuple[dict[str, Any], dict[str, Any]]] = []
        self._publisher, self._is_text = publisher, False

    def write(self, text: str) -> int:
        """Keep a text that is printed; texts that follow one another are one output."""
        if text and not self._is_text:
            self.outputs.append(({"text/plain": ""}, {}))
        if text:
            self._is_text = True
            self.outputs[-1][0]["text/plain"] += text
        return len(text)

    def publish(self, data: dict[str, Any], metadata: dict[str, Any] | None = None, **_more: Any) -> None:
        """Keep what is displayed."""
        self._is_text = False
        self.outputs.append((dict(data), dict(metadata or {})))

    def clear_output(self, wait: bool = False) -> None:  # noqa: FBT001, FBT002 - IPython's
        """Forget what was kept: something else takes its place."""
        self.outputs, self._is_text = [], False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._publisher, name)


def offer_after() -> None:
    """Add `%%after` to the shell of this kernel, if there is one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        add_to(shell)


def add_to(shell: Any) -> None:
    """Add `%%after` to an IPython shell.

    >>> from IPython.core.interactiveshell import InteractiveShell
    >>> add_to(InteractiveShell.instance())
    """

    def after(line: str, cell: str) -> None:
        """Run a cell, and hold back what it shows until a question is answered: `%%after asked`."""
        found = shell.user_ns.get(line.strip())
        asked = getattr(found, "prediction", found)
        if not isinstance(asked, AskedQuestion):
            raise TypeError(f"%%after {line}: {line.strip() or 'nothing'} is no question; "
                             'make one in a cell before: asked = kvolsched.ask("...", "yes", "no")')  # fmt: skip
        hold_back(shell, asked, cell)

    shell.register_magic_function(after, "cell", NAME)


def hold_back(shell: Any, asked: AskedQuestion, cell: str) -> None:
    """Run a cell in a shell, and show its output when a question is open."""
    publish = shell.display_pub.publish
    held, is_shown = Held(shell.display_pub), True
    try:
        with _into(held, shell):
            _run(shell, cell)
        is_shown = asked.is_open
    finally:
        held.outputs = [(data, metadata) for data, metadata in held.outputs if _lasts(shell, data)]
        for data, metadata in held.outputs if is_shown else ():
            publish(data, metadata)
    if is_shown or not held.outputs:
        return
    places = [uuid4().hex for _ in held.outputs]
    locks: list[dict[str, Any]] = [seal([data for data, _ in held.outputs], asked.right), *({} for _ in places[1:])]
    for place, lock in zip(places, locks, strict=True):
        publish(lock, {}, transient={"display_id": place})

    def show() -> None:
        for place, (data, metadata) in zip(places, held.outputs, strict=True):
            publish(data, metadata, transient={"display_id": place}, update=True)

    asked.when_open(show)


def _lasts(shell: Any, data: dict[str, Any]) -> bool:
    """Whether what is displayed is still there: a widget that was closed, such as a bar of progress, is not."""
    return WIDGET not in data or data[WIDGET]["model_id"] in shell.kernel.comm_manager.comms


@contextmanager
def _into(held: Held, shell: Any) -> Iterator[None]:
    """Let everything that is printed and displayed go to `held`."""
    publisher, shell.display_pub = shell.display_pub, held
    try:
        with redirect_stdout(held), redirect_stderr(held):
            yield
    finally:
        shell.display_pub = publisher


def _run(shell: Any, cell: str) -> None:
    """Run a cell as IPython does: its last expression is displayed."""
    source = shell.transform_cell(cell)
    name = shell.compile.cache(source, shell.execution_count, raw_code=cell)  # a traceback shows its lines
    body = ast.parse(source, name).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) and not cell.rstrip().endswith(";") else None
    exec(compile(ast.Module(body, []), name, "exec"), shell.user_ns)  # noqa: S102 - the reader's own cell
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), name, "eval"), shell.user_ns)  # noqa: S307
        if value is not None:
            data, metadata = shell.display_formatter.format(value)
            if data:
                shell.display_pub.publish(data, metadata)
