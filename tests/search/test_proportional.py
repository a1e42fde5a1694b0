import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from leadline.acquisition import Acquisition
from leadline.boundary import InvalidData
from leadline.search._evaluations import Evaluations, set_values
from leadline.search._proportional import proportional_sets, proportional_starts
from leadline.search._task import Task, first_sets
from leadline.spaces import Space

REPEATS = 100_000
KEY = jax.random.key(3)


def frequencies(values, **settings):
    """How often each of the values is drawn first, second, and so on."""
    drawn = proportional_sets(values, len(values), REPEATS, KEY, **settings)
    return np.stack([np.mean(drawn == i, axis=0) for i in range(len(values))], axis=1)


def within_4_se(frequency, p):
    return np.all(np.abs(frequency - p) <= 4.0 * np.sqrt(p * (1.0 - p) / REPEATS))


def test_the_first_draw_is_in_proportion_to_the_values_and_so_is_the_second():
    """Check: wilson S4.1."""
    values = np.array([0.1, 2.0, 0.7, 5.0, 1.2])
    p = values / values.sum()
    seen = frequencies(values)
    assert within_4_se(seen[0], p)
    # The second one is drawn from those that are left.
    second = np.array([sum(p[j] * p[i] / (1 - p[j]) for j in range(5) if j != i) for i in range(5)])
    assert within_4_se(seen[1], second)
    # Negative control: it is not the law of a draw with replacement.
    assert not within_4_se(seen[1], p)


def test_logarithms_of_values_give_the_same_law_however_small_the_values_are():
    values = np.array([0.1, 2.0, 0.7, 5.0, 1.2])
    p = values / values.sum()
    assert within_4_se(frequencies(np.log(values) - 5000.0, logarithmic=True)[0], p)


def test_values_of_0_are_drawn_last_and_evenly():
    """Check: wilson S4.1."""
    values = np.array([0.0, 1e-300, 0.0, 3.0, 0.0])
    seen = frequencies(values)
    assert np.all(seen[:2, [0, 2, 4]] == 0.0)
    assert within_4_se(seen[2, [0, 2, 4]], np.full(3, 1 / 3))
    assert within_4_se(frequencies(np.zeros(5))[0], np.full(5, 0.2))
    assert within_4_se(frequencies(np.full(5, -np.inf), logarithmic=True)[0], np.full(5, 0.2))
    # A value that is not a number is worth nothing.
    assert 1 not in proportional_starts(np.array([1.0, np.nan, 2.0]), 2, KEY)


def test_of_negative_values_the_excess_over_the_least_counts():
    values = np.array([-3.0, -1.0, 1.0])
    assert within_4_se(frequencies(values)[0], np.array([0.0, 1 / 3, 2 / 3]))


def test_draws_are_distinct_repeat_with_their_key_and_cannot_be_more_than_the_points():
    values = np.arange(20.0)
    drawn = proportional_starts(values, 20, KEY)
    assert sorted(drawn) == list(range(20))
    np.testing.assert_array_equal(drawn, proportional_starts(values, 20, KEY))
    assert np.any(drawn != proportional_starts(values, 20, jax.random.key(4)))
    with pytest.raises(InvalidData, match="from 1 to 20, the number of values, got 21"):
        proportional_starts(values, 21, KEY)


class Bumps(Acquisition):
    """The best row of a set counts, by its height in a landscape of narrow bumps."""

    centers: Array

    def values(self, x: Array) -> Array:
        square = jnp.sum((x[:, :, None, :] - self.centers) ** 2, axis=-1)
        return jnp.max(jnp.sum(jnp.exp(-square / 0.01), axis=2), axis=1)


def test_a_proportional_start_is_better_than_the_usual_random_one():
    """Check: wilson S4.5."""
    space, better = Space([(0, 1)] * 3), 0
    for case in range(50):
        rng = np.random.default_rng(case)
        acquisition = Bumps(rng.random((4, 3)))
        task = Task(Evaluations(acquisition), space, jax.random.key(case), 4, np.zeros((0, 3)))
        _, values = first_sets(task, task.candidates())
        random = set_values(acquisition, rng.random((64, 4, 3)))
        better += values[0] >= np.median(random)
    assert better >= 40
