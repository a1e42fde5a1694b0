"""Correlated outputs against brute force in Kronecker form, and against independent processes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import leadline as ll
from leadline.kernels import Coregionalization, Matern32, SquaredExponential
from leadline.models._multi._multi import _with_unseen

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(10, 2))
SHARED = np.sin(5 * X[:, 0])
Y = np.stack([SHARED, 2 * SHARED + X[:, 1], -SHARED], axis=1) + 0.1 * RNG.normal(size=(10, 3))
XS = RNG.uniform(size=(4, 2))
W1 = np.array([[1.0, 0.1], [0.5, -0.3], [-0.7, 0.4]])
W2 = np.array([[0.2], [1.0], [0.3]])
NOISE = np.array([0.01, 0.02, 0.05])
MEAN = np.array([0.1, -0.2, 0.3])


@pytest.fixture(scope="module")
def model():
    """A linear model of coregionalization with two kernels and different ranks."""
    return ll.MultiGP(
        [SquaredExponential(lengthscale=0.5), Matern32(lengthscale=[0.3, 0.6])],
        outputs=3,
        mean=MEAN,
        noise=NOISE,
        coregions=(
            Coregionalization(W1, np.array([0.1, 0.2, 0.3])),
            Coregionalization(W2, np.zeros(3)),
        ),
    )


def brute_force(model, mask):
    """Posterior mean and covariance at XS, and the log evidence, from dense Kronecker sums."""
    everything = np.concatenate([X, XS])
    full = sum(
        np.kron(np.asarray(k(jnp.asarray(everything), jnp.asarray(everything))), np.asarray(b))
        for k, b in zip(model.kernels, model.covariances, strict=True)
    )
    seen = np.flatnonzero(np.concatenate([mask.ravel(), np.zeros(12, bool)]))
    asked = np.arange(30, 42)
    cov = full[np.ix_(seen, seen)] + np.diag(np.tile(NOISE, 10)[seen])
    residual = (Y - MEAN).ravel()[seen]
    gain = np.linalg.solve(cov, full[np.ix_(seen, asked)]).T
    mean = np.tile(MEAN, 4) + gain @ residual
    evidence = stats.multivariate_normal.logpdf(residual, np.zeros(seen.size), cov)
    return mean, full[np.ix_(asked, asked)] - gain @ full[np.ix_(seen, asked)], evidence


@pytest.mark.parametrize("missing", [False, True])
def test_against_brute_force(model, missing):
    mask = RNG.uniform(size=Y.shape) < 0.6 if missing else np.ones(Y.shape, bool)
    mean, cov, evidence = brute_force(model, mask)
    post = model.condition(X, np.where(mask, Y, np.nan), mask if missing else None)
    joint = post.joint(XS)
    np.testing.assert_allclose(joint.mean, mean, atol=1e-8)
    np.testing.assert_allclose(joint.cov, cov, atol=1e-8)
    np.testing.assert_allclose(float(post.log_evidence), evidence, atol=1e-8)
    found = post.predict(XS)
    assert found.mean.shape == (4, 3)
    np.testing.assert_allclose(found.mean.ravel(), mean, atol=1e-8)
    np.testing.assert_allclose(found.var.ravel(), np.diag(cov), atol=1e-8)
    noisy = post.predict(XS, noise=True)
    np.testing.assert_allclose(noisy.var - found.var, np.tile(NOISE, (4, 1)), atol=1e-12)


def test_identity_coregionalization_is_independent_processes():
    kernel = SquaredExponential(lengthscale=0.4)
    own = Coregionalization(np.zeros((3, 1)), np.ones(3))
    post = ll.MultiGP(kernel, outputs=3, mean=MEAN, noise=NOISE, coregions=(own,)).condition(X, Y)
    alone = [ll.GP(kernel, mean=MEAN[o], noise=NOISE[o]).condition(X, Y[:, o]) for o in range(3)]
    found = post.predict(XS)
    for o, single in enumerate(alone):
        np.testing.assert_allclose(found.mean[:, o], single.predict(XS).mean, atol=1e-10)
        np.testing.assert_allclose(found.var[:, o], single.predict(XS).var, atol=1e-10)
    total = sum(float(s.log_evidence) for s in alone)
    np.testing.assert_allclose(float(post.log_evidence), total, atol=1e-8)


def test_update_is_conditioning_on_all(model):
    part = model.condition(X[:7], Y[:7]).update(X[7:], Y[7:])
    whole = model.condition(X, Y)
    np.testing.assert_allclose(part.predict(XS).mean, whole.predict(XS).mean, atol=1e-8)
    np.testing.assert_allclose(float(part.log_evidence), float(whole.log_evidence), atol=1e-8)


def test_draws(model):
    """Moments of 4000 draws within 5 standard errors."""
    post = model.condition(X, Y)
    draws = np.asarray(post.sample(jax.random.key(0), XS, 4000))
    assert draws.shape == (4000, 4, 3)
    joint = post.joint(XS)
    flat = draws.reshape(4000, -1) - joint.mean
    assert np.all(np.abs(flat.mean(0)) < 5 * np.sqrt(np.diag(joint.cov) / 4000))
    products = flat[:, :, None] * flat[:, None, :]
    assert np.all(np.abs(products.mean(0) - joint.cov) < 5 * products.std(0) / np.sqrt(4000))


@pytest.fixture(scope="module")
def learned():
    return ll.MultiGP(SquaredExponential(lengthscale=1.0), outputs=3).fit(X, Y)


def test_fit_learns_that_outputs_vary_together(learned):
    start = ll.MultiGP(SquaredExponential(lengthscale=1.0), outputs=3).condition(X, Y)
    assert float(learned.log_evidence) > float(start.log_evidence) + 5
    b = np.asarray(learned.gp.covariances[0])
    correlation = b / np.sqrt(np.outer(np.diag(b), np.diag(b)))
    assert correlation[0, 1] > 0.5
    assert correlation[0, 2] < -0.5


def against(first):
    """A model that says that the last output goes against the others, in another unit."""
    own = Coregionalization(first * np.array([[0.8], [0.8], [-30.0]]), np.array([0.3, 0.3, 50.0]))
    return ll.MultiGP(
        SquaredExponential(lengthscale=1.0),
        outputs=3,
        mean=[0.0, 0.0, 7.0],
        noise=[0.01, 0.01, 2.0],
        coregions=(own,),
    )


@pytest.mark.parametrize("first", [1.0, -1.0])
def test_an_output_that_was_never_observed(first):
    """It keeps what the model said of it, and follows the others by their covariance."""
    mask = np.ones(Y.shape, bool)
    mask[:, 2] = False
    model = against(first)
    post = model.fit(X, np.where(mask, Y, np.nan), mask)
    learned, given = post.gp.coregions[0], model.coregions[0]
    assert np.isfinite(np.concatenate([a.ravel() for a in jax.tree.leaves(post.gp)])).all()
    np.testing.assert_array_equal(post.gp.mean[2], 7.0)
    np.testing.assert_array_equal(post.gp.noise[2], 2.0)
    np.testing.assert_array_equal([learned.W[2, 0], learned.kappa[2]], [given.W[2, 0], 50.0])
    found, b = post.predict(XS), np.asarray(learned.covariance)
    assert b[0, 2] < 0 < b[0, 1]
    # What the others say of the function that all share is all that is known.
    shared = 7.0 - found.mean[:, 2]
    assert np.corrcoef(shared, found.mean[:, 0])[0, 1] > 0.8
    assert np.all(found.var[:, 2] > 50.0)
    # What is learned of the others does not hang on what was said of it.
    changed = model.fit(X, np.where(mask, Y, 1e3), mask)
    np.testing.assert_array_equal(changed.predict(XS).mean, found.mean)


def test_what_is_learned_is_turned_to_the_model():
    """B = W W^T stays the same under the turn; the unseen output's covariance has its sign."""
    seen, model = np.array([True, True, False]), against(1.0)
    flipped = eqx.tree_at(lambda g: g.coregions[0].W, against(1.0), -model.coregions[0].W)
    turned = _with_unseen(flipped, model, seen)
    np.testing.assert_allclose(turned.covariances[0], model.covariances[0], rtol=1e-12)
    two = Coregionalization(W1, np.ones(3))
    angle = np.array([[0.6, -0.8], [0.8, 0.6]])
    model = ll.MultiGP(SquaredExponential(), outputs=3, rank=2, coregions=(two,))
    rotated = eqx.tree_at(lambda g: g.coregions[0].W, model, two.W @ angle)
    np.testing.assert_allclose(_with_unseen(rotated, model, seen).coregions[0].W, W1, atol=1e-12)


