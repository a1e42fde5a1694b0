"""How programs are compiled, and where JAX keeps them.

There are two tiers. A program that goes through up to 64 rows of data once spends its time in
LAPACK and in being called, not in code that the compiler generates: it is compiled with little
optimization, in a third of the time. One that loops over its data, as a search does, would take
three times as long then, and so would any program of more rows: they are compiled with all of it.
The tier depends on the program and on the shapes of its arguments alone, so it is the same in every
process and at every moment. docs/numerics.md has the measurements.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import jax
from platformdirs import user_cache_path


def enable_compilation_cache() -> None:
    """Keep compiled programs in the user's cache folder, unless the user has chosen one.

    Without a folder that can be written to, nothing is kept: JAX would warn at every program.
    """
    config: Any = jax.config
    if config.jax_compilation_cache_dir is None and "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        folder = user_cache_path("leadline") / "jax"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return
        if not os.access(folder, os.W_OK):
            return
        config.update("jax_compilation_cache_dir", str(folder))
    # By default JAX keeps only what took it a second to compile; most of our programs take less.
    chosen = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" in os.environ
    if config.jax_persistent_cache_min_compile_time_secs == 1.0 and not chosen:
        config.update("jax_persistent_cache_min_compile_time_secs", 0.0)


# The entries of the factor of 64 rows, and of so many rows of up to 64 columns.
_SMALL = 64 * 64
_OPTIONS = {
    # Emitters of the newer kind compile for longer, and gain nothing here.
    "xla_cpu_use_fusion_emitters": False,
    # Many parts that are compiled side by side cost more in all, and so are programs themselves.
    "xla_cpu_parallel_codegen_split_count": 2,
}
_LITTLE = {"xla_backend_optimization_level": 0}


def compiler_options(arrays: Sequence[Any], once: bool) -> dict[str, Any]:
    """The options that suit a program, whether the compiler knows them or not.

    Args:
        arrays: its arguments: anything with a `size`.
        once: whether it goes through them once, without a loop.
    """
    largest = max((a.size for a in arrays), default=0)
    return _OPTIONS | (_LITTLE if once and largest <= _SMALL else {})


def known_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that this compiler knows."""
    return dict(_known(tuple(options.items())))


@functools.cache
def _known(options: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
    """The compiler is asked, since other versions know others: about all, then about each."""
    try:
        jax.jit(lambda: 0, compiler_options=dict(options)).lower().compile()
    except Exception:  # of a type that JAX does not promise
        return tuple(each for one in options for each in _known((one,))) if options[1:] else ()
    return options
