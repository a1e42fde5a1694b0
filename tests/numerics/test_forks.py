"""Forks of a process in which JAX runs: an error instead of a program that never ends."""

import multiprocessing
import subprocess
import sys

import jax
import numpy as np
import pytest

from leadline import GP, minimize
from leadline.kernels import Matern52

# JAX warns of every fork.
pytestmark = [
    pytest.mark.filterwarnings("ignore:os.fork"),
    pytest.mark.skipif(sys.platform == "win32", reason="there are no forks"),
]


def fit(calls):
    GP(Matern52()).fit(np.linspace(0.0, 1.0, 5)[:, None], np.arange(5.0))


def campaign(calls):
    """By a model, after a design."""
    minimize(lambda x: calls.append(x) or float(x[0]), [(0.0, 1.0)], budget=7, progress=False)


def nothing_of_ours(calls):
    np.linalg.cholesky(np.eye(200))


def in_a_fork(use):
    """What became of it in a fork: the error, and how many calls were made."""
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)
    process = fork.Process(target=_report, args=(use, theirs))
    process.start()
    theirs.close()
    try:
        assert ours.poll(30.0), "it hangs"
        return ours.recv()
    finally:
        process.kill()
        process.join()


def _report(use, connection):
    calls = []
    try:
        use(calls)
        connection.send(("", len(calls)))
    except BaseException as error:
        connection.send((f"{type(error).__name__}: {error}", len(calls)))


@pytest.mark.parametrize("use", [fit, campaign])
def test_a_program_in_a_fork_is_an_error_before_any_call(use):
    jax.numpy.zeros(1)
    error, calls = in_a_fork(use)
    assert error.startswith("RuntimeError: This process was forked")
    assert "get_context('spawn') or 'forkserver'" in error
    assert calls == 0


def test_a_fork_that_needs_no_program_is_left_alone():
    jax.numpy.zeros(1)
    assert in_a_fork(nothing_of_ours) == ("", 0)


@pytest.mark.slow
def test_a_fork_of_a_process_that_has_only_imported_it_works():
    code = "from tests.numerics.test_forks import *; print(*map(in_a_fork, (fit, campaign)))"
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ran.stdout == "('', 0) ('', 7)\n", ran.stderr
