"""Frames with their columns in another order: put in order, or refused by name."""

from __future__ import annotations

import jax
import numpy as np
import pandas as pd
import pytest

import leadline as ll
from leadline.kernels import Matern52, SquaredExponential
from leadline.models import LaplaceClassifier, Titsias, mixture
from leadline.paths import stack_outputs

RNG = np.random.default_rng(0)
X, XS = RNG.uniform(size=(12, 2)), RNG.uniform(size=(5, 2))
Y = np.sin(6.0 * X[:, 0]) + X[:, 1]
KEY = jax.random.key(0)
GP = ll.GP(1.0 * Matern52([0.4, 0.9]))
SHARED = ll.GP(1.0 * Matern52(lengthscale=0.4))
SEVERAL = ll.MultiGP(SquaredExponential(1.0), outputs=3)
YS = np.stack([Y, -Y, 2.0 * Y], axis=1)


def frame(a, names=("a", "b")):
    return pd.DataFrame(a, columns=list(names))


def turned(a):
    """The same table with its columns the other way round."""
    return frame(a)[["b", "a"]]


MODELS = {
    "exact": lambda x: GP.condition(x, Y),
    "learned": lambda x: GP.fit(x, Y),
    "updated": lambda x: GP.condition(x, Y).update(
        turned(XS) if isinstance(x, pd.DataFrame) else XS, np.arange(5.0)
    ),
    "sparse": lambda x: Titsias(1.0 * Matern52([0.4, 0.9]), X[:5]).condition(x, Y),
    "outputs": lambda x: SEVERAL.condition(x, YS),
    "labels": lambda x: LaplaceClassifier(Matern52()).condition(x, Y > 1.0),
    "mixture": lambda x: mixture([SHARED.condition(x, y) for y in (Y, 2.0 * Y, -Y)]),
    "member": lambda x: mixture([GP.condition(x, Y), GP.condition(x, Y)]).member(1),
    "tree": lambda x: jax.tree.map(lambda a: a, GP.condition(x, Y)),
}


def asked(post, xs):
    """Everything that takes inputs of a query."""
    found = [post.predict(xs).mean, post.sample(KEY, xs, 2)]
    if hasattr(post, "joint"):
        found.append(post.joint(xs).mean)
    if hasattr(post, "probability"):
        found.append(post.probability(xs))
    return [np.asarray(part) for part in found]


@pytest.mark.parametrize("kind", MODELS)
def test_columns_are_put_in_order_and_nothing_is_compiled_for_them(kind, compilations):
    plain = MODELS[kind](X)
    wanted = asked(plain, XS)
    before = compilations[0]
    post = MODELS[kind](frame(X))
    for xs in (turned(XS), frame(XS), XS, XS.tolist(), pd.DataFrame(XS)):
        for found, expected in zip(asked(post, xs), wanted, strict=True):
            np.testing.assert_array_equal(found, expected)
    assert compilations[0] == before
    # What has learned from an array has no names to go by.
    np.testing.assert_array_equal(plain.predict(turned(XS)).mean, plain.predict(XS[:, ::-1]).mean)
    with pytest.raises(ll.InvalidData, match=r"columns that the data had, a, b, but has 'b' miss"):
        post.predict(frame(XS, ["a", "c"]))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "c"], r"xs must have the columns .* a, b, but has 'b' missing and 'c' unknown"),
        (["c"], r"has 'a', 'b' missing and 'c' unknown"),
        (["b"], r"but has 'a' missing\."),
        (["c", "b", "a"], r"but has 'c' unknown\."),
        (["b", "a", "a"], r"xs has columns of the same name: b, a, a"),
    ],
)
def test_other_columns_are_named(names, message):
    post = GP.condition(frame(X), Y)
    other = frame(np.zeros((3, len(names))), names)
    for ask in (post.predict, post.joint, lambda xs: post.sample(KEY, xs, 2)):
        with pytest.raises(ll.InvalidData, match=message):
            ask(other)
    here = message.replace("xs ", "x ")
    for tell in (post.update, post.paths(KEY, 2, 16).update):
        with pytest.raises(ll.InvalidData, match=here):
            tell(other, np.zeros(3))
    with pytest.raises(ll.InvalidData, match=message.replace("xs ", "reference ")):
        GP.fit(frame(X), Y, reference=other)


