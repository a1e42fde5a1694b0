"""Integrals of what processes and their squares stand for, against grids and re-conditioning."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline.kernels._means import _pair_means
from leadline.means import Zero
from leadline.quadrature import Exponential, Information, Plain, SquareRoot, square_roots

MEASURE = ll.measures.Gaussian(0.2, 0.7)
X = np.array([[-1.6], [-0.7], [-0.1], [0.5], [1.1], [2.3]])
OFFSET = 0.3
F = OFFSET + np.exp(-0.5 * (X[:, 0] - 0.4) ** 2) + 0.2 * np.sin(3.0 * X[:, 0]) ** 2
VARIANCE, LENGTH, NOISE = 1.3, 0.8, 1e-6
GP = ll.GP(VARIANCE * ll.kernels.SquaredExponential(LENGTH), mean=Zero(), noise=NOISE)
NEW = np.array([[0.0], [1.7], [-2.2]])

nodes, weights = np.polynomial.legendre.leggauss(20)
ends = np.linspace(-7.0, 7.4, 25)
Z = (ends[:-1, None] + 0.5 * np.diff(ends)[:, None] * (nodes + 1.0)).reshape(-1, 1)
W = (0.5 * np.diff(ends)[:, None] * weights).ravel()
W = W * np.exp(-0.5 * (Z[:, 0] - 0.2) ** 2 / 0.7) / np.sqrt(2.0 * np.pi * 0.7)


def k(x, z):
    return VARIANCE * np.exp(-0.5 * (x - z.T) ** 2 / LENGTH**2)


def on_grid(x, y):
    """Mean (N,) and covariance (N, N) of the latent process on the grid."""
    gram = np.linalg.inv(k(x, x) + NOISE * np.eye(len(x)))
    cross = k(Z, x)
    return cross @ gram @ y, k(Z, Z) - cross @ gram @ cross.T


G = square_roots(F, OFFSET)
MEAN, COV = on_grid(X, G)


@pytest.fixture(scope="module")
def latent():
    return GP.condition(X, G)


def test_plain_quadrature_against_a_grid():
    mean, cov = on_grid(X, F)
    z = Plain(GP.condition(X, F)).integral(MEASURE)
    np.testing.assert_allclose(z.mean, W @ mean, rtol=1e-9)
    np.testing.assert_allclose(z.var, W @ cov @ W, rtol=1e-6)


@pytest.mark.parametrize("moments", ["linear", "matched"])
def test_square_roots_against_a_grid(latent, moments):
    """Check: hamid 16; naiff S7.4"""
    z = SquareRoot(latent, OFFSET, moments).integral(MEASURE)
    mean = OFFSET + 0.5 * MEAN**2
    cov = MEAN[:, None] * COV * MEAN[None, :]
    if moments == "matched":
        mean, cov = mean + 0.5 * np.diag(COV), cov + 0.5 * COV**2
    np.testing.assert_allclose(z.mean, W @ mean, rtol=1e-7)
    np.testing.assert_allclose(z.var, W @ cov @ W, rtol=1e-6)


def test_marginals_against_draws(latent):
    """Means of draws of f within 4 standard errors; the printed ones are not. Check: naiff S7.1"""
    xs = np.array([[-3.0], [-1.2], [3.1]])
    g = latent.predict(xs)
    mean, std = np.asarray(g.mean), np.asarray(g.std)
    draws = mean + std * np.random.default_rng(0).standard_normal((200_000, 3))
    f = OFFSET + 0.5 * draws**2
    error = f.std(axis=0) / np.sqrt(200_000)
    ours = SquareRoot(latent, OFFSET, "matched").predict(xs)
    assert np.all(np.abs(f.mean(axis=0) - ours.mean) < 4.0 * error)
    np.testing.assert_allclose(f.var(axis=0), ours.var, rtol=0.03)
    assert np.all(np.abs(f.mean(axis=0) - (OFFSET + 0.5 * (mean + std**2))) > 4.0 * error)


def test_the_tangent_is_below_the_moments(latent):
    """Check: naiff S7.2"""
    xs = np.linspace(-4.0, 4.0, 64)[:, None]
    linear, matched = (SquareRoot(latent, OFFSET, m).predict(xs) for m in ("linear", "matched"))
    assert np.all(linear.mean <= matched.mean)
    assert np.all(linear.mean >= OFFSET)
    known = SquareRoot(latent, OFFSET, "matched").predict(X)
    np.testing.assert_allclose(known.mean, F, atol=1e-4)
    assert np.all(known.var < 1e-5)


@pytest.mark.parametrize("moments", ["linear", "matched"])
def test_a_known_integral(moments):
    """Of exp(-x^2 / 2) under N(0, 1) it is 1 / sqrt(2). Check: naiff S7.5"""
    x = np.linspace(-3.0, 3.0, 10)[:, None]
    f = np.exp(-0.5 * x[:, 0] ** 2)
    gp = ll.GP(1.0 * ll.kernels.SquaredExponential(1.0), mean=Zero(), noise=1e-10)
    offset = 0.8 * f.min()
    z = SquareRoot(gp.condition(x, square_roots(f, offset)), offset, moments)
    assert abs(z.integral(ll.measures.Gaussian(0.0, 1.0)).mean - np.sqrt(0.5)) < 2e-3


def test_a_constant():
    """Check: hamid 18"""
    x = np.linspace(-3.5, 3.5, 30)[:, None]
    gp = ll.GP(1.0 * ll.kernels.SquaredExponential(0.8), mean=Zero(), noise=1e-8)
    z = SquareRoot(gp.condition(x, square_roots(np.full(30, 0.7), 0.0)))
    np.testing.assert_allclose(z.integral(ll.measures.Gaussian(0.0, 1.0)).mean, 0.7, rtol=1e-3)


def test_points_instead_of_closed_forms(latent, monkeypatch):
    """Check: hamid 17"""
    exact = SquareRoot(latent, OFFSET).integral(MEASURE)
    for rule in ("_tilts", "_columns"):
        monkeypatch.setattr(_pair_means, rule, lambda *_: False)
    points = SquareRoot(latent, OFFSET).integral(MEASURE)
    np.testing.assert_allclose(points.mean, exact.mean, rtol=1e-4)
    np.testing.assert_allclose(points.var, exact.var, rtol=1e-2)


def test_exponentials_against_a_grid():
    """The printed covariance, with means of g in place of f, is far off. Check: hamid 84"""
    logs = np.log(F)
    mean, cov = on_grid(X, logs)
    level = np.exp(mean + 0.5 * np.diag(cov))
    expected = W @ (level[:, None] * np.expm1(cov) * level) @ W
    z = Exponential(GP.condition(X, logs)).integral(MEASURE)
    np.testing.assert_allclose(z.mean, W @ level, rtol=2e-4)
    np.testing.assert_allclose(z.var, expected, rtol=1e-2)
    printed = W @ (mean[:, None] * np.expm1(cov) * mean) @ W
    assert abs(printed / expected - 1.0) > 0.1


def test_marginals_of_exponentials_against_draws():
    """Check: naiff S7.1"""
    post, xs = GP.condition(X, np.log(F)), np.array([[-2.2], [1.6]])
    g = post.predict(xs)
    draws = np.random.default_rng(0).standard_normal((200_000, 2))
    f = np.exp(np.asarray(g.mean) + np.asarray(g.std) * draws)
    ours = Exponential(post).predict(xs)
    assert np.all(np.abs(f.mean(axis=0) - ours.mean) < 4.0 * f.std(axis=0) / np.sqrt(200_000))
    np.testing.assert_allclose(f.var(axis=0), ours.var, rtol=0.05)


def test_sets_of_points_that_differ_are_doubt():
    """With few points the error bar says that these are few."""
    z = Exponential(GP.condition(X, np.log(F)))
    few, many = (z.integral(MEASURE, n_qmc=n) for n in (64, 4096))
    assert few.var > many.var
    assert abs(few.mean - many.mean) < 4.0 * few.std


def test_information_about_the_integral_of_an_exponential():
    """c is that of the joint law of g and e^g."""
    mean, cov = on_grid(X, np.log(F))
    level = np.exp(mean + 0.5 * np.diag(cov))
    variance = W @ (level[:, None] * np.expm1(cov) * level) @ W
    at = int(np.argmin(np.abs(Z[:, 0] - 1.7)))
    c = cov[at] @ (W * level)
    expected = -0.5 * np.log1p(-(c**2) / ((cov[at, at] + NOISE) * variance))
    information = Information(Exponential(GP.condition(X, np.log(F))), MEASURE)
    ours = information.values(jnp.asarray(Z[at][None, None]))
    np.testing.assert_allclose(ours, expected, rtol=0.02)


def test_information_is_what_calls_take_from_the_variance(latent):
    """Each call alone, then all three, with the tangent where it was. Check: hamid 23 24 25"""
    before = W @ (MEAN[:, None] * COV * MEAN) @ W

    def after(new):
        x = np.concatenate([X, new])
        cov = on_grid(x, np.zeros(len(x)))[1]
        return 0.5 * np.log(before / (W @ (MEAN[:, None] * cov * MEAN) @ W))

    information = Information(SquareRoot(latent, OFFSET), MEASURE)
    alone = np.asarray(information.values(jnp.asarray(NEW[:, None])))
    np.testing.assert_allclose(alone, [after(new[None]) for new in NEW], rtol=1e-5)
    together = jnp.asarray(np.stack([NEW, NEW[::-1]]))
    np.testing.assert_allclose(information.values(together), after(NEW), rtol=1e-5)
    assert after(NEW) > alone.max()


def test_information_of_a_plain_process():
    """Check: hamid 27"""
    plain = Plain(GP.condition(X, F))
    found = np.asarray(Information(plain, MEASURE).values(jnp.asarray(NEW[:, None])))
    before = plain.integral(MEASURE).var
    for new, ours in zip(NEW, found, strict=True):
        more = Plain(GP.condition(np.concatenate([X, new[None]]), np.append(F, 0.0)))
        np.testing.assert_allclose(
            ours, 0.5 * np.log(before / more.integral(MEASURE).var), rtol=1e-5
        )


def test_calls_that_were_made_say_nothing(latent):
    """Up to their noise; elsewhere information is positive. Check: hamid 26"""
    information = Information(SquareRoot(latent, OFFSET), MEASURE)
    rows = jnp.asarray(np.concatenate([X, NEW])[:, None])
    values = np.asarray(information.values(rows))
    assert np.all(values >= 0.0)
    assert values[:6].max() < 1e-2 * values[6:].max()


def test_the_slope_of_information_agrees_with_differences(latent):
    information = Information(SquareRoot(latent, OFFSET), MEASURE)

    @jax.jit
    def value(t):
        return information.values(t[None, None, None])[0]

    h = 1e-5
    slope = (value(jnp.asarray(1.7 + h)) - value(jnp.asarray(1.7 - h))) / (2.0 * h)
    np.testing.assert_allclose(jax.grad(value)(jnp.asarray(1.7)), slope, rtol=1e-5)


def test_what_cannot_be_integrated():
    with pytest.raises(ll.InvalidData, match="offset must be at most every value"):
        square_roots(F, F.max())
    level = ll.GP(GP.kernel, mean=1.0, noise=NOISE).condition(X, G)
    with pytest.raises(ll.Unsupported, match="has mean zero"):
        SquareRoot(level)
    both = ll.MultiGP(GP.kernel, outputs=2).condition(X, np.stack([G, F], axis=1))
    with pytest.raises(ll.Unsupported, match="cannot be integrated here"):
        Plain(both)
