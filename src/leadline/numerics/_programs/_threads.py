"""BLAS threads, limited around our own calls only.

On small matrices a second BLAS thread gains nothing on a quiet machine and loses a factor of ten
or more on a busy one, because idle threads spin; they also take the cores from the threads of XLA,
which does our matrix products. From `_LARGE` rows on it pays. The limit is
process-wide while it holds, so it is never held while the user's code runs, and of several threads
that are inside at once only the first one sets it: another one would take that limit for the user's
own, and restore it last.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from threadpoolctl import ThreadpoolController

from leadline.numerics._programs._rehearsal import rehearsal_pool

_LARGE = 4096

_limiting = threading.Lock()


@cache
def _controller() -> ThreadpoolController:
    # JAX calls the BLAS that SciPy ships; it must be loaded to be found.
    import scipy.linalg  # noqa: F401

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def blas_threads_for(rows: int) -> Iterator[None]:
    """Run the body with the number of BLAS threads that suits matrices of `rows` rows.

    The body must wait for its results (`jax.block_until_ready`), or they are computed outside.
    """
    # In a rehearsal nothing is computed, and the user's code may be running.
    if rows >= _LARGE or rehearsal_pool() is not None or not _limiting.acquire(blocking=False):
        yield
        return
    try:
        with _controller().limit(limits=1):
            yield
    finally:
        _limiting.release()
