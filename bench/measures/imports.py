"""How long `import leadline` takes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from bench.figures import Figure, duration
from bench.processes import clean_environment
from bench.session import Session

TITLE = "Import"
WHAT = "`import leadline` against `import jax, equinox, optax`, each in a new process, in turns."

REPEATS = 9


def run(session: Session) -> list[Figure]:
    """Time both in turns, after one round that fills the file system's cache."""
    del session
    programs = {"ours": "import leadline", "theirs": "import jax, equinox, optax"}
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(REPEATS + 1):
        for name, program in programs.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True, env=clean_environment())
            times[name].append(time.perf_counter() - start)
    ours, theirs = (statistics.median(found[1:]) for found in times.values())
    return [
        Figure(
            "import leadline",
            duration(ours),
            "jax, equinox, optax",
            duration(theirs),
            ours / theirs,
            "times as long",
            1.3,
            at_least=False,
        )
    ]
