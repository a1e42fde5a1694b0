"""The picture of the page on a first campaign: the coolest heat sink of twenty."""

import math
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import leadline as ll

METALS = {"brass": 110.0, "aluminum": 205.0, "copper": 390.0}


def temperature(design):
    """Degrees of a chip under fins with gaps between them, in millimeters."""
    thickness, gap = design["thickness"], design["gap"]
    fins = 50 / (thickness + gap)
    transfer = 80 / gap
    slimness = math.sqrt(12 * transfer / (METALS[design["metal"]] * thickness))
    surface = 0.006 * fins * math.tanh(slimness) / slimness
    return 25 + 100 / (transfer * surface) + 600 / (fins * gap**2)


def main(target):
    space = ll.Space(
        thickness=ll.Real(0.2, 3.0, log=True),
        gap=ll.Real(0.5, 6.0, log=True),
        metal=ll.Choice("brass", "aluminum", "copper"),
    )
    res = ll.minimize(temperature, space, budget=25)
    print(res)
    res.plot().savefig(target, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_suffix(".png"))
