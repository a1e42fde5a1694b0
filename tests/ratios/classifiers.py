"""One small classifier of each kind, and data that all of them can learn."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from leadline.ratios import (
    MLP,
    SGHMC,
    Calibrated,
    Dropout,
    Ensemble,
    GaussianProcess,
    Laplace,
    Scikit,
    as_classifier,
    forest,
)

SMALL = MLP(hidden=(8,), learning_rate=0.05)

CLASSIFIERS = {
    "mlp": SMALL,
    "deep ensemble": MLP(hidden=(8,), learning_rate=0.05, members=3, bootstrap=True),
    "dropout": Dropout(SMALL, draws=8),
    "laplace": Laplace(SMALL),
    "sghmc": SGHMC(SMALL, draws=8, gap=20, burn=50),
    "ensemble": Ensemble(SMALL, 2),
    "ensemble of trees": Ensemble(forest(n_estimators=20), 2),
    "platt": Calibrated(SMALL, "platt", folds=2),
    "isotonic": Calibrated(SMALL, "isotonic", folds=2),
    "gp": GaussianProcess(),
    "forest": forest(n_estimators=20),
    "scikit": Scikit(LogisticRegression()),
    "without weights": Scikit(KNeighborsClassifier(5)),
    "pipeline": Scikit(make_pipeline(StandardScaler(), LogisticRegression())),
    "rulsif": as_classifier("rulsif"),
}

N, COLUMNS = 60, 2


def data(n=N, seed=0):
    """Rows in the square from -1 to 1; the label is 1 right of a line, and sometimes wrong."""
    random = np.random.default_rng(seed)
    x = random.uniform(-1.0, 1.0, (n, COLUMNS))
    z = (x[:, 0] + 0.5 * x[:, 1] + 0.2 * random.normal(size=n) > 0.1).astype(float)
    return x, z
