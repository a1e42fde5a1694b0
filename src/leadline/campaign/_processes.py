"""Calls in worker processes that can be ended.

Workers are spawned, never forked: a fork of a process with JAX's threads can hang. What a worker
runs travels as the path of a file and not as a name in this package, so that a worker imports the
user's module and nothing of ours.
"""

from __future__ import annotations

import multiprocessing
import operator
import pickle
import runpy
import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from pathlib import Path
from typing import Any

from leadline.boundary import InvalidData
from leadline.campaign import _worker
from leadline.campaign._failures import CallFailed, ExecutorFailed


class WorkerProcesses(Executor):
    """Worker processes; a call past `timeout` seconds is ended, with the process that runs it.

    Args:
        workers: how many.
        timeout: of each call, counted from its start in the worker; None: no limit.
    """

    def __init__(self, workers: int, timeout: float | None = None):
        from pebble import ProcessPool

        self._timeout = timeout
        self._pool = ProcessPool(workers, context=multiprocessing.get_context("spawn"))
        # Starts the workers now: in a worker that runs the caller's script again, because it has
        # no `if __name__ == "__main__"`, this is the error, before any trial is claimed.
        if not self._pool.active:
            raise ExecutorFailed("The worker processes did not start.")

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future:
        """The future of a call; its error is a `CallFailed`."""
        future: Future = Future()
        future.set_running_or_notify_cancel()
        ran = self._pool.schedule(_Call(), args=(fn, args, kwargs), timeout=self._timeout)
        ran.add_done_callback(lambda ran: self._pass_on(ran, future))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the workers and the calls that run in them."""
        self._pool.stop()
        self._pool.join()

    def _pass_on(self, ran: Future, future: Future) -> None:
        """Fill the caller's future from the pool's."""
        try:
            seconds, value, failure = ran.result()
            future.seconds = seconds  # type: ignore[attr-defined]
            if failure:
                raise CallFailed(*failure)
            future.set_result(pickle.loads(value))
        except BaseException as error:
            future.set_exception(self._explained(error))

    def _explained(self, error: BaseException) -> BaseException:
        from pebble import ProcessExpired

        if isinstance(error, TimeoutError):
            return CallFailed(f"took longer than timeout={self._timeout:g} s and was ended")
        if isinstance(error, ProcessExpired):
            return CallFailed(f"its worker process ended with exit code {error.exitcode}")
        if isinstance(error, CancelledError):
            return CallFailed("was cancelled")
        if isinstance(error, BrokenExecutor):
            return ExecutorFailed(
                "The worker processes do not start, or cannot load the function: their own errors "
                "are on standard error. A script that uses executor='processes' calls the verb "
                "under `if __name__ == '__main__':`."
            )
        return error


def check_picklable(f: Callable) -> None:
    """Refuse a function that a worker process cannot load."""
    problem = None
    try:
        pickle.dumps(f)
    except Exception as error:
        problem = str(error)
    main = sys.modules["__main__"]
    if getattr(f, "__module__", None) == "__main__" and not hasattr(main, "__file__"):
        problem = "it was defined interactively"
    if problem:
        raise InvalidData(
            "Worker processes need a function that a new process can load: one at the top "
            f"level of a module or script, not a lambda or an inner function. {f!r}: {problem}."
        )


class _WorkerModule:
    """The globals of `_worker.py`; unpickling runs the file."""

    def __reduce__(self) -> tuple:
        return runpy.run_path, (str(Path(__file__).with_name("_worker.py")),)


class _Call:
    """The function `call` of `_worker.py`; unpickling it imports nothing of this package."""

    def __call__(self, f: Any, args: Any, kwargs: Any) -> tuple:
        return _worker.call(f, args, kwargs)

    def __reduce__(self) -> tuple:
        return operator.getitem, (_WorkerModule(), "call")
