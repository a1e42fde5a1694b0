"""Data at the boundary: what is accepted becomes float64, what is not is named."""

from __future__ import annotations

import datetime

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from leadline.boundary import InvalidData, as_choice, as_rows, as_targets, as_variances, is_traced

ROWS = [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    "x",
    [
        ROWS,
        tuple(map(tuple, ROWS)),
        np.array(ROWS),
        np.array(ROWS, dtype=np.float32),
        np.array(ROWS, dtype=np.int8),
        np.array(ROWS, dtype=object),
        np.asfortranarray(ROWS),
        jnp.asarray(ROWS),
        pd.DataFrame(ROWS),
        pd.DataFrame({"a": pd.array([1, 3], dtype="Int64"), "b": [2.0, 4.0]}),
        [np.array([1.0, 2.0]), jnp.array([3.0, 4.0])],
    ],
    ids=lambda x: type(x).__name__,
)
def test_rows_of_any_kind(x):
    found = as_rows(x)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, ROWS)


def test_booleans_are_zeros_and_ones():
    np.testing.assert_array_equal(as_rows([[True], [False]]), [[1.0], [0.0]])


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([1.0, 2.0], r"x must have two dimensions .* got shape \(2,\).* x\[:, None\]"),
        (3.0, r"two dimensions .* got shape \(\)"),
        (np.zeros((2, 2, 2)), r"two dimensions .* got shape \(2, 2, 2\)"),
        (np.zeros((3, 0)), r"at least one column, got shape \(3, 0\)"),
        (np.zeros((0, 2)), r"at least 1 row\(s\), got 0"),
        (np.zeros((2, 4)), r"must have 2 columns, got shape \(2, 4\)"),
        ([[1.0, np.nan], [np.inf, 0.0]], r"2 of its 4 values are not: the first is nan at x\[0, 1"),
        ([[1.0, 2.0], [3.0]], "x must be real numbers"),
        ([["a", "b"]], "x must be real numbers: got values of type <U1"),
        ([["1.5", "2"]], "x must be real numbers: got values of type <U3"),
        ([[1j, 2.0]], "x must be real numbers: got values of type complex128"),
        (np.array([["2024-01-01", "2024-01-02"]], dtype="M8[D]"), "real numbers"),
        ([[None, 1.0]], r"must be finite"),
        ([[{}, 1.0]], "x must be real numbers"),
        ([[datetime.date(2024, 1, 1), 1.0]], "x must be real numbers"),
        (None, "two dimensions|real numbers"),
        (pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1, 2]}), "real|finite"),
    ],
)
def test_rows_that_no_model_can_use(x, message):
    with pytest.raises(InvalidData, match=message):
        as_rows(x, columns=2)


@given(arrays(np.float64, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)))
def test_whatever_the_array_an_answer_or_a_named_error(x):
    if x.ndim == 2 and x.size and np.isfinite(x).all():
        np.testing.assert_array_equal(as_rows(x), x)
    else:
        with pytest.raises(InvalidData, match=r"^inputs must"):
            as_rows(x, "inputs")


def test_targets():
    for y in ([1, 2, 3], np.array([[1], [2], [3]]), pd.Series([1, 2, 3], index=[7, 8, 9])):
        found = as_targets(y, 3)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, [1.0, 2.0, 3.0])
    with pytest.raises(InvalidData, match="y has 2 values, but there are 3 rows"):
        as_targets([1.0, 2.0], 3)
    with pytest.raises(InvalidData, match=r"one value per row, shape \(3,\), got \(3, 2\)"):
        as_targets(np.zeros((3, 2)), 3)
    with pytest.raises(InvalidData, match=r"the first is inf at y\[1\]"):
        as_targets([1.0, np.inf, 2.0], 3)


def test_variances():
    np.testing.assert_array_equal(as_variances(None, 2), [0.0, 0.0])
    np.testing.assert_array_equal(as_variances(0.5, 2), [0.5, 0.5])
    np.testing.assert_array_equal(as_variances([1, 2], 2), [1.0, 2.0])
    with pytest.raises(InvalidData, match="var must not be negative, got -1"):
        as_variances([1.0, -1.0], 2)
    with pytest.raises(InvalidData, match="var has 1 values"):
        as_variances([1.0], 2)
    for bad in (np.nan, np.inf, [0.0, np.nan]):
        with pytest.raises(InvalidData, match="var must be finite"):
            as_variances(bad, 2)


def test_choices_name_the_nearest():
    assert as_choice("nuts", ("maximum", "nuts"), "inference") == "nuts"
    assert as_choice(None, ("default", None), "priors") is None
    with pytest.raises(InvalidData, match=r"got 'maximun'\. Did you mean 'maximum'\?"):
        as_choice("maximun", ("maximum", "nuts"), "inference")
    with pytest.raises(InvalidData, match=r"one of 'default', None, got 7\.$"):
        as_choice(7, ("default", None), "priors")


@given(st.text(max_size=8))
def test_any_other_text_is_refused(text):
    if text not in ("maximum", "nuts"):
        with pytest.raises(InvalidData, match="inference must be one of 'maximum', 'nuts'"):
            as_choice(text, ("maximum", "nuts"), "inference")


def test_tracers_are_seen_wherever_they_are():
    seen = []
    jax.eval_shape(lambda a: seen.append(is_traced([{"k": (1.0, a)}])) or a, jnp.zeros(2))
    assert seen == [True]
    assert not is_traced([{"k": (1.0, jnp.zeros(2))}], "text", None)
