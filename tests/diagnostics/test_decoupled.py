"""The law of function draws in closed form: against draws, NumPy by force, and exact posteriors."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline.boundary import InvalidData, NotPositiveDefinite, Unsupported
from leadline.diagnostics import (
    covariance_operator,
    decoupled_moments,
    wasserstein2,
    weight_function,
    weight_space_moments,
)
from leadline.models import GP, Posterior, Titsias
from leadline.paths import (
    Features,
    FourierFeatures,
    LinearFeatures,
    Waves,
)

KEY = jax.random.key(0)
LENGTHSCALE, NOISE, MEAN = np.array([0.4, 0.7]), 0.02, 0.3
KERNEL = ll.kernels.Matern52(LENGTHSCALE)
RNG = np.random.default_rng(0)
X, XS, Z = (RNG.uniform(size=(n, 2)) for n in (12, 20, 6))
Y = np.sin(5.0 * X[:, 0]) + X[:, 1]
VAR = RNG.uniform(0.0, 0.05, size=12)
RANDOM = FourierFeatures(KERNEL, 16, 2, key=KEY, points="random")
FEATURES = Waves(RANDOM.theta, RANDOM.weight)


def matern(x, y):
    """KERNEL in NumPy."""
    a = np.sqrt(5.0) * np.linalg.norm((x[:, None] - y[None]) / LENGTHSCALE, axis=-1)
    return (1.0 + a + a * a / 3.0) * np.exp(-a)


def phi(x):
    return np.asarray(FEATURES(jnp.asarray(x)))


@pytest.fixture(scope="module")
def exact():
    return GP(KERNEL, mean=MEAN, noise=NOISE).condition(X, Y, VAR)


@pytest.fixture(scope="module")
def sparse():
    return Titsias(KERNEL, Z, mean=MEAN, noise=NOISE).condition(X, Y, VAR)


def test_the_mean_is_that_of_the_posterior(exact):
    """Check: wilson S10.1."""
    law = decoupled_moments(exact, FEATURES, XS)
    np.testing.assert_allclose(law.mean, exact.joint(XS).mean, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("kind", "size"), [("exact", 4), ("sparse", 16)])
def test_draws_have_the_moments_in_closed_form(kind, size, request):
    """Check: wilson S10.1. Check: wilson S10.2. Check: tiao S15.1. Check: tiao S15.2."""
    post = request.getfixturevalue(kind)
    features = Waves(FEATURES.theta[: size // 2], FEATURES.weight[: size // 2] * 16 / size)
    values = np.asarray(post.paths(jax.random.key(2), 100_000, features)(XS))
    law = decoupled_moments(post, features, XS)
    mean = values[:4000].mean(axis=0)
    assert np.all(np.abs(mean - law.mean) < 4.0 * values.std(axis=0) / np.sqrt(4000))
    error = np.cov(values.T) - law.cov
    assert np.max(np.abs(error)) < 0.03
    assert np.linalg.norm(error) < 0.05 * np.linalg.norm(law.cov)
    # A standard error of a variance v is v sqrt(2 / n).
    assert np.all(np.abs(np.diag(error)) < 5.0 * np.diag(law.cov) * np.sqrt(2.0 / 100_000))


def test_exact_posterior_by_force(exact):
    """Check: tiao S15.2. With known variances of the rows."""
    a = np.linalg.solve(matern(X, X) + np.diag(NOISE + VAR), matern(X, XS)).T
    g = phi(XS) - a @ phi(X)
    law = decoupled_moments(exact, FEATURES, XS)
    expected = g @ g.T + (a * (NOISE + VAR)) @ a.T
    np.testing.assert_allclose(law.cov, expected, rtol=0, atol=1e-10)


def test_titsias_posterior_by_force(sparse):
    """Check: tiao S15.8."""
    a = np.linalg.solve(matern(Z, Z), matern(Z, XS)).T
    g = phi(XS) - a @ phi(Z)
    law = decoupled_moments(sparse, FEATURES, XS)
    expected = g @ g.T + a @ np.asarray(sparse.q_cov) @ a.T
    np.testing.assert_allclose(law.cov, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(law.mean, MEAN + a @ (sparse.q_mean - MEAN), rtol=0, atol=1e-9)


def test_without_the_noise_draw_the_covariance_is_too_small(exact):
    """Check: wilson S9.2. Negative control: the deficit is exactly Xi D Xi^T."""
    xi = weight_function(exact, XS)
    assert xi.shape == (20, 12)
    deficit = decoupled_moments(exact, FEATURES, XS).cov - covariance_operator(exact, FEATURES, XS)
    np.testing.assert_allclose(deficit, (xi * (NOISE + VAR)) @ xi.T, rtol=0, atol=1e-12)
    assert np.max(np.diag(deficit)) > 0.2 * NOISE


def test_weight_space_is_linear_regression(exact):
    """The posterior of the weights, with an inverse."""
    law = weight_space_moments(exact, FEATURES, XS)
    weighted = phi(X).T / (NOISE + VAR)
    cov = np.linalg.inv(weighted @ phi(X) + np.eye(16))
    np.testing.assert_allclose(law.cov, phi(XS) @ cov @ phi(XS).T, rtol=0, atol=1e-10)
    mean = MEAN + phi(XS) @ cov @ weighted @ (Y - MEAN)
    np.testing.assert_allclose(law.mean, mean, rtol=0, atol=1e-10)
    assert np.max(np.abs(law.mean - exact.predict(XS).mean)) > 0.01


def test_exact_features_give_the_posterior():
    """Check: tiao S15.4. Both in the kernel's basis and in that of the features."""
    features = LinearFeatures(jnp.array([1.5, 1.5]))
    post = GP(ll.kernels.Linear(2.25), noise=NOISE).condition(X, Y, VAR)
    expected = post.joint(XS)
    for moments in (decoupled_moments, weight_space_moments):
        law = moments(post, features, XS)
        np.testing.assert_allclose(law.mean, expected.mean, rtol=0, atol=1e-10)
        np.testing.assert_allclose(law.cov, expected.cov, rtol=0, atol=1e-10)


