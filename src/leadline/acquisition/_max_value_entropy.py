"""How much an observation is expected to tell about the maximum of a function.

Given a maximum m, the function at x is at most m (Wang and Jegelka 2017; their approximation is
that nothing else is known of it). A noisy observation y of it then has less entropy; by how much is
what y tells about m.

Notation: f ~ N(mean, var), y ~ N(f, noise), gamma = (m - mean) / var^1/2, the share rho^2 =
var / (var + noise) of the function in y, tau^2 = 1 - rho^2; phi and Phi are the standard normal
density and its integral, M = Phi / phi is Mills' ratio. With w(t) = t / 2 - M(t) log Phi(t),

    H[y] - H[y | f <= m] = (w(gamma) - tau E w(tau gamma + rho z)) / M(gamma),    z ~ N(0, 1)

Without noise tau is 0, and that is the formula of Wang and Jegelka. With noise the entropy is an
integral (Takeno et al. 2020): y given f <= m has the density

    N(y | mean, var + noise) Phi(t) / Phi(gamma),    t = (gamma - rho u) / tau

in u = (y - mean) / (var + noise)^1/2. In t, the product phi(u) phi(t) is phi(gamma) times the
density of N(tau gamma, rho^2), under which w is smooth and slow: Gauss-Hermite nodes are few.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erfcx
from jaxtyping import Array, Float

from leadline.boundary import Unsupported, as_targets, is_traced
from leadline.models import Posterior
from leadline.search import Acquisition, single_points

_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
_SQRT_HALF_PI = math.sqrt(0.5 * math.pi)
# Twelve nodes are right to 1e-9 nats for every gamma and rho.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(12)
_WEIGHTS = _WEIGHTS / np.sum(_WEIGHTS)
# Below this t four terms of the series of 1 + t M are exact to 1e-13.
_FAR = -100.0
# Parts of the prior variance. The root of a variance has no derivative at 0; an observation without
# any noise would tell infinitely much where the maximum is known; values of less variance are data.
_LEAST_VARIANCE, _LEAST_NOISE, _KNOWN = 1e-20, 1e-10, 1e-8


class MaxValueEntropy(Acquisition):
    """What an observation tells about the maximum, in nats (Wang and Jegelka 2017).

    Attributes:
        posterior: of a Gaussian process.
        maxima: draws of the maximum; see `sample_maxima`.
    """

    posterior: Posterior
    maxima: Float[Any, " s"]

    def __check_init__(self):
        require_process(self)
        if not is_traced(self.maxima):
            as_targets(self.maxima, max(np.size(self.maxima), 1), "maxima")

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The information of an observation at each of `b` points."""
        mean, var, noise = predictive(self.posterior, jnp.asarray(single_points(self, x)))
        each = truncation_information(
            jnp.asarray(self.maxima)[None, :], mean[:, None], var[:, None], noise[:, None]
        )
        return jnp.mean(each, axis=1)


def sample_maxima(
    posterior: Posterior, key: Array, n: int, bounds: Any
) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
    """Where each of `n` draws of the function is highest in a box, and how high.

    Draws are of approximate priors, and may miss data that have no noise by some part of their
    error. A maximum below what is known would be news at the data themselves, so it is raised.

    Args:
        posterior: of a Gaussian process.
        key: a random key.
        n: how many draws.
        bounds: (low, high) of each input column.
    """
    if not hasattr(posterior, "expansion"):
        raise Unsupported(
            f"Maxima are drawn from one Gaussian process, got {type(posterior).__name__}. Of a "
            "mixture, draw those of each member."
        )
    draws = posterior.paths(key, n)
    points = draws.argmax(bounds)
    values = draws.paired(np.asarray(points)[:, None, :])[:, 0]
    rows, box = np.asarray(draws.anchors), np.asarray(bounds, dtype=float)
    marginal = posterior.predict(rows)
    known = marginal.var <= _KNOWN * np.asarray(posterior.gp.kernel.diag(jnp.asarray(rows)))
    inside = np.all((rows >= box[:, 0]) & (rows <= box[:, 1]), axis=1)
    floor = np.max(np.where(known & inside, marginal.mean, -np.inf), initial=-np.inf)
    return points, jnp.maximum(values, floor)


