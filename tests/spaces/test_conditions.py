"""Parameters that exist only with certain values of others."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spaces.random_spaces import spaces

from leadline.boundary import InvalidData
from leadline.spaces import Choice, Integer, Ordinal, Real, Space

NETWORK = Space(
    momentum=Real(0, 0.99).when(optimizer="sgd"),
    nesterov=Choice(False, True).when(optimizer=("sgd", "adam"), layers=(1, 2)),
    warmup=Integer(1, 9).when(nesterov=True),
    optimizer=Choice("sgd", "adam", "rmsprop"),
    layers=Integer(1, 3),
)


def exists(space, point, name):
    """By the definition, one parameter after another."""
    return all(
        exists(space, point, parent) and point[parent] in values
        for parent, values in space.parameters[name].conditions
    )


def test_absent_parameters_are_left_out_and_neutral():
    point = {"optimizer": "rmsprop", "layers": 2}
    row = NETWORK.encode([point])
    third, half = np.sqrt(0.5) / 2, np.sqrt(0.5)
    np.testing.assert_allclose(row, [[0.5, third, third, 0.5, 0, 0, half, 0.5]], rtol=1e-15)
    assert NETWORK.decode(row) == [point]
    assert NETWORK.active(row).tolist() == [[False] * 4 + [True] * 4]


def test_a_child_is_absent_when_its_parent_is():
    """The columns of nesterov say True, but with three layers there is no nesterov."""
    row = NETWORK.encode(
        [
            {"optimizer": "adam", "layers": 2, "nesterov": True, "warmup": 9},
            {"optimizer": "adam", "layers": 2, "nesterov": False},
        ]
    )
    row[0, -1] = 1.0
    (with_three, without) = NETWORK.decode(row)
    assert with_three == {"optimizer": "adam", "layers": 3}
    assert without == {"nesterov": False, "optimizer": "adam", "layers": 2}


@given(spaces(), st.integers(0, 2**32 - 1))
def test_a_decoded_point_has_the_parameters_that_exist(table, seed):
    space = Space.from_table(table)
    rows = np.random.default_rng(seed).uniform(0, 1, (4, space.columns))
    active = space.active(rows)
    for i, point in enumerate(space.decode(rows)):
        wanted = [name for name in space.names if exists(space, point, name)]
        assert list(point) == wanted
        columns = [n for n in space.names for _ in range(space.parameters[n].columns)]
        assert active[i].tolist() == [name in point for name in columns]


@given(spaces(finite=True))
def test_count_and_every_against_brute_force(table):
    """All combinations of values, cut down to what exists, without repetitions."""
    space = Space.from_table(table)
    values = [
        range(p.low, p.high + 1)
        if isinstance(p, Integer)
        else p.decode(p.nth(np.arange(float(p.size))))
        for p in space.parameters.values()
    ]
    seen = set()
    for combination in itertools.product(*values):
        point = dict(zip(space.names, combination, strict=True))
        seen.add(tuple((n, point[n]) for n in space.names if exists(space, point, n)))
    assert space.count == len(seen)
    if len(seen) <= 10_000:
        rows = space.every()
        assert len(rows) == len(seen)
        assert {tuple(point.items()) for point in space.decode(rows)} == seen
        np.testing.assert_array_equal(rows, space.every())
        np.testing.assert_array_equal(rows, space.snap(rows))


def test_points_are_listed_in_the_order_of_the_parameters():
    space = Space(b=Integer(1, 2).when(a="y"), a=Choice("x", "y"), c=Ordinal(1, 5))
    assert space.decode(space.every()) == [
        {"b": 1, "a": "y", "c": 1},
        {"b": 1, "a": "y", "c": 5},
        {"b": 2, "a": "y", "c": 1},
        {"b": 2, "a": "y", "c": 5},
        {"a": "x", "c": 1},
        {"a": "x", "c": 5},
    ]


def test_counting_does_not_enumerate():
    wide = {f"p{k}": Integer(1, 10**12) for k in range(40)}
    assert Space(wide).count == 10**480
    pairs = {f"a{k}": Integer(1, 10) for k in range(50)}
    pairs |= {f"b{k}": Integer(1, 10).when(**{f"a{k}": 3}) for k in range(50)}
    assert Space(pairs).count == 19**50
    chain = {"p0": Choice(0, 1)}
    chain |= {f"p{k}": Choice(0, 1).when(**{f"p{k - 1}": 1}) for k in range(1, 200)}
    assert Space(chain).count == 201
    assert Space(a=Integer(1, 3), b=Real(0, 1).when(a=2)).count == np.inf


def test_entangled_conditions_count_as_infinite():
    """The last parameter asks about all others, so nothing can be forgotten on the way to it."""
    switches = {f"a{k}": Choice(0, 1) for k in range(17)}
    together = Choice(0, 1).when(**dict.fromkeys(switches, 1))
    assert Space(switches).count == 2**17
    assert Space(switches | {"b": together}).count == np.inf
    few = {name: switches[name] for name in list(switches)[:9]}
    together = Choice(0, 1).when(**dict.fromkeys(few, 1))
    assert Space(few | {"b": together}).count == 2**9 + 1


def test_a_list_of_too_many_points_is_refused():
    with pytest.raises(InvalidData, match="at most 10000 points, the space has 10001"):
        Space(p=Integer(0, 10_000)).every()
    with pytest.raises(InvalidData, match="the space has inf"):
        Space([(0, 1)]).every()


BAD = {
    r"The condition of 'b' must be one of 'alpha', 'b', got 'alpa'. Did you mean 'alpha'\?": (
        lambda: Space(alpha=Choice(1, 2), b=Real(0, 1).when(alpa=1))
    ),
    r"on 'a', which must be .*, an Integer or a Real with steps, got Real\(0.0, 1.0\)": (
        lambda: Space(a=Real(0, 1), b=Real(0, 1).when(a=1))
    ),
    r"The condition of 'b' on 'a' must be one of 'sgd', 'adam', got 'sdg'. Did you mean 'sgd'\?": (
        lambda: Space(a=Choice("sgd", "adam"), b=Real(0, 1).when(a="sdg"))
    ),
    r"The condition of 'b' on 'a' must be a whole number from 1 to 3, got 4": (
        lambda: Space(a=Integer(1, 3), b=Real(0, 1).when(a=(1, 4)))
    ),
    r"go in a circle: 'a' -> 'b' -> 'a'|go in a circle: 'b' -> 'a' -> 'b'": (
        lambda: Space(a=Choice(1, 2).when(b=1), b=Choice(1, 2).when(a=1))
    ),
    r"go in a circle: 'a' -> 'a'": lambda: Space(a=Choice(1, 2).when(a=1)),
    r"'c' can never exist: no value of 'a' meets its conditions": (
        lambda: Space(a=Choice("x", "y"), b=Choice(1, 2).when(a="x"), c=Real(0, 1).when(a="y", b=1))
    ),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_conditions(message):
    with pytest.raises(InvalidData, match=message):
        BAD[message]()
