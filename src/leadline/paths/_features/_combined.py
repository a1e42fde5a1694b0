"""Features of combined kernels, and the features that stand for a kernel unless others are given.

Notation: as in `_features.py`. Weights of combinations are those of the parts, side by side; all
parts here have standard normal weights of their own.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import Unsupported
from leadline.kernels import ActiveDims, Kernel, Linear, Scale, Sum
from leadline.paths._features._features import FeatureKernel, Features
from leadline.paths._features._fourier import FourierFeatures


class LinearFeatures(Features):
    """The input columns times the deviations of their slopes: exact for the linear kernel."""

    deviation: Float[Array, " d"]

    @property
    def size(self):
        return self.deviation.shape[0]

    @property
    def dim(self):
        return self.deviation.shape[0]

    def __call__(self, x):
        return x * self.deviation


class _Wrapped(Features):
    """Features made from others, with the same weights."""

    features: Features

    @property
    def size(self):
        return self.features.size

    @property
    def dim(self):
        return self.features.dim

    @property
    def noises(self):
        return self.features.noises

    def correlate(self, z):
        return self.features.correlate(z)


class ScaledFeatures(_Wrapped):
    """Features times the root of a variance."""

    amount: Float[Array, ""]

    def __call__(self, x):
        return jnp.sqrt(self.amount) * self.features(x)

    def values(self, x, weights):
        return jnp.sqrt(self.amount) * self.features.values(x, weights)

    def paired_values(self, x, weights):
        return jnp.sqrt(self.amount) * self.features.paired_values(x, weights)


class ColumnFeatures(_Wrapped):
    """Features of some of the input columns."""

    read: tuple[int, ...] = eqx.field(static=True)
    columns: int = eqx.field(static=True)

    @property
    def dim(self):
        return self.columns

    def __call__(self, x):
        return self.features(self._select(x))

    def values(self, x, weights):
        return self.features.values(self._select(x), weights)

    def paired_values(self, x, weights):
        return self.features.paired_values(self._select(x), weights)

    def _select(self, x):
        return x[..., np.asarray(self.read)]


class JoinedFeatures(Features):
    """Several sets of features side by side: the sum of independent draws of each."""

    parts: tuple[Features, ...]

    @property
    def size(self):
        return sum(p.size for p in self.parts)

    @property
    def dim(self):
        return self.parts[0].dim

    @property
    def noises(self):
        return sum(p.noises for p in self.parts)

    def correlate(self, z):
        ends = np.cumsum([p.noises for p in self.parts])[:-1]
        blocks = jnp.split(z, ends, axis=1)
        return jnp.concatenate(
            [p.correlate(b) for p, b in zip(self.parts, blocks, strict=True)], axis=1
        )

    def __call__(self, x):
        return jnp.concatenate([p(x) for p in self.parts], axis=-1)

    def values(self, x, weights):
        return sum(p.values(x, w) for p, w in self._each(weights))

    def paired_values(self, x, weights):
        return sum(p.paired_values(x, w) for p, w in self._each(weights))

    def _each(self, weights):
        blocks = jnp.split(weights, np.cumsum([p.size for p in self.parts])[:-1], axis=1)
        return zip(self.parts, blocks, strict=True)


class CoregionalFeatures(Features):
    """Features of functions with several outputs; the last input column says which.

    A linear model of coregionalization sums phi_q(x) outer root_q[output] over its kernels, where
    root_q root_q^T = B_q.

    Args:
        parts: features of the other input columns, one set for each kernel.
        roots: one (p, r) for each kernel.
    """

    parts: tuple[Features, ...]
    roots: tuple[Float[Array, "p r"], ...]

    @property
    def size(self):
        return sum(f.size * r.shape[1] for f, r in zip(self.parts, self.roots, strict=True))

    @property
    def dim(self):
        return self.parts[0].dim + 1

    def __call__(self, x):
        which = x[:, -1].astype(int)
        found = [
            (r[which][:, :, None] * f(x[:, :-1])[:, None, :]).reshape(x.shape[0], -1)
            for f, r in zip(self.parts, self.roots, strict=True)
        ]
        return jnp.concatenate(found, axis=1)

    def values(self, x, weights):
        """The features of an input serve all latent functions of a kernel."""
        which, n, start, total = x[:, -1].astype(int), weights.shape[0], 0, 0.0
        for f, root in zip(self.parts, self.roots, strict=True):
            r = root.shape[1]
            block = weights[:, start : start + r * f.size].reshape(n * r, f.size)
            latent = f.values(x[:, :-1], block).reshape(n, r, -1)
            total = total + jnp.sum(latent * root[which].T, axis=1)
            start += r * f.size
        return total


def prior_features(kernel: Kernel, size: int, dim: int, key: Array) -> Features:
    """Features that stand for a kernel in function draws.

    Evenly spread Fourier features for stationary kernels, which are exact in variance and need no
    box to be trusted in, with more of them in the tails of Matern spectra; exact ones for linear
    kernels; their combinations for scalings, sums and kernels of some columns.

    Args:
        kernel: the covariance function.
        size: how many features stand for its stationary parts.
        dim: how many columns the inputs have.
        key: a random key.
    """
    if isinstance(kernel, FeatureKernel):
        return kernel.features
    if hasattr(kernel, "frequencies_at"):
        points = "tails" if hasattr(kernel, "tail_frequencies_at") else "sobol"
        return FourierFeatures(kernel, size, dim, key=key, points=points)
    if isinstance(kernel, Linear):
        return LinearFeatures(jnp.broadcast_to(jnp.sqrt(kernel.variance), (dim,)))
    if isinstance(kernel, Scale):
        return ScaledFeatures(prior_features(kernel.kernel, size, dim, key), kernel.variance)
    if isinstance(kernel, ActiveDims):
        inside = prior_features(kernel.kernel, size, len(kernel.dims), key)
        return ColumnFeatures(inside, kernel.dims, dim)
    if isinstance(kernel, Sum):
        waves = [k for k in kernel.kernels if hasattr(k, "frequencies_at")]
        groups = [k for k in kernel.kernels if not hasattr(k, "frequencies_at")]
        groups += [waves[0] if len(waves) == 1 else Sum(tuple(waves))] if waves else []
        keys = jax.random.split(key, len(groups))
        return JoinedFeatures(
            tuple(prior_features(k, size, dim, s) for k, s in zip(groups, keys, strict=True))
        )
    raise Unsupported(
        f"{type(kernel).__name__} has no Fourier features, so its draws need features of another "
        "kind: pass features=..., such as leadline.paths.Nystrom."
    )
