"""What several calls together are worth, averaged over draws of their values.

A set of calls is worth the best of them (`leadline.acquisition._utilities`). With the law of the
function at a set's points, f ~ N(mu, L L^T), and fixed standard normal draws z, its values are
y = mu + L z: smooth functions of the points, and so is the average over z (Wilson 2023, sections
2.3 and 2.4).

The Rao-Blackwellized average takes the points one after the other (Wilson 2023, eq. 2.50). What the
j-th adds to those before it has a closed form given their values, whose parts are in the j-th row
of L:

    y_j | y_1 .. y_{j-1} ~ N(mu_j + sum_{k<j} L_jk z_k, L_jj^2)

It has the same mean, less variance, and a gradient also where no draw improves on anything.

Notation: `b` sets of `q` points beside `p` running calls, `c = p + q` columns; `m` draws; larger
is better.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float

from leadline.acquisition._utilities import Utility
from leadline.boundary import InvalidData, Unsupported, as_rows, is_traced
from leadline.models import Posterior
from leadline.numerics import small_cholesky
from leadline.search import Acquisition

# Above so many drawn values the sets are taken in pieces.
_ENTRIES = 100_000_000


class Columns(NamedTuple):
    """The law of each column of each set, and draws of it.

    `center` is the mean given the data alone; `mean` and `std` are also given the columns before,
    at their values in each draw; `base` are the standard normal draws.
    """

    center: Float[Array, "c b 1"]
    mean: Float[Array, "c b m"]
    std: Float[Array, "c b 1"]
    base: Float[Array, "c 1 m"]

    def worth(self, utility: Utility) -> Array:
        """What each column is worth in each draw."""
        return utility.worth(self.mean + self.std * self.base, self.center)


class MonteCarlo(Acquisition):
    """The expected worth of calls made together, less what running calls are worth.

    The gradient is that of the average (Wilson 2023, eq. 2.29). It is the gradient of the worth in
    expectation, unless the utility jumps: the naive form of `Exceedance` has none at all, and the
    other form only sees how a point changes its own chances, not those of points after it.

    Attributes:
        posterior: under which values at several points are jointly normal.
        utility: what calls are worth.
        base: standard normal draws: one row for each draw of the function, one column for each
            running call and each point, in this order. `base_samples` gives evenly spread ones.
        running: rows of the running calls; None if there are none.
        rao_blackwell: whether to average closed forms, not values.
        submodular: true, since a utility is of one call at a time (Wilson 2023, eq. 2.44).
    """

    posterior: Posterior
    utility: Utility
    base: Float[Any, "m c"]
    running: Float[Any, "p d"] | None = None
    rao_blackwell: bool = eqx.field(default=True, static=True)
    submodular: ClassVar[bool] = True

    def __check_init__(self):
        if not hasattr(self.posterior, "joint_moments_of_each"):
            raise Unsupported(
                f"{type(self.posterior).__name__} has no jointly normal values of one function, "
                f"which {type(self).__name__} needs. `averaged` takes a mixture member by member."
            )
        if self.base.shape[0] == 0:
            raise InvalidData(f"base must have at least one row, got shape {self.base.shape}.")
        columns = self.posterior.query_columns
        if self.running is not None and self.running.shape[1] != columns:
            raise InvalidData(
                f"running must be rows of {columns} columns, got shape {self.running.shape}."
            )

    @property
    def n_running(self) -> int:
        """How many calls are running."""
        return 0 if self.running is None else self.running.shape[0]

    def after(self, rows: Float[Any, "k d"]) -> MonteCarlo:
        """The same beside more calls at `rows`; those before them keep their draws."""
        rows = as_rows(rows, "rows", columns=self.posterior.query_columns)
        if self.running is not None:
            rows = np.concatenate([np.asarray(self.running), rows])
        return dataclasses.replace(self, running=rows)

    def with_base(self, base: Float[Any, "m c"]) -> MonteCarlo:
        """The same with other draws, so that a search can take fresh ones in every step."""
        return dataclasses.replace(self, base=base)

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The worth (or its logarithm) of each of `b` sets."""
        self._check(x)
        b, q, d = x.shape
        size = max(1, _ENTRIES // (self.base.shape[0] * (self.n_running + q)))
        if b <= size:
            return self._estimate(x)
        pieces = -(-b // size)
        filled = jnp.pad(x, ((0, pieces * size - b), (0, 0), (0, 0)), mode="edge")
        # A gradient draws the values of each piece again, or it would remember them all.
        estimate = jax.checkpoint(lambda sets: self._estimate(sets))
        return jax.lax.map(estimate, filled.reshape(pieces, size, q, d)).reshape(-1)[:b]

    def _check(self, x: Any) -> None:
        columns = self.posterior.query_columns
        if x.ndim != 3 or x.shape[1] == 0 or x.shape[2] != columns:
            raise InvalidData(f"x must be sets of points, (b, q, {columns}), got shape {x.shape}.")
        needed = self.n_running + x.shape[1]
        if self.base.shape[1] < needed:
            raise InvalidData(
                f"{self.n_running} running call(s) and {x.shape[1]} point(s) need {needed} "
                f"columns of base samples, got {self.base.shape[1]}."
            )

    def _estimate(self, x: Array) -> Array:
        columns = self._columns(x)
        if self.rao_blackwell:
            return jnp.mean(jnp.sum(self._gains(columns, self.utility.gain), axis=0), axis=1)
        worth = columns.worth(self.utility)
        return jnp.mean(added_worth(worth, self.utility.start, self.n_running), axis=1)

    def _columns(self, x: Array) -> Columns:
        """The running calls and then the points, of each set."""
        b, _, d = x.shape
        if self.running is not None:
            # Running calls are first: then their draws do not depend on the points.
            together = jnp.broadcast_to(jnp.asarray(self.running), (b, self.n_running, d))
            x = jnp.concatenate([together, x], axis=1)
        mean, cov = self.posterior.joint_moments_of_each(x)
        prior = self.posterior.gp.kernel.diag(x.reshape(-1, d)).reshape(mean.shape)
        factor = jnp.swapaxes(small_cholesky(cov, prior), 0, 1)  # (c, b, c)
        c = factor.shape[0]
        z, center = jnp.asarray(self.base)[:, :c], mean.T[:, :, None]
        std = factor[np.arange(c), :, np.arange(c)][:, :, None]
        below = factor * np.tri(c, k=-1)[:, None, :]
        return Columns(center, center + jnp.einsum("jbk,mk->jbm", below, z), std, z.T[:, None, :])

    def _gains(self, columns: Columns, gain: Any) -> Float[Array, "q b m"]:
        """What each point adds to the running calls and the points before it, in each draw."""

        def add(reached, column):
            worth = column.worth(self.utility)
            # Cheaper than a maximum in the gradient, where a maximum looks for ties.
            return jnp.where(worth > reached, worth, reached), gain(
                column.mean, column.std, column.center, reached
            )

        first = Columns(*(part[: self.n_running] for part in columns))
        points = Columns(*(part[self.n_running :] for part in columns))
        reached = best_of(first.worth(self.utility), self.utility.start)
        return jax.lax.scan(add, reached, points)[1]


class LogMonteCarlo(MonteCarlo):
    """The logarithm of the expected worth, where the worth itself would be 0 in floating point.

    Its utility has a finite start, or calls are running: else the worth may be negative.
    """

    logarithmic: ClassVar[bool] = True

    def __check_init__(self):
        if not self.rao_blackwell:
            raise Unsupported(
                "LogMonteCarlo is of closed forms, which are positive; a naive average can be 0. "
                "Keep rao_blackwell=True."
            )
        start = self.utility.start
        if self.n_running == 0 and not is_traced(start) and np.isneginf(start):
            raise Unsupported(
                f"The worth under {type(self.utility).__name__} may be negative unless calls are "
                "running, and then it has no logarithm. Use MonteCarlo."
            )

    def _estimate(self, x: Array) -> Array:
        gains = self._gains(self._columns(x), self.utility.log_gain)
        return logsumexp(gains, axis=(0, 2)) - np.log(gains.shape[2])


def best_of(worth: Float[Array, "c ..."], start: Any) -> Float[Array, ...]:
    """What the best of the columns has reached; `start` if there are none."""
    best = jnp.full(worth.shape[1:], start)
    for column in worth:
        # The gradient of a maximum over an axis looks for entries that equal it. If the compiler
        # computes them twice and rounds differently there is none, and the gradient is 0 / 0.
        best = jnp.where(column <= best, best, column)
    return best


def added_worth(worth: Float[Array, "c ..."], start: Any, first: int = 0) -> Float[Array, ...]:
    """What the best of all columns adds to the best of the first ones, in each draw.

    If nothing is reached before, it is the best of all columns itself.

    Args:
        worth: what each column is worth.
        start: what is reached before any of them.
        first: how many columns the others are compared with.
    """
    before = best_of(worth[:first], start)
    return best_of(worth, start) - jnp.where(jnp.isneginf(before), 0.0, before)
