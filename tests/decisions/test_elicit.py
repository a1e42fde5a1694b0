import pickle

import numpy as np
import pytest

from leadline.boundary import InvalidData
from leadline.decisions._decide import decide
from leadline.decisions._elicit import elicit_probability, elicit_utility, expected_utility

TASTE = {"rain": -3.0, "snow": 4.0, "sun": 11.0, "fog": 0.5, "wind": 7.25}


def agent(taste):
    """Somebody who prefers lotteries of higher expected taste."""

    def prefers(a, b):
        return sum(p * taste[g] for g, p in a.items()) > sum(p * taste[g] for g, p in b.items())

    return prefers


def scaled(taste):
    low, high = min(taste.values()), max(taste.values())
    return {g: (t - low) / (high - low) for g, t in taste.items()}


def test_standard_gambles_find_the_utility_of_each_outcome():
    """Check: wilson S0.1"""
    found = elicit_utility(agent(TASTE), TASTE, tol=1e-6)
    assert found.keys() == TASTE.keys()
    for outcome, utility in scaled(TASTE).items():
        assert abs(found[outcome] - utility) <= 2e-6
    assert found["sun"] == 1.0
    assert found["rain"] == 0.0


def test_an_affine_change_of_taste_changes_no_answer():
    other = {g: 2.0 * t - 16.0 for g, t in TASTE.items()}
    assert elicit_utility(agent(other), TASTE) == elicit_utility(agent(TASTE), TASTE)


def test_each_further_digit_costs_the_same():
    asked = []

    def prefers(a, b):
        asked.append((a, b))
        return agent(TASTE)(a, b)

    counts = []
    for tol in (2.0**-10, 2.0**-20):
        asked.clear()
        elicit_utility(prefers, TASTE, tol)
        counts.append(len(asked))
    assert counts[1] - counts[0] == 3 * 10
    assert all(sum(lottery.values()) == pytest.approx(1.0) for pair in asked for lottery in pair)


def test_outcomes_without_a_hash_are_named_by_position():
    outcomes = [[1.0], [5.0], ([2.0],)]
    found = elicit_utility(agent({0: 1.0, 1: 5.0, 2: 2.0}), outcomes, tol=2.0**-20)
    assert found[0] == 0.0
    assert found[1] == 1.0
    assert found[2] == pytest.approx(0.25, abs=1e-6)


def test_utility_is_linear_in_lotteries():
    """Check: wilson S0.4"""
    utilities = elicit_utility(agent(TASTE), TASTE, tol=1e-6)
    rng = np.random.default_rng(0)
    for _ in range(100):
        p, q = (dict(zip(TASTE, rng.dirichlet(np.ones(5)), strict=True)) for _ in range(2))
        a = rng.random()
        mixed = {g: a * p[g] + (1.0 - a) * q[g] for g in TASTE}
        apart = [expected_utility(lottery, utilities) for lottery in (p, q)]
        together = expected_utility(mixed, utilities)
        assert abs(together - (a * apart[0] + (1.0 - a) * apart[1])) <= 1e-12


@pytest.mark.parametrize(
    ("prefers", "outcomes", "said"),
    [
        (lambda a, b: False, "abc", "No outcome is preferred"),
        (lambda a, b: True, "abc", "contradict"),
        (lambda a, b: True, "ab", "contradict|No outcome"),
        (agent(TASTE), ["rain"], "at least two"),
        (agent(TASTE), ["rain", "rain"], "different"),
    ],
)
def test_answers_that_measure_nothing_are_refused(prefers, outcomes, said):
    with pytest.raises(InvalidData, match=said):
        elicit_utility(prefers, outcomes)


def test_a_circle_of_preferences_is_refused():
    """Stone over scissors over paper over stone: there is no best outcome."""
    beats = {("stone", "scissors"), ("scissors", "paper"), ("paper", "stone")}

    def prefers(a, b):
        if len(a) == len(b) == 1:
            return (next(iter(a)), next(iter(b))) in beats
        return False

    for order in (["stone", "scissors", "paper"], ["paper", "scissors", "stone"]):
        with pytest.raises(InvalidData, match="contradict"):
            elicit_utility(prefers, order)


def belief(states):
    """The answers of somebody who believes that an event has the measure of its intervals."""

    def prefers(event, fraction):
        return sum(high - low for low, high in (states[name] for name in event)) > fraction

    return prefers


def test_coin_flips_find_the_probability_of_an_event():
    """Check: wilson S0.3"""
    cuts = np.sort(np.random.default_rng(1).random(9))
    states = dict(enumerate(zip([0.0, *cuts], [*cuts, 1.0], strict=True)))
    prefers = belief(states)
    for k in range(9):
        one, other = frozenset({k}), frozenset({k + 1, (k + 4) % 10})
        p, q, both = (elicit_probability(prefers, e) for e in (one, other, one | other))
        assert p.questions == 20
        assert abs(p - (states[k][1] - states[k][0])) <= 2.0**-20
        assert p.lower <= states[k][1] - states[k][0] <= p.upper
        if not one & other:
            assert abs(both - (p + q)) <= 2.0**-19
    assert elicit_probability(prefers, frozenset(range(10))) > 1.0 - 2.0**-20
    assert elicit_probability(prefers, frozenset()) < 2.0**-20


def test_only_dyadic_fractions_are_asked_about():
    asked = []
    elicit_probability(lambda event, p: asked.append(p) or p < 0.3, "A", tol=2.0**-12)
    assert all((p * 2**12).is_integer() for p in asked)
    assert asked[0] == 0.5


def test_an_elicited_probability_survives_a_copy():
    found = elicit_probability(lambda event, p: p < 0.3, "A")
    copied = pickle.loads(pickle.dumps(found))
    assert (copied, copied.lower, copied.questions) == (found, found.lower, found.questions)


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_elicited_chances_of_utility_levels_give_expected_utility_from_below(n):
    """The sum over levels (i - 1) / n of the chance to get between that and i / n.

    Check: wilson S0.6
    """
    rng = np.random.default_rng(2)
    weights, utilities = rng.dirichlet(np.ones(500)), rng.beta(2.0, 3.0, 500)
    expected = decide(["f"], np.arange(500), lambda a, states: utilities[states], weights).expected

    def prefers(event, fraction):
        return weights[event].sum() > fraction

    levels = np.ceil(n * utilities).astype(int)
    total = 0.0
    for i in np.unique(levels):
        chance = elicit_probability(prefers, np.flatnonzero(levels == i), tol=2.0**-40)
        total += (i - 1) / n * chance
    slack = n * 2.0**-40
    assert -slack <= expected - total <= 1.0 / n + slack


def test_bad_lotteries_and_tolerances_are_refused():
    utilities = {"a": 0.0, "b": 1.0}
    assert expected_utility({"a": 0.25, "b": 0.75}, utilities) == 0.75
    with pytest.raises(InvalidData, match="sum to 1"):
        expected_utility({"a": 0.5, "b": 0.6}, utilities)
    with pytest.raises(InvalidData, match="sum to 1"):
        expected_utility({"a": -0.5, "b": 1.5}, utilities)
    with pytest.raises(InvalidData, match="'c' is not known"):
        expected_utility({"c": 1.0}, utilities)
    for tol in (0.0, -1.0, 1.0, float("nan")):
        with pytest.raises(InvalidData, match="tol"):
            elicit_probability(lambda event, p: True, "A", tol)
        with pytest.raises(InvalidData, match="tol"):
            elicit_utility(agent(TASTE), TASTE, tol)
