"""Constraints that only calls reveal: what a call may return, and what becomes of it."""

import dataclasses
import json
from typing import ClassVar

import numpy as np
import pytest

import leadline as ll
from leadline.questions import Given, Maximize, Minimize, Told, methods, question_from_settings

BOX = [(0.0, 1.0), (0.0, 2.0)]
SPACE = ll.Space(rate=ll.Real(1e-3, 1.0, log=True), width=ll.Integer(2, 9))


def question(constraints=2, kind=Minimize, space=BOX):
    return kind(space, "random", 0, constraints)


def told(pairs, kind=Minimize):
    """A question that was told these values and constraint values."""
    asked = question(len(pairs[0][1]), kind)
    for trial, pair in zip(asked.ask(len(pairs)), pairs, strict=True):
        asked.tell(trial, pair)
    return asked


@pytest.mark.parametrize(
    "given",
    [
        (0.31, [-0.2, 0.1]),
        [0.31, (-0.2, 0.1)],
        (np.float32(0.31), np.array([-0.2, 0.1])),
        (0.31, (np.float64(-0.2), 0.1)),
    ],
)
def test_a_pair_is_a_value_and_its_constraint_values(given):
    asked = question()
    (trial,) = asked.ask()
    assert trial.constraints == ()
    trial = asked.tell(trial, given)
    assert trial.value == pytest.approx(0.31)
    assert trial.constraints == (-0.2, 0.1)
    assert all(type(v) is float for v in (trial.value, *trial.constraints))
    assert "value=0.31" in repr(trial)
    assert "constraints=(-0.2, 0.1)" in repr(trial)
    assert not trial.allowed
    # What a journal keeps is plain JSON.
    checked = asked.check(given)
    assert json.loads(json.dumps(checked)) == checked


def test_one_constraint_needs_no_list():
    assert question(1).check((2, 0.5)) == question(1).check((2, [0.5])) == [2.0, 0.5]
    assert question(1).check((np.array([2.0]), np.array([[0.5]]))) == [2.0, 0.5]
    with pytest.raises(ll.InvalidData, match="must be a number, at most 0"):
        question(1).check((2, [np.array([True])]))


def test_what_is_allowed():
    """Values up to 0, the end included, of calls that returned."""
    trials = told([(1.0, [0.0, -1.0]), (1.0, [1e-300, -1.0]), (1.0, [-0.0, -0.0])]).trials
    assert [trial.allowed for trial in trials] == [True, False, True]
    asked = question()
    running, failing = asked.ask(2)
    assert not running.allowed
    assert not asked.fail(failing, "no").allowed
    free = Minimize(BOX, "random")
    assert free.tell([0.5, 0.5], 3.0).allowed


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (0.3, "constraints=2 a value must be a pair, .* got 0.3"),
        ((0.3, [0.1, 0.2], 1.0), "must be a pair"),
        ((0.3, [0.1]), r"constraints=2, .* got 1: \[0.1\]"),
        ((0.3, 0.1), "got 1: 0.1"),
        ((0.3, [0.1, 0.2, 0.3]), "got 3"),
        ((0.3, [0.1, np.nan]), "A constraint value must be finite, got nan"),
        ((0.3, [-np.inf, 0.1]), "A constraint value must be finite, got -inf"),
        ((np.nan, [0.1, 0.2]), "A value must be finite"),
        (("0.3", [0.1, 0.2]), "A value must be one finite number, got '0.3'"),
        ((0.3, ["0.1", 0.2]), "A constraint value must be one finite number, got '0.1'"),
        ((0.3, "no"), "got 1: 'no'"),
        ((0.3, [None, 0.2]), "A constraint value must be one finite number, got None"),
        ((0.3, [[0.1, 0.2], 0.3]), "Constraint values must be finite numbers"),
        ((0.3, [[0.1], [0.2]]), r"A constraint value must be one finite number, got \[0.1\]"),
        ((0.3, [True, False]), "at most 0 where allowed, got True"),
        ((0.3, np.array([True, False])), "at most 0 where allowed, got True"),
        (np.array([0.3, 0.1]), "must be a pair"),
        (None, "must be a pair, .* got None"),
    ],
)
def test_what_a_call_may_not_return(given, message):
    with pytest.raises(ll.InvalidData, match=message):
        question().check(given)


def test_a_pair_without_constraints_says_what_is_missing():
    for pair in ((0.3, [0.1]), (0.3, 0.1), [0.3, (0.1, 0.2)]):
        with pytest.raises(ll.InvalidData, match=r"one finite number.*constraints= is missing"):
            Minimize(BOX).check(pair)
    with pytest.raises(ll.InvalidData) as other:
        Minimize(BOX).check((1.0, 2.0, 3.0))
    assert "missing" not in str(other.value)


@pytest.mark.parametrize("given", [-1, True, 1.0, "2", None])
def test_constraints_are_counted(given):
    with pytest.raises(ll.InvalidData, match="constraints must be how many"):
        question(given)


def test_a_method_must_take_constraints():
    @dataclasses.dataclass(frozen=True)
    class Careless(methods.Random):
        name: ClassVar[str] = "careless"

        @property
        def constrained(self):
            return False

    with pytest.raises(ll.InvalidData, match=r"'random'.*and 'careless' does not"):
        Minimize(BOX, Careless(), constraints=1)
    Minimize(BOX, Careless(), constraints=0)


PAIRS = [(1.0, [0.5, -1.0]), (3.0, [-0.1, -0.1]), (2.0, [-1.0, 0.2]), (4.0, [-3.0, 0.0])]


