"""How programs are compiled, and where JAX keeps them.

There are three tiers. A program that goes through up to 64 rows of data once spends its time in
LAPACK and in being called, not in code that the compiler generates: it is compiled with little
optimization, in a third of the time. One that loops over so many rows, as a search does, would take
three times as long then: it is compiled with all of it, by the emitters that compile fast. Above 64
rows the newer emitters, which compile for half as long again, pay: their code is up to three times
as fast where it is not LAPACK's. The tier depends on the program and on the shapes of its arguments
alone, so it is the same in every process and at every moment. docs/numerics.md has the
measurements.
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


_SMALL = 64
# Many parts that are compiled side by side cost more in all, and so are programs themselves.
_OPTIONS = {"xla_cpu_parallel_codegen_split_count": 2}
_FAST_EMITTERS = {"xla_cpu_use_fusion_emitters": False}
_LITTLE = {"xla_backend_optimization_level": 0}


def compiler_options(arrays: Sequence[Any], once: bool) -> dict[str, Any]:
    """The options that suit a program, whether the compiler knows them or not.

    Args:
        arrays: its arguments: anything with a `shape`.
        once: whether it goes through them once, without a loop.
    """
    rows = max((a.shape[0] for a in arrays if len(a.shape) == 2), default=0)
    if rows > _SMALL:
        return _OPTIONS
    return _OPTIONS | _FAST_EMITTERS | (_LITTLE if once else {})


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
