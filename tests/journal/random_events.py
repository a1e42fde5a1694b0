"""Random events, and whether two are the same."""

import dataclasses
import math

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from leadline.questions import Asked, Failed, Given, Told


def same(one, other):
    """Whether two things are the same, bit for bit and type for type."""
    if dataclasses.is_dataclass(one):
        return type(one) is type(other) and same(vars(one), vars(other))
    if isinstance(one, np.ndarray):
        alike = isinstance(other, np.ndarray) and one.dtype == other.dtype
        return alike and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and list(one) == list(other)
            and same(list(one.values()), list(other.values()))
        )
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and math.isnan(one):
        return isinstance(other, float) and math.isnan(other)
    # repr tells -0.0 from 0.0, and 1 from True.
    return type(one) is type(other) and repr(one) == repr(other)


texts = st.text(st.characters(exclude_categories=[]), max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
arrays = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.bool_, np.complex128, "<U3"]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
)
values = st.recursive(
    scalars | arrays,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(texts | st.sampled_from(["$array", "$float", "$$x"]), inner, max_size=3)
    ),
    max_leaves=6,
)
points = st.dictionaries(texts, scalars, max_size=3) | hnp.arrays(np.float64, st.integers(1, 4))
info = st.dictionaries(texts, values, max_size=3)
seconds = st.none() | st.floats(0, 1e6)
trial = st.integers(0, 1000)
asked = st.builds(
    Asked,
    trial,
    points,
    st.dictionaries(texts, arrays, max_size=2),
    st.dictionaries(texts, st.floats(), max_size=2),
)
given = st.builds(Given, trial, points, values, info)
told = st.builds(Told, trial, values, info, seconds)
failed = st.builds(Failed, trial, texts, texts, seconds)
events = asked | given | told | failed
