"""The verbs: a question, a function and a budget in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from leadline.boundary import InvalidData
from leadline.campaign._loop import run
from leadline.campaign._options import CampaignOptions, Options
from leadline.questions import Integral, Integrate, Maximize, Minimize, Optimum


def minimize(
    f: Callable[[Any], Any],
    space: Any,
    *,
    budget: int,
    method: Any = "gp",
    seed: int = 0,
    constraints: int = 0,
    tolerance: float | None = None,
    **options: Unpack[Options],
) -> Optimum:
    """Where is a function lowest?

    Args:
        f: takes a point, an array (d,) or a dict as the space says, and returns a number, or
            (number, constraint values) if there are constraints. A dict of anything else worth
            keeping may come last. A call that raises or returns something else is a failed trial;
            the campaign goes on. With `vectorized=True` it takes several points, an array (b, d)
            or a list of dicts, and returns b of those.
        space: a `Space`, or (low, high) of each input.
        budget: how many calls; those that fail and those of earlier runs on the same journal too.
        method: "gp", "thompson", "bore", "lfbo", "tpe", "random", or an object of `ll.methods`.
        seed: of everything random.
        constraints: how many constraint values `f` returns. A point is allowed where they are all
            at most 0; the answer is the best allowed point.
        tolerance: stop when no call is expected to improve on the best value by more.
        **options: how to run, see `CampaignOptions`: executor, workers, batch, journal, timeout,
            seconds, progress, callback, rerun, lease, given, vectorized, max_failures.

    Returns:
        The best point `x`, its `value`, every one of the `trials`, and what is known around it.
    """
    question = Minimize(space, method, seed, constraints, tolerance)
    return run(question, f, CampaignOptions.of(budget, options))


def maximize(
    f: Callable[[Any], Any],
    space: Any,
    *,
    budget: int,
    method: Any = "gp",
    seed: int = 0,
    constraints: int = 0,
    tolerance: float | None = None,
    **options: Unpack[Options],
) -> Optimum:
    """Where is a function highest? The arguments are those of `minimize`."""
    question = Maximize(space, method, seed, constraints, tolerance)
    return run(question, f, CampaignOptions.of(budget, options))


def integrate(
    f: Callable[[Any], Any] | None = None,
    measure: Any = None,
    *,
    log_f: Callable[[Any], Any] | None = None,
    budget: int,
    method: str = "auto",
    seed: int = 0,
    tolerance: float | None = None,
    **options: Unpack[Options],
) -> Integral:
    """What is the integral of a function against a measure?

    Args:
        f: takes a point, an array (d,), and returns a number. A dict of anything else worth
            keeping may come after it. A call that raises or returns something else is a failed
            trial; the campaign goes on. With `vectorized=True` it takes an array (b, d) and returns
            b of those.
        measure: one of `ll.measures`.
        log_f: in place of `f`, a function that returns the logarithm of the integrand, which may be
            minus infinity.
        budget: how many calls; those that fail and those of earlier runs on the same journal too.
        method: "bq" (the integrand is a Gaussian process), "wsabi" (its square root is, for
            integrands that are not negative), or "auto": "wsabi" unless a value is negative.
        seed: of everything random.
        tolerance: stop when the standard deviation of the integral is at most so large a part of
            it.
        **options: how to run, see `CampaignOptions`: executor, workers, batch, journal, timeout,
            seconds, progress, callback, rerun, lease, given, vectorized, max_failures.

    Returns:
        The integral's `mean` and `std`, also as `log_mean` and `log_std`, its `interval()`, every
        one of the `trials`, and what is known of the integrand.
    """
    if (f is None) == (log_f is None):
        raise InvalidData("Give the integrand f, or its logarithm as log_f=.")
    if measure is None:
        raise InvalidData("measure is missing: ll.measures.Uniform([0, 0], [1, 1]), say.")
    question = Integrate(measure, method, seed, log_f is not None, tolerance)
    return run(question, f or log_f, CampaignOptions.of(budget, options))
