"""When an answer of the driver is published: after a lag, by so many workers, at so many writes a second.

What is published is therefore old: the driver answered before other volumes took room. Mirrors external-provisioner's
flags `--capacity-threads` and `--kube-api-capacity-qps`; the lag stands for the time that calls and writes take.
"""

from collections.abc import Callable, Mapping

import attrs

from ...world.component import TurnContext
from ...world.digest import DIGEST_WAIT, Until
from ...world.storage_pools import CapacityResponse

ANSWER = "answer"  # sort of the notes, and name of the view: one for each answer that is yet to be published


@attrs.frozen
class PendingAnswer:
    """A note: what the driver answered, when that is published, and whether it is to be asked again then."""

    response: CapacityResponse
    until: float = attrs.field(metadata=DIGEST_WAIT)
    again: bool = False


@attrs.frozen
class PublishingPace:
    """How fast a driver's answers are published.

    Args:
        lag: seconds from an answer to its write.
        workers: how many capacities are asked for and written at once.
        qps: how many writes a second there are at most; 0: any number.
    """

    lag: float
    workers: int
    qps: float

    def answer(
        self, ctx: TurnContext, cause: str, ask: Callable[[], CapacityResponse],
        is_news: Callable[[CapacityResponse], bool]
    ) -> CapacityResponse | None:
        """Return the answer about a capacity that is to be written now, None if there is none yet.

        The cause is woken when its answer is due, or when a worker is free to ask for it.
        """
        if not self.lag and not self.qps:
            return ask()
        noted: PendingAnswer | None = ctx.note(ANSWER, cause)
        if noted is not None and noted.until > ctx.now:
            ctx.remember(ANSWER, cause, attrs.evolve(noted, again=True))
            ctx.wake_after(cause, noted.until - ctx.now)
            return None
        if noted is not None:
            ctx.remember(ANSWER, cause, None)
            if noted.again:
                ctx.enqueue(cause)
            return noted.response
        under_way: Mapping[str, PendingAnswer] = ctx.views[ANSWER].items
        if len(under_way) >= self.workers:
            ctx.wake_after(cause, max(0.0, min(other.until for other in under_way.values()) - ctx.now))
            return None
        return self._later(ctx, cause, ask(), is_news)

    def _later(
        self, ctx: TurnContext, cause: str, response: CapacityResponse, is_news: Callable[[CapacityResponse], bool]
    ) -> CapacityResponse | None:
        """Note an answer that is published later; return one that can be published now or is no news."""
        if not is_news(response):
            return response
        due, next_write = ctx.now + self.lag, ctx.note("next write", "")
        if self.qps:
            due = max(due, next_write.time if next_write is not None else 0.0)
            ctx.remember("next write", "", Until(due + 1.0 / self.qps))
        if due <= ctx.now:
            return response
        ctx.remember(ANSWER, cause, PendingAnswer(response, due))
        ctx.wake_after(cause, due - ctx.now)
        return None

    @staticmethod
    def forget(ctx: TurnContext, cause: str) -> None:
        """Drop the answer about a capacity that is not wanted any more."""
        ctx.remember(ANSWER, cause, None)
