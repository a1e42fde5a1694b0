import numpy as np
import pytest

from leadline.boundary import InvalidData
from leadline.questions._surrogate import (
    check_model,
    half_ranked,
    learn,
    signed_logarithm,
    with_stand_ins,
)
from leadline.spaces import as_space

ALL = np.ones(9, dtype=bool)
VALUES = np.array([-1e9, 3.0, -7.0, 1.0, 2.0, 0.0, -5.0, 0.5, -5.0])


def test_the_better_half_is_left_alone():
    bent = half_ranked(VALUES, ALL)
    middle = np.median(VALUES)
    np.testing.assert_array_equal(bent[middle <= VALUES], VALUES[middle <= VALUES])


def test_the_worse_half_keeps_its_order_and_its_ties():
    bent = half_ranked(VALUES, ALL)
    np.testing.assert_array_equal(np.sign(VALUES[:, None] - VALUES), np.sign(bent[:, None] - bent))
    assert bent[6] == bent[8]


def test_a_terrible_value_no_longer_sets_the_scale():
    better = VALUES[VALUES >= 0.0]
    spread = np.sqrt(np.mean(better**2))
    bent = half_ranked(VALUES, ALL)
    assert bent.min() > -2.5 * spread
    other = np.where(VALUES == -1e9, -1e3, VALUES)
    np.testing.assert_array_equal(bent, half_ranked(other, ALL))


def test_only_counted_values_set_the_middle():
    counted = VALUES < 0.2
    bent = half_ranked(VALUES, counted)
    middle = np.median(VALUES[counted])
    np.testing.assert_array_equal(bent[middle <= VALUES], VALUES[middle <= VALUES])
    np.testing.assert_array_equal(half_ranked(VALUES, ~ALL), VALUES)


@pytest.mark.parametrize("values", [np.zeros(9), np.r_[np.zeros(8), 1.0]])
def test_values_without_spread_stay_as_they_are(values):
    np.testing.assert_array_equal(half_ranked(values, ALL), values)


def test_logarithms_keep_sign_zero_and_order():
    c = np.array([-1e6, -2.0, 0.0, 1e-3, 5.0, 1e4])
    found = signed_logarithm(c)
    np.testing.assert_array_equal(np.sign(found), np.sign(c))
    assert np.all(np.diff(found) > 0)
    assert np.abs(found).max() < 20
    # The unit of the constraint does not matter.
    np.testing.assert_allclose(signed_logarithm(1e3 * c), found)
    np.testing.assert_array_equal(signed_logarithm(np.zeros(3)), np.zeros(3))


@pytest.fixture(scope="module")
def fitted():
    space = as_space([(0.0, 1.0)] * 2)
    x = np.random.default_rng(0).uniform(size=(20, 2))
    y = np.sin(6 * x[:, 0]) + x[:, 1] ** 2
    return space, x, y, learn(space, x, y, {})


def test_a_state_is_kept_while_the_data_hardly_grow(fitted):
    space, x, y, (posterior, state) = fitted
    again, kept = learn(space, x, y, state)
    assert kept is state
    np.testing.assert_allclose(again.predict(x).mean, posterior.predict(x).mean, rtol=1e-8)
    _, other = learn(space, np.r_[x, [[0.5, 0.5]]], np.r_[y, 0.3], state)
    assert other is not state
    assert other["rows"] == 21


def test_noise_is_learned_down_to_nothing_when_there_is_none(fitted):
    *_, (posterior, _) = fitted
    y = fitted[2]
    assert float(posterior.gp.noise) < 1e-4 * np.var(y)


def test_noise_that_is_there_is_found():
    space = as_space([(0.0, 1.0)] * 2)
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(60, 2))
    y = np.sin(6 * x[:, 0]) + x[:, 1] ** 2 + 0.2 * rng.standard_normal(60)
    posterior, _ = learn(space, x, y, {})
    assert 0.015 < float(posterior.gp.noise) < 0.1
    known, _ = learn(space, x, y, {}, noise=0.01)
    assert float(known.gp.noise) == 0.01


def test_stand_ins_have_no_noise_and_teach_nothing(fitted):
    *_, (posterior, _) = fitted
    rows, values = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([-3.0, 4.0])
    found = with_stand_ins(posterior, rows, values)
    marginal = found.predict(rows)
    np.testing.assert_allclose(marginal.mean, values, atol=1e-6)
    assert np.max(marginal.var) < 1e-6
    assert with_stand_ins(posterior, rows[:0], values[:0]) is posterior
    for name in ("lengthscale", "share"):
        old, new = (getattr(p.gp.kernel.kernel, name) for p in (posterior, found))
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize(
    ("initial", "noise", "message"),
    [
        ("many", None, "initial must be at least 2, a whole number, got 'many'"),
        (float("nan"), None, "got nan"),
        (2.5, None, "got 2.5"),
        (None, "low", "noise must be a variance, a number that is not negative, got 'low'"),
        (None, float("nan"), "got nan"),
        (None, (0.0, 1.0), "got \\(0.0, 1.0\\)"),
    ],
)
def test_settings_that_mean_nothing(initial, noise, message):
    check_model(np.int64(2), np.float32(0.0))
    with pytest.raises(InvalidData, match=message):
        check_model(initial, noise)
