"""Forks of a process in which JAX runs.

JAX computes in threads, and a fork has none of them: the first program that it ran would wait for
ever. So whether a process is such a fork is noted as it begins, and its programs refuse to run.
What it does beside is as good as ever.
"""

from __future__ import annotations

import os

import jax

_REFUSAL = (
    "This process was forked from one in which JAX had started its threads. A fork has none of "
    "them, so it would hang here. Start processes that use Leadline with "
    "multiprocessing.get_context('spawn') or 'forkserver', or fork before anything is computed."
)

# Whether this process is a fork of one in which JAX ran; and whether JAX runs in this one.
forked = False
_begun = False


def jax_begins(*_: object, **__: object) -> None:
    """Take note that JAX has something to do, and so starts its threads.

    JAX has no public way to ask. It says when it compiles; what comes before that in a model or in
    a program that was kept on the disk calls this itself.
    """
    global _begun
    _begun = True


def refuse_forks() -> None:
    """Raise an error where a fork would hang.

    Raises:
        RuntimeError: this process is a fork of one in which JAX runs.
    """
    if forked:
        raise RuntimeError(_REFUSAL)


def _in_child() -> None:
    global forked
    forked = _begun


jax.monitoring.register_event_duration_secs_listener(jax_begins)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
