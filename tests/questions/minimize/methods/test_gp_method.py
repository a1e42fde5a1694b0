import numpy as np
import pytest

import leadline as ll
from leadline.boundary import InvalidData

BOX = [(0.0, 1.0), (-5.0, 5.0)]
NAMES = ("log_ei", "ei", "pi", "ucb", "emax", "kg", "two_step", "mes", "jes")


def bowl(x):
    return float((x[0] - 0.3) ** 2 + ((x[1] - 1.0) / 10) ** 2)


def told(question, n):
    for trial in question.ask(n):
        question.tell(trial, bowl(trial.x))
    return question


@pytest.mark.parametrize("name", NAMES)
def test_every_acquisition_function_improves_on_its_design(name):
    method = ll.methods.GP(acquisition=name)
    found = ll.minimize(bowl, BOX, budget=14, method=method, seed=1, progress=False)
    values = [trial.value for trial in found.trials]
    assert min(values[5:]) < 0.5 * min(values[:5])
    assert len({tuple(trial.x) for trial in found.trials}) == 14


@pytest.mark.parametrize("name", ["log_ei", "kg"])
def test_running_calls_are_left_alone(name):
    question = told(ll.Minimize(BOX, method=ll.methods.GP(acquisition=name), seed=0), 8)
    rows = question.space.encode([trial.x for trial in question.ask(4)])
    apart = np.linalg.norm(rows[:, None] - rows[None], axis=-1) + np.eye(4)
    assert apart.min() > 1e-3


def test_asking_for_several_is_asking_for_one_after_the_other():
    """Greedy batches are nested: the first points of four are the points of two."""
    together = told(ll.Minimize(BOX, seed=0), 8).ask(4)
    one = told(ll.Minimize(BOX, seed=0), 8)
    for trial in together:
        np.testing.assert_array_equal(one.ask()[0].x, trial.x)


def test_joint_batches():
    question = told(ll.Minimize(BOX, method=ll.methods.GP(batch="joint"), seed=0), 8)
    trials = question.ask(3)
    assert [trial.id for trial in trials] == [8, 9, 10]
    assert len({tuple(trial.x) for trial in trials}) == 3
    greedy = told(ll.Minimize(BOX, seed=0), 8).ask(3)
    assert not np.array_equal([t.x for t in trials], [t.x for t in greedy])
    question.ask(2)  # beside those that run
    assert question.trials[-1].running


def test_joint_batches_of_a_small_space_are_what_is_left():
    space = ll.Space(a=ll.Integer(0, 2), b=ll.Choice("x", "y", "z"))
    question = ll.Minimize(space, method=ll.methods.GP(batch="joint", initial=5), seed=0)
    for trial in question.ask(5):
        question.tell(trial, trial.x["a"] + len(trial.x["b"]))
    for trial in question.ask(4):
        question.tell(trial, 0.0)
    assert len({tuple(t.x.values()) for t in question.trials}) == 9


def test_every_second_call_is_to_improve_by_more():
    question = told(ll.Minimize(BOX, seed=0), 8)
    notes = []
    for _ in range(4):
        (trial,) = question.ask()
        notes.append(set(trial.notes))
        question.tell(trial, bowl(trial.x))
    assert notes == [{"expected_improvement"}, {"improvement_sought"}] * 2


def test_with_noise_the_answer_is_not_the_luckiest_call():
    """A value far below all others, where the neighbors say otherwise, is luck."""
    rng = np.random.default_rng(0)
    question = ll.Minimize(BOX, seed=0)
    for u in rng.random((40, 2)):
        x = np.array([u[0], 10 * u[1] - 5])
        question.tell(x, bowl(x) + rng.normal(0, 0.05))
    lucky = np.array([0.9, -4.0])
    question.tell(lucky, -0.2)
    assert question.best() == 40
    question.ask()
    found = question.answer()
    assert not np.array_equal(found.x, lucky)
    assert bowl(found.x) < 0.1
    # Who knows that there is no noise gets the best value.
    sure = ll.Minimize(BOX, method=ll.methods.GP(noise=0.0), seed=0)
    for trial in question.trials:
        if not trial.running:
            sure.tell(trial.x, trial.value)
    sure.ask()
    np.testing.assert_array_equal(sure.answer().x, lucky)


def test_constraints_are_learned():
    def call(x):
        return bowl(x), [0.5 - x[0], -1.0]

    found = ll.minimize(call, BOX, budget=25, seed=0, constraints=2, progress=False)
    assert found.best.allowed
    assert found.value == pytest.approx(0.04, abs=2e-3)
    assert found.x[0] == pytest.approx(0.5, abs=2e-3)


def test_points_that_are_allowed_are_found_first():
    """Only a small corner is allowed, and no point of the design is in it."""

    def call(x):
        return bowl(x), [0.9 - x[0], x[1] + 4.0]

    found = ll.minimize(call, BOX, budget=25, seed=0, constraints=2, progress=False)
    assert not any(trial.allowed for trial in found.trials[:5])
    assert found.best is not None
    assert found.x[0] == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"acquisition": "log_ie"}, "Did you mean 'log_ei'"),
        ({"batch": "gredy"}, "Did you mean 'greedy'"),
        ({"acquisition": "mes", "batch": "joint"}, "of several points"),
        ({"initial": 1}, "at least 2"),
        ({"noise": -1.0}, "not negative"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(InvalidData, match=message):
        ll.methods.GP(**settings)


def test_constraints_need_an_acquisition_function_that_can_be_weighted():
    with pytest.raises(InvalidData, match="constraints need a method"):
        ll.Minimize(BOX, method=ll.methods.GP(acquisition="ucb"), constraints=1)
