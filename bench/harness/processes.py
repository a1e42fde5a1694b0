"""The outside of a worker: start its process, ask it, and end it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from typing import Any

import psutil

from bench.folders import ROOT
from bench.harness import environments

# The longest task takes about two minutes; whatever needs this long hangs.
PATIENCE = 600.0
# A process that uses less than so many per cent of a core does nothing.
IDLE = 5.0


class WorkerFailed(RuntimeError):
    """A task raised or hung, or its process died."""


class Worker(contextlib.AbstractContextManager):
    """A process that does tasks of one module in one environment (see `bench.harness.worker`)."""

    def __init__(self, environment: str, module: str, **variables: str):
        self.module = module
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            [str(environments.python(environment)), "-m", module],
            cwd=ROOT,
            env=clean_environment(**variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def call(self, task: str, **arguments: Any) -> Any:
        """Do one task and return its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # Ending the process also ends the wait for its answer.
        alarm = threading.Timer(PATIENCE, self._process.kill)
        alarm.start()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps({"task": task, **arguments}) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        alarm.cancel()
        reply = json.loads(line) if line else {"error": self._said()}
        if "error" in reply:
            raise WorkerFailed(f"{self.module}, {task} {arguments}:\n{reply['error']}")
        return reply["answer"]

    def settle(self) -> None:
        """Wait until the process does nothing any more: it may compile in the background."""
        process = psutil.Process(self._process.pid)
        deadline = time.monotonic() + PATIENCE
        while process.cpu_percent(interval=0.5) > IDLE and time.monotonic() < deadline:
            pass

    def _said(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        code = self._process.returncode
        how = f"no answer in {PATIENCE:.0f} s" if code == -signal.SIGKILL else f"exit code {code}"
        return f"{how}\n{self._errors.read()[-4000:]}"

    def __exit__(self, *exception: object) -> None:
        """End the process."""
        self._process.communicate()
        self._errors.close()


def clean_environment(**variables: str) -> dict[str, str]:
    """The caller's environment, without what would make a benchmark depend on the caller.

    Not its JAX cache (a benchmark says itself what is compiled), nor a ban on writing bytecode
    (packages are installed with theirs, a checkout is not).
    """
    dropped = {"JAX_COMPILATION_CACHE_DIR", "PYTHONDONTWRITEBYTECODE"}
    return {k: v for k, v in os.environ.items() if k not in dropped} | variables
