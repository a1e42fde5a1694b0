"""Padding: the sizes, what padded rows hold, and the mask."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.numerics import bucket, pad_rows, row_mask


@pytest.mark.parametrize(
    ("n", "size"),
    [(0, 64), (1, 64), (32, 64), (64, 64), (65, 128), (129, 256), (257, 512), (513, 768)],
)
def test_sizes(n, size):
    assert bucket(n) == size


@given(st.integers(1, 100_000))
def test_a_bucket_holds_its_rows_and_is_its_own_bucket(n):
    size = bucket(n)
    assert size >= n
    assert bucket(size) == size
    assert size <= max(64, 2 * n)


@given(st.integers(1, 40), st.integers(0, 40))
def test_padded_rows_repeat_the_first(n, more):
    a = np.arange(2.0 * n).reshape(n, 2) + 1.0
    padded = pad_rows(a, n + more)
    np.testing.assert_array_equal(padded[:n], a)
    np.testing.assert_array_equal(padded[n:], np.broadcast_to(a[0], (more, 2)))
    mask = row_mask(n, n + more)
    assert mask.dtype == np.float64
    np.testing.assert_array_equal(mask, [1.0] * n + [0.0] * more)


def test_no_rows_pad_to_zeros():
    padded = pad_rows(np.empty((0, 3)), 4)
    np.testing.assert_array_equal(padded, np.zeros((4, 3)))
