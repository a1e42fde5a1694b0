"""Figures 2.7 and 2.8 of Wilson (2023): greedy batches with naive and Rao-Blackwellized averages.

What a call adds to those that are chosen already is an average over draws of all values, or, given
draws of the values of the others, an average of closed forms. The setup is that of
`inner_search.py`; each call is found by Adam, whose steps have fresh draws.

- draws of a known process, d = q = 4: 128 draws for the naive average and 16 for the other one, as
  in figure 2.7, and 64 for both;
- Hartmann's function, q = 8, 64 draws for both, and more calls: rewards are sparse at the end
  (figure 2.8).

What differs: 5 trials instead of 32, Adam only, and 131 calls of Hartmann's function; how many the
thesis has is in a figure only. The budget of a batch is 2^10 evaluations.

Run it as `python -m reproductions.wilson_2023.rao_blackwell [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

import numpy as np

from reproductions._script import claim, options
from reproductions.wilson_2023._batch_optimization import (
    Choice,
    Results,
    compare,
    draw_figure,
    hartmann_problem,
    process_draw,
    verdict,
)

STYLES = {
    "naive, 128 draws": ("#e8b04a", ":"),
    "Rao-Blackwell, 16 draws": ("#b2182b", ":"),
    "naive, 64 draws": ("#e8a21d", "-"),
    "Rao-Blackwell, 64 draws": ("#b2182b", "-"),
}


def choices(names: list[str], budget: int) -> dict[str, Choice]:
    """The choices that the names say."""
    return {
        name: Choice("adam", "greedy", budget, int(name.split()[-2]), name.startswith("Rao"))
        for name in names
    }


def worthless(results: Results, name: str) -> float:
    """The share of late batches that the search thought to be worth nothing at all."""
    worth = np.array([trial.worth for trial in results.trials[name]])
    return float(np.mean(worth[:, worth.shape[1] // 2 :] <= 0))


def claims(process: Results, hartmann: Results) -> None:
    """The findings of the thesis, in terms of log10 regret."""
    naive_many, few, naive, many = STYLES
    gap, fair = process.gap(few, naive_many), process.gap(many, naive)
    print()
    claim(
        "Rao-Blackwellized averages are at least as good as naive ones, unless they have few draws "
        "and batches are small",
        f"log10 regret of the second half of rounds is lower by {gap} with 16 draws instead of "
        f"128, and by {fair} with 64 draws each ({process.title})",
        verdict([fair], equal="yes"),
    )
    half = hartmann.regret(naive).shape[1] // 2
    logs = {n: np.log10(np.maximum(hartmann.regret(n), 1e-5)) for n in (naive, many)}
    early = np.median(logs[naive][:, : half // 2 + 1] - logs[many][:, : half // 2 + 1])
    at_end = {name: np.median(log[:, -1]) for name, log in logs.items()}
    gap = hartmann.gap(many, naive)
    claim(
        "Hartmann-6, q = 8: both are virtually identical early, and Rao-Blackwellized averages "
        "strongly outperform naive ones late",
        f"log10 regret is lower by {early:+.2f} in the first quarter of rounds (median) and by "
        f"{gap} in the second half; at the end {at_end[many]:.2f} against {at_end[naive]:.2f}",
        "yes" if gap.better else "no" if gap.mean < 0 else "partly, within two standard errors",
    )
    claim(
        "late in a run no draw of a naive average improves on anything",
        f"{100 * worthless(hartmann, naive):.0f}% of naive batches of the second half of rounds "
        f"were thought to be worth exactly 0, and {100 * worthless(hartmann, many):.0f}% of the "
        "others",
        "yes" if worthless(hartmann, naive) > worthless(hartmann, many) else "no",
    )


def main() -> None:
    """Run all trials, compare, and draw."""
    given = options(__doc__)
    trials, rounds, budget = (2, 2, 128) if given.quick else (5, 10, 2**10)
    small, large = (2, 2) if given.quick else (4, 8)
    process = compare(
        f"draws of a process, d = q = {small}",
        [process_draw(small, trial) for trial in range(trials)],
        choices(list(STYLES), budget),
        small,
        rounds,
    )
    hartmann = compare(
        f"Hartmann-6, q = {large}",
        [hartmann_problem()] * trials,
        choices(list(STYLES)[2:], budget),
        large,
        3 * rounds // 2 + 1,
    )
    claims(process, hartmann)
    draw_figure(given.output / "rao_blackwell.png", [process, hartmann], STYLES)


if __name__ == "__main__":
    main()
