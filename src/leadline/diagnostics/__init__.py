"""Error tools: how far the law of function draws is from the posterior they stand for.

    law = ll.diagnostics.decoupled_moments(post, features, xs)     # of post.paths(key, n, features)
    exact = post.joint(xs)
    ll.diagnostics.wasserstein2(law.mean, law.cov, exact.mean, exact.cov)

Moments given the features are in closed form, so these figures have no sampling error. Distances
between clouds of points (`sinkhorn_distance`) serve laws that are not normal.
"""

from leadline.diagnostics._covariance_error import (
    Contraction,
    CovarianceError,
    contraction,
    covariance_error_bound,
    covariance_operator,
    lebesgue_constant,
    weight_function,
)
from leadline.diagnostics._decoupled import decoupled_moments, weight_space_moments
from leadline.diagnostics._kullback_leibler import gaussian_kl
from leadline.diagnostics._sinkhorn import sinkhorn_distance
from leadline.diagnostics._wasserstein import wasserstein2

__all__ = [
    "Contraction",
    "CovarianceError",
    "contraction",
    "covariance_error_bound",
    "covariance_operator",
    "decoupled_moments",
    "gaussian_kl",
    "lebesgue_constant",
    "sinkhorn_distance",
    "wasserstein2",
    "weight_function",
    "weight_space_moments",
]
