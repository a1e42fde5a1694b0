"""Shapes and types of every annotated function are checked while tests run.

Hypothesis tries the same examples in every run, however long one takes: a test that fails fails for
everyone.
"""

import contextlib
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook
from tests.compiling import compile_quickly, share_programs

compile_quickly()
PROGRAMS = share_programs()

import jax  # noqa: E402 (the environment is set first)
from jax.experimental.compilation_cache import compilation_cache  # noqa: E402

install_import_hook("leadline", "beartype.beartype")

settings.register_profile("leadline", deadline=None, derandomize=True)
settings.load_profile("leadline")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """With `-n auto`: two at least, and not more than memory allows: each may take 3 GB."""
    return min(max(2, os.cpu_count() or 2), 8)


def pytest_unconfigure() -> None:
    if PROGRAMS is not None:
        shutil.rmtree(PROGRAMS, ignore_errors=True)


@pytest.fixture(autouse=True, scope="module")
def few_programs():
    """Forget compiled programs before there are too many for one process.

    Each takes a few mappings of memory, of which Linux allows 65530; then XLA crashes.
    """
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_bytes().count(b"\n") > 20_000:
        from leadline.numerics._programs import forget_programs

        forget_programs()
        jax.clear_caches()


@pytest.fixture
def nothing_made(tmp_path):
    """As if no program had ever been made; the folder in which they are kept from now on."""
    from leadline.numerics._programs import forget_programs
    from leadline.questions._rehearsals import forget_rehearsals

    before = jax.config.jax_compilation_cache_dir
    with contextlib.ExitStack() as stack:
        # JAX opens its cache once, and would go on with the folder that it knows.
        stack.callback(compilation_cache.reset_cache)
        stack.callback(jax.config.update, "jax_compilation_cache_dir", before)
        jax.config.update("jax_compilation_cache_dir", str(tmp_path))
        compilation_cache.reset_cache()
        forget_rehearsals()
        forget_programs()
        stack.callback(forget_programs)
        yield tmp_path


@pytest.fixture
def compilations():
    """The programs that XLA was asked for since the test began."""
    count = [0]

    def listen(event, duration, **_):
        count[0] += event == "/jax/core/compile/backend_compile_duration"

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield count
    jax.monitoring.unregister_event_duration_listener(listen)
