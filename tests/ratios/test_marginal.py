"""The marginal class posterior: ensembles, Laplace, dropout and SGHMC against exact averages."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit, logit
from tests.ratios.classifiers import data

from leadline.boundary import InvalidData
from leadline.ratios import MLP, SGHMC, Dropout, Ensemble, Laplace, Scikit, forest
from leadline.ratios._labeled import as_labeled
from leadline.ratios._networks._network import Network
from leadline.ratios._networks._sghmc import _curvature

KEY = jax.random.key(0)
X, Z = data(60)
QUERY = np.random.default_rng(1).uniform(-2.0, 2.0, (9, 2))
LINEAR = MLP(hidden=())
PRECISION = 0.5


def line_data(n):
    random = np.random.default_rng(7)
    x = random.uniform(-1.0, 1.0, (n, 1))
    return x, (random.uniform(size=n) < expit(3.0 * x[:, 0] - 0.5)).astype(float)


def exact(x, z, query, weight=None):
    """The mean probability of a logistic regression's posterior, by a sum over slope and bias."""
    weight = np.ones(len(z)) if weight is None else weight
    slope, bias = np.meshgrid(np.linspace(-6, 14, 201), np.linspace(-6, 6, 201), indexing="ij")
    theta = np.stack([slope.ravel(), bias.ravel()])
    f = x @ theta[:1] + theta[1]
    log_p = weight @ (z[:, None] * f - np.logaddexp(0.0, f))
    log_p = log_p - 0.5 * PRECISION * np.sum(theta**2, axis=0)
    p = np.exp(log_p - log_p.max())
    return expit(query @ theta[:1] + theta[1]) @ p / p.sum()


def test_laplace_is_the_normal_law_at_the_mode():
    """Mode, curvature and average are those of NumPy, to rounding."""
    x, z = line_data(40)
    weight = np.random.default_rng(2).exponential(size=40)
    found = Laplace(LINEAR, PRECISION).fit(x, z, weight, key=KEY)
    phi = np.concatenate([x, np.ones((40, 1))], axis=1)
    u = np.zeros(2)
    for _ in range(30):
        p = expit(phi @ u)
        hessian = PRECISION * np.eye(2) + (phi * (weight * p * (1 - p))[:, None]).T @ phi
        u = u - np.linalg.solve(hessian, phi.T @ (weight * (p - z)) + PRECISION * u)
    np.testing.assert_allclose(found.last.mode, u, rtol=1e-9)
    np.testing.assert_allclose(found.last.factor @ found.last.factor.T, hessian, rtol=1e-9)
    query = np.linspace(-3, 3, 7)[:, None]
    at = np.concatenate([query, np.ones((7, 1))], axis=1)
    mean, deviation = at @ u, np.sqrt(np.sum(at * np.linalg.solve(hessian, at.T).T, axis=1))
    t = np.linspace(-10, 10, 4001)
    mass = np.exp(-0.5 * t**2)
    average = expit(mean[:, None] + deviation[:, None] * t) @ mass / mass.sum()
    np.testing.assert_allclose(expit(found.logits(query)), average, rtol=1e-7)


def test_laplace_comes_near_the_exact_average():
    """Its error is of the order 1 / n: 400 rows leave a fifth of what 40 leave, or less."""
    query = np.linspace(-1.5, 1.5, 7)[:, None]
    errors = []
    for n in (40, 400):
        x, z = line_data(n)
        found = Laplace(LINEAR, PRECISION).fit(x, z, key=KEY)
        errors.append(np.abs(expit(found.logits(query)) - exact(x, z, query)).max())
    assert errors[0] < 0.02
    assert errors[1] < 0.2 * errors[0]


def test_laplace_is_less_sure_than_the_network_far_from_data():
    found = Laplace(MLP(hidden=(8,), learning_rate=0.05)).fit(X, Z, key=KEY)
    far = 10.0 * QUERY
    network = found.fitted.network
    phi = network.features(jnp.asarray(found.fitted.trained.weights[0]), far)
    mode = np.asarray(phi) @ found.last.mode[:-1] + found.last.mode[-1]
    assert np.all(np.abs(found.logits(far)) < np.abs(mode))
    assert np.all(np.sign(found.logits(far)) == np.sign(mode))


def test_sghmc_draws_from_the_posterior():
    """The standard error over keys is at most 0.004, a fifth of the bound.

    The network without a posterior is outside the bound.
    """
    x, z = line_data(40)
    query = np.linspace(-2.0, 2.0, 5)[:, None]
    want = exact(x, z, query)
    found = SGHMC(LINEAR, PRECISION, draws=800, gap=200).fit(x, z, key=KEY)
    np.testing.assert_allclose(expit(found.logits(query)), want, atol=0.02)
    plain = MLP(hidden=(), steps=1000, learning_rate=0.05).fit(x, z, key=KEY)
    assert np.abs(expit(plain.logits(query)) - want).max() > 0.02


