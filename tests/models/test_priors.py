"""Priors of one's own: of which parameters they are, and what they do to a search."""

import jax
import numpy as np
import pytest
from scipy import stats

import leadline as ll
from leadline import kernels as k
from leadline.measures import Gaussian, LogNormal, Uniform
from leadline.models import _learning
from leadline.models._exact import log_evidence
from leadline.models._learning import log_joint, search_for
from leadline.models._priors import as_priors
from leadline.models._rows import as_padded_rows
from leadline.numerics import DataScale, from_free, slots, to_free

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(25, 2))
Y = np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.05 * RNG.normal(size=25)
SCALE = DataScale.of(X, Y)


def model(**changes):
    return ll.GP(1.5 * k.Matern52([0.4, 0.9]), **{"mean": 0.2, "noise": 0.02, **changes})


def named(gp, priors):
    """The paths of the parameters that have a prior of their own."""
    found = as_priors(gp, priors)
    return sorted(".".join(map(str, path)) for path in found.paths)


def log_normal(center, log_std):
    return LogNormal(np.log(center), log_std)


SUM = k.Matern52(0.3) + 2.0 * k.Matern12(ll.fixed(0.1)).on([0]) + k.Categorical().on([1])


@pytest.mark.parametrize(
    ("names", "paths"),
    [
        (["lengthscale"], ["kernel.kernel.lengthscale"]),
        (["kernel.variance", "noise"], ["kernel.variance", "noise"]),
        (["mean"], ["mean.value"]),
        (["value"], ["mean.value"]),
        (["mean.value"], ["mean.value"]),
    ],
)
def test_names(names, paths):
    real = {"mean", "value", "mean.value"}
    measures = {name: Gaussian(0.0, 1.0) if name in real else LogNormal(0, 1) for name in names}
    assert named(model(), measures) == paths


def test_names_of_parts():
    """A name is of all parameters that are learned; a path is of one, and counts for more."""
    one, other = LogNormal(0.0, 1.0), LogNormal(1.0, 1.0)
    gp = ll.GP(SUM + k.Matern32([1.0, 1.0]))
    priors = {"kernel.kernels.3.lengthscale": other, "lengthscale": one}
    found = as_priors(gp, priors)
    assert named(gp, priors) == ["kernel.kernels.0.lengthscale", "kernel.kernels.3.lengthscale"]
    first, last = found.center.kernel.kernels[0], found.center.kernel.kernels[3]
    np.testing.assert_allclose(first.lengthscale, 1.0)
    np.testing.assert_allclose(last.lengthscale, [np.e, np.e])


@pytest.mark.parametrize(
    ("priors", "said"),
    [
        ({"lengthscal": LogNormal(0, 1)}, "Did you mean 'lengthscale'.*kernel.kernels.0.length"),
        ({"kernel.kernels.1.kernel.kernel": LogNormal(0, 1)}, "is fixed"),
        ({"kernel.kernels.1.kernel.kernel.lengthscale": LogNormal(0, 1)}, "is fixed"),
        ({"kernel": LogNormal(0, 1)}, "name one of kernel.kernels.0"),
        ({"noise": Gaussian(0.1, 0.1)}, "noise must be an ll.measures.LogNormal"),
        ({"noise": Uniform([0.0], [1.0])}, "noise must be an ll.measures.LogNormal"),
        ({"noise": 0.1}, "noise must be an ll.measures.LogNormal.*got 0.1"),
        ({"mean": LogNormal(0, 1)}, "mean.value must be an ll.measures.Gaussian"),
        ({"mean": Gaussian([0, 0], np.eye(2))}, "mean.value must be an ll.measures.Gaussian"),
        ({"rho": LogNormal(0, 1)}, "rho must be left to the default"),
        ({"noise": LogNormal([0, 0], 1)}, "has 2 coordinates, and noise has 1"),
        ({"noise": LogNormal(0, 1e-12)}, "ll.fixed"),
        ({"noise": LogNormal(1e4, 1)}, "values that are no numbers"),
        ("tight", "'quiet', None, got 'tight'"),
    ],
)
def test_priors_that_mean_nothing(priors, said):
    with pytest.raises(ll.InvalidData, match=said):
        ll.GP(SUM).fit(X, Y, priors=priors)


def test_the_log_joint_is_the_evidence_and_a_normal_log_density():
    """Up to its constant, and of the logarithm of positive parameters."""
    priors = {
        "lengthscale": LogNormal(np.log([0.2, 3.0]), [0.3, 0.01]),
        "kernel.variance": log_normal(2.0, 5.0),
        "mean": Gaussian(1.0, 0.04),
        "noise": log_normal(0.01, 0.5),
    }
    gp, rows = model(), as_padded_rows(X, Y)
    search = search_for(gp, SCALE, priors=priors, restarts=None, seed=0)
    # Order of fields: the kernel inside of the scaling comes after the variance.
    order = [".".join(map(str, slot.path)) for slot, _ in slots(gp)]
    assert order == ["kernel.variance", "kernel.kernel.lengthscale", "mean.value", "noise"]
    law = stats.norm(
        [np.log(2.0), *np.log([0.2, 3.0]), 1.0, np.log(0.01)], [5.0, 0.3, 0.01, 0.2, 0.5]
    )
    u = np.asarray(to_free(gp)) + 0.1 * np.random.default_rng(1).normal(size=(3, 5))
    v = (u - search.center) / search.unit

    @jax.jit
    def both(at, arguments):
        gp, rows, *_ = arguments
        evidence = jax.lax.map(lambda u: log_evidence(from_free(gp, u), rows), at[1])
        return jax.lax.map(lambda v: log_joint(log_evidence, v, arguments), at[0]), evidence

    joint, evidence = jax.device_get(both((v, u), search.arguments(gp, rows)))
    wanted = evidence + law.logpdf(u).sum(axis=1) - law.logpdf(law.mean()).sum()
    np.testing.assert_allclose(joint, wanted, rtol=1e-10)


