"""Normal laws of numbers so large or small that their squares are no numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from leadline.boundary import show
from leadline.models import Normal


class NormalOfAnySize(Normal):
    """Independent normal laws that know their deviations, where variances are 0 or infinite."""

    deviation: Float[np.ndarray, ...]

    @classmethod
    def of(cls, mean: np.ndarray, deviation: np.ndarray) -> NormalOfAnySize:
        """The laws with these means and standard deviations."""
        with np.errstate(over="ignore", under="ignore"):
            return cls(mean, deviation**2, deviation)

    def __repr__(self) -> str:
        return f"NormalOfAnySize(mean={show(self.mean)}, std={show(self.deviation)})"

    @property
    def std(self) -> Any:
        """Standard deviations."""
        return self.deviation

    def log_prob(self, y: Any) -> Any:
        """Log density of each value."""
        unit, z = self._standard(y)
        return unit.log_prob(z) - np.log(self._divisor)

    def cdf(self, y: Any) -> Any:
        """Probability of a value at most `y`."""
        unit, z = self._standard(y)
        return unit.cdf(z)

    def quantile(self, p: Any) -> Any:
        """The value below which a fraction `p` lies."""
        return self.mean + self.deviation * self._standard(self.mean)[0].quantile(p)

    def sample(self, key: Any, n: int) -> Any:
        """Draw `n` values of each."""
        unit, _ = self._standard(self.mean)
        return self.mean + self.deviation * np.asarray(unit.sample(key, n))

    @property
    def _divisor(self) -> np.ndarray:
        return np.maximum(self.deviation, np.finfo(np.float64).tiny)

    def _standard(self, y: Any) -> tuple[Normal, Any]:
        """The standard normal law of each, and the values in its terms."""
        zero = np.zeros(np.shape(self.mean))
        return Normal(zero, zero + 1.0), (y - self.mean) / self._divisor
