"""Learning hyper-parameters: gradients, units, what stays fixed, starts, priors and seeds."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline import kernels as k
from leadline.models import _learning
from leadline.models._exact import log_evidence
from leadline.models._learning import best_coordinates, search_for
from leadline.models._rows import as_padded_rows
from leadline.numerics import DataScale, Minima, from_free, to_free

N = 25
RNG = np.random.default_rng(0)
X, XS = RNG.uniform(size=(N, 2)), RNG.uniform(size=(8, 2))
Y = np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.05 * RNG.normal(size=N)


def model(scale_x=1.0, scale_y=1.0, shift=0.0, **changes):
    """The same belief in other units."""
    kernel = scale_y**2 * k.Matern52(scale_x * np.array([0.4, 0.9]))
    settings = {"mean": scale_y * 0.2 + shift, "noise": 0.02 * scale_y**2} | changes
    return ll.GP(kernel, **settings)


KERNELS = {
    "Matern52": 1.3 * k.Matern52([0.4, 0.9]),
    "Matern12": 1.3 * k.Matern12([0.4, 0.9]),
    "SquaredExponential": 1.3 * k.SquaredExponential([0.4, 0.9]),
    "RationalQuadratic": 1.3 * k.RationalQuadratic(0.5, alpha=0.8),
    "PeriodicAndLinear": k.Periodic(0.9, 0.7) + k.Linear([0.5, 2.0]),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("duplicates", [False, True])
def test_gradient_of_the_evidence(name, duplicates):
    """Against central differences, also where rows are at distance zero."""
    x = X.copy()
    if duplicates:
        x[1], x[2], x[7] = x[0], x[0], x[6]
    gp, rows = ll.GP(KERNELS[name], mean=0.2, noise=0.02), as_padded_rows(x, Y)
    u = np.asarray(to_free(gp))
    step = 1e-5
    nearby = np.concatenate([u + step * np.eye(u.size), u - step * np.eye(u.size)])
    gradient, values = evidence_around(gp, rows, u, nearby)
    differences = (values[: u.size] - values[u.size :]) / (2 * step)
    scale = np.maximum(1.0, np.abs(differences))
    np.testing.assert_allclose(gradient / scale, differences / scale, rtol=0, atol=1e-6)


@partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
def evidence_around(gp, rows, u, nearby):
    def value(u):
        return log_evidence(from_free(gp, u), rows)

    return jax.grad(value)(u), jax.lax.map(value, nearby)


def test_conditioning_the_learned_process_gives_the_posterior():
    post = model().fit(X, Y)
    again = post.gp.condition(X, Y)
    np.testing.assert_array_equal(post.predict(XS).mean, again.predict(XS).mean)
    np.testing.assert_array_equal(post.predict(XS).var, again.predict(XS).var)
    assert post.log_evidence == again.log_evidence
    assert post.log_evidence > model().condition(X, Y).log_evidence


@pytest.mark.parametrize(
    ("scale_x", "scale_y", "shift"),
    [(1e6, 1.0, 0.0), (1e-6, 1.0, 0.0), (1.0, 1e6, 0.0), (1.0, 1e-6, 0.0), (1e6, 1e-6, 3e-5)],
)
def test_units(scale_x, scale_y, shift):
    """The same model of the same data in other units is learned to be the same."""
    one = model().fit(X, Y)
    other = model(scale_x, scale_y, shift).fit(scale_x * X, scale_y * Y + shift)
    wanted, found = one.predict(XS), other.predict(scale_x * XS)
    np.testing.assert_allclose((found.mean - shift) / scale_y, wanted.mean, rtol=0, atol=1e-4)
    np.testing.assert_allclose(found.std / scale_y, wanted.std, rtol=1e-3)
    evidence = other.log_evidence + N * np.log(scale_y)
    np.testing.assert_allclose(evidence, one.log_evidence, rtol=0, atol=1e-4)
    lengths = other.gp.kernel.kernel.lengthscale / scale_x
    np.testing.assert_allclose(lengths, one.gp.kernel.kernel.lengthscale, rtol=1e-3)


@pytest.mark.parametrize(("scale_x", "scale_y"), [(1e6, 1e6), (1e-6, 1e-6), (1e12, 1e-12)])
def test_units_that_the_model_does_not_know(scale_x, scale_y):
    """From values that are wrong by orders of magnitude: the other starts are the data's own."""
    one = model().fit(X, Y)
    other = model().fit(scale_x * X, scale_y * Y)
    found = other.predict(scale_x * XS).mean / scale_y
    np.testing.assert_allclose(found, one.predict(XS).mean, rtol=0, atol=0.02)
    evidence = other.log_evidence + N * np.log(scale_y)
    np.testing.assert_allclose(evidence, one.log_evidence, rtol=0, atol=0.1)


