"""Moments of Gaussian processes with squared exponential kernels at a normal input.

Notation: input x ~ N(mu, S) with `d` columns; `p` functions, for a = 1 .. p

    f_a(x) = b_a + sum_i w_ai k_a(x, c_ai) + residual,  k_a(x, y) = v_a exp(-|x - y|^2_a / 2),

|.|_a the distance in units of the length scales, Lambda_a their squares. The residual has the
covariance k_a(x, y) - k_a(x, c_a) P_a k_a(c_a, y), or is zero. With nu_i = c_ai - mu, z_ai =
Lambda_a^-1 nu_i and the expected kernel values q_ai = E k_a(x, c_ai),

    log q_ai  = log v_a - 1/2 log |I + S / Lambda_a| - 1/2 nu_i^T (S + Lambda_a)^-1 nu_i
    E f_a     = b_a + w_a . q_a
    slope_a   = S^-1 Cov(x, f_a) = sum_i w_ai q_ai (S + Lambda_a)^-1 nu_i
    Cov_ab    = sum_ij w_ai w_bj (Q_ij - q_ai q_bj) + [a = b] (v_a - tr P_a Q)
    Q_ij      = E k_a(x, c_ai) k_b(x, c_bj) = q_ai q_bj exp(D_ij)

(Deisenroth et al. 2015, section 4). D_ij is of the size of S, and expm1 of it keeps the digits that
the difference Q_ij - q_ai q_bj would lose. Slopes stay finite where S is singular, and chain: if y
is uncorrelated with what x leaves open, Cov(y, f) = Cov(y, x) slope (Wilson 2023, footnote 16).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, Unsupported, as_rows, is_traced
from leadline.dynamics._posteriors import as_posteriors
from leadline.kernels import Scale, SquaredExponential
from leadline.means import Constant, Zero
from leadline.models import KernelExpansion, Posterior


class Moments(NamedTuple):
    """Moments of outputs `f (p,)` at a random input `x (d,)`.

    `mean (p,)`, `cov (p, p)`, and `slope (d, p)` with Cov(x, f) = Cov(x, x) slope: the best affine
    approximation of f has this slope.
    """

    mean: Float[Array, " p"]
    cov: Float[Array, "p p"]
    slope: Float[Array, "d p"]


class Expansions(eqx.Module):
    """Functions as in the module's notation; `precision` is None if there is no residual."""

    offset: Float[Array, " p"]
    variance: Float[Array, " p"]
    lengthscale: Float[Array, "p d"]
    centers: Float[Array, "p k d"]
    weights: Float[Array, "p k"]
    precision: Float[Array, "p k k"] | None = None


def moment_matching(posteriors: Any, mean: Any, cov: Any) -> Moments:
    """Moments of Gaussian processes at an input that is N(mean, cov); exact.

    Args:
        posteriors: exact or Titsias posteriors with squared exponential kernels (scaled or not,
            with one or `d` length scales) and constant means, one for each output.
        mean: `(d,)`.
        cov: `(d, d)`; it may be singular.
    """
    posteriors = as_posteriors(posteriors)
    if is_traced(posteriors, mean, cov):
        return _match(posteriors, mean, cov)
    d = posteriors[0].query_columns
    mean, cov = np.asarray(mean, dtype=float), as_rows(cov, "cov")
    if mean.shape != (d,) or cov.shape != (d, d):
        raise InvalidData(
            f"The posteriors take inputs with {d} columns: mean must be ({d},) and cov ({d}, {d}), "
            f"got {mean.shape} and {cov.shape}."
        )
    return _match_jit(posteriors, mean, cov)


def _match(posteriors: tuple, mean: Any, cov: Any) -> Moments:
    return match_moments(expansions_of(posteriors), mean, cov)


def expansions_of(posteriors: tuple[Posterior, ...]) -> Expansions:
    """Put posteriors side by side, those with fewer centers filled up by some without weight."""
    forms = [post.expansion() for post in posteriors]
    for post, form in zip(posteriors, forms, strict=True):
        if not isinstance(form, KernelExpansion):
            raise Unsupported(
                "Moments at a normal input are known for kernels at points, which "
                f"{type(post).__name__} is not written with."
            )
    k = max(form.centers.shape[0] for form in forms)
    parts = [_expansion(form, k - form.centers.shape[0]) for form in forms]
    return Expansions(*(jnp.stack(part) for part in zip(*parts, strict=True)))


def _expansion(form: KernelExpansion, missing: int) -> tuple[Array, ...]:
    kernel, variance = form.kernel, jnp.ones(())
    while isinstance(kernel, Scale):
        kernel, variance = kernel.kernel, variance * kernel.variance
    if not isinstance(kernel, SquaredExponential):
        raise Unsupported(
            f"Moments at a normal input are known for squared exponential kernels, not for {kernel}"
            ". Function draws (`simulate`, `PILCO` with pathwise propagation) work with others."
        )
    if not isinstance(form.mean, Constant | Zero):
        raise Unsupported(f"Moments at a normal input take a constant mean, not {form.mean}.")
    centers = jnp.asarray(form.centers)
    root = jnp.pad(form.root, ((0, missing), (0, 0)))
    return (
        form.mean(centers[:1])[0],
        variance,
        jnp.broadcast_to(kernel.lengthscale, centers.shape[1:]),
        jnp.pad(centers, ((0, missing), (0, 0)), mode="edge"),
        jnp.pad(form.weights, (0, missing)),
        root @ root.T,
    )


