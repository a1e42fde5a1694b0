"""When programs are compiled, how, where they are kept, and with how many threads they run."""

from leadline.numerics._programs._compilation import enable_compilation_cache
from leadline.numerics._programs._forks import jax_begins, refuse_forks
from leadline.numerics._programs._programs import forget_programs, quick_jit
from leadline.numerics._programs._rehearsal import rehearsing
from leadline.numerics._programs._threads import blas_threads_for

__all__ = [
    "blas_threads_for",
    "enable_compilation_cache",
    "forget_programs",
    "jax_begins",
    "quick_jit",
    "refuse_forks",
    "rehearsing",
]
