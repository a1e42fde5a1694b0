"""How programs are compiled, and where JAX keeps them.

Three things are chosen for each program: how much the code that the compiler generates is
optimized, which of the compiler's emitters generate it, and in how many parts.

A program that goes through up to 64 rows of data once spends its time in LAPACK and in being
called, not in generated code: it is compiled with hardly any optimization, in half of the time.
Everything else is compiled with some of it; all of it takes a third longer and gains nothing. The
newer emitters take twice as long, and their code is faster in one case only, loops over more than
64 rows, such as searches. The choice depends on the program and on the shapes of its arguments
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
_PARTS = {"xla_cpu_parallel_codegen_split_count": 2}
_FAST_EMITTERS = {"xla_cpu_use_fusion_emitters": False}
_LITTLE, _SOME = ({"xla_backend_optimization_level": level} for level in (0, 1))


def compiler_options(arrays: Sequence[Any], once: bool) -> dict[str, Any]:
    """The options that suit a program, whether the compiler knows them or not.

    Args:
        arrays: its arguments: anything with a `shape`.
        once: whether it goes through them once, without a loop.
    """
    small = max((a.shape[0] for a in arrays if len(a.shape) == 2), default=0) <= _SMALL
    level = _LITTLE if once and small else _SOME
    return _PARTS | level | (_FAST_EMITTERS if once or small else {})


# One value of each option, to ask the compiler about all of them at once.
_EVERY = _PARTS | _FAST_EMITTERS | _LITTLE


def known_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that this compiler knows."""
    known = _known(tuple(sorted({**options, **_EVERY}.items())))
    return {name: value for name, value in options.items() if name in known}


@functools.cache
def _known(options: tuple[tuple[str, Any], ...]) -> frozenset[str]:
    """The compiler is asked, since other versions know others: about all, then about each."""
    try:
        jax.jit(lambda: 0, compiler_options=dict(options)).lower().compile()
    except Exception:  # of a type that JAX does not promise
        parts = [_known((one,)) for one in options] if options[1:] else []
        return frozenset().union(*parts)
    return frozenset(name for name, _ in options)
