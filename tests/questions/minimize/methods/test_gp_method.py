import re

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


def run(f, kind=ll.Minimize, box=BOX, seed=1, n=8):
    """The answer after `n` calls, one after the other."""
    question = kind(box, seed=seed)
    for _ in range(n):
        (trial,) = question.ask()
        question.tell(trial, f(trial.x))
    return question.answer()


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


LUCKY = np.array([0.9, -4.0])


def noisy_calls(spread, method="gp"):
    """40 points, half of which were called twice, and a call that is far below all others."""
    rng = np.random.default_rng(0)
    question = ll.Minimize(BOX, method=method, seed=0)
    points = rng.random((40, 2))
    for u in np.concatenate([points, points[:20]]):
        x = np.array([u[0], 10 * u[1] - 5])
        question.tell(x, bowl(x) + rng.normal(0, spread))
    question.tell(LUCKY, -0.5)
    question.ask()
    return question


@pytest.fixture(scope="module")
def noisy():
    return noisy_calls(0.2)


def test_with_noise_the_answer_is_not_the_luckiest_call(noisy):
    """A value far below all others, where the neighbors say otherwise, is luck."""
    found = noisy.answer()
    np.testing.assert_array_equal(found.best.x, LUCKY)
    assert found.best.id == noisy.best() == 60
    assert bowl(found.x) < 0.2
    assert found.recommended.id != 60
    assert (found.recommended.x is found.x, found.recommended.value) == (True, found.value)
    # Who knows that there is no noise gets the best value, and who knows that there is does not.
    sure = noisy_calls(0.2, ll.methods.GP(noise=0.0)).answer()
    np.testing.assert_array_equal(sure.x, LUCKY)
    assert sure.recommended is sure.best
    assert noisy_calls(0.2, ll.methods.GP(noise=0.04)).answer().recommended.id != 60
    shared = noisy_calls(0.2, "thompson").answer()
    assert (shared.best.id, shared.recommended.id) == (60, found.recommended.id)


@pytest.mark.parametrize("method", ["gp", "thompson"])
def test_repeated_calls_show_noise_before_anything_is_asked(method):
    """A choice among ten numbers, each of them measured four times."""
    rng = np.random.default_rng(0)
    question = ll.Minimize(ll.Space(k=ll.Integer(0, 9)), method=method)
    for k in [*range(10)] * 4:
        question.tell({"k": k}, (k - 4) ** 2 / 10 + rng.normal())
    found = question.answer()
    assert (found.best.x, found.x) == ({"k": 2}, {"k": 4})
    once = ll.Minimize(ll.Space(k=ll.Integer(0, 9)), method=method)
    for k in range(10):
        once.tell({"k": k}, (k - 4) ** 2 / 10 + rng.normal())
    assert once.answer().recommended is once.answer().best


def test_the_answer_says_why_it_is_not_the_best_call(noisy):
    found = noisy.answer()
    head, _, why, best = repr(found).splitlines()
    counts = "(62 trials, 1 not finished)"
    assert head == (
        f"minimize: {found.value:.6g} at trial {found.recommended.id} {counts}, "
        "the call that is expected to be best"
    )
    said = re.fullmatch(
        r"Calls are noisy \(standard deviation about (0.\d+)\); the best call returned -0.5 at "
        "trial 60:",
        why,
    )
    assert 0.1 < float(said[1]) < 0.4
    assert best == "  x = [ 0.9 -4. ]"


def rosenbrock(x):
    return float(100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2)


@pytest.mark.parametrize("offset", [0.0, 1e12])
def test_a_function_that_is_hard_to_follow_is_not_noisy(offset):
    """The model takes what it cannot follow for noise, a third of a percent of the variance."""
    found = ll.minimize(
        lambda x: offset + rosenbrock(x), [(-2.0, 2.0)] * 2, budget=30, seed=2, progress=False
    )
    assert found.value == min(trial.value for trial in found.trials)
    assert found.recommended is found.best
    assert rosenbrock(found.x) < 0.1
    assert "nois" not in repr(found)


