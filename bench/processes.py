"""The outside of a worker: start its process, ask it, and end it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from bench import environments

ROOT = Path(__file__).resolve().parent.parent


class WorkerFailed(RuntimeError):
    """A task raised, or its process died."""


class Worker(contextlib.AbstractContextManager):
    """A process that does tasks of one module in one environment (see `bench.worker`)."""

    def __init__(self, environment: str, module: str, **variables: str):
        self.module = module
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            [str(environments.python(environment)), "-m", module],
            cwd=ROOT,
            env=_environment(variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def call(self, task: str, **arguments: Any) -> Any:
        """Do one task and return its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps({"task": task, **arguments}) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        reply = json.loads(line) if line else {"error": self._said()}
        if "error" in reply:
            raise WorkerFailed(f"{self.module}, {task} {arguments}:\n{reply['error']}")
        return reply["answer"]

    def _said(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        return f"exit code {self._process.returncode}\n{self._errors.read()[-4000:]}"

    def __exit__(self, *exception: object) -> None:
        """End the process."""
        self._process.communicate()
        self._errors.close()


def _environment(variables: dict[str, str]) -> dict[str, str]:
    """The caller's environment without its JAX cache: a benchmark says itself what is cached."""
    kept = {k: v for k, v in os.environ.items() if k != "JAX_COMPILATION_CACHE_DIR"}
    return kept | variables
