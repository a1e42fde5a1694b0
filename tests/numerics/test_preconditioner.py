"""Low rank plus diagonal: solves, roots and determinants against dense linear algebra."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from leadline.numerics import woodbury_preconditioner

RNG = np.random.default_rng(0)
L = jnp.asarray(RNG.normal(size=(12, 4)))
V = jnp.asarray(RNG.normal(size=(12, 3)))


@pytest.mark.parametrize("noise", [0.3, RNG.uniform(0.1, 2.0, 12)], ids=["shared", "per row"])
def test_matches_dense_algebra(noise):
    P = L @ L.T + jnp.diag(jnp.broadcast_to(jnp.asarray(noise), 12))
    preconditioner = woodbury_preconditioner(L, jnp.asarray(noise))
    np.testing.assert_allclose(preconditioner.solve(V), jnp.linalg.solve(P, V), atol=1e-12)
    np.testing.assert_allclose(preconditioner.logdet, jnp.linalg.slogdet(P)[1], rtol=1e-13)
    R, Rt = (
        f(jnp.eye(12))
        for f in (preconditioner.inverse_root, preconditioner.inverse_root_transposed)
    )
    np.testing.assert_allclose(Rt, R.T, atol=1e-14)
    np.testing.assert_allclose(R.T @ P @ R, jnp.eye(12), atol=1e-12)


def test_zero_columns_do_no_harm():
    padded = jnp.concatenate([L, jnp.zeros((12, 2))], axis=1)
    plain, wide = woodbury_preconditioner(L, 0.1), woodbury_preconditioner(padded, 0.1)
    np.testing.assert_allclose(wide.solve(V), plain.solve(V), atol=1e-12)
    np.testing.assert_allclose(wide.inverse_root(V), plain.inverse_root(V), atol=1e-12)
    np.testing.assert_allclose(wide.logdet, plain.logdet, rtol=1e-13)
