"""Sine and cosine against NumPy, compiled and not, their derivatives, and what has no phase."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline.numerics import sine_and_cosine

compiled = jax.jit(sine_and_cosine)
EPS = np.finfo(np.float64).eps


def arguments(largest):
    """Random numbers, and both neighbors of multiples of pi / 4, where the pieces meet."""
    rng = np.random.default_rng(0)
    turns = rng.integers(-int(largest), int(largest), size=2000) * (np.pi / 4)
    turns = turns[np.abs(turns) <= largest]
    turns = np.resize(turns, 1500)
    near = [turns, np.nextafter(turns, np.inf), np.nextafter(turns, -np.inf)]
    return np.concatenate([rng.uniform(-largest, largest, 15_500), *near])


@pytest.mark.parametrize("largest", [2.0, 100.0, 1e6])
def test_against_numpy(largest):
    x = arguments(largest)
    for function in (compiled, sine_and_cosine):
        s, c = map(np.asarray, function(jnp.asarray(x)))
        np.testing.assert_allclose(s, np.sin(x), rtol=0, atol=5e-16)
        np.testing.assert_allclose(c, np.cos(x), rtol=0, atol=5e-16)


@pytest.mark.parametrize("largest", [1e9, 1e12, 1e15])
def test_large_arguments(largest):
    """Within what rounding the argument costs."""
    x = arguments(largest)
    for function in (compiled, sine_and_cosine):
        s, c = map(np.asarray, function(jnp.asarray(x)))
        assert np.all(np.abs(s - np.sin(x)) < EPS * np.abs(x) + EPS)
        assert np.all(np.abs(c - np.cos(x)) < EPS * np.abs(x) + EPS)


def test_without_a_phase():
    """Frequencies of rough kernels have no moments: phases of 1e17 and more happen."""
    x = np.resize(
        np.concatenate([10.0 ** np.arange(16, 300), -(10.0 ** np.arange(16, 300))]), 20000
    )
    for values in compiled(x):
        assert np.all(np.abs(values) <= 1.0)


def test_special_values():
    s, c = map(np.asarray, compiled(jnp.array([0.0, np.nan, np.inf, -np.inf])))
    assert s[0] == 0.0
    assert c[0] == 1.0
    assert np.isnan(s[1:]).all()
    assert np.isnan(c[1:]).all()


def test_derivatives():
    """Forward, reverse, and a second time."""
    x = jnp.asarray(np.random.default_rng(1).uniform(-50, 50, 200))
    values, tangents = jax.jvp(sine_and_cosine, (x,), (2.0 * jnp.ones(200),))
    np.testing.assert_allclose(tangents[0], 2.0 * values[1], rtol=1e-15)
    np.testing.assert_allclose(tangents[1], -2.0 * values[0], rtol=1e-15)

    @jax.grad
    def gradient(x):
        s, c = sine_and_cosine(x)
        return jnp.sum(3.0 * s + 0.5 * c)

    first, second = jax.jit(lambda x: (gradient(x), jax.grad(lambda x: jnp.sum(gradient(x)))(x)))(x)
    np.testing.assert_allclose(first, 3.0 * np.cos(x) - 0.5 * np.sin(x), atol=1e-14)
    np.testing.assert_allclose(second, -3.0 * np.sin(x) - 0.5 * np.cos(x), atol=1e-14)
