"""What is wrong with a point, a row or the arguments of a space is said in words."""

import numpy as np
import pytest

from leadline.boundary import InvalidData
from leadline.spaces import Choice, Integer, Ordinal, Real, Space, as_space

SPACE = Space(
    rate=Real(0.1, 1),
    width=Integer(16, 256),
    act=Choice("relu", "tanh"),
    slope=Ordinal(1, 2, 4).when(act="relu"),
)
GOOD = {"rate": 0.5, "width": 20, "act": "relu", "slope": 2}
BOX = Space([(0, 1), (2, 3)])

BAD_POINTS = {
    r"'rate' of points\[1\] must be a number from 0.1 to 1.0, got 2": {"rate": 2},
    r"'rate' of points\[1\] must be a number from 0.1 to 1.0, got nan": {"rate": np.nan},
    r"'rate' of points\[1\] must be finite, got nan": {"rate": np.float64("nan")},
    r"'rate' of points\[1\] must be a number, got '0.5'": {"rate": "0.5"},
    r"'rate' of points\[1\] must be a number, got True": {"rate": True},
    r"'rate' of points\[1\] must be a number, got None": {"rate": None},
    r"'rate' of points\[1\] must be a string, a number, a bool or None, got \[0.5\]": {
        "rate": [0.5]
    },
    r"'width' of points\[1\] must be a whole number, got 20.5": {"width": 20.5},
    r"'width' of points\[1\] must be a whole number from 16 to 256, got 15": {"width": 15},
    r"'width' of points\[1\] must be a number, got True": {"width": True},
    r"'act' of points\[1\] must be one of 'relu', 'tanh', got 'rely'. Did you mean 'relu'\?": {
        "act": "rely"
    },
    r"'slope' of points\[1\] must be one of 1, 2, 4, got 3": {"slope": 3},
    r"A name in points\[1\] must be one of .*, got 'wdith'. Did you mean 'width'\?": {"wdith": 20},
    r"points\[1\] has 'slope', which exists only when act='relu'": {"act": "tanh"},
}


@pytest.mark.parametrize("message", BAD_POINTS)
def test_bad_points(message):
    with pytest.raises(InvalidData, match=message):
        SPACE.encode([GOOD, GOOD | BAD_POINTS[message]])


@pytest.mark.parametrize("name", ["width", "slope"])
def test_missing_names(name):
    point = {key: value for key, value in GOOD.items() if key != name}
    with pytest.raises(InvalidData, match=rf"points\[1\] lacks '{name}': (Integer|Ordinal)\("):
        SPACE.encode([GOOD, point])


@pytest.mark.parametrize("points", [GOOD, "relu", 3, np.zeros((2, 4))])
def test_points_are_a_list(points):
    with pytest.raises(InvalidData, match="points must be a list of dictionaries, got"):
        SPACE.encode(points)


def test_each_point_is_a_dictionary():
    with pytest.raises(InvalidData, match=r"points\[1\] must be a dictionary, got \[0.5, 20\]"):
        SPACE.encode([GOOD, [0.5, 20]])


BAD_ARRAYS = {
    r"points\[1\]\[0\] must be a number from 0.0 to 1.0, got 1.5": [[0.5, 2.5], [1.5, 2.5]],
    r"points must have two dimensions": [0.5, 2.5],
    r"points must have 2 columns, got shape \(1, 3\)": [[0.5, 2.5, 1.0]],
    r"points must be finite": [[0.5, np.nan]],
    r"points must be real numbers": [{"x0": 0.5, "x1": 2.5}],
}


@pytest.mark.parametrize("message", BAD_ARRAYS)
def test_bad_points_of_a_box(message):
    with pytest.raises(InvalidData, match=message):
        BOX.encode(BAD_ARRAYS[message])


@pytest.mark.parametrize("method", ["decode", "snap", "allowed", "active"])
def test_bad_rows(method):
    ask = getattr(SPACE, method)
    with pytest.raises(InvalidData, match=r"rows must have 5 columns, got shape \(2, 4\)"):
        ask(np.zeros((2, 4)))
    with pytest.raises(InvalidData, match="rows must have two dimensions"):
        ask(np.zeros(5))
    if method != "allowed":
        with pytest.raises(InvalidData, match="rows must be finite"):
            ask(np.full((1, 5), np.nan))


def test_bad_coordinates():
    with pytest.raises(InvalidData, match=r"u must have 4 columns, got shape \(2, 5\)"):
        SPACE.spread(np.zeros((2, 5)))
    with pytest.raises(InvalidData, match=r"u must be between 0 and 1, got -1 to 0\.5"):
        SPACE.spread([[0.5, -1, 0, 0]])


BAD_SPACES = {
    r"A space needs at least one parameter": lambda: Space(),
    r"needs at least one": lambda: Space({}),
    r"Parameter 'rate' must be a Real, Integer, Ordinal or Choice, got \(0, 1\)": (
        lambda: Space(rate=(0, 1))
    ),
    r"Parameter 'rate' is given twice": lambda: Space({"rate": Real(0, 1)}, rate=Real(0, 1)),
    r"name of a parameter must be a string, got 3": lambda: Space({3: Real(0, 1)}),
    r"bounds must be \(low, high\) with low < high, got \(1, 0\)": lambda: Space([(1, 0)]),
    r"bounds must be a \(low, high\) pair for each": lambda: Space([1, 2, 3]),
    r"bounds must be finite": lambda: Space([(0, np.inf)]),
    r"A box has no named parameters, got 'rate'": lambda: Space([(0, 1)], rate=Real(0, 1)),
    r"Parameters need names": lambda: Space([Real(0, 1), Integer(1, 3)]),
    r"made from named parameters or from a list of \(low, high\) pairs, got 'abc'": (
        lambda: as_space("abc")
    ),
    r"list of \(low, high\) pairs, got 3": lambda: as_space(3),
    r"list of \(low, high\) pairs, got Real\(0.0, 1.0\)": lambda: as_space(Real(0, 1)),
}


@pytest.mark.parametrize("message", BAD_SPACES)
def test_bad_spaces(message):
    with pytest.raises(InvalidData, match=message):
        BAD_SPACES[message]()


def test_as_space():
    assert as_space(BOX) is BOX
    assert as_space([(0, 1), (2, 3)]) == BOX
    assert as_space(np.array([[0, 1], [2, 3]])) == BOX
    assert as_space({"a": Real(0, 1)}) == Space(a=Real(0, 1))
    with pytest.raises(InvalidData, match="at least one parameter"):
        as_space(None)
