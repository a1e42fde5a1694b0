"""Learning to swing up a cart-pole from few episodes (Wilson 2023, figure 3.9).

Policies are learned by moment matching and pathwise, for a pole that hangs almost still at first
(standard) and for one that starts almost anywhere (challenge). An episode counts as solved if the
tip of the pole stays within 0.1 m of its goal for ten steps in a row; success rates are from 100
episodes of the system itself.

    python -m reproductions.wilson_2023.pilco [--quick] [--output DIR]

What is smaller than in the thesis, to fit into minutes on two cores: one run instead of many; seven
episodes after the random one; 64 inducing points, which stay at cluster centers, instead of 256;
3000 iterations with 32 draws of 32 features instead of 5000 with 1024 of 1024 (pathwise), and 400
iterations instead of 5000 (moments).

What is different: both methods search from several policies at once in each episode, with step
sizes that begin at 0.03 instead of 0.01 and fall to a ninth of that instead of a hundredth, and
gradients of draws forget (`leadline.dynamics.PILCO`, arguments `starts` and `memory`). From one
policy, by true gradients, draws found no policy for either task in more time.

Runs differ: with two other keys, incumbents that were learned pathwise succeeded in 0% and 85% of
the standard task's episodes after seven (the first of them was still improving, with a return of
10.6), and in 52% and 80% of the challenge's.
"""

from __future__ import annotations

import time
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib
import numpy as np

from leadline.dynamics import PILCO, CartPole
from reproductions._script import claim, options, which

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SYSTEMS = {"standard": CartPole.standard(), "challenge": CartPole.challenge()}
FULL = {
    "moments": {"iterations": 400, "inducing": 64},
    "pathwise": {"iterations": 3000, "inducing": 64, "draws": 32, "features": 32},
}
QUICK = {
    "moments": {"iterations": 6, "inducing": 32},
    "pathwise": {"iterations": 30, "inducing": 32, "draws": 16, "features": 32},
}


@eqx.filter_jit
def trials(system, policy, key, n=100, steps=30):
    """Trajectories of the system itself under a policy, (n, steps + 1, 4)."""
    starts = system.start.sample(key, n)

    def step(x, _):
        new = jax.vmap(system.step)(x, policy(x))
        return new, new

    _, visited = jax.lax.scan(step, starts, None, length=steps)
    return jnp.concatenate([starts[:, None], jnp.moveaxis(visited, 0, 1)], axis=1)


def judge(system, policy) -> tuple[float, float]:
    """The share of 100 episodes that are solved, and their average return."""
    visited = trials(system, policy, jax.random.key(99))
    earned = np.asarray(system.reward()(visited[:, 1:]))
    return float(np.mean(system.solved(visited))), float(earned.sum(axis=1).mean())


def learn(name: str, method: str, options: dict, episodes: int) -> dict:
    """One run: what every policy and incumbent can do, and the last incumbent's trajectories."""
    system = SYSTEMS[name]
    start = time.perf_counter()
    task = PILCO(system, system.reward(), propagation=method, **options)
    found = task.run(jax.random.key(0), episodes)
    seconds = time.perf_counter() - start
    newest = np.array([judge(system, e.policy) for e in found])
    incumbent = np.array([judge(system, e.incumbent) for e in found])
    return {
        "expected": [e.expected for e in found],
        "success": newest[:, 0],
        "return": newest[:, 1],
        "incumbent success": incumbent[:, 0],
        "incumbent return": incumbent[:, 1],
        "trajectories": np.asarray(trials(system, found[-1].incumbent, jax.random.key(97))),
        "seconds": seconds,
    }


