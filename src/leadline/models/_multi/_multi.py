"""Several correlated outputs: the linear model of coregionalization and its special cases.

Notation: `x (n, d)`, `y (n, p)`, `mask (n, p)` True where an output was observed; q kernels.

    Cov[f_a(x), f_b(x')] = sum_q B_q[a, b] k_q(x, x'),      B_q = W_q W_q^T + diag(kappa_q)

One kernel is the intrinsic model (ICM), several with rank-one B_q and no diagonal are the
semiparametric latent factor model (SLFM), several in general the linear model (LCM); Alvarez et al.
2012.

Every observed value becomes one row of an exact process on inputs with one more column, the number
of the output, so missing values are simply absent and everything that an exact posterior can do
carries over.
"""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_count, as_inputs, as_key, column_names, is_traced
from leadline.kernels import Coregionalization, Kernel
from leadline.means import Mean
from leadline.models._exact import GP, ExactPosterior, log_evidence
from leadline.models._learning import learn
from leadline.models._memory import CONDITIONING, LEARNING, require_memory
from leadline.models._multi._draws import MultiDraws
from leadline.models._multi._rows import checked_outputs, observed_rows, query_rows
from leadline.models._normal import MultivariateNormal, Normal
from leadline.models._posterior import Posterior
from leadline.models._priors import PriorsLike, as_priors
from leadline.models._rows import Rows, padded_rows
from leadline.numerics import DataScale, Fixed, Parameterized, bucket, fixed, positive, real
from leadline.paths import CoregionalFeatures, Features, as_features, prior_features


def _as_kernels(kernels: Any) -> tuple[Kernel, ...]:
    kernels = (kernels,) if isinstance(kernels, Kernel) else tuple(kernels)
    if not kernels or not all(isinstance(k, Kernel) for k in kernels):
        raise InvalidData(f"MultiGP needs one kernel or a list of kernels, got {kernels!r}.")
    return kernels


class MultiGP(Parameterized):
    """A Gaussian process prior over functions with `outputs` correlated values.

    Args:
        kernels: the covariance over inputs; one kernel, or a list of them.
        outputs: the number of outputs p.
        rank: how many latent functions the outputs share through each kernel.
        own: whether each output also has a part of its own (the diagonal of B). `own=False` with
            `rank=1` and several kernels is the SLFM.
        mean: constant mean of each output, (p,) or one number; where `fit` starts.
        noise: noise variance of each output, (p,) or one number; where `fit` starts.
        coregions: the B of each kernel, where `fit` starts; mostly shared ones if not given.
    """

    kernels: tuple[Kernel, ...] = eqx.field(converter=_as_kernels)
    outputs: int = eqx.field(static=True)
    rank: int = eqx.field(static=True, default=1)
    own: bool = eqx.field(static=True, default=True)
    mean: Float[Array, " p"] = real(0.0, scales_with="location")
    noise: Float[Array, " p"] = positive(1e-2, scales_with="noise")
    coregions: tuple[Coregionalization, ...] = eqx.field(default=(), kw_only=True, converter=tuple)

    def __post_init__(self):
        if self.outputs < 1 or self.rank < 1:
            raise InvalidData(
                f"MultiGP needs at least one output and rank one, got outputs={self.outputs} and "
                f"rank={self.rank}."
            )
        q = len(_as_kernels(self.kernels))
        if not self.coregions:
            self.coregions = tuple(
                _first_coregion(i, self.outputs, self.rank, self.own, 1.0 / q) for i in range(q)
            )
        sizes = [np.shape(c.kappa) for c in self.coregions]
        if sizes != [(self.outputs,)] * q:
            raise InvalidData(
                f"coregions must be one Coregionalization of {self.outputs} outputs for each of "
                f"{q} kernels."
            )
        self.mean = _per_output(self.mean, self.outputs, "mean")
        self.noise = _per_output(self.noise, self.outputs, "noise")
        super().__post_init__()

    @property
    def covariances(self) -> list[Float[Array, "p p"]]:
        """The covariance B of the outputs through each kernel."""
        return [c.covariance for c in self.coregions]

    def condition(self, x: Any, y: Any, mask: Any = None) -> MultiPosterior:
        """The posterior given data, with these hyper-parameters."""
        checked = checked_outputs(x, y, mask, self.outputs)
        return self._condition_checked(*checked).named(column_names(x))

    def _condition_checked(self, x: np.ndarray, y: np.ndarray, mask: np.ndarray) -> MultiPosterior:
        require_memory(int(np.sum(mask)), CONDITIONING, _EACH)
        stacked = stacked_process(self, x.shape[1])
        return MultiPosterior(self, stacked.condition_rows(_stacked_rows(x, y, mask)))

    def fit(
        self,
        x: Any,
        y: Any,
        mask: Any = None,
        priors: PriorsLike = "default",
        restarts: int | None = None,
        seed: int = 0,
    ) -> MultiPosterior:
        """Learn the hyper-parameters that are not fixed, and return the posterior.

        Args:
            x: inputs (n, d).
            y: targets (n, p); values where `mask` is False are not read.
            mask: which values were observed, (n, p); all if None. An output that was never
                observed keeps the hyper-parameters that the model has for it, and is predicted
                from the others by the covariance that those say.
            priors: "default", None for maximum likelihood, or measures by names of parameters (see
                `GP.fit`), in the units of each output.
            restarts: how many starts; the model's own values are always the first.
            seed: of the random starts.
        """
        names = column_names(x)
        x, y, mask = checked_outputs(x, y, mask, self.outputs)
        require_memory(int(np.sum(mask)), LEARNING, _EACH)
        # Outputs may have units of their own: the search runs on standardized ones.
        shift, unit = _spreads(y, mask)
        scaled = _rescaled(self, -shift / unit, 1.0 / unit)
        rows, scale = _stacked_rows(x, (y - shift) / unit, mask), DataScale(x, 0.0, 1.0)
        own = as_priors(self, priors, known=("default", None))
        own = own.in_units(lambda gp: _rescaled(gp, -shift / unit, 1.0 / unit))
        found = learn(_log_evidence, scaled, rows, scale, priors=own, restarts=restarts, seed=seed)
        found = _with_unseen(found, scaled, mask.any(axis=0))
        return _rescaled(found, shift, unit)._condition_checked(x, y, mask).named(names)


