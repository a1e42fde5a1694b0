"""How programs are compiled: with the options that suit us, and kept between processes."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import equinox as eqx
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


# XLA's older code generator for fused loops: it compiles our programs in about two thirds of the
# time of the newer one, and they run at least as fast.
_OPTIONS = {"xla_cpu_use_fusion_emitters": False}


@functools.cache
def compiler_options() -> dict[str, bool]:
    """The options above if this version of XLA knows them, else none."""
    try:
        jax.jit(lambda x: x + 1.0, compiler_options=_OPTIONS).lower(1.0).compile()
    except Exception:  # whatever a version that does not know an option raises
        return {}
    return _OPTIONS


class _Program:
    """A compiled function; the compiler is asked for its options at the first call, not before."""

    def __init__(self, function: Callable):
        functools.update_wrapper(self, function)
        self._function = function

    @functools.cached_property
    def _compiled(self) -> Callable:
        compile_with: Any = eqx.filter_jit  # whose types do not tell that it passes options on
        return compile_with(self._function, compiler_options=compiler_options())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled(*args, **kwargs)


def program(function: Callable) -> Callable[..., Any]:
    """Compile a module-level function: arrays are traced, everything else is static."""
    return _Program(function)
