"""Leadline's worker for campaigns: the loop's overhead, and one process's share of a journal."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import leadline as ll
from bench.harness import worker
from leadline.campaign import CampaignOptions, run

BOX = [(0.0, 1.0)] * 6


class _Timed(ll.Minimize):
    """A question that counts the seconds of its asks."""

    seconds = 0.0

    def propose_batch(self, n):
        start = time.perf_counter()
        asks = super().propose_batch(n)
        self.seconds += time.perf_counter() - start
        return asks


def _sum(x):
    return float(np.sum(x))


def overhead(trials, journal, seed):
    """Seconds per trial of a sequential run, without its asks; the function costs nothing."""
    question = _Timed(BOX, method="random", seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        kept = {"journal": str(Path(folder) / "run.db")} if journal else {}
        options = CampaignOptions.of(trials, {"progress": False, **kept})
        start = time.perf_counter()
        answer = run(question, _sum, options)
        total = time.perf_counter() - start
    assert len(answer.trials) == trials
    return {"seconds": (total - question.seconds) / trials}


def share(journal, budget, workers, log):
    """One process's part of a campaign that others run too; every call leaves a line."""

    def logged(x):
        with open(log, "a") as file:
            file.write(x.tobytes().hex() + "\n")
        return _sum(x)

    start = time.time()
    answer = ll.minimize(
        logged,
        BOX,
        budget=budget,
        method="random",
        journal=journal,
        workers=workers,
        progress=False,
    )
    return {
        "start": start,
        "end": time.time(),
        "points": [t.x.tobytes().hex() for t in answer.trials],
        "values": [t.value for t in answer.trials],
    }


if __name__ == "__main__":
    worker.serve(
        {
            "versions": worker.versions("leadline", "jax", "jaxlib", "sqlalchemy"),
            "overhead": overhead,
            "share": share,
        }
    )
