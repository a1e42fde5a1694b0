"""What became of trials, as arrays that grow with them.

A question that is asked ten thousand times must not look at every trial each time. It is enough to
look at those that are new, were running, or were corrected.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from leadline.questions._trial import Trial

_RUNNING, _TOLD, _FAILED, _WITHDRAWN = 0, 1, 2, 3
_FIRST_SIZE = 64


class Ledger:
    """Rows and numbers of trials, by what became of them.

    Args:
        columns: of a row.
        numbers: how many numbers of a call models learn from.
    """

    def __init__(self, columns: int, numbers: int):
        self._n = 0
        self._running: list[int] = []
        self._rows = np.empty((_FIRST_SIZE, columns))
        self._numbers = np.empty((_FIRST_SIZE, numbers))
        self._became = np.empty(_FIRST_SIZE, np.int8)

    def empty(self) -> Ledger:
        """One like this that knows no trial."""
        return Ledger(self._rows.shape[1], self._numbers.shape[1])

    def copy(self) -> Ledger:
        """The same, which changes by itself."""
        other = object.__new__(Ledger)
        other._n, other._running = self._n, list(self._running)
        for name in ("_rows", "_numbers", "_became"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def look_again(self, trial: int) -> None:
        """At a trial that had ended and has changed."""
        if trial < self._n:
            self._running.append(trial)

    def update(self, trials: Sequence[Trial], rows: Sequence[np.ndarray]) -> None:
        """Take note of the trials that are new, and of those that have ended."""
        while len(trials) > len(self._became):
            for name in ("_rows", "_numbers", "_became"):
                old = getattr(self, name)
                setattr(self, name, np.concatenate([old, np.empty_like(old)]))
        for i in range(self._n, len(trials)):
            self._rows[i] = rows[i]
        changed = [*self._running, *range(self._n, len(trials))]
        self._n, self._running = len(trials), []
        for i in changed:
            trial = trials[i]
            if trial.running:
                self._running.append(i)
                self._became[i] = _RUNNING
            elif trial.failed:
                self._became[i] = _FAILED
            elif trial.withdrawn:
                self._became[i] = _WITHDRAWN
            else:
                self._became[i] = _TOLD
                self._numbers[i] = trial.numbers

    @property
    def told(self) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n c"]]:
        """Rows that returned numbers, and these."""
        which = self._became[: self._n] == _TOLD
        return self._rows[: self._n][which], self._numbers[: self._n][which]

    @property
    def running(self) -> Float[np.ndarray, "p d"]:
        """Rows of running calls."""
        return self._those(_RUNNING)

    @property
    def failed(self) -> Float[np.ndarray, "f d"]:
        """Rows of calls that gave no number."""
        return self._those(_FAILED)

    @property
    def withdrawn(self) -> Float[np.ndarray, "w d"]:
        """Rows of calls that will not be made."""
        return self._those(_WITHDRAWN)

    def _those(self, became: int) -> np.ndarray:
        return self._rows[: self._n][self._became[: self._n] == became]
