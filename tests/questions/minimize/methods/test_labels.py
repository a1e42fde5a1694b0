"""Which calls are good ones."""

import itertools
import math

import numpy as np
import pytest

from leadline.boundary import InvalidData
from leadline.questions.minimize.methods._labels import (
    among_best,
    as_part,
    good_calls,
    labels,
    new_or_flipped,
    part_after,
    plain_part,
)

PARTS = (0.1, 0.25, 1.0 / 3.0, 0.5)


@pytest.mark.parametrize("gamma", PARTS)
def test_as_many_are_good_as_should_be(gamma):
    """The part of them, rounded up, at least one and not all. Check: tiao S3-S6.3"""
    random = np.random.default_rng(0)
    inverse = round(1.0 / gamma)
    for n in range(2, 502):
        y = random.normal(size=n)
        z = labels(y, gamma)
        assert z.sum() == min(-(-n // inverse), n - 1)
        assert y[z == 1].min() > y[z == 0].max()


@pytest.mark.parametrize("gamma", PARTS)
def test_one_more_call_flips_one_label_at_most(gamma):
    """Check: tiao S3-S6.3"""
    for seed, values in enumerate(("normal", "few")):
        random = np.random.default_rng(seed)
        y = random.normal(size=501) if values == "normal" else random.integers(0, 6, 501) * 1.0
        before = labels(y[:2], gamma)
        flips = []
        for n in range(3, 502):
            now = labels(y[:n], gamma)
            flips.append(int(np.sum(now[:-1] != before)))
            before = now
        assert max(flips) == 1
        assert min(flips) == 0


@pytest.mark.parametrize("gamma", PARTS)
def test_a_threshold_by_value_would_not_do(gamma):
    """Negative control: with ties it makes other numbers of calls good ones, sometimes all."""
    y = np.zeros(40)
    assert np.all(y >= np.quantile(y, 1.0 - gamma))
    assert labels(y, gamma).sum() == math.ceil(40 * gamma)


def test_of_equal_values_the_earlier_is_better():
    np.testing.assert_array_equal(
        labels(np.array([1.0, 3.0, 3.0, 3.0, 0.0, 2.0]), 1 / 3), [0, 1, 1, 0, 0, 0]
    )
    np.testing.assert_array_equal(labels(np.zeros(4), 0.5), [1, 1, 0, 0])


def test_there_are_calls_of_both_kinds():
    for gamma in (1e-9, 0.5, 1.0 - 1e-9):
        for n in (2, 3, 10):
            assert 1 <= good_calls(n, gamma) <= n - 1
    # Of a single call nothing can be said.
    assert good_calls(1, 0.5) == 1


def test_rounding_makes_no_call_good():
    """0.1 * 30 and 0.07 * 100 are a little more than 3 and 7."""
    assert 0.1 * 30 != 3 or 0.07 * 100 != 7
    assert good_calls(30, 0.1) == 3
    assert good_calls(100, 0.07) == 7
    assert good_calls(31, 0.1) == 4


def test_a_pair_begins_with_the_first_and_ends_with_the_second():
    """In between as many calls stay good."""
    parts = [part_after((0.5, 0.1), n, 10) for n in range(2, 200)]
    assert parts[0] == parts[10 - 2] == 0.5
    assert parts[-1] == parts[50 - 2] == 0.1
    assert all(a >= b for a, b in itertools.pairwise(parts))
    assert {good_calls(n, part_after((0.5, 0.1), n, 10)) for n in range(10, 51)} == {5}
    assert {part_after(0.25, n, 10) for n in range(2, 50)} == {0.25}
    assert part_after((0.3, 0.3), 400, 10) == 0.3


@pytest.mark.parametrize("gamma", [0.25, 1.0 / 3.0])
def test_what_is_new_or_flipped(gamma):
    y = np.random.default_rng(3).normal(size=60)
    order = np.random.default_rng(4).permutation(60)
    for count in (2, 10, 59, 60):
        for known in (np.arange(60) < count, order < count):
            changed = new_or_flipped(y, gamma, known)
            assert changed[~known].all()
            old = labels(y[known], gamma)
            np.testing.assert_array_equal(changed[known], labels(y, gamma)[known] != old)
    assert not new_or_flipped(y, gamma, np.ones(60, bool)).any()
    for count in (0, 1):
        assert new_or_flipped(y, gamma, np.arange(60) < count).all()


@pytest.mark.parametrize("values", [1000, 7, 1])
def test_the_best_are_those_that_sorting_finds(values):
    """With as many different values, so with many ties or none."""
    rng = np.random.default_rng(5)
    for n in (1, 2, 9, 200):
        y = rng.integers(values, size=n) / 7.0
        for count in {1, (n + 1) // 2, max(1, n - 1), n, n + 1}:
            expected = np.zeros(n, bool)
            expected[np.argsort(-y, kind="stable")[:count]] = True
            np.testing.assert_array_equal(among_best(y, count), expected)


def test_parts():
    assert as_part(0.25) == 0.25
    assert as_part([0.5, 0.1]) == (0.5, 0.1)
    assert as_part((0.5, 0.5)) == (0.5, 0.5)
    assert as_part(np.float64(0.1)) == 0.1
    assert plain_part((0.5, 0.1)) == [0.5, 0.1]
    assert plain_part(0.25) == 0.25


@pytest.mark.parametrize(
    "gamma",
    [0, 1, 0.0, 1.0, -0.1, 1.5, math.nan, True, "0.5", None, (0.1, 0.5), (0.5,), (0.5, 0.0)],
)
def test_a_bad_part_is_refused(gamma):
    with pytest.raises(InvalidData, match=r"gamma must be a part .*the larger first"):
        as_part(gamma)
