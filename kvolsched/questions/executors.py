"""Work on other processors: any executor of `concurrent.futures`, or a function that makes one, and what travels there.

A result is told with the number of its task, in any order: whoever needs an order makes it. A pool that breaks is made
again if a function makes it; an executor that was handed in is not replaced.
"""

import importlib
import pickle
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future
from itertools import islice
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

AnyExecutor = Executor | Callable[[], Executor]

MAX_SUBMITTED = 1024  # calls that an executor has at one time
MAX_NEW_POOLS = 3  # times that a factory is asked again after its pool broke
INSTALL = "a lambda or a function of a cell needs cloudpickle: pip install 'kvolsched[parallel]'"


class Workers:
    """An executor, or the pool that a function makes, for as long as the context lasts. Mutable.

    Raises:
        BrokenExecutor: the executor broke, or the pools that were made broke again and again.
        ValueError: the function or a value does not travel to other processes.
    """

    def __init__(self, executor: AnyExecutor) -> None:
        self._make = None if isinstance(executor, Executor) else executor
        self._pool = executor if isinstance(executor, Executor) else None
        self._left = MAX_NEW_POOLS

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._drop()

    def _drop(self) -> None:
        """Shut down a pool that was made here."""
        if self._make is not None and self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def results(self, function: Callable[..., Any], tasks: Mapping[int, tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Yield (number, what the function returns) of each task, as it comes; cancel the rest when stopped."""
        todo = dict(tasks)
        while todo:
            try:
                if self._pool is None and self._make is not None:
                    self._pool = self._make()
                for number, result in self._submitted(function, todo):
                    del todo[number]
                    yield number, result
            except BrokenExecutor:
                self._drop()
                if self._make is None or not self._left:
                    raise
                self._left -= 1

    def _submitted(
        self, function: Callable[..., Any], tasks: Mapping[int, tuple[Any, ...]]
    ) -> Iterator[tuple[int, Any]]:
        assert self._pool is not None
        waiting: dict[Future[Any], int] = {}
        done: SimpleQueue[Future[Any]] = SimpleQueue()
        left = iter(list(tasks.items()))
        try:
            while True:
                for number, arguments in islice(left, MAX_SUBMITTED - len(waiting)):
                    future = self._pool.submit(function, *arguments)
                    waiting[future] = number
                    future.add_done_callback(done.put)
                if not waiting:
                    return
                future = done.get()
                yield waiting.pop(future), future.result()
        except (pickle.PicklingError, AttributeError, TypeError) as why:
            raise ValueError(f"the function or a value does not travel to other processes: {why}") from None
        finally:
            for future in waiting:
                future.cancel()


class Portable:
    """A value that travels to other processes: by value if cloudpickle is installed, else by its name.

    A function can be called through it.
    """

    def __init__(self, f: Any) -> None:
        self.f = f

    def __call__(self, **point: Any) -> Any:
        return self.f(**point)

    def __reduce__(self) -> tuple[Any, ...]:
        return unpacked, (packed(self.f),)


def packed(value: Any) -> bytes:
    """Return a value as bytes that another process reads; functions by value if cloudpickle is installed.

    Raises:
        PicklingError: the value does not travel; the message says what to install.
    """
    try:
        cloudpickle = importlib.import_module("cloudpickle")
    except ImportError:
        try:
            return pickle.dumps(value)
        except (pickle.PicklingError, AttributeError, TypeError) as why:
            raise pickle.PicklingError(f"{why}; {INSTALL}") from None
    return bytes(cloudpickle.dumps(value))


def unpacked(packed: bytes) -> Portable:
    """Return a value that came from another process."""
    return Portable(pickle.loads(packed))  # noqa: S301 - our own bytes, from the process that asks
