"""Figures 5.5 and 5.6 of Tiao (2023): BORE on tables of networks and of architectures.

The thesis uses HPOBench (a network's settings, 62 208 points) and NASBench-201 (architectures,
15 625 points). These tables are not at hand. Two others stand in for them (`bench/tabular.py`): a
network's settings on scikit-learn's diabetes data, 4608 points, all of them trained; and six edges
with five operations each, 15 625 points, whose values are sums of effects of operations and of
pairs of them.

BORE with a network, a forest and boosted trees is as in the thesis: a third of the calls are good,
none is random, and the highest log odds are looked for among 500 random points. "BORE" and "LFBO"
without a name behind them have Leadline's defaults. All begin with 10 calls that fill the space;
evolution and random search begin at random. There are 100 calls and 15 seeds, where the thesis has
some hundreds and 100; SMAC and BORE with a process are not here.

Run it as `python -m reproductions.tiao_2023.bore_tables [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

import leadline as ll
from reproductions._script import claim, options, which
from reproductions.tiao_2023._contests import (
    Contestant,
    Results,
    as_in_the_thesis,
    by,
    compare,
    draw,
    evolve,
    has_boosting,
    listed,
    tabular,
    with_defaults,
)

CANDIDATES = 500
TREES = ("BORE-forest", "BORE-boosting")
BASELINES = ["GP", "TPE", "regularized evolution", "random"]


def contestants(initial: int) -> dict[str, Contestant]:
    """Everything that takes part."""
    trees = {"BORE-forest": "forest"} | ({"BORE-boosting": "boosting"} if has_boosting() else {})
    bore = {"BORE-MLP": "mlp", **trees}
    return {
        **{name: as_in_the_thesis(of, "random", CANDIDATES, initial) for name, of in bore.items()},
        **with_defaults(initial),
        "regularized evolution": evolve,
        "random": by(ll.methods.Random),
    }


def claims(results: Results) -> None:
    """What the thesis says of such a table; ties count as reached."""
    what = results.problem.name
    bore = [name for name in results.regrets if name.startswith("BORE-")]
    if what.startswith("network"):
        trees = [name for name in TREES if name in results.regrets]
        best = min(results.final(name) for name in BASELINES)
        claim(
            "BORE with a forest and with boosted trees beats all baselines on tables of networks",
            f"final regret: {listed(results, trees + BASELINES)}",
            which({name: results.final(name) <= best for name in trees}),
        )
        claim(
            "every BORE beats TPE on tables of networks, but for the network on one of four",
            f"regret on average over calls: TPE {results.anytime('TPE'):.3g}, "
            + ", ".join(f"{name} {results.anytime(name):.3g}" for name in bore),
            which({name: results.anytime(name) < results.anytime("TPE") for name in bore}),
        )
    else:
        best = min(results.final(name) for name in BASELINES)
        claim(
            "every BORE has a lower final regret than all baselines on tables of architectures",
            f"final regret: {listed(results, bore + BASELINES)}",
            which({name: results.final(name) <= best for name in bore}),
        )
        wanted = [n for n in ("BORE-MLP", "BORE-forest", "BORE-boosting") if n in bore]
        order = [name for name in results.order() if name in wanted]
        claim(
            "anytime, the order is network, forest, boosted trees",
            ", ".join(f"{n} {results.anytime(n):.3g}" for n in order) + " on average over calls",
            "yes"
            if order == wanted
            else "partly, the network is first"
            if order[0] == "BORE-MLP"
            else "no",
        )
    thesis = min(bore, key=results.anytime)
    claim(
        f"(not in the thesis) our defaults are better than those of the thesis, {what}",
        f"average regret BORE {results.anytime('BORE'):.3g}, LFBO {results.anytime('LFBO'):.3g}; "
        f"the best of the thesis's, {thesis}, {results.anytime(thesis):.3g}",
        which({n: results.anytime(n) < results.anytime(thesis) for n in ("BORE", "LFBO")}),
    )


def main() -> None:
    """Run both tables, compare, and draw."""
    given = options(__doc__)
    budget, initial, seeds = (14, 10, 1) if given.quick else (100, 10, 15)
    # The table of networks may have to be made first, which takes minutes.
    names = ["architecture"] if given.quick else ["architecture", "network"]
    panels = [
        compare(tabular(name), contestants(initial), budget, initial, seeds) for name in names
    ]
    print()
    for results in panels:
        claims(results)
    draw(given.output / "bore_tables.png", panels, logarithmic=False)


if __name__ == "__main__":
    main()
