"""Distances between normal laws: identities, closed forms, and the printed formulas by force."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from leadline.boundary import InvalidData, NotPositiveDefinite
from leadline.diagnostics import gaussian_kl, wasserstein2

SIZE = 12


def law(seed=0, rank=SIZE, size=SIZE):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, rank))
    return rng.normal(size=size), root @ root.T


def printed_wasserstein2(m1, S1, m2, S2):
    """With matrix square roots and traces."""
    root = np.real(scipy.linalg.sqrtm(S1))
    middle = np.real(scipy.linalg.sqrtm(root @ S2 @ root))
    return np.sqrt(np.sum((m1 - m2) ** 2) + np.trace(S1 + S2 - 2.0 * middle))


def test_laws_that_differ_by_a_shift():
    """Check: wilson S11.1."""
    m, S = law()
    shift = np.random.default_rng(1).normal(size=SIZE)
    found = wasserstein2(m, S, m + shift, S)
    assert found == pytest.approx(np.linalg.norm(shift), abs=1e-8)


def test_one_dimension():
    """Check: wilson S11.1."""
    found = wasserstein2([0.3], [[1.7**2]], [-0.5], [[0.4**2]])
    assert found == pytest.approx(np.hypot(0.8, 1.3), abs=1e-12)


def test_symmetric_and_zero_only_between_equal_laws():
    """Check: wilson S11.1."""
    (m1, S1), (m2, S2) = law(0), law(1)
    assert wasserstein2(m1, S1, m2, S2) == pytest.approx(wasserstein2(m2, S2, m1, S1), rel=1e-12)
    assert wasserstein2(m1, S1, m1, S1) < 1e-7
    assert wasserstein2(m1, S1, m1 + 1e-3, S1) > 1e-3
    assert wasserstein2(m1, S1, m1, 1.01 * S1) > 1e-3


@pytest.mark.parametrize("smallest", [-1, -12])
def test_covariances_that_commute(smallest):
    """Check: wilson S11.1. Also with eigenvalues over twelve orders of magnitude."""
    rng = np.random.default_rng(0)
    vectors, _ = np.linalg.qr(rng.normal(size=(40, 40)))
    first, second = 10.0 ** rng.uniform(smallest, 0, size=(2, 40))
    mean = np.zeros(40)
    found = wasserstein2(mean, (vectors * first) @ vectors.T, mean, (vectors * second) @ vectors.T)
    expected = np.linalg.norm(np.sqrt(first) - np.sqrt(second))
    assert found == pytest.approx(expected, abs=1e-8)


def test_the_printed_formula():
    (m1, S1), (m2, S2) = law(0), law(1)
    expected = printed_wasserstein2(m1, S1, m2, S2)
    assert wasserstein2(m1, S1, m2, S2) == pytest.approx(expected, rel=1e-9)


def test_singular_laws_keep_their_digits():
    """Where the printed formula takes roots of rounding error: two planes in R^200."""
    mean = np.zeros(200)
    e, f = np.eye(200)[:, :2], np.eye(200)[:, 2:4]
    assert wasserstein2(mean, e @ e.T, mean, f @ f.T) == pytest.approx(2.0, abs=1e-12)
    _, S = law(rank=3, size=200)
    assert wasserstein2(mean, S, mean, S) < 1e-7 * np.sqrt(np.trace(S))


def test_triangle_inequality():
    laws = [law(seed) for seed in range(3)]
    ab, bc, ac = (wasserstein2(*laws[i], *laws[j]) for i, j in [(0, 1), (1, 2), (0, 2)])
    assert ac <= ab + bc


def test_traces():
    (m1, S1), (m2, S2) = law(0), law(1)
    arrays = tuple(map(jnp.asarray, (m1, S1, m2, S2)))
    for distance in (wasserstein2, gaussian_kl):
        expected = distance(m1, S1, m2, S2)
        assert float(jax.jit(distance)(*arrays)) == pytest.approx(expected, rel=1e-10)


def test_bad_laws_are_refused():
    m, S = law()
    with pytest.raises(InvalidData, match="S2 must have shape"):
        wasserstein2(m, S, m, S[:-1])
    with pytest.raises(InvalidData, match="m2 has 11 values"):
        wasserstein2(m, S, m[:-1], S)
    with pytest.raises(InvalidData, match="S1 must be symmetric"):
        wasserstein2(m, np.tril(S), m, S)
    with pytest.raises(InvalidData, match="finite"):
        wasserstein2(m, np.nan * S, m, S)


def test_kl_is_the_printed_formula():
    (m0, S0), (m1, S1) = law(0), law(1)
    inverse = np.linalg.inv(S1)
    logdet = np.linalg.slogdet(S1)[1] - np.linalg.slogdet(S0)[1]
    expected = 0.5 * (logdet + np.trace(inverse @ (S0 - S1)) + (m0 - m1) @ inverse @ (m0 - m1))
    assert gaussian_kl(m0, S0, m1, S1) == pytest.approx(expected, rel=1e-9)
    assert gaussian_kl(m1, S1, m0, S0) != pytest.approx(expected, rel=1e-2)


def test_kl_keeps_its_digits_between_laws_that_almost_agree():
    """Of N(0, 1 + e) from N(0, 1) in m entries it is m e^2 / 4 to first order."""
    mean, one = np.zeros(5), np.eye(5)
    assert gaussian_kl(mean, (1.0 + 1e-7) * one, mean, one) == pytest.approx(1.25e-14, rel=1e-6)
    assert gaussian_kl(mean, one, mean, one) == 0.0


def test_kl_of_singular_laws_needs_jitter():
    m, S = law(rank=3)
    full = np.eye(SIZE)
    assert gaussian_kl(m, S, m, full) > 10.0
    assert gaussian_kl(m, np.diag([0.0] + [1.0] * (SIZE - 1)), m, full) == np.inf
    with pytest.raises(NotPositiveDefinite, match="larger jitter"):
        gaussian_kl(m, full, m, -full)
    blurred = gaussian_kl(m, S, m, full, jitter=0.1)
    expected = gaussian_kl(m, S + 0.1 * full, m, 1.1 * full)
    assert blurred == pytest.approx(expected, rel=1e-9)
    with pytest.raises(InvalidData, match="jitter"):
        gaussian_kl(m, S, m, full, jitter=-1.0)
