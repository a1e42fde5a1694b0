"""Mean functions against their formulas, and their integrals against Monte Carlo."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline.numerics import free_slots

X = np.random.default_rng(0).normal(size=(7, 2))

MEANS = {
    "zero": (ll.means.Zero(), lambda x: 0.0 * x[:, 0]),
    "constant": (ll.means.Constant(3.0), lambda x: 3.0 + 0.0 * x[:, 0]),
    "linear": (ll.means.Linear([1.0, -2.0], 0.5), lambda x: 0.5 + x[:, 0] - 2.0 * x[:, 1]),
    "quadratic": (
        ll.means.Quadratic([0.3, -1.0], [0.5, 2.0], 40.0),
        lambda x: 40.0 - 0.5 * ((x[:, 0] - 0.3) ** 2 / 0.25 + (x[:, 1] + 1.0) ** 2 / 4.0),
    ),
}

MIXTURE = ll.measures.GaussianMixture(
    [0.3, 0.7], [[0.0, 1.0], [2.0, -1.0]], [[0.5, 1.0], [1.5, 0.2]]
)


@pytest.mark.parametrize("name", MEANS)
def test_values(name):
    mean, formula = MEANS[name]
    np.testing.assert_allclose(mean(jnp.asarray(X)), formula(X), rtol=1e-14)


@pytest.mark.parametrize("name", MEANS)
def test_integral_against_monte_carlo(name):
    """Check: naiff S6.11"""
    mean, formula = MEANS[name]
    values = formula(np.asarray(MIXTURE.sample(jax.random.key(1), 2_000_000)))
    error = max(values.std() / np.sqrt(values.size), 1e-12)
    assert abs(float(mean.integral(MIXTURE)) - values.mean()) < 4 * error


def test_integral_without_mixture_weights_fails():
    """The printed formula (Naiff 2019, eq. 5.51) leaves the weights out: it must not agree."""
    mean, _ = MEANS["quadratic"]
    parts = [
        mean.integral(ll.measures.Gaussian(m, s))
        for m, s in zip(MIXTURE.locations, MIXTURE.spreads, strict=True)
    ]
    weighted = 0.3 * parts[0] + 0.7 * parts[1]
    np.testing.assert_allclose(mean.integral(MIXTURE), weighted, rtol=1e-12)
    assert abs(float(parts[0] + parts[1] - weighted)) > 1.0


def test_fixed_values_are_not_free():
    assert free_slots(ll.means.Constant(ll.fixed(1.0))) == []
    assert [s.name for s in free_slots(ll.means.Constant(1.0))] == ["value"]
