"""Inference in latent-variable models whose prior is given by samples only.

A model is x ~ p(x | z) with z ~ p*, where p* is a set of samples. The methods differ in what they
match; all are trained by the same program (`_training`).

| method   | minimizes                          | needs                      |
|----------|------------------------------------|----------------------------|
| VAE      | NELBO                              | the density of the prior   |
| AVB      | NELBO                              | samples of the prior       |
| SJMVI    | NELBO + NAPLBO                     | samples of the prior       |
| CycleGAN | SJMVI without noise in conditionals and with ratio networks of one argument  ||
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import jax
from jaxtyping import Array

from leadline.boundary import InvalidData, as_choice
from leadline.implicit._conditional import Conditional, Gaussian, Laplace
from leadline.implicit._method import WithConditionals, WithRatios
from leadline.implicit._networks import (
    Columns,
    KnownDensity,
    MarginalRatio,
    Networks,
    RatioNetwork,
    perceptron,
)
from leadline.implicit._objective import MATCHING_LOSSES, Objective
from leadline.implicit._training import Plan


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class VAE(WithConditionals):
    """A variational autoencoder, for a prior whose density is known (Kingma and Welling 2014).

    The divergence of the posterior from the prior is the average of log q(z | x) - log p*(z) over
    draws. Samples of the prior only say how many latent columns there are, and of what size.

    Args:
        log_prior: log p*(z) of rows `(n, k)`, a function that JAX can trace.
        width, depth, learning_rate, batch_size: see `SJMVI`.
        likelihood, posterior, likelihood_scale, posterior_scale: see `SJMVI`.
    """

    log_prior: Callable[..., Array]

    def _networks(self, key: Array, observed: Columns, latent: Columns) -> Networks:
        likelihood, posterior = self._conditionals(key, observed, latent)
        return Networks(likelihood, posterior, KnownDensity(self.log_prior))

    def _plan(self) -> Plan:
        objective = Objective("VAE", forward=False)
        return Plan(objective, self.batch_size, self.learning_rate)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class AVB(WithRatios, WithConditionals):
    """Variational inference with a ratio network for the prior (Tiao 2023, equation 4.14).

    It minimizes NELBO, in which log q(z | x) / p*(z) is the output of a network trained to tell
    draws of the posterior from samples of the prior, as in the adversarial variational Bayes of
    Mescheder et al. (2017).

    Args:
        ratio_loss: of the ratio network: "bce" (cross-entropy) or "kl" (equation 4.12).
        latent_ratio: see `SJMVI`.
        width, depth, learning_rate, batch_size: see `SJMVI`.
        likelihood, posterior, likelihood_scale, posterior_scale: see `SJMVI`.
        ratio_width, ratio_depth, ratio_learning_rate, ratio_steps, ratio_decay, patience: see
            `SJMVI`.
    """

    ratio_loss: str = "bce"
    latent_ratio: RatioNetwork | None = None

    def __post_init__(self):
        super().__post_init__()
        as_choice(self.ratio_loss, ("bce", "kl"), "ratio_loss")

    def _networks(self, key: Array, observed: Columns, latent: Columns) -> Networks:
        conditionals, ratio = jax.random.split(key)
        likelihood, posterior = self._conditionals(conditionals, observed, latent)
        latent_ratio = self.latent_ratio or self._ratio(ratio, latent, observed)
        return Networks(likelihood, posterior, latent_ratio)

    def _plan(self) -> Plan:
        return self._plan_for(Objective("AVB", forward=False, ratio_loss=self.ratio_loss))


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class SJMVI(AVB):
    """Symmetric joint-matching variational inference (Tiao 2023, section 4.4).

    It makes the joint q(z | x) q*(x) of data and their latents, and the joint p(x | z) p*(z) of the
    model, close in symmetric Kullback-Leibler divergence: the sum of NELBO and NAPLBO. Two ratio
    networks stand for the two laws that are known by samples only.

    Args:
        likelihood: p(x | z): "gaussian", "laplace", or a `Conditional`.
        posterior: q(z | x), likewise.
        likelihood_scale: a fixed scale of the likelihood that is made here; None: one number for
            all columns, learned.
        posterior_scale: a fixed scale of the posterior that is made here; None: a network of x.
        width: units in each hidden layer of the networks that are made here.
        depth: their hidden layers.
        learning_rate: of Adam; zero keeps the conditionals as they are.
        batch_size: rows in each step.
        ratio_loss: of the ratio networks: "bce" (cross-entropy) or "kl" (equation 4.12).
        latent_ratio: an Equinox module from rows `z (k,)` and `x (d,)` to one number, such as a
            `JointRatio`, or an `AnchoredRatio`; None: a `LearnedDensity` for up to 8 columns of z,
            a `JointRatio` for more.
        observed_ratio: the same from rows `x (d,)` and `z (k,)`, by the columns of x.
        ratio_width: units in each hidden layer of the ratio networks that are made here.
        ratio_depth: their hidden layers.
        ratio_learning_rate: of their Adam.
        ratio_steps: steps of the ratio networks for each one of the conditionals.
        ratio_decay: weight decay of the ratio networks.
        patience: training ends after so many checks in a row (there are about fifty) at which a
            ratio network is overfitted: worse on held-out rows than in training, and than saying
            the same of all; None: never.
    """

    observed_ratio: RatioNetwork | None = None

    def _networks(self, key: Array, observed: Columns, latent: Columns) -> Networks:
        first, second = jax.random.split(key)
        networks = super()._networks(first, observed, latent)
        ratio = self.observed_ratio or self._ratio(second, observed, latent)
        return dataclasses.replace(networks, observed_ratio=ratio)

    def _plan(self) -> Plan:
        return self._plan_for(Objective("SJMVI", ratio_loss=self.ratio_loss))


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class CycleGAN(WithRatios):
    """Two maps that match two sets of samples, and undo each other (Zhu et al. 2017).

    It is SJMVI with conditionals that have no noise and ratio networks of one argument (Tiao 2023,
    section 4.5): -log p(x | z') is then the cycle-consistency loss, up to a constant, and only with
    loss "C" do the maps minimize the divergences of variational inference.

    Args:
        decoder: an Equinox module from a row `z (k,)` to a row `x (d,)`; None: a perceptron.
        encoder: the same from `x (d,)` to `z (k,)`.
        loss: of the maps' outputs, for a discriminator D: "A" log(1 - D), "B" -log D, "C" their
            sum, or "least_squares" (Mao et al. 2017), as Zhu et al. have it.
        rho: cycle consistency is the sum of |error|^rho, with 1 or 2.
        cycle_weight: of cycle consistency beside the losses of outputs.
        latent_ratio: a discriminator of `z (k,)`, an Equinox module to `(1,)` logits, positive for
            outputs of the encoder; None: a perceptron.
        observed_ratio: the same of `x (d,)`.
        width, depth, learning_rate, batch_size: see `SJMVI`.
        ratio_width, ratio_depth, ratio_learning_rate, ratio_steps, ratio_decay, patience: see
            `SJMVI`.
    """

    decoder: Callable[..., Array] | None = None
    encoder: Callable[..., Array] | None = None
    loss: str = "least_squares"
    rho: int = 1
    cycle_weight: float = 10.0
    latent_ratio: Callable[..., Array] | None = None
    observed_ratio: Callable[..., Array] | None = None

    def __post_init__(self):
        super().__post_init__()
        as_choice(self.loss, tuple(MATCHING_LOSSES), "loss")
        as_choice(self.rho, (1, 2), "rho")
        if not self.cycle_weight > 0.0:
            raise InvalidData(f"cycle_weight must be positive, got {self.cycle_weight!r}.")

    def _networks(self, key: Array, observed: Columns, latent: Columns) -> Networks:
        keys = jax.random.split(key, 4)
        make = functools.partial(perceptron, width=self.width, depth=self.depth)
        decoder = self.decoder or make(keys[0], latent, observed)
        encoder = self.encoder or make(keys[1], observed, latent)
        latent_ratio = self.latent_ratio or self._network(keys[2], latent)
        observed_ratio = self.observed_ratio or self._network(keys[3], observed)
        return Networks(
            self._conditional(decoder),
            self._conditional(encoder),
            MarginalRatio(latent_ratio),
            MarginalRatio(observed_ratio),
        )

    def _conditional(self, network: Callable[..., Array]) -> Conditional:
        """The one whose negative log density is weight |error|^rho, up to a constant."""
        if self.rho == 1:
            return Laplace(network, 1.0 / self.cycle_weight)
        return Gaussian(network, (2.0 * self.cycle_weight) ** -0.5)

    def _plan(self) -> Plan:
        ratio_loss = "least_squares" if self.loss == "least_squares" else "bce"
        objective = Objective(
            "CycleGAN", degenerate=True, ratio_loss=ratio_loss, matching=self.loss
        )
        return self._plan_for(objective)
