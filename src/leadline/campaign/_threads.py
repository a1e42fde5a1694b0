"""Executors inside this process: the calling thread, and a thread for each call."""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future
from typing import Any


class CallingThread(Executor):
    """Calls at once, in the thread that submits.

    Ctrl-C interrupts such a call, and code that insists on the main thread works.
    """

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future:
        """The call's future, which is done."""
        future: Future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            future.set_exception(error)
        return future


class DaemonThreads(Executor):
    """A new daemon thread for each call.

    A call that was given up holds no slot, and does not keep the interpreter from exiting.
    """

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future:
        """The future of a call that runs."""
        future: Future = Future()
        future.set_running_or_notify_cancel()

        def call() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=call, name="leadline-call", daemon=True).start()
        return future
