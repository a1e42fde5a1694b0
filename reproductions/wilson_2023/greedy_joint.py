"""Figures 2.5 and 2.6 of Wilson (2023): batches chosen greedily and jointly.

The setup is that of `inner_search.py`. Joint choice moves the q calls of a batch together; greedy
choice takes one after the other, each the best beside those before it, with a q-th part of the
budget for each.

What differs is what differs there, and: d = q = 4 and 8 but not 16. The budget is 2^9 evaluations
of a batch, and 2^10 for d = q = 8, where rounds are fewer: a greedy search has 128 evaluations,
half of the smallest case of the thesis.

Run it as `python -m reproductions.wilson_2023.greedy_joint [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

from reproductions._script import claim, options
from reproductions.wilson_2023._batch_optimization import (
    SEARCHES,
    Choice,
    Results,
    compare,
    draw_figure,
    hartmann_problem,
    process_draw,
    verdict,
)

TRIED = ("random", "cmaes", "adam")
KINDS = {"joint": "--", "greedy": "-"}


def named(search: str, batch: str) -> str:
    """The name of a choice."""
    return f"{SEARCHES[search][0]}, {batch}"


def choices(budget: int) -> dict[str, Choice]:
    """Both kinds of batches, with each search."""
    return {named(s, batch): Choice(s, batch, budget) for s in TRIED for batch in KINDS}


def claims(panels: list[Results]) -> None:
    """The findings of the thesis, in terms of log10 regret over the second half of rounds."""
    gaps = {
        panel.title: [panel.gap(named(s, "greedy"), named(s, "joint")) for s in TRIED]
        for panel in panels
    }
    searches = ", ".join(SEARCHES[s][0] for s in TRIED)
    shown = {title: ", ".join(map(str, found)) for title, found in gaps.items()}
    print()
    for title, found in gaps.items():
        claim(
            f"greedy batches perform on par with joint ones or better, with every search ({title})",
            f"log10 regret of the second half of rounds is lower by {shown[title]} ({searches})",
            verdict(found, equal="yes"),
        )
    low, high = (sum(gap.mean for gap in gaps[panel.title]) / len(TRIED) for panel in panels[:2])
    claim(
        "greedy batches pull ahead as the dimension of the batch grows",
        f"averaged over searches {low:+.2f} for {panels[0].title} and {high:+.2f} for "
        f"{panels[1].title}",
        "yes" if high > max(low, 0.0) else "no",
    )
    leads = [
        [panel.gap(named("adam", "joint"), named(s, "joint")) for s in ("random", "cmaes")]
        for panel in panels[:2]
    ]
    grows = [after.mean > before.mean for before, after in zip(*leads, strict=True)]
    claim(
        "the lead of gradients grows with the dimension of the batch (end of section 2.4)",
        "joint Adam is below random search and CMA-ES by "
        + "; ".join(
            f"{lead[0]} and {lead[1]} ({panel.title})"
            for lead, panel in zip(leads, panels[:2], strict=True)
        ),
        "yes" if all(grows) else "partly" if any(grows) else "no",
    )


def main() -> None:
    """Run all trials, compare, and draw."""
    given = options(__doc__)
    trials, rounds, budget = (2, 2, 128) if given.quick else (5, 10, 2**9)
    dims = (2, 3) if given.quick else (4, 8)
    panels = [
        compare(
            f"draws of a process, d = q = {d}",
            [process_draw(d, trial) for trial in range(trials)],
            choices(budget * d // dims[0]),
            d,
            rounds * dims[0] // d,
        )
        for d in dims
    ]
    problems = [hartmann_problem()] * trials
    title = f"Hartmann-6, q = {dims[0]}"
    panels.append(compare(title, problems, choices(budget), dims[0], rounds))
    claims(panels)
    styles = {named(s, batch): (SEARCHES[s][1], KINDS[batch]) for s in TRIED for batch in KINDS}
    draw_figure(given.output / "greedy_joint.png", panels, styles)


if __name__ == "__main__":
    main()
