"""Problems that are tables: every point has been called, so the lowest value is known.

"architecture" is like NASBench-201: six edges with one of five operations each, 15 625 points, with
main effects and interactions of pairs (Tiao 2023, section 5.5). "network" is like HPOBench's
tables: a small network is trained on the diabetes data that scikit-learn brings, once for each of
4608 settings, and its error on held-out rows is the value. Training takes some minutes; the values
are kept in `bench/.cache`. Points are rows of option numbers.
"""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from functools import cache

import numpy as np

from bench.folders import CACHE

KEPT = CACHE / "network.npy"
EPOCHS, TRAINED_ON = 20, 300
# Where training diverges; the error of guessing the mean is 1.
WORST = 4.0

NETWORK: dict[str, tuple] = {
    "learning_rate_init": (5e-4, 1e-3, 5e-3, 1e-2, 5e-2, 1e-1),
    "learning_rate": ("constant", "invscaling"),
    "batch_size": (8, 16, 32, 64),
    "first": (4, 8, 16, 32),
    "second": (4, 8, 16, 32),
    "activation": ("relu", "tanh"),
    "alpha": (1e-6, 1e-2, 1.0),
}


@dataclasses.dataclass(frozen=True)
class Table:
    """Values of all points, one axis for each parameter; which parameters have an order."""

    values: np.ndarray
    ordered: tuple[bool, ...]

    @property
    def lowest(self) -> float:
        """The lowest value."""
        return float(self.values.min())

    def __call__(self, point: tuple[int, ...]) -> float:
        """The value of a point, one option number for each parameter."""
        return float(self.values[tuple(int(i) for i in point)])


@cache
def table(name: str) -> Table:
    """A table by its name."""
    if name == "architecture":
        return Table(_architecture(np.random.default_rng(0)), (False,) * 6)
    ordered = tuple(not isinstance(options[0], str) for options in NETWORK.values())
    return Table(np.load(KEPT), ordered)


def _architecture(rng: np.random.Generator) -> np.ndarray:
    """Sums of effects of each operation and of each pair of them."""
    points = np.indices((5,) * 6).reshape(6, -1)
    alone, pairs = rng.normal(size=(6, 5)), 0.3 * rng.normal(size=(6, 6, 5, 5))
    values = sum(alone[i, points[i]] for i in range(6))
    for i, j in itertools.combinations(range(6), 2):
        values = values + pairs[i, j, points[i], points[j]]
    return np.asarray(values).reshape((5,) * 6)


def train_networks() -> None:
    """Train one network for each setting, unless that was done before."""
    if KEPT.exists():
        return
    shape = tuple(len(options) for options in NETWORK.values())
    values = np.empty(shape)
    for point in np.ndindex(*shape):
        options = zip(NETWORK, NETWORK.values(), point, strict=True)
        values[point] = _validation_error(**{name: of[i] for name, of, i in options})
    KEPT.parent.mkdir(exist_ok=True)
    np.save(KEPT, values)


@cache
def _data() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_diabetes

    x, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return (x / x.std(axis=0))[order], ((y - y.mean()) / y.std())[order]


def _validation_error(first: int, second: int, **setting) -> float:
    """The mean squared error on held-out rows."""
    from sklearn.neural_network import MLPRegressor

    x, y = _data()
    shape = {"hidden_layer_sizes": (first, second), "max_iter": EPOCHS, "random_state": 0}
    model = MLPRegressor(solver="sgd", **shape, **setting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(x[:TRAINED_ON], y[:TRAINED_ON])
            error = float(np.mean((model.predict(x[TRAINED_ON:]) - y[TRAINED_ON:]) ** 2))
        except ValueError as failure:
            if "non-finite" not in str(failure):
                raise
            return WORST
    return min(error, WORST) if np.isfinite(error) else WORST


if __name__ == "__main__":
    train_networks()
