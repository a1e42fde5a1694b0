import jax
import numpy as np
import pytest

import leadline as ll

BOX = [(0.0, 1.0), (-5.0, 5.0)]


def bowl(x):
    return float((x[0] - 0.3) ** 2 + 0.1 * (x[1] - 1.0) ** 2)


def run(question, f, n):
    for _ in range(n):
        (trial,) = question.ask()
        question.tell(trial, f(trial.x))
    return question.answer()


@pytest.fixture(scope="module")
def finished():
    question = ll.Minimize(BOX, seed=0)
    run(question, bowl, 20)
    return question


def test_a_bowl_is_minimized_in_twenty_calls(finished):
    answer = finished.answer()
    assert answer.value < 1e-4
    np.testing.assert_allclose(answer.x, [0.3, 1.0], atol=0.05)
    assert answer.value == bowl(answer.x) == min(t.value for t in answer.trials)


def test_random_search_does_not(finished):
    """The negative control: the bowl is not so easy that anything finds its bottom."""
    assert run(ll.Minimize(BOX, method="random", seed=0), bowl, 20).value > 1e-2


def test_maximize_is_minimize_of_the_negative(finished):
    upside_down = ll.Maximize(BOX, seed=0)
    answer = run(upside_down, lambda x: -bowl(x), 20)
    assert answer.value == -finished.answer().value
    for one, other in zip(answer.trials, finished.trials, strict=True):
        np.testing.assert_array_equal(one.x, other.x)


def test_the_first_asks_fill_the_space_however_many_are_asked_at_once():
    together = ll.Minimize(BOX, seed=4).ask(8)
    # Of eight Sobol points each eighth of an input holds one.
    for column, (low, high) in enumerate(BOX):
        cells = [int(8 * (t.x[column] - low) / (high - low)) for t in together]
        assert sorted(cells) == list(range(8))


def test_the_ask_after_a_replay_is_the_ask_without_it(finished):
    """Bit for bit, and without a fit: the hyper-parameters travel with the asks."""
    live = ll.Minimize(BOX, seed=0)
    events = []
    for trial in finished.trials[:14]:
        events.append(live.propose())
        live.apply(events[-1])
        live.tell(live.trials[-1], trial.value)
    replayed = ll.Minimize(BOX, seed=0)
    for event, trial in zip(events, finished.trials, strict=False):
        replayed.apply(event)
        replayed.tell(replayed.trials[-1], trial.value)
    ahead = [q.propose_batch(3) for q in (live, replayed)]
    for one, other in zip(*ahead, strict=True):
        np.testing.assert_array_equal(one.point, other.point)
        assert dict(one.notes) == dict(other.notes)


def test_without_new_values_the_hyper_parameters_are_kept(finished):
    (first, second) = finished.propose_batch(2)
    for name, value in first.state.items():
        np.testing.assert_array_equal(value, second.state[name])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_points_asked_together_are_apart(seed):
    question = ll.Minimize(BOX, seed=seed)
    run(question, bowl, 6)
    first, second = (question.space.encode([event.point])[0] for event in question.propose_batch(2))
    assert np.linalg.norm(second - first) > 0.02
    # The negative control: whoever does not know of the running call asks for the same point.
    seen, key = question.seen(), jax.random.key(9)
    unaware = question.method.suggest(question.space, seen, question.state(), key)
    assert np.linalg.norm(unaware.row - first) < 0.01


def test_no_point_is_asked_twice_and_failures_repel():
    space = ll.Space(a=ll.Integer(0, 5), b=ll.Choice("x", "y", "z"))
    question = ll.Minimize(space, seed=0)
    asked = set()
    for k in range(18):
        (trial,) = question.ask()
        asked.add((trial.x["a"], trial.x["b"]))
        if k % 3 == 0:
            question.fail(trial, "bad luck")
        else:
            question.tell(trial, float(trial.x["a"]))
    assert len(asked) == 18
    with pytest.raises(ll.questions.Exhausted, match="All 18 points"):
        question.ask()


def test_failed_calls_stay_out_of_the_model_and_out_of_reach():
    """The bottom of the bowl fails: the next asks move away instead of repeating themselves."""
    question = ll.Minimize(BOX, seed=0)
    for _ in range(22):
        (trial,) = question.ask()
        near = np.hypot(trial.x[0] - 0.3, (trial.x[1] - 1.0) / 10) < 0.03
        question.fail(trial, "crash") if near else question.tell(trial, bowl(trial.x))
    failed = np.array([t.x for t in question.trials if t.failed])
    assert 1 <= len(failed) <= 6
    without = ll.Minimize(BOX, seed=0)
    for trial in question.trials:
        if not trial.failed:
            without.tell(trial.x, trial.value)
    states = []
    for each in (question, without):
        # Without a state to start from, both learn from scratch.
        found = each.method.suggest(each.space, each.seen(), {}, each.key())
        states.append(found.state)
    for name in states[0]:
        np.testing.assert_array_equal(states[0][name], states[1][name])


