"""Regular grids: nodes, interpolation weights, and the features that they make."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline.boundary import InvalidData
from leadline.kernels import Matern52
from leadline.paths import Circulant, RegularGrid
from leadline.paths._features._grid import REACH

BOX = [(-1.0, 0.5), (2.0, 4.0), (0.0, 1.0)]
SHAPE = (7, 6, 5)
ROWS = 200
RNG = np.random.default_rng(0)


@eqx.filter_jit
def interpolated(grid, x, values, how):
    """The interpolant of values at the nodes, and its slope along the first column."""

    def at(x):
        nodes, xi = grid.stencil(x, how)
        return jnp.sum(values[grid.number(nodes)] * xi, axis=-1)

    return jax.jvp(at, (x,), (jnp.zeros_like(x).at[:, 0].set(1.0),))


@eqx.filter_jit
def in_every_way(features, x, paired_x, weights):
    return features(x), features.values(x, weights), features.paired_values(paired_x, weights)


def grid_of(dim):
    return RegularGrid(BOX[:dim], SHAPE[:dim])


def repeated(x):
    return np.resize(x, (ROWS, x.shape[1]))


@pytest.mark.parametrize("how", ["linear", "cubic"])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_polynomials_are_reproduced(dim, how):
    """Linear weights reproduce products of linear functions, cubic ones of quadratics."""
    grid, degree = grid_of(dim), {"linear": 1, "cubic": 2}[how]
    coefficients = RNG.normal(size=(dim, degree + 1))

    def polynomial(x):
        powers = [x**p for p in range(degree + 1)]
        return np.prod(sum(c * p for c, p in zip(coefficients.T, powers, strict=True)), axis=1)

    # Where the interpolation has all the nodes it needs.
    low, high = (edge + side * REACH[how] * grid.spacing for edge, side in edges(grid))
    x = low + (high - low) * RNG.uniform(size=(ROWS, dim))
    found, _ = interpolated(grid, x, polynomial(grid.points()), how)
    np.testing.assert_allclose(found, polynomial(x), atol=1e-12)
    # One degree more is not reproduced.
    more, _ = interpolated(grid, x, np.prod(grid.points() ** (degree + 1), axis=1), how)
    assert np.abs(more - np.prod(x ** (degree + 1), axis=1)).max() > 1e-4


def edges(grid):
    return (grid.lower, 1.0), (grid.upper, -1.0)


@pytest.mark.parametrize("how", ["linear", "cubic"])
def test_nodes_keep_their_values(how):
    grid, reach = grid_of(2), REACH[how]
    values = RNG.normal(size=grid.size)
    inner = np.zeros(grid.shape, bool)
    inner[reach : grid.shape[0] - reach, reach : grid.shape[1] - reach] = True
    found, _ = interpolated(grid, repeated(grid.points()[inner.ravel()]), values, how)
    np.testing.assert_allclose(found, np.resize(values[inner.ravel()], ROWS), atol=1e-12)


def test_order_of_cubic_convolution():
    """The error of a smooth function falls with the third power of the spacing (Keys 1981)."""
    errors = []
    for h in (0.05, 0.025, 0.0125):
        grid = RegularGrid([(0.2, 0.2 + 6 * h)], SHAPE[:1])
        x = np.linspace(0.2 + h, 0.2 + 2 * h, ROWS)[:, None]
        found, _ = interpolated(grid, x, np.exp(3.0 * grid.points()[:, 0]), "cubic")
        errors.append(np.abs(found - np.exp(3.0 * x[:, 0])).max())
    slopes = np.diff(np.log2(errors))
    assert np.all((slopes > -3.4) & (slopes < -2.9))


def test_outside_is_the_edge():
    grid = grid_of(2)
    values = RNG.normal(size=grid.size)
    x = repeated(np.array([[-9.0, 3.1], [0.1, 9.0], [7.0, -7.0]]))
    edge = np.clip(x, grid.lower, grid.upper)
    outside, on_it = (interpolated(grid, a, values, "linear")[0] for a in (x, edge))
    np.testing.assert_array_equal(outside, on_it)


def test_slopes():
    """Of cubic draws by finite differences; at the edge the slope is that of the inside."""
    grid, h = RegularGrid([(0.0, 1.0)], SHAPE[:1]), 1e-6
    values = RNG.normal(size=grid.size)
    x = np.array([0.31, 0.31 + h, 0.31 - h, 0.5, 0.5 + 1e-9, 0.5 - 1e-9, 1.0, 1.1])[:, None]
    value, slope = (np.asarray(a) for a in interpolated(grid, repeated(x), values, "cubic"))
    np.testing.assert_allclose(slope[0], (value[1] - value[2]) / (2 * h), rtol=1e-6)
    np.testing.assert_allclose(slope[4:6], slope[3], atol=1e-5)  # continuous at a node
    _, slope = interpolated(grid, repeated(x), values, "linear")
    np.testing.assert_allclose(slope[6], (values[-1] - values[-2]) * 6.0, rtol=1e-12)
    assert slope[7] == 0.0


def test_sparse_values_are_those_of_dense_features():
    features = Circulant(Matern52(0.3), RegularGrid([(0.0, 1.0), (0.0, 0.5)], (9, 6)))
    x = RNG.uniform(size=(12, 2)) * [1.0, 0.5]
    weights = RNG.normal(size=(3, features.size))
    dense, values, paired = in_every_way(features, x, x.reshape(3, 4, 2), weights)
    expected = weights @ np.asarray(dense).T
    np.testing.assert_allclose(values, expected, atol=1e-13)
    own = np.stack([expected[i, 4 * i : 4 * i + 4] for i in range(3)])
    np.testing.assert_allclose(paired, own, atol=1e-13)


def test_covering_holds_the_box():
    grid = RegularGrid.covering([(0.0, 1.0), (0.0, 0.95)], 0.1)
    assert grid.shape == (11, 11)
    np.testing.assert_allclose(grid.spacing, 0.1)
    np.testing.assert_allclose(grid.upper, [1.0, 1.0])
    wider = grid.extended(2)
    assert wider.shape == (15, 15)
    np.testing.assert_allclose(wider.lower, [-0.2, -0.2])
    np.testing.assert_allclose(wider.points().reshape(15, 15, 2)[2, 3], [0.0, 0.1], atol=1e-15)


@pytest.mark.parametrize("shape", [(1,), (3, 3), (2.5,), "many"])
def test_bad_shapes(shape):
    with pytest.raises(InvalidData, match="shape must be a whole number of nodes"):
        RegularGrid([(0.0, 1.0)], shape)


@pytest.mark.parametrize("spacing", [0.0, -1.0, np.nan])
def test_bad_spacing(spacing):
    with pytest.raises(InvalidData, match="spacing must be positive"):
        RegularGrid.covering([(0.0, 1.0)], spacing)
