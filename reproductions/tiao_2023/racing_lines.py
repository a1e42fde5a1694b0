"""Figure 5.8 of Tiao (2023): BORE on racing lines, where a Gaussian process is at home.

The thesis minimizes lap times on three tracks, with 12, 20 and 21 inputs, by other people's
simulators. `_racing.py` has a lap time of the same kind: an input is how far the line leaves the
middle of the track at a gate. It is a smooth function, up to kinks, of 12 and of 20 inputs. The
fastest line touches the edge of the track at most gates. So a search that ends on walls, as
climbing the log odds does, is no handicap here.

BORE with a network and with a forest is as in the thesis: a third of the calls are good, none is
random; the network's log odds are climbed along gradients, the forest's by differential evolution.
"BORE" and "LFBO" without a name behind them have Leadline's defaults. All begin with 10 calls that
fill the space. There are 60 calls and 8 seeds, where the thesis has 100.

Run it as `python -m reproductions.tiao_2023.racing_lines [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

import numpy as np

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
    listed,
    racing,
    with_defaults,
)

BORE = ["BORE-MLP", "BORE-forest", "BORE"]
OTHERS = ["TPE", "differential evolution", "random"]


def contestants(initial: int) -> dict[str, Contestant]:
    """Everything that takes part."""
    return {
        "BORE-MLP": as_in_the_thesis("mlp", "gradient", 500, initial),
        "BORE-forest": as_in_the_thesis("forest", "evolution", 1000, initial),
        **with_defaults(initial),
        "differential evolution": evolve,
        "random": by(ll.methods.Random),
    }


def claims(results: Results) -> None:
    """What the thesis says of racing lines."""
    what = results.problem.name
    best = min(results.final(name) for name in OTHERS)
    claim(
        f"BORE beats everything but the Gaussian process, {what}",
        f"seconds above the fastest lap: {listed(results, [*BORE, 'LFBO', 'GP', *OTHERS])}",
        which({name: results.final(name) < best for name in BORE}),
    )
    # Of its calls the thesis says so after about 40 of 50.
    calls = results.regrets["GP"].shape[1]
    middle = results.initial + round(0.8 * (calls - results.initial))
    networks = ["BORE-MLP", "BORE"]
    ahead = {
        f"{name} after {at} calls": results.after(name, at) <= results.after("GP", at)
        for name in networks
        for at in (middle, calls)
    }
    claim(
        f"a network is as good as the Gaussian process or ahead for most of the calls, {what}",
        f"after {middle} calls: "
        + ", ".join(f"{name} {results.after(name, middle):.3g}" for name in (*networks, "GP"))
        + f"; after {calls}: {listed(results, [*networks, 'GP'])}",
        which(ahead),
    )


def main() -> None:
    """Run both tracks, compare, and draw."""
    given = options(__doc__)
    budget, initial, seeds = (14, 10, 1) if given.quick else (60, 10, 8)
    panels = []
    for gates in (12,) if given.quick else (12, 20):
        results = compare(racing(gates), contestants(initial), budget, initial, seeds)
        assert all(np.all(regret >= -1e-3) for regret in results.regrets.values())
        panels.append(results)
    print()
    for results in panels:
        claims(results)
    draw(given.output / "racing_lines.png", panels, logarithmic=True)


if __name__ == "__main__":
    main()
