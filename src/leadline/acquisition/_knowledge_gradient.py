"""The knowledge gradient: how much higher the highest mean is expected to be after more calls.

Later the row with the highest posterior mean will be chosen. Observations at X, noise included,
move the means of all rows together (Frazier et al. 2009; Wilson 2023, table 2.1):

    mean(x) -> mean(x) + k_D(x, X) A z,    A A^T = Sigma^-1,    Sigma = k_D(X, X) + noise = L L^T

with standard normal z, so that each row is a line a + B z, and the knowledge gradient of X is

    KG(X) = E max_i (a_i + B_i z) - max_i a_i

The table prints the root as Sigma^-1/2 and leaves out the noise. A = L^-T is a root; L^-1, which
also could be meant, is not.

Notation: `b` sets of `q` rows X, `c` candidates, `l` lines, `m` samples; k_D is the posterior
covariance; larger is better.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float, Int

from leadline.acquisition._improvement import log_h
from leadline.boundary import InvalidData, Unsupported, as_rows, is_traced
from leadline.models import Posterior
from leadline.numerics import root_of_inverse, small_cholesky
from leadline.search import Acquisition, single_points

# Lines whose slopes differ less are parallel: what they would add underflows, also in logarithms.
_PARALLEL = 1e-100
# How many values of lines are compared at once.
_AT_ONCE = 2**24


class Known(NamedTuple):
    """Rows to choose from, and what the data say there: mean, variance, whitened covariances."""

    rows: Float[Array, "c d"]
    mean: Float[Array, " c"]
    var: Float[Array, " c"]
    removed: Float[Array, "n c"]


class Observed(NamedTuple):
    """What is believed of observations at `b` sets of rows X, before they are made.

    `mean` and `cov` are of the function at X, `factor` is L of the observations, and `removed` are
    the whitened covariances of X with the data.
    """

    x: Float[Array, "b q d"]
    mean: Float[Array, "b q"]
    cov: Float[Array, "b q q"]
    factor: Float[Array, "b q q"]
    removed: Float[Array, "n b q"]


def require_exact(posterior: Any, name: str) -> None:
    """An error unless the posterior is of an exact Gaussian process."""
    if not hasattr(posterior, "observations"):
        raise Unsupported(
            f"{name} needs an exact Gaussian process, which says how observations would move its "
            f"mean and how noisy they are; got {type(posterior).__name__}."
        )


def as_candidates(candidates: Any, posterior: Posterior) -> Float[Array, "c d"]:
    """Candidates as rows, checked unless they are traced."""
    if not is_traced(candidates):
        candidates = as_rows(candidates, "candidates", columns=posterior.query_columns)
    return jnp.asarray(candidates)


@eqx.filter_jit
def known_at(posterior: Posterior, rows: Float[Array, "c d"]) -> Known:
    """What the data say at rows, which stays the same while X is searched for."""
    found = posterior.project(rows)
    explained = jnp.sum(found.removed**2, axis=0)
    var = jnp.maximum(posterior.gp.kernel.diag(rows) - explained, 0.0)
    return Known(rows, found.mean, var, found.removed)


def observe(posterior: Posterior, x: Float[Any, "b q d"]) -> Observed:
    """What is believed of observations at each of `b` sets of rows."""
    b, q, d = x.shape
    x = jnp.asarray(x)
    rows = x.reshape(b * q, d)
    found = posterior.project(rows)
    removed = found.removed.reshape(-1, b, q)
    prior = jax.vmap(lambda each: posterior.gp.kernel(each, each))(x)
    cov = prior - jnp.einsum("nbq,nbr->bqr", removed, removed)
    noise = posterior.observation_noise(rows).reshape(b, q)
    variances = jnp.diagonal(prior, axis1=1, axis2=2) + noise
    factor = small_cholesky(cov + noise[:, :, None] * jnp.eye(q), variances)
    return Observed(x, found.mean.reshape(b, q), cov, factor, removed)


def lines(
    posterior: Posterior, known: Known, observed: Observed, own: bool
) -> tuple[Float[Array, "b l"], Float[Array, "b l q"]]:
    """Intercepts a and slopes B of the means at known rows and, if `own`, at X itself."""
    b, q, d = observed.x.shape
    prior = posterior.gp.kernel(known.rows, observed.x.reshape(b * q, d))
    removed = known.removed.T @ observed.removed.reshape(-1, b * q)
    cross = jnp.moveaxis((prior - removed).reshape(-1, b, q), 0, 1)  # (b, c, q)
    a = jnp.broadcast_to(known.mean, cross.shape[:2])
    if own:
        cross = jnp.concatenate([cross, observed.cov], axis=1)
        a = jnp.concatenate([a, observed.mean], axis=1)
    return a, jnp.einsum("blq,bqr->blr", cross, root_of_inverse(observed.factor))


def upper_envelope(a: Float[Array, "b l"], slopes: Float[Array, "b l"]) -> Int[Array, "b l"]:
    """The lines a + slope z that are highest somewhere, from z = -inf on; the last one repeats.

    From each line on to the one that overtakes it first: as many turns as the longest envelope of
    the batch has lines, and each compares all lines. Lines need not be sorted for that.
    """
    take = jnp.take_along_axis
    lowest = jnp.min(slopes, axis=1, keepdims=True)
    first = jnp.argmax(jnp.where(slopes == lowest, a, -jnp.inf), axis=1)[:, None]
    places = jnp.arange(a.shape[1])

    def overtaken(state):
        _, current, _ = state
        return jnp.any(slopes - take(slopes, current, 1) > _PARALLEL)

    def turn(state):
        t, current, found = state
        rise = slopes - take(slopes, current, 1)
        steeper = rise > _PARALLEL
        where = (take(a, current, 1) - a) / jnp.where(steeper, rise, 1.0)
        ahead = jnp.argmin(jnp.where(steeper, where, jnp.inf), axis=1)[:, None]
        current = jnp.where(jnp.any(steeper, axis=1, keepdims=True), ahead, current)
        return t + 1, current, jnp.where(places >= t, current, found)

    start = (jnp.asarray(1), first, jnp.broadcast_to(first, a.shape))
    return jax.lax.while_loop(overtaken, turn, start)[2]


def log_expected_rises(
    a: Float[Array, "b l"], slopes: Float[Array, "b l"]
) -> Float[Array, "b breaks"]:
    """Terms of E max_i (a_i + slope_i z) - max_i a_i as logarithms; -inf where there is none.

    Each break c_j of the upper envelope, where the slope grows by r_j, adds r_j h(-|c_j|) (Frazier
    et al. 2009, eq. 14). Which lines those are does not change with a small step, so gradients are
    those of the terms.
    """
    order = upper_envelope(*jax.lax.stop_gradient((a, slopes)))
    a, slopes = (jnp.take_along_axis(part, order, axis=1) for part in (a, slopes))
    rise = slopes[:, 1:] - slopes[:, :-1]
    real = rise > _PARALLEL
    rise = jnp.where(real, rise, 1.0)
    crossing = jnp.where(real, (a[:, :-1] - a[:, 1:]) / rise, 0.0)
    return jnp.where(real, jnp.log(rise) + log_h(-jnp.abs(crossing)), -jnp.inf)


class KnowledgeGradient(Acquisition):
    """The expected rise of the highest mean over finitely many rows by one observation; exact.

    Args:
        posterior: of an exact Gaussian process.
        candidates: the rows `(c, d)` among which one will be chosen.
        own: whether the row of the observation itself may be chosen too (Scott et al. 2011).
    """

    posterior: Posterior
    known: Known
    own: bool = eqx.field(static=True)

    def __init__(self, posterior: Any, candidates: Any, own: bool = True):
        require_exact(posterior, type(self).__name__)
        self.posterior = posterior
        self.known = known_at(posterior, as_candidates(candidates, posterior))
        self.own = own

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The knowledge gradient (or its logarithm) at each of `b` points."""
        single_points(self, x)
        observed = observe(self.posterior, x)
        a, slopes = lines(self.posterior, self.known, observed, self.own)
        terms = log_expected_rises(a, slopes[:, :, 0])
        if not type(self).logarithmic:
            return jnp.sum(jnp.exp(terms), axis=1)
        # A sum of nothing has no derivative that is a number.
        some = jnp.any(terms > -jnp.inf, axis=1)
        safe = jnp.where(some[:, None], terms, 0.0)
        return jnp.where(some, logsumexp(safe, axis=1), -jnp.inf)


