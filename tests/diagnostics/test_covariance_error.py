"""Errors of covariances: the operator, its bounds, contraction, and where there is none."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline.diagnostics import (
    contraction,
    covariance_error_bound,
    covariance_operator,
    decoupled_moments,
    lebesgue_constant,
    weight_function,
)
from leadline.kernels import Kernel
from leadline.models import GP, Titsias
from leadline.paths import Features, FourierFeatures
from leadline.paths._features._karhunen_loeve import BrownianMotion

KEY = jax.random.key(0)
NOISE, VARIANCE = 1e-3, 1.4
KERNEL = VARIANCE * ll.kernels.Matern52(0.3)
FEATURES = FourierFeatures(KERNEL, 1024, 2, key=KEY, points="random")
X, XS, Z = (np.random.default_rng(n).uniform(size=(n, 2)) for n in (14, 30, 6))
Y = np.sin(5.0 * X[:, 0]) + X[:, 1]


def matern(x, y):
    """KERNEL in NumPy: nothing to compile for every number of rows."""
    a = np.sqrt(5.0) * np.linalg.norm((x[:, None] - y[None]) / 0.3, axis=-1)
    return VARIANCE * (1.0 + a + a * a / 3.0) * np.exp(-a)


@pytest.fixture(scope="module")
def exact():
    return GP(KERNEL, noise=NOISE).condition(X, Y)


@pytest.fixture(scope="module")
def sparse():
    return Titsias(KERNEL, Z, noise=NOISE).condition(X, Y)


def test_the_operator_makes_posterior_covariances(exact):
    """Check: wilson S11.2. Of the kernel the exact one, of the features that of the draws."""
    xi = weight_function(exact, XS)
    noise = NOISE * xi @ xi.T
    of_kernel = covariance_operator(exact, KERNEL, XS) + noise
    of_features = covariance_operator(exact, FEATURES, XS) + noise
    np.testing.assert_allclose(of_kernel, exact.joint(XS).cov, rtol=0, atol=1e-8)
    expected = decoupled_moments(exact, FEATURES, XS).cov
    np.testing.assert_allclose(of_features, expected, rtol=0, atol=1e-8)


def test_the_weight_function_by_force(exact):
    xi = np.linalg.solve(matern(X, X) + NOISE * np.eye(14), matern(X, XS)).T
    np.testing.assert_allclose(weight_function(exact, XS), xi, rtol=0, atol=1e-10)
    expected = np.max(np.sum(np.abs(xi), axis=1))
    assert float(lebesgue_constant(exact, XS)) == pytest.approx(expected, abs=1e-10)


def test_at_the_data_without_noise_each_point_has_its_own_weight():
    post = GP(KERNEL, noise=0.0).condition(X, Y)
    np.testing.assert_allclose(weight_function(post, X), np.eye(14), rtol=0, atol=1e-8)
    assert float(lebesgue_constant(post, X)) == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("noise", [0.0, NOISE])
def test_bounds_hold(noise):
    """Check: wilson S11.3. Ten designs each."""
    for n in (5, 8, 11, 15, 17, 20, 23, 26, 29, 32):
        x = np.random.default_rng(n).uniform(size=(n, 2))
        post = GP(KERNEL, noise=noise).condition(x, np.zeros(n))
        found = covariance_error_bound(post, FEATURES, XS)
        error = decoupled_moments(post, FEATURES, XS).cov - post.joint(XS).cov
        assert found.posterior == pytest.approx(np.max(np.abs(error)), abs=1e-8)
        assert found.lebesgue == lebesgue_constant(post, XS)
        assert found.posterior <= found.bound <= found.loose_bound


class Tabled(Features):
    """Features with any covariance at a few points: `root @ root.T`."""

    points: jax.Array
    root: jax.Array

    @property
    def size(self):
        return self.points.shape[0]

    @property
    def dim(self):
        return 2

    def __call__(self, x):
        return jnp.all(x[:, None] == self.points[None], axis=-1).astype(float) @ self.root


@pytest.mark.parametrize("noise", [0.0, NOISE])
def test_the_bound_is_attained(noise):
    """Check: wilson S11.3. Where the errors of the prior have the signs of the update."""
    query = XS[:1]
    post = GP(KERNEL, noise=noise).condition(X, Y)
    update = np.concatenate([[[1.0]], -weight_function(post, query)], axis=1)
    together, signs = np.concatenate([query, X]), np.sign(update)
    cov = matern(together, together) + 0.02 * signs.T @ signs
    found = covariance_error_bound(post, Tabled(together, np.linalg.cholesky(cov)), query)
    assert found.prior == pytest.approx(0.02, rel=1e-9)
    assert found.lebesgue > 0.5
    assert found.posterior == pytest.approx(found.bound, rel=1e-9)


def test_bounds_by_force(exact):
    """Padded rows count for nothing; the largest covariance is the variance."""
    found = covariance_error_bound(exact, FEATURES, XS)
    together = np.concatenate([XS, X])
    prior = np.asarray(FEATURES.covariance(together, together)) - matern(together, together)
    assert found.prior == pytest.approx(np.max(np.abs(prior)), abs=1e-10)
    inverse = np.linalg.inv(matern(X, X) + NOISE * np.eye(14))
    largest = 14 * (1.0 + VARIANCE * np.sum(np.abs(inverse))) ** 2
    assert found.loose_bound == pytest.approx(largest * found.prior, rel=1e-8)
    lebesgue = np.max(np.sum(np.abs(inverse @ matern(X, XS)), axis=0))
    assert found.bound == pytest.approx((1.0 + lebesgue) ** 2 * found.prior, rel=1e-10)


def test_bounds_of_inducing_points(sparse):
    """Check: wilson S11.3."""
    found = covariance_error_bound(sparse, FEATURES, XS)
    error = decoupled_moments(sparse, FEATURES, XS).cov - sparse.joint(XS).cov
    assert found.posterior == pytest.approx(np.max(np.abs(error)), abs=1e-8)
    assert found.posterior <= found.bound <= found.loose_bound


class Brownian(Kernel):
    """The covariance of Brownian motion."""

    def __call__(self, x, y):
        return jnp.minimum(x, y.T)

    def diag(self, x):
        return x[:, 0]


@pytest.mark.parametrize("size", [5, 40])
def test_karhunen_loeve_draws_are_never_less_sure(size):
    """Check: wilson S11.4. The features have unit norm in the space of the kernel."""
    features, grid = BrownianMotion(size), np.linspace(0.0, 1.0, 32)[:, None]
    for n in (3, 10, 25):
        x = np.random.default_rng(n).uniform(0.05, 1.0, size=(n, 1))
        post = GP(Brownian(), noise=0.0).condition(x, np.zeros(n))
        found = contraction(post, features, grid)
        assert found.decoupled <= size * found.exact
        assert found.ratio <= 1.0 + 1e-8
        variance = np.diag(decoupled_moments(post, features, grid).cov)
        assert found.decoupled == pytest.approx(np.max(variance), rel=1e-12)
        assert np.all(variance <= post.predict(grid).var + 1e-10)


def test_errors_contract_with_data():
    """Check: wilson S11.5. Also the variances, both of the posterior and of the draws."""
    kernel = ll.kernels.Matern52(0.3)
    features = FourierFeatures(kernel, 256, 1, key=KEY, points="random")
    grid = np.linspace(0.0, 1.0, 32)[:, None]
    posts = [
        GP(kernel, noise=0.0).condition(np.linspace(0.0, 1.0, n)[:, None], np.zeros(n))
        for n in (3, 6, 12)
    ]
    errors = [float(covariance_error_bound(p, features, grid).posterior) for p in posts]
    assert errors[0] > errors[1] > errors[2]
    sure = [contraction(p, features, grid) for p in posts]
    assert sure[0].decoupled > sure[1].decoupled > sure[2].decoupled


def test_a_bad_prior_is_not_repaired_by_data():
    """Check: wilson S11.6. Negative control."""
    for n in (2, 4, 8, 16, 32):
        x = np.random.default_rng(n).uniform(size=(n, 2))
        post = GP(KERNEL, noise=0.0).condition(x, np.zeros(n))
        points = np.concatenate([x, XS, np.full((32 - n, 2), -1.0)])
        # White noise at each point, and nothing elsewhere.
        features = Tabled(jnp.asarray(points), jnp.eye(len(points)))
        law = decoupled_moments(post, features, XS)
        a = np.linalg.solve(matern(x, x), matern(x, XS))
        np.testing.assert_allclose(law.cov, np.eye(30) + a.T @ a, rtol=1e-8, atol=1e-8)
        assert np.all(np.diag(law.cov) >= 1.0)
        assert contraction(post, features, XS).decoupled >= 1.0


def test_traces(exact):
    xs = jnp.asarray(XS)
    found = eqx.filter_jit(covariance_error_bound)(exact, FEATURES, xs)
    np.testing.assert_allclose(found, covariance_error_bound(exact, FEATURES, XS), rtol=1e-10)
    slope = jax.jit(jax.grad(lambda v: lebesgue_constant(exact, v)))(xs)
    assert np.all(np.isfinite(np.asarray(slope)))
