"""Distances between clouds of points."""

import sys

import numpy as np
import pytest

from leadline.boundary import InvalidData
from leadline.diagnostics import sinkhorn_distance, wasserstein2

# ott-jax imports JAXopt, which is deprecated as a whole.
pytestmark = pytest.mark.filterwarnings("ignore:JAXopt:DeprecationWarning")


@pytest.fixture
def transport():
    pytest.importorskip("ott")


def cloud(mean, cov, n=500, seed=0):
    return np.random.default_rng(seed).multivariate_normal(mean, cov, size=n)


def test_clouds_of_normal_laws(transport):
    """Check: wilson S11.7."""
    m1, m2 = np.zeros(2), np.array([2.0, 1.0])
    S1, S2 = np.array([[1.0, 0.5], [0.5, 0.7]]), np.array([[0.5, -0.2], [-0.2, 1.5]])
    expected = wasserstein2(m1, S1, m2, S2)
    x, y = cloud(m1, S1), cloud(m2, S2, seed=1)
    found = sinkhorn_distance(x, y)
    assert found == pytest.approx(expected, rel=0.15)
    assert sinkhorn_distance(1e3 * x, 1e3 * y) == pytest.approx(1e3 * found, rel=1e-6)
    assert sinkhorn_distance(x, y, epsilon=0.05) == pytest.approx(expected, rel=0.15)


def test_a_cloud_from_itself_and_from_its_shift(transport):
    x = cloud(np.zeros(2), np.eye(2))
    assert sinkhorn_distance(x, x) < 1e-2
    assert sinkhorn_distance(x, x + np.array([3.0, 4.0])) == pytest.approx(5.0, rel=1e-3)
    assert sinkhorn_distance(x[:1], x[:1]) == 0.0


def test_bad_clouds_are_refused():
    x = np.zeros((4, 2))
    with pytest.raises(InvalidData, match="y must have 2 columns"):
        sinkhorn_distance(x, np.zeros((4, 3)))
    with pytest.raises(InvalidData, match="epsilon must be positive"):
        sinkhorn_distance(x, x, epsilon=0.0)


def test_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ott.tools", None)
    monkeypatch.setitem(sys.modules, "ott", None)
    with pytest.raises(ImportError, match=r"pip install leadline\[transport\]"):
        sinkhorn_distance(np.zeros((2, 1)), np.ones((2, 1)))
