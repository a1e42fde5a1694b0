"""One run of the benchmarks: live workers, turns, and the remembered figures of peers.

Sides that are compared take turns, repeat by repeat, so that whatever else the machine does falls
on all of them. Peers' answers are kept per machine in `bench/.cache` and used again until their
worker, the data or their versions change, or `PEERS=1` asks to measure them again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import json
import os
import platform
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import environments
from bench.processes import ROOT, Worker

Answer = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Side:
    """Who is measured: a name, an environment, and the module of its worker."""

    name: str
    environment: str
    module: str

    @property
    def ours(self) -> bool:
        """Whether this is Leadline, which is measured every time."""
        return self.environment == "leadline"


LEADLINE = Side("Leadline", "leadline", "bench.ours_fit")
BOTORCH = Side("BoTorch", "torch", "bench.peers.botorch")
GPJAX = Side("GPJax", "gpjax", "bench.peers.gpjax")
SKLEARN = Side("scikit-learn", "torch", "bench.peers.sklearn")


class Session(contextlib.ExitStack):
    """Workers and remembered answers."""

    def __init__(self, remeasure: bool):
        super().__init__()
        self.remeasure = remeasure
        self.versions: dict[str, dict[str, str]] = {}
        self.peers_measured: set[str] = set()
        self._workers: dict[Side, Worker] = {}
        self._memory = environments.CACHE / f"peers-{machine_key()}.json"
        self._known: dict[str, Answer] = {}
        if self._memory.exists():
            self._known = json.loads(self._memory.read_text())
        self._fresh_keys: set[str] = set()
        # Compiled programs of the live Leadline worker: an empty folder of this run's own.
        self._programs = self.enter_context(tempfile.TemporaryDirectory())

    def compare(
        self, sides: list[Side], task: str, repeats: int, warm_up: bool = True, **arguments: Any
    ) -> dict[str, list[Answer]]:
        """Answers of live workers in turns; repeat `r` has `seed=r`, the warm-up another seed."""
        for side in sides:
            if warm_up and not self._remembers(side, task, repeats, arguments):
                self._live(side).call(task, seed=1000, **arguments)
        found: dict[str, list[Answer]] = {side.name: [] for side in sides}
        for seed in range(repeats):
            for side in sides:
                found[side.name].append(self.ask(side, task, seed=seed, **arguments))
            check_same_data([found[side.name][-1] for side in sides])
        return found

    def ask(self, side: Side, task: str, **arguments: Any) -> Answer:
        """One answer of a live worker, or a remembered one of a peer."""
        return self._recall(side, task, arguments, lambda: self._live(side).call(task, **arguments))

    def fresh(self, side: Side, task: str, programs: str = "", **arguments: Any) -> Answer:
        """One answer of a new process, with `process_seconds` from its start to its answer.

        `programs` is the folder of JAX's compilation cache, which only Leadline is given.
        """

        def measure() -> Answer:
            self._note_versions(side)
            variables = {"JAX_COMPILATION_CACHE_DIR": programs} if programs else {}
            start = time.perf_counter()
            with Worker(side.environment, side.module, **variables) as worker:
                answer = worker.call(task, **_without_turn(arguments))
                seconds = time.perf_counter() - start
            return {**answer, "process_seconds": seconds}

        return self._recall(side, f"fresh {task}", arguments, measure)

    def _live(self, side: Side) -> Worker:
        if side not in self._workers:
            cache = {"JAX_COMPILATION_CACHE_DIR": self._programs} if side.ours else {}
            live = self.enter_context(Worker(side.environment, side.module, **cache))
            self._workers[side] = live
            self.versions[side.name] = live.call("versions")
        return self._workers[side]

    def _note_versions(self, side: Side) -> None:
        if side.name not in self.versions:
            with Worker(side.environment, side.module) as worker:
                self.versions[side.name] = worker.call("versions")

    def _recall(self, side: Side, task: str, arguments: Answer, measure: Any) -> Answer:
        if side.ours:
            return measure()
        key = _key(side, task, arguments)
        stale = self.remeasure and key not in self._fresh_keys
        if key not in self._known or stale:
            answer = measure()
            today = datetime.date.today().isoformat()
            entry = {"answer": answer, "date": today, "versions": self.versions[side.name]}
            self._known[key] = entry
            self._fresh_keys.add(key)
            self.peers_measured.add(side.name)
            environments.CACHE.mkdir(exist_ok=True)
            self._memory.write_text(json.dumps(self._known, indent=1))
        entry = self._known[key]
        self.versions.setdefault(side.name, entry["versions"])
        return entry["answer"]

    def _remembers(self, side: Side, task: str, repeats: int, arguments: Answer) -> bool:
        if side.ours or self.remeasure:
            return False
        keys = [_key(side, task, {"seed": seed, **arguments}) for seed in range(repeats)]
        return all(key in self._known for key in keys)


def check_same_data(answers: list[Answer]) -> None:
    """All sides must have seen the same arrays."""
    digests = {answer["digest"] for answer in answers}
    if len(digests) != 1:
        raise AssertionError(f"the sides saw different data: {sorted(digests)}")


def machine_key() -> str:
    """A short name for this machine, under which peers' figures are kept."""
    traits = (platform.node(), processor(), str(os.cpu_count()))
    return hashlib.sha256("|".join(traits).encode()).hexdigest()[:10]


def processor() -> str:
    """The processor's name, as far as the system tells it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _without_turn(arguments: Answer) -> Answer:
    """`turn` tells repeats of the same task apart, in the memory only."""
    return {name: value for name, value in arguments.items() if name != "turn"}


def _key(side: Side, task: str, arguments: Answer) -> str:
    """What a remembered answer depends on: the request, the worker, the data, the environment."""
    sources = (side.module.replace(".", "/") + ".py", "bench/problems.py", "bench/worker.py")
    state = hashlib.sha256()
    for source in sources:
        state.update((ROOT / source).read_bytes())
    state.update(repr(environments.REQUIREMENTS[side.environment]).encode())
    request = " ".join(f"{name}={value}" for name, value in sorted(arguments.items()))
    return f"{side.name}: {task} {request} [{state.hexdigest()[:10]}]"
