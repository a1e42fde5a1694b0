"""BLAS threads: limited inside, as before outside, whatever happens inside."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import OpenBLASController, ThreadpoolController

from leadline.numerics import blas_threads_for
from leadline.numerics._programs._threads import _LARGE


def threads() -> list[int]:
    found = ThreadpoolController().select(user_api="blas").info()
    return [library["num_threads"] for library in found]


@pytest.fixture(autouse=True)
def two_threads():
    before = ThreadpoolController().limit(limits=2, user_api="blas")
    # As if the user had set this once and for all: whoever comes next may change it.
    getattr(OpenBLASController, "clear_controlling_thread", bool)()
    assert set(threads()) == {2}
    yield
    before.restore_original_limits()
    getattr(OpenBLASController, "clear_controlling_thread", bool)()


def test_small_matrices_get_one_thread():
    with blas_threads_for(100):
        assert set(threads()) == {1}
    assert set(threads()) == {2}


def test_large_matrices_keep_theirs():
    with blas_threads_for(_LARGE):
        assert set(threads()) == {2}
    assert set(threads()) == {2}


def test_an_exception_takes_the_limit_away():
    with pytest.raises(RuntimeError, match="inside"), blas_threads_for(100):
        raise RuntimeError("inside")
    assert set(threads()) == {2}


def test_inside_one_another():
    with blas_threads_for(100):
        with blas_threads_for(50):
            assert set(threads()) == {1}
        assert set(threads()) == {1}
    assert set(threads()) == {2}


def test_threads_that_overlap():
    """The first to come leaves first, and nothing of the limit is left when both are gone."""
    first_in, second_in, first_out = (threading.Event() for _ in range(3))

    def first():
        with blas_threads_for(100):
            assert set(threads()) == {1}
            first_in.set()
            second_in.wait(10)
        first_out.set()

    with ThreadPoolExecutor(1) as executor:
        done = executor.submit(first)
        assert first_in.wait(10)
        with blas_threads_for(100):
            assert set(threads()) == {1}
            second_in.set()
            assert first_out.wait(10)
        done.result(10)
        assert set(threads()) == {2}
