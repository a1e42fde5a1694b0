"""How many draws, of how many features, with which key: what is none is refused in plain words."""

from __future__ import annotations

import jax
import jaxtyping
import numpy as np
import pytest

import leadline as ll
from leadline.boundary import as_count, as_key
from leadline.models import mixture
from leadline.paths import prior_draws

RNG = np.random.default_rng(0)
X, KEY = RNG.uniform(size=(12, 2)), jax.random.key(0)
Y = np.sin(5.0 * X[:, 0])
ONE = ll.GP(1.0 * ll.kernels.Matern52([0.4, 0.9])).condition(X, Y)
KINDS = {
    "one": ONE,
    "outputs": ll.MultiGP(ll.kernels.Matern52(), outputs=1).condition(X, Y[:, None]),
    "mixture": mixture([ONE, ONE]),
}


@pytest.fixture(autouse=True)
def as_users_call():
    """What is no number shall reach the checks, not those of annotations."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [0, -1, 2.5, "256", None, True, [4]])
def test_how_many_draws(kind, n):
    post = KINDS[kind]
    for draw in (
        lambda: post.paths(KEY, n),
        lambda: post.sample(KEY, X, n),
        lambda: post.predict(X).sample(KEY, n),
    ):
        with pytest.raises(ll.InvalidData, match="n must be a whole number, at least 1, got "):
            draw()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("features", [0, -2, 2.5, "64", None, True])
def test_how_many_features(kind, features):
    with pytest.raises(ll.InvalidData, match="features must be a whole number, at least 1, got "):
        KINDS[kind].paths(KEY, 4, features)


@pytest.mark.parametrize("kind", KINDS)
def test_features_come_in_pairs(kind):
    with pytest.raises(ll.InvalidData, match=r"number of features must be even .* got 3"):
        KINDS[kind].paths(KEY, 4, 3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("key", "message"),
    [
        (7, r"must be a random key, such as jax\.random\.key\(7\), got 7"),
        (np.int64(7), r"such as jax\.random\.key\(7\)"),
        (-1, r"such as jax\.random\.key\(0\), got -1"),
        (None, r"such as jax\.random\.key\(0\), got None"),
        (np.zeros(2), r"must be a random key, such as jax\.random\.key\(0\), got array"),
        (np.array(["a"]), r"must be a random key"),
        (jax.random.split(KEY), r"must be one random key, got an array of shape \(2,\)"),
    ],
)
def test_what_is_no_key(kind, key, message):
    post = KINDS[kind]
    for draw in (
        lambda: post.paths(key, 4),
        lambda: post.sample(key, X, 4),
        lambda: post.predict(X).sample(key, 4),
    ):
        with pytest.raises(ll.InvalidData, match=message):
            draw()


def test_before_data():
    with pytest.raises(ll.InvalidData, match="n must be a whole number"):
        prior_draws(ll.kernels.Matern52(), KEY, 0, dim=2)
    with pytest.raises(ll.InvalidData, match="key must be a random key"):
        prior_draws(ll.kernels.Matern52(), 0, 2, dim=2)


def test_whole_numbers_and_keys_of_all_kinds():
    assert type(as_count(np.int32(4), "n")) is int
    old = jax.random.PRNGKey(3)
    assert as_key(old) is old
    assert jax.eval_shape(as_key, KEY).dtype == KEY.dtype
    paths = ONE.paths(KEY, np.int64(2), np.int32(16))
    np.testing.assert_array_equal(paths(X), ONE.paths(KEY, 2, 16)(X))
