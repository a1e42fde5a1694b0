"""Points, rows, and the way there and back."""

import json
import math
import pickle

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.spaces.random_spaces import spaces

from leadline.spaces import Choice, Integer, Ordinal, Real, Space

SEEDS = st.integers(0, 2**32 - 1)


def any_rows(space, seed, n=4):
    """Rows that no point has exactly."""
    return np.random.default_rng(seed).uniform(-0.2, 1.2, (n, space.columns))


@given(spaces(), SEEDS)
def test_points_survive_the_way_there_and_back(table, seed):
    space = Space.from_table(table)
    points = space.decode(any_rows(space, seed))
    again = space.decode(space.encode(points))
    for point, back in zip(points, again, strict=True):
        assert list(point) == list(back)
        for name, value in point.items():
            p = space.parameters[name]
            if math.isinf(p.size):
                scale = max(abs(p.low), abs(p.high)) if not p.log else 30 * value
                assert abs(back[name] - value) <= 4e-16 * scale
            else:
                assert back[name] == value
                assert type(back[name]) is type(value)


@given(spaces(), SEEDS)
def test_snap_is_encode_after_decode_and_changes_nothing_twice(table, seed):
    space = Space.from_table(table)
    rows = any_rows(space, seed)
    once = space.snap(rows)
    np.testing.assert_array_equal(once, space.encode(space.decode(rows)))
    twice = space.snap(once)
    discrete = ~space.continuous
    np.testing.assert_array_equal(once[:, discrete], twice[:, discrete])
    # Far from zero a real number has fewer digits than its position.
    digits = max(
        [
            max(abs(p.low), abs(p.high)) / (p.high - p.low) if not p.log else 30.0
            for p in space.parameters.values()
            if math.isinf(p.size)
        ],
        default=0.0,
    )
    np.testing.assert_allclose(once, twice, rtol=0, atol=4e-16 * max(1.0, digits))
    assert np.all((once >= 0) & (once <= 1))


@given(spaces(), SEEDS)
def test_points_can_be_written_to_json(table, seed):
    space = Space.from_table(table)
    points = space.decode(any_rows(space, seed))
    again = json.loads(json.dumps(points))
    assert again == points
    np.testing.assert_array_equal(space.encode(again), space.encode(points))


@given(spaces(), SEEDS)
@settings(max_examples=30)
def test_a_point_alone_has_the_same_row_as_among_others(table, seed):
    """Bit for bit: a journal that is read one by one must give what was computed together."""
    space = Space.from_table(table)
    rows = any_rows(space, seed, 9)
    together = space.snap(rows)
    for i in range(len(rows)):
        np.testing.assert_array_equal(space.snap(rows[i : i + 1])[0], together[i])


@given(spaces(), SEEDS)
def test_spread_gives_rows_of_points(table, seed):
    space = Space.from_table(table)
    u = np.random.default_rng(seed).random((5, space.dim))
    rows = space.spread(u)
    snapped = space.snap(rows)
    np.testing.assert_array_equal(rows[:, ~space.continuous], snapped[:, ~space.continuous])
    # A thousand, known to 1e-13, may be the end of a range as short as 0.01.
    np.testing.assert_allclose(rows, snapped, rtol=0, atol=4e-11)


def test_a_box():
    space = Space([(0.0, 1.0), (-5, 5), (2, 3)])
    assert space.names == ("x0", "x1", "x2")
    assert not space.named
    assert (space.dim, space.columns, space.count) == (3, 3, np.inf)
    assert space.continuous.tolist() == [True] * 3
    x = np.array([[0.5, 0.0, 2.5], [1.0, 5.0, 3.0], [0.0, -5.0, 2.0]])
    rows = space.encode(x)
    np.testing.assert_array_equal(rows, [[0.5] * 3, [1.0] * 3, [0.0] * 3])
    for given_points in (list(x), x.tolist(), tuple(x)):
        np.testing.assert_array_equal(space.encode(given_points), rows)
    points = space.decode(rows)
    assert isinstance(points, list)
    assert all(point.shape == (3,) and point.dtype == np.float64 for point in points)
    np.testing.assert_array_equal(points, x)
    np.testing.assert_array_equal(space.decode([[2.0, -1.0, 1.0]]), [[1.0, -5.0, 3.0]])
    np.testing.assert_array_equal(space.spread(rows), rows)
    assert space.neighbors(rows[0]).shape == (0, 3)
    assert space.active(rows).all()


