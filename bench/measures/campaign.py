"""Campaigns: the loop's overhead, a journal under load, and campaigns that are killed."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import tempfile
from pathlib import Path

from bench.harness.figures import Figure, duration, median
from bench.harness.processes import Worker
from bench.harness.session import Session
from bench.kills import survive
from bench.sides import libraries

TITLE = "Campaigns: overhead, a shared journal, kills"
WHAT = """Overhead: a sequential run of a function that costs nothing, without the time of its asks;
with a journal every trial is on disk before its call and again with its value. Shared journal: two
processes with four worker threads each on one SQLite file, random points. Kills: SIGKILL at random
moments of a sequential campaign that is started again each time; then its trials are compared with
those of a campaign that was left alone."""

LEADLINE = libraries.LEADLINE.on("campaign")

TRIALS, REPEATS = 300, 5
PROCESSES, WORKERS, BUDGET = 2, 4, 600
KILLS = {"random": 200, "gp": 20}


def run(session: Session) -> list[Figure]:
    """All three."""
    return [*_overheads(session), *_shared(), *_killed()]


def _overheads(session: Session) -> list[Figure]:
    figures = []
    for journal in (False, True):
        arguments = {"trials": TRIALS, "journal": journal}
        found = [
            session.ask(LEADLINE, "overhead", seed=seed, **arguments) for seed in range(REPEATS + 1)
        ]
        seconds = median(found[1:])
        case = f"overhead per trial, {'with a journal' if journal else 'in memory'}"
        figures.append(_counted(case, duration(seconds), 1e3 * seconds, "ms", 5))
    return figures


def _shared() -> list[Figure]:
    """Two processes on one journal: how fast, and whether anything was lost or done twice."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        side = LEADLINE
        processes = [
            stack.enter_context(Worker(side.environment, side.module)) for _ in range(PROCESSES)
        ]
        threads = stack.enter_context(concurrent.futures.ThreadPoolExecutor(PROCESSES))
        for number, process in enumerate(processes):  # warm
            process.call("overhead", trials=5, journal=True, seed=number)
        arguments = {
            "journal": str(folder / "run.db"),
            "log": str(folder / "calls"),
            "budget": BUDGET,
            "workers": WORKERS,
        }
        answers = list(threads.map(lambda p: p.call("share", **arguments), processes))
        calls = collections.Counter((folder / "calls").read_text().splitlines())
    seconds = max(a["end"] for a in answers) - min(a["start"] for a in answers)
    points = answers[0]["points"]
    lost = sum(value is None for value in answers[0]["values"]) + BUDGET - len(points)
    twice = calls.total() - len(calls) + len(points) - len(set(points))
    apart = sum(answer["points"] != points for answer in answers)
    case = f"{PROCESSES * WORKERS} workers in {PROCESSES} processes"
    rate = BUDGET / seconds
    return [
        Figure(case, f"{rate:.0f} trials/s", "", "", rate, "trials a second", 50),
        _counted(f"{case}: trials lost", str(lost), lost, "trials", 0),
        _counted(f"{case}: points or calls twice", str(twice), twice, "calls", 0),
        _counted(f"{case}: processes with other answers", str(apart), apart, "processes", 0),
    ]


def _killed() -> list[Figure]:
    figures = []
    for method, kills in KILLS.items():
        with tempfile.TemporaryDirectory() as folder:
            found = survive(Path(folder), kills, method)
        note = f"{found.budget} trials, {found.calls} calls begun"
        case = f"{kills} kills, method {method}"
        figures += [
            _counted(
                f"{case}: finished calls made again",
                str(found.repeated),
                found.repeated,
                "calls",
                0,
                note,
            ),
            _counted(
                f"{case}: other trials than without kills",
                "no" if found.same else "yes",
                not found.same,
                "campaigns",
                0,
            ),
        ]
    return figures


def _counted(case: str, ours: str, value: float, kind: str, bar: float, note: str = "") -> Figure:
    return Figure(case, ours, "", "", value, kind, bar, at_least=False, note=note)
