import jax
import numpy as np
import pytest

import leadline as ll
from leadline.boundary import InvalidData
from leadline.paths import prior_draws
from leadline.questions.minimize.methods._thompson import Thompson

KINDS = ("decoupled", "unified", "location-scale")
BOX = [(0.0, 1.0), (-5.0, 5.0)]


def bowl(x):
    return float((x[0] - 0.3) ** 2 + 0.1 * (x[1] - 1.0) ** 2)


def run(question, f, rounds, batch=1):
    for _ in range(rounds):
        for trial in question.ask(batch):
            question.tell(trial, f(trial.x))
    return question.answer()


@pytest.fixture(scope="module")
def started():
    """A question after its design, and six asks under the method's eyes."""
    question = ll.Minimize(BOX, method=Thompson(features=128), seed=0)
    run(question, bowl, 8)
    return question


def test_a_bowl_is_minimized():
    found = run(ll.Minimize(BOX, method=Thompson(features=128), seed=1), bowl, 18)
    assert found.value < 1e-2
    assert np.isfinite(found.trials[-1].notes["draw"])


def test_asks_at_once_are_apart_and_the_same_for_the_same_seed(started):
    """Check: wilson S12.3"""
    again = ll.Minimize(BOX, method=Thompson(features=128), seed=0)
    run(again, bowl, 8)
    first, second = ([event.point for event in q.propose_batch(4)] for q in (started, again))
    np.testing.assert_array_equal(first, second)
    rows = started.space.encode(first)
    gaps = np.linalg.norm(rows[:, None] - rows[None], axis=-1)[np.triu_indices(4, 1)]
    assert np.all(gaps > 1e-6)


def test_a_draw_does_not_know_of_running_calls(started):
    """Asks are independent given the data: with the same key, running calls change nothing."""
    seen, method = started.seen(), started.method
    running = np.random.default_rng(0).random((3, 2))
    for key in jax.random.split(jax.random.key(3), 3):
        alone = method.suggest(started.space, seen, started.state(), key)
        busy = seen._replace(running=running)
        beside = method.suggest(started.space, busy, started.state(), key)
        np.testing.assert_array_equal(alone.row, beside.row)
    other = method.suggest(started.space, seen, started.state(), jax.random.key(9))
    assert not np.array_equal(other.row, alone.row)
    # The point of a running call itself is not asked for again.
    taken = seen._replace(running=alone.row[None])
    instead = method.suggest(started.space, taken, started.state(), key)
    assert not np.array_equal(instead.row, alone.row)


@pytest.mark.parametrize("draws", KINDS)
def test_every_point_of_a_finite_space_is_asked_once(draws):
    space = ll.Space(a=ll.Integer(0, 3), b=ll.Choice("x", "y", "z"))
    question = ll.Minimize(space, method=Thompson(draws, features=64), seed=0)
    asked = set()
    for k in range(12):
        (trial,) = question.ask()
        asked.add((trial.x["a"], trial.x["b"]))
        question.fail(trial, "bad luck") if k == 7 else question.tell(trial, float(trial.x["a"]))
    assert len(asked) == 12
    with pytest.raises(ll.questions.Exhausted):
        question.ask()


@pytest.mark.parametrize(("draws", "calls"), [("decoupled", 14), ("location-scale", 9)])
def test_a_mixed_space_with_a_constraint(draws, calls):
    space = ll.Space(
        r=ll.Real(0.0, 1.0),
        n=ll.Integer(1, 20),
        kind=ll.Choice("a", "b"),
        constraint=lambda p: p["r"] * p["n"] <= 8.0,
    )
    question = ll.Maximize(space, method=Thompson(draws, features=64, initial=6), seed=1)

    def f(p):
        return p["r"] - 0.01 * (p["n"] - 6) ** 2 + (p["kind"] == "b")

    found = run(question, f, calls)
    assert all(t.x["r"] * t.x["n"] <= 8.0 for t in found.trials)
    values = [t.value for t in found.trials]
    assert np.mean(values[6:]) > np.mean(values[:6])


def test_failures_repel():
    """Draws are low where calls failed, however much that end promised before."""
    question = ll.Maximize([(0.0, 1.0)])
    for x in np.linspace(0.25, 0.75, 5):
        question.tell([x], np.cos(6.3 * x))
    seen, space, method = question.seen(), question.space, Thompson(features=64, noise=1e-4)
    failed = seen._replace(failed=np.array([[0.0], [0.08], [0.16]]))
    keys = jax.random.split(jax.random.key(0), 8)
    _, state, _ = method.suggest(space, seen, {}, keys[0])
    there = [
        np.mean([method.suggest(space, s, state, key).row[0] < 0.2 for key in keys])
        for s in (seen, failed)
    ]
    assert there[0] >= 0.3
    assert there[1] == 0.0


def test_settings_are_checked_and_written_down():
    assert Thompson(noise=1e-3).settings() == {
        "name": "thompson",
        "draws": "decoupled",
        "features": 1024,
        "initial": None,
        "noise": 1e-3,
    }
    assert not Thompson.foresees
    with pytest.raises(InvalidData, match="Did you mean 'unified'"):
        Thompson("unifed")
    for features in (0, 7, -4):
        with pytest.raises(InvalidData, match="features"):
            Thompson(features=features)
    with pytest.raises(InvalidData, match="initial"):
        Thompson(initial=1)
    with pytest.raises(InvalidData, match="noise"):
        Thompson(noise=-1.0)


@pytest.mark.slow
def test_regret_falls_to_a_third_within_twenty_rounds():
    """Draws of a process in two dimensions, two queries in each round, hyper-parameters learned.

    Check: wilson S12.6
    """
    box = [(0.0, 1.0)] * 2
    first, last = [], []
    for seed in range(8):
        kernel = ll.kernels.Matern52(np.sqrt(0.02))
        truth = prior_draws(kernel, jax.random.key(seed), 1, dim=2, features=4096)
        top = float(np.asarray(truth(truth.argmax(box, 16)))[0, 0])
        rng = np.random.default_rng(seed)

        def noisy(x, truth=truth, rng=rng):
            return float(np.asarray(truth(x[None]))[0, 0]) + np.sqrt(1e-3) * rng.normal()

        question = ll.Maximize(box, method=Thompson(initial=4, noise=1e-3), seed=seed)
        found = run(question, noisy, 22, batch=2)
        reached = np.asarray(truth(np.array([t.x for t in found.trials])))[0]
        first.append(top - reached[:4].max())
        last.append(top - reached.max())
    assert np.median(last) < 0.3 * np.median(first)
