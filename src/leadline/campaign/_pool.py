"""Where calls run: the executor that the options ask for, and how many calls it takes at once."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import Any

from leadline.boundary import InvalidData
from leadline.campaign._failures import ExecutorFailed
from leadline.campaign._options import CampaignOptions
from leadline.campaign._processes import WorkerProcesses, check_picklable
from leadline.campaign._shipped import Timed
from leadline.campaign._starts import Files, Futures, Messages
from leadline.campaign._threads import CallingThread, DaemonThreads


@dataclasses.dataclass(frozen=True)
class Pool:
    """An executor, and how to use it.

    Attributes:
        executor: takes the calls.
        slots: how many calls may run at once.
        timeout: seconds after which a call is given up; None if the executor sees to it, or if
            there is no limit.
        ours: whether the campaign made the executor, and so ends it.
        keywords: what `submit` takes beside the call.
        starts: how it is known that a call has begun.
        timed: whether calls are measured where they run: then they return (seconds, value).
    """

    executor: Executor
    slots: int
    timeout: float | None = None
    ours: bool = True
    keywords: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    starts: Futures = dataclasses.field(default_factory=Futures)
    timed: bool = True

    def submit(self, f: Callable, point: Any) -> tuple[Future, Callable[[], bool]]:
        """Hand in a call: its future, and whether the call has begun.

        Raises:
            ExecutorFailed: the executor does not take it.
        """
        note = self.starts.note()
        call = Timed(f, note) if self.timed else f
        try:
            future = self.executor.submit(call, point, **self.keywords)
        except Exception as error:
            raise ExecutorFailed(f"The executor takes no calls: {error!r}.") from error
        return future, functools.partial(self.starts.begun, future, note)

    def close(self) -> None:
        """End the executor, and what it runs, if it is the campaign's own."""
        self.starts.close()
        if self.ours:
            self.executor.shutdown(wait=False)


def open_pool(options: CampaignOptions, f: Callable) -> Pool:
    """The pool that the options ask for."""
    executor, slots = options.executor, options.workers or options.calls_of_a_round or 1
    if executor == "processes":
        check_picklable(f)
        return Pool(WorkerProcesses(slots, options.timeout), slots)
    # The calls of a round run in threads; a vectorized round is one call.
    in_turn = slots == 1 and (options.vectorized or not options.batch)
    if executor is None and in_turn and options.timeout is None:
        return Pool(CallingThread(), 1, timed=False)
    if executor is None or isinstance(executor, str):
        return Pool(DaemonThreads(), slots, options.timeout, timed=False)
    if isinstance(executor, ProcessPoolExecutor):
        check_picklable(f)
    client = _dask_client(executor)
    # Dask takes a call for pure: the same point would not be called a second time.
    keywords = {} if client is None else {"pure": False}
    slots = options.workers or _capacity(executor) or options.calls_of_a_round
    if not slots:
        raise InvalidData(
            f"How many calls {type(executor).__name__} runs at once is not known: give workers=."
        )
    starts = Futures()
    if options.timeout is not None and client is not None:
        starts = Messages(client)
    elif options.timeout is not None and isinstance(executor, ProcessPoolExecutor):
        starts = Files()
    return Pool(executor, slots, options.timeout, False, keywords, starts)


def _capacity(executor: Executor) -> int | None:
    """How many calls a foreign executor runs at once, if it says so."""
    client = _dask_client(executor)
    if client is not None:
        return sum(client.nthreads().values()) or None
    return getattr(executor, "_max_workers", None)


def _dask_client(executor: Executor) -> Any:
    """The client behind Dask's executor, None for others; without an import of Dask."""
    ours = type(executor).__module__.partition(".")[0] == "distributed"
    return getattr(executor, "_client", None) if ours else None
