"""Peers' answers, kept per machine.

An answer is used again until its request, its worker, the data or the required versions change. One
that contains times is kept only if the machine was quiet when the run began: a time from a busy
machine is good for the run that measured it at most.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from bench.folders import CACHE, ROOT
from bench.harness import environments
from bench.harness.machine import machine_key
from bench.harness.sources import fingerprint
from bench.sides.libraries import Side

# Keys used to end in a digest of whole files, with their docstrings and imports. What these workers
# do has not changed since, only where they lie: the digest that each has today, and the one that it
# had in such keys. A worker that changes has another digest and is not found here, so its line can
# go; so can all of them when no machine has answers that old.
EARLIER = {
    "ecac5adb74": "4b437790aa",  # BoTorch, fit
    "2a4e5efb70": "e48907aa1d",  # BoTorch, paths
    "81ef3c6840": "c1f5b76ceb",  # BoTorch, minimize
    "2f36e4e9f8": "c83fa0e512",  # BoTorch, batch
    "cf433e7782": "c2db28a8af",  # BoTorch, regret
    "3d92569a23": "11bc804325",  # Optuna, regret
    "7c16c455e4": "57fe04328b",  # Optuna, contests
    "18957f3a59": "d744637dd7",  # Optuna, minimize
    "19fa4a1652": "cf62ecb075",  # GPJax, fit
    "65162ff709": "3fcd2789fa",  # scikit-learn, fit
    "d7dcdcc055": "9ebe263ff9",  # scikit-learn, classification
}


class Remembered:
    """A file of answers by key."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or CACHE / f"peers-{machine_key()}.json"
        self.quiet = os.getloadavg()[0] <= 0.5 * (os.cpu_count() or 1)
        self._known = self._read()

    def get(self, key: str) -> dict[str, Any] | None:
        """The entry of `key`, if there is one."""
        return self._known.get(key) or self._known.get(_earlier(key))

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


def request_key(side: Side, task: str, arguments: dict[str, Any], root: Path = ROOT) -> str:
    """What an answer depends on, in one line."""
    request = " ".join(f"{key}={value}" for key, value in sorted(arguments.items()))
    return f"{side.name}: {task} {request} [{digest(side, root)}]"


def digest(side: Side, root: Path = ROOT) -> str:
    """The required versions and the code of a side's worker."""
    state = hashlib.sha256(repr(environments.REQUIREMENTS[side.environment]).encode())
    state.update(fingerprint(side.module, root).encode())
    return state.hexdigest()[:10]


def _earlier(key: str) -> str:
    """The key that the same request had when digests were of whole files; empty if it had none."""
    request, _, now = key.removesuffix("]").rpartition("[")
    return f"{request}[{EARLIER[now]}]" if now in EARLIER else ""
