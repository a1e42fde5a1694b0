"""Questions from their settings."""

import json

import pytest

import leadline as ll
from leadline.questions import Maximize, Minimize, methods, question_from_settings
from leadline.spaces import Choice, Integer, Real, Space

MIXED = Space(
    rate=Real(1e-5, 1e-1, log=True), depth=Integer(1, 4), act=Choice("a", None).when(depth=(2, 3))
)


@pytest.mark.parametrize(
    "question",
    [
        Minimize([(0, 1), (-3, 2.5)], seed=7),
        Maximize(MIXED, methods.GP(acquisition="ei", initial=3, noise=0.1)),
        Minimize(MIXED, "random"),
    ],
)
def test_there_and_back(question):
    settings = json.loads(json.dumps(question.settings()))
    again = question_from_settings(settings)
    assert type(again) is type(question)
    assert again.settings() == question.settings()
    assert (again.space, again.method, again.seed) == (
        question.space,
        question.method,
        question.seed,
    )
    assert not again.trials


def test_a_constraint_is_left_out():
    space = Space([(0, 1)], constraint=bool)
    assert question_from_settings(Minimize(space).settings()).space.constraint is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"verb": "minimise"}, "Did you mean 'minimize'"),
        ({"method": {"name": "randon"}}, "Did you mean 'random'"),
        ({"method": {}}, "must be one of 'gp', 'thompson', 'bore'"),
        ({"method": {"name": "gp", "depth": 3}}, "has no such settings.*depth"),
        ({"seed": -1}, "seed must be"),
        ({"space": {}}, "lacks 'named'"),
    ],
)
def test_settings_that_cannot_be_read(changed, message):
    with pytest.raises(ll.InvalidData, match=message):
        question_from_settings(Minimize([(0, 1)]).settings() | changed)


def test_settings_that_are_incomplete():
    with pytest.raises(ll.InvalidData, match="lack 'space', 'seed'"):
        question_from_settings({"verb": "minimize", "method": {"name": "gp"}})
