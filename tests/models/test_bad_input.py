"""Bad and odd input to a Gaussian process: a clear error, or a finite and sensible answer."""

from __future__ import annotations

import jax
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import leadline as ll
from leadline import kernels as k

N = 12
RNG = np.random.default_rng(0)
X, XS = RNG.uniform(size=(N, 2)), RNG.uniform(size=(5, 2))
Y = np.sin(6.0 * X[:, 0]) + X[:, 1]
GP = ll.GP(1.0 * k.Matern52([0.4, 0.9]))


def changed(a, where, value):
    a = np.array(a, dtype=float)
    a[where] = value
    return a


@pytest.mark.parametrize("method", ["fit", "condition"])
@pytest.mark.parametrize(
    ("x", "y", "var", "message"),
    [
        (changed(X, (3, 1), np.nan), Y, None, r"x must be finite.* nan at x\[3, 1\]"),
        (changed(X, (3, 1), -np.inf), Y, None, r"x must be finite.* -inf at x\[3, 1\]"),
        (X, changed(Y, 4, np.nan), None, r"y must be finite.* nan at y\[4\]"),
        (X, changed(Y, 4, np.inf), None, r"y must be finite.* inf at y\[4\]"),
        (X, Y, changed(Y, 4, np.nan) ** 2, r"var must be finite.* nan at var\[4\]"),
        (X, Y, -np.ones(N), "var must not be negative, got -1"),
        (X, Y, np.ones(3), "var has 3 values, but there are 12 rows"),
        (X[:, 0], Y, None, r"x must have two dimensions .* shape \(12,\).* x\[:, None\]"),
        (X[None], Y, None, r"x must have two dimensions .* shape \(1, 12, 2\)"),
        (X, Y[:-1], None, "y has 11 values, but there are 12 rows"),
        (X, np.stack([Y, Y], axis=1), None, r"one value per row, shape \(12,\), got \(12, 2\)"),
        (X, 1.0, None, r"one value per row, shape \(12,\), got \(\)"),
        (X[:0], Y[:0], None, r"x must have at least 1 row\(s\), got 0"),
        (np.empty((N, 0)), Y, None, "x must have at least one column"),
        ([], [], None, "x must have two dimensions"),
        (X.astype(str), Y, None, "x must be real numbers: got values of type <U"),
        (X, ["a"] * N, None, "y must be real numbers: got values of type <U1"),
        (X + 1j, Y, None, "x must be real numbers: got values of type complex128"),
        (X, [[1.0], [1.0, 2.0]], None, "y must be real numbers"),
        (X, None, None, "y must"),
        (X[:, :1], Y, None, "Matern52 has 2 values in lengthscale, .* inputs have 1 columns"),
    ],
)
def test_data_that_no_model_can_use(method, x, y, var, message):
    with pytest.raises(ll.InvalidData, match=message):
        getattr(GP, method)(x, y, var)


@pytest.mark.parametrize(
    ("xs", "message"),
    [
        (XS[:, :1], r"xs must have 2 columns, got shape \(5, 1\)"),
        (XS[0], r"xs must have two dimensions .* xs\[:, None\]"),
        (changed(XS, (0, 0), np.nan), "xs must be finite"),
        (XS.astype(str), "xs must be real numbers"),
    ],
)
def test_queries_that_no_model_can_answer(xs, message):
    post = GP.condition(X, Y)
    for ask in (post.predict, post.joint, lambda xs: post.sample(jax.random.key(0), xs, 2)):
        with pytest.raises(ll.InvalidData, match=message):
            ask(xs)


def test_names_that_are_not_known():
    with pytest.raises(
        ll.InvalidData, match=r"priors must be one of 'default', 'quiet', None, got 'defualt'"
    ):
        GP.fit(X, Y, priors="defualt")
    with pytest.raises(ll.InvalidData, match="Did you mean 'default'"):
        GP.fit(X, Y, priors="Default")
    with pytest.raises(ll.InvalidData, match="Did you mean 'nuts'"):
        GP.fit(X, Y, inference="nut")
    with pytest.raises(ll.InvalidData, match="inference='nuts' needs a prior"):
        GP.fit(X, Y, inference="nuts", priors=None)