class Correlated(Features):
    """Two monomials, whose weights depend on three standard normal numbers."""

    root: jax.Array

    @property
    def size(self):
        return 2

    @property
    def dim(self):
        return 2

    @property
    def noises(self):
        return 3

    def __call__(self, x):
        return jnp.stack([x[:, 0], x[:, 0] * x[:, 1]], axis=1)

    def correlate(self, z):
        return z @ self.root


def test_weights_may_be_correlated(exact):
    features = Correlated(jnp.array([[1.0, 0.2], [0.3, -0.7], [0.1, 0.5]]))
    root = features.standardized(XS)
    np.testing.assert_allclose(root @ root.T, features.covariance(XS, XS), rtol=0, atol=1e-12)
    law = decoupled_moments(exact, features, XS)
    xi = weight_function(exact, XS)
    noise = (xi * (NOISE + VAR)) @ xi.T
    expected = covariance_operator(exact, features, XS) + noise
    np.testing.assert_allclose(law.cov, expected, rtol=0, atol=1e-11)


def hermite_features(frequencies, lengthscale):
    """Gauss-Hermite quadrature of the squared exponential's spectrum, in one dimension."""
    nodes, weights = np.polynomial.hermite.hermgauss(frequencies)
    theta = np.sqrt(2.0) * nodes / lengthscale
    return Waves(jnp.asarray(theta[:, None]), jnp.asarray(weights / np.sqrt(np.pi)))


def test_tight_features_leave_no_error():
    """Check: tiao S15.3. 32 frequencies, by quadrature and at random."""
    rng = np.random.default_rng(1)
    kernel = ll.kernels.SquaredExponential(0.25)
    x, xs = rng.uniform(size=(32, 1)), rng.uniform(size=(20, 1))
    post = GP(kernel, noise=1e-3).condition(x, np.sin(6.0 * x[:, 0]))
    expected = post.joint(xs)

    def squared(features):
        law = decoupled_moments(post, features, xs)
        return wasserstein2(law.mean, law.cov, expected.mean, expected.cov) ** 2

    assert squared(hermite_features(32, 0.25)) < 1e-8
    random = FourierFeatures(kernel, 64, 1, key=KEY, points="random")
    assert squared(Waves(random.theta, random.weight)) > 1e-6


@pytest.mark.slow
def test_errors_fall_with_the_number_of_features():
    """Check: wilson S10.3. Slopes in log-log, of means over five bases."""
    rng = np.random.default_rng(2)
    kernel = ll.kernels.Matern52(np.full(4, 0.5))
    x, xs = rng.uniform(size=(32, 4)), rng.uniform(size=(32, 4))
    post = GP(kernel, noise=1e-3).condition(x, rng.normal(size=32))
    expected = post.joint(xs)
    sizes, largest, distances = (256, 1024, 4096), [], []
    for size in sizes:
        laws = [
            decoupled_moments(post, FourierFeatures(kernel, size, 4, key=k, points="random"), xs)
            for k in jax.random.split(jax.random.key(4), 5)
        ]
        largest.append(np.mean([np.max(np.abs(law.cov - expected.cov)) for law in laws]))
        found = [wasserstein2(law.mean, law.cov, expected.mean, expected.cov) for law in laws]
        distances.append(np.mean(found))
    slopes = [np.polyfit(np.log(sizes), np.log(e), 1)[0] for e in (largest, distances)]
    assert -0.6 < slopes[0] < -0.4
    assert -0.55 < slopes[1] < -0.25


def test_draws_interpolate_where_there_is_no_noise():
    """Check: tiao S15.5."""
    post = GP(KERNEL, mean=MEAN, noise=1e-8).condition(X, Y)
    values = post.paths(KEY, 50, FEATURES)(X)
    assert np.max(np.abs(np.asarray(values) - Y)) < 1e-3
    assert np.max(np.diag(decoupled_moments(post, FEATURES, X).cov)) < 1e-6


@pytest.mark.parametrize("moments", [decoupled_moments, weight_space_moments])
def test_traces(exact, moments):
    """With padded rows, which count for nothing inside a trace too."""
    expected = moments(exact, FEATURES, XS)
    found = eqx.filter_jit(moments)(exact, FEATURES, jnp.asarray(XS))
    np.testing.assert_allclose(found.mean, expected.mean, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.cov, expected.cov, rtol=0, atol=1e-12)


class Another(Posterior):
    """A posterior of a kind that has no affine update."""

    def predict(self, xs, noise=False):
        return None

    def sample(self, key, xs, n):
        return jnp.zeros((n, 1))


def test_bad_requests_are_refused(exact, sparse):
    with pytest.raises(InvalidData, match="features are of 1 input columns"):
        decoupled_moments(exact, hermite_features(4, 1.0), XS)
    with pytest.raises(InvalidData, match="xs must have 2 columns"):
        decoupled_moments(exact, FEATURES, XS[:, :1])
    with pytest.raises(Unsupported, match="need the data"):
        weight_space_moments(sparse, FEATURES, XS)
    with pytest.raises(Unsupported, match="not for Another"):
        decoupled_moments(Another(), FEATURES, XS)
    zero = Waves(jnp.zeros((1, 2)), jnp.zeros(1))
    with pytest.raises(NotPositiveDefinite, match="more data than features"):
        weight_space_moments(GP(KERNEL, noise=0.0).condition(X, Y), zero, XS)
