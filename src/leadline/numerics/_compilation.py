"""The persistent compilation cache: a second process does not compile again."""

from __future__ import annotations

import os
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
