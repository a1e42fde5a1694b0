"""scikit-learn estimators over Leadline's models.

They follow scikit-learn's conventions: settings are attributes of the same name, what was learned
ends in an underscore, `X (n, d)`, `y (n,)`, and `random_state` is the source of all randomness.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(
        "leadline.integrations.sklearn needs scikit-learn: pip install 'leadline[sklearn]'."
    ) from error

from leadline.kernels import Matern52
from leadline.models import GP

__all__ = ["GPRegressor"]


class GPRegressor(RegressorMixin, BaseEstimator):
    """Gaussian process regression whose hyper-parameters are learned from the data.

    Args:
        kernel: a covariance function of `leadline.kernels`; None for `1.0 * Matern52` with a length
            scale for each column. Its parameters are where learning starts.
        noise: variance of the observation noise, where learning starts.
        mean: a mean function of `leadline.means`, or a constant, where learning starts.
        priors: "default", None for maximum likelihood, or measures by names of parameters (see
            `GP.fit`).
        restarts: how many starts learning has; None for a few.
        random_state: the seed of starts beyond the first few.

    A value wrapped in `leadline.fixed` is not learned.

    Attributes:
        posterior_: Leadline's posterior; all it can do is there (`update`, `leave_one_out`, ...).
        kernel_: the kernel that was learned.
        noise_: the noise variance that was learned.
        log_marginal_likelihood_value_: log p(y | X) of the raw targets.
        n_features_in_: the number of columns seen in `fit`.
    """

    def __init__(
        self,
        kernel: Any = None,
        *,
        noise: Any = 1e-2,
        mean: Any = 0.0,
        priors: Any = "default",
        restarts: Any = None,
        random_state: Any = None,
    ):
        # Settings are kept as they are, and checked in `fit`.
        self.kernel = kernel
        self.noise = noise
        self.mean = mean
        self.priors = priors
        self.restarts = restarts
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> GPRegressor:
        """Learn the hyper-parameters, and condition on the data."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        kernel = 1.0 * Matern52([1.0] * X.shape[1]) if self.kernel is None else self.kernel
        gp = GP(kernel, mean=self.mean, noise=self.noise)
        seed = _seed(self.random_state)
        self.posterior_ = gp.fit(X, y, priors=self.priors, restarts=self.restarts, seed=seed)
        self.kernel_ = self.posterior_.gp.kernel
        self.noise_ = float(self.posterior_.gp.noise)
        self.log_marginal_likelihood_value_ = float(self.posterior_.log_evidence)
        return self

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """The mean (m,) of the function, alone or with its deviations (m,) or covariances (m, m).

        They are of the function, not of noisy observations of it.
        """
        if return_std and return_cov:
            raise ValueError("predict returns either deviations or covariances: ask for one.")
        X = self._query(X)
        if return_cov:
            joint = self.posterior_.joint(X)
            return np.asarray(joint.mean), np.asarray(joint.cov)
        found = self.posterior_.predict(X)
        return (found.mean, found.std) if return_std else found.mean

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Draw the function at the rows of X, jointly: (m, n_samples)."""
        X = self._query(X)
        key = jax.random.key(_seed(random_state))
        return np.asarray(self.posterior_.sample(key, X, n_samples)).T

    def _query(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)


def _seed(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
