"""One parameter: where its values lie in the unit cube, and which arguments are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spaces.random_spaces import (
    choices,
    integers,
    ordinals,
    parameter_of,
    reals,
    stepped,
)

from leadline.boundary import InvalidData
from leadline.spaces import Choice, Integer, Ordinal, Real, Space

ANY = st.one_of(reals(), stepped(), integers(), ordinals(), choices())


def rows_of(parameter, *values):
    return Space(p=parameter).encode([{"p": value} for value in values])


@given(st.one_of(reals(), stepped(), integers()))
def test_the_ends_of_a_range_are_0_and_1(table):
    parameter = parameter_of(table)
    rows = rows_of(parameter, parameter.low, parameter.high)
    assert rows.tolist() == [[0.0], [1.0]]
    low, high = Space(p=parameter).decode(rows)
    assert (low["p"], high["p"]) == (parameter.low, parameter.high)


@given(ANY, st.lists(st.floats(-2, 3), min_size=1, max_size=5))
def test_nothing_decodes_to_a_value_outside(table, columns):
    parameter = parameter_of(table)
    space = Space(p=parameter)
    rows = np.tile(np.array(columns)[:, None], (1, space.columns))
    for point in space.decode(rows):
        parameter.state(point["p"])


def test_linear_and_logarithmic_positions():
    assert rows_of(Real(-1, 3), 0.0) == [[0.25]]
    np.testing.assert_allclose(rows_of(Real(1e-4, 1e4, log=True), 0.01, 1), [[0.25], [0.5]])
    np.testing.assert_allclose(rows_of(Integer(1, 100, log=True), 10), [[0.5]])
    assert rows_of(Integer(10, 14), 13) == [[0.75]]
    assert rows_of(Ordinal("S", "M", "L"), "S", "M", "L").tolist() == [[0.0], [0.5], [1.0]]


@given(choices())
def test_two_options_are_at_distance_one(table):
    parameter = parameter_of(table)
    rows = rows_of(parameter, *parameter.options)
    assert rows.shape == (parameter.size, parameter.size)
    assert set(rows.ravel()) == {0.0, np.sqrt(0.5)}
    distance = np.linalg.norm(rows[:, None] - rows[None], axis=-1)
    np.testing.assert_allclose(distance, 1.0 - np.eye(parameter.size), rtol=1e-15)


@given(st.one_of(integers(30, linear=True), stepped(30, linear=True), ordinals(), choices()))
def test_spread_gives_every_value_an_equal_slice(table):
    """The middle and both sides of the K slices of [0, 1)."""
    parameter = parameter_of(table)
    k = np.arange(parameter.size)
    for offset in (1e-9, 0.5, 1 - 1e-9):
        states = parameter.spread((k + offset) / parameter.size)
        np.testing.assert_array_equal(states, parameter.nth(k.astype(float)))


def test_spread_on_a_log_scale_gives_integers_their_share_of_the_logarithm():
    parameter = Integer(1, 20, log=True)
    edges = np.log(np.arange(0, 21) + 0.5)
    edges = (edges - edges[0]) / (edges[-1] - edges[0])
    for side, values in ((1e-12, np.arange(1, 21)), (-1e-12, np.arange(0, 20))):
        states = parameter.spread(np.clip(edges[: 20 if side > 0 else None] + side, 0, 1))
        np.testing.assert_array_equal(states[-20:], values if side > 0 else values + 1)


def test_spread_of_real_numbers_is_their_scale():
    u = np.array([0.0, 0.25, 0.999])
    np.testing.assert_allclose(Real(2, 6).spread(u), 2 + 4 * u)
    np.testing.assert_allclose(Real(1, 100, log=True).spread(u), 10 ** (2 * u))


@given(st.integers(1, 10**12 - 1), st.booleans())
def test_the_largest_integers_survive_the_way_there_and_back(value, log):
    for parameter in (Integer(1, 10**12, log=log), Integer(value, value + 1, log=log)):
        space = Space(p=parameter)
        assert space.decode(rows_of(parameter, value)) == [{"p": value}]


@pytest.mark.parametrize(
    "parameter",
    [
        Real(1e-5, 0.1, log=True),
        Real(0, 1, step=0.1),
        Real(0.01, 1, log=True, decimals=2),
        Integer(16, 256),
        Ordinal(1, 2, "many"),
        Choice("relu", None, True, 2, 0.5),
        Real(0, 0.99).when(optimizer="sgd", depth=(1, 2)),
        Choice("a", "b").when(**{"lambda": 0.5, "two words": "c"}),
    ],
)
def test_a_parameter_is_shown_as_it_is_written(parameter):
    names = {"Real": Real, "Integer": Integer, "Ordinal": Ordinal, "Choice": Choice}
    again = eval(repr(parameter), names)
    assert again == parameter
    assert hash(again) == hash(parameter)
    assert repr(again) == repr(parameter)


def test_conditions_are_part_of_a_parameter_and_add_up():
    free = Real(0, 1)
    assert free.when(a=1) != free
    assert free.when(a=1).when(b=("x", "y")) == free.when(b=["x", "y"], a=1)
    assert free.conditions == ()


BAD = {
    r"Real needs low < high, got low=3.0 and high=1.0": lambda: Real(3, 1),
    r"Real needs low < high, got low=1.0 and high=1.0": lambda: Real(1, 1),
    r"Integer needs low < high, got low=5 and high=5": lambda: Integer(5, 5),
    r"Real on a log scale needs low > 0, got low=0.0": lambda: Real(0, 1, log=True),
    r"Integer on a log scale needs low > 0, got low=0": lambda: Integer(0, 8, log=True),
    r"low of Real must be finite, got nan": lambda: Real(np.nan, 1),
    r"high of Real must be finite, got inf": lambda: Real(0, np.inf),
    r"high of Real is larger than any float": lambda: Real(0, 10**400),
    r"is wider than floats can measure": lambda: Real(-1e308, 1e308),
    r"low of Real must be a number, got '0'": lambda: Real("0", 1),
    r"low of Real must be a number, got True": lambda: Real(True, 2),
    r"high of Integer must be a whole number, got 2.5": lambda: Integer(1, 2.5),
    r"high of Integer must be within 1e\+12 of zero": lambda: Integer(0, 10**13),
    r"log of Integer must be True or False, got 'yes'": lambda: Integer(1, 2, log="yes"),
    r"whole number of steps of 0.3 from low=0.0; the nearest are 0.9 and 1.2, got 1.0": (
        lambda: Real(0, 1, step=0.3)
    ),
    r"of steps of 2.0 from low=0.0; the nearest are 0.0 and 2.0": lambda: Real(0, 1, step=2),
    r"step of Real must be above 0, got 0.0": lambda: Real(0, 1, step=0),
    r"step of Real must be a number, got 'a'": lambda: Real(0, 1, step="a"),
    r"A log scale has no equal steps: .* decimals .* step=0.1": (
        lambda: Real(0.1, 1, log=True, step=0.1)
    ),
    r"low of Real must be a number with decimals=1; the nearest are 0.1 and 0.2, got 0.12": (
        lambda: Real(0.12, 1, decimals=1)
    ),
    r"high of Real must be a number with decimals=0; the nearest are 1.0 and 2.0, got 1.5": (
        lambda: Real(0, 1.5, decimals=0)
    ),
    r"decimals of Real must be a whole number, got 1.5": lambda: Real(0, 1, decimals=1.5),
    r"decimals of Real must be from 0 to 330, got -1": lambda: Real(0, 1, decimals=-1),
    r"steps of 1e-300, too fine for floats": lambda: Real(0, 1, decimals=300),
    r"Real from 1e\+17 .* steps of 1.0, too fine": lambda: Real(1e17, 1e17 + 160, step=1),
    r"Real takes step or decimals, got 0.1 and 1": lambda: Real(0, 1, step=0.1, decimals=1),
    r"Choice needs two or more options, got 1: \('a',\)": lambda: Choice("a"),
    r"Ordinal needs two or more values, got 0": lambda: Ordinal(),
    r"options of Choice must differ from each other, got 'a' twice": lambda: Choice("a", "b", "a"),
    r"values of Ordinal must differ from each other, got 1.0 twice": lambda: Ordinal(1, 1.0),
    r"each of the options of Choice must be a string, a number, a bool or None, got \('a', 'b'\)": (
        lambda: Choice(("a", "b"), "c")
    ),
    r"each of the options of Choice must be finite": lambda: Choice(1.0, np.nan),
    r"values of Ordinal must be numbers or strings, got None": lambda: Ordinal(1, None),
    r"values of Ordinal must be numbers or strings, got True": lambda: Ordinal("a", True),
    r"condition on 'a' must have at least one value": lambda: Real(0, 1).when(a=()),
    r"There is a condition on 'a' already": lambda: Real(0, 1).when(a=1).when(a=2),
    r"values in the condition on 'a' must differ": lambda: Real(0, 1).when(a=(1, 1)),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_parameters(message):
    with pytest.raises(InvalidData, match=message):
        BAD[message]()
