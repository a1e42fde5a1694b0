"""What holds for every kernel: it is in the registry, traces, is symmetric and positive
semi-definite, agrees with its own diagonal, and treats duplicate rows as equal.
"""

import inspect
import pickle

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.kernels.registry import KERNELS, SPECTRAL, gram, inputs
from tests.programs import computed

from leadline import kernels
from leadline.numerics import from_free, to_free

every_kernel = pytest.mark.parametrize("name", KERNELS)
N = 10


def test_registry_has_every_public_kernel():
    """A kernel that is exported but never tested fails here."""
    public = {
        cls
        for cls in vars(kernels).values()
        if inspect.isclass(cls) and issubclass(cls, kernels.Kernel) and not inspect.isabstract(cls)
    }
    seen = set()
    for kernel, _ in KERNELS.values():
        is_kernel = lambda node: isinstance(node, kernels.Kernel)  # noqa: E731
        stack = [kernel]
        while stack:
            node = stack.pop()
            seen.add(type(node))
            children = (getattr(node, name) for name in vars(node))
            stack += [c for c in jax.tree.leaves(list(children), is_leaf=is_kernel) if is_kernel(c)]
    assert public - seen == set()


@every_kernel
def test_gram_is_symmetric_and_matches_diag(name):
    kernel, kind = KERNELS[name]
    x = inputs(kind, N)
    k = np.asarray(gram(kernel, x, x))
    np.testing.assert_allclose(k, k.T, rtol=0, atol=1e-13)
    np.testing.assert_allclose(np.diagonal(k), computed(kernel.diag, x), rtol=1e-13)


@every_kernel
@settings(max_examples=15)
@given(data=st.data())
def test_gram_is_positive_semi_definite(name, data):
    """Check: naiff S9.6 (with the sums, products and warps of the registry)."""
    kernel, kind = KERNELS[name]
    x = data.draw(arrays(np.float64, (N, 3), elements=st.floats(-3, 3, width=32)))
    if kind == "index":
        x[:, -1] = np.abs(np.round(x[:, -1])).clip(0, 2)
    k = np.asarray(gram(kernel, x, x))
    assert np.linalg.eigvalsh(k).min() >= -1e-10 * N * np.abs(k).max()


@pytest.mark.parametrize("name", SPECTRAL)
def test_duplicate_rows_far_from_the_origin(name):
    """Equal rows covary as a row does with itself, also where squares of inputs are 1e12."""
    kernel, kind = KERNELS[name]
    x = inputs(kind, N) + 1e6
    k = np.asarray(gram(kernel, x, x[::-1].copy()))
    # Waves are sums of squares of cosines and sines, and parts sum to a whole: both round.
    sums = ("Cosine", "SpectralMixture", "Product", "ProductOfSums", "PartlyAdditive")
    rtol = 1e-14 if name in sums else 0.0
    np.testing.assert_allclose(np.diagonal(k[:, ::-1]), computed(kernel.diag, x), rtol=rtol)
    np.testing.assert_allclose(k[:, ::-1], gram(kernel, x, x), rtol=0, atol=1e-12)


@every_kernel
def test_holds_nothing_but_arrays(name):
    """So kernels pass through `jax.jit` and a pickle, and parameters through free coordinates."""
    kernel, _ = KERNELS[name]
    assert all(eqx.is_inexact_array(leaf) for leaf in jax.tree.leaves(kernel))
    assert all(leaf.dtype == jnp.float64 for leaf in jax.tree.leaves(kernel))
    if name != "Coregionalization":  # a kappa of 0 has no logarithm
        again = from_free(kernel, to_free(kernel))
        for a, b in zip(jax.tree.leaves(kernel), jax.tree.leaves(again), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)
    same = pickle.loads(pickle.dumps(kernel))
    assert eqx.tree_equal(same, kernel)
