"""Networks as classifiers: the loss, batches, training in one program, and ensembles."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit, logit
from tests.ratios.classifiers import data

from leadline.boundary import InvalidData
from leadline.ratios import MLP, Network
from leadline.ratios._average import averaged_logits
from leadline.ratios._labeled import as_labeled
from leadline.ratios._networks._batches import batch_rows, first_places
from leadline.ratios._networks._training import Plan, begin, log_loss, train

KEY = jax.random.key(0)
NETWORK = Network((2, 8, 8, 1), "elu")
X, Z = data(60)


def trained(rows, n, steps=20, start=None, batch=None, network=NETWORK, rate=1e-2, decay=0.0):
    """A network that is trained in double precision."""
    if start is None:
        start = begin(network, 1, KEY, np.float64)
    return train(network, Plan(batch), start, rows, n, KEY, steps, rate, decay)


def test_the_network_is_its_formula():
    theta = np.asarray(NETWORK.init(KEY))
    assert theta.shape == (NETWORK.size,) == (2 * 8 + 8 + 8 * 8 + 8 + 8 + 1,)
    w1, b1 = theta[:16].reshape(2, 8), theta[16:24]
    w2, b2 = theta[24:88].reshape(8, 8), theta[88:96]
    elu = lambda a: np.where(a > 0, a, np.expm1(a))  # noqa: E731
    hidden = elu(elu(X @ w1 + b1) @ w2 + b2)
    np.testing.assert_allclose(NETWORK.features(jnp.asarray(theta), X), hidden, rtol=1e-12)
    np.testing.assert_allclose(
        NETWORK.apply(jnp.asarray(theta), X), hidden @ theta[96:104] + theta[104], rtol=1e-11
    )


def test_gradient_of_rows_that_count_as_both_labels():
    """Negative with weight 1 and positive with weight U: (p (1 + U) - U) / N. Check: tiao S3.5."""
    random = np.random.default_rng(0)
    f, utility = 3.0 * random.normal(size=50), random.exponential(size=50)
    z, w = np.repeat([0.0, 1.0], 50), np.concatenate([np.ones(50), utility])

    def loss(f):
        return log_loss(jnp.concatenate([f, f]), z, w) / 50

    p = expit(f)
    np.testing.assert_allclose(
        jax.grad(loss)(f), (p * (1 + utility) - utility) / 50, rtol=0, atol=1e-10
    )
    direct = -np.mean(utility * np.log(p) + np.log1p(-p))
    np.testing.assert_allclose(loss(f), direct, rtol=1e-12)


@pytest.mark.parametrize("n", [64, 65, 100, 1000])
def test_every_row_is_as_likely_as_any_other(n):
    """Over places that are evenly spread, the share of each row is that of a part, 1 / n."""
    batch, grid = 64, 4096
    places = np.round((np.arange(grid) + 0.5) / grid * 2.0**32).astype(np.uint32)
    rows = np.asarray(batch_rows(jnp.asarray(np.repeat(places[:, None], batch, 1)), 3, n))
    assert rows.min() == 0
    assert rows.max() == n - 1
    share = np.bincount(rows.ravel(), minlength=n) / rows.size
    np.testing.assert_allclose(share, 1.0 / n, atol=2.0 / rows.size * 1.01)
    parts = np.arange(batch) * n / batch
    assert np.all(rows >= np.floor(parts))
    assert np.all(rows <= parts + n / batch)


def test_rows_are_visited_evenly():
    """As many steps as an epoch has, twice: few rows are missed, and none is seen often.

    Independent draws would miss e^-2 = 14 percent of the rows.
    """
    n, batch = 1024, 64
    places = first_places(KEY, (batch,))
    rows = np.concatenate([batch_rows(places, step, n) for step in range(2 * n // batch)])
    seen = np.bincount(rows, minlength=n)
    assert np.mean(seen == 0) < 0.02
    assert seen.max() <= 4


def test_batches_of_many_rows_stay_inside():
    """Also where a place rounds to 1."""
    n = 16_000_001
    places = jnp.full((64,), 2**32 - 1, jnp.uint32)
    assert np.asarray(batch_rows(places, 0, n)).max() == n - 1


def test_padding_does_not_change_a_fit():
    labeled = as_labeled(X, Z)
    more = [np.concatenate([a, np.broadcast_to(a[:1], (68, *a.shape[1:]))]) for a in labeled]
    more[2][60:] = 0.0
    one, other = trained(labeled.padded(), 60), trained(type(labeled)(*more), 60)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-9, atol=1e-11)


def test_weights_are_repetitions():
    random = np.random.default_rng(1)
    x, z = X[:20], Z[:20]
    weight = random.integers(1, 4, 20).astype(float)
    rows = np.repeat(np.arange(20), weight.astype(int))
    one = trained(as_labeled(x, z, weight).padded(), 20)
    other = trained(as_labeled(x[rows], z[rows]).padded(), len(rows))
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-9, atol=1e-11)
    plain = trained(as_labeled(x, z).padded(), 20)
    assert np.abs(one.weights - plain.weights).max() > 1e-3


def test_a_batch_has_the_gradient_of_all_rows_on_average():
    """One step of Adam's first moment is 0.1 times the gradient, whose mean is over places."""
    x, z = data(200)
    weight = np.random.default_rng(2).exponential(size=200) ** 2
    labeled = as_labeled(x, z, weight).padded()
    start = begin(NETWORK, 1, KEY, np.float64)
    step = jax.jit(
        lambda key: train(NETWORK, Plan(64), start, labeled, 200, key, 1, 1e-2, 0.0).mean[0]
    )
    found = np.stack([step(jax.random.key(s)) for s in range(400)])
    exact = trained(labeled, 200, steps=1).mean[0]
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    # Of 105 weights, the largest of as many standard errors is below 4.5 but once in 1400 times.
    assert np.all(np.abs(found.mean(axis=0) - exact) <= 4.5 * error + 1e-14)
    assert np.all(error[:16] > 0)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_a_penalty_is_one_on_the_mean_loss(decay):
    rows = as_labeled(X, Z).padded()
    start = begin(NETWORK, 1, KEY, np.float64)

    def loss(theta):
        f = NETWORK.apply(theta, X)
        return log_loss(f, Z, np.ones(60)) / 60 + 0.5 * decay * jnp.sum(theta**2)

    found = trained(rows, 60, steps=1, decay=decay).mean[0]
    np.testing.assert_allclose(found, 0.1 * jax.grad(loss)(start.weights[0]), rtol=1e-9, atol=1e-14)


