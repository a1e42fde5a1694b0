"""Calls in worker processes that can be ended."""

from __future__ import annotations

import contextlib
import pickle
import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from multiprocessing import util
from typing import Any, NamedTuple

from leadline.boundary import InvalidData
from leadline.campaign._failures import CallFailed
from leadline.campaign._interrupts import uninterrupted
from leadline.campaign._worker_process import WorkerProcess


class WorkerProcesses(Executor):
    """Worker processes; a call past `timeout` seconds is ended, with the process that runs it.

    Each worker has a thread here that gives it calls and waits for what becomes of them.

    Args:
        workers: how many.
        timeout: of each call, counted from its start in the worker; None: no limit.

    Raises:
        ExecutorFailed: they do not start.
    """

    def __init__(self, workers: int, timeout: float | None = None):
        self._tasks: queue.SimpleQueue = queue.SimpleQueue()
        started: list[WorkerProcess] = []
        # Python waits for its child processes when it exits, and runs this before.
        self._end = util.Finalize(self, _close, (started,), exitpriority=100)
        try:
            # Half of a start would be a process that complains.
            with uninterrupted():
                for _ in range(workers):
                    started.append(WorkerProcess())
        except BaseException:
            self._end()
            raise
        for worker in started:
            attend = threading.Thread(
                target=_attend, args=(worker, self._tasks, timeout), daemon=True
            )
            attend.start()
        self._workers = workers

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future:
        """The future of a call; its error is a `CallFailed`."""
        future: Future = Future()
        self._tasks.put(_Task(future, fn, args, kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the workers and the calls that run in them."""
        self._end()
        with contextlib.suppress(queue.Empty):
            while True:
                self._tasks.get_nowait().future.cancel()
        for _ in range(self._workers):
            self._tasks.put(None)


class _Task(NamedTuple):
    future: Future
    fn: Any
    args: tuple
    kwargs: dict


def _close(workers: list[WorkerProcess]) -> None:
    for worker in workers:
        worker.close()
    for worker in workers:
        worker.end()


def _attend(worker: WorkerProcess, tasks: queue.SimpleQueue, timeout: float | None) -> None:
    """Give calls to a worker, one after another."""
    while (task := tasks.get()) is not None:
        _make(task, worker, timeout)
        # What a call was given and returned is not kept until the next one.
        del task


def _make(task: _Task, worker: WorkerProcess, timeout: float | None) -> None:
    """Make a call, and fill its future."""
    if not task.future.set_running_or_notify_cancel():
        return
    try:
        value, failure = worker.call(task.fn, task.args, task.kwargs, timeout)
        if failure:
            raise CallFailed(*failure)
        task.future.set_result(pickle.loads(value))
    except BaseException as error:
        task.future.set_exception(error)


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
