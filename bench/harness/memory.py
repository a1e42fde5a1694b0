"""How much memory a process has needed."""

from __future__ import annotations

import resource
from pathlib import Path


def peak_memory():
    """The largest resident size of this process so far, in bytes.

    Linux's own high-water mark first: `ru_maxrss` begins with that of the parent process.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(s for s in status.read_text().splitlines() if s.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