@pytest.mark.parametrize("restarts", [0, -1])
def test_there_is_at_least_one_start(restarts):
    with pytest.raises(ll.InvalidData, match=f"restarts must be at least 1, got {restarts}"):
        GP.fit(X, Y, restarts=restarts)


@pytest.mark.parametrize("seed", [-1, 2**63, 2**70])
def test_seeds_that_are_no_seeds(seed):
    for model in (GP, ll.MultiGP(GP.kernel, outputs=1)):
        y = Y if model is GP else Y[:, None]
        with pytest.raises(ll.InvalidData, match=f"seed must be a whole number, .* got {seed}"):
            model.fit(X, y, seed=seed)


def test_models_that_do_not_exist():
    kernel = k.Matern52()
    for noise in (-1e-3, np.nan, np.inf, ll.fixed(-1.0)):
        with pytest.raises(ValueError, match="noise of GP must be finite, and zero or positive"):
            ll.GP(kernel, noise=noise)
    with pytest.raises(TypeError, match=r"noise of GP must be a number .* got '0\.1'"):
        ll.GP(kernel, noise="0.1")
    with pytest.raises(TypeError, match="value of Constant must be a number"):
        ll.GP(kernel, mean=np.sin)
    with pytest.raises(TypeError, match="kernel"):
        ll.GP("matern")
    with pytest.raises(ll.InvalidData, match=r"noise must be one number, got shape \(12,\).*`var`"):
        ll.GP(kernel, noise=np.ones(N)).condition(X, Y)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (X.tolist(), Y.tolist()),
        (pd.DataFrame(X, columns=["a", "b"]), pd.Series(Y, index=range(100, 100 + N))),
        (pd.DataFrame(X), pd.DataFrame(Y)),
        (jax.device_put(X), jax.device_put(Y)),
        (np.asfortranarray(X), Y[:, None]),
    ],
    ids=["lists", "pandas", "frames", "jax", "columns"],
)
def test_data_of_other_kinds(x, y):
    wanted, found = GP.condition(X, Y), GP.condition(x, y)
    np.testing.assert_array_equal(found.predict(x).mean, wanted.predict(X).mean)
    assert found.log_evidence == wanted.log_evidence


def test_data_of_other_types():
    """Whatever comes in, the work is done in float64 on the values given."""
    single = GP.condition(X.astype(np.float32), Y.astype(np.float32))
    double = GP.condition(X.astype(np.float32).astype(float), Y.astype(np.float32).astype(float))
    assert single.predict(XS).mean.dtype == np.float64
    np.testing.assert_array_equal(single.predict(XS).mean, double.predict(XS).mean)
    whole = np.arange(2 * N).reshape(N, 2)
    integers, floats = (GP.condition(a, a[:, 0]) for a in (whole, 1.0 * whole))
    np.testing.assert_array_equal(integers.predict(whole).mean, floats.predict(whole).mean)
    flags = GP.fit(whole % 3 == 0, whole[:, 0] % 2 == 0)
    assert np.isfinite(flags.predict([[True, False]]).mean).all()


def assert_sensible(post, x, y, tolerance=0.3):
    """Finite everywhere, and near the data in units of their spread."""
    found = post.predict(x)
    assert np.isfinite(post.log_evidence)
    assert np.isfinite(found.mean).all()
    assert np.isfinite(found.var).all()
    assert np.all(found.var >= 0)
    spread = np.std(y) or max(abs(np.mean(y)), 1.0)
    assert np.max(np.abs(found.mean - y)) <= tolerance * spread


def test_one_row():
    for gp in (GP, ll.GP(1.0 * k.Matern52([0.4, 0.9]), noise=0.0)):
        assert_sensible(gp.condition(X[:1], Y[:1]), X[:1], Y[:1])
        assert_sensible(gp.fit(X[:1], Y[:1]), X[:1], Y[:1])


