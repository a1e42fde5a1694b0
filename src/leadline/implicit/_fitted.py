"""What an implicit model has learned: maps between observations and latents, and bounds.

Notation as in `_objective`. Bounds are averages over the rows given and over draws, with the ratio
networks as they were trained: they are as good as those are.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, Unsupported, as_rows, as_seed
from leadline.implicit._conditional import Conditional
from leadline.implicit._networks import Networks, RatioNetwork
from leadline.implicit._objective import Objective, bound
from leadline.implicit._training import History


class Fitted(eqx.Module):
    """A trained implicit model.

    Attributes:
        networks: the conditionals and the ratio networks.
        objective: what they were trained for.
        observed_dim: columns of x.
        latent_dim: columns of z.
        history: what was seen on the way.
    """

    networks: Networks
    objective: Objective = eqx.field(static=True)
    observed_dim: int = eqx.field(static=True)
    latent_dim: int = eqx.field(static=True)
    history: History | None = None

    def encode(self, x: Any) -> Float[Array, "n k"]:
        """The mean of the posterior of each row."""
        return _mean(self.networks.posterior, jnp.asarray(self._observed(x)))

    def decode(self, z: Any) -> Float[Array, "n d"]:
        """The mean of the likelihood of each row."""
        return _mean(self.networks.likelihood, jnp.asarray(self._latent(z)))

    def sample_latents(self, key: Array, x: Any, n: int = 1) -> Float[Array, "s n k"]:
        """Draws of z ~ q(z | x) for each row."""
        x = self._observed(x)
        self._require_noise("sample_latents", "encode")
        return _samples(self.networks.posterior, key, jnp.asarray(x), _as_count(n))

    def sample_observations(self, key: Array, z: Any, n: int = 1) -> Float[Array, "s n d"]:
        """Draws of x ~ p(x | z) for each row."""
        z = self._latent(z)
        self._require_noise("sample_observations", "decode")
        return _samples(self.networks.likelihood, key, jnp.asarray(z), _as_count(n))

    def mse_x(self, x: Any) -> float:
        """The mean squared error of decode(encode(x)), over all entries."""
        x = self._observed(x)
        return float(np.mean((np.asarray(self.decode(self.encode(x))) - x) ** 2))

    def mse_z(self, z: Any) -> float:
        """The mean squared error of encode(decode(z)), over all entries."""
        z = self._latent(z)
        return float(np.mean((np.asarray(self.encode(self.decode(z))) - z) ** 2))

    def nelbo(self, x: Any, draws: int = 32, seed: int = 0) -> float:
        """The negative evidence lower bound, E[-log p(x | z') + log q(z' | x) / p*(z')].

        Args:
            x: observations.
            draws: of z' for each row.
            seed: of the draws.
        """
        x, networks = self._observed(x), self.networks
        self._require_noise("nelbo", "mse_x")
        pair = networks.posterior, networks.likelihood
        key, draws = jax.random.key(as_seed(seed)), _as_count(draws)
        return float(_bound(*pair, networks.latent_ratio, jnp.asarray(x), draws, key))

    def naplbo(self, z: Any, draws: int = 32, seed: int = 0) -> float:
        """The negative aggregate-posterior lower bound, E[-log q(z | x') + log p(x' | z) / q*(x')].

        Args:
            z: samples of the prior.
            draws: of x' for each row.
            seed: of the draws.
        """
        z, networks = self._latent(z), self.networks
        self._require_noise("naplbo", "mse_z")
        if networks.observed_ratio is None:
            raise Unsupported(
                f"naplbo needs a ratio network of observations, which {self.objective.name} does "
                "not train; SJMVI does."
            )
        pair = networks.likelihood, networks.posterior
        key, draws = jax.random.key(as_seed(seed)), _as_count(draws)
        return float(_bound(*pair, networks.observed_ratio, jnp.asarray(z), draws, key))

    def __repr__(self) -> str:
        lines = [f"{self.objective.name}, {self.latent_dim} latent for {self.observed_dim} columns"]
        h = self.history
        if h is not None:
            end = ", when a ratio network was overfitted" if h.stopped else ""
            lines.append(f"trained for {int(h.step[-1])} steps{end}")
            shown = {"-log p(x | z)": h.nell, "matching of z": h.matched_latent}
            if self.objective.forward:
                shown |= {"-log q(z | x)": h.nelp, "matching of x": h.matched_observed}
            lines.append("at the end: " + ", ".join(f"{k} {v[-1]:.4g}" for k, v in shown.items()))
        return f"<{'; '.join(lines)}>"

    def _observed(self, x: Any) -> np.ndarray:
        return as_rows(x, "x", self.observed_dim)

    def _latent(self, z: Any) -> np.ndarray:
        return as_rows(z, "z", self.latent_dim)

    def _require_noise(self, ability: str, instead: str) -> None:
        if self.objective.degenerate:
            raise Unsupported(
                f"{ability} needs conditionals with a density; those of {self.objective.name} are "
                f"points. It has {instead}; SJMVI has {ability}."
            )


@eqx.filter_jit
def _mean(conditional: Conditional, given: Array) -> Array:
    return conditional.mean(given)


@eqx.filter_jit
def _samples(conditional: Conditional, key: Array, given: Array, n: int) -> Array:
    return jax.vmap(lambda k: conditional.sample(k, given))(jax.random.split(key, n))


@eqx.filter_jit
def _bound(
    first: Conditional,
    second: Conditional,
    ratio: RatioNetwork,
    given: Array,
    draws: int,
    key: Array,
) -> Array:
    def once(key):
        return bound(first, second, ratio, given, key)

    return jnp.mean(jax.lax.map(once, jax.random.split(key, draws)))


def _as_count(n: int) -> int:
    if n < 1:
        raise InvalidData(f"the number of draws must be at least 1, got {n}.")
    return n
