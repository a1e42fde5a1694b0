"""How programs are compiled while tests run: quickly, and once for all processes of a run.

A test calls most of its programs once, on a few rows, so their speed is worth nothing. Everything
is set in the environment, before JAX is imported: processes that tests start have it too. What
somebody has set there stays.
"""

from __future__ import annotations

import functools
import inspect
import os
import subprocess
import sys
import tempfile

_FLAGS = (
    "--xla_backend_optimization_level=0",
    "--xla_cpu_use_fusion_emitters=false",
    # Every core has a process that compiles.
    "--xla_cpu_parallel_codegen_split_count=1",
)


def compile_quickly() -> None:
    """Ask XLA for little optimization."""
    if "XLA_FLAGS" not in os.environ:
        known = _FLAGS if _knows(_FLAGS) else [flag for flag in _FLAGS if _knows([flag])]
        os.environ["XLA_FLAGS"] = " ".join(known)


def as_users_compile(test):
    """Run a test in a process of its own, with programs as users have them.

    For results that hang on the last digits of what a program computes.
    """

    @functools.wraps(test)
    def run(*args, **kwargs):
        if _FLAGS[0] not in os.environ.get("XLA_FLAGS", ""):
            return test(*args, **kwargs)
        name = f"{inspect.getsourcefile(test)}::{test.__name__}"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", name]
        environment = os.environ | {"XLA_FLAGS": ""}
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stdout

    return run


def share_programs() -> str | None:
    """Keep compiled programs in a new folder, for this process and those that it starts.

    Returns:
        The folder, which the caller removes; None if there is one already.
    """
    if "JAX_COMPILATION_CACHE_DIR" in os.environ:
        return None
    os.environ["JAX_COMPILATION_CACHE_DIR"] = folder = tempfile.mkdtemp(prefix="leadline-tests-")
    return folder


def _knows(flags) -> bool:
    """Whether XLA has these flags: it ends a process that gives it others."""
    ask = "from jaxlib import xla_client; xla_client.make_cpu_client()"
    environment = os.environ | {"XLA_FLAGS": " ".join(flags)}
    return not subprocess.run(
        [sys.executable, "-c", ask], env=environment, stderr=subprocess.DEVNULL, check=False
    ).returncode
