"""Finite elements: against assembled matrices, and against the kernel away from the boundary."""

import equinox as eqx
import jax
import numpy as np
import pytest
import scipy.special

from leadline import Unsupported
from leadline.boundary import InvalidData
from leadline.kernels import Matern, Matern12, Matern32, RationalQuadratic, SquaredExponential
from leadline.paths import Features, FiniteElements

RNG = np.random.default_rng(0)

covariance = eqx.filter_jit(lambda f, x, y: f.covariance(x, y))
correlate = eqx.filter_jit(lambda f, z: f.correlate(z))
gram = eqx.filter_jit(lambda k, x, y: k(x, y))


@eqx.filter_jit
def in_every_way(features, x):
    """The law of the draws, from the table of covariances and from their root."""
    return features.covariance(x, x), features.variance(x), Features.covariance(features, x, x)


def assembled(n, h):
    """Mass and stiffness matrices of hat functions on a line (Wilson 2023, section 3.3.4)."""
    off, ends = np.eye(n, k=1) + np.eye(n, k=-1), np.ones(n)
    ends[[0, -1]] = 0.5
    return h / 6 * (4 * np.diag(ends) + off), (2 * np.diag(ends) - off) / h


def white_noise_variance(nu, kappa, dim):
    """Stationary variance of (kappa^2 - Lap)^(nu/2 + d/4) f = white noise."""
    ratio = scipy.special.gamma(nu) / scipy.special.gamma(nu + dim / 2)
    return ratio / ((4 * np.pi) ** (dim / 2) * kappa ** (2 * nu))


def on_a_line(nu):
    return FiniteElements(2.0 * Matern(0.4, nu=nu), [(0.0, 1.0)], 1 / 24, padding=0.0)


@pytest.mark.parametrize("nu", [0.5, 1.5, 3.5])
def test_solves_the_galerkin_system_on_a_line(nu):
    """A w = b with b ~ N(0, M); solved twice for nu = 7/2, and half a time for nu = 1/2."""
    features, kappa = on_a_line(nu), (2 * nu) ** 0.5 / 0.4
    mass, stiffness = assembled(25, 1 / 24)
    once = np.linalg.inv(kappa**2 * mass + stiffness)
    solution = {
        0.5: once,  # precision A, as for alpha = 1 in Lindgren, Rue and Lindstrom (2011)
        1.5: once @ mass @ once,
        3.5: once @ mass @ once @ mass @ once @ mass @ once,
    }[nu]
    expected = 2.0 * solution / white_noise_variance(nu, kappa, 1)
    table, _, root = in_every_way(features, features.grid.points())
    np.testing.assert_allclose(table, expected, rtol=1e-9)
    np.testing.assert_allclose(root, expected, rtol=1e-9)


@pytest.mark.parametrize("nu", [1.0, 3.0])
def test_solves_the_galerkin_system_in_the_plane(nu):
    """Bilinear elements: the matrices are Kronecker products."""
    features = FiniteElements(Matern(0.4, nu=nu), [(0.0, 1.0), (0.0, 0.75)], 1 / 8, padding=0.0)
    assert features.grid.shape == (9, 7)
    kappa = (2 * nu) ** 0.5 / 0.4
    (m1, g1), (m2, g2) = assembled(9, 1 / 8), assembled(7, 1 / 8)
    mass = np.kron(m1, m2)
    once = np.linalg.inv(kappa**2 * mass + np.kron(g1, m2) + np.kron(m1, g2))
    solution = once @ mass @ once
    if nu == 3.0:
        solution = solution @ mass @ once @ mass @ once
    expected = solution / white_noise_variance(nu, kappa, 2)
    table, _, root = in_every_way(features, features.grid.points())
    np.testing.assert_allclose(table, expected, rtol=1e-9)
    np.testing.assert_allclose(root, expected, rtol=1e-9)
    # Between the nodes.
    table, variance, root = in_every_way(features, RNG.uniform(size=(63, 2)) * [1.0, 0.75])
    np.testing.assert_allclose(table, root, rtol=1e-9)
    np.testing.assert_allclose(variance, np.diagonal(root), rtol=1e-9)