def test_data_from_before_count_as_the_design():
    question = ll.Minimize(BOX, seed=0)
    for x in np.random.default_rng(0).random((6, 2)):
        question.tell([x[0], 10 * x[1] - 5], bowl([x[0], 10 * x[1] - 5]))
    (trial,) = question.ask()
    assert "expected_improvement" in trial.notes


def test_noise_is_learned_or_given():
    rng = np.random.default_rng(0)
    clean, noisy = ll.Minimize(BOX, seed=0), ll.Minimize(BOX, seed=0)
    known = ll.Minimize(BOX, method=ll.methods.GP(noise=0.04), seed=0)
    for u in rng.random((30, 2)):
        x = [u[0], 10 * u[1] - 5]
        clean.tell(x, bowl(x))
        noisy.tell(x, bowl(x) + rng.normal(0, 0.2))
        known.tell(x, noisy.trials[-1].value)
    learned = []
    for question in (clean, noisy, known):
        question.ask()
        learned.append(float(question.state()["noise"]))
    assert learned[0] < 1e-4
    assert 0.2**2 / 3 < learned[1] < 0.2**2 * 3
    assert learned[2] == pytest.approx(0.04)


def test_the_constraint_holds_in_every_ask():
    space = ll.Space(BOX, constraint=lambda x: x[0] * 10 > x[1] + 5)
    question = ll.Minimize(space, seed=0)
    answer = run(question, bowl, 14)
    assert all(space.constraint(t.x) for t in answer.trials)


def test_a_mixed_conditional_space_runs_end_to_end():
    space = ll.Space(
        rate=ll.Real(1e-4, 1.0, log=True),
        layers=ll.Integer(1, 4),
        kind=ll.Choice("adam", "sgd"),
        momentum=ll.Real(0.0, 1.0).when(kind="sgd"),
    )
    question = ll.Minimize(space, seed=0)

    def loss(p):
        extra = (p["momentum"] - 0.5) ** 2 if p["kind"] == "sgd" else 0.5
        return (np.log10(p["rate"]) + 2) ** 2 + 0.2 * abs(p["layers"] - 3) + extra

    answer = run(question, loss, 30)
    assert answer.x["kind"] == "sgd"
    assert answer.x["layers"] == 3
    assert answer.value < 0.1
    assert "momentum" in repr(answer)


def test_asks_compile_once_for_each_number_of_rows(compilations):
    question = ll.Minimize([(0.0, 1.0)] * 3, seed=0)

    def f(x):
        return float(np.sum((x - 0.4) ** 2))

    run(question, f, 8)
    for _ in range(22):  # rows 8 to 30: one bucket
        before = compilations[0]
        (trial,) = question.ask()
        question.tell(trial, f(trial.x))
    assert compilations[0] == before


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_values_of_any_size_are_values(scale):
    question = ll.Minimize(BOX, seed=0)
    answer = run(question, lambda x: scale * bowl(x), 8)
    assert answer.value == min(t.value for t in answer.trials)
    *_, hope, more = answer.trials
    assert 0.0 < hope.notes["expected_improvement"] < scale
    assert 0.0 < more.notes["improvement_sought"] < 10 * scale


@pytest.mark.parametrize(
    "value",
    ["0.3", None, [1.0, 2.0], float("nan"), float("inf"), {}, 1j, [1.0]]
    + [np.array(v) for v in ([1.0, 2.0], [], ["0.3"], [None], [np.nan], [1j])]
    + [np.ma.masked, np.ma.array([3.0], mask=[True]), 10**400],
)
def test_values_that_are_no_finite_number_are_refused(value):
    question = ll.Minimize(BOX)
    with pytest.raises(ll.InvalidData, match="A value must be"):
        question.check(value)


@pytest.mark.parametrize(
    "value",
    [1, 1.0, np.float32(1), np.array(1.0), np.array([1.0]), np.array([[1]]), np.ones(1, object)],
)
def test_numbers_of_every_kind_are_values(value):
    for given in (value, jax.numpy.asarray(value, float)):
        checked = ll.Minimize(BOX).check(given)
        assert checked == 1.0
        assert type(checked) is float


def test_misuse_is_an_error():
    with pytest.raises(ll.InvalidData, match="Did you mean 'random'"):
        ll.Minimize(BOX, method="randm")
    with pytest.raises(ll.InvalidData, match=r"name or an object of ll\.methods"):
        ll.Minimize(BOX, method=3)
    with pytest.raises(ll.InvalidData, match="Did you mean 'log_ei'"):
        ll.methods.GP(acquisition="logei")
    with pytest.raises(ll.InvalidData, match="initial must be at least 2"):
        ll.methods.GP(initial=1)
    with pytest.raises(ll.InvalidData, match="noise must be a variance"):
        ll.methods.GP(noise=-1.0)
    with pytest.raises(ll.InvalidData, match="low < high"):
        ll.Minimize([(1.0, 0.0)])
