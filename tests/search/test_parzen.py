"""Densities of calls, as mixtures of bumps."""

import numpy as np
import pytest
from scipy.stats import truncnorm

from leadline.acquisition import parzen
from leadline.search._parzen import _weights, _widths
from leadline.spaces import Choice, Integer, Ordinal, Real, Space

LINE = Space([(0.0, 1.0)])
MIXED = Space(a=Real(0, 1), kind=Choice(*"xyz"))
TREE = Space(a=Real(0, 1), kind=Choice(*"xyz"), b=Real(0, 1).when(kind="x"))
EVERYTHING = Space(
    a=Real(1e-3, 1.0, log=True),
    n=Integer(1, 9),
    level=Ordinal("low", "middle", "high"),
    kind=Choice("x", "y", None),
    b=Real(-1, 1).when(kind="x"),
    c=Choice(1, 2).when(n=(2, 3, 4)),
)
DRAWS = 20_000


def calls(space, n, seed=0):
    return space.sample(np.random.default_rng(seed), n)


def quadrature(pieces):
    """Nodes and masses on [0, 1]: 12 of Gauss and Legendre on each of equal pieces."""
    nodes, masses = np.polynomial.legendre.leggauss(12)
    places = (np.arange(pieces)[:, None] + 0.5 + 0.5 * nodes) / pieces
    return places.ravel(), np.tile(0.5 * masses / pieces, pieces)


def parts(found, nodes):
    """The density in a line of nodes, for every option."""
    lines = [MIXED.encode([{"a": float(t), "kind": k} for t in nodes]) for k in "xyz"]
    return np.array([np.exp(found.log_density(rows)) for rows in lines])


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
def test_a_density_of_numbers_integrates_to_one(n):
    nodes, masses = quadrature(60)
    logs = parzen(LINE, calls(LINE, n)).log_density(nodes[:, None])
    np.testing.assert_allclose(masses @ np.exp(logs), 1.0, rtol=1e-9)


@pytest.mark.parametrize("n", [0, 1, 5, 30])
def test_a_density_with_a_choice_integrates_to_one(n):
    nodes, masses = quadrature(60)
    total = np.sum(parts(parzen(MIXED, calls(MIXED, n)), nodes) @ masses)
    np.testing.assert_allclose(total, 1.0, rtol=1e-9)


@pytest.mark.parametrize("n", [0, 1, 12])
def test_a_density_with_a_condition_integrates_to_one(n):
    """Over `b` where it exists, and without it elsewhere."""
    found = parzen(TREE, calls(TREE, n))
    nodes, masses = quadrature(8)
    a, b = (grid.ravel() for grid in np.meshgrid(nodes, nodes))
    x = TREE.encode([{"a": 0.5, "kind": "x", "b": 0.5}])[:, 1:4]
    with_b = np.column_stack([a, np.repeat(x, len(a), axis=0), b])
    total = np.outer(masses, masses).ravel() @ np.exp(found.log_density(with_b))
    for kind in "yz":
        without_b = TREE.encode([{"a": float(t), "kind": kind} for t in nodes])
        total += masses @ np.exp(found.log_density(without_b))
    np.testing.assert_allclose(total, 1.0, rtol=1e-8)


# The bump that is always there: as wide as the space, cut off at the walls.
WIDE = truncnorm(-0.5, 0.5, loc=0.5, scale=1.0)


@pytest.mark.parametrize("space", [LINE, MIXED, TREE, EVERYTHING])
def test_without_calls_everything_is_nearly_as_likely(space):
    """A wide bump for every number, and 1 / options for every choice, that exists."""
    found = parzen(space, np.zeros((0, space.columns)))
    rows = calls(space, 50)
    first = np.cumsum([0, *space.widths[:-1]])
    exists = space.active(rows)[:, first]
    number = np.array(space.widths) == 1
    expected = -(exists @ np.log(space.widths))
    expected = expected + np.sum(WIDE.logpdf(rows[:, first]) * (exists & number), axis=1)
    np.testing.assert_allclose(found.log_density(rows), expected, atol=1e-9)
    assert 0.8 < WIDE.pdf(0.0) / WIDE.pdf(0.5) < 1.0


@pytest.mark.parametrize("at", [0.0, 0.3, 1.0])
def test_one_call_is_a_cut_bump_and_a_wide_one(at):
    """Nothing is lost at the walls, also if the call is at one."""
    found = parzen(LINE, np.array([[at]]))
    width = max(at, 1.0 - at)
    bump = truncnorm((0.0 - at) / width, (1.0 - at) / width, loc=at, scale=width)
    x = np.linspace(0.0, 1.0, 41)
    expected = 0.5 * bump.pdf(x) + 0.5 * WIDE.pdf(x)
    np.testing.assert_allclose(np.exp(found.log_density(x[:, None])), expected, rtol=1e-6)


def test_a_parameter_that_does_not_exist_in_a_call_is_flat_in_its_bump():
    """The other parameters of that call still count."""
    found = parzen(TREE, TREE.encode([{"a": 0.1, "kind": "y"}]))

    def logs(*points):
        return found.log_density(TREE.encode(list(points)))

    low, high = logs(*({"a": 0.1, "kind": "x", "b": b} for b in (0.1, 0.9)))
    np.testing.assert_allclose(low, high, atol=1e-6)
    near, far = logs(*({"a": a, "kind": "x", "b": 0.5} for a in (0.1, 0.9)))
    assert near > far + 0.1
    same, other = logs({"a": 0.1, "kind": "y"}, {"a": 0.1, "kind": "z"})
    assert same > other + 0.1


