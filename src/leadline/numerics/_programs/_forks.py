"""Forks of a process in which JAX runs.

JAX computes in threads, and a fork has none of them: the first program that it ran would wait for
ever. So whether a process is such a fork is noted as it begins, and its programs refuse to run.
What it does beside is as good as ever.
"""

from __future__ import annotations

import os

_REFUSAL = (
    "This process was forked from one in which JAX had started its threads. A fork has none of "
    "them, so it would hang here. Start processes that use Leadline with "
    "multiprocessing.get_context('spawn') or 'forkserver', or fork before anything is computed."
)

# Whether JAX had begun when this process was forked; and the same, for a fork that is being made.
forked = False
_begun = False


def refuse_forks() -> None:
    """Raise an error where a fork would hang.

    Raises:
        RuntimeError: this process is a fork of one in which JAX runs.
    """
    if forked:
        raise RuntimeError(_REFUSAL)


def _before() -> None:
    # JAX has no public way to ask.
    from jax._src import xla_bridge

    global _begun
    _begun = xla_bridge.backends_are_initialized()


def _in_child() -> None:
    global forked
    forked = _begun


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_child=_in_child)
