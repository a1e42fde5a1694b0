"""What every measure promises: densities, samples, quasi-random points and their moments."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from leadline import InvalidData, Unsupported
from leadline.measures import (
    Beta,
    Dirichlet,
    Gaussian,
    GaussianMixture,
    LogNormal,
    Measure,
    Product,
    Uniform,
)

N = 4096
COV = np.array([[1.0, 0.6], [0.6, 2.0]])
MEANS = np.array([[-2.0, 0.0], [1.0, 3.0], [0.0, -1.0]])
COVS = np.stack([COV, 0.3 * np.eye(2), np.array([[0.5, -0.3], [-0.3, 0.4]])])

MEASURES = {
    "Gaussian diagonal": Gaussian([1.0, -2.0], [0.5, 3.0]),
    "Gaussian full": Gaussian([1.0, -2.0], COV),
    "Uniform": Uniform([-1.0, 2.0], [3.0, 2.5]),
    "GaussianMixture diagonal": GaussianMixture([0.2, 0.5, 0.3], MEANS, [[1, 2], [3, 1], [0.1, 1]]),
    "GaussianMixture full": GaussianMixture([0.2, 0.5, 0.3], MEANS, COVS),
    "LogNormal": LogNormal([0.0, -1.0], [0.3, 0.5]),
    "Beta": Beta([2.0, 0.7], [3.0, 1.5]),
    "Dirichlet": Dirichlet([0.5, 2.0, 1.0]),
    "Product": Product([Gaussian([0.0, 1.0], COV), Beta(2.0, 2.0)]),
    "Product with a mixture": Product(
        [Uniform(0.0, 1.0), GaussianMixture([0.5, 0.5], [-1, 1], [1, 2])]
    ),
}
every_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES.keys())


def independent(*laws):
    return lambda x: sum(law.logpdf(column) for law, column in zip(laws, x.T, strict=True))


def mixture(weights, laws):
    return lambda x: np.log(np.asarray(weights) @ [law.pdf(x) for law in laws])


def normals(covs):
    return [stats.multivariate_normal(m, c) for m, c in zip(MEANS, covs, strict=True)]


TWO_BUMPS = mixture([0.5, 0.5], [stats.norm(-1, 1), stats.norm(1, np.sqrt(2))])
LOG_DENSITIES = {
    "Gaussian diagonal": independent(stats.norm(1, np.sqrt(0.5)), stats.norm(-2, np.sqrt(3))),
    "Gaussian full": stats.multivariate_normal([1, -2], COV).logpdf,
    "Uniform": independent(stats.uniform(-1, 4), stats.uniform(2, 0.5)),
    "GaussianMixture diagonal": mixture(
        [0.2, 0.5, 0.3], normals([np.diag(v) for v in ([1, 2], [3, 1], [0.1, 1])])
    ),
    "GaussianMixture full": mixture([0.2, 0.5, 0.3], normals(COVS)),
    "LogNormal": independent(stats.lognorm(0.3), stats.lognorm(0.5, scale=np.exp(-1.0))),
    "Beta": independent(stats.beta(2, 3), stats.beta(0.7, 1.5)),
    "Dirichlet": lambda x: stats.dirichlet([0.5, 2.0, 1.0]).logpdf(x.T / x.sum(axis=1)),
    "Product": lambda x: (
        stats.multivariate_normal([0, 1], COV).logpdf(x[:, :2]) + stats.beta(2, 2).logpdf(x[:, 2])
    ),
    "Product with a mixture": lambda x: TWO_BUMPS(x[:, 1]),
}


# One program for each question and kind of measure; eager operations would be one program each.
log_prob = jax.jit(lambda measure, x: measure.log_prob(x))
gradient = jax.jit(lambda measure, x: jax.grad(lambda x: jnp.sum(measure.log_prob(x)))(x))
density_gradient = jax.jit(
    lambda measure, x: jax.grad(lambda x: jnp.sum(jnp.exp(measure.log_prob(x))))(x)
)
moments = jax.jit(lambda measure: (measure.mean, measure.cov))
sample = jax.jit(lambda measure, key: measure.sample(key, N))


@pytest.mark.parametrize("name", MEASURES)
def test_log_density_agrees_with_scipy(name):
    x = MEASURES[name].qmc(64, 1)
    expected = LOG_DENSITIES[name](np.asarray(x))
    np.testing.assert_allclose(log_prob(MEASURES[name], x), expected, rtol=1e-10, atol=1e-10)
    assert np.all(np.isfinite(gradient(MEASURES[name], x)))


@every_measure
def test_moments_of_samples(measure):
    """Means and covariances of samples within 4.5 standard errors (about 70 comparisons)."""
    x = np.asarray(sample(measure, jax.random.key(0)))
    mean, cov = (np.asarray(m) for m in moments(measure))
    assert x.shape == (N, measure.dim)
    assert mean.shape == (measure.dim,)
    assert cov.shape == (measure.dim, measure.dim)
    assert np.all(np.abs(x.mean(axis=0) - mean) < 4.5 * np.std(x, axis=0) / np.sqrt(N))
    products = (x - mean)[:, :, None] * (x - mean)[:, None, :]
    error = np.std(products, axis=0) / np.sqrt(N)
    assert np.all(np.abs(products.mean(axis=0) - cov) < 4.5 * error)


@every_measure
def test_quasi_random_moments_beat_random_ones(measure):
    """Same size: the quasi-random mean is at least five times closer than a standard error."""
    x = np.asarray(measure.qmc(N, 0))
    mean, cov = (np.asarray(m) for m in moments(measure))
    assert x.shape == (N, measure.dim)
    assert np.all(np.abs(x.mean(axis=0) - mean) < 0.2 * np.sqrt(np.diag(cov) / N))
    np.testing.assert_allclose(np.cov(x.T), cov, atol=0.02 * np.max(np.diag(cov)))


@every_measure
def test_quasi_random_points_are_decided_by_the_seed(measure):
    a, b, c = measure.qmc(64, 3), measure.qmc(64, 3), measure.qmc(64, 4)
    np.testing.assert_array_equal(a, b)
    assert not np.any(np.asarray(a) == np.asarray(c))


@pytest.mark.parametrize(
    ("name", "outside"),
    [
        ("Uniform", [[-1.1, 2.2], [0.0, 2.6]]),
        ("LogNormal", [[-1.0, 1.0], [1.0, 0.0]]),
        ("Beta", [[-0.1, 0.5], [0.5, 1.1]]),
        ("Dirichlet", [[0.5, 0.6, -0.1], [0.5, 0.5, 0.5]]),
        ("Product", [[0.0, 0.0, 1.5]]),
    ],
)
def test_outside_the_support(name, outside):
    x = jnp.asarray(outside)
    assert np.all(np.asarray(log_prob(MEASURES[name], x)) == -np.inf)
    assert np.all(np.asarray(density_gradient(MEASURES[name], x)) == 0.0)


def test_an_infinite_density_does_not_hide_a_point_outside():
    measure = Product([Beta(0.5, 1.0), Uniform(0.0, 1.0)])
    x = jnp.asarray([[0.0, 0.5], [0.0, 2.0]])
    np.testing.assert_array_equal(log_prob(measure, x), [np.inf, -np.inf])
    cube = Beta([0.5, 2.0], [1.0, 2.0])
    np.testing.assert_array_equal(log_prob(cube, x), [np.inf, -np.inf])


LAWS = {
    "Gaussian": (Gaussian(1.0, 4.0), stats.norm(1.0, 2.0)),
    "Uniform": (Uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
    "LogNormal": (LogNormal(0.5, 0.7), stats.lognorm(0.7, scale=np.exp(0.5))),
    "Beta": (Beta(0.6, 2.5), stats.beta(0.6, 2.5)),
}


@pytest.mark.parametrize("name", LAWS)
def test_quantile_inverts_the_distribution_function(name):
    measure, law = LAWS[name]
    u = np.linspace(1e-6, 1 - 1e-6, 101)[:, None]
    np.testing.assert_allclose(law.cdf(measure.quantile(jnp.asarray(u))), u, rtol=1e-9, atol=1e-12)


def test_full_gaussian_quantile_is_triangular():
    """Coordinate i depends on the first i + 1 uniform numbers only (Rosenblatt)."""
    measure = MEASURES["Gaussian full"]
    u = jnp.asarray([[0.3, 0.8], [0.3, 0.1]])
    x = np.asarray(measure.quantile(u))
    assert x[0, 0] == x[1, 0]
    conditional = stats.norm(-2.0 + 0.6 * (x[:, 0] - 1.0), np.sqrt(2.0 - 0.36))
    np.testing.assert_allclose(conditional.cdf(x[:, 1]), u[:, 1], rtol=1e-12)


def test_dirichlet_quantile_lies_on_the_simplex_for_any_concentration():
    """Also where gamma quantiles underflow: a concentration of 0.001 has weights below 1e-300."""
    for concentration in ([1e-3] * 3, [1e-3, 1.0, 50.0], [1e4, 1e4, 1e4]):
        x = np.asarray(Dirichlet(concentration).qmc(64, 0))
        assert np.all(np.isfinite(x) & (x >= 0.0))
        np.testing.assert_allclose(x.sum(axis=1), 1.0, rtol=1e-14)
    corners = np.asarray(Dirichlet([1.0, 2.0]).quantile(jnp.asarray([[0.0, 0.0], [1.0, 1.0]])))
    assert np.all(np.isfinite(corners))


def test_dirichlet_of_ones_is_the_exponential_recipe():
    """Alpha = 1: w = e / sum e with e = -log(1 - u) (Hamid 2023, section 3.8.3)."""
    u = np.random.default_rng(0).uniform(size=(5, 3))
    e = -np.log1p(-u)
    np.testing.assert_allclose(
        Dirichlet(np.ones(3)).quantile(jnp.asarray(u)), e / e.sum(axis=1, keepdims=True), rtol=1e-10
    )


def test_mixture_components_are_stratified():
    """Counts of components within 2 of their expectation, where random ones stray by 30."""
    measure = GaussianMixture([0.2, 0.5, 0.3], [0.0, 100.0, 200.0], [1.0, 1.0, 1.0])
    for seed in range(5):
        x = np.asarray(measure.qmc(N, seed))[:, 0]
        counts = np.bincount(np.round(x / 100.0).astype(int), minlength=3)
        assert np.all(np.abs(counts - N * np.array([0.2, 0.5, 0.3])) <= 2)


def test_a_mixture_component_of_weight_zero_is_never_drawn():
    measure = GaussianMixture([0.0, 1.0, 0.0], [-100.0, 0.0, 100.0], [1.0, 1.0, 1.0])
    for x in (measure.qmc(N, 0), sample(measure, jax.random.key(0))):
        assert np.all(np.abs(np.asarray(x)) < 20.0)
    np.testing.assert_allclose(gradient(measure, jnp.asarray([[0.5]])), [[-0.5]], rtol=1e-12)


def test_a_mixture_of_one_is_a_gaussian():
    x = jnp.asarray(np.random.default_rng(0).normal(size=(64, 2)))
    mixture, gaussian = GaussianMixture([1.0], [[1.0, -2.0]], COV[None]), Gaussian([1.0, -2.0], COV)
    np.testing.assert_allclose(log_prob(mixture, x), log_prob(gaussian, x), rtol=1e-13)
    np.testing.assert_allclose(mixture.cov, gaussian.cov, rtol=1e-13)


def test_a_product_of_gaussians_is_a_gaussian():
    product = Product([Gaussian([1.0], [[2.0]]), Gaussian([0.0, 3.0], COV)])
    cov = np.block([[np.full((1, 1), 2.0), np.zeros((1, 2))], [np.zeros((2, 1)), COV]])
    joint = Gaussian([1.0, 0.0, 3.0], cov)
    u = jnp.asarray(np.random.default_rng(0).uniform(size=(64, 3)))
    x = joint.quantile(u)
    np.testing.assert_allclose(product.quantile(u), x, rtol=1e-13)
    np.testing.assert_allclose(log_prob(product, x), log_prob(joint, x), rtol=1e-12)
    np.testing.assert_allclose(product.mean, joint.mean)
    np.testing.assert_allclose(product.cov, joint.cov)
    np.testing.assert_array_equal(product.qmc(64, 1), joint.qmc(64, 1))


def test_diagonal_and_full_covariances_agree():
    full = Gaussian([1.0, -2.0], np.diag([0.5, 3.0]))
    diagonal = MEASURES["Gaussian diagonal"]
    x = diagonal.qmc(64, 0)
    np.testing.assert_allclose(full.qmc(64, 0), x, rtol=1e-13)
    np.testing.assert_allclose(log_prob(full, x), log_prob(diagonal, x), rtol=1e-12)


def test_scalars_are_shared_by_all_coordinates():
    assert Gaussian(0.0, 1.0).dim == 1
    np.testing.assert_array_equal(Gaussian([0.0, 1.0, 2.0], 4.0).cov, 4.0 * np.eye(3))
    np.testing.assert_array_equal(Gaussian(2.0, [1.0, 3.0]).mean, [2.0, 2.0])
    np.testing.assert_array_equal(Uniform(0.0, [1.0, 2.0]).mean, [0.5, 1.0])
    np.testing.assert_array_equal(GaussianMixture([1.0], [[0.0, 0.0]], [2.0]).cov, 2.0 * np.eye(2))


def test_missing_abilities_say_who_has_them():
    mixture = MEASURES["GaussianMixture full"]
    assert not hasattr(mixture, "quantile")
    with pytest.raises(Unsupported, match=r"GaussianMixture has no 'quantile'.*Beta, Dirichlet"):
        mixture.quantile(jnp.zeros((1, 2)))
    assert not hasattr(MEASURES["Product with a mixture"], "quantile")
    with pytest.raises(Unsupported, match="Product has no 'quantile'"):
        _ = MEASURES["Product with a mixture"].quantile
    assert hasattr(MEASURES["Product"], "quantile")
    with pytest.raises(AttributeError, match="no attribute 'kurtosis'"):
        _ = mixture.kurtosis


class Coin(Measure):
    """A measure that someone else might write: it has no density, and says so."""

    @property
    def dim(self):
        return 1

    @property
    def mean(self):
        return jnp.full(1, 0.5)

    @property
    def cov(self):
        return jnp.full((1, 1), 0.25)

    def sample(self, key, n):
        return jax.random.bernoulli(key, 0.5, (n, 1)).astype(jnp.float64)

    def from_cube(self, u):
        return jnp.round(u)


def test_a_measure_of_ones_own():
    product = Product([Coin(), Uniform(0.0, 1.0)])
    assert float(Coin().qmc(64, 0).sum()) == 32.0
    assert product.qmc(64, 0).shape == (64, 2)
    for measure in (Coin(), product):
        assert not hasattr(measure, "log_prob")
        with pytest.raises(Unsupported, match="has no 'log_prob'"):
            _ = measure.log_prob


def test_measures_can_be_built_from_traced_parameters():
    """A mixture inside a gradient, as variational inference needs it."""

    def log_prob(means, covs):
        return GaussianMixture([0.4, 0.6], means, covs).log_prob(jnp.asarray([[0.1, 0.2]]))[0]

    slope = jax.jit(jax.grad(log_prob))(jnp.zeros((2, 2)), jnp.ones((2, 2)))
    np.testing.assert_allclose(slope.sum(axis=0), [0.1, 0.2], rtol=1e-12)

    # Some parameters traced, the others not: those are still checked.
    def partly(mean):
        x = jnp.ones((1, 2))
        mixture = GaussianMixture([0.5, 0.5], mean[None] * jnp.ones((2, 1)), np.stack([COV, COV]))
        box = Uniform([-1.0, -1.0], 1.0 + mean)
        return (Gaussian(mean, COV).log_prob(x) - mixture.log_prob(x) + box.log_prob(x))[0]

    slope = jax.jit(jax.grad(partly))(jnp.asarray([1.0, 2.0]))
    np.testing.assert_allclose(slope, [-1.0 / 3.0, -1.0 / 4.0], atol=1e-12)
    with pytest.raises(InvalidData, match="positive definite"):
        jax.jit(lambda mean: Gaussian(mean, -COV).log_prob(mean[None]))(jnp.zeros(2))

    def log_volume(cov, width):
        x = jnp.zeros((1, 2))
        return (Gaussian([0.0, 0.0], cov).log_prob(x) + Uniform(-width, width).log_prob(x))[0]

    slopes = jax.jit(jax.grad(log_volume, (0, 1)))(jnp.eye(2), jnp.full(2, 2.0))
    np.testing.assert_allclose(slopes[0], -0.5 * np.eye(2), atol=1e-12)
    np.testing.assert_allclose(slopes[1], [-0.5, -0.5], atol=1e-12)


def test_points_inside_traced_functions():
    """A measure that is closed over gives its points; one that is traced, if quantiles trace."""
    for measure in (MEASURES["Beta"], MEASURES["Dirichlet"], MEASURES["Product with a mixture"]):
        inside = jax.jit(lambda measure=measure: measure.qmc(64, 0))()
        np.testing.assert_allclose(inside, measure.qmc(64, 0), rtol=1e-12)
    for name in ("Gaussian full", "GaussianMixture full", "LogNormal", "Uniform"):
        points = jax.jit(lambda measure: measure.qmc(64, 0))(MEASURES[name])
        np.testing.assert_allclose(points, MEASURES[name].qmc(64, 0), rtol=1e-9, atol=1e-12)
    with pytest.raises(Unsupported, match="quantile of Beta is computed on the host"):
        jax.jit(lambda measure: measure.qmc(64, 0))(MEASURES["Beta"])


def test_representations_are_short_and_show_the_numbers():
    assert repr(Gaussian([0.0, 0.5], [1.0, 2.0])) == "Gaussian(mean=[0. , 0.5], cov=[1., 2.])"
    assert repr(Uniform(0.0, 1.0)) == "Uniform(lower=[0.], upper=[1.])"
    assert repr(Product([Beta(1.0, 2.0)])) == "Product([Beta(a=[1.], b=[2.])])"
    assert len(repr(Gaussian(np.zeros(50), np.ones(50)))) < 100
    seen = []
    jax.jit(lambda m: seen.append(repr(m)))(LogNormal([0.0, 0.0], 1.0))
    assert seen == ["LogNormal(log_mean=traced[2], log_std=traced[2])"]
