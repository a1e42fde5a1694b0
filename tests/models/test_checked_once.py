"""A fit checks each of its arguments once."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import leadline as ll
from leadline.boundary import _inputs
from leadline.kernels import Matern52
from leadline.models import LaplaceClassifier, MultiGP, Titsias
from leadline.models._multi import _multi

RNG = np.random.default_rng(0)
X = RNG.random((12, 2))
Y = np.sin(4.0 * X[:, 0]) + X[:, 1]
ONES = np.ones(12)


@pytest.fixture
def checks(monkeypatch):
    """How often the values of each argument were looked through, by its name."""
    counted = Counter()
    look, outputs = _inputs._require_finite, _multi.checked_outputs

    def looking(a, name):
        counted[name] += 1
        return look(a, name)

    def of_outputs(*arguments):
        counted["outputs"] += 1
        return outputs(*arguments)

    monkeypatch.setattr(_inputs, "_require_finite", looking)
    monkeypatch.setattr(_multi, "checked_outputs", of_outputs)
    return counted


FITS = {
    "GP": (lambda: ll.GP(Matern52(), noise=0.1), dict(x=X, y=Y, var=0.1 * ONES)),
    "Titsias": (lambda: Titsias(Matern52(), X[:4], noise=0.1), dict(x=X, y=Y, var=0.1 * ONES)),
    "Laplace": (lambda: LaplaceClassifier(Matern52()), dict(x=X, z=Y > 1.0, weight=ONES)),
}


@pytest.mark.parametrize("name", FITS)
def test_each_argument_is_checked_once(name, checks):
    make, arguments = FITS[name]
    model = make()
    checks.clear()
    model.fit(**arguments)
    assert checks == dict.fromkeys(arguments, 1)


def test_data_of_several_outputs_are_checked_once(checks):
    """Its targets have a check of their own, since some may be missing."""
    MultiGP([Matern52()], outputs=2).fit(X, np.stack([Y, -Y], axis=1))
    assert checks == {"outputs": 1, "x": 1}
