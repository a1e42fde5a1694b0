"""Targets and inputs of any size: the answers of data near 1, or a clear refusal."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import leadline as ll
from leadline.kernels import Coregionalization, Linear, Matern52, SquaredExponential
from leadline.models import LaplaceClassifier, Titsias
from leadline.numerics import DataScale

RNG = np.random.default_rng(0)
X, XS = RNG.uniform(size=(12, 2)), RNG.uniform(size=(3, 2))
Y = np.sin(6.0 * X[:, 0]) + X[:, 1] + 0.05 * RNG.normal(size=12)
KEY = jax.random.key(0)
# Everything works between 1e-140 and 1e140; a little beyond that much still does, and is refused.
REFUSED, ALLOWED = (-170, -156, -142, 141, 154, 170), (-139, -75, 75, 138)


def kernel(unit, length=1.0):
    return unit**2 * Matern52([0.4 * length, 0.9 * length])


def gp(unit, length=1.0):
    return ll.GP(kernel(unit, length), noise=1e-2 * unit**2)


def fitted(unit):
    return gp(unit).fit(X, unit * Y)


def conditioned(unit):
    return gp(unit).condition(X, unit * Y)


def sparse(unit):
    return Titsias(kernel(unit), X[:5], noise=1e-2 * unit**2).fit(X, unit * Y)


def outputs(unit):
    b = Coregionalization(np.full((3, 1), 0.8 * unit), np.full(3, 0.3 * unit**2))
    model = ll.MultiGP(SquaredExponential(0.5), 3, noise=1e-2 * unit**2, coregions=(b,))
    return model.fit(X, unit * np.stack([Y, 2.0 * Y + X[:, 0], X[:, 1]], axis=1))


MODELS = (fitted, conditioned, sparse, outputs)


def answers(post, unit, length=1.0):
    """Everything that is said about the function, in the unit of the targets."""
    xs = length * XS
    found = post.predict(xs)
    said = [found.mean, found.std, found.quantile([0.1, 0.9]), post.sample(KEY, xs, 2)]
    said += [post.joint(xs).marginals.std, post.paths(KEY, 2, 16)(xs)]
    if hasattr(post, "update"):
        new = np.full((1, *said[0].shape[1:]), 0.5 * unit)
        said += [post.update(xs[:1], new).predict(xs).mean]
    if hasattr(post, "leave_one_out"):
        out = post.leave_one_out()
        said += [out.mean, out.std]
    evidence = post.elbo if hasattr(post, "elbo") else post.log_evidence
    said = [np.asarray(part) / unit for part in said]
    values = X.shape[0] * np.prod(found.mean.shape[1:])
    return [*said, np.asarray(evidence + values * np.log(unit))]


@pytest.fixture(scope="module")
def near_one():
    return {model: answers(model(1.0), 1.0) for model in MODELS}


@pytest.mark.parametrize("model", MODELS)
def test_another_unit_of_targets_changes_no_answer(model, near_one):
    for power in ALLOWED:
        unit = float(f"1e{power}")
        for found, wanted in zip(answers(model(unit), unit), near_one[model], strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("power", REFUSED)
def test_targets_whose_squares_are_no_numbers(power):
    y = float(f"1e{power}") * Y
    several = np.stack([Y, y], axis=1)
    wanted = r"y must (be at most 1e\+140|differ by at least 1e-140).*Multiply y by 1e-?\d+\."
    for learn in (
        lambda: ll.GP(Matern52()).fit(X, y),
        lambda: Titsias(Matern52(), X[:5]).fit(X, y),
        lambda: ll.MultiGP(Matern52(), 2).fit(X, several),
        lambda: ll.MultiGP(Matern52(), 2).fit(X, several[:, ::-1]),
    ):
        with pytest.raises(ll.InvalidData, match=wanted):
            learn()


def test_what_is_told_says_what_to_do():
    with pytest.raises(ll.InvalidData, match=r"got a spread of 2\.\d+e-160.* y by 1e160\."):
        gp(1.0).fit(X, 1e-160 * Y)
    with pytest.raises(ll.InvalidData, match=r"got values of 1e\+200.* y by 1e-200\."):
        gp(1.0).fit(X, 1e200 + 1e185 * Y)
    with pytest.raises(ll.InvalidData, match=r" y by 1e300\."):
        gp(1.0).fit(X, 1e-320 * Y)
    one, several = conditioned(1.0), outputs(1.0)
    for told, y in ((one.gp.condition, Y), (one.update, Y), (several.update, np.ones((12, 3)))):
        with pytest.raises(ll.InvalidData, match=r"y must be at most 1e\+140 in size"):
            told(X, 1e150 * y)
        with pytest.raises(ll.InvalidData, match=r"x must be at most 1e\+140 in size"):
            told(1e150 * X, y)
    with pytest.raises(ll.InvalidData, match=r"var must be at most 1e\+295, got 1e\+300"):
        gp(1.0).condition(X, Y, 1e300)


def test_values_next_to_nothing_are_nothing_to_a_model_that_knows_its_unit():
    """Only learning needs a spread that can be squared."""
    for y in (np.zeros(12), 1e-200 * Y, np.full(12, 1e-320)):
        post = gp(1.0).condition(X, y, 1e-320)
        np.testing.assert_allclose(post.predict(XS).mean, 0.0, atol=1e-15)
    assert gp(1.0).fit(X, np.full(12, 1e-200)).predict(XS).std.max() < 3.0
    np.testing.assert_allclose(
        conditioned(1.0).update(XS[:1], [1e-200]).predict(XS).mean[0], 0, atol=0.2
    )


@pytest.mark.parametrize("value", [1e-300, 1e300])
def test_variances_without_room(value):
    wanted = r"must be (0 or )?between 1e-295 and 1e\+295, got 1e"
    for make in (
        lambda: value * Matern52(),
        lambda: ll.GP(Matern52(), noise=value),
        lambda: Coregionalization([[1.0]], [value]),
        lambda: Linear(value),
    ):
        with pytest.raises(ValueError, match=wanted):
            make()


def test_the_sparse_bound_needs_noise_that_can_be_divided_by():
    with pytest.raises(ll.InvalidData, match=r"Titsias needs noise.* at least 1e-295"):
        Titsias(Matern52(), X[:5], noise=0.0).condition(X, Y, 1e-300)


def test_another_unit_of_inputs_changes_no_answer(near_one):
    for power in ALLOWED:
        length = float(f"1e{power}")
        for post, model in (
            (gp(1.0, length).fit(length * X, Y), fitted),
            (gp(1.0, length).condition(length * X, Y), conditioned),
        ):
            for found, wanted in zip(answers(post, 1.0, length), near_one[model], strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("power", REFUSED)
def test_inputs_whose_squares_are_no_numbers(power):
    x = X * [1.0, float(f"1e{power}")]
    wanted = r"(x|x\[:, 1\]) must (be at most 1e\+140|differ by at least 1e-140).* by 1e-?\d+\."
    for learn in (
        lambda: ll.GP(Matern52()).fit(x, Y),
        lambda: Titsias(Matern52(), X[:5]).fit(x, Y),
        lambda: ll.MultiGP(Matern52(), 1).fit(x, Y[:, None]),
        lambda: LaplaceClassifier(Matern52()).fit(x, Y > 1.0),
    ):
        with pytest.raises(ll.InvalidData, match=wanted):
            learn()


def test_queries_too_far_away():
    post = conditioned(1.0)
    for ask in (post.predict, post.joint, post.paths(KEY, 2, 16)):
        with pytest.raises(ll.InvalidData, match=r"xs? must be at most 1e\+140 in size"):
            ask(1e200 * XS)


def test_slopes_without_a_square():
    """Each size is allowed, their ratio is not."""
    with pytest.raises(ll.InvalidData, match="the square of such a slope is no number"):
        ll.GP(Linear()).fit(1e80 * X, 1e-80 * Y)


@pytest.mark.parametrize("offset", [1e6, 1e12])
def test_an_offset_costs_no_more_than_the_rounding_of_the_data(offset, near_one):
    y = Y + offset
    rounding = np.spacing(offset)
    post = ll.GP(kernel(1.0), mean=offset, noise=1e-2).fit(X, y)
    same = ll.GP(kernel(1.0), mean=0.0, noise=1e-2).fit(X, y - offset)  # rounded as they are
    found, wanted = post.predict(XS), same.predict(XS)
    np.testing.assert_allclose(found.mean - offset, wanted.mean, atol=2 * rounding + 1e-7)
    np.testing.assert_allclose(found.std, wanted.std, atol=2 * rounding + 1e-7)
    np.testing.assert_allclose(wanted.mean, near_one[fitted][0], atol=20 * rounding + 1e-7)
    # A search that starts far away, at mean 0, ends where one near the data does.
    far = gp(1.0).fit(X, y).predict(XS)
    np.testing.assert_allclose(far.mean - offset, wanted.mean, atol=1e-2)
    np.testing.assert_allclose(far.std, wanted.std, atol=1e-2)


def test_targets_far_from_zero_have_a_spread():
    """Only what rounding makes of one value is one value."""
    for offset in (1e12, 1e14):
        scale = DataScale.of(X, Y + offset)
        assert scale.y_std == pytest.approx(np.std(Y), rel=0.02)
    assert DataScale.of(X, 1e12 + np.spacing(1e12) * np.arange(12.0) / 6).y_std == 1e12
