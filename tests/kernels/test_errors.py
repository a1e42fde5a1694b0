"""What is wrong with a parameter or an input is said in words, with the numbers that do not fit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline import fixed, kernels
from leadline.boundary import InvalidData

X = jnp.zeros((4, 3))
ONE = np.ones((1, 1))

BAD_PARAMETERS = {
    "lengthscale of Matern52 must be finite and positive, got -1": lambda: kernels.Matern52(-1.0),
    "got 0": lambda: kernels.SquaredExponential([1.0, 0.0]),
    "got nan": lambda: kernels.Matern12(np.nan),
    "got inf": lambda: kernels.Matern32(fixed(np.inf)),
    "variance of Scale must be finite and positive": lambda: 0.0 * kernels.Matern52(),
    "variance of Constant": lambda: kernels.Matern52() + (-2.0),
    "alpha of RationalQuadratic": lambda: kernels.RationalQuadratic(alpha=-1.0),
    "period of Periodic": lambda: kernels.Periodic(period=[1.0, -1.0]),
    "weights of SpectralMixture must be finite, and zero or positive": (
        lambda: kernels.SpectralMixture([-0.1], ONE, ONE)
    ),
    "means of SpectralMixture must be finite, got nan": (
        lambda: kernels.SpectralMixture([1.0], np.nan * ONE, ONE)
    ),
    r"got shapes \(2,\), \(1, 1\) and \(1, 1\)": (
        lambda: kernels.SpectralMixture([1.0, 1.0], ONE, ONE)
    ),
    "rho of Categorical must be strictly between 0 and 1, got 1": lambda: kernels.Categorical(1.0),
    r"W \(p, r\) and kappa \(p,\), got shapes \(1, 1\) and \(2,\)": (
        lambda: kernels.Coregionalization(ONE, [1.0, 1.0])
    ),
    "lengthscale of Matern52 must be a number or a vector, got shape \\(1, 1\\)": (
        lambda: kernels.Matern52(ONE)
    ),
    "variance of Scale must be a number, got shape \\(2,\\)": (
        lambda: np.ones(2) * kernels.Matern52()
    ),
    "order nu of a Matern kernel must be positive, got 0": lambda: kernels.Matern(nu=0),
    "must be positive, got nan": lambda: kernels.SphereMatern(nu=np.nan),
    "must be 0.5, 1.5 or 2.5, got 3.5": lambda: kernels.ProductMatern(nu=3.5),
    "must be 0 or 1, got 2": lambda: kernels.ArcCosine(order=2),
    "degree must be a whole number from 1 on, got 1.5": lambda: kernels.Polynomial(degree=1.5),
    "from 1 on, got 0": lambda: kernels.Polynomial(degree=0),
    r"different whole numbers from 0 on, got \[0, 0\]": lambda: kernels.Matern52().on([0, 0]),
    "from 0 on, got -1": lambda: kernels.Matern52(active_dims=-1),
    "from 0 on, got 0.5": lambda: kernels.Matern52(active_dims=0.5),
    r"from 0 on, got \[\]": lambda: kernels.Matern52(active_dims=[]),
    "must be disjoint": (
        lambda: kernels.DirectSum([kernels.Matern52(), kernels.Matern12()], [[0, 1], [1]])
    ),
    "1 blocks for 2 kernels": (
        lambda: kernels.DirectSum([kernels.Matern52(), kernels.Matern12()], [[0, 1]])
    ),
    "takes one or more kernels, got none": lambda: kernels.Sum(()),
    r"d \(d - 1\) / 2 entries": lambda: kernels.Mahalanobis(kernels.Matern52(), [0.1, 0.2]),
    "must be positive definite": (
        lambda: kernels.Mahalanobis.from_precision(kernels.Matern52(), -np.eye(2))
    ),
    "A square matrix": (
        lambda: kernels.Mahalanobis.from_precision(kernels.Matern52(), np.ones((2, 3)))
    ),
    "A function of rows": lambda: kernels.Warp(kernels.Matern52(), 3.0),
}


@pytest.mark.parametrize("message", BAD_PARAMETERS)
def test_bad_parameters(message):
    with pytest.raises(ValueError, match=message):
        BAD_PARAMETERS[message]()


BAD_INPUTS = {
    "Matern52 has 2 values in lengthscale, .* inputs have 3 columns": kernels.Matern52([1.0, 2.0]),
    "1 values in lengthscale": kernels.Matern12([1.0]),
    "4 values in period": kernels.Periodic(period=np.ones(4)),
    "2 values in variance": kernels.Linear([1.0, 2.0]),
    "2 values in weight_variance": kernels.ArcCosine([1.0, 2.0]),
    "1 values in means": kernels.SpectralMixture([1.0], ONE, ONE),
    "for 2 input columns, but the inputs have 3": kernels.Mahalanobis(kernels.Matern52(), [0.1]),
    r"reads input column 5 \(the first is 0\), but the inputs have 3": kernels.Matern52().on(5),
    r"one index column, .* shape \(4, 3\).*active_dims": kernels.Categorical(),
    r"must have shape \(4, 3\) or \(4, 1\), got \(4,\)": kernels.Gibbs(lambda x: x[:, 0]),
    "positive everywhere": kernels.Gibbs(lambda x: x),
    "2 outputs, numbered from 0 to 1, .* value 7": (
        kernels.Warp(kernels.Coregionalization([[1.0], [1.0]], [1.0, 1.0]), lambda x: x[:, :1] + 7)
    ),
}


@pytest.mark.parametrize("message", BAD_INPUTS)
def test_bad_inputs(message):
    with pytest.raises(InvalidData, match=message):
        BAD_INPUTS[message](X, X)


def test_one_dimensional_inputs():
    with pytest.raises(InvalidData, match=r"two dimensions .* got \(4,\)"):
        kernels.Matern52()(X[:, 0], X[:, 0])


def test_checks_do_not_stop_tracing():
    """Shapes are checked under `jit` too; values cannot be, and are let through."""
    value = jax.jit(lambda s: kernels.Matern52(s)(X, X)[0, 0])
    assert float(value(-1.0)) == 1.0
    with pytest.raises(InvalidData, match="2 values in lengthscale"):
        jax.jit(lambda s: kernels.Matern52(s)(X, X))(jnp.ones(2))
    both = jax.jit(lambda a, b: kernels.Matern52([a, b], active_dims=[0, 1]).kernel.lengthscale)
    np.testing.assert_array_equal(both(1.0, 2.0), [1.0, 2.0])
