"""What the players and the judges of an implicit model minimize.

Notation: data `x (b, d) ~ q*`, samples of the prior `z (b, k) ~ p*`, independent of x; players are
the likelihood p(x | z) and the posterior q(z | x), judges are the two ratio networks,

    g_a(z; x) = log q(z | x) / p*(z),    g_b(x; z) = log p(x | z) / q*(x).

With z' ~ q(. | x) and x' ~ p(. | z), drawn by reparameterization,

    NELBO  = E[-log p(x | z')] + E[g_a(z'; x)]  = KL[q(z|x) q*(x) || p(x|z) p*(z)] + H[q*]
    NAPLBO = E[-log q(z | x')] + E[g_b(x'; z)]  = KL[p(x|z) p*(z) || q(z|x) q*(x)] + H[p*]

(Tiao 2023, equations 4.5, 4.18, 4.22). Players minimize the first, or the sum of both (SJMVI), with
the judges as they are; judges tell draws of the players from independent pairs, with the players as
they are. A judge has the logit g; the discriminator of the thesis is D = 1 - sigmoid(g).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.implicit._conditional import Conditional
from leadline.implicit._networks import AnchoredRatio, Networks, RatioNetwork, frozen
from leadline.ratios import GENERATORS

Logits = Float[Array, " b"]

# Above, e^g would be all that a mean has, and all that its gradient has.
_LARGEST = 20.0


def _against(name: str, drawn: Logits, free: Logits) -> Logits:
    """The negative of the bound on a divergence, pair by pair."""
    generator = GENERATORS[name]
    return generator.denominator(free) - generator.numerator(drawn)


# What a judge loses on a pair: drawn by a player (first), and independent (second).
RATIO_LOSSES: dict[str, Callable[[Logits, Logits], Logits]] = {
    "bce": lambda drawn, free: _against("gan", drawn, free),
    # Equation 4.12, whose largest value is the Kullback-Leibler divergence.
    "kl": lambda drawn, free: _against("kl", drawn, jnp.minimum(free, _LARGEST)),
    # Mao et al. (2017), with D = 1 - g: g is then the probability of having been drawn.
    "least_squares": lambda drawn, free: (drawn - 1.0) ** 2 + free**2,
}

# What a judge loses that says the same of everything.
UNINFORMED = {"bce": 2.0 * math.log(2.0), "kl": 0.0, "least_squares": 0.5}

# What a player loses on its draw: log(1 - D), -log D, and their sum, the log ratio itself.
MATCHING_LOSSES: dict[str, Callable[[Logits], Logits]] = {
    "A": lambda drawn: -jax.nn.softplus(-drawn),
    "B": jax.nn.softplus,
    "C": lambda drawn: drawn,
    "least_squares": lambda drawn: drawn**2,
}


@dataclasses.dataclass(frozen=True)
class Objective:
    """Which terms there are.

    Args:
        name: what users call the method.
        forward: whether the players also minimize NAPLBO.
        degenerate: whether draws are the means, without noise.
        ratio_loss: of the judges: "bce", "kl", or "least_squares".
        matching: of the players' draws: "A", "B", "C", or "least_squares".
    """

    name: str
    forward: bool = True
    degenerate: bool = False
    ratio_loss: str = "bce"
    matching: str = "C"


class Terms(NamedTuple):
    """What the players minimize the sum of; `matched_*` are divergences where the loss is C."""

    nell: Float[Array, ""]
    matched_latent: Float[Array, ""]
    nelp: Float[Array, ""]
    matched_observed: Float[Array, ""]


class Verdicts(NamedTuple):
    """What each judge loses on each pair; zeros for a judge that is not there."""

    latent: Float[Array, " b"]
    observed: Float[Array, " b"]


def ratio_losses(
    networks: Networks,
    objective: Objective,
    x: Float[Array, "b d"],
    z: Float[Array, "b k"],
    key: Array,
) -> Verdicts:
    """The judges' losses, with no gradient for the players.

    A judge with an anchored ratio is shown draws without saying of which row: they then come from
    the mixture of the players' densities for all rows of the batch, which is nearer to the samples
    than each one is. The thesis has pairs (equation 4.32), which the players' own densities tell
    apart so well that little is learned where draws are but samples are not. The best h is the
    same.
    """
    latent_key, observed_key = jax.random.split(key)
    loss = RATIO_LOSSES[objective.ratio_loss]

    def verdict(ratio, player, drawn_key, own, given):
        if ratio is None:
            return jnp.zeros(own.shape[0])
        drawn = jax.lax.stop_gradient(draw(player, objective, drawn_key, given))
        if not isinstance(ratio, AnchoredRatio):
            return loss(logits(ratio, player, drawn, given), logits(ratio, player, own, given))
        return loss(*(_mixed_logits(ratio, player, rows, given) for rows in (drawn, own)))

    return Verdicts(
        verdict(networks.latent_ratio, networks.posterior, latent_key, z, x),
        verdict(networks.observed_ratio, networks.likelihood, observed_key, x, z),
    )


def player_terms(
    networks: Networks,
    objective: Objective,
    x: Float[Array, "b d"],
    z: Float[Array, "b k"],
    key: Array,
) -> Terms:
    """The players' losses, with no gradient for the judges: only for what they judge."""
    latent_key, observed_key = jax.random.split(key)
    matching = MATCHING_LOSSES[objective.matching]
    likelihood, posterior = networks.likelihood, networks.posterior
    latents = draw(posterior, objective, latent_key, x)
    nell = -jnp.mean(likelihood.log_prob(x, latents))
    judge = frozen(networks.latent_ratio)
    matched_latent = jnp.mean(matching(logits(judge, posterior, latents, x)))
    if not objective.forward:
        return Terms(nell, matched_latent, jnp.zeros(()), jnp.zeros(()))
    observations = draw(likelihood, objective, observed_key, z)
    nelp = -jnp.mean(posterior.log_prob(z, observations))
    judge = frozen(networks.observed_ratio)
    matched_observed = jnp.mean(matching(logits(judge, likelihood, observations, z)))
    return Terms(nell, matched_latent, nelp, matched_observed)


