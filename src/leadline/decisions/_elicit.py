"""Beliefs and tastes from answers: what somebody prefers says what it is worth and how likely.

Notation: a lottery is a dictionary from outcomes to their probabilities; best and worst outcome
have utility 1 and 0.

    u(g) = p  where the outcome g is as good as the lottery {best: p, worst: 1 - p}
    P(A) = p  where winning if A happens is as good as winning with probability p

The first is the standard gamble (von Neumann and Morgenstern 1947; Wilson 2023, eqs. 1.9 and 1.16),
the second compares an event with a part of many fair coin flips (Savage 1954; Wilson 2023, eqs.
1.26 and 1.27). Both are found by bisection.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from leadline.boundary import InvalidData, shorten

_SUM = 1e-9


def elicit_utility(
    prefers: Callable[[dict[Any, float], dict[Any, float]], bool],
    outcomes: Iterable[Any],
    tol: float = 1e-3,
) -> dict[Any, float]:
    """The utility of each outcome between 0, the worst, and 1, the best, within `tol` / 2.

    Asks four questions for each outcome to find the best and the worst one, and to see that no
    answer contradicts another; then log2(1 / tol) for each of the others.

    Args:
        prefers: `prefers(a, b)` is True if lottery `a` is better than lottery `b`.
        outcomes: at least two. If one of them cannot be the key of a dictionary (a list, say), all
            of them are named by their positions 0, 1, ... in lotteries and in the answer.
        tol: where the bisection stops.
    """
    _check_tolerance(tol)
    names = _names(list(outcomes))
    best = worst = names[0]
    differs = False
    for name in names[1:]:
        if prefers({name: 1.0}, {best: 1.0}):
            best, differs = name, True
        if prefers({worst: 1.0}, {name: 1.0}):
            worst, differs = name, True
    if not differs:
        raise InvalidData(
            "No outcome is preferred to another, so that nothing can be measured: every utility "
            "would do."
        )
    for name in names:
        for better, other in ((name, best), (worst, name)):
            if better != other and prefers({better: 1.0}, {other: 1.0}):
                raise InvalidData(
                    f"The answers contradict each other: {shorten(best)} came out best and "
                    f"{shorten(worst)} worst, but {shorten(better)} is preferred to "
                    f"{shorten(other)}."
                )
    utilities = {}
    for name in names:

        def better_than(p: float, name: Any = name) -> bool:
            return prefers({name: 1.0}, {best: p, worst: 1.0 - p})

        if name in (best, worst):
            utilities[name] = 1.0 if name == best else 0.0
        else:
            lower, upper, _ = _bisect(better_than, tol)
            utilities[name] = 0.5 * (lower + upper)
    return utilities


class ElicitedProbability(float):
    """A probability between `lower` and `upper`, from so many `questions`."""

    lower: float
    upper: float
    questions: int

    def __new__(cls, lower: float, upper: float, questions: int) -> ElicitedProbability:
        """The middle of the interval."""
        made = super().__new__(cls, 0.5 * (lower + upper))
        made.lower, made.upper, made.questions = lower, upper, questions
        return made

    def __getnewargs__(self) -> tuple[float, float, int]:
        return self.lower, self.upper, self.questions


def elicit_probability(
    prefers: Callable[[Any, float], bool], event: Any, tol: float = 2.0**-20
) -> ElicitedProbability:
    """How likely somebody believes an event to be, within `tol` / 2.

    Args:
        prefers: `prefers(event, fraction)` is True if one would rather win if the event happens
            than win with probability `fraction`. Fractions are dyadic: `r` fair coin flips and a
            part of their 2^r outcomes win with such a probability.
        event: is handed on to `prefers`.
        tol: where the bisection stops.
    """
    _check_tolerance(tol)
    return ElicitedProbability(*_bisect(lambda p: prefers(event, p), tol))


def expected_utility(lottery: Mapping[Any, float], utilities: Mapping[Any, float]) -> float:
    """The utility of a lottery (Wilson 2023, eq. 1.17)."""
    unknown = [name for name in lottery if name not in utilities]
    if unknown:
        raise InvalidData(f"The utility of outcome {shorten(unknown[0])} is not known.")
    total = math.fsum(lottery.values())
    if any(p < 0 for p in lottery.values()) or not abs(total - 1.0) < _SUM:
        raise InvalidData(
            f"The probabilities of a lottery are not negative and sum to 1, got {shorten(lottery)}."
        )
    return math.fsum(p * utilities[name] for name, p in lottery.items())


def _bisect(above: Callable[[float], bool], tol: float) -> tuple[float, float, int]:
    """Where `above` turns from True to False between 0 and 1, and how often it was asked."""
    lower, upper, questions = 0.0, 1.0, 0
    while upper - lower > tol:
        middle = 0.5 * (lower + upper)
        questions += 1
        if above(middle):
            lower = middle
        else:
            upper = middle
    return lower, upper, questions


def _check_tolerance(tol: float) -> None:
    # Below this the middle of an interval near 1 is one of its ends.
    if not 2.0**-50 <= tol < 1.0:
        raise InvalidData(f"tol must be between 2^-50 and 1, got {tol}.")


def _names(outcomes: list[Any]) -> list[Any]:
    if not all(_has_hash(outcome) for outcome in outcomes):
        outcomes = list(range(len(outcomes)))
    if len(set(outcomes)) < max(len(outcomes), 2):
        raise InvalidData(f"outcomes must be at least two different ones, got {shorten(outcomes)}.")
    return outcomes


def _has_hash(outcome: Any) -> bool:
    """A tuple with a list in it says that it has one, but has none."""
    try:
        hash(outcome)
    except TypeError:
        return False
    return True
