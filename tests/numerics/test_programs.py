"""Programs: one for each signature, whoever makes it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline.numerics import quick_jit, rehearsing
from leadline.numerics._programs import forget_programs


class Pair(NamedTuple):
    total: object
    name: str


class Module(eqx.Module):
    weight: jax.Array
    power: int = eqx.field(static=True)


def _pair(x, n):
    return Pair(jnp.sin(x) * n, f"times {n}")


def test_a_program_is_the_same_function(compilations):
    program = quick_jit(_pair)
    one, other = jax.device_put((np.arange(3.0), np.ones(3)))
    found = program(one, 2)
    np.testing.assert_allclose(found.total, 2 * np.sin(np.arange(3.0)), rtol=1e-15)
    assert found.name == "times 2"
    before = compilations[0]
    program(other, 2)
    program(np.ones(3), 2)
    assert compilations[0] == before
    program(other, 3)
    assert compilations[0] == before + 1


def test_constants_that_are_equal_but_of_other_types_are_told_apart():
    program = quick_jit(lambda x, n: (x, n))
    for n in (1, 1.0, True):
        assert type(program(np.ones(2), n)[1]) is type(n)


def test_modules_go_in_and_come_out():
    @quick_jit
    def grow(module, x):
        return Module(module.weight + x, module.power), module.weight**module.power

    module = Module(jnp.arange(2.0), 3)
    grown, powers = grow(module, np.float64(1.0))
    assert isinstance(grown, Module)
    assert grown.power == 3
    np.testing.assert_array_equal(grown.weight, [1.0, 2.0])
    np.testing.assert_array_equal(powers, [0.0, 1.0])


def test_inside_a_trace_the_function_is_called():
    program = quick_jit(lambda x: x**2)
    assert float(jax.grad(lambda x: program(x))(3.0)) == 6.0
    np.testing.assert_array_equal(jax.jit(program)(np.arange(3.0)), [0.0, 1.0, 4.0])


def test_a_rehearsal_makes_the_programs_and_runs_none(compilations):
    ran = []

    @quick_jit
    def first(x):
        jax.debug.callback(lambda: ran.append(1))
        return {"value": x + 1.0, "kind": "sum"}

    second = quick_jit(lambda x: (x[:2] * 2.0, jax.random.key(0)))
    with ThreadPoolExecutor(2) as pool, rehearsing(pool):
        made_up = first(np.zeros(4))
        assert made_up["kind"] == "sum"
        assert made_up["value"].shape == (4,)
        assert np.isfinite(made_up["value"]).all()
        assert second(made_up["value"])[0].shape == (2,)
    assert not ran
    before = compilations[0]
    found = second(first(np.arange(4.0))["value"])[0]
    np.testing.assert_array_equal(found, [2.0, 4.0])
    assert compilations[0] == before
    assert ran


def test_a_call_waits_for_the_thread_that_has_begun():
    """And makes the program itself where nobody has: a full pool must not hold up anybody."""
    begun, go_on = threading.Event(), threading.Event()

    def slow(x):
        return x * 3.0

    program, other = quick_jit(slow), quick_jit(lambda x: x * 5.0)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: (begun.set(), go_on.wait()))
        begun.wait()
        with rehearsing(pool):
            program(np.ones(2))
            other(np.ones(2))
        np.testing.assert_array_equal(program(np.ones(2)), [3.0, 3.0])
        go_on.set()
    np.testing.assert_array_equal(other(np.ones(2)), [5.0, 5.0])


def test_what_fails_in_the_background_is_the_error_of_the_call(monkeypatch):
    def fails(x):
        return x + 1.0

    program = quick_jit(fails)
    lower = jax.stages.Traced.lower

    def refuse(self, *args, **kwargs):
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("no memory left")
        return lower(self, *args, **kwargs)

    monkeypatch.setattr(jax.stages.Traced, "lower", refuse)
    with ThreadPoolExecutor(1) as pool, rehearsing(pool):
        program(np.ones(7))
    with pytest.raises(RuntimeError, match="no memory left"):
        program(np.ones(7))
    np.testing.assert_array_equal(program(np.ones(7)), np.full(7, 2.0))


def test_threads_that_call_at_once_share_a_program(compilations):
    program = quick_jit(lambda x: jnp.cos(x))
    before = compilations[0]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(program, [np.full(5, i) for i in range(8)]))
    np.testing.assert_allclose(np.stack(found)[:, 0], np.cos(np.arange(8.0)), rtol=1e-14)
    assert compilations[0] == before + 1


def test_programs_can_be_forgotten(compilations):
    program = quick_jit(lambda x: x - 1.0)
    program(np.ones(3))
    forget_programs()
    before = compilations[0]
    np.testing.assert_array_equal(program(np.ones(3)), np.zeros(3))
    assert compilations[0] == before + 1