def test_a_warm_start_goes_on_where_the_fit_has_ended():
    rows = as_labeled(X, Z).padded()
    half = trained(rows, 60, steps=20)
    whole, continued = trained(rows, 60, steps=40), trained(rows, 60, steps=20, start=half)
    assert int(continued.count) == 40
    np.testing.assert_allclose(continued.weights, whole.weights, rtol=1e-10, atol=1e-12)


def test_a_warm_start_of_the_classifier_goes_on():
    """In single precision, and through the state that a journal keeps."""
    classifier = MLP((8, 8), steps=20)
    first = classifier.fit(X, Z, key=KEY)
    second = classifier.fit(X, Z, key=KEY, state=first.state())
    whole = MLP((8, 8), steps=40).fit(X, Z, key=KEY)
    np.testing.assert_allclose(second.logits(X), whole.logits(X), rtol=1e-4, atol=1e-4)
    assert np.abs(second.logits(X) - first.logits(X)).max() > 0.1


def test_the_number_of_steps_compiles_nothing(compilations):
    settings = {"hidden": (8, 8), "learning_rate": 1e-2}
    MLP(steps=3, **settings).fit(X, Z, key=KEY)
    before = compilations[0]
    MLP(steps=4, hidden=(8, 8), learning_rate=2e-2, decay=0.1).fit(X, Z, key=KEY)
    assert compilations[0] == before


def test_more_steps_lower_the_loss():
    rows = as_labeled(X, Z).padded()
    losses = [
        float(log_loss(NETWORK.apply(trained(rows, 60, steps=s).weights[0], X), Z, np.ones(60)))
        for s in (1, 20, 40)
    ]
    assert losses[2] < losses[1] < losses[0]