def test_the_upper_end_of_a_box_is_reached_and_not_passed():
    """0.1 + 1 * (0.7 - 0.1) is not 0.7 in floats."""
    rng = np.random.default_rng(0)
    low = rng.normal(size=300)
    space = Space(np.stack([low, low + rng.exponential(size=300)], axis=1))
    high = space.decode(np.ones((1, 300)))[0]
    np.testing.assert_array_equal(high, [p.high for p in space.parameters.values()])
    space.encode(space.decode(np.full((1, 300), np.nextafter(1.0, 0.0))))


def test_a_named_space():
    space = Space(
        {"rate": Real(1e-4, 1, log=True), "size": Ordinal("S", "M", "L")},
        width=Integer(1, 5),
        act=Choice("relu", "tanh", None),
    )
    assert space.names == ("rate", "size", "width", "act")
    assert space.named
    assert (space.dim, space.columns) == (4, 6)
    assert space.continuous.tolist() == [True] + [False] * 5
    point = {"rate": 0.01, "size": "M", "width": 2, "act": None}
    half = np.sqrt(0.5)
    np.testing.assert_allclose(space.encode([point]), [[0.5, 0.5, 0.25, 0, 0, half]], rtol=1e-15)
    assert space.encode([]).shape == (0, 6)
    assert space.decode(np.empty((0, 6))) == []


def test_values_of_numpy_and_whole_floats_are_accepted():
    space = Space(a=Integer(1, 5), b=Real(0, 4), c=Choice(1, "x"), d=Ordinal(2, 4))
    plain = {"a": 3, "b": 2.0, "c": 1, "d": 4}
    point = {"a": 3.0, "b": np.int32(2), "c": np.float64(1.0), "d": np.array(4)}
    np.testing.assert_array_equal(space.encode([point]), space.encode([plain]))
    assert json.dumps(space.decode(space.encode([point]))[0]) == json.dumps(plain)


def test_nearest_integers_are_nearest_in_value_on_a_log_scale_too():
    space = Space(p=Integer(1, 100, log=True))
    unit = np.log([[1.49], [1.51], [63.4], [63.6]]) / np.log(100)
    assert [point["p"] for point in space.decode(unit)] == [1, 2, 63, 64]


def test_a_space_can_be_sent_to_another_process():
    space = Space(a=Choice("x", "y"), b=Real(0, 1).when(a="x"), constraint=len)
    again = pickle.loads(pickle.dumps(space))
    assert again == space
    np.testing.assert_array_equal(again.encode([{"a": "y"}]), space.encode([{"a": "y"}]))


def test_spaces_are_shown_as_they_are_written():
    box = Space([(0.0, 1.0)] * 6)
    assert repr(box) == "Space([(0.0, 1.0)] * 6)"
    two = Space([(0.0, 1.0), (1.0, 2.0)])
    assert repr(two) == "Space([(0.0, 1.0), (1.0, 2.0)])"
    short = Space(a=Real(0, 1), **{"lambda": Choice("x", "y")})
    assert repr(short) == "Space(a=Real(0.0, 1.0), **{'lambda': Choice('x', 'y')})"
    long = Space({f"parameter{k}": Integer(1, 9) for k in range(4)})
    assert repr(long).splitlines()[:2] == ["Space(", "    parameter0=Integer(1, 9),"]
    for space in (box, two, short, long):
        names = {"Space": Space, "Real": Real, "Integer": Integer, "Choice": Choice}
        assert eval(repr(space), names) == space
