"""Spaces as plain tables: JSON, TOML, and what is wrong with a table."""

import json
import tomllib
from functools import partial

import pytest
from hypothesis import given
from tests.spaces.random_spaces import spaces

from leadline.boundary import InvalidData
from leadline.spaces import Choice, Integer, Ordinal, Real, Space


def cheap(point):
    return True


TOML = """
[rate]
type = "real"
low = 1e-5
high = 1e-1
log = true

[width]
type = "integer"
low = 16
high = 256

[act]
type = "choice"
options = ["relu", "tanh"]

[size]
type = "ordinal"
values = ["S", "M", "L"]
when = {act = "relu", width = [16, 32]}
"""


@given(spaces())
def test_round_trips_through_json(table):
    space = Space.from_table(table)
    again = Space.from_description(json.loads(json.dumps(space.describe())))
    assert again == space
    assert again.names == space.names
    assert again.describe() == space.describe()


def test_a_box_round_trips():
    space = Space([(0, 1), (-2.5, 3)])
    again = Space.from_description(json.loads(json.dumps(space.describe())))
    assert again == space
    assert not again.named


def test_tables_as_they_are_written_in_toml():
    space = Space.from_table(tomllib.loads(TOML))
    assert space == Space(
        rate=Real(1e-5, 1e-1, log=True),
        width=Integer(16, 256),
        act=Choice("relu", "tanh"),
        size=Ordinal("S", "M", "L").when(act="relu", width=(16, 32)),
    )
    assert space.describe()["parameters"]["size"] == tomllib.loads(TOML)["size"]


def test_the_constraint_is_described_by_its_name():
    space = Space([(0, 1)], constraint=cheap)
    assert space.describe()["constraint"].endswith("test_description.cheap")
    assert Space([(0, 1)], constraint=partial(cheap)).describe()["constraint"].endswith("partial")
    assert Space([(0, 1)]).describe()["constraint"] is None
    assert Space.from_description(space.describe(), constraint=cheap) == space
    assert Space.from_description(space.describe()) != space


def test_spaces_that_differ():
    space = Space(a=Choice(1, 2), b=Real(0, 1))
    others = [
        Space(b=Real(0, 1), a=Choice(1, 2)),
        Space(a=Choice(True, 2), b=Real(0, 1)),
        Space(a=Choice(1, 2), b=Real(0, 1).when(a=1)),
        Space(a=Choice(1, 2), b=Real(0, 1), constraint=cheap),
        Space(a=Ordinal(1, 2), b=Real(0, 1)),
    ]
    assert all(space != other for other in others)
    assert space == Space(a=Choice(1, 2), b=Real(0, 1))
    assert Space([(0, 1)]) != Space(x0=Real(0, 1))
    assert space != "space"


REAL = {"type": "real", "low": 0, "high": 1}
BAD = {
    r"The type of parameter 'a' must be one of .*, got 'reel'. Did you mean 'real'\?": {
        "a": REAL | {"type": "reel"}
    },
    r"The table of parameter 'a' lacks type, one of 'real', 'integer'": {"a": {"low": 0}},
    r"A key of parameter 'a' of type 'real' must be one of .*, got 'hgih'. Did you mean 'high'\?": {
        "a": REAL | {"hgih": 1}
    },
    r"A key of parameter 'a' of type 'choice' .* got 'values'": {
        "a": {"type": "choice", "values": [1, 2]}
    },
    r"The table of parameter 'a' of type 'real' lacks high": {"a": {"type": "real", "low": 0}},
    r"The options of parameter 'a' must be a list, got 'ab'": {
        "a": {"type": "choice", "options": "ab"}
    },
    r"The key when of parameter 'a' must be a table, got 'b'": {"a": REAL | {"when": "b"}},
    r"In parameter 'a': Real needs low < high": {"a": REAL | {"low": 2}},
    r"In parameter 'a': log of Real must be True or False": {"a": REAL | {"log": "yes"}},
    r"In parameter 'a': each of the options of Choice must be a string": {
        "a": {"type": "choice", "options": [[1], [2]]}
    },
    r"The condition of 'a' must be one of 'a', 'size', got 'siez'. Did you mean 'size'\?": {
        "a": REAL | {"when": {"siez": 1}},
        "size": REAL,
    },
    r"The table of parameter 'a' must be a mapping with a type, got \[0, 1\]": {"a": [0, 1]},
    r"The parameters must be a table for each name, got \[\]": [],
    r"A space needs at least one parameter": {},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_tables(message):
    with pytest.raises(InvalidData, match=message):
        Space.from_table(BAD[message])


def test_bad_descriptions():
    with pytest.raises(InvalidData, match="lacks 'parameters'"):
        Space.from_description({"named": True})
    with pytest.raises(InvalidData, match="lacks 'named'"):
        Space.from_description([])
    for table in (REAL | {"log": True, "low": 0.5}, REAL | {"type": "integer"}):
        with pytest.raises(InvalidData, match="must be a box of real numbers"):
            Space.from_description({"named": False, "parameters": {"x0": table}})
