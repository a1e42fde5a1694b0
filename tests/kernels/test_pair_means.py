"""Pair and triple means of kernels: against grids, printed formulas, and points."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline import InvalidData
from leadline.kernels import (
    Matern12,
    Matern32,
    Matern52,
    ProductMatern,
    RationalQuadratic,
    SquaredExponential,
    kernel_pair_mean,
)
from leadline.kernels._means import _pair_means
from leadline.measures import Gaussian, GaussianMixture, Product, Uniform

X = jnp.asarray(np.random.default_rng(0).normal(size=(6, 1)))
Y = jnp.asarray(np.random.default_rng(1).normal(size=(5, 1)))
X2 = jnp.asarray(np.random.default_rng(2).normal(size=(6, 2)))
Y2 = jnp.asarray(np.random.default_rng(3).normal(size=(5, 2)))
NORMAL, BOX = Gaussian(0.3, 0.8), Uniform(-1.0, 1.5)
MIXTURE = GaussianMixture([0.3, 0.7], [-0.5, 1.0], [0.2, 0.5])
SMOOTH = 0.7 * SquaredExponential(0.6)
TWO = 0.5 * SquaredExponential(0.4) + 0.3 * Matern32(1.0)


def means(kernel, measure, x, y, **options):
    options = {"n_qmc": 4096, **options}
    return [
        np.asarray(mean(measure, x, y, **options))
        for mean in (kernel.pair_mean, kernel.triple_mean)
    ]


def squared_exponential(x, z, l):
    return np.exp(-0.5 * np.sum(((x[:, None] - z[None]) / l) ** 2, axis=2))


def matern32(x, z):
    r = np.sqrt(3.0) * np.abs(x - z.T)
    return (1.0 + r) * np.exp(-r)


def smooth(x, z):
    return 0.7 * squared_exponential(x, z, 0.6)


def two(x, z):
    return 0.5 * squared_exponential(x, z, 0.4) + 0.3 * matern32(x, z)


def by_grid(kernel, measure, ends):
    """Both by Gauss-Legendre rules between the ends."""
    nodes, weights = np.polynomial.legendre.leggauss(10)
    lengths = np.diff(ends)[:, None]
    z = (ends[:-1, None] + 0.5 * lengths * (nodes + 1.0)).reshape(-1, 1)
    w = (0.5 * lengths * weights).ravel() * np.exp(np.asarray(measure.log_prob(jnp.asarray(z))))
    return by_points(kernel, z, w, np.asarray(X), np.asarray(Y))


def by_points(kernel, z, w, x, y):
    of_x, of_y = kernel(x, z) * w, w[:, None] * kernel(z, y)
    return of_x @ kernel(z, y), of_x @ (kernel(z, z) @ of_y)


@pytest.mark.parametrize(
    ("measure", "ends"),
    [
        (NORMAL, np.linspace(-8.0, 8.6, 201)),
        (MIXTURE, np.linspace(-5.0, 7.5, 201)),
        (BOX, np.linspace(-1.0, 1.5, 201)),
    ],
    ids=["Gaussian", "mixture", "Uniform"],
)
def test_squared_exponential_against_a_grid(measure, ends):
    """Check: hamid 15"""
    for ours, expected in zip(
        means(SMOOTH, measure, X, Y), by_grid(smooth, measure, ends), strict=True
    ):
        np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=0.0)


def test_printed_formulas_in_two_dimensions():
    """Those of Hamid (2023) for a squared exponential against a Gaussian, column by column."""
    l, b, s = np.array([0.6, 1.1]), np.array([0.3, -0.2]), np.array([0.5, 1.2])
    kernel, x = 0.9 * SquaredExponential(l), np.asarray(X2)
    pair, triple = means(kernel, Gaussian(b, s), X2, X2)
    printed_pair, printed_triple = 0.9**2 * np.ones((6, 6)), 0.9**3 * np.ones((6, 6))
    for p in range(2):
        xi, xj = x[:, None, p], x[None, :, p]
        middle = 0.5 * (xi + xj) - b[p]
        printed_pair *= np.exp(-((xi - xj) ** 2) / (4.0 * l[p] ** 2))
        printed_pair *= np.exp(-0.5 * middle**2 / (0.5 * l[p] ** 2 + s[p]))
        printed_pair /= np.sqrt(1.0 + 2.0 * s[p] / l[p] ** 2)
        own, cross = 2.0 / l[p] ** 2 + 1.0 / s[p], -1.0 / l[p] ** 2
        inverse = np.linalg.inv(np.array([[own, cross], [cross, own]]))
        h = np.stack(np.broadcast_arrays(*(v / l[p] ** 2 + b[p] / s[p] for v in (xi, xj))))
        c = (xi**2 + xj**2) / l[p] ** 2 + 2.0 * b[p] ** 2 / s[p]
        form = np.einsum("aij,ab,bij->ij", h, inverse, h)
        printed_triple *= np.sqrt(np.linalg.det(inverse)) / s[p] * np.exp(0.5 * form - 0.5 * c)
    np.testing.assert_allclose(pair, printed_pair, rtol=1e-12)
    np.testing.assert_allclose(triple, printed_triple, rtol=1e-10)


def test_one_kink_after_another():
    """Rules of NumPy that know where each kink is: x, y, and in the inner integral z too."""
    nodes, weights = np.polynomial.legendre.leggauss(40)

    def rule(*kinks):
        ends = np.unique(np.concatenate([np.linspace(-1.0, 1.5, 9), np.clip(kinks, -1.0, 1.5)]))
        lengths = np.diff(ends)[:, None]
        z = (ends[:-1, None] + 0.5 * lengths * (nodes + 1.0)).ravel()
        return z, (0.5 * lengths * weights).ravel() / 2.5

    def k(r):
        return np.exp(-np.abs(r) / 0.4)

    x, y = -0.37, 0.61
    z, w = rule(x, y)
    inner = []
    for each in z:
        t, v = rule(y, each)
        inner.append(np.sum(v * k(each - t) * k(t - y)))
    pair, triple = means(Matern12(0.4), BOX, jnp.array([[x]]), jnp.array([[y]]))
    np.testing.assert_allclose(pair[0, 0], np.sum(w * k(x - z) * k(z - y)), rtol=1e-13)
    np.testing.assert_allclose(triple[0, 0], np.sum(w * k(x - z) * inner), rtol=1e-13)


def test_sums_of_kinds_against_a_grid(monkeypatch):
    """Every product of two and of three terms. The grid has kinks in cells: it is right to 1e-7."""
    monkeypatch.setattr(_pair_means, "_by_points", lambda *_: pytest.fail("no rule"))
    expected = by_grid(two, BOX, np.linspace(-1.0, 1.5, 201))
    for ours, grid in zip(means(TWO, BOX, X, Y), expected, strict=True):
        np.testing.assert_allclose(ours, grid, rtol=1e-7)


@pytest.mark.parametrize(
    ("kernel", "measure"),
    [
        (ProductMatern([0.6, 1.1], nu=2.5), Gaussian([0.3, -0.2], [0.5, 1.2])),
        (Matern32(0.7).on(0) * SquaredExponential(0.9).on(1), Uniform([-1.0, 0.0], [1.0, 2.5])),
        (SquaredExponential(0.8).on(1), Product([Uniform(-1.0, 1.0), Gaussian(0.5, 0.4)])),
    ],
    ids=["Matern", "columns", "product"],
)
def test_columns_agree_with_many_points(kernel, measure, monkeypatch):
    pair, triple = means(kernel, measure, X2, Y2)
    monkeypatch.setattr(_pair_means, "_columns", lambda *_: False)
    monkeypatch.setattr(_pair_means, "_tilts", lambda *_: False)
    expected = means(kernel, measure, X2, Y2, n_qmc=2048)
    np.testing.assert_allclose(pair, expected[0], atol=3e-3 * expected[0].max())
    np.testing.assert_allclose(triple, expected[1], atol=3e-3 * expected[1].max())


def test_full_covariances():
    """A diagonal one given as a matrix, and some that are not against points."""
    l = np.array([0.6, 1.1])
    location, variances = np.array([0.3, -0.2]), np.array([0.5, 1.2])
    by_variances = means(SquaredExponential(l), Gaussian(location, variances), X2, Y2)
    by_matrix = means(SquaredExponential(l), Gaussian(location, np.diag(variances)), X2, Y2)
    for ours, expected in zip(by_matrix, by_variances, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-12)
    covs = np.array([[[0.7, 0.3], [0.3, 0.4]], [[0.2, -0.1], [-0.1, 0.9]]])
    measure = GaussianMixture([0.4, 0.6], [[0.3, -0.2], [-1.0, 0.8]], covs)
    points, w = np.asarray(measure.qmc(1024, 7)), np.full(1024, 1.0 / 1024)
    expected = by_points(
        lambda x, z: squared_exponential(x, z, l), points, w, np.asarray(X2), np.asarray(Y2)
    )
    for ours, many in zip(means(SquaredExponential(l), measure, X2, Y2), expected, strict=True):
        np.testing.assert_allclose(ours, many, atol=1e-2 * many.max())


def test_a_narrow_measure_is_a_point():
    pair, triple = means(SMOOTH, Gaussian(0.3, 1e-12), X, Y)
    at = np.array([[0.3]])
    of_x, of_y = smooth(np.asarray(X), at), smooth(at, np.asarray(Y))
    np.testing.assert_allclose(pair, of_x * of_y, rtol=1e-6)
    np.testing.assert_allclose(triple, 0.7 * of_x * of_y, rtol=1e-6)


def test_others_go_over_the_same_points(monkeypatch):
    """So that a T - P K^-1 P of points has no negative eigenvalue."""
    kernel = RationalQuadratic(1.0)
    used, fallback = [], _pair_means._by_points
    monkeypatch.setattr(_pair_means, "_by_points", lambda *a: used.append(a[1]) or fallback(*a))
    pair, triple = means(kernel, BOX, X, X, n_qmc=256)
    assert np.array_equal(used[0], used[1])
    gram = np.asarray(kernel(X, X)) + 1e-9 * np.eye(6)
    left = triple - pair @ np.linalg.solve(gram, pair)
    assert np.linalg.eigvalsh(0.5 * (left + left.T)).min() > -1e-9


def test_gradients_agree_with_differences():
    @jax.jit
    def total(log_l):
        kernel = Matern52(jnp.exp(log_l))
        return jnp.sum(kernel.pair_mean(BOX, X, Y)) + jnp.sum(kernel.triple_mean(BOX, X, Y))

    h, at = 1e-4, jnp.asarray(-0.4)
    slope = (total(at + h) - total(at - h)) / (2.0 * h)
    np.testing.assert_allclose(jax.jit(jax.grad(total))(at), slope, rtol=1e-6)


def test_columns_must_fit():
    with pytest.raises(InvalidData, match=r"^x must have one column for each of the 1 coordinates"):
        kernel_pair_mean(SMOOTH, NORMAL, X2, Y2)
