"""Frequencies of every stationary kernel: the approximation that they define is unbiased, and so
are its gradients; a lost factor of 2 pi, or products paired row by row, would be noticed.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from tests.kernels.registry import COLUMNS, KERNELS, SPECTRAL, gram, inputs

from leadline import Unsupported, kernels
from leadline.boundary import InvalidData
from leadline.kernels import Frequencies, Matern52, SpectralMixture, SquaredExponential, White
from leadline.numerics import sobol

# Ten rows, the shape that all tests of kernels share, the last of them at lag zero.
LAGS = np.concatenate([0.7 * inputs("spectral", 9, seed=7), np.zeros((1, COLUMNS))])
DRAWS, SIZE = 200, 60


@jax.jit
def spectra(kernel, u):
    return jax.vmap(kernel.frequencies_at)(u)


def draw(kernel, draws, size, dim, seed):
    """Independent sets of frequencies: theta (draws, size, dim), weight (draws, size)."""
    shape = (draws, size, kernel.frequency_inputs(dim))
    u = np.random.default_rng(seed).uniform(size=shape)
    return Frequencies(*map(np.asarray, spectra(kernel, u)))


def value(frequencies, lags):
    """The kernel (draws, n) at the lags, as each set of frequencies has it."""
    waves = np.cos(np.einsum("...ld,nd->...nl", frequencies.theta, lags))
    return np.einsum("...nl,...l->...n", waves, frequencies.weight)


def exact(kernel, lags):
    return np.asarray(gram(kernel, lags, np.zeros_like(lags)))[:, 0]


def deviations(samples, expected):
    """How many standard errors the mean of the samples is off."""
    error = np.asarray(samples).std(axis=0, ddof=1) / np.sqrt(len(samples))
    return np.abs(np.asarray(samples).mean(axis=0) - expected) / (error + 1e-12)


@pytest.mark.parametrize("name", SPECTRAL)
def test_bochner(name):
    """The mean of 200 draws is within 4 standard errors at every lag; theta / 2 pi is not.

    The weights sum to the variance in every single draw. Products of sums with unequal weights
    are among the kernels.
    """
    kernel, _ = KERNELS[name]
    theta, weight = draw(kernel, DRAWS, SIZE, COLUMNS, seed=5)
    expected = exact(kernel, LAGS)
    assert deviations(value(Frequencies(theta, weight), LAGS), expected).max() < 4
    np.testing.assert_allclose(weight.sum(axis=1), expected[-1], rtol=1e-12)
    if name != "Constant":
        wrong = value(Frequencies(theta / (2 * np.pi), weight), LAGS)
        assert deviations(wrong, expected).max() > 8


@pytest.mark.parametrize("make", [SquaredExponential, Matern52])
@pytest.mark.parametrize("dim", [1, 3])
def test_many_small_draws(make, dim):
    """4000 draws of 16 features each, with ARD. Check: tiao S14.1."""
    kernel = make(np.linspace(0.5, 1.5, dim))
    found = draw(kernel, 4000, 8, dim, seed=6)
    lags = LAGS[:, :dim]
    assert deviations(value(found, lags), exact(kernel, lags)).max() < 4


SLOW_TO_COMPILE = ["RationalQuadratic", "Mahalanobis", "Sum", "ProductOfSums"]
GRADIENTS = ["Matern52", "Periodic", "SpectralMixture"]
GRADIENTS += [pytest.param(name, marks=pytest.mark.slow) for name in SLOW_TO_COMPILE]


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_unbiased(name):
    """In every parameter: length scales through theta, mixing shapes through quantiles, and the
    length scale of the periodic kernel, whose frequencies are whole numbers, through the weights.
    """
    kernel, _ = KERNELS[name]
    flat, unravel = ravel_pytree(kernel)
    lags = LAGS[:3]
    u = np.random.default_rng(8).uniform(size=(DRAWS, SIZE, kernel.frequency_inputs(COLUMNS)))

    def estimate(v, u):
        theta, weight = unravel(v).frequencies_at(u)
        return jnp.cos(lags @ theta.T) @ weight

    @jax.jit
    def gradients(v, u):
        of_kernel = jax.jacfwd(lambda v: unravel(v)(lags, np.zeros((1, COLUMNS)))[:, 0])(v)
        return jax.vmap(jax.jacfwd(estimate), in_axes=(None, 0))(v, u), of_kernel

    samples, expected = gradients(flat, u)
    assert np.isfinite(samples).all()
    assert deviations(samples, expected).max() < 4.5
    assert np.abs(expected).max(axis=0).min() > 1e-4  # every parameter matters at some lag


def test_quasi_random_numbers():
    """Sobol points through the same function: far closer than random ones of that number."""
    kernel, n = Matern52([0.7, 1.1, 1.6]), 1024
    u = np.asarray(sobol(n, kernel.frequency_inputs(COLUMNS), seed=0))
    quasi = value(spectra(kernel, u[None]), LAGS)[0]
    assert np.abs(quasi - exact(kernel, LAGS)).max() < 0.2 * n**-0.5


def test_end_points_of_the_unit_interval_are_finite():
    for kernel in (Matern52(), kernels.RationalQuadratic(alpha=0.3), kernels.Periodic()):
        u = jnp.stack([jnp.zeros(4), jnp.ones(4)])[:, : kernel.frequency_inputs(3)]
        theta, weight = spectra(kernel, u[None])
        assert np.isfinite(theta).all()
        assert np.isfinite(weight).all()


def test_pairing_sums_row_by_row_would_be_biased():
    """Why products are multiplied out: aligned blocks of two sums only ever meet their own."""
    left, right = SquaredExponential(0.4) + 3.0, 2.0 * SquaredExponential(1.5) + 0.5
    n = 40_000
    u = jax.random.uniform(jax.random.key(9), (n, 2))
    a, b = left.frequencies_at(u[:, :1]), right.frequencies_at(u[:, 1:])
    paired = Frequencies(a.theta + b.theta, n * a.weight * b.weight)
    lags = np.array([[0.5], [1.0]])
    expected = exact(left * right, lags)
    found = (left * right).frequencies(jax.random.key(9), n, 1)
    assert np.abs(value(paired, lags) - expected).max() > 0.5
    np.testing.assert_allclose(value(found, lags), expected, atol=4 * 8 / n**0.5)


def test_a_sum_needs_a_frequency_for_every_term():
    """And says how many, also where a product of sums has more terms than it shows."""
    kernel = (SquaredExponential(2.0) + SquaredExponential()) * (SquaredExponential() + 1.0)
    with pytest.raises(InvalidData, match=r"4 terms.*3 frequencies are too few"):
        kernel.frequencies(jax.random.key(0), 3, 2)
    assert kernel.frequencies(jax.random.key(0), 4, 2).theta.shape == (4, 2)
    mixture = SpectralMixture(np.ones(3), np.ones((3, 1)), np.ones((3, 1)))
    with pytest.raises(InvalidData, match="3 terms"):
        mixture.frequencies(jax.random.key(0), 2, 1)


def test_wrong_number_of_uniforms():
    with pytest.raises(InvalidData, match="5 uniform numbers"):
        kernels.ProductMatern().frequencies_at(jnp.full((4, 5), 0.5))
    with pytest.raises(InvalidData, match=r"2 values in lengthscale.* 3 columns"):
        SquaredExponential([1.0, 2.0]).frequencies_at(jnp.full((4, 3), 0.5))


def test_columns_that_are_not_read_have_frequency_zero():
    kernel = SquaredExponential([0.7, 1.3], active_dims=[2, 0])
    theta, _ = kernel.frequencies(jax.random.key(0), 7, 5)
    assert theta.shape == (7, 5)
    assert np.all(np.asarray(theta)[:, [1, 3, 4]] == 0)
    assert np.all(np.asarray(theta)[:, [0, 2]] != 0)


def test_ability_is_missing_where_a_part_lacks_it():
    """`hasattr` is honest about combinations, and the error names the part."""
    assert not hasattr(White(), "frequencies_at")
    assert hasattr(2.0 * Matern52(), "frequencies_at")
    for kernel in (2.0 * White(), Matern52() + White(), (Matern52() * White()).on([0])):
        assert not hasattr(kernel, "frequencies_at")
        assert not hasattr(kernel, "frequency_inputs")
    with pytest.raises(Unsupported, match="Sum has no 'frequencies_at' because White has none"):
        (Matern52() + White()).frequencies(jax.random.key(0), 8, 2)
    for name, (kernel, kind) in KERNELS.items():
        assert hasattr(kernel, "frequencies_at") == (kind == "spectral"), name