def test_widths_are_the_distance_to_the_farther_neighbor():
    """Beyond the outermost calls there is none, and a call alone has the walls."""
    x = np.array([0.6, 0.1, 0.35, 0.95])
    np.testing.assert_allclose(_widths(x), [0.35, 0.25, 0.25, 0.35])
    np.testing.assert_allclose(_widths(np.array([0.2])), [0.8])
    # Never less than where as many calls would lie apart, or a hundredth.
    np.testing.assert_allclose(_widths(np.full(8, 0.5)), 0.1)
    np.testing.assert_allclose(_widths(np.full(500, 0.5)), 0.01)
    assert _widths(np.zeros(0)).shape == (0,)


def test_recent_calls_count_more():
    np.testing.assert_array_equal(_weights(25), np.ones(25))
    many = _weights(60)
    np.testing.assert_array_equal(many[-25:], np.ones(25))
    assert np.all(np.diff(many[:35]) > 0)
    np.testing.assert_allclose(many[0], 1 / 60)
    assert _weights(0).shape == (0,)


def test_calls_are_denser_where_they_are():
    rows = 0.7 + 0.05 * calls(LINE, 20)
    found = parzen(LINE, rows)
    inside, outside = found.log_density(np.array([[0.72], [0.2]]))
    assert inside > outside + np.log(20.0)
    # A far point keeps the wide bump.
    np.testing.assert_allclose(outside, WIDE.logpdf(0.2) - np.log(21.0), atol=1e-3)


def within(draws, expected, errors=4.0):
    """Whether the mean of draws is what it should be, up to some standard errors."""
    error = np.std(draws) / np.sqrt(len(draws))
    return abs(np.mean(draws) - expected) < errors * error


@pytest.mark.parametrize("n", [0, 3, 40])
def test_draws_of_numbers_follow_the_density(n):
    """First and second moments, and how many are in a tenth, within 4 standard errors."""
    found = parzen(LINE, 0.3 * calls(LINE, n))
    x = found.draw(np.random.default_rng(1), DRAWS)[:, 0]
    nodes, masses = quadrature(60)
    mass = masses * np.exp(found.log_density(nodes[:, None]))
    assert within(x, mass @ nodes)
    assert within(x**2, mass @ nodes**2)
    for low in (0.0, 0.1, 0.9):
        inside = (nodes > low) & (nodes < low + 0.1)
        assert within((x > low) & (x < low + 0.1), mass[inside].sum())


def test_draws_of_choices_follow_the_density():
    """The share of each option, and the mean of the number beside it, within 4 errors."""
    rows = MIXED.encode([{"a": 0.1, "kind": "x"}, {"a": 0.2, "kind": "x"}, {"a": 0.9, "kind": "y"}])
    found = parzen(MIXED, rows)
    drawn = found.draw(np.random.default_rng(2), DRAWS)
    nodes, masses = quadrature(60)
    for k, mass in enumerate(parts(found, nodes) * masses):
        taken = drawn[:, 1 + k] > 0
        assert within(taken, mass.sum())
        assert within(drawn[taken, 0], mass @ nodes / mass.sum())


def test_draws_with_a_condition_follow_the_density():
    """`b` exists as often as its condition holds, and has the mean of its bumps."""
    known = [{"a": 0.1, "kind": "x", "b": 0.1}, {"a": 0.2, "kind": "x", "b": 0.2}]
    found = parzen(TREE, TREE.encode([*known, {"a": 0.9, "kind": "y"}]))
    drawn = found.draw(np.random.default_rng(3), DRAWS)
    exists = TREE.active(drawn)[:, -1]
    np.testing.assert_array_equal(exists, drawn[:, 1] > 0)
    # A bump has 1 for its option and 1/4 more for each; four bumps count equally.
    shares = np.array([5 / 7, 5 / 7, 1 / 7, 1 / 3])
    assert within(exists, shares.mean())
    bumps = [truncnorm(-at / 0.25, (1 - at) / 0.25, at, 0.25).mean() for at in (0.1, 0.2)]
    means = np.array([*bumps, 0.5, 0.5])
    assert within(drawn[exists, -1], shares @ means / shares.sum())
    # The negative control: bumps of another option count less there.
    assert not within(drawn[exists, -1], means.mean())


@pytest.mark.parametrize("n", [0, 1, 30])
def test_draws_are_rows_of_points(n):
    rows = parzen(EVERYTHING, calls(EVERYTHING, n)).draw(np.random.default_rng(0), 500)
    assert rows.shape == (500, EVERYTHING.columns)
    np.testing.assert_allclose(EVERYTHING.snap(rows), rows, atol=1e-12)
    points = EVERYTHING.decode(rows)
    np.testing.assert_allclose(EVERYTHING.encode(points), rows, atol=1e-12)
    assert {p["kind"] for p in points} == {"x", "y", None}
    assert {p["n"] for p in points} == set(range(1, 10))
    assert all(("b" in p) == (p["kind"] == "x") for p in points)
    assert all(("c" in p) == (p["n"] in (2, 3, 4)) for p in points)


def test_draws_are_the_same_for_the_same_generator():
    found = parzen(EVERYTHING, calls(EVERYTHING, 9))
    first, second = (found.draw(np.random.default_rng(5), 20) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert found.draw(np.random.default_rng(5), 0).shape == (0, EVERYTHING.columns)
    assert found.log_density(np.zeros((0, EVERYTHING.columns))).shape == (0,)