class LogKnowledgeGradient(KnowledgeGradient):
    """The logarithm of the knowledge gradient, which does not underflow; -inf where it is 0."""

    logarithmic: ClassVar[bool] = True
    __init__ = KnowledgeGradient.__init__  # inherited anyway, but type checkers expect the fields


class MonteCarloKnowledgeGradient(Acquisition):
    """The expected rise of the highest mean over finitely many rows by observations at X.

    The mean over fixed samples z of the highest line minus the one that would be chosen without
    the observations. Both move with z, and the expectation of the latter is max a: that is less
    noisy than max a itself, and never negative. Only these two lines have gradients, and which
    they are is fixed. Beside running calls the choice without the observations is made with the
    outcomes of those calls; their columns of z come first.

    Args:
        posterior: of an exact Gaussian process.
        candidates: the rows `(c, d)` among which one will be chosen.
        base: standard normal samples `(m, columns)`: a column for each observation, those of
            running calls included.
        own: whether the rows of the observations themselves may be chosen too.
    """

    posterior: Posterior
    known: Known
    base: Float[Any, "m columns"]
    running: Float[Any, "p d"]
    own: bool = eqx.field(static=True)

    def __init__(self, posterior: Any, candidates: Any, base: Any, own: bool = True):
        require_exact(posterior, type(self).__name__)
        self.posterior = posterior
        self.known = known_at(posterior, as_candidates(candidates, posterior))
        self.base = base
        self.running = np.zeros((0, posterior.query_columns))
        self.own = own

    def after(self, rows: Float[Any, "k d"]) -> MonteCarloKnowledgeGradient:
        """The same beside calls at `rows` that are running."""
        rows = as_rows(rows, "rows", columns=self.posterior.query_columns, minimum=0)
        running = np.concatenate([np.asarray(self.running), rows])
        return eqx.tree_at(lambda g: g.running, self, running)

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The knowledge gradient of each of `b` sets of points."""
        p, d = self.running.shape
        before = jnp.broadcast_to(jnp.asarray(self.running), (x.shape[0], p, d))
        x = jnp.concatenate([before, x], axis=1)
        z = base_columns(self.base, x.shape[1], type(self).__name__)
        a, slopes = lines(self.posterior, self.known, observe(self.posterior, x), self.own)
        now = _highest(a, slopes[:, :, :p], z[:, :p]) if p else jnp.argmax(a, axis=1)[:, None]
        then = _highest(a, slopes, z)
        return jnp.mean(_heights(a, slopes, z, then) - _heights(a, slopes, z, now), axis=1)


def base_columns(base: Any, count: int, name: str) -> Float[Array, "m count"]:
    """The first columns of base samples, one for each observation."""
    if base.shape[1] < count:
        raise InvalidData(
            f"{name} draws {count} observations together, running calls included, and needs a "
            f"column of base samples for each; base has shape {base.shape}."
        )
    return jnp.asarray(base)[:, :count]


def _highest(a: Array, slopes: Array, z: Array) -> Int[Array, "b m"]:
    """Which of the lines a + B z is highest for each sample."""
    a, slopes = jax.lax.stop_gradient((a, slopes))
    at_once = min(max(_AT_ONCE // a.size, 1), z.shape[0])
    found = jax.lax.map(lambda t: jnp.argmax(a + slopes @ t, axis=1), z, batch_size=at_once)
    return found.T


def _heights(a: Array, slopes: Array, z: Array, chosen: Array) -> Float[Array, "b m"]:
    """The chosen lines (b, m), or one (b, 1) for all samples, at their samples."""
    slopes = jnp.take_along_axis(slopes, chosen[:, :, None], axis=1)
    return jnp.take_along_axis(a, chosen, axis=1) + jnp.sum(slopes * z, axis=-1)
