import numpy as np
import pytest

from leadline.questions._bending import Units, bent, half_ranked, signed_logarithm, spans_orders

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


ORDINARY = np.array([3.0, -1.0, 0.5, 7.0, 2.0, -40.0])


@pytest.mark.parametrize("factor", [1.0, -1.0, 1e-60, 1e60])
def test_ordinary_values_stay_as_they_are(factor):
    y = factor * ORDINARY
    counted = np.ones(6, dtype=bool)
    found, units = bent(y, counted)
    assert units == Units()
    assert units.state() == {}
    np.testing.assert_array_equal(units.seen(y), y)
    np.testing.assert_array_equal(found, half_ranked(y, counted))


@pytest.mark.parametrize("factor", [2.0**-1060, 2.0**-700, 2.0**700, 2.0**1015])
def test_sizes_whose_squares_are_no_numbers_are_scaled_exactly(factor):
    y = factor * ORDINARY
    units = Units.of(y, np.ones(6, dtype=bool))
    seen = units.seen(y)
    assert 1e-80 < np.abs(seen).max() < 1e80
    np.testing.assert_array_equal(units.value(seen), y)
    np.testing.assert_array_equal(seen / seen[0], y / y[0])
    assert np.isfinite(units.value(np.array([1e300]))).all()
    assert np.isfinite(Units(logarithmic=True).value(1e3))


def test_what_large_values_have_in_common_is_taken_away():
    y = 1e12 + np.arange(6.0)
    seen = Units.of(y, np.ones(6, dtype=bool)).seen(y)
    np.testing.assert_array_equal(seen, np.arange(6.0))
    y = 1e200 * (1.0 + 1e-8 * np.arange(6.0))
    units = Units.of(y, np.ones(6, dtype=bool))
    assert 1e-80 < np.ptp(units.seen(y)) < 1e80
    np.testing.assert_array_equal(units.value(units.seen(y)), y)


@pytest.mark.parametrize("huge", [1e300, -1e300])
def test_one_huge_value_beside_tiny_ones(huge):
    y = np.append(1e-200 * ORDINARY, huge)
    found, _ = bent(y, np.ones(7, dtype=bool))
    assert np.all(np.isfinite(found**2))
    assert np.argmax(found) == np.argmax(y)


def likelihood(r):
    return np.exp(-400.0 - r)


def test_values_of_many_orders_are_modeled_by_their_logarithms():
    r = np.array([1.0, 2.0, 25.0, 60.0, 90.0, 200.0, 900.0, 1e4])
    found, units = bent(likelihood(r), np.ones(8, dtype=bool))
    assert units.logarithmic
    np.testing.assert_allclose(found[:3], -400.0 - r[:3])
    # Zeros have no logarithm; they are the lowest, and near to the others.
    assert found[6] == found[7] == found.min()
    assert found[0] - found.min() < 100.0
    np.testing.assert_allclose(units.value(found[:3]), likelihood(r[:3]))


@pytest.mark.parametrize(
    "y",
    [
        ORDINARY,
        np.zeros(5),
        np.array([0.0, 0.0, 0.0, 0.0, 3.0]),  # one hit
        np.array([0.0, 0.0, 0.0, 1.0, 5.0, 9.0]),  # counts
        np.array([1e-9, 1.0, 2.0, 3.0]),  # a bowl that is called near its bottom
        np.append(likelihood(np.array([0.0, 50.0, 100.0])), -1.0),
    ],
)
def test_other_values_are_not(y):
    assert not spans_orders(y)


def test_hyper_parameters_in_other_units_are_not_carried_over():
    state = {"noise": np.asarray(0.1), "rows": np.asarray(7)}
    logs = Units(logarithmic=True)
    assert Units().carried(state) == state
    assert logs.carried(state) == {}
    kept = {**state, **logs.state()}
    assert logs.carried(kept) == state
    assert Units().carried(kept) == {}
    assert Units.in_state(kept) == logs
