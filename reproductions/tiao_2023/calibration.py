"""Figure 5.9 of Tiao (2023): BORE with trees whose probabilities are calibrated.

The probabilities of a forest and of boosted trees do not come true as they are. The thesis corrects
them by Platt's method and by isotonic regression, and finds on a racing line that both may hurt.

There are two ways to calibrate. scikit-learn's fits a classifier and a map on every fold, and
averages them: each tree sees fewer rows. Leadline's fits the map to held-out log odds and the trees
to all rows. Platt's map is a line. Where it rises, the highest log odds stay where they were, and
the next call is the same as without it. An isotonic map makes many points equal.

The problem is the racing line of 12 inputs (`_racing.py`). A third of the calls are good, none is
random, and the log odds are searched by differential evolution with 500 evaluations.

Run it as `python -m reproductions.tiao_2023.calibration [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import leadline as ll
from reproductions._script import claim, options
from reproductions.tiao_2023._contests import (
    Results,
    as_in_the_thesis,
    by,
    compare,
    draw,
    has_boosting,
    racing,
)

FOLDS, CANDIDATES = 3, 500
SCIKIT = {"platt": "sigmoid", "isotonic": "isotonic"}


def classifiers(name: str) -> dict[str, Any]:
    """A classifier as it is, and calibrated in four ways."""
    from sklearn.calibration import CalibratedClassifierCV

    plain = ll.ratios.as_classifier(name)
    assert isinstance(plain, ll.ratios.Scikit)
    found: dict[str, Any] = {name: plain}
    for method, theirs in SCIKIT.items():
        found[f"{name}, {method}"] = ll.ratios.Calibrated(plain, method, FOLDS)
        found[f"{name}, {method}, by folds"] = CalibratedClassifierCV(
            plain.estimator, method=theirs, cv=FOLDS
        )
    return found


def claims(results: Results, names: list[str]) -> None:
    """Whether calibrated trees are worse than plain ones, seed by seed."""
    hurt, said = 0, []
    for name in names:
        for other in results.regrets:
            if not other.startswith(f"{name},"):
                continue
            gap = results.regrets[other][:, -1] - results.regrets[name][:, -1]
            error = gap.std(ddof=1) / np.sqrt(len(gap))
            said.append(f"{other} {gap.mean():+.2f} +- {error:.2f}")
            hurt += bool(gap.mean() > 2.0 * error)
    claim(
        "calibration may hurt",
        f"seconds of lap time lost by it, with standard errors: {'; '.join(said)}",
        f"{'yes' if hurt else 'no'}, in {hurt} of {len(said)} cases by two errors or more",
    )
    for name in names:
        same = results.regrets[f"{name}, platt"] == results.regrets[name]
        claim(
            f"(not in the thesis) Platt's map leaves the calls of BORE as they are, {name}",
            f"the best value so far is the same after {np.mean(same):.0%} of calls"
            + ("" if np.all(same) else ", up to a call for which the line falls"),
            "yes" if np.all(same) else "partly",
        )


def main() -> None:
    """Run all, compare, and draw."""
    given = options(__doc__)
    budget, initial, seeds = (13, 12, 2) if given.quick else (48, 12, 8)
    names = ["forest", "boosting"] if has_boosting() else ["forest"]
    contestants = {
        shown: as_in_the_thesis(classifier, "evolution", CANDIDATES, initial)
        for name in names
        for shown, classifier in classifiers(name).items()
    }
    contestants["random"] = by(ll.methods.Random)
    results = compare(racing(12), contestants, budget, initial, seeds)
    print()
    claims(results, names)
    draw(given.output / "calibration.png", [results], logarithmic=True)


if __name__ == "__main__":
    main()
