"""The uniform measure on a box."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, is_traced
from leadline.measures._measure import Measure, as_cube, as_points, as_vectors, on_host, shown


class Uniform(Measure):
    """The uniform law on the box from `lower` to `upper`, each a number or `(d,)`."""

    lower: Float[Array, " d"]
    upper: Float[Array, " d"]

    def __init__(self, lower: Any, upper: Any):
        lower, upper = as_vectors(lower=lower, upper=upper)
        if not is_traced(lower, upper) and np.any(lower >= upper):
            i = int(np.argmax(lower >= upper))
            raise InvalidData(
                f"lower must be below upper in every coordinate, but lower[{i}] = {lower[i]:g} and "
                f"upper[{i}] = {upper[i]:g}."
            )
        self.lower, self.upper = jnp.asarray(lower), jnp.asarray(upper)

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.lower.shape[0]

    @property
    def width(self) -> Float[Array, " d"]:
        """The length of each side."""
        return self.upper - self.lower

    @property
    def mean(self) -> Float[Array, " d"]:
        """The center of the box."""
        return 0.5 * (self.lower + self.upper)

    @property
    def cov(self) -> Float[Array, "d d"]:
        """A twelfth of the squared sides."""
        return jnp.diag(self.width**2 / 12.0)

    def sample(self, key: Array, n: int) -> Float[Array, "n d"]:
        """Draw `n` independent points."""
        return self.quantile(jax.random.uniform(key, (n, self.dim)))

    def quantile(self, u: Float[Array | np.ndarray, "n d"]) -> Float[Array, "n d"]:
        """The affine map from the unit cube to the box."""
        _, u, lower, upper = on_host(as_cube(u, self.dim), self.lower, self.upper)
        return jnp.asarray(lower + u * (upper - lower))

    def log_prob(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """Minus the log volume inside the box, its faces included."""
        x = as_points(x, self.dim)
        inside = jnp.all((x >= self.lower) & (x <= self.upper), axis=1)
        return jnp.where(inside, -jnp.sum(jnp.log(self.width)), -jnp.inf)

    def __repr__(self) -> str:
        return f"Uniform(lower={shown(self.lower)}, upper={shown(self.upper)})"