def test_each_output_keeps_its_own_units(learned):
    """Rescaling and shifting each output changes nothing but the units of the answer."""
    unit, shift = np.array([1e6, 1.0, 1e-6]), np.array([1e7, 0.0, 3e-6])
    again = ll.MultiGP(
        SquaredExponential(lengthscale=1.0),
        outputs=3,
        mean=shift,
        noise=1e-2 * unit**2,
        coregions=tuple(
            Coregionalization(unit[:, None] * c.W, unit**2 * c.kappa)
            for c in ll.MultiGP(SquaredExponential(), outputs=3).coregions
        ),
    ).fit(X, shift + unit * Y)
    wanted = learned.predict(XS)
    found = again.predict(XS)
    np.testing.assert_allclose((found.mean - shift) / unit, wanted.mean, atol=1e-3)
    np.testing.assert_allclose(found.std / unit, wanted.std, rtol=1e-2)
    np.testing.assert_allclose(
        float(again.log_evidence) + 10 * np.sum(np.log(unit)),
        float(learned.log_evidence),
        atol=1e-2,
    )


def test_slfm_has_rank_one_and_no_diagonal():
    model = ll.MultiGP([SquaredExponential(), Matern32()], outputs=3, own=False)
    for b in model.covariances:
        assert np.linalg.matrix_rank(np.asarray(b)) == 1
    assert all(c.fixed_fields == frozenset({"kappa"}) for c in model.coregions)


def test_bad_input(model):
    with pytest.raises(ll.InvalidData, match=r"shape \(10, 3\)"):
        model.condition(X, Y[:, :2])
    with pytest.raises(ll.InvalidData, match=r"mask=~np\.isnan"):
        model.condition(X, np.where(Y > 0, Y, np.nan))
    with pytest.raises(ll.InvalidData, match="no observed"):
        model.condition(X, Y, np.zeros(Y.shape, bool))
    with pytest.raises(ll.InvalidData, match="shape of y"):
        model.condition(X, Y, np.ones((10, 2), bool))
    with pytest.raises(ll.InvalidData, match="one output"):
        ll.MultiGP(SquaredExponential(), outputs=0)
    with pytest.raises(ll.InvalidData, match="list of kernels"):
        ll.MultiGP("matern", outputs=2)
    with pytest.raises(ll.Unsupported, match="leave_one_out"):
        model.condition(X, Y).leave_one_out()
