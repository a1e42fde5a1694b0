"""Draws with boundary conditions: eigenpairs, variances, and what data leave of the condition."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline import Unsupported
from leadline.boundary import InvalidData
from leadline.kernels import Linear, Matern12, Matern32, Matern52, SquaredExponential
from leadline.paths import BoxModes, RegionModes, RegularGrid, exact_update, prior_draws

RNG = np.random.default_rng(0)
KERNEL = Matern52(0.2)
BOX = [(0.0, 2.0), (0.0, 1.0)]
DATA = np.array([[0.4, 0.3], [0.9, 0.7], [1.5, 0.4], [1.1, 0.2], [1.7, 0.8]])
TARGETS = np.array([1.0, -0.7, 0.5, 1.4, -1.2])

covariance = eqx.filter_jit(lambda f, x, y: f.covariance(x, y))
variance = eqx.filter_jit(lambda f, x: f.variance(x))
eigenfunctions = eqx.filter_jit(lambda f, x: f.eigenfunctions(x))
features_at = eqx.filter_jit(lambda f, x: f(x))
gram = eqx.filter_jit(lambda k, x, y: k(x, y))


@eqx.filter_jit
def with_slopes(features, x, direction, weights):
    """Draws at the rows of x, and their slopes in a direction."""

    def draws(x):
        return features.values(x, weights)

    return jax.jvp(draws, (x,), (jnp.broadcast_to(direction, x.shape),))


def edge_of_the_box(n=25):
    """Points on all four sides of the rectangle; the long sides first."""
    t = np.linspace(0.0, 1.0, n)
    sides = [[2 * t, 0 * t], [2 * t, 0 * t + 1], [0 * t, t], [0 * t + 2, t]]
    return np.concatenate([np.stack(side, axis=1) for side in sides])


EDGE = edge_of_the_box()


def disc_mask(n):
    """A disc of radius 1/2 around (1/2, 1/2), on a grid of n by n nodes."""
    grid = RegularGrid([(0.0, 1.0), (0.0, 1.0)], (n, n))
    return grid, np.sum((grid.points() - 0.5) ** 2, axis=1).reshape(grid.shape) < 0.25


@pytest.fixture(scope="module")
def box():
    return BoxModes(KERNEL, BOX, 400)


@pytest.fixture(scope="module")
def disc():
    grid, mask = disc_mask(41)
    return grid, mask, RegionModes(KERNEL, grid, mask, 60)


@pytest.fixture(scope="module")
def draws(box):
    """Prior draws and draws given exact data, at the edge and at the data."""
    prior = prior_draws(box.kernel(), jax.random.key(0), 8, features=box)
    posterior = exact_update(prior, DATA, TARGETS)
    x = np.concatenate([EDGE, DATA])
    return prior, np.asarray(prior(x)), np.asarray(posterior(x))


def test_zero_on_the_boundary(box, draws):
    """Check: wilson S13.1."""
    assert np.abs(np.asarray(eigenfunctions(box, EDGE))).max() <= 1e-12
    _, before, after = draws
    for values in (before, after):
        assert np.abs(values[:, : len(EDGE)]).max() <= 1e-10
        assert np.abs(values[:, len(EDGE) :]).max() > 0.1


@pytest.mark.parametrize("boundary", ["dirichlet", "neumann"])
def test_eigenpairs(boundary):
    """Orthonormal by quadrature, and -Lap phi = s phi by finite differences.

    Check: wilson S13.2.
    """
    features, h = BoxModes(KERNEL, BOX, 30, boundary), 1e-4
    t, w = np.polynomial.legendre.leggauss(30)
    x = np.stack(np.meshgrid(t + 1.0, 0.5 * (t + 1.0), indexing="ij"), axis=-1).reshape(-1, 2)
    inner = x[np.all((x > 0.1) & (x < [1.9, 0.9]), axis=1)][::7]
    steps = h * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    moved = [inner + step for step in steps]
    phi = np.asarray(eigenfunctions(features, np.concatenate([x, inner, *moved])))
    at_x, rest = phi[:900], phi[900:].reshape(5, -1, 30)
    weights = np.outer(w, 0.5 * w).ravel()[:, None]
    np.testing.assert_allclose(at_x.T @ (weights * at_x), np.eye(30), atol=1e-12)
    s = np.asarray(features.laplacian)
    minus_laplacian = (4 * rest[0] - rest[1:].sum(axis=0)) / h**2
    np.testing.assert_allclose(minus_laplacian, s * rest[0], atol=1e-4 * s.max())


@pytest.mark.parametrize("bounds", [BOX, [*BOX, (0.0, 0.7)]])
def test_the_smallest_eigenvalues_are_kept(bounds):
    """Against all of a large table, in two and three dimensions."""
    for boundary, first in (("dirichlet", 1), ("neumann", 0)):
        axes = [(np.pi * np.arange(first, 40) / (high - low)) ** 2 for low, high in bounds]
        table = np.sort(sum(np.meshgrid(*axes, indexing="ij")).ravel())[:200]
        features = BoxModes(KERNEL, bounds, 200, boundary)
        np.testing.assert_allclose(features.laplacian, table, rtol=1e-12, atol=1e-12)


def test_variance_far_from_the_boundary():
    """With as many modes as 40 by 40.

    Check: wilson S13.3.
    """
    center = np.array([[1.0, 0.5]])
    found = variance(BoxModes(KERNEL, BOX, 1600), center)
    np.testing.assert_allclose(found, 1.0, atol=0.01)
    scaled = variance(BoxModes(3.0 * KERNEL, BOX, 1600), center)
    np.testing.assert_allclose(scaled, 3.0 * found, rtol=1e-12)


IMAGES = {
    "Matern12": (Matern12(0.3), 3e-3),
    "Matern32": (2.0 * Matern32(0.3), 2e-6),
    "SquaredExponential": (SquaredExponential(0.3), 1e-12),
}


@pytest.mark.parametrize("name", IMAGES)
def test_method_of_images(name):
    """On an interval the covariance is the kernel, and its mirror images on both sides.

    With a minus sign where the function vanishes, with a plus where its slope does.
    """
    kernel, tolerance = IMAGES[name]
    x, images = np.linspace(-1.0, 0.5, 31)[:, None], range(-6, 7)
    straight = sum(np.asarray(gram(kernel, x, x + 3.0 * i)) for i in images)
    mirrored = sum(np.asarray(gram(kernel, x, -2.0 - x + 3.0 * i)) for i in images)
    for boundary, sign in (("dirichlet", -1.0), ("neumann", 1.0)):
        features = BoxModes(kernel, [(-1.0, 0.5)], 1000, boundary)
        expected = straight + sign * mirrored
        np.testing.assert_allclose(covariance(features, x, x), expected, atol=tolerance)


def test_interpolates_the_data(box, draws):
    """Check: wilson S13.4."""
    _, _, after = draws
    assert np.abs(after[:, len(EDGE) :] - TARGETS).max() < 1e-8
    # And so does the posterior itself, in closed form.
    predicted = ll.GP(box.kernel(), noise=1e-10).condition(DATA, TARGETS).predict(DATA)
    np.testing.assert_allclose(predicted.mean, TARGETS, atol=1e-6)
    assert np.max(predicted.std) < 1e-4


def test_free_space_kernel_breaks_the_boundary(draws):
    """The same prior draws, updated with the kernel that knows no boundary.

    Check: wilson S13.7.
    """
    _, before, _ = draws
    at_edge, at_data = before[:, : len(EDGE)], before[:, len(EDGE) :]
    pull = np.linalg.solve(gram(KERNEL, DATA, DATA), (TARGETS - at_data).T)
    after = at_edge + np.asarray(gram(KERNEL, DATA, EDGE)).T.dot(pull).T
    assert np.abs(after).max() > 1e-3


def test_no_slope_across_a_neumann_boundary():
    features = BoxModes(KERNEL, BOX, 100, "neumann")
    long_sides = EDGE[:50]
    weights = RNG.normal(size=(3, 100))
    values, across = with_slopes(features, long_sides, np.array([0.0, 1.0]), weights)
    np.testing.assert_allclose(across, 0.0, atol=1e-10)
    assert np.abs(values).max() > 0.1


def test_slopes_of_draws(box):
    """Against finite differences, and one-sided at the boundary."""
    weights, h = RNG.normal(size=(3, 400)), 1e-6
    direction = np.array([0.6, -0.8])
    x = np.array([[0.7, 0.3], [1.4, 0.6], [1.2, 1.0]])
    rows = np.concatenate([x, x + h * direction, x - h * direction])
    values, slopes = with_slopes(box, rows, direction, weights)
    values = np.asarray(values).reshape(3, 3, 3)
    numeric = (values[:, 1] - values[:, 2]) / (2 * h)
    np.testing.assert_allclose(slopes[:, :2], numeric[:, :2], atol=1e-6)
    inward = (values[:, 1] - values[:, 0]) / h
    np.testing.assert_allclose(slopes[:, 2], inward[:, 2], atol=1e-3)


def test_outside_is_the_boundary(box):
    outside = np.array([[-0.3, 0.5], [2.4, 0.2], [1.0, -1.0], [3.0, 3.0]])
    assert np.abs(eigenfunctions(box, np.resize(outside, EDGE.shape))).max() <= 1e-12


def test_region_eigenvalues_on_a_rectangle():
    """A rectangle as a masked grid with spacing 1/64.

    Check: wilson S13.5.
    """
    h = 1 / 64
    grid = RegularGrid([(h, 1 - h), (h, 0.5 - h)], (63, 31))
    features = RegionModes(KERNEL, grid, np.ones(grid.shape, bool), 10)
    exact = BoxModes(KERNEL, [(0.0, 1.0), (0.0, 0.5)], 10)
    np.testing.assert_allclose(features.laplacian, exact.laplacian, rtol=0.01)


def test_region_on_a_line():
    """Also in one dimension; eigenfunctions have unit integrals of their squares."""
    h = 1 / 64
    line = RegularGrid([(h, 1 - h)], (63,))
    features = RegionModes(KERNEL, line, np.ones(63, bool), 10)
    exact = (2 / h * np.sin(0.5 * np.pi * h * np.arange(1, 11))) ** 2  # of the differences
    np.testing.assert_allclose(features.laplacian, exact, rtol=1e-9)
    values = np.asarray(eigenfunctions(features, line.points()))
    np.testing.assert_allclose(h * values.T @ values, np.eye(10), atol=1e-10)


def test_disc_eigenvalues(disc):
    """The smallest are squares of zeros of Bessel functions, divided by the radius.

    The stairs of the mask are off by a part of the spacing, and so is the radius.
    """
    _, _, coarse = disc
    fine = RegionModes(KERNEL, *disc_mask(161), 10)
    zeros = np.array([2.404826, 3.831706, 3.831706, 5.135622, 5.135622, 5.520078])
    np.testing.assert_allclose(coarse.laplacian[:6], (zeros / 0.5) ** 2, rtol=0.04)
    np.testing.assert_allclose(fine.laplacian[:6], (zeros / 0.5) ** 2, rtol=0.01)


def test_region_draws_vanish_outside(disc):
    """Before data and after, and data are met.

    Check: wilson S13.6.
    """
    grid, mask, features = disc
    x, y = np.array([[0.5, 0.3], [0.3, 0.6], [0.7, 0.55]]), np.array([1.0, -1.0, 0.5])
    far = np.array([[0.05, 0.05], [1.5, 0.5], [0.5, -2.0]])
    rows = np.concatenate([grid.points()[~mask.ravel()], far, [[0.5, 0.5]], x])
    phi = np.asarray(features_at(features, rows))
    outside, center, data = phi[:-4], phi[-4], phi[-3:]
    assert np.abs(outside).max() < 1e-12  # the rounding of a node's coordinates
    assert 0.9 < np.sum(center**2) < 1.05
    weights = RNG.normal(size=(4, 60))
    pull = np.linalg.solve(data @ data.T, y[:, None] - data @ weights.T)
    updated = weights + (data.T @ pull).T
    np.testing.assert_allclose(updated @ data.T, np.broadcast_to(y, (4, 3)), atol=1e-8)
    assert np.abs(updated @ outside.T).max() < 1e-10


def test_lengthscale_traces():
    @jax.jit
    @jax.value_and_grad
    def at(lengthscale):
        features = BoxModes(Matern52(lengthscale), BOX, 50)
        return features.variance(jnp.asarray([[0.7, 0.2]]))[0]

    numeric = (at(0.3 + 1e-6)[0] - at(0.3 - 1e-6)[0]) / 2e-6
    np.testing.assert_allclose(at(0.3)[1], numeric, rtol=1e-6)


def test_bad_input(disc):
    grid, mask, _ = disc
    with pytest.raises(Unsupported, match="Only Matern and squared exponential"):
        BoxModes(Linear(), BOX, 10)
    with pytest.raises(InvalidData, match="one length scale"):
        BoxModes(Matern32([0.1, 0.2]), BOX, 10)
    with pytest.raises(InvalidData, match="Did you mean 'dirichlet'"):
        BoxModes(KERNEL, BOX, 10, "dirichelt")
    with pytest.raises(InvalidData, match="at least 1"):
        BoxModes(KERNEL, BOX, 0)
    with pytest.raises(InvalidData, match="grid's shape"):
        RegionModes(KERNEL, grid, mask[1:], 10)
    with pytest.raises(InvalidData, match="array of bool"):
        RegionModes(KERNEL, grid, mask.astype(float), 10)
    with pytest.raises(InvalidData, match="fewer eigenfunctions"):
        RegionModes(KERNEL, grid, mask, int(mask.sum()))
