"""Shapes and types of every annotated function are checked while tests run.

Hypothesis tries the same examples in every run, however long one takes: a test that fails fails for
everyone.
"""

from pathlib import Path

import jax
import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

install_import_hook("leadline", "beartype.beartype")

settings.register_profile("leadline", deadline=None, derandomize=True)
settings.load_profile("leadline")


@pytest.fixture(autouse=True, scope="module")
def few_programs():
    """Forget compiled programs before there are too many for one process.

    Each takes a few mappings of memory, of which Linux allows 65530; then XLA crashes.
    """
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_bytes().count(b"\n") > 20_000:
        jax.clear_caches()


@pytest.fixture
def compilations():
    """The programs that XLA was asked for since the test began."""
    count = [0]

    def listen(event, duration, **_):
        count[0] += event == "/jax/core/compile/backend_compile_duration"

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield count
    jax.monitoring.unregister_event_duration_listener(listen)
