"""Means and double means of kernels: closed forms, their algebra, and the points that fill in."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline import InvalidData
from leadline.kernels import (
    Constant,
    Cosine,
    DirectSum,
    Matern,
    Matern12,
    Matern32,
    Matern52,
    ProductMatern,
    RationalQuadratic,
    SpectralMixture,
    SquaredExponential,
    White,
    kernel_double_mean,
    kernel_mean,
)
from leadline.kernels._means import _kernel_means
from leadline.kernels._means._separable import separable_term
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

COV = np.array([[0.7, 0.3], [0.3, 0.4]])
MEANS = np.array([[0.3, -0.2], [-1.0, 0.8], [0.5, 1.5]])
WEIGHTS = np.array([0.2, 0.5, 0.3])
VARIANCES = np.array([[0.5, 1.2], [0.2, 0.1], [1.0, 0.4]])

MEASURES = {
    "Gaussian": Gaussian(MEANS[0], VARIANCES[0]),
    "full Gaussian": Gaussian(MEANS[0], COV),
    "mixture": GaussianMixture(WEIGHTS, MEANS, VARIANCES),
    "full mixture": GaussianMixture(WEIGHTS, MEANS, np.stack([COV, 2 * COV, np.eye(2)])),
    "Uniform": Uniform([-1.0, 0.0], [1.0, 2.5]),
    "Product": Product([Uniform(-1.0, 1.0), GaussianMixture([0.4, 0.6], [0.0, 1.0], [0.3, 0.6])]),
}
SPECTRAL = SpectralMixture([0.5, 0.8], [[0.3, 0.1], [0.05, 0.6]], [[0.1, 0.2], [0.3, 0.15]])
KERNELS = {
    "SquaredExponential": SquaredExponential([0.6, 1.1]),
    "Matern12": ProductMatern([0.6, 1.1], nu=0.5),
    "Matern32": ProductMatern([0.6, 1.1], nu=1.5),
    "Matern52": ProductMatern([0.6, 1.1], nu=2.5),
    "SpectralMixture": SPECTRAL,
    "product": 1.5 * SquaredExponential(0.8) * SquaredExponential([1.0, 2.0]) * Constant(0.7),
    "columns": Matern32(0.7).on(0) * SquaredExponential(0.9).on(1) + Matern52(0.4).on(1),
    "waves": Cosine([2.0, 3.0]) * SquaredExponential(0.9),
}
# Each kind of kernel and each kind of measure, in pairs that have a closed form.
CLOSED = [
    ("SquaredExponential", "mixture"),
    ("Matern12", "mixture"),
    ("Matern32", "mixture"),
    ("SpectralMixture", "mixture"),
    ("columns", "Gaussian"),
    ("Matern52", "Gaussian"),
    ("waves", "Gaussian"),
    ("waves", "full Gaussian"),
    ("SpectralMixture", "full mixture"),
    ("Matern32", "Uniform"),
    ("columns", "Uniform"),
    ("columns", "Product"),
]
OPEN = [("Matern52", "full Gaussian"), ("SpectralMixture", "Uniform"), ("waves", "Product")]

X = jnp.asarray(np.random.default_rng(0).normal(size=(6, 2)))
POINTS = {name: measure.qmc(4096, 5) for name, measure in MEASURES.items()}
# One program for each kind of kernel and measure: all tests ask at 4096 points.
_integrals = jax.jit(lambda k, m, x: (k.mean(m, x), k.double_mean(m)))
brute_mean = jax.jit(lambda kernel, x, z: jnp.mean(kernel(x[:6], z), axis=1))


def integrals(kernel, measure, x=POINTS["Gaussian"]):
    return _integrals(kernel, measure, x)


@pytest.mark.parametrize(("k", "m"), CLOSED)
def test_closed_forms_agree_with_many_points(k, m, monkeypatch):
    """4096 quasi-random points, whose own error is up to 1.2e-3 here (it falls to 1e-5 with 2^19).

    The fallback is cut off, so that this is the closed form.
    """
    monkeypatch.setattr(_kernel_means, "_mean_over", lambda *_: pytest.fail("no closed form"))
    mean, double = integrals(KERNELS[k], MEASURES[m], POINTS[m])
    expected = brute_mean(KERNELS[k], POINTS[m], POINTS[m])
    np.testing.assert_allclose(mean[:6], expected, atol=2e-3)
    np.testing.assert_allclose(double, np.mean(mean), atol=3e-4)


@pytest.mark.parametrize(("k", "m"), OPEN)
def test_others_fall_back_to_points(k, m, monkeypatch):
    """Other points than those of the test."""
    fallback, used = _kernel_means._mean_over, []
    monkeypatch.setattr(_kernel_means, "_mean_over", lambda *a: used.append(a[3]) or fallback(*a))
    mean = kernel_mean(KERNELS[k], MEASURES[m], X)
    assert len(used) == 1
    np.testing.assert_allclose(mean, brute_mean(KERNELS[k], X, POINTS[m]), atol=2e-3)


def test_squared_exponential_against_a_grid():
    """One dimension, six points, a grid of 4001; Check: hamid 15"""
    l, x = 0.7, np.linspace(-2.0, 2.0, 6)
    both = jax.jit(lambda k, m, x: (k.mean(m, x), k.double_mean(m)))
    laws = (
        (Gaussian(0.3, 0.5), np.linspace(-8.0, 9.0, 4001), lambda t: np.exp(-((t - 0.3) ** 2))),
        (Uniform(-1.0, 2.0), np.linspace(-1.0, 2.0, 4001), np.ones_like),
    )
    for measure, t, density in laws:
        # The trapezoidal rule, with Gregory's correction at the ends of the box.
        w = density(t)
        for i, c in enumerate((3 / 8, 7 / 6, 23 / 24)):
            w[[i, -1 - i]] *= c
        w /= w.sum()
        k = lambda a: np.exp(-0.5 * ((a[:, None] - t) / l) ** 2)  # noqa: B023, E731
        mean, double = both(SquaredExponential(l), measure, jnp.asarray(x[:, None]))
        np.testing.assert_allclose(mean, k(x) @ w, atol=1e-10)
        np.testing.assert_allclose(double, w @ k(t) @ w, atol=1e-10)


def test_squared_exponential_formulas():
    """Z and the double integral as Hamid (2023) writes them for N(b, diag B); Check: hamid 15"""
    l, b, B = np.array([0.6, 1.1]), MEANS[0], VARIANCES[0]
    mean, double = integrals(2.5 * SquaredExponential(l), MEASURES["Gaussian"])
    exponent = -0.5 * (np.asarray(POINTS["Gaussian"]) - b) ** 2 / (l**2 + B)
    z = 2.5 * np.prod((1 + B / l**2) ** -0.5 * np.exp(exponent), axis=1)
    np.testing.assert_allclose(mean, z, rtol=1e-12)
    np.testing.assert_allclose(double, 2.5 * np.prod((1 + 2 * B / l**2) ** -0.5), rtol=1e-12)


def paired(k, tau):
    """A kernel at many differences, without a matrix."""
    r = np.abs(tau) / np.array([0.6, 1.1])
    if k == "SquaredExponential":
        return np.exp(-0.5 * np.sum(r * r, axis=1))
    if k == "Matern32":
        return np.prod((1.0 + np.sqrt(3.0) * r) * np.exp(-np.sqrt(3.0) * r), axis=1)
    scales, means = np.asarray(SPECTRAL.scales), np.asarray(SPECTRAL.means)
    envelopes = np.exp(-2.0 * np.pi**2 * (tau**2) @ (scales**2).T)
    return (envelopes * np.cos(2.0 * np.pi * tau @ means.T)) @ np.asarray(SPECTRAL.weights)


@pytest.mark.parametrize(
    ("m", "kernels"),
    [
        ("mixture", ["SquaredExponential", "Matern32", "SpectralMixture"]),
        ("full mixture", ["SpectralMixture"]),
    ],
)
def test_mixtures_agree_with_monte_carlo(m, kernels):
    """One million samples, 4 standard errors; Check: naiff S6.5

    Negative control: without the pairs of different components the answer is outside.
    """
    measure, n, rng = MEASURES[m], 10**6, np.random.default_rng(0)
    roots = np.asarray(measure.roots)
    roots = roots[:, :, None] * np.eye(2) if measure.diagonal else roots

    def sample():
        which = rng.choice(3, n, p=WEIGHTS)
        return MEANS[which] + np.einsum("nij,nj->ni", roots[which], rng.normal(size=(n, 2)))

    y, tau = sample(), sample() - sample()
    for k in kernels:
        mean, double = integrals(KERNELS[k], measure)
        values, at = paired(k, tau), paired(k, np.asarray(POINTS["Gaussian"][:1]) - y)
        error = values.std() / np.sqrt(n)
        assert abs(double - values.mean()) < 4.0 * error
        assert abs(mean[0] - at.mean()) < 4.0 * at.std() / np.sqrt(n)
        if k != "SpectralMixture":  # whose pairs of different components happen to cancel
            parts = [
                integrals(KERNELS[k], GaussianMixture(one, measure.locations, measure.spreads))
                for one in np.eye(3)
            ]
            own = np.array([float(double) for _, double in parts])
            assert abs(WEIGHTS**2 @ own - values.mean()) > 100.0 * error


def test_sums_and_scales_are_linear():
    a, b, measure = KERNELS["SquaredExponential"], KERNELS["SpectralMixture"], MEASURES["mixture"]
    combined = integrals(2.0 * a + 0.5 * (b + Constant(3.0)), measure)
    for total, p, q in zip(combined, integrals(a, measure), integrals(b, measure), strict=True):
        np.testing.assert_allclose(total, 2.0 * p + 0.5 * q + 1.5, rtol=1e-12)


def test_a_product_of_squared_exponentials_is_one():
    both = separable_term(KERNELS["product"], (0, 1), 2)
    one = separable_term(SquaredExponential((0.8**-2 + np.array([1.0, 0.25])) ** -0.5), (0, 1), 2)
    assert both is not None
    assert one is not None
    np.testing.assert_allclose(both.precision, one.precision, rtol=1e-14)
    np.testing.assert_allclose(both.coefficient, 1.5 * 0.7, rtol=1e-14)


def test_one_dimensional_materns_are_products():
    for nu, kernel in ((0.5, Matern12(0.4)), (1.5, Matern32(0.4)), (2.5, Matern52(0.4))):
        product = separable_term(ProductMatern(0.4, nu=nu), (1,), 3)
        for same in (kernel, Matern(0.4, nu=nu)):
            found = separable_term(same, (1,), 3)
            assert found is not None
            assert found.materns[0][:2] == product.materns[0][:2] == (nu, (1,))
            np.testing.assert_array_equal(found.materns[0].lengthscale, [0.4])
    # In two dimensions the distance does not factorize; other orders have no closed form.
    assert separable_term(Matern52(0.4), (0, 1), 2) is None
    assert separable_term(Matern(0.4, nu=0.7), (0,), 1) is None
    # A matrix of one entry is a variance.
    assert Gaussian(0.0, [[2.0]]).diagonal
    assert GaussianMixture([1.0], [[0.0]], [[[2.0]]]).diagonal


def test_diagonal_and_full_covariances_agree():
    full = Gaussian(MEANS[0], np.diag(VARIANCES[0]))
    diagonal = integrals(KERNELS["waves"], MEASURES["Gaussian"])
    for x, y in zip(integrals(KERNELS["waves"], full), diagonal, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


def test_columns_are_counted_in_the_inputs():
    """Selections within selections, and blocks: each factor ends at the column that it reads."""
    inner = (Matern32(0.7).on(1) * SquaredExponential(0.5).on(0)).on([3, 1])
    term = separable_term(inner, (0, 1, 2, 3), 4)
    assert term is not None
    assert [f.columns for f in term.materns] == [(1,)]
    assert term.columns == {3}
    np.testing.assert_array_equal(term.precision, [0.0, 0.0, 0.0, 4.0])
    first, second = (
        separable_term(t, (0, 1), 2)
        for t in DirectSum([Matern32(0.7), SquaredExponential(0.5)], [[0], [1]]).terms()
    )
    assert first is not None
    assert second is not None
    assert (first.materns[0].columns, first.columns) == ((0,), frozenset())
    assert (second.materns, second.columns) == ((), {1})


def test_products_without_a_closed_form_are_recognized():
    """Two factors of one column, one of them a Matern; two waves; and other kernels."""
    for kernel in (
        Matern32(0.7).on(0) * SquaredExponential(0.9),
        ProductMatern(0.7, nu=0.5) * ProductMatern(0.7, nu=0.5),
        Cosine(2.0) * SPECTRAL,
        RationalQuadratic(1.0),
        Matern32(0.7).on(0) * RationalQuadratic(1.0).on(1),
    ):
        assert all(separable_term(term, (0, 1), 2) is None for term in kernel.terms())


def test_white_noise_integrates_to_zero():
    """Two points of a measure with a density are never equal, however many are compared."""
    for m in ("Gaussian", "Uniform", "Product"):
        assert float(kernel_double_mean(White(0.3), MEASURES[m])) == 0.0


class Opaque(Measure):
    """A Gaussian that nothing is known about except its points."""

    inside: Gaussian

    @property
    def dim(self):
        return self.inside.dim

    @property
    def mean(self):
        return self.inside.mean

    @property
    def cov(self):
        return self.inside.cov

    def sample(self, key, n):
        return self.inside.sample(key, n)

    def quantile(self, u):
        return self.inside.quantile(u)


def test_points_agree_with_the_closed_form():
    kernel, known = KERNELS["Matern52"], MEASURES["Gaussian"]
    mean, double = integrals(kernel, known)
    near, near_double = integrals(kernel, Opaque(known))
    np.testing.assert_allclose(near, mean, atol=2e-4)
    # The 4096 equal pairs add up to k(0) / 4096.
    np.testing.assert_allclose(near_double, double, atol=5e-4)
    few = kernel_mean(kernel, Opaque(known), POINTS["Gaussian"], n_qmc=64)
    assert np.max(np.abs(few - mean)) > 1e-3


def test_a_quadrature_variance_of_points_is_never_negative():
    """The double mean minus z^T K^-1 z, with more and more nodes."""
    kernel, measure = RationalQuadratic(0.8), MEASURES["Gaussian"]
    x = measure.qmc(32, 1)
    z, K = np.asarray(kernel.mean(measure, x)), np.asarray(kernel(x, x)) + 1e-10 * np.eye(32)
    double = float(kernel.double_mean(measure))
    left = [double - z[:n] @ np.linalg.solve(K[:n, :n], z[:n]) for n in range(1, 33)]
    assert min(left) > -1e-9
    assert np.all(np.diff(left) < 1e-9)
    assert left[-1] < 0.01 * left[0]


def test_a_sum_is_closed_where_it_can_be(monkeypatch):
    """Only the part without a closed form is done with points."""
    fallback, seen = _kernel_means._mean_over, []
    monkeypatch.setattr(_kernel_means, "_mean_over", lambda *a: seen.append(a[3]) or fallback(*a))
    closed, opened = KERNELS["SquaredExponential"], RationalQuadratic(0.8)
    measure = MEASURES["Gaussian"]
    total = kernel_mean(closed + opened, measure, X)
    assert seen == [(1,)]
    expected = kernel_mean(closed, measure, X) + kernel_mean(opened, measure, X)
    np.testing.assert_allclose(total, expected, rtol=1e-12)


def test_large_problems_go_in_chunks(monkeypatch):
    kernel, points = RationalQuadratic(0.8), MEASURES["Gaussian"].qmc(32, 0)
    monkeypatch.setattr(_kernel_means, "_MOST_ENTRIES", 64)
    chunked = _kernel_means._mean_over(kernel, points, X, (0,))
    np.testing.assert_allclose(chunked, brute_mean(kernel, X, points), rtol=1e-13)


@pytest.mark.parametrize(
    "measure", [LogNormal([0.0, 0.0], 0.4), Beta([2.0, 1.0], 3.0), Dirichlet([1.0, 2.0])], ids=repr
)
def test_every_measure_works(measure):
    kernel = KERNELS["SquaredExponential"]
    expected = brute_mean(kernel, X, measure.qmc(4096, 3))
    np.testing.assert_allclose(kernel_mean(kernel, measure, X), expected, atol=1e-4)
    assert 0.0 < float(kernel_double_mean(kernel, measure, n_qmc=256)) < 1.0


@pytest.mark.parametrize(
    ("k", "m"), [("Matern52", "Gaussian"), ("SpectralMixture", "full Gaussian")]
)
def test_gradients_agree_with_differences(k, m):
    """In the kernel's length scales and in the measure's parameters: what fits differentiate."""
    kernel, measure = KERNELS[k], MEASURES[m]

    def value(s):
        grown = jax.tree.map(lambda a: s * a, kernel)
        moved = Gaussian(s * measure.location, s * measure.spread)
        return jnp.sum(grown.mean(moved, X)) + grown.double_mean(moved)

    both = jax.jit(jax.value_and_grad(value))
    difference = (both(1.0 + 1e-5)[0] - both(1.0 - 1e-5)[0]) / 2e-5
    np.testing.assert_allclose(both(1.0)[1], difference, rtol=1e-7)


def test_a_component_of_zero_width_has_finite_gradients():
    """Spectral mixtures are padded with zeros: a root of the width would have slope infinity."""

    def value(scale):
        kernel = SpectralMixture([1.0], [[0.2, 0.1]], scale * jnp.ones((1, 2)))
        return kernel.double_mean(MEASURES["full Gaussian"])

    assert float(jax.jit(jax.grad(value))(0.0)) == 0.0


def test_dimensions_must_fit():
    with pytest.raises(InvalidData, match="2 coordinates of the measure, got shape"):
        kernel_mean(KERNELS["Matern32"], MEASURES["Gaussian"], X[:, :1])
    with pytest.raises(InvalidData, match="3 values in lengthscale"):
        kernel_mean(SquaredExponential([1.0, 1.0, 1.0]), MEASURES["Gaussian"], X)
    with pytest.raises(InvalidData, match="reads input column 4"):
        kernel_double_mean(Matern32(1.0).on(4), MEASURES["Gaussian"])
