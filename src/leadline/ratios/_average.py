"""The mean of probabilities that are given by their log odds."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from leadline.boundary import is_traced


def averaged_logits(f: Float[Any, "m n"]) -> Float[Any, " n"]:
    """The log odds of the mean over m of sigmoid(f), also where that rounds to 0 or 1.

    NumPy arrays stay on the host.
    """
    if f.shape[0] == 1:
        return f[0]
    if isinstance(f, np.ndarray):
        ones = np.logaddexp.reduce(-np.logaddexp(0.0, -f), axis=0)
        return ones - np.logaddexp.reduce(-np.logaddexp(0.0, f), axis=0)
    ones = jax.nn.logsumexp(jax.nn.log_sigmoid(f), axis=0)
    return ones - jax.nn.logsumexp(jax.nn.log_sigmoid(-f), axis=0)


def stacked(f: list[Any]) -> Float[Any, "m n"]:
    """Log odds of several classifiers at the same rows, on the host unless they are traced."""
    return jnp.stack(f) if is_traced(f) else np.stack([np.asarray(a) for a in f])
