"""Factors, solves and determinants of covariance matrices, of any size and conditioning."""

from leadline.numerics._linear_algebra._cholesky import (
    add_to_diagonal,
    cholesky,
    extend_cholesky,
    inverse_factored,
    log_determinant,
    require_factor,
    solve_factored,
    solve_lower,
    solve_stored,
)
from leadline.numerics._linear_algebra._conjugate_gradients import (
    ConjugateGradientsInfo,
    conjugate_gradients,
)
from leadline.numerics._linear_algebra._lanczos import LogdetEstimate, lanczos_logdet
from leadline.numerics._linear_algebra._log_density import (
    gaussian_log_density,
    log_density_factored,
)
from leadline.numerics._linear_algebra._pivoted_cholesky import pivoted_cholesky
from leadline.numerics._linear_algebra._preconditioner import (
    WoodburyPreconditioner,
    woodbury_preconditioner,
)
from leadline.numerics._linear_algebra._small_cholesky import root_of_inverse, small_cholesky

__all__ = [
    "ConjugateGradientsInfo",
    "LogdetEstimate",
    "WoodburyPreconditioner",
    "add_to_diagonal",
    "cholesky",
    "conjugate_gradients",
    "extend_cholesky",
    "gaussian_log_density",
    "inverse_factored",
    "lanczos_logdet",
    "log_density_factored",
    "log_determinant",
    "pivoted_cholesky",
    "require_factor",
    "root_of_inverse",
    "small_cholesky",
    "solve_factored",
    "solve_lower",
    "solve_stored",
    "woodbury_preconditioner",
]
