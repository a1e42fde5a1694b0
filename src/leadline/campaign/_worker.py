"""What workers run: processes of our own, and the executors of others.

This text runs in processes that have nothing of this package (see `_shipped.py`), so it may import
the standard library only.
"""

import contextlib
import multiprocessing.util
import os
import pickle
import signal
import time
import traceback


def serve(connection):
    """Make the calls that come through a connection, until it is closed.

    Before each call it says that the call begins: by then the function is loaded. What cannot be
    loaded ends the process. The campaign ends workers itself: Ctrl-C is not for them.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # These say that the campaign is gone, however it ended.
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            f, args, kwargs = pickle.loads(connection.recv_bytes())
            connection.send(None)
            connection.send(call(f, args, kwargs))


def _leave(number, _):
    """End as soon as possible, and whatever processes the function has started."""
    multiprocessing.util._exit_function()  # pyright: ignore[reportAttributeAccessIssue]
    os._exit(128 + number)


def call(f, args, kwargs):
    """(the pickled value, nothing) or (None, (reason, traceback, seconds)).

    Not every error and value can be unpickled, so errors travel as text, and values as bytes.
    """
    start = time.perf_counter()
    try:
        return pickle.dumps(f(*args, **kwargs)), None
    except BaseException as error:
        seconds = time.perf_counter() - start
        reason = "".join(traceback.format_exception_only(error)).strip()
        return None, (reason, "".join(traceback.format_exception(error)), seconds)


def timed(f, note, argument):
    """(seconds, value) of a call, which says first that it has begun, if a note says where."""
    if note is not None:
        _say(*note)
    start = time.perf_counter()
    value = f(argument)
    return time.perf_counter() - start, value


def _say(medium, *where):
    if medium == "file":
        (path,) = where
        # A campaign that waits no more has taken its folder with it.
        with contextlib.suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    else:
        from distributed import get_worker

        get_worker().log_event(*where)
