"""How long `import leadline` takes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from bench.harness.figures import Figure, duration
from bench.harness.processes import clean_environment
from bench.harness.session import Session

TITLE = "Import"
WHAT = """`import leadline` against `import jax`, each in a new process, in turns. Names are loaded
when they are first used, so the second case also asks for what a campaign needs."""

REPEATS = 9


def run(session: Session) -> list[Figure]:
    """Time both in turns, after one round that fills the file system's cache."""
    del session
    programs = {
        "theirs": "import jax",
        "ours": "import leadline",
        "used": "import leadline as ll; ll.minimize, ll.methods.GP",
    }
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(REPEATS + 1):
        for name, program in programs.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True, env=clean_environment())
            times[name].append(time.perf_counter() - start)
    theirs, ours, used = (statistics.median(found[1:]) for found in times.values())
    return [
        _figure("import leadline", ours, theirs, 1.6),
        _figure("import leadline and what a campaign needs", used, theirs, None),
    ]


def _figure(case: str, ours: float, theirs: float, bar: float | None) -> Figure:
    kind, sides = "times as long", (duration(ours), "jax", duration(theirs))
    return Figure(case, *sides, ours / theirs, kind, bar, at_least=False)
