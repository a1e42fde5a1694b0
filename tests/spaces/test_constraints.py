"""Constraints: which rows are allowed, and random rows that are."""

import jax.numpy as jnp
import numpy as np
import pytest

from leadline.boundary import InvalidData
from leadline.spaces import Choice, Integer, Real, Space


def in_the_triangle(x):
    return x[0] + x[1] <= 0.5


TRIANGLE = Space([(0, 1), (0, 1)], constraint=in_the_triangle)


def test_allowed_rows():
    rows = np.array([[0.1, 0.2], [0.4, 0.4], [0.5, 0.0]])
    assert TRIANGLE.allowed(rows).tolist() == [True, False, True]
    assert Space([(0, 1), (0, 1)]).allowed(rows).tolist() == [True] * 3
    assert TRIANGLE.allowed(np.empty((0, 2))).shape == (0,)


def test_the_constraint_sees_points():
    seen = []
    space = Space(a=Integer(1, 3), b=Choice("x", "y"), constraint=lambda p: seen.append(p) or True)
    rows = space.encode([{"a": 2, "b": "y"}])
    assert space.allowed(rows + 0.1).all()
    assert seen == [{"a": 2, "b": "y"}]


def test_random_rows_satisfy_the_constraint_evenly():
    """The triangle has its mean at 1/6, with standard deviation 0.118 (1/2 times 1/sqrt(18))."""
    rows = TRIANGLE.sample(np.random.default_rng(0), 4000)
    assert rows.shape == (4000, 2)
    assert TRIANGLE.allowed(rows).all()
    error = 0.5 / np.sqrt(18) / np.sqrt(4000)
    np.testing.assert_allclose(rows.mean(axis=0), 1 / 6, atol=5 * error)


def test_random_rows_depend_on_the_generator_only():
    for space in (TRIANGLE, Space(a=Real(0, 1), b=Integer(1, 9))):
        first, again, other = (space.sample(np.random.default_rng(k), 7) for k in (1, 1, 2))
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first, other)
        assert space.sample(np.random.default_rng(0), 0).shape == (0, 2)


def test_random_values_are_equally_likely():
    """9000 throws of three options: each within 5 standard errors of a third."""
    space = Space(a=Choice("x", "y", "z"), b=Integer(1, 3), c=Real(0, 1).when(a="x"))
    points = space.decode(space.sample(np.random.default_rng(0), 9000))
    for name in "ab":
        _, counts = np.unique([point[name] for point in points], return_counts=True)
        np.testing.assert_allclose(counts, 3000, atol=5 * np.sqrt(2000))


def test_a_rare_corner_is_found():
    """One point in a thousand is allowed."""
    space = Space(a=Integer(1, 1000), constraint=lambda point: point["a"] == 777)
    assert space.decode(space.sample(np.random.default_rng(0), 3)) == [{"a": 777}] * 3


def test_a_constraint_that_nothing_satisfies():
    space = Space([(0, 1)], constraint=lambda x: x[0] > 2)
    with pytest.raises(InvalidData, match=r"hardly any point: 0 of 1[0-9]{5} random points"):
        space.sample(np.random.default_rng(0), 3)


def test_every_and_the_constraint():
    space = Space(a=Integer(1, 4), b=Integer(1, 4), constraint=lambda p: p["a"] * p["b"] == 4)
    assert space.count == 16
    assert space.decode(space.every()) == [{"a": 1, "b": 4}, {"a": 2, "b": 2}, {"a": 4, "b": 1}]


def test_an_error_in_the_constraint_says_where():
    space = Space(a=Integer(0, 4), constraint=lambda point: 1 / point["a"] > 0)
    with pytest.raises(ZeroDivisionError) as caught:
        space.allowed(np.zeros((1, 1)))
    assert caught.value.__notes__ == ["The constraint was asked about {'a': 0}."]


NO_ANSWERS = {
    "nan": np.nan,
    "None": None,
    "'no'": "no",
    "-0.3": -0.3,
    "2": 2,
    r"array\(\[False, False\]\)": np.zeros(2, bool),
    r"array\(0.5\)": np.asarray(0.5),
    r"\[\]": [],
    r"\[\[1\], \[2, 3\]\]": [[1], [2, 3]],
    "{}": {},
}


@pytest.mark.parametrize("shown", NO_ANSWERS)
def test_a_constraint_must_answer_yes_or_no(shown):
    """A number that is at most 0 where points are allowed would say the opposite of that."""
    space = Space([(0, 1), (0, 1)], constraint=lambda x: NO_ANSWERS[shown])
    wanted = rf"must return True where .* at array\(\[0., 0.\]\) it returned {shown}\.$"
    with pytest.raises(InvalidData, match=wanted):
        space.allowed(np.zeros((1, 2)))


@pytest.mark.parametrize("yes", [True, np.True_, np.array([True]), jnp.asarray(True), 1])
def test_bools_of_every_kind_are_answers(yes):
    space = Space([(0, 1)], constraint=lambda x: yes if x[0] > 0.5 else yes * 0)
    assert space.allowed([[0.2], [0.7]]).tolist() == [False, True]


def test_a_constraint_must_be_a_function():
    with pytest.raises(InvalidData, match="constraint must be a function of a point, got 'x0 < 1'"):
        Space([(0, 1)], constraint="x0 < 1")