def test_draws_remember_them(compilations):
    one = GP.condition(frame(X), Y)
    for post, y in ((one, np.arange(5.0)), (SEVERAL.condition(frame(X), YS), np.ones((5, 3)))):
        paths = post.paths(KEY, 2, 16)
        wanted, found = paths.update(XS, y), paths.update(turned(XS), y)
        np.testing.assert_array_equal(found(turned(XS)), wanted(XS))
        assert found.input_names == ("a", "b")
    mixed = mixture([one, one]).paths(KEY, 2, 16)
    np.testing.assert_array_equal(mixed(turned(XS)), mixed(XS))
    both = stack_outputs([one.paths(KEY, 2, 16), one.paths(KEY, 2, 16)])
    np.testing.assert_array_equal(both(turned(XS)), both(XS))
    assert one.paths(KEY, 2, 16)[:1].input_names == ("a", "b")
    wanted, made = one.paths(KEY, 2, 16)(XS), compilations[0]
    found = GP.condition(frame(X, ["c", "d"]), Y).paths(KEY, 2, 16)(frame(XS, ["c", "d"]))
    np.testing.assert_array_equal(found, wanted)
    assert compilations[0] == made


def test_members_of_a_mixture_have_the_same_columns():
    with pytest.raises(ll.InvalidData, match=r"must have the same columns, got \('a', 'b'\) and N"):
        mixture([GP.condition(frame(X), Y), GP.condition(X, Y)])


def test_columns_that_are_only_numbered_have_no_names():
    post = GP.condition(pd.DataFrame(X), Y)
    assert post.input_names is None
    np.testing.assert_array_equal(post.predict(turned(XS)).mean, post.predict(XS[:, ::-1]).mean)


def test_diagnostics_put_them_in_order(compilations):
    plain, post = GP.condition(X, Y), GP.condition(frame(X), Y)
    features = ll.paths.FourierFeatures(GP.kernel, 16, 2, key=KEY)
    for ask in (
        ll.diagnostics.weight_function,
        lambda post, xs: ll.diagnostics.decoupled_moments(post, features, xs).cov,
    ):
        wanted, made = ask(plain, XS), compilations[0]
        np.testing.assert_array_equal(ask(post, turned(XS)), wanted)
        assert compilations[0] == made


def test_inducing_points_of_a_frame_have_columns_too():
    """Data of another order are put in theirs: length scales belong to columns."""
    wanted = Titsias(1.0 * Matern52([0.4, 0.9]), X[:5]).condition(X, Y).predict(XS).mean
    model = Titsias(1.0 * Matern52([0.9, 0.4]), turned(X[:5]))
    learned = model.fit(frame(X), Y).predict(XS[:, ::-1]).mean
    for data in (frame(X), turned(X), X[:, ::-1]):
        post = model.condition(data, Y)
        assert post.input_names == ("b", "a")
        np.testing.assert_allclose(post.predict(frame(XS)).mean, wanted, rtol=1e-9)
        again = model.fit(data, Y).predict(turned(XS)).mean
        np.testing.assert_array_equal(again, learned)
    with pytest.raises(ll.InvalidData, match=r"x must have the columns .* but has 'a' missing"):
        model.condition(frame(X, ["c", "b"]), Y)


@pytest.mark.slow
def test_sampled_hyper_parameters_keep_them():
    post = GP.fit(frame(X), Y, inference="nuts")
    np.testing.assert_array_equal(post.predict(turned(XS)).mean, post.predict(XS).mean)
