"""More data: `update` is `condition` on all rows, and a growing loop compiles once per size."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline import kernels as k

N = 100
RNG = np.random.default_rng(0)
X, XS = RNG.normal(size=(N, 3)), RNG.normal(size=(50, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + 2.0
VAR = RNG.uniform(0.0, 0.1, size=N)
GP = ll.GP(1.5 * k.Matern52([0.7, 1.1, 1.6]), mean=0.4, noise=1e-2)


def assert_same(found, wanted, tolerance=1e-8):
    assert found.n == wanted.n
    for a, b in ((found.predict(XS), wanted.predict(XS)),):
        np.testing.assert_allclose(a.mean, b.mean, rtol=0, atol=tolerance)
        np.testing.assert_allclose(a.var, b.var, rtol=0, atol=tolerance)
    np.testing.assert_allclose(found.log_evidence, wanted.log_evidence, rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    ("n", "m"),
    [(10, 1), (10, 3), (10, 8), (1, 1), (28, 4), (31, 1), (32, 1), (30, 3), (5, 33), (60, 40)],
)
def test_update_is_conditioning_on_everything(n, m):
    """One row, several rows, inside a bucket and across its end."""
    found = GP.condition(X[:n], Y[:n]).update(X[n : n + m], Y[n : n + m])
    assert_same(found, GP.condition(X[: n + m], Y[: n + m]))


def test_rows_keep_their_variances():
    found = GP.condition(X[:10], Y[:10], VAR[:10]).update(X[10:13], Y[10:13], VAR[10:13])
    assert_same(found, GP.condition(X[:13], Y[:13], VAR[:13]))


def test_one_after_the_other():
    """Check: naiff S9.2"""
    post = GP.condition(X[:20], Y[:20])
    for i in range(20, 40):
        post = post.update(X[i : i + 1], Y[i : i + 1])
    assert_same(post, GP.condition(X[:40], Y[:40]))
    np.testing.assert_allclose(
        post.leave_one_out().mean, GP.condition(X[:40], Y[:40]).leave_one_out().mean, atol=1e-8
    )


def test_the_old_posterior_stays():
    post = GP.condition(X[:10], Y[:10])
    before = post.predict(XS).mean
    post.update(X[10:12], Y[10:12])
    np.testing.assert_array_equal(post.predict(XS).mean, before)
    assert post.n == 10


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_an_update_with_rows_that_are_there_already(scale):
    """Without noise only jitter keeps the matrix definite; the answer stays, in any unit."""
    gp = ll.GP(scale**2 * k.Matern52([0.7, 1.1, 1.6]), mean=0.4 * scale, noise=0.0)
    post = gp.condition(X[:10], scale * Y[:10])
    again = post.update(X[:2], scale * Y[:2])
    wanted = post.predict(XS)
    np.testing.assert_allclose(again.predict(XS).mean, wanted.mean, rtol=0, atol=1e-6 * scale)
    np.testing.assert_allclose(again.predict(XS).std, wanted.std, rtol=0, atol=1e-4 * scale)
    assert np.isfinite(again.log_evidence)


def test_an_update_that_contradicts_the_data():
    """Two values at one place without noise: no NaN, and the values elsewhere still hold."""
    gp = ll.GP(1.0 * k.Matern52([0.7, 1.1, 1.6]), mean=0.4, noise=0.0)
    post = gp.condition(X[:10], Y[:10]).update(X[:1], Y[:1] + 1.0)
    found = post.predict(X[:10])
    assert np.isfinite(found.mean).all()
    assert Y[0] - 1e-3 <= found.mean[0] <= Y[0] + 1.0 + 1e-3
    np.testing.assert_allclose(found.mean[1:], Y[1:10], atol=1e-2)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (X[:1, :2], Y[:1], "x must have 3 columns"),
        (X[:2], Y[:1], "y has 1 values, but there are 2 rows"),
        (X[:1] * np.nan, Y[:1], "x must be finite"),
        (X[:0], Y[:0], "at least 1 row"),
    ],
)
def test_bad_rows(x, y, message):
    with pytest.raises(ll.InvalidData, match=message):
        GP.condition(X[:10], Y[:10]).update(x, y)


def test_the_counter_counts(compilations):
    """Negative control: a new shape is a compilation, the same shape is none."""
    double = jax.jit(lambda a: 2.0 * a)
    double(np.zeros(3))
    first = compilations[0]
    assert first >= 1
    double(np.ones(3))
    assert compilations[0] == first
    double(np.zeros(4))
    assert compilations[0] > first


def test_a_growing_loop_compiles_once_per_size_and_program(compilations):
    """From 10 to 70 rows there are three sizes; fit, predict, draw and update compile for each.

    Learning, conditioning, marginals, the joint law, leave-one-out and extension are programs of
    their own, and so is turning coordinates into a model, whose size does not depend on the data.
    """
    gp = ll.GP(2.0 * k.Matern32([0.7, 1.1, 1.6]), noise=1e-2)
    key = jax.random.key(0)
    seen = []
    for n in range(10, 71):
        before = compilations[0]
        post = gp.fit(X[:n], Y[:n])
        post.predict(XS[: n % 30 + 1])
        post.sample(key, XS[: n % 30 + 1], 2)
        post.leave_one_out()
        gp = post.update(X[n : n + 1], Y[n : n + 1]).gp
        if compilations[0] > before:
            seen.append((n, compilations[0] - before))
    assert {n for n, _ in seen} <= {10, 32, 33, 64, 65}
    programs = 6
    assert sum(count for n, count in seen if n > 10) <= 2 * programs


def test_traced_update_equals_the_eager_one():
    """Inside a trace nothing is padded or checked, and gradients reach the new inputs."""
    gp = ll.GP(1.3 * ll.kernels.Matern52(lengthscale=0.4), mean=0.2, noise=1e-2)
    rng = np.random.default_rng(5)
    x, y, xs = rng.uniform(size=(9, 2)), rng.normal(size=9), rng.uniform(size=(4, 2))
    post = gp.condition(x[:7], y[:7])
    eager = post.update(x[7:], y[7:])
    traced = jax.jit(lambda p, a, b: p.update(a, b))(post, jnp.asarray(x[7:]), jnp.asarray(y[7:]))
    np.testing.assert_allclose(float(traced.log_evidence), float(eager.log_evidence), atol=1e-10)
    found = jax.jit(lambda p, q: p.predict(q))(traced, jnp.asarray(xs))
    np.testing.assert_allclose(found.mean, eager.predict(xs).mean, atol=1e-10)
    np.testing.assert_allclose(found.var, eager.predict(xs).var, atol=1e-10)

    def spread(new):
        return jnp.sum(post.update(new, jnp.asarray(y[7:])).predict(jnp.asarray(xs)).var)

    gradient = jax.grad(spread)(jnp.asarray(x[7:]))
    step = np.zeros((2, 2))
    step[1, 0] = 1e-5
    central = (spread(jnp.asarray(x[7:] + step)) - spread(jnp.asarray(x[7:] - step))) / 2e-5
    np.testing.assert_allclose(gradient[1, 0], central, rtol=1e-6)


def test_traced_leave_one_out():
    gp = ll.GP(1.3 * ll.kernels.Matern52(lengthscale=0.4), noise=1e-2)
    rng = np.random.default_rng(6)
    post = gp.condition(rng.uniform(size=(9, 2)), rng.normal(size=9))
    eager = post.leave_one_out()
    traced = jax.jit(lambda p: p.leave_one_out())(post)
    np.testing.assert_allclose(traced.mean[:9], eager.mean, rtol=1e-12)
    np.testing.assert_allclose(traced.var[:9], eager.var, rtol=1e-12)