def test_fixed_leaves_stay():
    kernel = 1.0 * k.Matern52(ll.fixed([0.4, 0.9]))
    post = ll.GP(kernel, mean=ll.fixed(0.3), noise=ll.fixed(0.05)).fit(X, Y)
    np.testing.assert_array_equal(post.gp.kernel.kernel.lengthscale, [0.4, 0.9])
    assert float(post.gp.mean.value) == 0.3
    assert float(post.gp.noise) == 0.05
    assert float(post.gp.kernel.variance) != 1.0
    # Fixed once, fixed in what was learned, too.
    again = post.gp.fit(X, 2.0 * Y)
    assert float(again.gp.noise) == 0.05


def test_nothing_to_learn():
    kernel = ll.kernels.Matern52(ll.fixed([0.4, 0.9]))
    gp = ll.GP(kernel, mean=ll.fixed(0.3), noise=ll.fixed(0.05))
    for found in (gp.fit(X, Y), gp.fit(X, Y, restarts=3, priors=None)):
        assert found.log_evidence == gp.condition(X, Y).log_evidence


def test_a_fixed_mean_is_not_centered_away():
    """Far from the data a process returns to its mean: the fixed one, or the one it learned."""
    far = np.full((1, 2), 1e3)
    y = Y + 50.0
    held = model(mean=ll.fixed(0.0)).fit(X, y)
    np.testing.assert_allclose(held.predict(far).mean, 0.0, atol=1e-6)
    free = model().fit(X, y)
    np.testing.assert_allclose(free.predict(far).mean, 50.5, atol=3.0)
    np.testing.assert_allclose(held.predict(X).mean, y, atol=0.5)


@pytest.mark.parametrize("seed", range(4))
def test_maximum_likelihood_beats_the_prior_at_its_own_game(seed):
    rng = np.random.default_rng(seed)
    y = np.sin(rng.uniform(2, 8) * X[:, 0]) + rng.normal() * X[:, 1] ** 2 + 0.1 * rng.normal(size=N)
    likely, default = model().fit(X, y, priors=None), model().fit(X, y)
    assert likely.log_evidence >= default.log_evidence - 1e-3


def test_more_starts_leave_a_bad_place():
    """From a model that calls everything noise, its own values alone find no way out."""
    lost = ll.GP(1e-3 * k.Matern52([30.0, 30.0]), mean=0.5, noise=1.0)
    alone = lost.fit(X, Y, restarts=1, priors=None)
    together = lost.fit(X, Y, priors=None)
    many = lost.fit(X, Y, restarts=8, priors=None)
    assert together.log_evidence > alone.log_evidence + 5.0
    assert many.log_evidence >= together.log_evidence - 1e-2


def rough_along_one(rows=60, dim=8):
    """Waves along the second column, a plane along the others."""
    x = np.random.default_rng(0).uniform(size=(rows, dim))
    return x, np.sin(25.0 * x[:, 1]) + 0.3 * (np.sum(x, axis=1) - x[:, 1])


