import jax
import numpy as np
import pytest

import leadline as ll
from leadline.boundary import InvalidData
from leadline.decisions._decide import decide


def table(rng, actions=6, draws=40):
    """Utilities of actions in states: a problem as a matrix."""
    return rng.normal(size=(actions, draws))


def look_up(matrix):
    return lambda action, states: matrix[action, states]


def test_only_positive_affine_changes_of_utility_keep_every_decision():
    """Check: wilson S0.2"""
    rng = np.random.default_rng(0)
    states = np.arange(40)
    for _ in range(100):
        matrix = table(rng)
        a, b = rng.lognormal(), 10.0 * rng.normal()
        one = decide(range(6), states, look_up(matrix))
        same = decide(range(6), states, look_up(a * matrix + b))
        assert same.action == one.action == np.argmax(matrix.mean(axis=1))
        assert same.runner_up == one.runner_up
        assert same.advantage == pytest.approx(a * one.advantage)
        turned = decide([one.action, one.runner_up], states, look_up(b - a * matrix))
        assert turned.action == one.runner_up


def test_conditional_belief_is_a_decision_between_compound_actions():
    """With f on S and any h off S, the same action is best as with the weights p(. | S).

    Check: wilson S0.5
    """
    rng = np.random.default_rng(1)
    states, changed = np.arange(40), 0
    for _ in range(50):
        matrix, belief = table(rng), rng.dirichlet(np.ones(40))
        happened = rng.random(40) < 0.4
        given = decide(range(6), states, look_up(matrix), belief * happened)
        for h in (np.zeros(40), 5.0 * rng.normal(size=40)):
            compound = decide(range(6), states, look_up(np.where(happened, matrix, h)), belief)
            assert compound.action == given.action
            assert compound.advantage == pytest.approx(given.advantage * belief @ happened)
        # The negative control: without the condition other actions may be best.
        changed += decide(range(6), states, look_up(matrix), belief).action != given.action
    assert changed > 5


def test_errors_are_standard_errors_and_pairs_share_their_draws():
    rng = np.random.default_rng(2)
    offsets = {"low": 0.0, "high": 0.05, "lowest": -1.0}
    own = rng.normal(scale=0.01, size=(3, 400))

    def utility(action, draws):
        return draws + offsets[action] + own[list(offsets).index(action)]

    draws = rng.normal(size=400)
    found = decide(list(offsets), draws, utility)
    assert found.action == "high"
    assert found.runner_up == "low"
    assert found.expected == found.all_expected[1] == pytest.approx(found.utilities.mean())
    assert found.standard_error == pytest.approx(np.std(found.utilities, ddof=1) / 20.0)
    ahead = found.utilities - utility("low", draws)
    assert found.advantage == pytest.approx(ahead.mean())
    assert found.advantage_error == pytest.approx(np.std(ahead, ddof=1) / 20.0)
    # What the draws have in common cancels.
    assert found.advantage_error < 0.03 * found.standard_error
    # An integer weight is as many copies of a draw, as far as the mean goes.
    copies = rng.integers(0, 3, 400)
    weighted = decide(list(offsets), draws, utility, copies)
    assert weighted.expected == pytest.approx(np.repeat(found.utilities, copies).mean())


def test_the_standard_error_is_the_deviation_of_repeated_decisions():
    rng = np.random.default_rng(3)
    weights = rng.gamma(1.0, size=100)
    runs = [decide(["only"], rng.normal(size=100), lambda a, d: d**2, weights) for _ in range(800)]
    assert runs[0].runner_up is None
    assert runs[0].advantage is None
    deviation = np.std([r.expected for r in runs])
    # The deviation of 800 values is known to 2.5 %: four standard errors.
    claimed = np.sqrt(np.mean([r.standard_error**2 for r in runs]))
    assert claimed == pytest.approx(deviation, rel=0.1)


def test_a_box_of_actions_is_searched_between_the_points_of_any_grid():
    """How much to order when demand is not known: the best order is a quantile of demand."""
    demand = np.sort(np.random.default_rng(4).lognormal(0.0, 0.5, 1000))
    price, cost = 3.0, 1.0

    def profit(order, demand):
        return price * np.minimum(order[0], demand) - cost * order[0]

    found = decide(ll.Space([(0.0, 10.0)]), demand, profit)
    # Above a fraction 1 - cost / price of the draws one more item no longer pays.
    assert found.action[0] == pytest.approx(demand[666], rel=1e-6)
    assert found.all_expected is None
    assert found.expected == pytest.approx(profit(found.action, demand).mean())
    grid = decide(np.linspace(0.0, 10.0, 101)[:, None], demand, profit)
    assert grid.expected <= found.expected


