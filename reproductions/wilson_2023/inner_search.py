"""Figures 2.2 and 2.3 of Wilson (2023): searches for the best batch, and what follows from them.

A batch of q calls is worth its expected improvement, an average over 128 draws. The batch that is
worth most is looked for with the same number of evaluations by random search, by CMA-ES and along
gradients: by Adam, whose steps have fresh draws (stochastic gradient ascent in the thesis), and by
BFGS with fixed, evenly spread draws. All of them move the q calls together.

- draws of a known process, d = q = 4, with a smaller and a larger budget (figure 2.2);
- Hartmann's function, d = 6 and q = 4, with a model that is fitted (figure 2.3).

What differs: 5 trials of 43 calls instead of 32 longer ones, 2^9 and 2^11 evaluations for a batch
instead of 2^12 to 2^16, and d = q = 4 only; `greedy_joint.py` has d = q = 8. An evaluation counts
as one, with or without its gradient, where the thesis gives all searches the same time; the tables
say how long they took relative to the first one. CMA-ES has the same draws for all evaluations of a
round, in the thesis it has fresh ones. Bands are quartiles, not standard errors.

Run it as `python -m reproductions.wilson_2023.inner_search [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

from reproductions._script import claim, options
from reproductions.wilson_2023._batch_optimization import (
    SEARCHES,
    Choice,
    Gap,
    Results,
    compare,
    draw_figure,
    hartmann_problem,
    process_draw,
    verdict,
)

RANDOM, CMAES, ADAM, BFGS = (name for name, _ in SEARCHES.values())


def choices(budget: int) -> dict[str, Choice]:
    """All searches, for joint batches."""
    return {name: Choice(search, "joint", budget) for search, (name, _) in SEARCHES.items()}


def claims(few: Results, many: Results, hartmann: Results) -> None:
    """The findings of the thesis, in terms of log10 regret over the second half of rounds."""
    panels = (few, many, hartmann)
    where = "for " + "; ".join(panel.title for panel in panels)
    gaps = [panel.gap(ADAM, name) for panel in panels for name in (RANDOM, CMAES)]
    pairs = [f"{gaps[i]} and {gaps[i + 1]}" for i in range(0, len(gaps), 2)]
    print()
    claim(
        "gradients consistently match or surpass searches without them (Adam)",
        f"log10 regret of the second half of rounds is lower than that of random search and of "
        f"CMA-ES by {'; '.join(pairs)} {where}",
        verdict(gaps),
    )
    gaps = [panel.gap(BFGS, name) for panel in panels for name in (RANDOM, CMAES)]
    pairs = [f"{gaps[i]} and {gaps[i + 1]}" for i in range(0, len(gaps), 2)]
    claim(
        "gradients consistently match or surpass searches without them (BFGS, which the thesis "
        "does not show)",
        f"lower by {'; '.join(pairs)}",
        verdict(gaps),
    )
    gains = {name: Gap.of(few.late(name) - many.late(name)) for name in few.trials}
    claim(
        "more time for the inner search improves performance",
        "the larger budget lowers log10 regret by "
        + ", ".join(f"{gain} ({name})" for name, gain in gains.items()),
        verdict(list(gains.values())),
    )
    gaps = [panel.gap(ADAM, BFGS) for panel in panels]
    claim(
        "Adam with fresh draws matches or outperforms searches with fixed draws",
        f"log10 regret of Adam is lower than that of BFGS by {'; '.join(map(str, gaps))}",
        verdict(gaps),
    )


def main() -> None:
    """Run all trials, compare, and draw."""
    given = options(__doc__)
    trials, rounds, budgets = (2, 2, (64, 128)) if given.quick else (5, 10, (2**9, 2**11))
    d = q = 2 if given.quick else 4
    process = f"draws of a process, d = q = {d}"
    draws = [process_draw(d, trial) for trial in range(trials)]
    few, many = (
        compare(f"{process}, N = {budget}", draws, choices(budget), q, rounds) for budget in budgets
    )
    hartmann = compare(
        f"Hartmann-6, q = {q}, N = {budgets[1]}",
        [hartmann_problem()] * trials,
        choices(budgets[1]),
        q,
        rounds,
    )
    claims(few, many, hartmann)
    styles = {name: (color, "-") for name, color in SEARCHES.values()}
    draw_figure(given.output / "inner_search.png", [few, many, hartmann], styles)


if __name__ == "__main__":
    main()