def test_ripples_that_calls_do_not_resolve_are_not_noise():
    question = ll.Minimize(BOX, seed=0)
    for u in np.random.default_rng(0).random((41, 2)):
        x = np.array([u[0], 10 * u[1] - 5])
        question.tell(x, bowl(x) + 0.05 * np.sin(1e3 * u.sum()))
    question.ask()
    found = question.answer()
    assert float(question.state()["noise"]) > 1e-3 * np.var([t.value for t in found.trials[:41]])
    assert found.recommended is found.best


@pytest.fixture(scope="module")
def ordinary():
    return run(bowl)


@pytest.mark.parametrize("size", [1e-250, 1e160])
def test_values_whose_squares_are_no_numbers(size, ordinary):
    found, same = run(lambda x: size * bowl(x)), ordinary
    np.testing.assert_allclose([t.x for t in found.trials], [t.x for t in same.trials], atol=1e-3)
    at = [[0.5, 0.0], [0.1, 3.0]]
    belief, expected = found.predict(at), same.predict(at)
    np.testing.assert_allclose(belief.mean / size, expected.mean, rtol=1e-3)
    np.testing.assert_allclose(belief.std / size, expected.std, rtol=0.02)
    np.testing.assert_allclose(belief.quantile(0.9) / size, expected.quantile(0.9), rtol=1e-2)
    np.testing.assert_allclose(belief.cdf(belief.quantile(0.9)), 0.9)
    away = belief.log_prob(belief.mean) - expected.log_prob(expected.mean)
    np.testing.assert_allclose(away, -np.log(size), atol=0.02)


def test_of_an_offset_only_rounding_is_lost():
    question = ll.Minimize(BOX, seed=1)
    for trial in question.ask(12):
        question.tell(trial, 1e12 + bowl(trial.x))
    x = [trial.x for trial in question.trials]
    belief = question.answer().predict(x)
    np.testing.assert_allclose(belief.mean - 1e12, [bowl(point) for point in x], atol=3e-3)
    assert np.all(belief.std < 0.05)


@pytest.mark.parametrize("huge", [1.7e308, -1.7e308])
def test_a_huge_value_is_a_value(huge):
    question = ll.Minimize(BOX, seed=0)
    for k, trial in enumerate(question.ask(6)):
        question.tell(trial, huge if k == 3 else bowl(trial.x))
    question.ask()
    assert question.answer().value == min(t.value for t in question.trials if not t.running)


def likelihood(x):
    return float(np.exp(-400.0 - 20.0 * np.sum((x - 0.3) ** 2)))


@pytest.mark.parametrize(("kind", "sign"), [(ll.Maximize, 1.0), (ll.Minimize, -1.0)])
def test_a_likelihood_is_climbed(kind, sign):
    """From far below the maximum; most of the box underflows."""
    found = run(lambda x: sign * likelihood(x), kind, [(-5.0, 5.0)] * 2, seed=3, n=18)
    assert abs(np.log(sign * found.value) + 400.0) < 0.1
    assert max(np.log(sign * t.value) for t in found.trials[:5] if t.value) < -420.0
    assert any(t.value == 0.0 for t in found.trials)
    belief = found.predict([found.x, [4.0, -4.0]])
    assert belief.mean[0] == pytest.approx(found.value, rel=0.3)
    assert np.all(belief.std < likelihood(np.array([0.3, 0.3])))


def test_nats_are_not_mistaken_for_the_unit_of_the_function():
    """Of logarithms nobody knows what an improvement is in values: no tolerance ends that."""
    found = ll.maximize(
        likelihood, [(-5.0, 5.0)] * 2, budget=9, seed=3, tolerance=1e3, progress=False
    )
    assert len(found.trials) == 9
    names = {name for trial in found.trials for name in trial.notes}
    assert names == {"log_expected_improvement", "log_improvement_sought"}
    # In a unit of 1e-200 it is known.
    for tolerance, calls in [(1e-300, 8), (1e-200, 6)]:
        found = ll.minimize(
            lambda x: 1e-200 * bowl(x), BOX, budget=8, tolerance=tolerance, progress=False
        )
        assert len(found.trials) == calls


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
