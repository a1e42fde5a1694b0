"""One run of the benchmarks: live workers, turns, and the remembered answers of peers.

Sides that are compared take turns, repeat by repeat, so that whatever else the machine does falls
on all of them. Peers' answers are remembered (`bench.harness.remembered`) unless `PEERS=1` asks to
measure them again; Leadline's never are.
"""

from __future__ import annotations

import contextlib
import datetime
import tempfile
import time
from collections.abc import Callable
from typing import Any

from bench.harness.processes import Worker
from bench.harness.remembered import Remembered, request_key
from bench.sides.libraries import Side

Answer = dict[str, Any]
# Who is asked, which task of its worker, and with which arguments besides the seed.
Request = tuple[Side, str, dict[str, Any]]


class Session(contextlib.ExitStack):
    """Workers and remembered answers."""

    def __init__(self, remeasure: bool):
        super().__init__()
        self.versions: dict[str, dict[str, str]] = {}
        self.peers_measured: set[str] = set()
        self._remeasure = remeasure
        self._measured_keys: set[str] = set()
        self._workers: dict[Side, Worker] = {}
        self._remembered = Remembered()
        # Compiled programs of the live Leadline workers: an empty folder of this run's own.
        self._programs = self.enter_context(tempfile.TemporaryDirectory())
        if not self._remembered.quiet:
            print("the machine is busy: times are doubtful, and peers' will not be remembered")

    def compare(
        self, sides: list[Side], task: str, repeats: int, **arguments: Any
    ) -> dict[str, list[Answer]]:
        """Warm answers of live workers in turns; repeat `r` has `seed=r`, the warm-up another.

        Warm: what the warm-up has begun to compile in the background is done.
        """
        found = self.turns({side.name: (side, task, arguments) for side in sides}, repeats)
        for answers in zip(*found.values(), strict=True):
            check_same_data(answers)
        return found

    def turns(self, requests: dict[str, Request], repeats: int) -> dict[str, list[Answer]]:
        """`compare` for requests that differ in more than their side."""
        seeds = range(repeats)
        for side, task, arguments in requests.values():
            if side.ours or not all(
                self._known(side, task, {"seed": seed, **arguments}) for seed in seeds
            ):
                self._live(side).call(task, seed=1000, **arguments)
                self._live(side).settle()
        found: dict[str, list[Answer]] = {name: [] for name in requests}
        for seed in seeds:
            for name, (side, task, arguments) in requests.items():
                found[name].append(self.ask(side, task, seed=seed, **arguments))
        return found

    def ask(self, side: Side, task: str, **arguments: Any) -> Answer:
        """One answer of a live worker, or a remembered one of a peer."""
        return self._recall(side, task, arguments, lambda: self._live(side).call(task, **arguments))

    def fresh(
        self, side: Side, task: str, programs: str = "", turn: int = 0, **arguments: Any
    ) -> Answer:
        """One answer of a new process, with `process_seconds` from its start to its answer.

        `programs` is the folder of JAX's compilation cache, which only Leadline is given; `turn`
        tells repeats of one request apart.
        """

        def measure() -> Answer:
            self._note_versions(side)
            variables = {"JAX_COMPILATION_CACHE_DIR": programs} if programs else {}
            start = time.perf_counter()
            with Worker(side.environment, side.module, **variables) as worker:
                answer = worker.call(task, **arguments)
                seconds = time.perf_counter() - start
            return {**answer, "process_seconds": seconds}

        return self._recall(side, f"fresh {task}", {"turn": turn, **arguments}, measure)

    def _live(self, side: Side) -> Worker:
        if side not in self._workers or not self._workers[side].alive:
            cache = {"JAX_COMPILATION_CACHE_DIR": self._programs} if side.ours else {}
            live = self.enter_context(Worker(side.environment, side.module, **cache))
            self._workers[side] = live
            self.versions.setdefault(side.name, {}).update(live.call("versions"))
        return self._workers[side]

    def _note_versions(self, side: Side) -> None:
        if side.name not in self.versions:
            with Worker(side.environment, side.module) as worker:
                self.versions[side.name] = worker.call("versions")

    def _known(self, side: Side, task: str, arguments: Answer) -> Answer | None:
        key = request_key(side, task, arguments)
        if self._remeasure and key not in self._measured_keys:
            return None
        return self._remembered.get(key)

    def _recall(
        self, side: Side, task: str, arguments: Answer, measure: Callable[[], Answer]
    ) -> Answer:
        if side.ours:
            return measure()
        entry = self._known(side, task, arguments)
        if entry is None:
            entry = {"answer": measure(), "date": datetime.date.today().isoformat()}
            entry["versions"] = self.versions[side.name]
            key = request_key(side, task, arguments)
            self._remembered.put(key, entry)
            self._measured_keys.add(key)
            self.peers_measured.add(side.name)
        self.versions.setdefault(side.name, entry["versions"])
        return entry["answer"]


def check_same_data(answers: list[Answer]) -> None:
    """All sides must have seen the same arrays."""
    digests = {answer["digest"] for answer in answers}
    if len(digests) != 1:
        raise AssertionError(f"the sides saw different data: {sorted(digests)}")
