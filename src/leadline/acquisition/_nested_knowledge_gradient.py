"""The knowledge gradient where any row of the unit cube may be chosen later.

    KG(X) = E max_x { mean(x) + k_D(x, X) A z } - max_x mean(x)

(see `leadline.acquisition._knowledge_gradient`). Given a sample z, the mean is an expansion in the
kernel, with weights at the rows of the data and at X,

    mean(x) = m(x) + k(x, data) (w - K^-1 k(data, X) v) + k(x, X) v,    v = A z

so that inner searches solve no systems. The maximum over x is either found for each X (nested:
searches inside the value, whose gradient holds the maxima fixed, by the envelope theorem; Wu and
Frazier 2016), or its place is one more argument for each sample, and all are searched for together
(one-shot: Balandat et al. 2020). One-shot values are never above the nested one, and reach it at
the maxima. From each sample the mean at the row that is highest now is taken off, not max mean(x),
which is the expectation of it: that is less noisy, and nested values are never negative.

Notation: `b` sets of `q` rows X, `m` samples z, `n` rows of data; larger is better.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.acquisition._knowledge_gradient import (
    as_candidates,
    base_columns,
    observe,
    require_exact,
    root_of_inverse,
)
from leadline.boundary import InvalidData
from leadline.models import Expansion, Posterior
from leadline.numerics import minimize_together, spread_best
from leadline.search import Acquisition

_SEARCHES, _EVALUATIONS = 2, 60
_TOLERANCE = 1e-10  # of the standard deviation of a mean over the candidates


class _Means(NamedTuple):
    """Means given each of `m` outcomes at X: their weights at what was kept, and at X."""

    old: Float[Array, "*b n m"]
    new: Float[Array, "*b q m"]
    x: Float[Any, "*b q d"]

    def everywhere(self, form: Expansion, points: Any) -> Float[Array, "m c"]:
        """Each mean at the same points (c, d)."""
        old, new = form.features(points), form.kernel(self.x, points)
        return form.mean(points) + self.old.T @ old + self.new.T @ new

    def paired(self, form: Expansion, points: Any) -> Float[Array, "m s"]:
        """Each mean at points of its own (m, s, d)."""
        m, s, d = points.shape
        rows = points.reshape(m * s, d)
        old = form.features(rows).reshape(-1, m, s)
        new = form.kernel(self.x, rows).reshape(-1, m, s)
        found = jnp.einsum("nm,nms->ms", self.old, old) + jnp.einsum("qm,qms->ms", self.new, new)
        return form.mean(rows).reshape(m, s) + found


class OneShotKnowledgeGradient(Acquisition):
    """The knowledge gradient of X at given inner rows: a set is X, then a row for each sample.

    `completed` adds the best inner rows to X: a start of the joint search. The value of X alone,
    also at its end, is `values(completed(x))`.

    Args:
        posterior: of an exact Gaussian process on the unit cube.
        base: standard normal samples `(m, columns)`: a column for each row of X.
        candidates: rows `(c, d)` of the unit cube, the best of which inner searches begin with.

    Attributes:
        starts: the candidates, and after them the row where the mean is highest now.
    """

    posterior: Posterior
    base: Float[Any, "m columns"]
    starts: Float[Array, "c d"]

    def __init__(self, posterior: Any, base: Any, candidates: Any):
        require_exact(posterior, type(self).__name__)
        self.posterior = posterior
        self.base = base
        self.starts = _with_highest(posterior, as_candidates(candidates, posterior))

    def values(self, x: Float[Any, "b rows d"]) -> Float[Array, " b"]:
        """The value of each of `b` sets of q + m rows."""
        m = self.base.shape[0]
        q = x.shape[1] - m
        if q < 1:
            raise InvalidData(
                f"{type(self).__name__} takes sets of one or more points and a row for each of the "
                f"{m} samples, (b, q + {m}, d), got {x.shape}."
            )

        form = self.posterior.expansion()

        def rises(means, rows):
            then = means.paired(form, rows[:, None])
            return then - means.everywhere(form, self.starts[-1:])

        return jnp.mean(jax.vmap(rises)(self._means(x[:, :q]), x[:, q:]), axis=(1, 2))

    def completed(self, x: Float[Any, "b q d"]) -> Float[Array, "b rows d"]:
        """Each X, then the row where the mean given each sample is highest, as a constant."""
        means = self._means(jax.lax.stop_gradient(jnp.asarray(x)))
        form = self.posterior.expansion()
        inner = jax.lax.map(lambda mean: _argmax_of_each(form, mean, self.starts), means)
        return jnp.concatenate([x, jax.lax.stop_gradient(inner)], axis=1)

    def _means(self, x: Array) -> _Means:
        form, (b, q, d) = self.posterior.expansion(), x.shape
        z = base_columns(self.base, q, type(self).__name__)
        observed = observe(self.posterior, x)
        new = jnp.einsum("bqr,mr->bqm", root_of_inverse(observed.factor), z)
        solved = form.information.times(form.features(observed.x.reshape(b * q, d)))
        taken = jnp.einsum("nbq,bqm->bnm", solved.reshape(-1, b, q), new)
        return _Means(form.weights[:, None] - taken, new, x)


class NestedKnowledgeGradient(Acquisition):
    """The knowledge gradient of X, with an inner search for each sample.

    Args:
        posterior: of an exact Gaussian process on the unit cube.
        base: standard normal samples `(m, columns)`: a column for each row of X.
        candidates: rows `(c, d)` of the unit cube, the best of which inner searches begin with.

    Attributes:
        one_shot: the same with the inner rows as arguments.
    """

    one_shot: OneShotKnowledgeGradient

    def __init__(self, posterior: Any, base: Any, candidates: Any):
        require_exact(posterior, type(self).__name__)
        self.one_shot = OneShotKnowledgeGradient(posterior, base, candidates)

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The knowledge gradient of each of `b` sets of points."""
        return self.one_shot.values(self.one_shot.completed(x))


@eqx.filter_jit
def _with_highest(posterior: Posterior, candidates: Array) -> Float[Array, "c d"]:
    """The candidates and, after them, the row where the mean is highest now."""
    form = posterior.expansion()
    means = _Means(form.weights[:, None], jnp.zeros((1, 1)), candidates[:1])
    return jnp.concatenate([candidates, _argmax_of_each(form, means, candidates)])


def _argmax_of_each(form: Expansion, means: _Means, starts: Array) -> Float[Array, "m d"]:
    """Where each mean is highest: searches from its best starts, and from the best row of X."""
    values = means.everywhere(form, starts)
    scale = jnp.std(values, axis=1)
    scale = jnp.where(scale > 0, scale, 1.0)
    first = spread_best(starts, -values, _SEARCHES)
    own = means.x[jnp.argmax(means.everywhere(form, means.x), axis=1)]
    first = jnp.concatenate([first, own[:, None]], axis=1)
    m, s, d = first.shape

    def losses(u, args):
        form, means, scale = args
        return (-means.paired(form, u.reshape(m, s, d)) / scale[:, None]).reshape(m * s)

    found = minimize_together(
        losses,
        (form, means, scale),
        first.reshape(m * s, d),
        jnp.zeros((1, d)),
        jnp.ones((1, d)),
        tolerance=_TOLERANCE,
        max_evaluations=_EVALUATIONS,
    )
    best = jnp.argmin(found.value.reshape(m, s), axis=1)
    return found.u.reshape(m, s, d)[jnp.arange(m), best]
