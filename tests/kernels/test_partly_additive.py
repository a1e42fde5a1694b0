import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline.kernels import Matern52, PartlyAdditive
from leadline.paths import prior_draws

RNG = np.random.default_rng(0)
X, Y = RNG.uniform(size=(30, 3)), RNG.uniform(size=(20, 3))
LENGTHSCALE = np.array([0.3, 0.7, 1.5])


def brute_force(x, y, lengthscale, share):
    together = np.asarray(Matern52(lengthscale)(x, y))
    d = x.shape[1]
    alone = [
        np.asarray(Matern52(lengthscale[i] / np.sqrt(d))(x[:, [i]], y[:, [i]])) for i in range(d)
    ]
    return (1 - share) * together + share * np.mean(alone, axis=0)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_it_is_the_weighted_sum(share):
    kernel = PartlyAdditive(LENGTHSCALE, share)
    np.testing.assert_allclose(kernel(X, Y), brute_force(X, Y, LENGTHSCALE, share), atol=1e-14)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(kernel(X, X)), atol=1e-14)
    assert np.linalg.eigvalsh(np.asarray(kernel(X, X))).min() > -1e-12


def test_an_additive_share_carries_over_to_rows_that_differ_in_all_other_columns():
    """A row that shares one column with another is related to it, however far it is otherwise."""
    near = np.array([[0.5, 0.0, 0.0]])
    far = np.array([[0.5, 900.0, -900.0]])
    assert float(PartlyAdditive(0.2, 0.6)(near, far)[0, 0]) == pytest.approx(0.2)
    assert float(Matern52(0.2)(near, far)[0, 0]) < 1e-12


def test_gradients_are_finite_at_zero_distance():
    def total(lengthscale, x):
        return jnp.sum(PartlyAdditive(lengthscale, 0.5)(x, x))

    for gradient in jax.grad(total, argnums=(0, 1))(jnp.asarray(LENGTHSCALE), jnp.asarray(X)):
        assert np.isfinite(gradient).all()


def test_frequencies_have_the_kernel_as_their_mean():
    """The mean of cos(theta . (x - y)) is the kernel, within 4 standard errors."""
    kernel = PartlyAdditive(LENGTHSCALE, 0.3)
    u = jax.random.uniform(jax.random.key(0), (40_000, kernel.frequency_inputs(3)))
    theta, weight = kernel.frequencies_at(u)
    np.testing.assert_allclose(weight, 1 / len(u))
    waves = np.cos((X[:10] - Y[:10]) @ np.asarray(theta).T)
    error = waves.std(axis=1) / np.sqrt(len(u))
    assert np.all(np.abs(waves.mean(axis=1) - np.diagonal(kernel(X, Y))[:10]) < 4 * error)
    # Without the factor sqrt(d) along one column the mean is another.
    along = np.count_nonzero(np.asarray(theta), axis=1) == 1
    assert along.mean() == pytest.approx(0.3, abs=0.01)
    shrunk = np.where(along[:, None], theta / np.sqrt(3), theta)
    wrong = np.cos((X[:10] - Y[:10]) @ np.asarray(shrunk).T).mean(axis=1)
    assert np.any(np.abs(wrong - np.diagonal(kernel(X, Y))[:10]) > 8 * error)


def test_draws_of_it():
    draws = prior_draws(PartlyAdditive(LENGTHSCALE, 0.5), jax.random.key(1), 4000, dim=3)
    values = np.asarray(draws(X[:4]))
    expected = np.asarray(PartlyAdditive(LENGTHSCALE, 0.5)(X[:4], X[:4]))
    assert np.abs(np.cov(values.T) - expected).max() < 0.1


def test_bad_input():
    with pytest.raises(ValueError, match="share"):
        PartlyAdditive(1.0, 1.5)
    with pytest.raises(ValueError, match="lengthscale"):
        PartlyAdditive(np.ones((2, 2)))


@pytest.mark.parametrize("lengthscale", [0.1, 0.02, 1e-3])
def test_short_length_scales_do_not_overflow(lengthscale):
    """Products of exponentials would with the shortest: there each pair has one of its own."""
    x = np.concatenate([X[:5], X[:5] + 1e-3])
    scaled = np.sqrt(5.0 * x.shape[1]) * np.abs(x[:, None] - x[None]) / lengthscale
    expected = np.mean((1.0 + scaled + scaled**2 / 3.0) * np.exp(-scaled), axis=2)

    def total(lengthscale):
        return jnp.sum(PartlyAdditive(lengthscale, 1.0 - 1e-15)(x, x))

    kernel = PartlyAdditive(lengthscale, 1.0 - 1e-15)
    np.testing.assert_allclose(kernel(x, x), expected, rtol=1e-10, atol=1e-13)
    slope = np.mean(scaled**2 * (1.0 + scaled) / 3.0 * np.exp(-scaled), axis=2) / lengthscale
    np.testing.assert_allclose(jax.grad(total)(lengthscale), slope.sum(), rtol=1e-8)


def test_with_a_known_extent_it_is_the_same_kernel():
    known = PartlyAdditive(LENGTHSCALE, 0.4, extent=1.0)
    plain = PartlyAdditive(LENGTHSCALE, 0.4)
    np.testing.assert_allclose(known(X, Y), plain(X, Y), rtol=1e-13)

    def total(kernel, lengthscale, x):
        return jnp.sum(jnp.sin(kernel(lengthscale)(x, Y)))

    def made(extent):
        return lambda lengthscale: PartlyAdditive(lengthscale, 0.4, extent=extent)

    slopes = [
        jax.grad(total, argnums=(1, 2))(made(extent), jnp.asarray(LENGTHSCALE), jnp.asarray(X))
        for extent in (1.0, None)
    ]
    for ours, theirs in zip(*slopes, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_with_a_known_extent_nothing_overflows():
    """Length scales below a floor count as the floor: corners of the cube are the furthest."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.5]])
    floor = np.sqrt(5.0 * 3) / 300.0
    for lengthscale in (1e-9, 0.9 * floor):
        found = np.asarray(PartlyAdditive(lengthscale, 0.5, extent=1.0)(corners, corners))
        expected = np.asarray(PartlyAdditive(floor, 0.5)(corners, corners))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
    for extent in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="extent"):
            PartlyAdditive(1.0, 0.5, extent=extent)


def test_the_program_does_not_grow_with_the_columns():
    def lines(d):
        x = jax.ShapeDtypeStruct((8, d), np.float64)
        kernel = PartlyAdditive(np.ones(d), 0.5, extent=1.0)
        slope = jax.jit(jax.grad(lambda x: jnp.sum(kernel(x, x))))
        return slope.lower(x).as_text().count("\n")

    assert lines(3) == lines(40)
