"""Kernel mean matching: the quadratic program, and what the weights are for."""

import numpy as np
import pytest
import scipy
from tests.ratios import toy

from leadline.boundary import InvalidData
from leadline.ratios import kernel_mean_matching
from leadline.ratios._direct._matching import _projected

RNG = np.random.default_rng(0)
TOP, BOTTOM = RNG.normal(0.8, 0.7, (40, 2)), RNG.normal(0.0, 1.0, (30, 2))


def _objective(width):
    """The quadratic that the weights minimize, in the notation of the paper."""
    spread = np.concatenate([TOP, BOTTOM]).std(axis=0)
    top, bottom = TOP / spread, BOTTOM / spread

    def kernel(a, b):
        return np.exp(-0.5 * scipy.spatial.distance.cdist(a, b, "sqeuclidean") / width**2)

    k, kappa = kernel(bottom, bottom), 30 / 40 * kernel(bottom, top).sum(axis=1)
    return lambda beta: (0.5 * beta @ k @ beta - kappa @ beta) / 30**2


@pytest.mark.parametrize(("bound", "slack"), [(1000.0, 0.5), (2.0, 0.05), (1.5, 0.0)])
def test_weights_are_optimal(bound, slack):
    beta = kernel_mean_matching(TOP, BOTTOM, bandwidth=0.7, bound=bound, slack=slack)
    objective = _objective(0.7)
    assert np.min(beta) >= 0.0
    assert np.max(beta) <= bound
    assert abs(np.mean(beta) - 1.0) <= slack + 1e-9
    reference = scipy.optimize.minimize(
        lambda b: 900 * objective(b),
        np.ones(30),
        method="SLSQP",
        bounds=[(0.0, bound)] * 30,
        constraints=[
            {"type": "ineq", "fun": lambda b: 1.0 + slack - np.mean(b)},
            {"type": "ineq", "fun": lambda b: np.mean(b) - 1.0 + slack},
        ],
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert 900 * objective(beta) <= reference.fun + 1e-6 * abs(reference.fun)


def test_projection():
    rng = np.random.default_rng(1)
    for slack in (0.0, 0.3):
        beta = rng.normal(2.0, 2.0, 12)
        near = _projected(beta, 3.0, slack)
        for _ in range(200):
            other = _projected(rng.normal(1.0, 1.0, 12), 3.0, slack)
            # No feasible point is on the side of the point that was projected.
            assert (beta - near) @ (other - near) <= 1e-8


def test_covariate_shift():
    """Weighted means over the denominator are means over the numerator."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(0.5, 0.8, (500, 1)), rng.normal(0.0, 1.0, (400, 1))
    beta = kernel_mean_matching(x, y)
    weighted = beta / beta.sum()
    assert weighted @ y[:, 0] == pytest.approx(x.mean(), abs=0.1)
    assert weighted @ y[:, 0] ** 2 == pytest.approx(np.mean(x**2), abs=0.15)
    # Negative control: without weights the means are those of the denominator.
    assert abs(y.mean() - x.mean()) > 0.3


def test_weights_follow_the_ratio():
    top, bottom = toy.sample(400, 400, seed=0)
    beta = kernel_mean_matching(top, bottom, bandwidth=0.2)
    truth = np.exp(toy.log_ratio(bottom[:, 0]))
    assert scipy.stats.spearmanr(beta, truth).statistic > 0.6


def test_equal_samples_have_equal_weights():
    beta = kernel_mean_matching(BOTTOM, BOTTOM, bandwidth=0.3)
    np.testing.assert_allclose(beta, 1.0, atol=1e-3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bandwidth": 0.0}, "bandwidth must be positive"),
        ({"slack": -0.1}, "slack must not be negative"),
        ({"bound": 0.5, "slack": 0.1}, "bound must exceed 1 - slack"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(InvalidData, match=message):
        kernel_mean_matching(TOP, BOTTOM, **settings)


def test_bad_data():
    with pytest.raises(InvalidData, match="x_denominator must have 2 columns"):
        kernel_mean_matching(TOP, np.zeros((3, 1)))
    with pytest.raises(InvalidData, match="x_numerator must be finite"):
        kernel_mean_matching(np.full((3, 2), np.nan), BOTTOM)
