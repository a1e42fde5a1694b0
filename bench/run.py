"""Run the benchmarks: `python -m bench.run [measure ...]`, all of them without a name.

Writes `bench/RESULTS.md` and `bench/results.json`. `PEERS=1` in the environment measures peers
again instead of using the figures remembered for this machine; `LEADLINE_BENCH_ENVS` names a folder
with the peers' environments ready (see `bench.harness.environments`).
"""

from __future__ import annotations

import datetime
import importlib
import os
import sys

from bench.harness import report
from bench.harness.machine import processor
from bench.harness.processes import WorkerFailed
from bench.harness.session import Session

MEASURES = (
    "imports",
    "start",
    "fit",
    "evaluation",
    "quality",
    "stuck",
    "growing",
    "cost",
    "memory",
    "draws",
    "long_queries",
    "trajectories",
    "ask",
    "pool",
    "batch",
    "runs",
    "dimensions",
    "regret",
    "acquisitions",
    "classification",
    "contests",
    "crossover",
    "campaign",
)


def main(names: list[str]) -> int:
    """Run the named measures; the exit code says whether one failed. A missed bar is a result."""
    unknown = sorted(set(names) - set(MEASURES))
    if unknown:
        print(f"unknown measure {unknown[0]!r}; there are {', '.join(MEASURES)}")
        return 2
    clean = True
    with Session(remeasure=os.environ.get("PEERS") == "1") as session:
        for name in names or MEASURES:
            entry = _measure(name, session)
            clean &= "failed" not in entry
            # Another run may have written its own measures meanwhile.
            results = report.load()
            results["measures"][name] = entry
            results["versions"].update(session.versions)
            report.write(results)
    return 0 if clean else 1


def _measure(name: str, session: Session) -> dict:
    module = importlib.import_module(f"bench.measures.{name}")
    print(module.TITLE, flush=True)
    session.peers_measured.clear()
    entry = {
        "title": module.TITLE,
        "what": module.WHAT,
        "date": datetime.date.today().isoformat(),
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "load": os.getloadavg()[0],
        },
        "figures": [],
    }
    try:
        figures = module.run(session)
    except WorkerFailed as failure:
        entry["failed"] = str(failure)
        print(f"  failed: {failure}")
        return entry
    finally:
        fresh = sorted(session.peers_measured)
        entry["peers"] = f"{', '.join(fresh)} in this run" if fresh else "remembered, or none"
    entry["figures"] = report.as_json(figures)
    for figure in figures:
        verdict = {True: "met", False: "NOT MET", None: ""}[figure.met]
        compared = f"{figure.value:.3g} {figure.kind}"
        sides = f"{figure.ours} / {figure.theirs} {figure.peer}".rstrip(" /")
        print(f"  {figure.case}: {sides}: {compared} {verdict} {figure.note}".rstrip(), flush=True)
    return entry


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
