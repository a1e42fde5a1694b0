"""How kernels combine: `+`, `*`, numbers of every kind, `sum`, columns, blocks and matrices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.kernels.registry import gram, inputs

from leadline import fixed
from leadline.kernels import (
    ActiveDims,
    Constant,
    DirectSum,
    Linear,
    Mahalanobis,
    Matern12,
    Matern52,
    Periodic,
    Product,
    Scale,
    SquaredExponential,
    Sum,
)

X = inputs("other", 10)
K = Matern52([0.7, 1.1, 1.6])


@pytest.mark.parametrize("two", [2, 2.0, np.float64(2), np.array(2.0), jnp.asarray(2.0)])
def test_numbers_of_every_kind(two):
    """From both sides: NumPy must not take the product apart."""
    for kernel in (two * K, K * two):
        assert isinstance(kernel, Scale)
        assert float(kernel.variance) == 2.0
    for kernel in (two + K, K + two):
        assert isinstance(kernel, Sum)
        assert sum((np.asarray(gram(kernel, X, X)) - np.asarray(gram(K, X, X))).ravel()) == 200.0


def test_fixed_factor_is_not_learned():
    kernel = fixed(3.0) * K
    assert isinstance(kernel, Scale)
    assert "variance" in kernel.fixed_fields


def test_sums_and_products_are_flat():
    a, b, c = K, Matern12(), Linear()
    assert (a + b + c).kernels == (a, b, c)
    assert (a * b * c).kernels == (a, b, c)
    assert sum([a, b, c]).kernels == (a, b, c)
    assert sum([a]) is a
    assert isinstance((a + b) * c, Product)


@pytest.mark.parametrize("other", ["2", None, [1.0]])
def test_other_things_do_not_combine(other):
    with pytest.raises(TypeError):
        K + other
    with pytest.raises(TypeError):
        other * K


def test_terms_multiply_out():
    """The terms add up to the kernel."""
    kernel = 0.5 * ((K + 2.0) * (Matern12() + Linear() + 1.0)).on([0, 1, 2])
    terms = kernel.terms()
    assert len(terms) == 6
    total = sum(np.asarray(gram(t, X, X)) for t in terms)
    np.testing.assert_allclose(total, gram(kernel, X, X), rtol=1e-12)


def test_three_ways_to_name_columns():
    """The argument, the method and the class give the same object."""
    ways = [
        Matern52([0.7, 1.3], active_dims=[2, 0]),
        Matern52([0.7, 1.3]).on((2, 0)),
        ActiveDims(Matern52([0.7, 1.3]), np.array([2, 0])),
    ]
    assert all(isinstance(way, ActiveDims) and way.dims == (2, 0) for way in ways)
    structures = {jax.tree.structure(way) for way in ways}
    assert len(structures) == 1
    np.testing.assert_array_equal(
        gram(ways[0], X, X), gram(Matern52([0.7, 1.3]), X[:, [2, 0]], X[:, [2, 0]])
    )
    assert Periodic(active_dims=1).dims == (1,)
    assert (K + Constant()).on(1).dims == (1,)


def test_direct_sum_is_a_sum_over_columns():
    blocks = DirectSum([K, Matern12()], [[0, 1, 2], [3]])
    x = np.concatenate([X, X[:, :1] ** 2], axis=1)
    expected = K.on([0, 1, 2]) + Matern12(active_dims=[3])
    np.testing.assert_allclose(gram(blocks, x, x), gram(expected, x, x), rtol=1e-15)


def test_mahalanobis_from_precision():
    """Any positive definite matrix, and nothing but the distance changes; zeros mix nothing."""
    root = np.random.default_rng(0).normal(size=(3, 3))
    precision = root @ root.T + 0.1 * np.eye(3)
    kernel = Mahalanobis.from_precision(SquaredExponential(), precision)
    factor = np.asarray(kernel.factor)
    np.testing.assert_allclose(factor.T @ factor, precision, rtol=1e-12)
    np.testing.assert_array_equal(np.triu(factor, 1), 0.0)
    tau = X[:, None, :] - X[None, :, :]
    expected = np.exp(-0.5 * np.einsum("nmi,ij,nmj->nm", tau, precision, tau))
    np.testing.assert_allclose(gram(kernel, X, X), expected, rtol=1e-12)
    plain = Mahalanobis(K, [0.0, 0.0, 0.0])
    np.testing.assert_allclose(gram(plain, X, X), gram(K, X, X), rtol=1e-13)


def test_batches_of_kernels():
    """`vmap` over parameters: one Gram matrix for each length scale."""
    scales = jnp.array([0.5, 1.0, 2.0])
    batch = jax.vmap(lambda s: Matern52(s)(X, X))(scales)
    np.testing.assert_allclose(batch[2], gram(Matern52(2.0), X, X), rtol=1e-14)
