"""Which machine this is."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
from pathlib import Path


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
