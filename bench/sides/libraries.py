"""The libraries that are measured: what they are called, and which environment they run in."""

from __future__ import annotations

import dataclasses

from bench.folders import BENCH


@dataclasses.dataclass(frozen=True)
class Side:
    """Who is measured: a library, and the subject that its worker is about."""

    library: Library
    subject: str

    @property
    def name(self) -> str:
        """What the library is called."""
        return self.library.name

    @property
    def environment(self) -> str:
        """Where the worker runs (see `bench.harness.environments`)."""
        return self.library.environment

    @property
    def module(self) -> str:
        """The worker."""
        return f"bench.sides.{self.library.folder}.{self.subject}"

    @property
    def ours(self) -> bool:
        """Whether this is Leadline, which is measured every time."""
        return self.library is LEADLINE


@dataclasses.dataclass(frozen=True)
class Library:
    """A library, and its folder beside this file."""

    name: str
    folder: str
    environment: str

    def subjects(self) -> list[str]:
        """What it has workers for."""
        found = (BENCH / "sides" / self.folder).glob("[!_]*.py")
        return sorted(worker.stem for worker in found)

    def on(self, subject: str) -> Side:
        """The side that this library is in a comparison on a subject."""
        if subject not in self.subjects():
            raise ValueError(f"{self.name} has no {subject!r}, only {', '.join(self.subjects())}")
        return Side(self, subject)


LEADLINE = Library("Leadline", "leadline", "leadline")
BOTORCH = Library("BoTorch", "botorch", "torch")
GPJAX = Library("GPJax", "gpjax", "gpjax")
OPTUNA = Library("Optuna", "optuna", "torch")
SKLEARN = Library("scikit-learn", "sklearn", "torch")
PEERS = (BOTORCH, GPJAX, OPTUNA, SKLEARN)
