"""Pools: candidates as people have them, and the same candidates back."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leadline as ll
from leadline.spaces import space_from_description

RNG = np.random.default_rng(0)
TABLE = RNG.random((60, 3)) * [1.0, 100.0, 1e-3] + [0.0, -50.0, 5.0]
FRAME = pd.DataFrame(
    {
        "name": [f"molecule {i}" for i in range(60)],
        "weight": TABLE[:, 1],
        "rings": RNG.integers(0, 6, 60),
        "chiral": RNG.integers(0, 2, 60).astype(bool),
        "solvent": RNG.choice(["water", "ethanol", "toluene"], 60),
        "lab": "north",
    }
)


def test_arrays_come_back():
    pool = ll.Pool(TABLE)
    rows = pool.encode(TABLE)
    np.testing.assert_allclose(rows, (TABLE - TABLE.min(0)) / np.ptp(TABLE, axis=0))
    np.testing.assert_array_equal(np.stack(pool.decode(rows)), TABLE)
    np.testing.assert_array_equal(pool.every(), rows)
    assert (pool.dim, pool.columns, pool.count, pool.names) == (3, 3, 60, ("x0", "x1", "x2"))
    assert ll.Pool(TABLE.tolist()) == pool
    assert ll.Pool(TABLE, names=["a", "b", "c"]).as_dict(TABLE[0])["b"] == TABLE[0, 1]


def test_frames_and_lists_of_dictionaries_are_the_same():
    pool = ll.Pool(FRAME)
    dicts = FRAME.to_dict("records")
    assert ll.Pool(dicts) == pool
    assert pool.decode(pool.every()) == dicts
    assert pool.names == tuple(FRAME.columns)
    assert pool.unseen == ("name", "lab")
    assert pool.columns == 3 + 3
    point = pool.decode(pool.every()[:1])[0]
    assert [type(value) for value in point.values()] == [str, float, int, bool, str, str]
    assert "60 candidates" in repr(pool)
    assert "unseen: name, lab" in repr(pool)


def test_options_are_as_far_apart_as_the_ends_of_a_number():
    pool = ll.Pool([{"kind": k, "size": s} for k in "abc" for s in (0.0, 2.0)])
    rows = pool.every()
    apart = np.linalg.norm(rows[:, None] - rows, axis=2)
    assert np.allclose(apart[0, [1, 2, 3]], [1.0, 1.0, 2**0.5])


@settings(max_examples=50)
@given(st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), min_size=2, max_size=12))
def test_twins_are_found_and_nothing_else(rows):
    table = np.array(rows, dtype=float)
    if len(np.unique(table, axis=0)) < len(table):
        with pytest.raises(ll.InvalidData, match=r"are the same|tell apart"):
            ll.Pool(table)
    else:
        np.testing.assert_array_equal(np.stack(ll.Pool(table).decode(ll.Pool(table).every())), rows)


def test_twins_are_named():
    table = np.concatenate([TABLE, TABLE[7:8]])
    with pytest.raises(ll.InvalidData, match="candidates 7 and 60 are the same"):
        ll.Pool(table)
    frame = pd.concat([FRAME, FRAME.iloc[[3]].assign(name="another")], ignore_index=True)
    with pytest.raises(ll.InvalidData, match=r"3 and 60 are the same.*differ in 'name', which no"):
        ll.Pool(frame)


@pytest.mark.parametrize(
    ("candidates", "says"),
    [
        (np.zeros((0, 2)), "at least 1 row"),
        ([], "array"),
        ([{}], "at least one column"),
        ([1.0, 2.0], "two dimensions"),
        ("file.csv", "array"),
        ([[1.0, np.nan], [0.0, 1.0]], r"finite.*candidates\[0, 1\]"),
        ([{"a": 1.0}, {"a": np.nan}], "'a' must be finite.*candidate 1"),
        ([{"a": 1.0}, {"a": np.inf}], "'a' must be finite.*candidate 1"),
        ([{"a": 1.0}, {"a": None}], "'a' must hold numbers alone.*candidate 1 has None"),
        ([{"a": "x"}, {"a": 2}], "'a' must hold.*begins with texts"),
        ([{"a": 1.0}, {"b": 1.0}], r"same names, 'a'; candidates\[1\]"),
        ([{"a": 1.0}, 3.0], "same names"),
        ([{"a": [1, 2]}, {"a": [3, 4]}], "'a' must hold numbers or texts"),
        (pd.DataFrame({"a": [1.0, None]}), "'a' must be finite"),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2021-01-01"])}), "'a' must hold"),
        (pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]), "different names"),
        (pd.DataFrame({"a": []}), "at least one column, got 0"),
        ([{"a": 1.0}, {"a": 1.0}], "tell apart"),
        ([{"a": 1.0}], "tell apart"),
        ([{"id": f"{i}"} for i in range(40)], "all are different texts"),
    ],
)
def test_bad_candidates(candidates, says):
    with pytest.raises(ll.InvalidData, match=says):
        ll.Pool(candidates)


@pytest.mark.parametrize("names", ["abc", ["a", "b"], ["a", "a", "b"], [1, 2, 3]])
def test_bad_names(names):
    with pytest.raises(ll.InvalidData, match="names must be 3 different texts"):
        ll.Pool(TABLE, names=names)


def test_names_are_for_arrays():
    with pytest.raises(ll.InvalidData, match="names already"):
        ll.Pool(FRAME, names=["a"])


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ([{"weight": 1.0}], "lacks 'rings', 'chiral', 'solvent'"),
        ([FRAME.to_dict("records")[0] | {"weigt": 1.0}], "Did you mean 'weight'"),
        ([FRAME.to_dict("records")[0] | {"weight": 1.0}], "none of the 60 candidates.*nearest is"),
        ([FRAME.to_dict("records")[0] | {"weight": np.nan}], "'weight'.*not finite"),
        ([FRAME.to_dict("records")[0] | {"solvent": "wter"}], "'solvent'.*Did you mean 'water'"),
        ([3.0], "must be a dictionary"),
    ],
)
def test_points_that_are_no_candidates(points, says):
    with pytest.raises(ll.InvalidData, match=says):
        ll.Pool(FRAME).encode(points)


def test_an_array_that_is_no_candidate():
    with pytest.raises(ll.InvalidData, match=r"points\[1\] is none of the 60 candidates"):
        ll.Pool(TABLE).encode([TABLE[0], TABLE[0] + 1e-9])
    assert ll.Pool(TABLE).encode([]).shape == (0, 3)


def test_what_is_drawn_is_a_candidate():
    pool, rng = ll.Pool(FRAME), np.random.default_rng(0)
    every = {row.tobytes() for row in pool.every()}
    drawn = [pool.sample(rng, 50), pool.spread(rng.random((50, pool.dim)))]
    drawn += [pool.snap(rng.random((50, pool.columns))), pool.neighbors(pool.every()[0])]
    assert all(row.tobytes() in every for rows in drawn for row in rows)
    near = pool.neighbors(pool.every()[0])
    distances = np.linalg.norm(pool.every() - pool.every()[0], axis=1)
    expected = np.sort(distances)[1 : len(near) + 1]
    np.testing.assert_allclose(np.linalg.norm(near - pool.every()[0], axis=1), expected)
    left = pool.left(pool.every()[[3, 5]])
    np.testing.assert_array_equal(left, np.delete(pool.every(), [3, 5], axis=0))


def test_candidates_that_only_an_outlier_makes_look_alike():
    """Rows within 1e-7 of one another are one call in a box; candidates stay what they are."""
    pool = ll.Pool([[0.0], [1.0], [2.0], [1e12]])
    question = ll.Minimize(pool, method="random")
    asked = [question.ask()[0].x[0] for _ in range(4)]
    assert sorted(asked) == [0.0, 1.0, 2.0, 1e12]
    with pytest.raises(ll.questions.Exhausted):
        question.ask()


@pytest.mark.parametrize("candidates", [TABLE, FRAME], ids=["array", "frame"])
def test_descriptions(candidates):
    pool = ll.Pool(candidates)
    again = space_from_description(json.loads(json.dumps(pool.describe())))
    assert isinstance(again, ll.Pool)
    assert again == pool
    np.testing.assert_array_equal(again.every(), pool.every())
    other = ll.Pool(candidates[::-1])
    assert other != pool


def test_many_candidates_are_described_by_their_digest():
    big = RNG.random((8000, 3))
    pool = ll.Pool(big)
    description = json.loads(json.dumps(pool.describe()))
    assert len(json.dumps(description)) < 2000
    again = space_from_description(description)
    np.testing.assert_array_equal(again.encode(big[:5]), pool.encode(big[:5]))
    with pytest.raises(ll.InvalidData, match="digest of the 8000 candidates"):
        again.sample(RNG, 1)
    changed = big.copy()
    changed[4000, 1] += 1e-12
    assert ll.Pool(changed).describe()["pool"]["digest"] != description["pool"]["digest"]
