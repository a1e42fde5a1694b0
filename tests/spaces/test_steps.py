"""Real numbers of which only some can be set: 79.5, and not 79.95210727086904."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spaces.random_spaces import parameter_of, stepped

from leadline.boundary import InvalidData
from leadline.spaces import Integer, Real, Space, is_wider

SEEDS = st.integers(0, 2**32 - 1)
OVEN = Space(heat=Real(20, 90, step=0.5), share=Real(0.01, 1, log=True, decimals=2))


def values_of(parameter):
    space = Space(p=parameter)
    return [point["p"] for point in space.decode(space.every())]


def test_values_are_what_they_are_written_as():
    assert values_of(Real(0, 1, step=0.1)) == [k / 10 for k in range(11)]
    assert values_of(Real(0.1, 1.0, step=0.3)) == [0.1, 0.4, 0.7, 1.0]
    assert values_of(Real(-1, 1, step=1 / 3))[3:] == [0.0, 1 / 3, 2 / 3, 1.0]
    assert values_of(Real(-0.2, 0.1, decimals=1)) == [-0.2, -0.1, 0.0, 0.1]
    assert values_of(Real(0.001, 0.5, log=True, decimals=3)) == [k / 1000 for k in range(1, 501)]
    assert values_of(Real(1e-300, 3e-300, step=1e-300)) == [1e-300, 2e-300, 3e-300]
    # Ends that have been computed lose their rounding errors.
    assert values_of(Real(0.1 + 0.2, 1.1 - 0.6, decimals=1)) == [0.3, 0.4, 0.5]
    assert values_of(Real(0, 3 * 0.1, step=0.1)) == [0.0, 0.1, 0.2, 0.3]
    assert Real(0, 3 * 0.1, step=0.1) == Real(0, 0.3, step=0.1)


@given(st.integers(0, 6), st.integers(-(10**6), 10**6), st.integers(1, 10**6), SEEDS)
def test_decimals_are_what_round_gives(decimals, low, count, seed):
    unit = 10**decimals
    space = Space(p=Real(low / unit, (low + count) / unit, decimals=decimals))
    assert space.count == count + 1
    points = space.decode(np.random.default_rng(seed).uniform(-0.1, 1.1, (5, 1)))
    for point in points:
        assert repr(point["p"]) == repr(round(point["p"], decimals))
    assert space.decode(space.encode(points)) == points


@given(stepped(), SEEDS)
def test_every_value_is_the_nearest_to_its_exact_place(table, seed):
    parameter = parameter_of(table)
    start, stop = (Fraction(repr(end)) for end in (parameter.low, parameter.high))
    ks = np.random.default_rng(seed).integers(0, parameter.size, 5)
    wanted = [float(start + int(k) * (stop - start) / (parameter.size - 1)) for k in ks]
    assert parameter.decode(parameter.nth(ks.astype(float))) == wanted
    assert [parameter.place(value) for value in wanted] == ks.tolist()
    assert [parameter.state(value) for value in wanted] == wanted


def test_values_between_two_steps_are_refused_where_points_are():
    point = {"heat": 79.5, "share": 0.1 + 0.2}
    assert OVEN.decode(OVEN.encode([point])) == [{"heat": 79.5, "share": 0.3}]
    with pytest.raises(
        InvalidData, match=r"'heat' of points\[0\] .* steps of 0.5; the nearest are "
    ):
        OVEN.encode([point | {"heat": 79.95}])
    with pytest.raises(InvalidData, match=r"the nearest are 79.5 and 80.0, got 79.95"):
        OVEN.encode([point | {"heat": 79.95}])
    with pytest.raises(InvalidData, match=r"must be a number from 20.0 to 90.0, got 90.5"):
        OVEN.encode([point | {"heat": 90.5}])
    with pytest.raises(InvalidData, match=r"must be a number from 20.0 to 90.0, got nan"):
        OVEN.encode([point | {"heat": float("nan")}])


def test_data_between_two_steps_stay_where_they_are():
    rows = OVEN.locate([{"heat": h, "share": 0.2} for h in (79.5, 79.95, 90.5, 79.5 + 1e-9)])
    np.testing.assert_allclose(rows[:, 0], [59.5 / 70, 59.95 / 70, 70.5 / 70, 59.5 / 70])
    assert rows[0, 0] == rows[3, 0]
    assert OVEN.contains(rows).tolist() == [True, False, False, True]
    assert [point["heat"] for point in OVEN.decode(rows)] == [79.5, 80.0, 90.0, 79.5]
    assert not OVEN.continuous.any()


def test_on_a_log_scale_values_have_their_share_of_the_logarithm():
    """As whole numbers have."""
    u = np.random.default_rng(0).random(50)
    tenths, whole = Real(0.1, 2.0, log=True, decimals=1), Integer(1, 20, log=True)
    np.testing.assert_allclose(tenths.spread(u), whole.spread(u) / 10)
    np.testing.assert_allclose(tenths.nearest(u[:, None]), whole.nearest(u[:, None]) / 10)


def test_the_constraint_sees_what_can_be_set():
    seen = []
    space = Space(p=Real(0, 1, step=0.25), constraint=lambda point: seen.append(point["p"]) or True)
    space.allowed([[0.1], [0.6], [0.9]])
    assert seen == [0.0, 0.5, 1.0]


def test_descriptions_say_of_steps_only_where_there_are_some():
    """Journals of older versions know no other word for a real number."""
    plain = {"type": "real", "low": 0.0, "high": 1.0, "log": False}
    tables = {"a": plain, "b": plain | {"step": 0.5}, "c": plain | {"decimals": 1}}
    space = Space(a=Real(0, 1), b=Real(0, 1, step=0.5), c=Real(0, 1, decimals=1))
    assert space.describe()["parameters"] == tables
    assert Space.from_table(tables) == space
    with pytest.raises(InvalidData, match="In parameter 'a': high of Real must be a whole number"):
        Space.from_table({"a": plain | {"step": 0.4}})


@pytest.mark.parametrize(
    ("wider", "holds"),
    [
        (Real(-1, 2, step=0.5), True),
        (Real(0, 1.5, step=0.5), True),
        (Real(-0.25, 1.25, step=0.5), False),
        (Real(0, 2, step=0.25), False),
        (Real(0, 2), False),
    ],
)
def test_a_wider_range_has_the_same_steps(wider, holds):
    narrow = Space(p=Real(0, 1, step=0.5)).describe()
    assert is_wider(Space(p=wider).describe(), narrow) == holds


def test_a_range_in_decimals_may_widen():
    narrow, wide = (Space(p=Real(0, high, decimals=1)).describe() for high in (1, 1.1))
    assert is_wider(wide, narrow)