def truncation_information(maximum: Any, mean: Any, var: Any, noise: Any) -> Array:
    """H[y] - H[y | f <= maximum] in nats, of arrays that broadcast; `var` and `noise` positive."""
    total = var + noise
    rho, tau = jnp.sqrt(var / total), jnp.sqrt(noise / total)
    gamma = ((maximum - mean) / jnp.sqrt(var))[..., None]
    nodes = tau[..., None] * gamma + rho[..., None] * _NODES
    w, hazard = _slow_and_hazard(jnp.concatenate([gamma, nodes], axis=-1))
    return hazard[..., 0] * (w[..., 0] - tau * (w[..., 1:] @ _WEIGHTS))


def _slow_and_hazard(t: Array) -> tuple[Array, Array]:
    """w(t) = t / 2 - Phi(t) log Phi(t) / phi(t), and phi(t) / Phi(t), from one Mills' ratio.

    Far above 0, w is about t / 2; far below it is log|t| / |t|: there
    -log Phi = t^2 / 2 + log (2 pi)^1/2 - log M, whose square meets t / 2 in 1 + t M.
    """
    low = jnp.where(t > 0, -t, t)
    mills = _mills(low)
    below = 0.5 * low * _mills_slope(low, mills) + mills * (_LOG_SQRT_2PI - jnp.log(mills))
    density = jnp.exp(-0.5 * low**2 - _LOG_SQRT_2PI)
    tail = mills * density
    small = jnp.maximum(tail, 1e-20)  # below, -log(1 - tail) is tail
    above = -0.5 * low + (1.0 - tail) * mills * (-jnp.log1p(-small) / small)
    hazard = jnp.where(t > 0, density / (1.0 - tail), 1.0 / mills)
    return jnp.where(t > 0, above, below), hazard


@jax.custom_jvp
def _mills(t: Array) -> Array:
    """Phi(t) / phi(t) for t <= 0."""
    return _SQRT_HALF_PI * erfcx(-t * 0.5**0.5)


@_mills.defjvp
def _mills_jvp(primals, tangents):
    # The derivative of erfcx would lose its digits here.
    value = _mills(primals[0])
    return value, _mills_slope(primals[0], value) * tangents[0]


def _mills_slope(t: Array, mills: Array) -> Array:
    """1 + t M(t), by its series where the sum loses its digits."""
    inverse = 1.0 / jnp.minimum(t, _FAR) ** 2
    series = inverse * (1.0 - inverse * (3.0 - inverse * (15.0 - 105.0 * inverse)))
    return jnp.where(t < _FAR, series, 1.0 + t * mills)


def predictive(posterior: Any, rows: Float[Array, "b d"]) -> tuple[Array, Array, Array]:
    """Mean and variance of the function at each row, and the noise variance, both positive."""
    marginal = posterior.predict(rows)
    prior = posterior.gp.kernel.diag(rows)
    noise = posterior.observation_noise(rows)
    var = jnp.maximum(marginal.var, _LEAST_VARIANCE * prior)
    return jnp.asarray(marginal.mean), var, jnp.maximum(noise, _LEAST_NOISE * prior)


def require_process(acquisition: Any) -> None:
    """Refuse posteriors whose observations are not a Gaussian process plus noise."""
    if not hasattr(acquisition.posterior, "observation_noise"):
        raise Unsupported(
            f"{type(acquisition).__name__} needs one Gaussian process with Gaussian noise, got "
            f"{type(acquisition.posterior).__name__}. `averaged` takes a mixture member by member."
        )
