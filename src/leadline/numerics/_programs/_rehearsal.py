"""Rehearsals: going through a computation to learn which programs it needs, without computing.

Inside `rehearsing`, a program that is called is not run. It is handed to a pool of threads that
make it (`_programs.py`), and its answer is made up: arrays of the right shapes in which every entry
is the same. What follows from such an answer means nothing, but it goes on to call the programs
that a real computation would call.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import Executor

# A legal value of nearly every parameter, be it positive, real or a share.
MADE_UP = 0.5


class _Stage(threading.local):
    pool: Executor | None = None


_stage = _Stage()


@contextlib.contextmanager
def rehearsing(pool: Executor) -> Iterator[None]:
    """Let `pool` make the programs that the body calls in this thread; run none of them."""
    before, _stage.pool = _stage.pool, pool
    try:
        yield
    finally:
        _stage.pool = before


def rehearsal_pool() -> Executor | None:
    """Who makes programs for the rehearsal that this thread is in; None if it is in none."""
    return _stage.pool
