"""Bounded minimization: SciPy's minima from every start, bounds kept, bad regions avoided."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.numerics import Race, minimize_bounded

P = 4
STARTS = np.random.default_rng(0).uniform(-1.5, 1.5, size=(6, P))


def rosenbrock(u, curvature):
    return jnp.sum(curvature * (u[1:] - u[:-1] ** 2) ** 2 + (1.0 - u[:-1]) ** 2)


def quadratic(u, args):
    hessian, center = args
    return 0.5 * (u - center) @ hessian @ (u - center)


def walled(u, wall):
    """A valley that ends at a wall: not a number beyond it, growing without bound before it."""
    return jnp.sum(u**2) - jnp.log(wall - u[0])


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ([-2.0] * P, [2.0] * P),
        ([-2.0] * P, [0.5, 2.0, 2.0, 2.0]),
        ([-2.0] * P, [2.0, 2.0, 0.2, 2.0]),
        ([-2.0, 0.8, -2.0, -2.0], [0.7, 2.0, 2.0, 0.1]),
    ],
    ids=["inside", "first", "third", "three"],
)
def test_rosenbrock_with_active_bounds(lower, upper):
    """From every start the minimum that L-BFGS-B finds from there, or a better one."""
    lower, upper = np.array(lower), np.array(upper)
    found = minimize_bounded(
        rosenbrock, 100.0, STARTS, lower, upper, tolerance=1e-12, max_evaluations=2000
    )
    u, value = np.asarray(found.u), np.asarray(found.value)
    assert np.all(u >= lower)
    assert np.all(u <= upper)
    for i, start in enumerate(np.clip(STARTS, lower, upper)):
        scipys = scipy.optimize.minimize(
            lambda v: float(np.sum(100.0 * (v[1:] - v[:-1] ** 2) ** 2 + (1.0 - v[:-1]) ** 2)),
            start,
            bounds=list(zip(lower, upper, strict=True)),
            method="L-BFGS-B",
            options={"ftol": 1e-14, "gtol": 1e-9, "maxiter": 5000, "maxfun": 50_000},
        )
        assert value[i] <= scipys.fun + 1e-6
    best = np.argmin(value)
    np.testing.assert_allclose(value[best], rosenbrock(u[best], 100.0), rtol=1e-12, atol=1e-14)


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_convex_quadratics_have_one_minimum(seed):
    """All starts reach it, and it satisfies the conditions of Karush, Kuhn and Tucker."""
    rng = np.random.default_rng(seed)
    m = rng.normal(size=(P, P))
    hessian, center = m @ m.T + 0.05 * np.eye(P), 2.0 * rng.normal(size=P)
    lower, upper = -np.ones(P), rng.uniform(-0.5, 1.0, size=P)
    found = minimize_bounded(
        quadratic, (hessian, center), STARTS, lower, upper, tolerance=1e-14, max_evaluations=2000
    )
    u = np.asarray(found.u)
    np.testing.assert_allclose(u, np.broadcast_to(u[0], u.shape), rtol=0, atol=1e-5)
    gradient = (u - center) @ hessian
    blocked = ((u <= lower) & (gradient > 0)) | ((u >= upper) & (gradient < 0))
    assert np.max(np.abs(np.where(blocked, 0.0, gradient))) < 1e-4


def test_a_region_that_is_not_finite_is_a_step_too_far():
    starts = STARTS.copy()
    starts[0, 0] = 1.5  # beyond the wall: this start has no value
    starts[1:, 0] = np.linspace(-1.5, 0.9, 5)
    found = minimize_bounded(
        walled, 1.0, starts, np.full(P, -2.0), np.full(P, 2.0), tolerance=1e-12
    )
    assert found.value[0] == np.inf
    assert found.evaluations[0] == 1
    np.testing.assert_array_equal(found.u[0], starts[0])
    # d/du (u^2 - log(1 - u)) = 0 at u = (1 - sqrt(3)) / 2.
    wanted = np.zeros(P)
    wanted[0] = (1.0 - np.sqrt(3.0)) / 2.0
    np.testing.assert_allclose(found.u[1:], np.broadcast_to(wanted, (5, P)), atol=1e-5)


def test_starts_outside_and_coordinates_without_room():
    lower, upper = np.array([0.5, -1.0, -1.0, -1.0]), np.array([0.5, 1.0, 1.0, 1.0])
    args = (np.eye(P), np.full(P, 5.0))
    found = minimize_bounded(quadratic, args, 10.0 * STARTS, lower, upper)
    np.testing.assert_allclose(found.u, np.broadcast_to(upper, STARTS.shape), atol=1e-12)


def test_after_the_race_only_the_best_goes_on():
    lower, upper = np.full(P, -2.0), np.full(P, 2.0)
    run = dict(tolerance=1e-12, max_evaluations=2000)
    alone = minimize_bounded(rosenbrock, 100.0, STARTS, lower, upper, **run)
    race = Race(np.array([6]), np.array([0.0]), np.asarray(0.0))
    raced = minimize_bounded(rosenbrock, 100.0, STARTS, lower, upper, race=race, **run)
    evaluations = np.asarray(raced.evaluations)
    winner = int(np.argmax(evaluations))
    assert winner == int(np.argmin(raced.value))
    assert evaluations[winner] > 6
    assert np.all(np.delete(evaluations, winner) <= np.asarray(alone.evaluations).max())
    assert np.delete(evaluations, winner).max() < evaluations[winner]
    assert np.asarray(alone.evaluations).sum() > 2 * evaluations.sum()


def test_the_limit_of_evaluations_holds():
    lower, upper = np.full(P, -2.0), np.full(P, 2.0)
    found = minimize_bounded(
        rosenbrock, 100.0, STARTS, lower, upper, tolerance=1e-12, max_evaluations=7
    )
    assert np.all(np.asarray(found.evaluations) <= 7)
    first = [float(rosenbrock(jnp.asarray(s), 100.0)) for s in STARTS]
    assert np.all(np.asarray(found.value) <= first)


def test_a_looser_tolerance_stops_earlier():
    lower, upper = np.full(P, -2.0), np.full(P, 2.0)
    loose = minimize_bounded(rosenbrock, 100.0, STARTS, lower, upper, tolerance=1e-1)
    tight = minimize_bounded(rosenbrock, 100.0, STARTS, lower, upper, tolerance=1e-8)
    assert np.sum(loose.evaluations) < np.sum(tight.evaluations)
    assert np.all(np.asarray(tight.value) <= np.asarray(loose.value) + 1e-12)


def test_lanes_are_given_up_by_margin_and_where_they_have_met():
    lower, upper = np.full(P, -9.0), np.full(P, 9.0)
    run = dict(tolerance=1e-12, max_evaluations=5)
    starts = np.stack([np.zeros(P), np.full(P, 3.0), np.full(P, 4.0), np.full(P, 4.001)])
    args = (np.diag([1.0, 4.0, 9.0, 16.0]), np.full(P, 5.0))

    def evaluations(behind, near):
        race = Race(np.array([2]), np.array([behind]), np.asarray(near))
        found = minimize_bounded(quadratic, args, starts, lower, upper, race=race, **run)
        return np.asarray(found.evaluations)

    np.testing.assert_array_equal(evaluations(np.inf, 0.0), [5, 5, 5, 5])
    np.testing.assert_array_equal(evaluations(50.0, 0.0), [2, 5, 5, 5])
    np.testing.assert_array_equal(evaluations(np.inf, 0.1), [5, 5, 2, 5])


def test_a_slope_that_is_steep_is_no_end():
    """An inverse Hessian of nearly nothing promises nothing, wherever the minimum is."""
    lower, upper = np.full(P, -9.0), np.full(P, 9.0)
    args = (np.diag([1.0, 4.0, 9.0, 16.0]), np.full(P, 5.0))
    nothing = np.broadcast_to(1e-12 * np.eye(P), (len(STARTS), P, P))
    halted = minimize_bounded(quadratic, args, STARTS, lower, upper, h=nothing)
    np.testing.assert_allclose(halted.u, STARTS, atol=1e-6)
    found = minimize_bounded(quadratic, args, STARTS, lower, upper, h=nothing, steep=1.0)
    assert np.max(found.value) < 1e-3
