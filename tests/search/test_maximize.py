from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

import leadline as ll
from leadline.acquisition import Acquisition, is_among, maximize
from leadline.spaces import Choice, Integer, Real, Space

NOTHING = np.zeros((0, 2))


class Hill(Acquisition):
    """A known function of one point: highest at `top`, with a lower hill at `other`."""

    top: Any
    other: Any

    def values(self, x: Array) -> Array:
        def hill(center, width):
            return jnp.exp(-jnp.sum((x[:, 0, :] - center) ** 2, axis=1) / width**2)

        return hill(self.top, 0.15) + 0.6 * hill(self.other, 0.4)


def find(acquisition, space, seed=0, close_to=None, avoid=None):
    nothing = np.zeros((0, space.columns))
    return maximize(
        acquisition,
        space,
        jax.random.key(seed),
        close_to=nothing if close_to is None else close_to,
        avoid=nothing if avoid is None else avoid,
    )


HILL = Hill(jnp.array([0.31, 0.77]), jnp.array([0.8, 0.2]))


def test_the_highest_point_of_a_box_is_found_among_lower_hills():
    found = find(HILL, Space([(-2.0, 5.0), (0.0, 1.0)]))
    around = np.array(found.row) + np.random.default_rng(0).normal(0, 0.02, (2000, 2))
    assert found.value >= float(jnp.max(HILL.values(jnp.asarray(around)[:, None, :])))
    np.testing.assert_allclose(found.row, HILL.top, atol=0.02)


def test_a_maximum_at_a_corner_is_found_exactly():
    found = find(Hill(jnp.array([1.2, -0.3]), jnp.array([1.2, -0.3])), Space([(0, 1)] * 2))
    np.testing.assert_array_equal(found.row, [1.0, 0.0])


def test_rows_to_avoid_are_not_found_again():
    space = Space([(0, 1)] * 2)
    first = find(HILL, space)
    second = find(HILL, space, avoid=first.row[None])
    assert not is_among(second.row, first.row[None])
    assert second.value < first.value


def test_the_constraint_holds_at_the_answer_and_costs_little():
    space = Space([(0, 1)] * 2, constraint=lambda x: x[0] + x[1] <= 0.9)
    found = find(HILL, space)
    assert space.allowed(found.row[None])[0]
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 201)] * 2), axis=-1).reshape(-1, 2)
    grid = grid[grid.sum(axis=1) <= 0.9]
    best = float(jnp.max(HILL.values(jnp.asarray(grid)[:, None, :])))
    # A search that meets the constraint stops there; it does not slide along it.
    assert found.value > 0.95 * best


@pytest.mark.parametrize("n", [Integer(1, 40), Real(0.5, 20, step=0.5)])
def test_a_mixed_space_is_searched_in_its_own_terms(n):
    """No rounding after the fact: the answer is a point of the space and a maximum in it."""
    space = Space(a=Real(0, 1), n=n, kind=Choice(*"abcdefgh"))

    class Bumpy(Acquisition):
        scores: Any

        def values(self, x: Array) -> Array:
            row = x[:, 0, :]
            kind = jnp.sum(row[:, 2:] * self.scores, axis=1)
            return kind + jnp.cos(20.0 * row[:, 1]) - (row[:, 0] - row[:, 1]) ** 2

    acquisition = Bumpy(jnp.asarray(np.random.default_rng(1).normal(size=8)))
    found = find(acquisition, space)
    np.testing.assert_array_equal(space.snap(found.row[None])[0, 1:], found.row[1:])

    def values(rows):
        return np.asarray(acquisition.values(jnp.asarray(rows)[:, None, :]))

    # No change of one discrete parameter helps, and ten times as many random points find no better.
    assert values(space.neighbors(found.row)).max() <= found.value
    assert values(space.sample(np.random.default_rng(2), 6000)).max() <= found.value


def test_a_small_finite_space_is_tried_out_and_can_be_used_up():
    space = Space(n=Integer(0, 10), m=Integer(0, 10))
    rows = space.every()
    values = np.asarray(HILL.values(jnp.asarray(rows)[:, None, :]))
    found = find(HILL, space)
    assert found.value == pytest.approx(values.max(), rel=1e-12)
    last = np.argmin(values)
    rest = np.delete(rows, last, axis=0)
    np.testing.assert_array_equal(find(HILL, space, avoid=rest).row, rows[last])
    assert find(HILL, space, avoid=rows) is None


def test_a_second_search_compiles_nothing(compilations):
    find(HILL, Space([(0, 1)] * 2))
    before = compilations[0]
    find(HILL, Space([(3, 7)] * 2), seed=1)
    find(Hill(jnp.array([0.1, 0.1]), jnp.array([0.2, 0.2])), Space([(0, 1)] * 2), seed=2)
    assert compilations[0] == before


def test_the_answer_depends_on_the_key_alone():
    space = Space([(0, 1)] * 2)
    one, two = find(HILL, space, seed=5), find(HILL, space, seed=5)
    np.testing.assert_array_equal(one.row, two.row)
    assert ll.acquisition.maximize is maximize
