"""The answer to `integrate`: the integral with its error, and what is known of the integrand."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.boundary import InvalidData
from leadline.models import Normal
from leadline.questions._any_size import NormalOfAnySize
from leadline.questions._frames import points_of
from leadline.questions._table import frame_of

if TYPE_CHECKING:
    from leadline.questions.integrate._integrate import Integrate


class Integral:
    """The integral of a function.

    Attributes:
        trials: every trial, in the order in which they started.
        measure: what the integral is against.
    """

    def __init__(self, question: Integrate):
        self._question = question
        self.trials, self.measure = question.trials, question.measure

    @property
    def mean(self) -> float:
        """The integral."""
        return _times(self._law[0], self._belief.log_scale)

    @property
    def std(self) -> float:
        """Its standard deviation: how wrong the mean may be."""
        return _times(self._law[1], self._belief.log_scale)

    @property
    def log_mean(self) -> float:
        """The logarithm of `mean`, which is a number where that is too large or small for one."""
        mean = self._law[0]
        if not mean > 0.0:
            raise InvalidData(
                f"The integral is not positive, as far as is known: {self.mean:g}, with a standard "
                f"deviation of {self.std:g}. It has no logarithm."
            )
        return math.log(mean) + self._belief.log_scale

    @property
    def log_std(self) -> float:
        """The logarithm of `std`."""
        std = self._law[1]
        return math.log(std) + self._belief.log_scale if std > 0.0 else -math.inf

    @property
    def relative_error(self) -> float:
        """The standard deviation as a part of the integral's size."""
        mean, std = self._law
        return std / abs(mean) if mean else math.inf

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Ends between which the integral lies with a probability, as far as the model knows."""
        if not isinstance(level, int | float) or not 0.0 < level < 1.0:
            raise InvalidData(f"level must be between 0 and 1, got {level!r}.")
        mean, std = self._law
        ends = Normal(np.asarray(mean), np.asarray(std**2)).quantile(
            np.array([0.5 - level / 2, 0.5 + level / 2])
        )
        low, high = (_times(float(end), self._belief.log_scale) for end in np.ravel(ends))
        return low, high

    def predict(self, points: Any) -> Normal:
        """What is believed about the integrand at other points: normal marginals.

        Of logarithms it is the integrand over the largest value that was seen.

        Args:
            points: a list of points, an array of them (m, d), or a frame.
        """
        question = self._question
        rows = question.space.locate(points_of(question, points))
        f = self._belief.integrand.predict(rows)
        if question.logarithmic:
            return Normal(np.asarray(f.mean), np.asarray(f.var))
        scale = math.exp(self._belief.log_scale)
        return NormalOfAnySize.of(scale * np.asarray(f.mean), scale * np.asarray(f.std))

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of where the function was asked for."""
        low, high = self._question.space.decode(
            np.array([[0.0], [1.0]]) + np.zeros(self.measure.dim)
        )
        return np.asarray(low), np.asarray(high)

    def to_frame(self):
        """Every trial as a row of a pandas frame."""
        return frame_of(self._question, self.trials)

    def plot(self):
        """A matplotlib figure: the integral after each call with its error, and the integrand."""
        from leadline.plots import picture_of_integral

        return picture_of_integral(self)

    @property
    def history(self) -> list[tuple[int, float, float]]:
        """Numbers of values, and the integral and its standard deviation as they were known then.

        As far as asks have noted it, and now; of logarithms over the largest value of all.
        """
        known = []
        scale = self._belief.log_scale if self._question.logarithmic else 0.0
        for trial in self.trials:
            if "log_scale" in trial.notes:
                factor = math.exp(trial.notes["log_scale"] - scale)
                known.append((trial.id, factor * trial.notes["mean"], factor * trial.notes["std"]))
        mean, std = self._law
        factor = math.exp(self._belief.log_scale - scale)
        return [*known, (len(self.trials), factor * mean, factor * std)]

    def __repr__(self) -> str:
        counts = self._question.counts()
        values = sum(trial.value is not None for trial in self.trials)
        if values < 2:
            return f"integrate: no answer after {counts}"
        if self._belief.log_scale == -math.inf:
            return f"integrate: every value is zero, and nothing is known of others ({counts})"
        low, high = self.interval()
        size = abs(self._belief.log_scale)
        if size > 600.0 and self._law[0] > 0.0:
            head = f"log integral {self.log_mean:.7g}, relative error {self.relative_error:.1e}"
        else:
            head = f"{self.mean:.7g} with standard deviation {self.std:.1e}"
        ends = "" if size > 600.0 else f"\n  95 % interval: {low:.7g} to {high:.7g}"
        return f"integrate: {head} ({counts}){ends}"

    @cached_property
    def _belief(self):
        return self._question.belief()

    @cached_property
    def _law(self) -> tuple[float, float]:
        """Mean and standard deviation, over the largest value."""
        return self._belief.law(self._question.measure_of_rows)


def _times(value: float, log_scale: float) -> float:
    """A value times e^log_scale, which may be too large or too small for a number."""
    if not math.isfinite(value):
        return value
    try:
        return value * math.exp(log_scale)
    except OverflowError:
        return math.copysign(math.inf, value) if value else 0.0