@pytest.mark.parametrize("balance", [0.1, 0.5, 0.8])
def test_logistic_regression_finds_the_ratio_of_two_normals(balance):
    """Log ratio -x + 1/2 of N(0, 1) to N(1, 1), and off by the prior's log odds without it.

    Check: tiao S2.5
    """
    n, ones = 20_000, int(20_000 * balance)
    random = np.random.default_rng(int(10 * balance))
    x = np.concatenate([random.normal(size=ones), 1.0 + random.normal(size=n - ones)])[:, None]
    z = (np.arange(n) < ones).astype(float)
    classifier = MLP(hidden=(), steps=400, batch=n, learning_rate=0.05)
    found = classifier.fit(x, z, key=KEY)
    at_zero, at_one = found.logits(np.array([[0.0], [1.0]]))
    assert abs((at_one - at_zero) + 1.0) < 0.08
    assert abs(at_zero - logit(balance) - 0.5) < 0.08
    if balance != 0.5:
        assert abs(at_zero - 0.5) > 1.0

    # The maximum of the likelihood, by Newton's method.
    basis, theta = np.concatenate([x, np.ones((n, 1))], axis=1), np.zeros(2)
    for _ in range(12):
        p = expit(basis @ theta)
        hessian = (basis * (p * (1 - p))[:, None]).T @ basis
        theta = theta - np.linalg.solve(hessian, basis.T @ (p - z))
    np.testing.assert_allclose(found.trained.weights[0], theta, atol=2e-3)


def test_an_ensemble_averages_probabilities():
    found = MLP((8, 8), members=3).fit(X, Z, key=KEY)
    f = np.stack([NETWORK.apply(jnp.asarray(w), X) for w in found.trained.weights])
    np.testing.assert_allclose(found.logits(X), logit(expit(f).mean(axis=0)), rtol=1e-9, atol=1e-9)
    assert np.all(f.std(axis=0) > 0)


def test_members_are_networks_of_their_own():
    """A member is trained as it would be alone."""
    rows = as_labeled(X, Z).padded()
    start = begin(NETWORK, 2, KEY, np.float64)
    both = trained(rows, 60, start=start)
    second = type(start)(*(a[1:] for a in start[:3]), start.count)
    alone = trained(rows, 60, start=second)
    np.testing.assert_allclose(both.weights[1], alone.weights[0], rtol=1e-9, atol=1e-11)


def test_a_bootstrap_makes_members_differ_from_the_same_start():
    rows, start = as_labeled(X, Z).padded(), begin(NETWORK, 1, KEY, np.float64)
    same = type(start)(*(jnp.repeat(a, 2, axis=0) for a in start[:3]), start.count)
    plain = train(NETWORK, Plan(None), same, rows, 60, KEY, 20, 1e-2, 0.0).weights
    boot = train(NETWORK, Plan(None, True), same, rows, 60, KEY, 20, 1e-2, 0.0).weights
    np.testing.assert_array_equal(plain[0], plain[1])
    assert np.abs(boot[0] - boot[1]).max() > 1e-3


@pytest.mark.parametrize("library", [np, jnp])
def test_averages_do_not_saturate(library):
    f = library.asarray([[-800.0, 800.0, 50.0, 0.0], [-800.0, 800.0, -50.0, 1.0]])
    exact = [-800.0, 800.0, 0.0, logit((0.5 + expit(1.0)) / 2)]
    np.testing.assert_allclose(averaged_logits(f), exact, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_the_unit_of_weights_does_not_matter(unit):
    """Not even where single precision ends."""
    weight = np.random.default_rng(3).exponential(size=60)
    classifier = MLP((8, 8), steps=20)
    one, other = (classifier.fit(X, Z, w, key=KEY).logits(X) for w in (weight, unit * weight))
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [1e30, 1e100])
def test_rows_that_training_cannot_take_are_an_error(size):
    with pytest.raises(InvalidData, match=r"diverged.*must be scaled"):
        MLP((8, 8), steps=20).fit(size * X, Z, key=KEY)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"activation": "elo"}, "Did you mean 'elu'"),
        ({"hidden": (0,)}, "hidden"),
        ({"steps": 0}, "steps"),
        ({"batch": 0}, "batch"),
        ({"members": 0}, "members"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"decay": -1.0}, "decay"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(InvalidData, match=message):
        MLP(**settings)
