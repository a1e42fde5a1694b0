"""What each kernel in a combination is told of the data, from which its start and bounds come."""

import jax.numpy as jnp
import numpy as np

from leadline import fixed, kernels
from leadline.kernels import Matern52
from leadline.numerics import DataScale, slots

X = np.random.default_rng(0).uniform(size=(200, 3)) * [1.0, 10.0, 100.0]
SCALE = DataScale.of(X, 7.0 * np.sin(np.arange(200.0)))
WIDTH = np.sqrt(12.0) * X.std(axis=0)


def units(kernel):
    """The natural unit of every parameter, in order."""
    return [s.unit(slot.constraint, np.shape(slot.get(kernel))) for slot, s in slots(kernel, SCALE)]


def test_wrappers_show_their_own_columns():
    (found,) = units(Matern52([1.0, 1.0], active_dims=[2, 0]))
    np.testing.assert_allclose(found, WIDTH[[2, 0]])
    first, second = units(kernels.DirectSum([Matern52([1.0]), Matern52([1.0, 1.0])], [[1], [2, 0]]))
    np.testing.assert_allclose(first, WIDTH[[1]])
    np.testing.assert_allclose(second, WIDTH[[2, 0]])
    (nested,) = units(Matern52([1.0]).on([0]).on([1, 2]))
    np.testing.assert_allclose(nested, WIDTH[[1]])


def test_warp_shows_transformed_inputs():
    (found,) = units(kernels.Warp(Matern52([1.0, 1.0]), lambda x: jnp.log(x[:, :2])))
    np.testing.assert_allclose(found, np.sqrt(12.0) * np.log(X[:, :2]).std(axis=0))


def test_one_factor_of_a_product_carries_the_units_of_the_targets():
    """Starting variances must not multiply up: the first that can, and only that one."""
    y2 = SCALE.y_std**2
    a, b = units(kernels.Product((kernels.Constant(), kernels.Constant())))
    np.testing.assert_allclose([a, b], [y2, 1.0])
    _, variance, _, last = units(Matern52() * (2.0 * Matern52()) * kernels.White())
    np.testing.assert_allclose([variance, last], [y2, 1.0])
    # A fixed variance cannot carry anything.
    _, _, free, _ = units((fixed(2.0) * Matern52()) * (2.0 * Matern52()))
    np.testing.assert_allclose(free, y2)


def test_inside_a_scaling_there_are_no_units():
    variance, inside = units(2.0 * kernels.Linear([1.0, 1.0, 1.0]))
    np.testing.assert_allclose(variance, SCALE.y_std**2)
    np.testing.assert_allclose(inside, 1 / WIDTH**2)
    (alone,) = units(kernels.Linear([1.0, 1.0, 1.0]))
    np.testing.assert_allclose(alone, SCALE.y_std**2 / WIDTH**2)


def test_index_kernels():
    w, kappa = units(kernels.Coregionalization(np.ones((2, 1)), np.ones(2), active_dims=[0]))
    np.testing.assert_allclose(w, np.full((2, 1), SCALE.y_std))
    np.testing.assert_allclose(kappa, np.full(2, SCALE.y_std**2))