def test_the_best_is_the_best_that_is_allowed():
    answer = told(PAIRS).answer()
    assert (answer.value, answer.best.id) == (3.0, 1)
    assert answer.x is answer.best.x
    assert repr(answer).startswith("minimize: 3 at trial 1 (4 trials)")
    answer = told(PAIRS, Maximize).answer()
    assert (answer.value, answer.best.id) == (4.0, 3)
    assert told(PAIRS).headline() == "best call 3"
    # The negative control: the lowest value of all is another one.
    assert min(t.value for t in answer.trials) == 1.0


def test_if_none_is_allowed_the_answer_says_which_came_nearest():
    asked = question(2, space=SPACE)
    pairs = [(1.0, [0.5, -9.0]), (3.0, [0.1, 0.2]), (0.0, [-7.0, 0.3])]
    for trial, pair in zip(asked.ask(4), pairs, strict=False):
        asked.tell(trial, pair)
    asked.fail(asked.trials[3], "no")
    answer = asked.answer()
    assert answer.x is None
    assert answer.best is None
    assert np.isnan(answer.value)
    text = repr(answer)
    assert "none of the 3 calls with a value was allowed (4 trials, 1 failed)" in text
    assert "The nearest is trial 1, where the constraints are 0.1, 0.2" in text
    assert f"width  {answer.trials[1].x['width']}" in text
    assert asked.headline() == "none allowed"
    assert "x = [" in repr(told([(1.0, [2.0])]).answer())


def test_without_any_value_the_answer_is_as_before():
    asked = question()
    asked.fail(asked.ask()[0], "RuntimeError: no license")
    assert "no value after 1 trials, 1 failed" in repr(asked.answer())
    assert asked.headline() == ""


def test_a_method_sees_the_constraint_values_of_calls_that_returned():
    asked = told([*PAIRS, (5.0, [1e200, -1e200])], Minimize)
    asked.ask()
    asked.fail(asked.ask()[0], "no")
    seen = asked.seen()
    assert seen.constraints.shape == (5, 2)
    np.testing.assert_array_equal(seen.constraints[:4], [pair[1] for pair in PAIRS])
    # Their squares are numbers too.
    np.testing.assert_array_equal(seen.constraints[4], [1e100, -1e100])
    # Their sign stays: values up to 0 are allowed, whichever way is better.
    assert seen.y[0] == -1.0
    up = told(PAIRS, Maximize).seen()
    np.testing.assert_array_equal(up.constraints, [pair[1] for pair in PAIRS])
    assert question(3).seen().constraints.shape == (0, 3)
    free = Minimize(BOX, "random")
    free.tell([0.5, 0.5], 1.0)
    assert free.seen().constraints.shape == (1, 0)


@dataclasses.dataclass(frozen=True)
class Cautious(methods.Method):
    """The middle between the allowed point of the highest value, and a random one."""

    name: ClassVar[str] = "cautious"
    constrained: ClassVar[bool] = True

    def design(self, space):
        return 4

    def suggest(self, space, seen, state, key):
        row = methods.Random().suggest(space, seen, state, key).row
        allowed = np.all(seen.constraints <= 0.0, axis=1)
        if allowed.any():
            best = seen.x[allowed][np.argmax(seen.y[allowed])]
            row = 0.9 * best + 0.1 * row
        return methods.Suggestion(row, {}, {})


@pytest.mark.parametrize("seed", range(3))
def test_a_method_that_reads_constraints_finds_the_edge(seed):
    """The sum is lowest at the corner, and allowed from 1 on."""
    asked = Minimize(BOX, Cautious(), seed, 1)
    for _ in range(60):
        (trial,) = asked.ask()
        asked.tell(trial, (float(sum(trial.x)), 1.0 - float(sum(trial.x))))
    answer = asked.answer()
    assert 1.0 <= answer.value < 1.1
    assert answer.best.allowed
    assert min(t.value for t in answer.trials) < 1.0


def test_events_make_the_same_question():
    live = told(PAIRS)
    live.tell([0.1, 0.2], (0.5, [-1.0, -2.0]))
    replayed = question()
    for trial in live.trials[:4]:
        replayed.ask()
        replayed.apply(Told(trial.id, [trial.value, *trial.constraints]))
    replayed.apply(Given(4, [0.1, 0.2], [0.5, -1.0, -2.0]))
    for one, other in zip(live.trials, replayed.trials, strict=True):
        assert (one.value, one.constraints) == (other.value, other.constraints)
    assert live.best() == replayed.best() == 4


def test_settings():
    """Without constraints they are those of a question that knows nothing of them."""
    assert list(Minimize(BOX).settings()) == ["verb", "space", "method", "seed"]
    settings = json.loads(json.dumps(question(3, Maximize).settings()))
    assert settings["constraints"] == 3
    again = question_from_settings(settings)
    assert (type(again), again.constraints) == (Maximize, 3)
    assert again.settings() == question(3, Maximize).settings()
    del settings["constraints"]
    assert question_from_settings(settings).constraints == 0


def test_a_frame_has_a_column_for_each_constraint():
    asked = told(PAIRS)
    asked.fail(asked.ask()[0], "no")
    frame = asked.answer().to_frame()
    columns = ["value", "constraint_0", "constraint_1", "failed", "reason", "seconds", "info"]
    assert list(frame.columns) == ["trial", "x0", "x1", *columns]
    np.testing.assert_array_equal(frame["constraint_1"], [-1.0, -0.1, 0.2, 0.0, np.nan])


def test_predictions_use_every_value():
    asked = question(1)
    for x in np.linspace(0.0, 1.0, 6):
        asked.tell([x, 1.0], (10.0 + x, 1.0))
    answer = asked.answer()
    assert answer.x is None
    np.testing.assert_allclose(answer.predict([[0.5, 1.0]]).mean, [10.5], atol=0.05)
