"""The answer to `minimize` and `maximize`: the best point, and what is known around it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.boundary import InvalidData
from leadline.models import Normal
from leadline.questions._any_size import NormalOfAnySize
from leadline.questions._bending import Units
from leadline.questions._frames import points_of
from leadline.questions._process import Model
from leadline.questions._surrogate import learn
from leadline.questions._table import frame_of

if TYPE_CHECKING:
    from leadline.questions.minimize._minimize import Minimize


class Optimum:
    """The best point of a campaign.

    Attributes:
        x: the best point that is allowed, an array or a dict; None if there is none. It is that of
            the best call, unless it is evident that calls are noisy: then it is that of the call
            that is expected to be best, and not of the luckiest.
        value: what the function returned at `x`; NaN if there is none.
        recommended: the trial of `x`, or None.
        best: the trial that is allowed and returned the best value, or None.
        trials: every trial, in the order in which they started.
    """

    def __init__(self, question: Minimize):
        number, self._reason = question.recommended()
        best = question.best()
        self.trials = question.trials
        self.best = None if best is None else self.trials[best]
        self.recommended = None if number is None else self.trials[number]
        self.x: Any = None if self.recommended is None else self.recommended.x
        self.value = float("nan") if self.recommended is None else self.recommended.value
        self.space = question.space
        self.sign = question.sign
        self._question = question
        self._verb = question.verb
        self._seen, self._method = question.seen(), question.method

    def predict(self, points: Any) -> Normal:
        """What is believed about the function at other points: normal marginals.

        Args:
            points: a list of points, an array of them (m, d), or a frame with a column for each
                parameter, in any order and beside any others. They may be outside of the space.
        """
        rows = self.space.locate(points_of(self._question, points))
        posterior, units = self._belief
        belief = posterior.predict(rows)
        if units == Units():
            return Normal(self.sign * belief.mean, belief.var)
        mean = self.sign * units.value(np.asarray(belief.mean))
        return NormalOfAnySize.of(mean, units.times(np.asarray(belief.std)))

    @cached_property
    def _belief(self):
        if len(self._seen.y) < 2:
            raise InvalidData(
                f"A model needs at least 2 values, and {len(self._seen.y)} calls returned one."
            )
        y, model = self._seen.y, getattr(self._method, "model", Model())
        units = Units.of(y, self._seen.allowed)
        model = model._replace(noise=units.noise(model.noise))
        return learn(self.space, self._seen.x, units.seen(y), {}, model)[0], units

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
        if self.recommended is not None:
            head = f"{self._verb}: {self.value:.6g} at trial {self.recommended.id}"
            return f"{head} ({counts}){self._why()}\n{self._point(self.x)}{self._luckier()}"
        within = [t for t in told if not t.outside]
        if not within:
            return f"{self._verb}: every point with a value is outside of the space ({counts})"
        nearest = min(within, key=lambda t: max(t.constraints))
        values = ", ".join(f"{c:.4g}" for c in nearest.constraints)
        head = f"{self._verb}: none of the {len(told)} calls with a value was allowed ({counts})"
        near = f"The nearest is trial {nearest.id}, where the constraints are {values}:"
        return f"{head}. {near}\n{self._point(nearest.x)}"

    def _why(self) -> str:
        """Why this is not the best call, if it is not."""
        return ", the call that is expected to be best" if self._reason else ""

    def _luckier(self) -> str:
        """That another call returned a better value, and why it is not the answer."""
        if self._reason is None or self.best is None:
            return ""
        return (
            f"\nCalls are noisy (standard deviation about {self._reason.deviation:.2g}); the best "
            f"call returned {self.best.value:.6g} at trial {self.best.id}:\n"
            f"{self._point(self.best.x)}"
        )

    def _point(self, x: Any) -> str:
        if not self.space.named:
            return f"  x = {np.array2string(np.asarray(x), precision=6)}"
        width = max(map(len, x))
        return "\n".join(f"  {name:<{width}}  {_shown(value)}" for name, value in x.items())


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
