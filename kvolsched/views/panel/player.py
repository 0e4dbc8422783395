"""Play: a step now and then, on the kernel's event loop, until something happens that is worth a look.

Between two steps the kernel is free. Without an event loop (a script, a test) nobody ticks but the caller.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from kvolsched.views.frame import Frame

SPEEDS = {"4/s": 0.25, "2/s": 0.5, "1/s": 1.0, "½/s": 2.0, "¼/s": 4.0}
"""Words of the speeds, and the seconds that a step takes."""


class Player:
    """Ticks until it is stopped. Mutable: it plays or it does not.

    Args:
        tick: makes one step, and says why playing is over; "" to go on.
        ended: is told why playing ended.
    """

    def __init__(self, tick: Callable[[], str], ended: Callable[[str], None]) -> None:
        self.tick, self.ended = tick, ended
        self.seconds = 1.0
        self.playing = False
        self._task: asyncio.Task[None] | None = None

    def play(self) -> None:
        """Begin to play; if there is an event loop, it ticks."""
        if self.playing:
            return
        self.playing = True
        with suppress(RuntimeError):  # no loop: somebody else calls `once`
            self._task = asyncio.get_running_loop().create_task(self._play())

    def stop(self, why: str = "") -> None:
        """Stop playing; the step that is being made is finished."""
        if self.playing:
            self.playing = False
            if self._task is not None:
                self._task.cancel()
                self._task = None
            self.ended(why)

    def once(self) -> None:
        """Make one step of playing, and stop if it says why."""
        if self.playing:
            try:
                why = self.tick()
            except BaseException as error:
                self._over(f"{type(error).__name__}")
                raise
            if why:
                self._over(why)

    def _over(self, why: str) -> None:
        self.playing, self._task = False, None  # the task is this one: it ends by itself
        self.ended(why)

    async def _play(self) -> None:
        while self.playing:
            await asyncio.sleep(self.seconds)
            self.once()


def failure(frame: Frame) -> str:
    """Return in words what failed in the present step: a refused write, a warning, a crash; "" if nothing did."""
    step = frame.head.step
    refused = next((row for row in frame.changes if row.outcome != "done"), None)
    if refused is not None:
        return f"{refused.outcome}: {refused.ref}"
    warning = next((row for row in frame.events if row.step == step and row.type == "Warning"), None)
    if warning is not None:
        return f"{warning.reason}: {warning.ref}"
    marks = ((lane.label, mark) for lane in frame.lanes for mark in lane.marks if mark.step == step)
    return next((f"{label} crashed" for label, mark in marks if mark.kind == "crash"), "")