def test_actions_of_a_mixed_space_obey_its_constraint():
    space = ll.Space(
        amount=ll.Real(0.0, 4.0),
        lots=ll.Integer(1, 30),
        where=ll.Choice("here", "there"),
        constraint=lambda p: p["amount"] * p["lots"] <= 30.0,
    )
    draws = np.random.default_rng(5).normal(2.0, 0.3, 50)

    def utility(p, draws):
        gain = 1.0 if p["where"] == "there" else 0.0
        return gain - (p["amount"] - draws) ** 2 - 0.01 * (p["lots"] - 13.4) ** 2

    found = decide(space, draws, utility)
    assert found.action["where"] == "there"
    assert found.action["lots"] == 13
    assert found.action["amount"] == pytest.approx(draws.mean(), abs=1e-4)
    tight = ll.Space(space.parameters, constraint=lambda p: p["amount"] * p["lots"] <= 13.0)
    bound = decide(tight, draws, utility)
    assert bound.expected < found.expected
    assert bound.action["amount"] * bound.action["lots"] == pytest.approx(13.0, abs=0.1)


def test_a_finite_space_is_tried_out():
    space = ll.Space(n=ll.Integer(0, 9), kind=ll.Choice("a", "b"))
    found = decide(space, [0.0, 1.0], lambda p, w: [p["n"] - 20.0 * (p["kind"] == "b")] * 2)
    assert found.action == {"n": 9, "kind": "a"}
    assert found.runner_up == {"n": 8, "kind": "a"}
    assert len(found.all_expected) == 20


def test_function_draws_are_what_is_not_known():
    """The best input in expectation is where the posterior mean is highest."""
    x = np.linspace(0.0, 1.0, 6)[:, None]
    post = ll.GP(1.0 * ll.kernels.Matern52(0.3), noise=1e-4).condition(x, np.sin(5.0 * x[:, 0]))
    paths = post.paths(jax.random.key(0), 256, 128)
    grid = np.linspace(0.0, 1.0, 33)[:, None]
    found = decide(grid, paths, lambda a, f: f(a[None])[:, 0])
    mean = np.asarray(post.predict(grid).mean)
    assert found.action[0] == grid[np.argmax(mean), 0]
    np.testing.assert_allclose(
        found.expected, mean.max(), atol=4.0 * found.standard_error, rtol=0.0
    )
    anywhere = decide(ll.Space([(0.0, 1.0)]), paths, lambda a, f: f(a[None])[:, 0])
    assert anywhere.expected >= found.expected


def test_the_repr_says_how_sure_the_decision_is():
    found = decide(["stay", "go"], [0.0, 1.0, 2.0], lambda a, w: np.add(w, a == "go"))
    assert repr(found) == (
        "decide: expected utility 2 +- 0.58 (3 draws)\n  action = 'go'\n  ahead by 1 +- 0 of 'stay'"
    )
    single = decide([np.zeros(2)], [1.0], lambda a, w: w)
    assert repr(single) == "decide: expected utility 1 +- inf (1 draw)\n  action = [0. 0.]"


def first(action, draws):
    return np.zeros(len(draws))


@pytest.mark.parametrize(
    ("actions", "draws", "utility", "weights", "said"),
    [
        ([], [1.0], first, None, "at least one action"),
        (3, [1.0], first, None, "at least one action"),
        (["a"], [], first, None, "at least one draw"),
        (["a"], 3.0, first, None, "draws must be"),
        (["a"], [1.0, 2.0], lambda a, w: 0.0, None, r"must return shape \(2,\)"),
        (["a"], [1.0, 2.0], lambda a, w: ["x", "y"], None, "real numbers"),
        (["a"], [1.0, 2.0], lambda a, w: [0.0, np.nan], None, "finite"),
        (["a"], [1.0, 2.0], first, [1.0], r"shape \(2,\)"),
        (["a"], [1.0, 2.0], first, [1.0, -1.0], "not negative"),
        (["a"], [1.0, 2.0], first, [0.0, 0.0], "positive"),
        (
            ll.Space([(0.0, 1.0)], constraint=lambda x: False),
            [1.0],
            first,
            None,
            "hardly any action",
        ),
    ],
)
def test_bad_input_is_refused(actions, draws, utility, weights, said):
    with pytest.raises(InvalidData, match=said):
        decide(actions, draws, utility, weights)
