"""Divergences with held-out rows."""

import re

import jax
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from tests.ratios import toy

from leadline.boundary import InvalidData
from leadline.ratios import GENERATORS, Variational, divergence, fit

# Of N(1, 1) from N(0, 1).
TRUTH = {
    "kl": 0.5,
    "reverse_kl": 0.5,
    "js": 0.22190,
    "gan": 0.22190 - np.log(4.0),
    "pearson": 0.5 * (np.e - 1.0),
    "hellinger": 2.0 - 2.0 * np.exp(-1.0 / 8.0),
}


def _normals(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(1.0, 1.0, (n, 1)), rng.normal(0.0, 1.0, (n, 1))


@pytest.mark.parametrize("kind", TRUTH)
def test_by_an_exact_classifier(kind):
    found = divergence(*_normals(20_000), kind, classifier=LogisticRegression(C=1e6), folds=2)
    assert found.kind == kind
    assert abs(found.value - TRUTH[kind]) < 4.0 * found.standard_error
    assert 0.001 < found.standard_error < 0.3


def test_held_out_rows_are_no_part_of_the_fit():
    """Of equal laws the divergence is 0; on rows learned by heart it looks large."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(200, 2)), rng.normal(size=(200, 2))
    nearest = KNeighborsClassifier(3)
    found = divergence(x, y, "js", classifier=nearest)
    assert found.value < 0.0
    ratio = fit(x, y, nearest)
    optimistic = float(GENERATORS["js"].bound(ratio.log_ratio(x), ratio.log_ratio(y)))
    assert optimistic > 0.1


def test_equal_laws():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(300, 1)), rng.normal(size=(300, 1))
    found = divergence(x, y, classifier=LogisticRegression())
    assert abs(found.value) < 0.02


def test_result():
    x, y = _normals(300)
    found = divergence(x, y, classifier=LogisticRegression(), folds=3)
    number = r"\d+(\.\d+)?"
    assert re.fullmatch(rf"Divergence\(KL\[p \|\| q\] = {number} ± {number}\)", repr(found))
    again = divergence(x, y, classifier=LogisticRegression(), folds=3)
    assert again.value == found.value
    everything = fit(x, y, LogisticRegression())
    np.testing.assert_allclose(found.ratio.log_ratio(x), everything.log_ratio(x))


def test_fewest_rows():
    found = divergence([[0.0], [1.0]], [[2.0], [3.0], [4.0]], classifier=LogisticRegression())
    assert np.isfinite(found.value)


@pytest.mark.parametrize(
    ("x", "settings", "message"),
    [
        (np.zeros((1, 1)), {}, "x_numerator must have at least 2"),
        (np.zeros((3, 2)), {}, "x_denominator must have 2 columns"),
        (np.full((3, 1), np.nan), {}, "x_numerator must be finite"),
        (np.zeros((3, 1)), {"kind": "kll"}, "kind must be one of 'kl'.*Did you mean 'kl'"),
        (np.zeros((3, 1)), {"folds": 1}, "folds must be at least 2"),
        (np.zeros((3, 1)), {"objective": "pearsen"}, "objective must be one of .*'pearson'"),
        (
            np.zeros((3, 1)),
            {"objective": "kl", "classifier": "forest"},
            "either classifier or objective",
        ),
    ],
)
def test_bad_input(x, settings, message):
    with pytest.raises(InvalidData, match=message):
        divergence(x, np.zeros((3, 1)), **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "bce"}, "objective must be one of"),
        ({"activation": "sine"}, "activation must be one of"),
        ({"steps": 0}, "steps must be at least 1"),
        ({"batch": 0}, "batch must be at least 1"),
        ({"learning_rate": 0.0}, "learning_rate must be positive"),
        ({"decay": -1.0}, "decay must not be negative"),
    ],
)
def test_bad_settings_of_a_network(settings, message):
    with pytest.raises(InvalidData, match=message):
        Variational(**settings)


def test_networks_draw_rows_by_weight():
    """A row of nearly all the weight is nearly all that the network sees."""
    x = np.array([[-1.0], [1.0], [0.0]])
    z = np.array([1.0, 1.0, 0.0])
    weight = np.array([1.0, 1e6, 1.0])
    network = Variational("js", hidden=(16,), steps=100)
    found = network.fit(x, z, weight, key=jax.random.key(0)).logits(x) - np.log(1e6)
    assert found[1] > 2.0
    assert found[0] < 0.0


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["kl", "gan", "js", "hellinger"])
def test_network_by_the_bound_itself(objective):
    x, y = toy.sample(500, 1500, seed=0)
    ratio = fit(x, y, Variational(objective))
    assert toy.relative_error(ratio, 0.25) < 0.06
    assert abs(toy.mode_of(ratio) - toy.MODE) < 0.4


@pytest.mark.slow
def test_default_network():
    x, y = toy.sample(500, 1500, seed=0)
    for kind, truth in (("kl", 1.065421), ("js", 2 * 0.239322)):
        found = divergence(x, y, kind)
        assert abs(found.value - truth) < 4.0 * found.standard_error
    direct = divergence(x, y, "kl", objective="kl")
    assert abs(direct.value - 1.065421) < 4.0 * direct.standard_error
