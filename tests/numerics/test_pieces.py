"""Rows in pieces: the answer is that of all rows at once, and programs see a few sizes only."""

from __future__ import annotations

import numpy as np
import pytest

from leadline.numerics import in_pieces

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("m", [0, 1, 63, 64, 65, 300, 301, 600, 777])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_the_answer_is_that_of_all_rows_at_once(m, axis):
    x = RNG.normal(size=(m, 3))
    sizes = []

    def program(rows):
        sizes.append(len(rows))
        products = np.stack([rows[:, 0] * rows[:, 1], rows[:, 2]])
        return np.moveaxis(products, 1, axis), np.arange(2.0)[:, None] + rows[:, 0]

    if axis == 0:
        found = in_pieces(lambda rows: program(rows)[0], x, 300)
        np.testing.assert_array_equal(found, np.stack([x[:, 0] * x[:, 1], x[:, 2]], axis=1))
    else:
        found, other = in_pieces(program, x, 300, axis=axis)
        np.testing.assert_array_equal(found, np.stack([x[:, 0] * x[:, 1], x[:, 2]]))
        np.testing.assert_array_equal(other, np.arange(2.0)[:, None] + x[:, 0])
        assert other.flags.writeable
    assert len(sizes) == max(1, -(-m // 300))
    assert set(sizes) <= {64, 128, 256, 300}


def test_pieces_of_one_size_and_pieces_as_they_are():
    sizes = []

    def program(rows):
        sizes.append(len(rows))
        return rows[:, 0]

    x = RNG.normal(size=(25, 2))
    np.testing.assert_array_equal(in_pieces(program, x, 10, pad=lambda _: 10), x[:, 0])
    np.testing.assert_array_equal(in_pieces(program, x, 10, pad=lambda n: n), x[:, 0])
    assert sizes == [10, 10, 10, 10, 10, 5]


def test_too_few_answers():
    with pytest.raises(ValueError, match="5 rows got 1 answers"):
        in_pieces(lambda rows: rows[:1, 0], np.ones((5, 2)), 10)
