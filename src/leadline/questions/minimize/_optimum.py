"""The answer to `minimize` and `maximize`: the best point, and what is known around it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.boundary import InvalidData
from leadline.models import Normal
from leadline.questions._frames import points_of
from leadline.questions._process import Model
from leadline.questions._surrogate import learn
from leadline.questions._table import frame_of

if TYPE_CHECKING:
    from leadline.questions.minimize._minimize import Minimize


class Optimum:
    """The best point of a campaign.

    Attributes:
        x: the best point that is allowed, an array or a dict; None if there is none. Where the
            function is noisy, it is the call that is expected to be best, and not the luckiest.
        value: what the function returned there; NaN if there is none.
        trials: every trial, in the order in which they started.
        best: the trial of `x`, or None.
    """

    def __init__(self, question: Minimize):
        best = question.recommended()
        self.trials = question.trials
        self.best = None if best is None else self.trials[best]
        self.x: Any = None if self.best is None else self.best.x
        self.value = float("nan") if self.best is None else self.best.value
        self.space = question.space
        self.sign = question.sign
        self._question = question
        self._best_call = question.best()
        self._verb = question.verb
        self._seen, self._method = question.seen(), question.method

    def predict(self, points: Any) -> Normal:
        """What is believed about the function at other points: normal marginals.

        Args:
            points: a list of points, an array of them (m, d), or a frame with a column for each
                parameter, in any order and beside any others. They may be outside of the space.
        """
        rows = self.space.locate(points_of(self._question, points))
        belief = self._belief.predict(rows)
        return Normal(self.sign * belief.mean, belief.var)

    @cached_property
    def _belief(self):
        if len(self._seen.y) < 2:
            raise InvalidData(
                f"A model needs at least 2 values, and {len(self._seen.y)} calls returned one."
            )
        model = getattr(self._method, "model", Model())
        return learn(self.space, self._seen.x, self._seen.y, {}, model)[0]

    def to_frame(self):
        """Every trial as a row of a pandas frame.

        The columns are its parameters, value, constraint values, failure, seconds and info. A
        parameter with the name of one of those, `value` say, has the column `x.value`.
        """
        return frame_of(self._question, self.trials)

    def plot(self):
        """A matplotlib figure: the best value after each call, and slices of the model."""
        from leadline.plots import picture_of_optimum

        return picture_of_optimum(self)

    def __repr__(self) -> str:
        trials = self.trials
        failed, running = sum(t.failed for t in trials), sum(t.running for t in trials)
        counts = f"{len(trials)} trials"
        counts += f", {failed} failed" if failed else ""
        counts += f", {running} not finished" if running else ""
        told = [t for t in trials if t.value is not None]
        if not told:
            nothing = "No call has ended." if running else "Nothing was called."
            first = next((f"First failure: {t.reason}" for t in trials if t.failed), nothing)
            return f"{self._verb}: no value after {counts}. {first}"
        if self.best is not None:
            head = f"{self._verb}: {self.value:.6g} at trial {self.best.id} ({counts})"
            return f"{head}{self._luckier()}\n{self._point(self.x)}"
        within = [t for t in told if not t.outside]
        if not within:
            return f"{self._verb}: every point with a value is outside of the space ({counts})"
        nearest = min(within, key=lambda t: max(t.constraints))
        values = ", ".join(f"{c:.4g}" for c in nearest.constraints)
        head = f"{self._verb}: none of the {len(told)} calls with a value was allowed ({counts})"
        near = f"The nearest is trial {nearest.id}, where the constraints are {values}:"
        return f"{head}. {near}\n{self._point(nearest.x)}"

    def _luckier(self) -> str:
        """That another call returned a better value, if one did."""
        assert self.best is not None
        if self._best_call is None or self._best_call == self.best.id:
            return ""
        other = self.trials[self._best_call]
        return (
            f", the call that is expected to be best.\nThe best call is trial {other.id}, which "
            f"returned {other.value:.6g}; values are noisy."
        )

    def _point(self, x: Any) -> str:
        if not self.space.named:
            return f"  x = {np.array2string(np.asarray(x), precision=6)}"
        width = max(map(len, x))
        return "\n".join(f"  {name:<{width}}  {_shown(value)}" for name, value in x.items())


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
