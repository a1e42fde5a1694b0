"""Parameters and points that no measure can use are refused, with the offending values."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from leadline import InvalidData
from leadline.measures import (
    Beta,
    Dirichlet,
    Gaussian,
    GaussianMixture,
    LogNormal,
    Product,
    Uniform,
)

numbers = st.floats(-1e3, 1e3)
few = settings(max_examples=30)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Uniform([0.0, 3.0], [1.0, 1.0]), r"lower\[1\] = 3 and upper\[1\] = 1"),
        (lambda: Uniform(1.0, 1.0), r"lower\[0\] = 1 and upper\[0\] = 1"),
        (lambda: Uniform([0.0, 0.0], [1.0, 1.0, 1.0]), r"lower \(2,\), upper \(3,\)"),
        (lambda: Uniform(-np.inf, 1.0), r"lower must be finite, got -inf"),
        (lambda: Uniform("a", 1.0), "lower must be real numbers"),
        (lambda: Uniform([], []), "vectors of one length"),
        (lambda: Gaussian([0.0, 0.0], [1.0, -2.0]), r"cov\[1\] = -2"),
        (lambda: Gaussian([0.0, 0.0], 0.0), r"cov\[0\] = 0"),
        (lambda: Gaussian([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]]), "smallest eigenvalue is -1"),
        (
            lambda: Gaussian([0.0, 0.0], [[1.0, 0.5], [0.0, 1.0]]),
            r"cov\[0, 1\] = 0.5 and cov\[1, 0\] = 0",
        ),
        (lambda: Gaussian([0.0, 0.0], np.eye(3)), r"2 x 2 matrix.*got shape \(3, 3\)"),
        (lambda: Gaussian(np.zeros((2, 2)), 1.0), r"mean must be a number or a vector"),
        (lambda: Gaussian(np.nan, 1.0), "mean must be finite"),
        (
            lambda: GaussianMixture([0.5, 0.6], [0.0, 1.0], [1.0, 1.0]),
            "sum to 1, but they sum to 1.1",
        ),
        (lambda: GaussianMixture([-0.5, 1.5], [0.0, 1.0], [1.0, 1.0]), r"weights\[0\] = -0.5"),
        (lambda: GaussianMixture([0.5, 0.5], [0.0, 1.0], [1.0, -1.0]), r"covs\[1\]\[0\] = -1"),
        (
            lambda: GaussianMixture([0.5, 0.5], np.zeros((3, 2)), np.ones((3, 2))),
            r"\(2, d\).*got \(3, 2\)",
        ),
        (
            lambda: GaussianMixture([1.0], np.zeros((1, 2)), np.ones((1, 3))),
            r"\(1, 2, 2\).*got \(1, 3\)",
        ),
        (lambda: LogNormal(0.0, 0.0), r"log_std\[0\] = 0"),
        (lambda: Beta(1.0, [1.0, -1.0]), r"b\[1\] = -1"),
        (lambda: Dirichlet([1.0, 0.0]), r"concentration\[1\] = 0"),
        (lambda: Dirichlet(1.0), "at least two entries"),
        (lambda: Product([]), "at least one measure"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(InvalidData, match=message):
        make()


def test_a_covariance_matrix_with_rounding_asymmetry_is_accepted():
    cov = np.array([[1.0, 0.5], [0.5 + 1e-12, 1.0]])
    measure = Gaussian([0.0, 0.0], cov)
    np.testing.assert_array_equal(measure.cov, measure.cov.T)


def test_wrong_shapes_of_points_are_refused():
    measure = Product([Gaussian([0.0, 0.0], 1.0), Uniform(0.0, 1.0)])
    for function, name in (
        (measure.log_prob, "x"),
        (measure.quantile, "x"),
        (measure.from_cube, "u"),
    ):
        with pytest.raises(InvalidData, match=rf"{name} must have shape \(n, 3\), got \(4, 2\)"):
            function(jnp.full((4, 2), 0.5))


@given(hnp.arrays(np.float64, (3, 2), elements=st.floats(-1, 2, exclude_min=False)))
@few
def test_quantiles_take_points_of_the_cube_only(u):
    inside = bool(np.all((u >= 0.0) & (u <= 1.0)))
    for measure in (Gaussian([0.0, 0.0], 1.0), Uniform([0.0, 0.0], 1.0), Beta([1.0, 2.0], 1.0)):
        if inside:
            assert not np.any(np.isnan(measure.quantile(jnp.asarray(u))))
        else:
            with pytest.raises(InvalidData, match="unit cube"):
                measure.quantile(jnp.asarray(u))


@given(hnp.arrays(np.float64, 2, elements=numbers), hnp.arrays(np.float64, 2, elements=numbers))
@few
def test_boxes_are_made_or_refused(lower, upper):
    if np.all(lower < upper):
        assert np.all(np.isfinite(Uniform(lower, upper).mean))
    else:
        with pytest.raises(InvalidData, match="lower must be below upper"):
            Uniform(lower, upper)


@given(hnp.arrays(np.float64, (2, 2), elements=numbers))
@few
def test_covariances_are_factorized_or_refused(a):
    """A symmetric matrix is accepted exactly if it is positive definite; nothing becomes NaN."""
    a = a + a.T
    smallest, rounding = np.linalg.eigvalsh(a)[0], 1e-9 * np.abs(a).max()
    assume(abs(smallest) > rounding)
    if smallest > 0.0:
        measure = Gaussian([0.0, 0.0], a)
        np.testing.assert_allclose(measure.root @ measure.root.T, a, atol=rounding)
    else:
        with pytest.raises(InvalidData, match="positive definite"):
            Gaussian([0.0, 0.0], a)


@given(hnp.arrays(np.float64, 3, elements=st.floats(-0.5, 1.0)))
@few
def test_weights_are_made_or_refused(weights):
    if np.all(weights >= 0.0) and abs(weights.sum() - 1.0) <= 1e-8:
        assert GaussianMixture(weights, np.zeros(3), np.ones(3)).dim == 1
    else:
        with pytest.raises(InvalidData, match="weights must"):
            GaussianMixture(weights, np.zeros(3), np.ones(3))
