"""Points one move away."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.spaces.random_spaces import spaces

from leadline.spaces import Choice, Integer, Ordinal, Real, Space


def of(space, point):
    return space.decode(space.neighbors(space.encode([point])[0]))


def test_integers_move_by_powers_of_two():
    moved = [point["p"] for point in of(Space(p=Integer(0, 40)), {"p": 10})]
    assert moved == [2, 6, 8, 9, 11, 12, 14, 18, 26]
    assert [point["p"] for point in of(Space(p=Integer(-3, 1)), {"p": -3})] == [-2, -1, 1]


def test_ordered_values_move_by_powers_of_two_and_choices_anywhere():
    sizes = Space(p=Ordinal("XS", "S", "M", "L", "XL", "XXL"))
    assert [point["p"] for point in of(sizes, {"p": "XXL"})] == ["S", "L", "XL"]
    options = Space(p=Choice("a", "b", "c"))
    assert [point["p"] for point in of(options, {"p": "b"})] == ["a", "c"]


def test_real_numbers_stay():
    space = Space(a=Choice("x", "y"), b=Real(0, 1))
    assert of(space, {"a": "x", "b": 0.3}) == [{"a": "y", "b": 0.3}]
    assert Space(b=Real(0, 1)).neighbors([0.5]).shape == (0, 1)


def test_moves_switch_parameters_on_at_their_middle_and_off():
    space = Space(
        a=Choice("x", "y"),
        b=Real(0, 4).when(a="y"),
        c=Choice(1, 2).when(a="y"),
        d=Integer(1, 9).when(c=1),
        e=Ordinal("l", "m", "h").when(a="x"),
    )
    assert of(space, {"a": "x", "e": "h"}) == [
        {"a": "y", "b": 2.0, "c": 1, "d": 5},
        {"a": "x", "e": "l"},
        {"a": "x", "e": "m"},
    ]
    assert of(space, {"a": "y", "b": 1.0, "c": 2}) == [
        {"a": "x", "e": "m"},
        {"a": "y", "b": 1.0, "c": 1, "d": 5},
    ]


@given(spaces(), st.integers(0, 2**32 - 1))
def test_neighbors_are_points_that_differ_in_one_parameter(table, seed):
    space = Space.from_table(table)
    row = space.sample(np.random.default_rng(seed), 1)
    here = space.decode(row)[0]
    rows = space.neighbors(row[0])
    np.testing.assert_allclose(rows, space.snap(rows), rtol=0, atol=4e-11)
    points = space.decode(rows)
    assert len({repr(point) for point in points}) == len(points)
    for point in points:
        shared = [n for n in space.names if n in here and n in point]
        changed = [
            n for n in shared if point[n] != here[n] and np.isfinite(space.parameters[n].size)
        ]
        assert len(changed) == 1
        for name in set(here) ^ set(point):
            assert space.parameters[name].conditions


@given(spaces(finite=True))
def test_every_point_of_a_finite_space_is_some_moves_away(table):
    """Steps of 1 are among the moves, so nothing is out of reach."""
    space = Space.from_table(table)
    if space.count > 60:
        return
    everything = {row.tobytes() for row in space.every()}
    start = space.every()[0]
    reached, ahead = {start.tobytes()}, [start]
    while ahead:
        for row in space.neighbors(ahead.pop()):
            if row.tobytes() not in reached:
                reached.add(row.tobytes())
                ahead.append(row)
    # A parameter that appears starts at its middle, from where the others are reached.
    assert reached == everything


def test_moves_respect_the_constraint():
    space = Space(a=Integer(0, 8), constraint=lambda point: point["a"] % 2 == 0)
    assert of(space, {"a": 4}) == [{"a": 0}, {"a": 2}, {"a": 6}, {"a": 8}]
