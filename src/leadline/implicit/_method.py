"""What the methods of inference have in common: their settings, and how they are fitted."""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from leadline.boundary import InvalidData, as_choice, as_rows, as_seed
from leadline.implicit._conditional import FAMILIES, Conditional
from leadline.implicit._fitted import Fitted
from leadline.implicit._networks import (
    Columns,
    JointRatio,
    KnownDensity,
    LearnedDensity,
    Networks,
    Perceptron,
    RatioNetwork,
    perceptron,
)
from leadline.implicit._objective import Objective, logits
from leadline.implicit._scale import ConstantScale, NetworkScale
from leadline.implicit._training import Data, Plan, train

# The part of the rows that judges are tried on, and the most of them.
_HELD_OUT, _MOST_HELD_OUT = 0.1, 1024

# The density of samples is learned for so few columns. With more, draws of a player are so easily
# told from samples by its own density that nothing is left to learn from: then a network of both
# arguments, that starts out blunt, is the better judge.
_FEW = 8


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Method(abc.ABC):
    """What all methods have in common.

    Args:
        width: units in each hidden layer of the networks that are made here.
        depth: their hidden layers.
        learning_rate: of Adam; zero keeps the conditionals as they are.
        batch_size: rows in each step.
    """

    width: int = 128
    depth: int = 2
    learning_rate: float = 1e-3
    batch_size: int = 128

    def __post_init__(self):
        for name in ("width", "depth", "batch_size"):
            _require(name, getattr(self, name), 1, "at least 1")
        _require("learning_rate", self.learning_rate, 0.0, "not negative")

    def fit(
        self, x: Any, z: Any, *, steps: int = 5000, seed: int = 0, progress: bool | None = None
    ) -> Fitted:
        """Learn from observations and samples of the prior, which need not be paired.

        Args:
            x: observations (n, d).
            z: samples of the prior (m, k).
            steps: of training.
            seed: of the networks' first weights, the batches and the noise.
            progress: whether to show a progress line; None: if standard error is a terminal.
        """
        x, z = as_rows(x, "x", minimum=2), as_rows(z, "z", minimum=2)
        _require("steps", steps, 1, "at least 1")
        networks_key, key = jax.random.split(jax.random.key(as_seed(seed)))
        networks = self._networks(networks_key, Columns.of(x), Columns.of(z))
        plan = self._plan()
        _try_networks(networks, x, z)
        networks, history = train(networks, _divided(x, z, seed), plan, steps, key, progress)
        return Fitted(networks, plan.objective, x.shape[1], z.shape[1], history)

    @abc.abstractmethod
    def _networks(self, key: Array, observed: Columns, latent: Columns) -> Networks:
        """The networks to start from."""

    @abc.abstractmethod
    def _plan(self) -> Plan:
        """How to train them."""


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class WithConditionals(Method):
    """Methods whose conditionals have densities.

    Args:
        likelihood: p(x | z): "gaussian", "laplace", or a `Conditional`.
        posterior: q(z | x), likewise.
        likelihood_scale: a fixed scale of the likelihood that is made here; None: one number for
            all columns, learned.
        posterior_scale: a fixed scale of the posterior that is made here; None: a network of x.
    """

    likelihood: str | Conditional = "gaussian"
    posterior: str | Conditional = "gaussian"
    likelihood_scale: float | None = None
    posterior_scale: float | None = None

    def __post_init__(self):
        super().__post_init__()
        for name in ("likelihood", "posterior"):
            if not isinstance(getattr(self, name), Conditional):
                as_choice(getattr(self, name), tuple(FAMILIES), name)

    def _conditionals(
        self, key: Array, observed: Columns, latent: Columns
    ) -> tuple[Conditional, Conditional]:
        keys = jax.random.split(key, 3)
        make = functools.partial(perceptron, width=self.width, depth=self.depth)
        likelihood, posterior = self.likelihood, self.posterior
        if isinstance(likelihood, str):
            scale = (
                ConstantScale(observed.typical, learned=True)
                if self.likelihood_scale is None
                else ConstantScale(self.likelihood_scale)
            )
            likelihood = FAMILIES[likelihood](make(keys[0], latent, observed), scale)
        if isinstance(posterior, str):
            scale = (
                NetworkScale(make(keys[1], observed, len(latent.center)), latent.traced().spread)
                if self.posterior_scale is None
                else ConstantScale(self.posterior_scale)
            )
            posterior = FAMILIES[posterior](make(keys[2], observed, latent), scale)
        return likelihood, posterior


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class WithRatios(Method):
    """Methods that learn density ratios on the way.

    Args:
        ratio_width: units in each hidden layer of the ratio networks that are made here.
        ratio_depth: their hidden layers.
        ratio_learning_rate: of their Adam.
        ratio_steps: steps of the ratio networks for each one of the conditionals.
        ratio_decay: weight decay of the ratio networks.
        patience: training ends after so many checks in a row (there are about fifty) at which a
            ratio network is overfitted: worse on held-out rows than in training, and than saying
            the same of all; None: never.
    """

    ratio_width: int = 128
    ratio_depth: int = 2
    ratio_learning_rate: float = 1e-3
    ratio_steps: int = 1
    ratio_decay: float = 0.0
    patience: int | None = 10

    def __post_init__(self):
        super().__post_init__()
        for name in ("ratio_width", "ratio_depth", "ratio_steps"):
            _require(name, getattr(self, name), 1, "at least 1")
        for name in ("ratio_learning_rate", "ratio_decay"):
            _require(name, getattr(self, name), 0.0, "not negative")
        if self.patience is not None:
            _require("patience", self.patience, 1, "at least 1, or None")

    def _network(self, key: Array, columns: Columns) -> Perceptron:
        """A network of one row, to one number."""
        return perceptron(key, columns, 1, self.ratio_width, self.ratio_depth)

    def _ratio(self, key: Array, drawn: Columns, given: Columns) -> RatioNetwork:
        """A ratio of draws with some columns to the law of samples with the same."""
        if len(drawn.center) > _FEW:
            return JointRatio(self._network(key, drawn.beside(given)))
        return LearnedDensity(self._network(key, drawn), drawn.traced())

    def _plan_for(self, objective: Objective) -> Plan:
        return Plan(
            objective,
            self.batch_size,
            self.learning_rate,
            self.ratio_learning_rate,
            self.ratio_steps,
            self.ratio_decay,
            self.patience,
        )