_EACH = "Learn from a part of the rows, or each output alone with leadline.models.Titsias."


class MultiPosterior(Posterior):
    """Correlated outputs given data.

    Attributes:
        gp: the process with the hyper-parameters in use, in the caller's units.
        stacked: the same belief as an exact posterior on inputs with an output column.
    """

    gp: MultiGP
    stacked: ExactPosterior
    gaussian: ClassVar[bool] = True

    @property
    def log_evidence(self) -> Float[Array, ""]:
        """log p(y | x) of all observed values."""
        return self.stacked.log_evidence

    def predict(self, xs: Any, noise: bool = False) -> Normal:
        """Normal marginals with mean and variance (m, p) at the rows of `xs (m, d)`."""
        found = self.stacked.predict(self._queries(xs), noise)
        shape = (-1, self.gp.outputs)
        return Normal(found.mean.reshape(shape), found.var.reshape(shape))

    def joint(self, xs: Any) -> MultivariateNormal:
        """The joint law of all outputs at all rows, flattened as (m, p) in row-major order."""
        return self.stacked.joint(self._queries(xs))

    def sample(self, key: Array, xs: Any, n: int) -> Float[Array, "n m p"]:
        """Draw `n` joint values (n, m, p) of the outputs at the rows of `xs (m, d)`."""
        draws = self.stacked.sample(key, self._queries(xs), n)
        return draws.reshape(n, -1, self.gp.outputs)

    def update(self, x: Any, y: Any, mask: Any = None) -> MultiPosterior:
        """The posterior given more data, with the same hyper-parameters."""
        names = self.input_names
        x, y, mask = checked_outputs(x, y, mask, self.gp.outputs, self._columns, names)
        stacked = self.stacked.update(*observed_rows(x, y, mask))
        return MultiPosterior(self.gp, stacked, input_names=names)

    def paths(self, key: Array, n: int, features: int | Features = 1024) -> MultiDraws:
        """Draw `n` functions with all outputs, which can be evaluated anywhere.

        Args:
            key: a random key.
            n: how many draws.
            features: how many stand for each kernel, or features of inputs with an output column.
        """
        key, n, features = as_key(key), as_count(n, "n"), as_features(features)
        if not isinstance(features, Features):
            features = _features(self.gp, features, self._columns, key)
        draws = self.stacked.paths(key, n, features)
        return MultiDraws(draws, self.gp.outputs, input_names=self.input_names)

    @property
    def _columns(self) -> int:
        """How many columns a query must have."""
        return self.stacked.query_columns - 1

    def _queries(self, xs: Any) -> Any:
        """Each query row once for every output."""
        if not is_traced(self, xs):
            xs = as_inputs(xs, "xs", columns=self._columns, minimum=0, names=self.input_names)
        return query_rows(xs, self.gp.outputs)

    def __repr__(self) -> str:
        n, evidence = self.stacked.n, float(self.log_evidence)
        return f"MultiPosterior({self.gp}, {n} values, log_evidence={evidence:.6g})"


