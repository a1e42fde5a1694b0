"""What a worker process runs.

This file is run by its path in a worker (see `_processes.py`), so it may import the standard
library only. An error that cannot be unpickled would end the whole pool, and so would such a value:
errors travel as text, and values as bytes.
"""

import pickle
import time
import traceback


def call(f, args, kwargs):
    """(seconds, the pickled value, nothing) or (seconds, None, (reason, traceback))."""
    start = time.perf_counter()
    try:
        value = f(*args, **kwargs)
        seconds = time.perf_counter() - start
        return seconds, pickle.dumps(value), None
    except BaseException as error:
        reason = "".join(traceback.format_exception_only(error)).strip()
        text = "".join(traceback.format_exception(error))
        return time.perf_counter() - start, None, (reason, text)