def _divided(x: np.ndarray, z: np.ndarray, seed: int) -> Data:
    """Rows to train on, and rows held out: as many of x as of z, at least one."""
    size = min(len(x), len(z), _MOST_HELD_OUT / _HELD_OUT)
    held = max(1, int(_HELD_OUT * size))
    rng = np.random.default_rng(seed)
    x, z = rng.permutation(x), rng.permutation(z)
    return Data(x[held:], z[held:], x[:held], z[:held])


def _try_networks(networks: Networks, x: np.ndarray, z: np.ndarray) -> None:
    """See that networks of the caller take and give rows of the right size."""
    n, d, k = 2, x.shape[1], z.shape[1]
    rows = jnp.asarray(x[:n]), jnp.asarray(z[:n])
    likelihood, posterior = networks.likelihood, networks.posterior
    wanted: list[tuple[str, Callable[..., Array], tuple[int, ...]]] = [
        ("likelihood", likelihood.log_prob, (n,)),
        ("likelihood", lambda x, z: likelihood.mean(z), (n, d)),
        ("posterior", lambda x, z: posterior.log_prob(z, x), (n,)),
        ("posterior", lambda x, z: posterior.mean(x), (n, k)),
    ]
    latent, observed = networks.latent_ratio, networks.observed_ratio
    name = "log_prior" if isinstance(latent, KnownDensity) else "latent_ratio"
    wanted.append((name, lambda x, z: logits(latent, posterior, z, x), (n,)))
    if observed is not None:
        call = functools.partial(logits, observed, likelihood)
        wanted.append(("observed_ratio", call, (n,)))
    for name, call, shape in wanted:
        where = f"{name} must work for {d} observed and {k} latent columns"
        try:
            given = jax.eval_shape(call, *rows).shape
        except Exception as error:
            raise InvalidData(f"{where}, but fails: {error}") from error
        if given != shape:
            raise InvalidData(f"{where}: {n} rows should give shape {shape}, they give {given}.")


def _require(name: str, value: float | int, least: float | int, wanted: str) -> None:
    if not value >= least:
        raise InvalidData(f"{name} must be {wanted}, got {value!r}.")
