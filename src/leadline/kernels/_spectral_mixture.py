"""The spectral mixture kernel.

Notation: `q` components with weights `w_j`, mean frequencies `m_j (d,)` and deviations
`sigma_j (d,)`, both in cycles per unit of input; `tau = x - y`.

    k(tau) = sum_j w_j cos(2 pi tau . m_j) prod_p exp(-2 pi^2 tau_p^2 sigma_jp^2)
    S(f)   = sum_j (w_j / 2) [N(f; m_j, sigma_j^2) + N(f; -m_j, sigma_j^2)]
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, is_traced
from leadline.kernels._algebra import stratified_frequencies
from leadline.kernels._cosine import plane_wave
from leadline.kernels._kernel import Frequencies, Kernel, check_columns
from leadline.kernels._spectrum import normal_density, random_sign, rescaled_density
from leadline.numerics import normal_quantile, positive, real, squared_distance


class SpectralMixture(Kernel):
    """Sums of waves with Gaussian spectra; dense in the stationary kernels (Wilson and Adams 2013).

    The density above is that of Hamid (2023, eq. 3.10): eq. 2.27 there lacks the halves, without
    which k(0) would be twice the sum of the weights. Components of weight 0 change nothing: they
    pad mixtures of different sizes to one shape.

    Args:
        weights: variance of each component (q,).
        means: mean frequency of each component (q, d), in cycles.
        scales: standard deviation of each component's frequencies (q, d), in cycles.
    """

    weights: Float[Array, " q"] = positive(scales_with="output", zero=True)
    means: Float[Array, "q d"] = real(scales_with="frequency")
    scales: Float[Array, "q d"] = positive(scales_with="frequency", zero=True)

    def __check_init__(self):
        weights, means, scales = (np.shape(a) for a in (self.weights, self.means, self.scales))
        if len(weights) != 1 or len(means) != 2 or means != scales or means[0] != weights[0]:
            raise ValueError(
                "SpectralMixture takes weights (q,), means (q, d) and scales (q, d), "
                f"got shapes {weights}, {means} and {scales}."
            )

    def __call__(self, x, y):
        check_columns(self, "means", x)

        def component(weight, mean, scale):
            width = (2.0 * np.pi) * scale
            envelope = jnp.exp(-0.5 * squared_distance(x * width, y * width))
            return weight * envelope * plane_wave(x, y, mean)

        return jnp.sum(jax.vmap(component)(self.weights, self.means, self.scales), axis=0)

    def diag(self, x):
        return jnp.full(x.shape[0], jnp.sum(self.weights))

    def terms(self):
        """One kernel for each component."""
        if len(self.weights) == 1:
            return (self,)
        rows = (slice(j, j + 1) for j in range(len(self.weights)))
        return tuple(SpectralMixture(self.weights[j], self.means[j], self.scales[j]) for j in rows)

    def frequency_inputs(self, dim: int) -> int:
        """One uniform number per input column, and one for the sign of the mean."""
        return dim + 1

    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """Normal frequencies about plus or minus the mean; an equal share for each component."""
        check_columns(self, "means", u[:, :-1])
        if len(self.weights) > 1:
            return stratified_frequencies(self, u)
        sign = random_sign(u[:, -1:])
        cycles = sign * self.means[0] + self.scales[0] * normal_quantile(u[:, :-1])
        weight = jnp.full(u.shape[0], self.weights[0] / u.shape[0])
        return Frequencies((2.0 * np.pi) * cycles, weight)

    def spectral_density(self, theta: Float[Array, "l d"]) -> Float[Array, " l"]:
        """S(theta / 2 pi) / (2 pi)^d: normal densities about plus and minus the means.

        Components with weight need width: a wave has a line instead of a density.
        """
        check_columns(self, "means", theta)
        if not is_traced(self.weights, self.scales):
            waves = (np.asarray(self.weights) > 0) & (np.asarray(self.scales) == 0).any(axis=1)
            if waves.any():
                raise InvalidData(
                    "A component of this SpectralMixture has scale 0: it is a wave, whose spectrum "
                    "is a line and has no density. Give it a positive scale."
                )

        def component(weight, mean, scale):
            # Padding, of weight 0, may have scale 0 too.
            width = (2.0 * np.pi) * jnp.where(weight > 0, scale, 1.0)
            center = (2.0 * np.pi) * mean
            halves = (
                rescaled_density(normal_density, theta - sign * center, 1.0 / width)
                for sign in (-1.0, 1.0)
            )
            return 0.5 * weight * sum(halves)

        return jnp.sum(jax.vmap(component)(self.weights, self.means, self.scales), axis=0)
