"""Laplace classification: against scikit-learn, brute-force integrals and central differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit, log_expit

import leadline as ll
from leadline.boundary import InvalidData, Unsupported
from leadline.models import LaplaceClassifier
from leadline.models._classification._laplace import log_evidence
from leadline.models._classification._mode import laplace_log_evidence, laplace_mode
from leadline.numerics import from_free, to_free

VARIANCE, LENGTHSCALE, MEAN = 4.0, 0.5, 0.3
BASE = ll.kernels.Matern52(LENGTHSCALE)
GP = LaplaceClassifier(VARIANCE * BASE, mean=MEAN)
XS = np.random.default_rng(1).uniform(size=(9, 2))


def matern(x, y):
    """The kernel of GP in NumPy."""
    a = np.sqrt(5.0) * np.linalg.norm((x[:, None] - y[None]) / LENGTHSCALE, axis=-1)
    return VARIANCE * (1.0 + a + a * a / 3.0) * np.exp(-a)


def data(n=24, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 2))
    z = np.sin(5.0 * x[:, 0]) + x[:, 1] + 0.5 * rng.normal(size=n) > 0.7
    return x, z, rng.uniform(0.2, 3.0, size=n)


def test_it_agrees_with_scikit_learn():
    """Evidence and latent mean closely; scikit-learn averages the link more roughly."""
    gaussian_process = pytest.importorskip("sklearn.gaussian_process")
    kernels = gaussian_process.kernels
    x, z, _ = data()
    theirs = gaussian_process.GaussianProcessClassifier(
        VARIANCE * kernels.Matern(LENGTHSCALE, nu=2.5), optimizer=None
    ).fit(x, z)
    post = LaplaceClassifier(VARIANCE * BASE).condition(x, z)
    wanted = theirs.log_marginal_likelihood_value_
    assert float(post.log_evidence) == pytest.approx(wanted, abs=1e-8)
    one = theirs.base_estimator_
    latent = one.kernel_(one.X_train_, XS).T @ (one.y_train_ - one.pi_)
    np.testing.assert_allclose(post.predict(XS).mean, latent, atol=1e-5)
    np.testing.assert_allclose(post.probability(XS), theirs.predict_proba(XS)[:, 1], atol=2e-4)


def test_the_mode_is_where_the_gradient_vanishes():
    x, z, weight = data()
    post = GP.condition(x, z, weight)
    f = np.asarray(post.mode)[:24]
    gradient = weight * (z - expit(f))
    np.testing.assert_allclose(np.linalg.solve(matern(x, x), f - MEAN), gradient, atol=1e-8)
    np.testing.assert_allclose(post.gradient[:24], gradient, atol=1e-10)
    np.testing.assert_allclose(post.predict(x).mean, f, atol=1e-10)


def test_law_and_evidence_are_the_textbook_formulas():
    """Rasmussen and Williams (2006), eqs. 3.21, 3.24 and 3.32, with inverses."""
    x, z, weight = data()
    post = GP.condition(x, z, weight)
    k, f = matern(x, x), np.asarray(post.mode)[:24]
    w = weight * expit(f) * expit(-f)
    cross, solved = matern(x, XS), np.linalg.inv(k + np.diag(1.0 / w))
    cov = matern(XS, XS) - cross.T @ solved @ cross
    np.testing.assert_allclose(post.joint(XS).mean, post.predict(XS).mean, atol=1e-12)
    np.testing.assert_allclose(post.joint(XS).cov, cov, atol=1e-9)
    np.testing.assert_allclose(post.predict(XS).var, np.diag(cov), atol=1e-9)
    likelihood = weight @ log_expit(np.where(z, f, -f))
    fit = (f - MEAN) @ np.linalg.solve(k, f - MEAN)
    logdet = np.linalg.slogdet(np.eye(24) + k * w)[1]
    wanted = likelihood - 0.5 * fit - 0.5 * logdet
    assert float(post.log_evidence) == pytest.approx(wanted, abs=1e-8)


@pytest.mark.parametrize(("variance", "error"), [(0.01, 1e-5), (1.0, 0.03)])
def test_two_rows_against_the_integral_itself(variance, error):
    """The exact posterior of two latent values on a grid; Laplace nears it as the prior narrows."""
    x, z = np.array([[0.1, 0.2], [0.5, 0.4]]), np.array([1, 0])
    post = LaplaceClassifier(variance * BASE, mean=MEAN).condition(x, z)
    k = matern(x, x) * (variance / VARIANCE)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    e = np.stack(np.meshgrid(nodes, nodes)).reshape(2, -1)
    mass = np.outer(weights, weights).ravel() / weights.sum() ** 2
    f = MEAN + np.linalg.cholesky(k) @ e
    likelihood = mass * expit(f[0]) * expit(-f[1])
    evidence = likelihood.sum()
    mean = f @ likelihood / evidence
    assert abs(float(post.log_evidence) - np.log(evidence)) < error
    np.testing.assert_allclose(post.predict(x).mean, mean, atol=3.0 * error)


def test_probability_averages_the_link_over_the_latent_law():
    x, z, _ = data()
    post = GP.condition(x, z)
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    law = post.predict(XS)
    wanted = expit(law.mean[:, None] + law.std[:, None] * nodes) @ weights / weights.sum()
    np.testing.assert_allclose(post.probability(XS), wanted, atol=1e-8)
    np.testing.assert_allclose(post.logits(XS), np.log(wanted / (1.0 - wanted)), atol=1e-7)
    # Negative control: the link at the mean is another, bolder number.
    assert np.all(np.abs(expit(law.mean) - 0.5) > np.abs(wanted - 0.5))
    assert np.max(np.abs(expit(law.mean) - wanted)) > 0.02


def test_padding_changes_nothing_and_everything_traces():
    x, z, weight = data()
    padded = GP.condition(x, z, weight)

    @jax.jit
    def plain(gp, x, z, weight, xs):
        post = gp.condition(x, z, weight)
        return post.log_evidence, post.predict(xs), post.joint(xs), post.logits(xs)

    evidence, law, joint, logits = plain(GP, x, z, weight, XS)
    assert float(padded.log_evidence) == pytest.approx(float(evidence), abs=1e-10)
    np.testing.assert_allclose(padded.predict(XS).mean, law.mean, atol=1e-10)
    np.testing.assert_allclose(padded.predict(XS).var, law.var, atol=1e-10)
    np.testing.assert_allclose(padded.joint(XS).cov, joint.cov, atol=1e-10)
    np.testing.assert_allclose(padded.logits(XS), logits, atol=1e-10)


def central_differences(value, u, h=1e-5):
    return np.array([(value(u + h * e) - value(u - h * e)) / (2.0 * h) for e in np.eye(u.size)])


def test_gradient_of_the_evidence_needs_the_movement_of_the_mode():
    """Central differences to 1e-5; the explicit part alone, a negative control, is far off."""
    x, z, weight = data()
    labels = GP.condition(x, z, weight).labels
    u = to_free(GP)
    both = jax.jit(jax.value_and_grad(lambda u, labels: log_evidence(from_free(GP, u), labels)))
    found = both(u, labels)[1]
    wanted = central_differences(lambda u: both(u, labels)[0], u)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)

    def explicit(u, labels):
        gp = from_free(GP, u)
        k, m = gp.kernel(labels.x, labels.x), gp.mean(labels.x)
        _, a, root, *_ = laplace_mode(*jax.lax.stop_gradient((k, m, labels.z, labels.weight)))
        factor = jnp.linalg.cholesky(jnp.eye(m.size) + root[:, None] * k * root)
        return a @ m + 0.5 * a @ k @ a - jnp.sum(jnp.log(jnp.diagonal(factor)))

    partial = np.asarray(jax.jit(jax.grad(explicit))(u, labels))
    assert np.max(np.abs(partial - wanted)) > 1e-2


def test_gradient_in_the_matrix_itself():
    """Every entry of K and m at once, in random symmetric directions."""
    x, z, weight = data(n=8)
    k, m, z = matern(x, x), np.full(8, MEAN), z.astype(float)
    both = jax.jit(jax.value_and_grad(laplace_log_evidence, argnums=(0, 1)))
    d_k, d_m = both(k, m, z, weight)[1]
    rng = np.random.default_rng(3)
    for _ in range(3):
        e, s, h = rng.normal(size=(8, 8)), rng.normal(size=8), 1e-5
        e = e + e.T
        up, down = both(k + h * e, m, z, weight)[0], both(k - h * e, m, z, weight)[0]
        assert float(np.sum(d_k * e)) == pytest.approx(float(up - down) / (2.0 * h), rel=1e-6)
        up, down = both(k, m + h * s, z, weight)[0], both(k, m - h * s, z, weight)[0]
        assert float(d_m @ s) == pytest.approx(float(up - down) / (2.0 * h), rel=1e-6)


def test_a_weight_counts_a_row_that_often():
    x, z, _ = data(n=12)
    times = np.arange(12) % 3
    weighted = GP.condition(x, z, times)
    repeated = GP.condition(np.repeat(x, times, axis=0), np.repeat(z, times))
    assert float(weighted.log_evidence) == pytest.approx(float(repeated.log_evidence), abs=1e-9)
    np.testing.assert_allclose(weighted.logits(XS), repeated.logits(XS), atol=1e-9)
    np.testing.assert_allclose(weighted.predict(XS).var, repeated.predict(XS).var, atol=1e-9)
    silent = GP.condition(x, z, np.zeros(12))
    assert float(silent.log_evidence) == 0.0
    np.testing.assert_allclose(silent.predict(XS).mean, MEAN)
    np.testing.assert_allclose(silent.predict(XS).var, VARIANCE)


def test_the_other_labels_give_the_other_answer():
    x, z, weight = data()
    one = GP.condition(x, z, weight)
    other = LaplaceClassifier(VARIANCE * BASE, mean=-MEAN).condition(x, 1 - z.astype(int), weight)
    assert float(one.log_evidence) == pytest.approx(float(other.log_evidence), abs=1e-10)
    np.testing.assert_allclose(one.logits(XS), -other.logits(XS), atol=1e-10)
    np.testing.assert_allclose(one.probability(XS), 1.0 - other.probability(XS), atol=1e-12)


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_alone_is_data_like_any_other(label):
    x, _, _ = data()
    gp = LaplaceClassifier(VARIANCE * BASE)
    for post in (gp.condition(x, np.full(24, label)), gp.fit(x, np.full(24, label), restarts=2)):
        p = post.probability(XS)
        assert np.all(p > 0.7) if label else np.all(p < 0.3)
        assert -24 * np.log(2.0) < float(post.log_evidence) < 0.0


@pytest.mark.parametrize(
    ("variance", "mean", "weight"),
    [(1e8, 0.0, 1.0), (1.0, 1e3, 1.0), (1e6, -1e3, 1.0), (4.0, 0.0, 1e6), (1e-12, 800.0, 1e-3)],
)
def test_extremes_stay_finite_and_find_the_mode(variance, mean, weight):
    """Latent values of hundreds, where the logistic function is 0 or 1 in floating point."""
    x, z, _ = data()
    gp = LaplaceClassifier(variance * BASE, mean=mean)
    post = gp.condition(x, z, np.full(24, weight))
    f, a = np.asarray(post.mode)[:24], np.asarray(post.gradient)[:24]
    np.testing.assert_allclose(a, weight * np.where(z, expit(-f), -expit(f)), atol=1e-6 * weight)
    k = matern(x, x) * (variance / VARIANCE)
    slack = 1e-8 * np.max(k @ np.abs(a))
    np.testing.assert_allclose(mean + k @ a, f, rtol=1e-8, atol=slack)
    assert np.isfinite(float(post.log_evidence))
    assert np.all(np.isfinite(post.logits(XS)))
    assert np.all((post.probability(XS) >= 0.0) & (post.probability(XS) <= 1.0))


def test_logits_have_a_gradient_in_the_query():
    x, z, _ = data()
    post = GP.condition(x, z)
    found = jax.jit(jax.grad(lambda xs: post.logits(xs).sum()))(XS)
    h = 1e-5
    for column in range(2):
        step = h * np.eye(2)[column]
        wanted = (post.logits(XS + step) - post.logits(XS - step)) / (2.0 * h)
        np.testing.assert_allclose(found[:, column], wanted, atol=1e-5)


def test_fit_raises_the_evidence_and_follows_the_units_of_the_inputs():
    x, z, _ = data(n=32)
    start = LaplaceClassifier(1.0 * ll.kernels.Matern52(0.05))
    post = start.fit(x, z, restarts=2)
    assert float(post.log_evidence) > float(start.condition(x, z).log_evidence) + 1.0
    far = LaplaceClassifier(1.0 * ll.kernels.Matern52(50.0)).fit(1e3 * x, z, restarts=2)
    assert float(far.log_evidence) == pytest.approx(float(post.log_evidence), abs=1e-2)
    np.testing.assert_allclose(far.logits(1e3 * XS), post.logits(XS), atol=0.05)
    again = post.gp.condition(x, z)
    assert float(again.log_evidence) == pytest.approx(float(post.log_evidence), abs=1e-10)


def test_errors_say_what_is_wanted():
    x, z, _ = data()
    with pytest.raises(InvalidData, match=r"0 or 1 .*got -1.*pass z > 0"):
        GP.condition(x, 2.0 * z - 1.0)
    with pytest.raises(InvalidData, match="weight must not be negative"):
        GP.condition(x, z, -np.ones(24))
    with pytest.raises(InvalidData, match="weight has 3 values"):
        GP.fit(x, z, np.ones(3))
    with pytest.raises(InvalidData, match="z must be real numbers"):
        GP.condition(x, ["yes"] * 24)
    post = GP.condition(x, z)
    with pytest.raises(Unsupported, match="probability"):
        post.predict(XS, noise=True)
    with pytest.raises(InvalidData, match="must have 2 columns"):
        post.probability(XS[:, :1])
    assert "log_evidence=" in repr(post)


def test_samples_have_the_moments_of_the_joint_law():
    """Means within 5 standard errors."""
    x, z, _ = data()
    post = GP.condition(x, z)
    law = post.joint(XS)
    draws = np.asarray(post.sample(jax.random.key(0), XS, 4000))
    assert draws.shape == (4000, 9)
    assert np.all(np.abs(draws.mean(0) - law.mean) < 5.0 * np.sqrt(np.diag(law.cov) / 4000))