@pytest.mark.parametrize("width", [1e-3, 0.3, 30.0])
def test_where_a_search_begins_and_ends(width):
    """From the model's own values, and from around the center; several deviations are searched."""
    center = np.log([20.0, 0.01])
    usual = search_for(model(), SCALE, priors="default", restarts=7, seed=0)
    priors = {"lengthscale": LogNormal(center, width), "mean": Gaussian(-40.0, width**2)}
    found = search_for(model(), SCALE, priors=priors, restarts=7, seed=0)
    starts, lower, upper = (
        np.asarray([search.free(v) for v in np.atleast_2d(part)])
        for search, part in ((found, found.starts), (found, found.lower), (found, found.upper))
    )
    usual_starts = np.asarray([usual.free(v) for v in usual.starts])
    np.testing.assert_allclose(starts[0], usual_starts[0], rtol=1e-9)
    # The third is a real parameter, and the rest are as they were.
    np.testing.assert_array_equal(starts[:, [0, 4]], usual_starts[:, [0, 4]])
    away = np.abs(starts[1:, 1:4] - [*center, -40.0])
    assert np.all(away <= 5.0 * min(width, 3.0))
    reach = min(6.0 * width, 90.0)
    assert np.all(lower[0, 1:4] <= np.array([*center, -40.0]) - reach)
    assert np.all(upper[0, 1:4] >= np.array([*center, -40.0]) + reach)


def test_a_tight_prior_pins_and_a_wide_one_does_nothing():
    tight = {
        "lengthscale": log_normal(7.0, 1e-4),
        "mean": Gaussian(3.0, 1e-8),
        "noise": log_normal(0.5, 1e-4),
    }
    post = model().fit(X, Y, priors=tight)
    np.testing.assert_allclose(post.gp.kernel.kernel.lengthscale, [7.0, 7.0], rtol=1e-2)
    np.testing.assert_allclose(post.gp.mean.value, 3.0, rtol=1e-2)
    np.testing.assert_allclose(post.gp.noise, 0.5, rtol=1e-2)
    wide = {name: LogNormal(0.0, 1e2) for name in ("lengthscale", "variance", "noise")}
    flat = model().fit(X, Y, priors={**wide, "mean": Gaussian(0.0, 1e12)})
    likely = model().fit(X, Y, priors=None)
    np.testing.assert_allclose(flat.log_evidence, likely.log_evidence, atol=1e-2)


def test_parameters_that_are_not_named_keep_the_default():
    kept = model().fit(X, Y, priors={})
    usual = model().fit(X, Y)
    assert kept.log_evidence == usual.log_evidence


@pytest.mark.slow
def test_draws_of_hyper_parameters_are_under_the_priors():
    priors = {"lengthscale": log_normal(2.0, 1e-3), "noise": log_normal(0.5, 1e-3)}
    members = model().fit(X, Y, priors=priors, inference="nuts").members
    np.testing.assert_allclose(members.gp.kernel.kernel.lengthscale, 2.0, rtol=1e-2)
    np.testing.assert_allclose(members.gp.noise, 0.5, rtol=1e-2)
    assert np.std(np.log(members.gp.noise)) > 3e-4


def test_several_outputs_in_their_own_units(monkeypatch):
    """Units of the outputs differ by thousands, and priors are in them."""
    monkeypatch.setattr(_learning, "best_coordinates", lambda *_: _[-1].prior_mean)
    y = np.stack([Y, 1e3 * Y + 5e3], axis=1)
    gp = ll.MultiGP(k.Matern52([0.5, 0.5]), outputs=2)
    priors = {
        "noise": LogNormal(np.log([0.2, 3e4]), 1e-4),
        "mean": Gaussian([1.0, 4e3], [1e-8, 1e-2]),
        "lengthscale": log_normal(0.7, 1e-4),
        "coregions.0.kappa": LogNormal(np.log([0.1, 2e5]), 1e-4),
    }
    found = gp.fit(X, y, priors=priors).gp
    np.testing.assert_allclose(found.noise, [0.2, 3e4])
    np.testing.assert_allclose(found.mean, [1.0, 4e3])
    np.testing.assert_allclose(found.kernels[0].lengthscale, 0.7)
    np.testing.assert_allclose(found.coregions[0].kappa, [0.1, 2e5])


@pytest.mark.parametrize(
    "gp",
    [
        ll.models.Titsias(1.0 * k.Matern52(0.5), X[:5]),
        ll.models.LaplaceClassifier(1.0 * k.Matern52(0.5)),
        ll.MultiGP(k.Matern52(0.5), outputs=1),
    ],
    ids=lambda gp: type(gp).__name__,
)
def test_other_models_take_them_too(gp):
    y = Y[:, None] if isinstance(gp, ll.MultiGP) else Y > 0.5
    with pytest.raises(ll.InvalidData, match="Did you mean 'lengthscale'"):
        gp.fit(X, y, priors={"lengthscal": LogNormal(0.0, 1.0)})