def test_the_leading_column_is_the_one_that_targets_depend_on_most():
    x, y = rough_along_one()
    assert DataScale.of(x, y).leading_column() == 1
    assert DataScale.of(x, -5.0 * y + 100.0).leading_column() == 1
    assert DataScale.of(x[:7], y).leading_column() is None  # rows without targets of their own


def test_a_function_that_is_rough_along_one_column():
    """Even length scales alone call it noise."""
    x, y = rough_along_one()
    gp = ll.GP(1.0 * k.Matern52(np.ones(8)))
    found, even = gp.fit(x, y), gp.fit(x, y, restarts=2)
    lengths = np.asarray(found.gp.kernel.kernel.lengthscale)
    assert np.argmin(lengths) == 1
    assert found.log_evidence > even.log_evidence + 20.0
    assert float(found.gp.noise) < 0.01 * np.var(y)


def test_values_far_from_the_data_are_left_in_one_search():
    """Targets in thousands, a model in ones: the way there is long, and its first part is steep."""
    x = np.random.default_rng(3).uniform(size=(60, 4))
    y = np.sum(100.0 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1.0 - x[:, :-1]) ** 2, axis=1) * 1e3
    gp = ll.GP(1.0 * k.Matern52(np.ones(4)))
    alone, together = gp.fit(x, y, restarts=1), gp.fit(x, y)
    assert alone.log_evidence > together.log_evidence - 1.0


def test_learning_goes_on_where_it_stopped():
    first = model().fit(X, Y, priors=None)
    second = first.gp.fit(X, Y, restarts=1, priors=None)
    assert second.log_evidence >= first.log_evidence - 1e-9
    np.testing.assert_allclose(second.predict(XS).mean, first.predict(XS).mean, atol=1e-2)


def test_the_same_seed_gives_the_same_answer():
    runs = [model().fit(X, Y, restarts=8, seed=seed) for seed in (3, 3)]
    for a, b in zip(*(jax.tree.leaves(run.gp) for run in runs), strict=True):
        np.testing.assert_array_equal(a, b)


def test_rows_with_known_variance():
    """A row that is known to be far off is as good as left out, and the noise is learned beside."""
    y, var = Y.copy(), np.zeros(N)
    y[3], var[3] = y[3] - 3.0, 1e4
    rest = np.delete(np.arange(N), 3)
    with_it, without = model().fit(X, y, var), model().fit(X[rest], Y[rest])
    np.testing.assert_allclose(with_it.predict(XS).mean, without.predict(XS).mean, atol=0.02)
    assert float(with_it.gp.noise) < 0.02
    believed = model().fit(X, y).predict(XS).mean
    assert np.max(np.abs(believed - without.predict(XS).mean)) > 0.1


def test_the_noise_that_made_the_data_is_learned():
    """Learned noise lies within a factor of two of the truth, the length scale likewise."""
    x = np.random.default_rng(1).uniform(size=(60, 2))
    truth = ll.GP(1.0 * k.Matern52([0.3, 0.3]), mean=ll.fixed(0.0), noise=0.01)
    gram = np.asarray(jax.jit(lambda x: truth.kernel(x, x))(x)) + 0.01 * np.eye(60)
    y = np.linalg.cholesky(gram) @ np.random.default_rng(2).normal(size=60)
    post = ll.GP(1.0 * k.Matern52([1.0, 1.0]), noise=1.0).fit(x, y)
    assert 0.005 < float(post.gp.noise) < 0.02
    assert np.all(np.abs(np.log(post.gp.kernel.kernel.lengthscale / 0.3)) < np.log(2.0))


