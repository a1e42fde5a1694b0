"""How posteriors are written: expansions and updates give back what posteriors say."""

import inspect
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline.boundary import as_labels, as_rows, as_targets, as_weights
from leadline.kernels import SquaredExponential
from leadline.models import LaplaceClassifier, Titsias, mixture
from leadline.models._multi._rows import checked_outputs

RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(-2.0, 2.0, 12))[:, None]
Y = np.sin(2.0 * X[:, 0]) + 0.1 * RNG.normal(size=12)
VAR = RNG.uniform(0.0, 0.1, size=12)
KERNEL = 1.3 * SquaredExponential(0.7)
XS = np.linspace(-3.0, 3.0, 7)[:, None]
EXACT = ll.GP(KERNEL, mean=0.3, noise=1e-2)
SPARSE = Titsias(KERNEL, X[::3], mean=0.3, noise=1e-2)


@pytest.fixture(scope="module", params=["exact", "sparse"])
def post(request):
    return (EXACT if request.param == "exact" else SPARSE).condition(X, Y, VAR)


@eqx.filter_jit
def _written(post, xs):
    form = post.expansion()
    c, known = form.features(xs), form.information
    taken, given = c.T @ known.taken(), known.given()
    net = taken @ taken.T if given is None else taken @ taken.T - (c.T @ given) @ (c.T @ given).T
    prior, e = form.kernel(xs, xs), form.explained(xs)
    return form.mean_at(xs), prior - e @ e.T, prior - net, prior - c.T @ known.times(c)


def test_weights_and_what_the_data_took_and_gave_are_the_posterior(post):
    mean, *covariances = jax.device_get(_written(post, XS))
    law = post.joint(XS)
    np.testing.assert_allclose(mean, law.mean, atol=1e-9)
    for cov in covariances:
        np.testing.assert_allclose(cov, law.cov, atol=1e-9)


@eqx.filter_jit
def _updated(post, xs):
    centers, mask, xi, root = post.affine_update(xs)
    k = post.gp.kernel
    cross = xi @ (mask[:, None] * k(centers, xs))
    both = mask[:, None] * mask * k(centers, centers)
    # The padded rows of what is solved against are those of the identity.
    eye = jnp.eye(mask.shape[0])
    return k(xs, xs) - cross - cross.T + xi @ both @ xi.T + root @ root.T, post.solve(eye), both


def test_updated_prior_draws_have_the_covariance_of_the_posterior(post):
    cov, inverse, both = jax.device_get(_updated(post, XS))
    np.testing.assert_allclose(cov, post.joint(XS).cov, atol=1e-9)
    if hasattr(post, "data"):
        n = len(X)
        both, inverse = both[:n, :n] + np.diag(1e-2 + VAR), inverse[:n, :n]
    np.testing.assert_allclose(inverse @ both, np.eye(len(both)), atol=1e-6)


def test_exact_posteriors_hold_their_data():
    post = EXACT.condition(X, Y, VAR)
    for found, given in zip(post.data(), (X, Y, VAR), strict=True):
        np.testing.assert_array_equal(found, given)
    told = jax.device_get(eqx.filter_jit(lambda p: p.observations())(post))
    np.testing.assert_allclose(told.residual[:12], Y - 0.3)
    np.testing.assert_allclose(told.variance[:12], 1e-2 + VAR)
    assert not told.residual[12:].any()
    assert not told.variance[12:].any()
    np.testing.assert_allclose(post.means_at_data(), post.predict(X).mean, atol=1e-9)


def test_posteriors_without_an_ability_say_who_has_it():
    sparse, exact = SPARSE.condition(X, Y), EXACT.condition(X, Y)
    labels = LaplaceClassifier(KERNEL).condition(X, Y > 0)
    for post, ability in (
        (sparse, "data"),
        (sparse, "observations"),
        (labels, "expansion"),
        (labels, "affine_update"),
        (mixture([exact, exact]), "expansion"),
    ):
        with pytest.raises(ll.Unsupported, match=f"has no '{ability}'.*xact"):
            getattr(post, ability)


@pytest.mark.parametrize("model", ["exact", "sparse", "labels", "outputs"])
def test_a_fit_checks_its_data_once(model):
    fits = {
        "exact": lambda: EXACT.fit(X, Y, restarts=1),
        "sparse": lambda: SPARSE.fit(X, Y, restarts=1),
        "labels": lambda: LaplaceClassifier(KERNEL).fit(X, Y > 0, restarts=1),
        "outputs": lambda: ll.MultiGP(KERNEL, 2).fit(X, np.stack([Y, -Y], axis=1), restarts=1),
    }
    checks = (as_rows, as_targets, as_labels, as_weights, checked_outputs)
    codes, seen = {inspect.unwrap(check).__code__ for check in checks}, []

    def watch(frame, event, _):
        if event == "call" and frame.f_code in codes:
            seen.append(frame.f_code.co_name)

    sys.setprofile(watch)
    try:
        fits[model]()
    finally:
        sys.setprofile(None)
    assert seen
    assert len(seen) == len(set(seen))