def draw(
    player: Conditional, objective: Objective, key: Array, given: Float[Array, "b c"]
) -> Float[Array, "b e"]:
    """A draw of each row, or its mean if conditionals are degenerate."""
    return player.mean(given) if objective.degenerate else player.sample(key, given)


def logits(
    ratio: RatioNetwork,
    player: Conditional,
    u: Float[Array, "b e"],
    v: Float[Array, "b c"],
) -> Logits:
    """What a ratio network says of each pair of rows.

    An anchored one reads the player's density, whose parameters get no gradient from it: on average
    over draws of the player that gradient is zero.
    """
    if isinstance(ratio, AnchoredRatio):
        return frozen(player).log_prob(u, v) - jax.vmap(ratio.log_denominator)(u)
    return jax.vmap(ratio)(u, v)


def _mixed_logits(
    ratio: AnchoredRatio,
    player: Conditional,
    u: Float[Array, "b e"],
    given: Float[Array, "n c"],
) -> Logits:
    """The log ratio of the mean of the player's densities for all rows given, at each row u."""
    player, n = frozen(player), given.shape[0]

    def densities(row):
        return player.log_prob(jnp.broadcast_to(row, (n, row.shape[0])), given)

    mixture = jax.scipy.special.logsumexp(jax.vmap(densities)(u), axis=1) - math.log(n)
    return mixture - jax.vmap(ratio.log_denominator)(u)


def bound(
    first: Conditional,
    second: Conditional,
    ratio: RatioNetwork,
    given: Float[Array, "b c"],
    key: Array,
) -> Float[Array, ""]:
    """E[-log second(given | drawn) + log ratio(drawn; given)] with drawn ~ first(. | given).

    NELBO if the first is the posterior, NAPLBO if it is the likelihood.
    """
    drawn = first.sample(key, given)
    return jnp.mean(logits(ratio, first, drawn, given) - second.log_prob(given, drawn))