def test_sghmc_in_batches():
    """Batches of 64 of 300 rows. The standard error is at most 0.0023, a fifth of the bound."""
    x, z = line_data(300)
    query = np.linspace(-2.0, 2.0, 5)[:, None]
    found = SGHMC(LINEAR, PRECISION, draws=400, gap=200).fit(x, z, key=KEY)
    np.testing.assert_allclose(expit(found.logits(query)), exact(x, z, query), atol=0.012)


def test_sghmc_steps_are_short_beside_the_posterior():
    """The bound of the curvature is the largest eigenvalue of a sum over rows."""
    weight = np.random.default_rng(3).exponential(size=60)
    network = Network((2, 4, 1), "tanh")
    theta = network.init(KEY)
    jacobian = np.asarray(jax.jacobian(lambda theta: network.apply(theta, X))(theta))
    largest = np.linalg.eigvalsh(jacobian.T @ (0.25 * weight[:, None] * jacobian))[-1]
    v = jax.random.normal(KEY, theta.shape)
    found = _curvature(network, theta, as_labeled(X, Z, weight), v)
    assert 0.95 * largest < found < 1.001 * largest


def test_sghmc_steps_that_are_too_long_are_an_error():
    with pytest.raises(InvalidData, match=r"diverged.*too large"):
        SGHMC(LINEAR, PRECISION, draws=800, gap=200, step=50.0).fit(*line_data(40), key=KEY)


def test_dropout_of_nothing_is_the_network():
    network = MLP((8, 8), steps=20)
    plain = network.fit(X, Z, key=KEY)
    found = Dropout(network, rate=0.0, draws=3).fit(X, Z, key=KEY)
    np.testing.assert_allclose(found.logits(QUERY), plain.logits(QUERY), rtol=1e-10, atol=1e-10)


def test_dropout_averages_over_masks():
    found = Dropout(MLP((8, 8), steps=20), rate=0.5, draws=6).fit(X, Z, key=KEY)
    network, weights = Network((2, 8, 8, 1), "elu"), jnp.asarray(found.fitted.trained.weights[0])
    f = np.stack([network.apply(weights, QUERY, [m[s] for m in found.masks]) for s in range(6)])
    np.testing.assert_allclose(found.logits(QUERY), logit(expit(f).mean(axis=0)), rtol=1e-8)
    assert set(np.concatenate([m.ravel() for m in found.masks])) == {0.0, 2.0}


def test_training_with_dropout_is_another_training():
    network = MLP((8, 8), steps=20)
    plain, found = network.fit(X, Z, key=KEY), Dropout(network, 0.5).fit(X, Z, key=KEY)
    assert np.abs(plain.trained.weights - found.fitted.trained.weights).max() > 1e-3


def test_an_ensemble_averages_probabilities():
    found = Ensemble(forest(n_estimators=5), 4).fit(X, Z, key=KEY)
    p = np.stack([expit(member.logits(QUERY)) for member in found.members])
    np.testing.assert_allclose(expit(found.logits(QUERY)), p.mean(axis=0), rtol=1e-9)


def test_members_without_chance_or_bootstrap_are_all_the_same():
    from sklearn.linear_model import LogisticRegression

    classifier = Scikit(LogisticRegression())
    alone = classifier.fit(X, Z, key=KEY).logits(QUERY)
    same = Ensemble(classifier, 3, bootstrap=False).fit(X, Z, key=KEY).logits(QUERY)
    np.testing.assert_allclose(same, alone, rtol=1e-9)
    other = Ensemble(classifier, 3).fit(X, Z, key=KEY).logits(QUERY)
    assert np.abs(other - alone).max() > 1e-3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ensemble(3), "classifier must be"),
        (lambda: Ensemble(MLP(), 0), "members"),
        (lambda: Dropout(MLP(), 1.0), "rate"),
        (lambda: Dropout(MLP(), draws=0), "draws"),
        (lambda: Dropout(forest()), "must be an MLP"),
        (lambda: Laplace(MLP(members=2)), "one member"),
        (lambda: Laplace(MLP(), 0.0), "precision"),
        (lambda: SGHMC(MLP(decay=0.1)), "decay"),
        (lambda: SGHMC(MLP(), gap=0), "gap"),
        (lambda: SGHMC(MLP(), step=0.0), "step"),
    ],
)
def test_bad_settings_are_refused(make, message):
    with pytest.raises(InvalidData, match=message):
        make()