def test_large_data_are_searched_in_two_passes():
    """More rows than the screening takes: a maximum over all rows is found."""
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(70, 3))
    y = np.sin(6.0 * x[:, 0]) + x[:, 1] + 0.1 * rng.normal(size=70)
    gp = ll.GP(2.0 * k.Matern32([0.7, 1.1, 1.6]), noise=1e-2)
    post = gp.fit(x, y, priors=None)
    assert post.log_evidence > gp.condition(x, y).log_evidence + 10.0
    np.testing.assert_allclose(post.predict(x).mean, y, atol=0.4)
    # A local maximum: no coordinate can be improved much.
    rows, u = as_padded_rows(x, y), np.asarray(to_free(post.gp))
    steps = 0.1 * np.concatenate([np.eye(u.size), -np.eye(u.size)])
    _, values = evidence_around(post.gp, rows, u, u + steps)
    assert np.max(values) < post.log_evidence + 0.1


@pytest.mark.parametrize(
    ("behind", "sizes"),
    [(0.0, [64, 128, 256]), (100.0, [64, 128, 256]), (1.0, [64, 256]), (-1.0, [64, 256])],
    ids=["rehearsed", "lost", "known", "best"],
)
def test_a_model_that_knows_such_data_skips_half_of_them(behind, sizes, monkeypatch):
    """Sizes of the data that are searched, by how far the model's own values are behind."""
    visited = []

    def run(evidence, module, data, search, starts, curvature, race):
        visited.append(data.mask.shape[0])
        values = np.full(len(starts), 0.5)
        values[0] += behind
        return Minima(starts, values, np.zeros(len(starts)), np.array(curvature))

    monkeypatch.setattr(_learning, "_run", run)
    x = np.random.default_rng(0).uniform(size=(200, 2))
    rows = as_padded_rows(x, x[:, 0])
    search = search_for(model(), DataScale.of(x, x[:, 0]), priors="quiet", restarts=None, seed=0)
    best_coordinates(log_evidence, model(), rows, search)
    assert visited == sizes


@pytest.mark.slow
def test_learning_with_a_free_mean_function():
    """A slope is learned by the mean, so that predictions far away follow it."""
    x = np.random.default_rng(1).uniform(size=(N, 2))
    y = 3.0 * x[:, 0] - 2.0 * x[:, 1] + 1.0 + 0.01 * np.random.default_rng(2).normal(size=N)
    gp = ll.GP(1.0 * k.Matern52([0.4, 0.9]), mean=ll.means.Linear([0.0, 0.0]))
    post = gp.fit(x, y)
    np.testing.assert_allclose(post.gp.mean.slope, [3.0, -2.0], atol=0.3)
    assert jnp.ndim(post.gp.mean.value) == 0


def test_where_the_search_begins_and_ends():
    """Finite starts inside finite bounds for every kind of parameter, the model's own first."""
    kernel = 2.0 * k.Matern52([0.4, 0.9]) * k.Categorical(0.3).on(0) + k.Linear()
    gp = ll.GP(kernel, mean=ll.means.Quadratic([0.1, 0.2], [1.0, 2.0]), noise=0.0)
    scale = DataScale.of(X, Y)
    search = search_for(gp, scale, priors="default", restarts=None, seed=0)
    for part in search:
        assert isinstance(part, str) or np.isfinite(part).all()
    assert np.all(search.lower < search.upper)
    assert np.all((search.starts >= search.lower) & (search.starts <= search.upper))
    own = np.asarray(to_free(gp))
    first = search.center + search.unit * search.starts[0]
    inside = np.isfinite(own)
    np.testing.assert_allclose(first[inside], own[inside], atol=1e-12)
    assert np.sum(~inside) == 1  # the logarithm of no noise
    assert np.all(search.prior_precision > 0)
    without = search_for(gp, scale, priors=None, restarts=7, seed=0)
    np.testing.assert_array_equal(without.prior_precision, 0.0)
    assert without.starts.shape == (7, own.size)
    one = search_for(gp, scale, priors=None, restarts=1, seed=0)
    np.testing.assert_array_equal(one.starts, search.starts[:1])
