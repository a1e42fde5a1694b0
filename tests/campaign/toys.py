"""Small questions for tests of campaigns: no model, no compilation."""

import itertools

import numpy as np

from leadline.boundary import InvalidData
from leadline.questions import Asked, Exhausted, Question


class Toy(Question):
    """The next point depends on everything that has happened, in its order."""

    verb = "toy"

    def __init__(self, seed=0):
        super().__init__([(0.0, 1.0)] * 2, seed)
        self._order = []
        self.batches = []

    def propose_batch(self, n):
        self.batches.append((n, sum(t.running for t in self._trials)))
        return super().propose_batch(n)

    def propose(self):
        told = [0 if t.value is None else int(1e6 * t.value) % 2**31 for t in self._trials]
        rng = np.random.default_rng([self.seed, len(told), *told, *self._order[-8:]])
        state = {"told": np.array(told, dtype=np.int64)}
        return Asked(len(told), rng.random(2), state, {"running": 1.0})

    def apply(self, event):
        trial = super().apply(event)
        self._order = [*self._order, event.trial]
        return trial

    def check(self, value):
        number = float(value)
        if not np.isfinite(number):
            raise InvalidData(f"A value must be finite, got {number}.")
        return number

    def settings(self):
        return {"verb": self.verb, "seed": self.seed}

    def headline(self):
        return f"[{sum(t.value is not None for t in self._trials)} values]"

    def answer(self):
        return self.trials


class Listed(Toy):
    """Asks (0, 0), (1, 0), (2, 0), ... until `n` points have been asked."""

    def __init__(self, n):
        super().__init__()
        self._n = n
        self.space = type(self.space)([(0.0, 1e6)] * 2)

    def propose(self):
        if len(self._trials) >= self._n:
            raise Exhausted(f"All {self._n} points have been asked.")
        return Asked(len(self._trials), np.array([len(self._trials), 0.0]))


def history(trials):
    """What the trials say, for comparisons; how long calls took is left out."""
    return [
        (t.id, tuple(np.atleast_1d(t.x)), t.value, t.asked, t.reason, dict(t.info)) for t in trials
    ]


def replayed(question, journal):
    """A fresh question after the events of a journal."""
    for (number, event), expected in zip(journal.read(0), itertools.count(1), strict=False):
        assert number == expected
        question.apply(event)
    return question
