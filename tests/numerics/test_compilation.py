"""The compilation cache: on by default, and never where the user chose otherwise."""

from __future__ import annotations

import contextlib
from pathlib import Path

import jax
import numpy as np
import pytest

from leadline.numerics._programs import _compilation, enable_compilation_cache
from leadline.numerics._programs._compilation import _known, compiler_options, known_options

FOLDER, SECONDS = "jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs"
VARIABLES = ("JAX_COMPILATION_CACHE_DIR", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS")


@pytest.fixture
def untouched(monkeypatch, tmp_path):
    """JAX as if Leadline had not been imported, with a cache folder of the test's own."""
    before = jax.config.jax_compilation_cache_dir
    seconds = jax.config.jax_persistent_cache_min_compile_time_secs
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(_compilation, "user_cache_path", lambda name: tmp_path / name)
    jax.config.update(FOLDER, None)
    jax.config.update(SECONDS, 1.0)
    with contextlib.ExitStack() as stack:
        stack.callback(jax.config.update, FOLDER, before)
        stack.callback(jax.config.update, SECONDS, seconds)
        yield tmp_path


def settings():
    return (
        jax.config.jax_compilation_cache_dir,
        jax.config.jax_persistent_cache_min_compile_time_secs,
    )


def test_the_cache_is_on_by_default(untouched):
    enable_compilation_cache()
    assert settings() == (str(untouched / "leadline" / "jax"), 0.0)
    assert (untouched / "leadline" / "jax").is_dir()


def test_a_folder_that_the_user_set_stays(untouched):
    jax.config.update(FOLDER, "/tmp/of-the-user")
    enable_compilation_cache()
    assert settings()[0] == "/tmp/of-the-user"
    assert not (untouched / "leadline").exists()


def test_a_folder_in_the_environment_stays(untouched, monkeypatch):
    """Also when JAX has not read the variable, as when it is set after JAX is imported."""
    monkeypatch.setenv(VARIABLES[0], "/tmp/of-the-user")
    enable_compilation_cache()
    assert settings()[0] is None


def test_a_time_that_the_user_set_stays(untouched, monkeypatch):
    jax.config.update(SECONDS, 5.0)
    enable_compilation_cache()
    assert settings()[1] == 5.0
    jax.config.update(SECONDS, 1.0)
    monkeypatch.setenv(VARIABLES[1], "1.0")
    enable_compilation_cache()
    assert settings()[1] == 1.0


def test_no_cache_where_nothing_can_be_written(untouched, monkeypatch):
    blocked = untouched / "a file"
    blocked.write_text("")
    monkeypatch.setattr(_compilation, "user_cache_path", lambda name: Path(blocked) / name)
    enable_compilation_cache()
    assert settings()[0] is None


def test_small_programs_without_loops_are_compiled_with_little_optimization():
    level = "xla_backend_optimization_level"
    small, large = np.zeros((64, 64)), np.zeros((128, 64))
    assert compiler_options([small], once=True)[level] == 0
    assert compiler_options([], once=True)[level] == 0
    assert compiler_options([small], once=False)[level] == 1
    assert compiler_options([small, large], once=True)[level] == 1


def test_the_newer_emitters_are_for_loops_over_many_rows():
    emitters = "xla_cpu_use_fusion_emitters"
    few, many, factor = np.zeros((64, 200)), np.zeros((128, 2)), np.zeros((64, 64))
    assert emitters not in compiler_options([many, factor], once=False)
    assert compiler_options([few, factor], once=False)[emitters] is False
    assert compiler_options([many, factor], once=True)[emitters] is False


def test_a_compiler_that_does_not_know_an_option_compiles_without(monkeypatch):
    _known.cache_clear()
    original = jax.jit

    def refuse(*args, compiler_options=None, **kwargs):
        if "xla_of_tomorrow" in (compiler_options or {}):
            raise ValueError("No such compile option")
        return original(*args, **kwargs)

    monkeypatch.setattr(jax, "jit", refuse)
    level = {"xla_backend_optimization_level": 0}
    assert known_options({"xla_of_tomorrow": True, **level}) == level
    _known.cache_clear()


def test_the_compiler_itself_refuses_what_it_does_not_know():
    assert known_options({"xla_that_never_was": 1}) == {}
