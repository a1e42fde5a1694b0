"""One worker process: given calls one after another, and ended.

Workers are spawned, never forked: a fork of a process with JAX's threads can hang. All that a
worker shares with this process is a connection of its own, whose end it sees however either of
them ends. There is no lock between workers, which one that is killed could hold for ever, and which
would be left behind in the system when this process is.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
import time
from collections.abc import Iterator
from multiprocessing import resource_tracker
from typing import Any

from leadline.campaign._failures import CallFailed, ExecutorFailed
from leadline.campaign._shipped import Shipped

# Seconds between two looks at whether a silent worker is alive: its end of the connection may be
# held open by processes that it has forked.
_GLANCE = 0.5
# Seconds that a worker has to end by itself.
_MERCY = 3.0


class _Ended(Exception):
    """The worker is gone."""


class WorkerProcess:
    """A process that makes calls; when a call ends it, the next call starts another one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = False
        self._start()

    def call(self, f: Any, args: tuple, kwargs: dict, timeout: float | None) -> tuple:
        """What `_worker.call` returns.

        Args:
            f: the function.
            args: its arguments.
            kwargs: its keyword arguments.
            timeout: seconds from the call's begin in the worker after which both are ended.

        Raises:
            CallFailed: the call ended its process, or was ended.
            ExecutorFailed: the worker does not start, or cannot load the function.
        """
        if not self._process.is_alive():
            self._start()
        try:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._connection.send((f, args, kwargs))
            self._receive(None)
        except _Ended:
            self.end(_MERCY)
            raise ExecutorFailed(
                "The worker processes do not start, or cannot load the function: their own errors "
                "are on standard error. A script that uses executor='processes' calls the verb "
                "under `if __name__ == '__main__':`."
            ) from None
        begin = time.perf_counter()
        try:
            return self._receive(timeout)
        except _Ended:
            self.end(_MERCY)
            reason = f"its worker process ended with exit code {self._process.exitcode}"
        except TimeoutError:
            self.end()
            reason = f"took longer than timeout={timeout:g} s and was ended"
        raise CallFailed(reason, seconds=time.perf_counter() - begin)

    def close(self) -> None:
        """Let the process end, and never start another one."""
        with self._lock:
            self._closed = True
            self._process.terminate()

    def end(self, patience: float = 0.0) -> None:
        """End the process, and the call that runs in it; wait until it is gone.

        Args:
            patience: seconds in which it may end by itself.
        """
        with self._lock:
            self._process.join(patience)
            self._process.terminate()
            self._process.join(_MERCY)
            self._process.kill()
            # Its exit code is known a moment later if another thread looks for it too.
            while self._process.is_alive():
                self._process.join(_GLANCE)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        with self._lock:
            if self._closed:
                raise ExecutorFailed("The worker processes were ended.")
            ours, theirs = context.Pipe()
            process = context.Process(
                target=Shipped("serve"), args=(theirs,), name="leadline-worker"
            )
            try:
                with theirs, _deaf():
                    process.start()
            except (RuntimeError, OSError) as error:
                # In a worker that runs the caller's script again, because it has no
                # `if __name__ == "__main__"`, this is the error.
                ours.close()
                raise ExecutorFailed("The worker processes did not start.") from error
            self._process, self._connection = process, ours

    def _receive(self, timeout: float | None) -> Any:
        """The worker's next message.

        Raises:
            TimeoutError: none came in time.
            _Ended: none will come.
        """
        limit = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            left = limit - time.monotonic()
            # In this order: what a worker said before it ended is read.
            alive = self._process.is_alive()
            try:
                if self._connection.poll(max(0.0, min(left, _GLANCE)) if alive else 0.0):
                    return self._connection.recv()
            except (EOFError, OSError):
                raise _Ended from None
            if not alive:
                raise _Ended
            if left <= 0.0:
                raise TimeoutError


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """A process that starts in the block does not hear Ctrl-C, from its first moment on.

    On a terminal Ctrl-C is for every process, and one that is starting would fill it with errors.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # It starts with the first worker, and would take the block off.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