class _OutputMean(Mean):
    """A constant for each output; the last input column says which."""

    values: Float[Array, " p"] = real()

    def __call__(self, x):
        return self.values[x[:, -1].astype(int)]


class _StackedGP(GP):
    """An exact process whose noise depends on the output in the last input column."""

    def row_noise(self, x):
        return self.noise[x[:, -1].astype(int)]


def stacked_process(gp: MultiGP, columns: int) -> GP:
    """The exact process on inputs with `columns` columns and one more for the output."""
    inputs, output = list(range(columns)), [columns]
    parts = [k.on(inputs) * c.on(output) for k, c in zip(gp.kernels, gp.coregions, strict=True)]
    kernel = parts[0] if len(parts) == 1 else sum(parts[1:], start=parts[0])
    return _StackedGP(kernel, _OutputMean(gp.mean), gp.noise)


def _features(gp: MultiGP, size: int, dim: int, key: Array) -> Features:
    keys = jax.random.split(jax.random.fold_in(key, 1), len(gp.kernels))
    parts = [prior_features(k, size, dim, s) for k, s in zip(gp.kernels, keys, strict=True)]
    roots = [jnp.concatenate([c.W, jnp.diag(jnp.sqrt(c.kappa))], axis=1) for c in gp.coregions]
    return CoregionalFeatures(tuple(parts), tuple(roots))


def _stacked_rows(x: np.ndarray, y: np.ndarray, mask: np.ndarray) -> Rows:
    inputs, targets = observed_rows(x, y, mask)
    return padded_rows(inputs, targets, np.zeros(len(targets)), bucket(len(targets)))


def _log_evidence(gp: MultiGP, rows: Rows) -> Array:
    return log_evidence(stacked_process(gp, rows.x.shape[1] - 1), rows)


def _first_coregion(i: int, p: int, rank: int, own: bool, share: float) -> Coregionalization:
    """Where the search for B starts: outputs that mostly vary together, ranks that differ."""
    angles = np.arange(p)[:, None] * np.arange(rank)[None, :] + 0.3 * i
    w = np.sqrt(share * (0.7 if own else 1.0) / rank) * np.cos(angles)
    kappa: Any = np.full(p, 0.3 * share) if own else fixed(np.zeros(p))
    return Coregionalization(w, kappa)


def _per_output(value: Any, p: int, name: str) -> Any:
    inner = np.asarray(value.value if isinstance(value, Fixed) else value, dtype=float)
    if inner.shape not in ((), (p,)):
        raise InvalidData(f"{name} must be one number or one per output ({p}), got {inner.shape}.")
    full = np.broadcast_to(inner, (p,))
    return Fixed(full) if isinstance(value, Fixed) else full


def _spreads(y: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scales = [DataScale.of(np.zeros((1, 1)), y[mask[:, o], o]) for o in range(y.shape[1])]
    return np.array([s.y_mean for s in scales]), np.array([s.y_std for s in scales])


def _with_unseen(learned: MultiGP, model: MultiGP, seen: np.ndarray) -> MultiGP:
    """The learned process, with what the model said of the outputs that nobody has seen.

    Nothing but a prior has moved them, away from the others. What the model said of a covariance
    with others holds for its own W of those, and B = W W^T is the same for any rotation of W: the
    learned W is turned to where that of the model is.
    """
    if seen.all():
        return learned
    coregions = []
    for new, old in zip(learned.coregions, model.coregions, strict=True):
        left, _, right = np.linalg.svd(np.asarray(new.W)[seen].T @ np.asarray(old.W)[seen])
        w = np.where(seen[:, None], np.asarray(new.W) @ left @ right, old.W)
        kappa = np.where(seen, new.kappa, old.kappa)
        w, kappa = jax.device_put((w, kappa))
        coregions.append(eqx.tree_at(lambda c: (c.W, c.kappa), new, (w, kappa)))
    values = ((learned.mean, model.mean), (learned.noise, model.noise))
    mean, noise = jax.device_put(tuple(np.where(seen, new, old) for new, old in values))
    return eqx.tree_at(
        lambda g: (g.coregions, g.mean, g.noise), learned, (tuple(coregions), mean, noise)
    )


def _rescaled(gp: MultiGP, shift: np.ndarray, unit: np.ndarray) -> MultiGP:
    """The same belief about `shift + unit * y`."""
    coregions = tuple(
        eqx.tree_at(lambda c: (c.W, c.kappa), c, (unit[:, None] * c.W, unit**2 * c.kappa))
        for c in gp.coregions
    )
    return eqx.tree_at(
        lambda g: (g.coregions, g.mean, g.noise),
        gp,
        (coregions, shift + unit * gp.mean, unit**2 * gp.noise),
    )