def draw_figure(path: Path, results: dict) -> None:
    """Rows: standard, challenge. The height of the tip, and success and return by episode."""
    figure, axes = plt.subplots(2, 3, figsize=(15, 7))
    colors = {"moments": "C1", "pathwise": "C0"}
    for row, (name, system) in zip(axes, SYSTEMS.items(), strict=True):
        for method, color in colors.items():
            one = results[name, method]
            height = np.asarray(system.tip(one["trajectories"]))[:, :, 1]
            low, middle, high = np.quantile(height, [0.25, 0.5, 0.75], axis=0)
            seconds = system.dt * np.arange(height.shape[1])
            row[0].fill_between(seconds, low, high, color=color, alpha=0.3, lw=0)
            row[0].plot(seconds, middle, color=color, label=method)
            count = 1 + np.arange(len(one["success"]))
            for panel, what in zip(row[1:], ("success", "return"), strict=True):
                panel.plot(count, one[what], f"{color}o-", label=f"{method}, newest policy")
                panel.plot(count, one[f"incumbent {what}"], f"{color}--", label="its incumbent")
        row[0].axhline(system.pole_length, color="0.6", lw=0.8)
        row[0].set(xlabel="seconds", ylabel="height of the tip (m)", title=f"{name}: incumbents")
        row[1].set(xlabel="episode", ylim=(-0.03, 1.03), title=f"{name}: success rate")
        row[2].set(xlabel="episode", ylim=(-0.5, 25.0), title=f"{name}: return")
        row[0].legend(fontsize=8, loc="lower right")
        row[2].legend(fontsize=8, loc="upper left")
        for panel in row[1:]:
            panel.set_xticks(count)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    """Learn four times, compare, and draw."""
    given = options(__doc__, quick="hardly any learning, in seconds")
    settings, episodes = (QUICK, 1) if given.quick else (FULL, 7)
    results = {}
    columns = "expected", "return", "success", "incumbent return", "incumbent success"
    print(f"{'start':<11}{'method':<10}{'episode':>7}", end="")
    print("".join(f"{column:>19}" for column in columns))
    for name in SYSTEMS:
        for method, chosen in settings.items():
            one = results[name, method] = learn(name, method, chosen, episodes)
            for e in range(episodes):
                print(f"{name:<11}{method:<10}{e + 1:>7}", end="")
                print("".join(f"{one[column][e]:>19.2f}" for column in columns))
            print(f"{one['seconds']:.0f} s", flush=True)

    def last(name, method):
        one = results[name, method]
        return (
            f"{method} expects {one['expected'][-1]:.1f}, earns {one['return'][-1]:.1f} and "
            f"succeeds in {one['incumbent success'][-1]:.0%}"
        )

    def success(name, method):
        return results[name, method]["incumbent success"][-1]

    first = {
        method: 1 + int(np.argmax(results["standard", method]["success"] > 0.8))
        for method in settings
        if np.any(results["standard", method]["success"] > 0.8)
    }
    print()
    claim(
        "moment matching solves the standard task within a few episodes, and so do function draws",
        "success above 80% "
        + (", ".join(f"with {m} after {e}" for m, e in first.items()) or "never")
        + f" episodes; at last {success('standard', 'moments'):.0%} (moments) and "
        f"{success('standard', 'pathwise'):.0%} (pathwise)",
        which({m: m in first for m in settings}),
    )
    apart = success("challenge", "pathwise") - success("challenge", "moments")
    useless = success("challenge", "moments") < 0.1
    claim(
        "where the first state may be anything, moment matching learns no useful policy and "
        "pathwise learning does",
        f"{last('challenge', 'moments')}; {last('challenge', 'pathwise')}",
        "yes" if apart > 0.2 and useless else "partly" if apart > 0.2 else "no",
        "" if useless else "moments are worse, but not useless" if apart > 0.2 else "",
    )
    lost = {
        method: max(
            np.max(one["incumbent return"] - one["return"])
            for (_, m), one in results.items()
            if m == method
        )
        for method in FULL
    }
    forgets = lost["pathwise"] > 1.0 > lost["moments"]
    claim(
        "pathwise learning may forget what a policy could do, so that incumbents are better than "
        "newer policies; moment matching hardly does",
        f"the newest policy's return is at most {lost['pathwise']:.1f} below the incumbent's "
        f"pathwise, and {lost['moments']:.1f} with moments",
        forgets,
        "" if forgets else "the search begins at the incumbent, which it may return to",
    )
    path = given.output / "pilco.png"
    draw_figure(path, results)


if __name__ == "__main__":
    main()
