"""Peers' answers, kept per machine.

An answer is used again until its request, its worker, the data or the required versions change. One
that contains times is kept only if the machine was quiet when the run began: a time from a busy
machine is good for the run that measured it at most.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
from pathlib import Path
from typing import Any

from bench import environments

ROOT = Path(__file__).resolve().parent.parent
SHARED_SOURCES = ("bench/problems.py", "bench/worker.py")


class Remembered:
    """A file of answers by key."""

    def __init__(self) -> None:
        self.path = environments.CACHE / f"peers-{machine_key()}.json"
        self.quiet = os.getloadavg()[0] <= 0.5 * (os.cpu_count() or 1)
        self._known = self._read()

    def get(self, key: str) -> dict[str, Any] | None:
        """The entry of `key`, if there is one."""
        return self._known.get(key)

    def put(self, key: str, entry: dict[str, Any]) -> None:
        """Keep an entry for this run, and in the file if it is worth it."""
        self._known[key] = entry
        if self.quiet or not any("seconds" in name for name in entry["answer"]):
            self.path.parent.mkdir(exist_ok=True)
            # Another run may have written meanwhile; only whole files are ever seen.
            draft = self.path.with_suffix(f".{os.getpid()}")
            draft.write_text(json.dumps({**self._read(), key: entry}, indent=1))
            draft.replace(self.path)

    def _read(self) -> dict[str, dict[str, Any]]:
        return json.loads(self.path.read_text()) if self.path.exists() else {}


def request_key(name: str, environment: str, module: str, task: str, arguments: dict) -> str:
    """What an answer depends on, in one line."""
    state = hashlib.sha256(repr(environments.REQUIREMENTS[environment]).encode())
    for source in _sources(module):
        state.update((ROOT / source).read_bytes())
    request = " ".join(f"{key}={value}" for key, value in sorted(arguments.items()))
    return f"{name}: {task} {request} [{state.hexdigest()[:10]}]"


def _sources(module: str) -> list[str]:
    """The files that a worker is made of."""
    own = module.replace(".", "/") + ".py"
    imported = re.findall(r"^from bench\.(\w+) import", (ROOT / own).read_text(), re.MULTILINE)
    named = [f"bench/{name}.py" for name in imported]
    return [own, *SHARED_SOURCES, *(name for name in named if name not in SHARED_SOURCES)]


def machine_key() -> str:
    """A short name for this machine."""
    traits = (platform.node(), processor(), str(os.cpu_count()))
    return hashlib.sha256("|".join(traits).encode()).hexdigest()[:10]


def processor() -> str:
    """The processor's name, as far as the system tells it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
