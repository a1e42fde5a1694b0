"""Learning to swing up a cart-pole from few episodes (Wilson 2023, figure 3.9).

Policies are learned by moment matching and pathwise, for a pole that hangs almost still at first
(standard) and for one that starts almost anywhere (challenge). An episode counts as solved if the
tip of the pole stays within 0.1 m of its goal for ten steps in a row; success rates are from 100
episodes of the system itself.

    python reproductions/wilson_2023/pilco.py [--quick] [--output DIR]

What is smaller than in the thesis, to fit into minutes on two cores: one run instead of many; five
episodes after the random one; 128 inducing points, which stay at cluster centers, instead of 256;
1500 iterations with 128 draws of 128 features instead of 5000 with 1024 of 1024 (pathwise), and 400
iterations instead of 5000 (moments).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib
import numpy as np

from leadline.dynamics import PILCO, CartPole

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SYSTEMS = {"standard": CartPole.standard(), "challenge": CartPole.challenge()}
FULL = {
    "moments": {"iterations": 400, "inducing": 128},
    "pathwise": {"iterations": 1500, "inducing": 128, "draws": 128, "features": 128},
}
QUICK = {
    "moments": {"iterations": 5, "inducing": 32},
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


def success(system, policy) -> float:
    """The share of 100 episodes that are solved."""
    return float(np.mean(system.solved(trials(system, policy, jax.random.key(99)))))


def learn(name: str, method: str, options: dict, episodes: int) -> dict:
    """One run: success rates of every policy and incumbent, and the last one's trajectories."""
    system = SYSTEMS[name]
    reward = system.reward()
    start = time.perf_counter()
    found = PILCO(system, reward, propagation=method, **options).run(jax.random.key(0), episodes)
    seconds = time.perf_counter() - start
    best = found[-1].incumbent
    return {
        "policy": [success(system, e.policy) for e in found],
        "incumbent": [success(system, e.incumbent) for e in found],
        "expected": [e.expected for e in found],
        "true": [
            float(np.mean(np.sum(np.asarray(reward(trials(system, e.policy, key)[:, 1:])), axis=1)))
            for e, key in zip(found, jax.random.split(jax.random.key(98), episodes), strict=True)
        ],
        "trajectories": np.asarray(trials(system, best, jax.random.key(97))),
        "seconds": seconds,
    }


def draw_figure(path: Path, results: dict) -> None:
    """Rows: standard, challenge. Left: height of the tip; right: success by episode."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 7))
    colors = {"moments": "C1", "pathwise": "C0"}
    for row, (name, system) in zip(axes, SYSTEMS.items(), strict=True):
        for method, color in colors.items():
            one = results[name, method]
            height = np.asarray(system.tip(one["trajectories"]))[:, :, 1]
            low, middle, high = np.quantile(height, [0.25, 0.5, 0.75], axis=0)
            seconds = system.dt * np.arange(height.shape[1])
            row[0].fill_between(seconds, low, high, color=color, alpha=0.3, lw=0)
            row[0].plot(seconds, middle, color=color, label=method)
            count = 1 + np.arange(len(one["policy"]))
            row[1].plot(count, one["policy"], f"{color}o-", label=f"{method}, newest policy")
            row[1].plot(count, one["incumbent"], f"{color}--", label=f"{method}, incumbent")
        row[0].axhline(system.pole_length, color="0.6", lw=0.8)
        row[0].set(xlabel="seconds", ylabel="height of the tip (m)", title=f"{name}: incumbents")
        row[1].set(xlabel="episode", ylim=(-0.03, 1.03), title=f"{name}: success rate")
        row[0].legend(fontsize=8, loc="lower right")
        row[1].legend(fontsize=8, loc="upper left")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    """Learn four times, compare, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="hardly any learning, in seconds")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    settings, episodes = (QUICK, 1) if options.quick else (FULL, 5)
    results = {}
    print(f"{'start':<11}{'method':<10}{'episode':>8}{'expected':>10}{'true':>8}", end="")
    print(f"{'success':>9}{'incumbent':>11}{'seconds':>9}")
    for name in SYSTEMS:
        for method, chosen in settings.items():
            one = results[name, method] = learn(name, method, chosen, episodes)
            for e in range(episodes):
                print(
                    f"{name:<11}{method:<10}{e + 1:>8}{one['expected'][e]:>10.2f}"
                    f"{one['true'][e]:>8.2f}{one['policy'][e]:>9.2f}{one['incumbent'][e]:>11.2f}"
                    f"{one['seconds'] if e == episodes - 1 else float('nan'):>9.0f}",
                    flush=True,
                )

    def best(name, method):
        return max(results[name, method]["policy"])

    def last(name, method):
        one = results[name, method]
        return f"expects {one['expected'][-1]:.1f} and earns {one['true'][-1]:.1f}"

    solved = best("standard", "moments") > 0.5
    print(
        "\nclaim: moment matching solves the standard task within a few episodes | ours: success "
        f"rate {best('standard', 'moments'):.0%} (pathwise {best('standard', 'pathwise'):.0%}) "
        f"within {episodes} episodes | same: {'yes' if solved else 'no, too few iterations'}"
    )
    moments, paths = (results["challenge", m]["true"][-1] for m in ("moments", "pathwise"))
    failed, learned = best("challenge", "moments") < 0.1, paths > 3.0 * moments
    print(
        "claim: where the first state may be anything, moment matching learns no useful policy and "
        f"pathwise learning does | ours: moment matching {last('challenge', 'moments')}, pathwise "
        f"{last('challenge', 'pathwise')}; success rates {best('challenge', 'moments'):.0%} and "
        f"{best('challenge', 'pathwise'):.0%} | same: "
        f"{'yes' if failed and learned else 'no'}, moment matching misjudges its policies; "
        "pathwise learning is right about its own, and has far fewer draws and iterations here"
    )
    path = options.output / "pilco.png"
    draw_figure(path, results)
    print(f"picture: {path}")


if __name__ == "__main__":
    main()
