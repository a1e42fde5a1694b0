"""Gradients of every kernel in its parameters and in both inputs against central differences,
also where two rows are equal, and second derivatives of the Matern profiles.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from tests.kernels.registry import KERNELS, inputs

from leadline.kernels import ArcCosine
from leadline.kernels._matern import matern_profile

H = 1e-3


def central(f, v):
    """Fourth-order differences of f at v; at a symmetric kink they give 0."""
    eye = H * np.eye(v.size)
    at = lambda step: np.array([f(v + step * e) for e in eye])  # noqa: E731
    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * H)


@pytest.mark.parametrize("name", KERNELS)
def test_gradient(name):
    """The sum of k(x, y), randomly weighted; the first rows of x and y are equal.

    There, what the formula alone would give is 0/0 for Matern kernels. The kink of the kernel of
    step functions is not symmetric, so its inputs are all different.
    """
    kernel, kind = KERNELS[name]
    x, y = inputs(kind, 4, seed=2), inputs(kind, 3, seed=3)
    if name != "ArcCosine0":
        y[0] = x[0]
    weights = np.random.default_rng(4).normal(size=(4, 3))
    flat, unravel = ravel_pytree((kernel, jnp.asarray(x), jnp.asarray(y)))

    def value(v):
        k, x, y = unravel(v)
        return jnp.sum(weights * k(x, y)) + jnp.sum(weights[0] * k.diag(y))

    both = jax.jit(jax.value_and_grad(value))  # one program for the gradient and its check
    gradient = np.asarray(both(flat)[1])
    assert np.isfinite(gradient).all()
    assert np.abs(gradient).max() > 1e-3
    np.testing.assert_allclose(
        gradient, central(lambda v: both(v)[0], np.asarray(flat)), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("nu", [0.3, 0.5, 1.0, 1.5, 1.8, 2.5, 3.7])
def test_matern_slope_at_zero(nu):
    """d/ds at s = 0 is -nu / (2 (nu - 1)) if the functions are differentiable (nu > 1); else the
    true slope is infinite and 0 is given.
    """
    slope = jax.jit(jax.grad(lambda s: matern_profile(nu, s)))(0.0)
    expected = -nu / (2 * (nu - 1)) if nu > 1 else 0.0
    np.testing.assert_allclose(slope, expected, rtol=1e-13)


@pytest.mark.parametrize("nu", [0.7, 1.5, 2.5, 3.7])
def test_matern_second_derivative(nu):
    """The rule for the derivative can be differentiated again."""
    s = np.linspace(0.1, 4.0, 9)
    first = jax.grad(lambda s: matern_profile(nu, s))
    slope, bend = jax.jit(jax.vmap(first)), jax.jit(jax.vmap(jax.grad(first)))
    central = (8 * (slope(s + H) - slope(s - H)) - (slope(s + 2 * H) - slope(s - 2 * H))) / (12 * H)
    np.testing.assert_allclose(bend(s), central, rtol=1e-6)


@pytest.mark.parametrize("order", [0, 1])
def test_arc_cosine_at_parallel_rows(order):
    """The derivative of arccos is infinite where rows are parallel; the kernel's gradient is not.

    Order 1 is differentiable there: along the row itself k(x, y) grows like |x| |y|.
    """
    kernel = ArcCosine(weight_variance=1.0, bias_variance=1e-30, order=order)
    x, y = jnp.array([[0.3, -0.4, 1.2]]), jnp.array([[0.6, -0.8, 2.4]])
    value, gradient = jax.jit(jax.value_and_grad(lambda x: kernel(x, y)[0, 0]))(x)
    np.testing.assert_allclose(gradient, y if order == 1 else 0 * y, rtol=1e-12)
    np.testing.assert_allclose(value, 1.3 * 2.6 if order == 1 else 1.0, rtol=1e-12)
