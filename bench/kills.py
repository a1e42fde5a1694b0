"""A campaign that is killed again and again, against one that is left alone.

    python -m bench.kills --kills 200 --method random

Each life of the campaign is a new process on the same journal, ended by SIGKILL at a random moment:
half of the moments are counted from just before the verb, so they fall into opening and replaying
the journal, and half from the first call. The last life runs to the end. Then the trials must be
those of an uninterrupted campaign, and no call that was in the journal as finished when a process
died may have been made again.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import functools
import multiprocessing
import tempfile
import time
from pathlib import Path

import numpy as np

from leadline.campaign import minimize, open_journal
from leadline.questions import Asked, Told

BOUNDS = [(-5.0, 10.0), (0.0, 15.0)]
# Seconds of one call, and of a life at most: long enough for a few trials, short enough for kills
# to meet every step.
CALL, LIFE = 0.002, 0.08
# Whatever needs so many seconds hangs.
PATIENCE = 300.0


@dataclasses.dataclass(frozen=True)
class Survival:
    """What became of a campaign that was killed.

    Attributes:
        budget: its trials.
        kills: how often it was killed.
        calls: how many calls began, those that a kill ended among them.
        repeated: calls that were finished in the journal and were made again.
        same: whether its trials are those of the uninterrupted campaign, bit for bit.
    """

    budget: int
    kills: int
    calls: int
    repeated: int
    same: bool


def survive(folder: Path, kills: int, method: str = "random", seed: int = 0) -> Survival:
    """Kill a campaign so many times and let it finish."""
    rng, budget = np.random.default_rng(seed), 8 * kills
    journal, log = folder / "journal.db", folder / "calls"
    log.touch()
    # A fork server that has imported everything: kills meet campaigns, not imports.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["bench.kills"])
    settled: dict[str, int] = {}
    for life in range(kills + 1):
        ready = context.Event()
        process = context.Process(target=_live, args=(journal, log, method, seed, budget, ready))
        began = len(_calls(log))
        process.start()
        if life < kills:
            if not ready.wait(PATIENCE):
                process.kill()
                raise RuntimeError(f"Life {life} of the campaign does not begin.")
            if rng.integers(2):
                _until_first_call(process, log, began)
            time.sleep(rng.uniform(0.0, LIFE))
            process.kill()
        process.join(PATIENCE)
        if process.is_alive():
            process.kill()
            raise RuntimeError("The last life of the campaign does not end.")
        calls = collections.Counter(_calls(log))
        for point in _finished(journal):
            settled.setdefault(point, calls[point])
    trials = _trials(journal)
    alone = minimize(branin, BOUNDS, budget=budget, method=method, seed=seed, progress=False)
    expected = [(_text(t.x), t.value) for t in alone.trials]
    repeated = sum(calls[point] - before for point, before in settled.items())
    return Survival(budget, kills, calls.total(), repeated, trials == expected)


def branin(x: np.ndarray) -> float:
    """A smooth function with three lowest points."""
    curve = x[1] - 5.1 / (4.0 * np.pi**2) * x[0] ** 2 + 5.0 / np.pi * x[0] - 6.0
    return float(curve**2 + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(x[0]) + 10.0)


def logged(log: Path, x: np.ndarray) -> float:
    """Branin's function; each call leaves a line."""
    with open(log, "a") as file:
        file.write(_text(x) + "\n")
    time.sleep(CALL)
    return branin(x)


def _live(journal: Path, log: Path, method: str, seed: int, budget: int, ready) -> None:
    """One life of the campaign."""
    f = functools.partial(logged, log)
    ready.set()
    minimize(f, BOUNDS, budget=budget, method=method, seed=seed, journal=journal, progress=False)


def _until_first_call(process, log: Path, began: int) -> None:
    while process.is_alive() and len(_calls(log)) == began:
        time.sleep(0.001)


def _text(x: np.ndarray) -> str:
    return x.tobytes().hex()


def _calls(log: Path) -> list[str]:
    return log.read_text().splitlines()


def _events(journal: Path) -> list:
    if not journal.exists():
        return []
    opened = open_journal(journal)
    try:
        return [event for _, event in opened.read(0)]
    finally:
        opened.close()


def _trials(journal: Path) -> list[tuple[str, float | None]]:
    points, values = {}, {}
    for event in _events(journal):
        if isinstance(event, Asked):
            points[event.trial] = _text(event.point)
        elif isinstance(event, Told):
            values[event.trial] = event.value
    return [(point, values.get(trial)) for trial, point in points.items()]


def _finished(journal: Path) -> list[str]:
    return [point for point, value in _trials(journal) if value is not None]


def main() -> None:
    """Say what became of it; exit with an error if anything was lost or paid for twice."""
    parser = argparse.ArgumentParser(description="Kill a campaign again and again.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--method", default="random")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        survival = survive(Path(folder), arguments.kills, arguments.method, arguments.seed)
    print(
        f"{survival.kills} kills, {survival.budget} trials, {survival.calls} calls began: "
        f"{survival.repeated} finished calls repeated, trials "
        f"{'the same as' if survival.same else 'NOT those of'} an uninterrupted campaign"
    )
    raise SystemExit(survival.repeated > 0 or not survival.same)


if __name__ == "__main__":
    main()
