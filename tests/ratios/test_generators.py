"""Generators of f-divergences: their duals, their divergences, and their bounds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy
from tests.ratios import toy

from leadline.ratios import GENERATORS

every_generator = pytest.mark.parametrize("generator", GENERATORS.values(), ids=GENERATORS)
RATIOS = np.exp(np.linspace(-2.5, 2.5, 21))


def _divergence(generator, p, q):
    """E_q f(r) on the grid of the toy."""
    return toy.integral(q * np.asarray(generator.f(p / q)))


@every_generator
def test_terms_are_derivative_and_dual(generator):
    """Check: tiao S2.1"""
    slope = np.asarray(jax.vmap(jax.grad(generator.f))(RATIOS))
    np.testing.assert_allclose(generator.numerator(np.log(RATIOS)), slope, rtol=1e-10, atol=1e-12)
    u = np.exp(np.linspace(-6.0, 6.0, 240_001))
    f = np.asarray(generator.f(u))
    # The maximum lies between grid points of relative spacing 5e-5, where the error is its square.
    dual = np.array([np.max(u * t - f) for t in slope])
    np.testing.assert_allclose(generator.denominator(np.log(RATIOS)), dual, rtol=1e-5, atol=1e-7)


def test_divergences_of_the_toy():
    """Check: tiao S2.3"""
    p, q = toy.numerator(toy.GRID), toy.denominator(toy.GRID)
    js = 0.5 * _divergence(GENERATORS["js"], p, q)
    assert js == pytest.approx(0.239322, abs=1e-6)
    assert _divergence(GENERATORS["kl"], p, q) == pytest.approx(1.065421, abs=1e-6)
    g = toy.log_ratio(toy.GRID)
    loss = toy.integral(p * np.logaddexp(0.0, -g) + q * np.logaddexp(0.0, g))
    assert loss == pytest.approx(0.907651, abs=1e-6)
    assert loss == pytest.approx(-2.0 * (js - np.log(2.0)), abs=1e-12)
    gan = _divergence(GENERATORS["gan"], p, q)
    assert gan == pytest.approx(-loss, abs=1e-10)
    assert gan == pytest.approx(2.0 * js - np.log(4.0), abs=1e-10)


def test_meanings():
    """Normal laws of one variance, whose divergences are closed forms."""
    q = scipy.stats.norm.pdf(toy.GRID)
    p = scipy.stats.norm.pdf(toy.GRID, 1.0)
    inside = np.abs(toy.GRID) < 12  # beyond, the densities underflow in the ratio
    found = {
        name: toy.integral(np.where(inside, q * np.asarray(g.f(p / q)), 0.0))
        for name, g in GENERATORS.items()
    }
    assert found["kl"] == pytest.approx(0.5, abs=1e-10)
    assert found["reverse_kl"] == pytest.approx(0.5, abs=1e-10)
    assert found["pearson"] == pytest.approx(0.5 * (np.e - 1.0), abs=1e-10)
    assert found["hellinger"] == pytest.approx(2.0 - 2.0 * np.exp(-1.0 / 8.0), abs=1e-10)
    assert found["gan"] == pytest.approx(found["js"] - np.log(4.0), abs=1e-12)


@every_generator
def test_bound_is_tight_at_the_ratio(generator):
    """Check: tiao S2.2"""
    rng = np.random.default_rng(4)
    n = 200_000
    laws = scipy.stats.norm(0.0, 1.0), scipy.stats.norm(1.0, 1.5)
    # 1 / r has a variance only if the numerator is the wider law, and r only if it is not.
    p, q = laws[::-1] if generator.name == "reverse_kl" else laws
    x, y = p.rvs(n, random_state=rng), q.rvs(n, random_state=rng)

    def g(x):
        return p.logpdf(x) - q.logpdf(x)

    grid = np.linspace(-11.0, 13.0, 20_001)
    f = np.asarray(generator.f(np.exp(g(grid))))
    truth = np.sum(q.pdf(grid) * f) * (grid[1] - grid[0])
    if generator.name in ("kl", "reverse_kl"):
        closed = np.log(1.5) + (1.0 + 1.0) / (2.0 * 1.5**2) - 0.5
        assert truth == pytest.approx(closed, abs=1e-8)
    gains, costs = generator.numerator(g(x)), generator.denominator(g(y))
    error = np.hypot(np.std(gains), np.std(costs)) / np.sqrt(n)
    value = float(generator.bound(g(x), g(y)))
    assert abs(value - truth) < 3.0 * error
    off, off_ = g(x) + 0.3 * np.sin(x), g(y) + 0.3 * np.sin(y)
    assert float(generator.bound(off, off_)) < value


def test_kliep_is_the_bound_of_kl():
    """Check: tiao S2.9"""
    rng = np.random.default_rng(0)
    g, g_ = rng.normal(size=50), rng.normal(size=70)
    lagrangian = np.mean(g) - (np.mean(np.exp(g_)) - 1.0)
    assert float(GENERATORS["kl"].bound(g, g_)) == pytest.approx(lagrangian, abs=1e-12)
    at_truth = toy.integral(toy.denominator(toy.GRID) * np.exp(toy.log_ratio(toy.GRID)))
    assert at_truth == pytest.approx(1.0, abs=1e-8)


@every_generator
def test_no_overflow_before_the_end(generator):
    g = jnp.array([-600.0, -30.0, 30.0, 600.0])
    # Pearson's e^(2 g) is out of range itself.
    terms = [generator.numerator(g), generator.denominator(0.5 * g)]
    slopes = [jax.vmap(jax.grad(t))(0.5 * g) for t in (generator.numerator, generator.denominator)]
    for values in (*terms, *slopes):
        assert np.all(np.isfinite(values))
