"""What a posterior adds to a prior draw: an affine map of the draw's values at centers.

Notation: centers `c (k, d)`, queries `xs (m, d)`, weight function `Xi (m, k)`, targets t (k,):

    f(xs) + Xi (t - f(c)),      Xi = k(xs, c) (k(c, c) + D)^-1

(Wilson 2023, eqs. 3.29, 3.31 and 3.39). Data: c are the inputs, t = y - eps, and D = Cov(eps) the
noise variances. Inducing points: c are the points, t = u ~ q(u), and D = 0. `Q (m, r)` is a root of
Cov(Xi t). Columns of padded centers are zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxtyping import Array, Float


class AffineUpdate(NamedTuple):
    """The map at given queries; `mask` says which centers are real, and `root` is Q."""

    centers: Float[Any, "k d"]
    mask: Float[Any, " k"]
    xi: Float[Array, "m k"]
    root: Float[Array, "m r"]