@pytest.mark.parametrize("value", [0.0, 5.0, -1e12, 1e-12])
def test_constant_targets(value):
    """The constant is the answer, also far away."""
    post = GP.fit(X, np.full(N, value))
    found = post.predict(np.concatenate([XS, [[30.0, -30.0]]]))
    np.testing.assert_allclose(found.mean, value, atol=1e-3 * max(abs(value), 1.0))
    assert np.isfinite(post.log_evidence)
    assert np.all(found.std <= 3.0 * max(abs(value), 1.0))


def test_constant_columns():
    x = np.stack([X[:, 0], np.full(N, 0.1)], axis=1)
    assert_sensible(GP.fit(x, np.sin(6.0 * X[:, 0])), x, np.sin(6.0 * X[:, 0]))


@pytest.mark.parametrize("scale_x", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("scale_y", [1e-12, 1.0, 1e12])
def test_tiny_and_huge_values(scale_x, scale_y):
    post = GP.fit(scale_x * X, scale_y * Y)
    assert_sensible(post, scale_x * X, scale_y * Y)
    shifted = GP.fit(scale_x * X, scale_y * (Y + 1e3))
    assert_sensible(shifted, scale_x * X, scale_y * (Y + 1e3))


def test_columns_of_very_different_size():
    x = X * [1e-12, 1e12]
    assert_sensible(GP.fit(x, Y), x, Y)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_duplicate_rows_without_noise(scale):
    """Only jitter keeps the matrix definite; it is relative, so the answer has the data's unit."""
    x, y = np.concatenate([X, X]), scale * np.concatenate([Y, Y])
    gp = ll.GP(scale**2 * k.Matern52([0.4, 0.9]), noise=ll.fixed(0.0))
    assert_sensible(gp.condition(x, y), x, y, tolerance=1e-4)
    assert_sensible(gp.fit(x, y), x, y, tolerance=1e-2)


def test_duplicate_rows_that_contradict_each_other():
    """Between the two values, and noise that can be learned explains the difference."""
    x, y = np.concatenate([X, X]), np.concatenate([Y, Y + 0.4])
    held = ll.GP(1.0 * k.Matern52([0.4, 0.9]), noise=ll.fixed(0.0)).condition(x, y)
    np.testing.assert_allclose(held.predict(X).mean, Y + 0.2, atol=1e-2)
    assert np.isfinite(held.log_evidence)
    learned = GP.fit(x, y)
    np.testing.assert_allclose(learned.predict(X).mean, Y + 0.2, atol=0.15)
    assert 0.01 < float(learned.gp.noise) < 0.12


def test_all_rows_the_same():
    x = np.full((N, 2), 0.5)
    post = GP.fit(x, Y)
    np.testing.assert_allclose(post.predict(x[:1]).mean, Y.mean(), atol=0.3 * Y.std())
    assert np.isfinite(post.log_evidence)


def test_a_kernel_that_is_not_positive_definite():
    """The error names the matrix, the number of rows without padding, and the likely cause."""

    class Saddle(k.Kernel):
        def __call__(self, x, y):
            return -(x @ y.T)

        def diag(self, x):
            return -(x * x).sum(axis=1)

    with pytest.raises(
        ll.NotPositiveDefinite, match=r"the 12 x 12 covariance matrix of the data .* duplicate"
    ):
        ll.GP(Saddle(), noise=0.0).condition(X, Y)


ODD = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-12, -1e12, 1e12, 0.1, 0.3])


@settings(max_examples=40)
@given(n=st.integers(1, 8), data=st.data(), noise=st.sampled_from([0.0, 1e-6]))
def test_whatever_the_numbers(n, data, noise):
    """Duplicates, constants and wild scales: predictions are finite, or an error says why not."""
    x = data.draw(arrays(np.float64, (n, 2), elements=ODD))
    y = data.draw(arrays(np.float64, n, elements=ODD))
    gp = ll.GP(1.0 * k.Matern52([0.4, 0.9]), noise=noise)
    for post in (gp.condition(x, y), gp.fit(x, y)):
        for found in (post.predict(XS), post.predict(x, noise=True), post.leave_one_out()):
            assert np.isfinite(found.mean).all()
            assert np.isfinite(found.var).all()
            assert np.all(found.var >= 0)
        assert np.isfinite(post.log_evidence)