def test_interior_and_boundary():
    """Check: wilson S8.7."""
    kappa = 10.0
    features = FiniteElements(Matern32(3**0.5 / kappa), [(-2.0, 2.0)], 1 / 150, padding=0.0)
    x = features.grid.points()
    assert x.shape == (601, 1)
    found = np.asarray(covariance(features, x, x))
    variance = np.diagonal(found)
    np.testing.assert_allclose(variance[150:451], 1.0, atol=1e-3)
    r = kappa * np.abs(x[:, 0])
    assert np.abs(found[300] - (1 + r) * np.exp(-r)).max() <= 1e-3
    np.testing.assert_allclose(variance[[0, -1]] / variance[300], 2.0, atol=0.01)


PADDED = {
    "Matern12": (2.0 * Matern12(0.3), 0.04),
    "Matern32": (2.0 * Matern32(0.3), 1e-3),
    "SquaredExponential": (2.0 * SquaredExponential(0.3), 1e-3),
}


@pytest.mark.parametrize("name", PADDED)
def test_padding_removes_the_boundary(name):
    """In the whole box the covariance is the kernel's; less precisely so for a rough one."""
    kernel, tolerance = PADDED[name]
    features = FiniteElements(kernel, [(0.0, 1.0)], 1 / 200)
    x = np.linspace(0.0, 1.0, 41)[:, None]
    np.testing.assert_allclose(covariance(features, x, x), gram(kernel, x, x), atol=tolerance)


def test_plane_against_the_kernel():
    """Matern with nu = 1 in the plane; the error falls almost with the square of the spacing."""
    kernel = Matern(0.25, nu=1.0)
    x = RNG.uniform(size=(41, 2))
    exact, errors = np.asarray(gram(kernel, x, x)), []
    for spacing in (0.02, 0.01):
        features = FiniteElements(kernel, [(0.0, 1.0), (0.0, 1.0)], spacing)
        found = covariance(features, x, x)
        errors.append(np.abs(found - exact).max())
    assert errors[-1] < 0.005
    assert np.log2(errors[0] / errors[1]) > 1.5
    nodes = features.grid.points()
    inner = nodes[np.all((nodes >= 0.0) & (nodes <= 1.0), axis=1)]
    variance = np.diagonal(covariance(features, *[inner[:: inner.shape[0] // 41][:41]] * 2))
    np.testing.assert_allclose(variance, 1.0, atol=2e-3)


def test_draws_have_the_covariance():
    """100,000 draws, within five standard errors at every pair of nodes."""
    features = on_a_line(1.5)
    weights = np.asarray(correlate(features, np.random.default_rng(1).normal(size=(100_000, 25))))
    expected = np.asarray(in_every_way(features, features.grid.points())[0])
    sd = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / 1e5)
    assert np.max(np.abs(weights.T @ weights / 1e5 - expected) / sd) < 5.0


def test_slopes_and_lengthscales():
    """Draws have slopes between nodes, and trace in the length scale if the padding is given."""
    z = RNG.normal(size=(1, 41))

    @jax.jit
    def value(lengthscale, x):
        features = FiniteElements(Matern32(lengthscale), [(0.0, 1.0)], 0.05, padding=0.5)
        return features.values(x[None, None], features.correlate(z))[0, 0]

    both, h = jax.jit(jax.value_and_grad(value, argnums=(0, 1))), 1e-6
    _, slopes = both(0.3, np.asarray(0.4375))
    by_length = both(0.3 + h, np.asarray(0.4375))[0] - both(0.3 - h, np.asarray(0.4375))[0]
    by_input = both(0.3, np.asarray(0.4375 + h))[0] - both(0.3, np.asarray(0.4375 - h))[0]
    np.testing.assert_allclose(slopes, np.array([by_length, by_input]) / (2 * h), rtol=1e-6)


def test_bad_input():
    box = [(0.0, 1.0)]
    with pytest.raises(Unsupported, match="Only Matern and squared exponential"):
        FiniteElements(RationalQuadratic(), box, 0.1)
    with pytest.raises(InvalidData, match="one length scale"):
        FiniteElements(Matern32([0.1, 0.2]), box * 2, 0.1)
    with pytest.raises(InvalidData, match="spacing must be positive"):
        FiniteElements(Matern32(0.1), box, 0.0)
    with pytest.raises(InvalidData, match="padding must be zero or positive"):
        FiniteElements(Matern32(0.1), box, 0.1, padding=-1.0)
    with pytest.raises(InvalidData, match="is too large"):
        FiniteElements(Matern32(0.1), box * 3, 1e-3)
    with pytest.raises(InvalidData, match="give the padding"):
        jax.jit(lambda l: FiniteElements(Matern32(l), box, 0.1).amplitude)(0.1)