def match_moments(f: Expansions, mean: Float[Array, " d"], cov: Float[Array, "d d"]) -> Moments:
    """The moments of all functions, in O(p^2 k^2); traces."""
    p = f.weights.shape[0]
    nu, inverse_squares = f.centers - mean, f.lengthscale**-2
    logdet, t = _shrunk(cov, inverse_squares)
    z = nu * inverse_squares[:, None]
    # (S + Lambda)^-1 = Lambda^-1 - Lambda^-1 T Lambda^-1
    pulled = z - (z @ t) * inverse_squares[:, None]
    q = f.variance[:, None] * jnp.exp(-0.5 * (jnp.sum(pulled * nu, axis=2) + logdet[:, None]))
    wq = f.weights * q

    # All pairs a <= b, one after the other along the first axis.
    a, b = np.triu_indices(p)
    both, t_ab = _shrunk(cov, inverse_squares[a] + inverse_squares[b])
    own_a = 0.5 * jnp.sum((z[a] @ (t_ab - t[a])) * z[a], axis=2)
    own_b = 0.5 * jnp.sum((z[b] @ (t_ab - t[b])) * z[b], axis=2)
    own_b = own_b + 0.5 * (logdet[a] + logdet[b] - both)[:, None]
    d = (z[a] @ t_ab) @ jnp.swapaxes(z[b], 1, 2) + own_a[:, :, None] + own_b[:, None, :]
    # Q_ij <= v q, so that values beyond e^700 belong to products q q that are zero.
    excess = jnp.expm1(jnp.minimum(d, 700.0))
    entries = jnp.einsum("rj,rj->r", jnp.einsum("ri,rij->rj", wq[a], excess), wq[b])
    spread = jnp.zeros((p, p)).at[a, b].set(entries).at[b, a].set(entries)
    if f.precision is not None:
        joint = f.precision * (1.0 + excess[a == b])
        explained = jnp.einsum("pj,pj->p", jnp.einsum("pi,pij->pj", q, joint), q)
        spread = spread + jnp.diag(jnp.maximum(f.variance - explained, 0.0))
    return Moments(f.offset + jnp.sum(wq, axis=1), spread, jnp.einsum("pk,pkd->dp", wq, pulled))


def _shrunk(cov: Float[Array, "d d"], precision: Float[Array, "r d"]) -> tuple[Array, Array]:
    """log |I + S D| and T = (I + S D)^-1 S, for each diagonal D in `precision`."""
    root = jnp.sqrt(precision)
    both = root[:, :, None] * root[:, None, :]
    inverse, logdet = _inverse(jnp.eye(cov.shape[0]) + cov * both)
    # (I + A)^-1 A = I - (I + A)^-1 would lose the digits of a small A.
    return logdet, (inverse @ (cov * both)) / both


@jax.custom_jvp
def _inverse(a: Float[Array, "r d d"]) -> tuple[Float[Array, "r d d"], Float[Array, " r"]]:
    """Inverses and log determinants of small positive definite matrices, by sweeping.

    Written out because LAPACK is not for batches of them (`leadline.numerics.cholesky`).
    """

    def sweep(k, carry):
        a, logdet = carry
        pivot = a[:, k, k, None]
        row, column = a[:, k, :] / pivot, a[:, :, k]
        a = (a - column[:, :, None] * row[:, None, :]).at[:, k, :].set(row)
        a = a.at[:, :, k].set(-column / pivot).at[:, k, k].set(1.0 / pivot[:, 0])
        return a, logdet + jnp.log(pivot[:, 0])

    return jax.lax.fori_loop(0, a.shape[1], sweep, (a, jnp.zeros(a.shape[0])))


@_inverse.defjvp
def _inverse_jvp(primals, tangents):
    (a,), (da,) = primals, tangents
    inverse, logdet = _inverse(a)
    return (inverse, logdet), (-inverse @ da @ inverse, jnp.einsum("rij,rji->r", inverse, da))


def probit_moments(
    mean: Float[Array, ""], var: Float[Array, ""]
) -> tuple[Float[Array, ""], Float[Array, ""], Float[Array, ""]]:
    """Mean and variance of Phi(z), and the slope Cov(z, Phi(z)) / var, for z ~ N(mean, var).

    Phi is the normal distribution function; the variance takes Owen's T function.
    """
    h = mean / jnp.sqrt(1.0 + var)
    first = jax.scipy.special.ndtr(h)
    second = first - 2.0 * jax.scipy.special.owens_t(h, 1.0 / jnp.sqrt(1.0 + 2.0 * var))
    slope = jax.scipy.stats.norm.pdf(h) / jnp.sqrt(1.0 + var)
    return first, jnp.maximum(second - first**2, 0.0), slope


_match_jit = eqx.filter_jit(_match)
