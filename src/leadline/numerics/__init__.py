"""Arrays only: factorizations, optimizers, sequences, parameters and their free coordinates."""

from leadline.boundary import InvalidData, NotPositiveDefinite, Unsupported
from leadline.numerics._archive import Storable, is_archive, load_module
from leadline.numerics._bessel import bessel_profile
from leadline.numerics._bfgs import Minima, Race, minimize_bounded, minimize_together
from leadline.numerics._description import describe, is_described, restore
from leadline.numerics._distance import squared_distance
from leadline.numerics._keys import numbered_key, seed_key, split_key
from leadline.numerics._linear_algebra import (
    ConjugateGradientsInfo,
    LogdetEstimate,
    WoodburyPreconditioner,
    add_to_diagonal,
    cholesky,
    conjugate_gradients,
    extend_cholesky,
    gaussian_log_density,
    inverse_factored,
    lanczos_logdet,
    log_density_factored,
    log_determinant,
    pivoted_cholesky,
    require_factor,
    root_of_inverse,
    small_cholesky,
    solve_factored,
    solve_lower,
    solve_stored,
    woodbury_preconditioner,
)
from leadline.numerics._padding import bucket, pad_rows, power_of_two, row_mask
from leadline.numerics._parameters import (
    Constraint,
    DataScale,
    Fixed,
    Parameterized,
    Slot,
    as_parameter,
    bounded,
    fixed,
    free_slots,
    from_free,
    positive,
    real,
    slots,
    to_free,
)
from leadline.numerics._pieces import in_pieces
from leadline.numerics._programs import (
    blas_threads_for,
    enable_compilation_cache,
    quick_jit,
    refuse_forks,
    rehearsing,
)
from leadline.numerics._quantiles import gamma_quantile, normal_quantile
from leadline.numerics._quasirandom import (
    generator,
    latin_hypercube,
    shifted_sobol,
    sobol,
    sobol_normal,
)
from leadline.numerics._starts import spread_best
from leadline.numerics._trigonometry import sine_and_cosine

# Before anything is compiled.
enable_compilation_cache()

__all__ = [
    "ConjugateGradientsInfo",
    "Constraint",
    "DataScale",
    "Fixed",
    "InvalidData",
    "LogdetEstimate",
    "Minima",
    "NotPositiveDefinite",
    "Parameterized",
    "Race",
    "Slot",
    "Storable",
    "Unsupported",
    "WoodburyPreconditioner",
    "add_to_diagonal",
    "as_parameter",
    "bessel_profile",
    "blas_threads_for",
    "bounded",
    "bucket",
    "cholesky",
    "conjugate_gradients",
    "describe",
    "extend_cholesky",
    "fixed",
    "free_slots",
    "from_free",
    "gamma_quantile",
    "gaussian_log_density",
    "generator",
    "in_pieces",
    "inverse_factored",
    "is_archive",
    "is_described",
    "lanczos_logdet",
    "latin_hypercube",
    "load_module",
    "log_density_factored",
    "log_determinant",
    "minimize_bounded",
    "minimize_together",
    "normal_quantile",
    "numbered_key",
    "pad_rows",
    "pivoted_cholesky",
    "positive",
    "power_of_two",
    "quick_jit",
    "real",
    "refuse_forks",
    "rehearsing",
    "require_factor",
    "restore",
    "root_of_inverse",
    "row_mask",
    "seed_key",
    "shifted_sobol",
    "sine_and_cosine",
    "slots",
    "small_cholesky",
    "sobol",
    "sobol_normal",
    "solve_factored",
    "solve_lower",
    "solve_stored",
    "split_key",
    "spread_best",
    "squared_distance",
    "to_free",
    "woodbury_preconditioner",
]
