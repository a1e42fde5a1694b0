"""A reactor's yield, raised with 25 runs: which temperature, how many hours, which catalyst?

A run costs a day and its reading is noisy. Leadline chooses each run from those before it.
"""

import os
import time
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import numpy as np

import leadline as ll

PICTURE = Path(__file__).with_name("demo.png")
# How strongly a catalyst speeds up the reaction, and the decay of what it makes.
CATALYSTS = {"nickel": (8.6, 22.0), "palladium": (9.6, 23.0), "zeolite": (9.6, 22.2)}
SPACE = ll.Space(
    temperature=ll.Real(120, 220),
    hours=ll.Real(0.5, 8),
    catalyst=ll.Choice(*CATALYSTS),
)


def reaction_yield(temperature, hours, catalyst):
    """Percent of product: too cold is slow, too hot or too long decomposes it."""
    speed, loss = CATALYSTS[catalyst]
    rate = np.exp(speed - 4200.0 / (temperature + 273.0))
    decay = 0.04 + np.exp(loss - 10500.0 / (temperature + 273.0))
    return 100.0 * rate / (rate - decay) * (np.exp(-decay * hours) - np.exp(-rate * hours))


def highest_yield():
    """The highest yield that there is, and its settings."""
    t, h = np.meshgrid(np.linspace(120, 220, 401), np.linspace(0.5, 8, 301))
    yields = {name: reaction_yield(t, h, name) for name in CATALYSTS}
    name = max(yields, key=lambda name: yields[name].max())
    k = np.argmax(yields[name])
    return yields[name].flat[k], dict(temperature=t.flat[k], hours=h.flat[k], catalyst=name)


def in_a_line(settings):
    """Settings in a line."""
    return "{temperature:.0f} deg C, {hours:.1f} h, {catalyst}".format(**settings)


def main():
    rng = np.random.default_rng(3)

    def run_reactor(settings):
        time.sleep(0.1)  # a day
        return reaction_yield(**settings) + rng.normal(0, 1.0)

    res = ll.maximize(run_reactor, SPACE, budget=25, progress=True)

    print(f"\n{res}\n")
    # The highest reading is also a lucky one; the model knows how much of it is noise.
    belief = res.predict([trial.x for trial in res.trials])
    best = int(np.argmax(belief.mean))
    expected = f"{belief.mean[best]:.1f} +- {2 * belief.std[best]:.1f} %"
    settings = res.trials[best].x
    most, where = highest_yield()
    print(f"Highest expected yield  {expected} at {in_a_line(settings)}")
    print(f"True yield there        {reaction_yield(**settings):.1f} %")
    print(f"Highest true yield      {most:.1f} % at {in_a_line(where)}")

    res.plot().savefig(PICTURE, dpi=130)
    print(f"\nPicture: {os.path.relpath(PICTURE)}")


if __name__ == "__main__":
    main()
