"""Bayesian optimization with a Gaussian process.

A process (`_surrogate`) is fitted to what has been seen; the next row is where an acquisition
function is highest, by default the expected improvement on the best expected value.

Every second call is to improve by a tenth of the spread of the values, or by all of it. Without
that a run polishes the first hollow that it finds, to more digits than anybody needs, and learns
nothing about others. Where noise is a substantial part of the values, nobody knows what there is to
improve on, and the improvement is averaged over draws of it instead (Letham et al. 2019). What both
are worth is measured in docs/acquisition.md.

Calls that have not returned take part by draws of what they may return (`Fantasies`), so that
points asked at once or one after the other spread out. Calls that failed take part at the worst
value seen. Constraints have a process each, and an acquisition function counts as much as they are
probably met.

Notation: `x (n, d)` rows, `y (n,)` values, larger is better.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from leadline.acquisition import best_expected, feasible
from leadline.boundary import InvalidData, as_choice
from leadline.kernels import Kernel
from leadline.models import Posterior
from leadline.numerics import numbered_key
from leadline.questions._bending import Units, signed_logarithm
from leadline.questions._surrogate import State, learn, with_stand_ins
from leadline.questions.minimize.methods._choices import CHOICES, Situation
from leadline.questions.minimize.methods._doubt import noise_is_evident
from leadline.questions.minimize.methods._method import Recommendation, Seen, Suggestion
from leadline.questions.minimize.methods._modeled import Modeled
from leadline.questions.minimize.methods._objective import learn_objective
from leadline.search import Acquisition, maximize
from leadline.spaces import Space

# Searches look close to so many of the best calls.
_BEST = 4
# What calls in turn are to improve by, in standard deviations of the values.
_AMBITIONS = (0.0, 0.1, 0.0, 1.0)
# Of the draws behind information about the highest value.
_FEATURES = 1024
# Noise of a smaller part of the values' variance is no reason to doubt the best value, and of a
# larger part every reason to doubt what there is to improve on.
_NEGLIGIBLE, _SUBSTANTIAL = 1e-3, 1e-2


class Belief(NamedTuple):
    """What is believed about the objective and the constraints, and what was dear to learn.

    Attributes:
        posterior: of the objective, with stand-ins for calls that failed.
        told: of the objective, given the calls that returned and nothing else.
        constraints: of each constraint.
        state: what was dear to learn.
        y: the values as they are modeled.
        units: what models see of a value.
    """

    posterior: Posterior
    told: Posterior
    constraints: tuple[Posterior, ...]
    state: State
    y: np.ndarray
    units: Units

    @property
    def noise(self) -> float:
        """The variance of the noise, as a part of the values' variance."""
        spread = float(np.var(self.y))
        return float(self.state["noise"]) / spread if spread > 0 else 0.0


@dataclasses.dataclass(frozen=True)
class GP(Modeled):
    """An acquisition function under a Gaussian process.

    Args:
        acquisition: "log_ei" or "ei" (expected improvement; both are highest at the same point, the
            logarithm is found more surely), "pi" (probability of improvement), "ucb" (mean plus two
            standard deviations), "emax" (expected maximum), "kg" (knowledge gradient), "two_step"
            (improvement by a call and the best one after it), "mes" and "jes" (information about
            the highest value, and about where it is).
        batch: how points asked at once are chosen: "greedy", one after the other, each beside those
            before it; or "joint", all together, starting from the greedy ones.
        initial: how many points fill the space first; 2 for each parameter, from 5 to 20, if None.
        noise: variance of the objective's noise; learned if None.
        kernel: of the objective, over rows of the space: a column for each number, in which 0 and 1
            are its bounds, and one for each option of a choice. Constraints keep the default.
        priors: measures by names of parameters of the kernel and the noise (see `leadline.GP.fit`),
            which need not be a kernel of one's own.
    """

    acquisition: str = "log_ei"
    batch: str = "greedy"
    initial: int | None = None
    noise: float | None = None
    kernel: Kernel | Mapping[str, Any] | None = None
    priors: Mapping[str, Any] | None = None

    name: ClassVar[str] = "gp"
    foresees: ClassVar[bool] = True
    anywhere: ClassVar[bool] = True
    # Against the larger the noise that a rehearsal makes up is negligible, against the smaller not.
    spreads: ClassVar[tuple[float, ...]] = (1e3, 1.0)

    def __post_init__(self):
        as_choice(self.acquisition, tuple(CHOICES), "acquisition")
        as_choice(self.batch, ("greedy", "joint"), "batch")
        if self.batch == "joint" and CHOICES[self.acquisition].together is None:
            able = ", ".join(repr(name) for name, kind in CHOICES.items() if kind.together)
            raise InvalidData(
                f"batch='joint' needs an acquisition function of several points ({able}), and "
                f"{self.acquisition!r} is of one."
            )
        super().__post_init__()

    @property
    def constrained(self):
        """Whether it takes constraints: acquisition functions of improvement do."""
        return CHOICES[self.acquisition].improves

    @property
    def together(self):
        """Whether points asked at once are chosen together."""
        return self.batch == "joint"

    @property
    def drawn(self):
        """How many features stand for the kernel where the highest values are drawn."""
        return _FEATURES if self.acquisition in ("mes", "jes") else None

    def suggest(self, space, seen, state, key):
        """The row where the acquisition function is highest."""
        belief = self._believe(space, seen, state)
        posterior, choice = belief.posterior, CHOICES[self.acquisition]
        if len(seen.running) and not choice.beside_running:
            expected = np.asarray(posterior.predict(seen.running).mean)
            posterior = with_stand_ins(posterior, seen.running, expected)
        make, sought = choice.alone, self._ambition(belief, seen)
        if choice.doubting and belief.noise > _SUBSTANTIAL and not belief.constraints:
            make, sought = choice.doubting, 0.0
        best = _best_allowed(belief, seen) if choice.improves else np.asarray(0.0)
        acquisition: Any = make(Situation(posterior, best + sought, space, key))
        if belief.constraints:
            acquisition = feasible(acquisition if np.isfinite(best) else None, belief.constraints)
        if len(seen.running) and choice.beside_running:
            acquisition = acquisition.after(seen.running)
        found = maximize(acquisition, space, key, close_to=_close_to(belief, seen), avoid=seen.rows)
        if found is None:
            return None
        notes = self._notes(acquisition, found.value, sought, belief.units)
        return Suggestion(found.row, belief.state, notes)

    def suggest_together(self, space, seen, state, key, n):
        """The `n` rows that are worth most together."""
        belief = self._believe(space, seen, state)
        choice = CHOICES[self.acquisition]
        best = _best_allowed(belief, seen) if choice.improves else np.asarray(0.0)
        now = Situation(belief.posterior, best, space, key)
        assert choice.together is not None
        acquisition: Any = choice.together(now, len(seen.running) + n)
        if len(seen.running):
            acquisition = acquisition.after(seen.running)
        near: Any = dict(close_to=_close_to(belief, seen), avoid=seen.rows)
        start = None
        if choice.beside_running:
            alone: Any = choice.alone(now)
            if len(seen.running):
                alone = alone.after(seen.running)
            greedy = maximize(alone, space, key, q=n, **near)
            start = None if greedy is None or len(greedy.rows) < n else greedy.rows
        found = maximize(
            acquisition, space, numbered_key(key, 1), q=n, batch="joint", start=start, **near
        )
        if found is None:
            return []
        return [Suggestion(row, belief.state, {}) for row in found.rows]

    def recommend(self, space, seen, state):
        """The call that is expected to be best, if it is evident that calls are noisy."""
        # Of data that were told and never asked about nothing is learned yet; it is if they have
        # calls at the same point, which tell noise from all else.
        if not (state or _repeat(seen.x)) or not seen.allowed.any():
            return None
        belief = self._believe(space, seen, state)
        if belief.noise < _NEGLIGIBLE:
            return None
        means = np.asarray(belief.posterior.predict(seen.x).mean)
        possible = seen.allowed & space.contains(seen.x)
        if not possible.any():
            return None
        highest = seen.x[np.argmax(np.where(possible, means, -np.inf))]
        # Of calls at the same point, whose means differ by rounding, it is the first.
        row = int(np.argmax(possible & np.all(seen.x == highest, axis=1)))
        if seen.y[row] == np.max(seen.y[possible]):
            return None
        told: Any = belief.told
        x, y = seen.x[seen.allowed], belief.y[seen.allowed]
        if self.noise is None and not noise_is_evident(told.gp, x, y):
            return None
        return Recommendation(row, belief.units.deviation(told.gp.noise, seen.y[row]))

    def _believe(self, space: Space, seen: Seen, state: State) -> Belief:
        told, learned, y, units = learn_objective(space, seen, _part(state, ""), self.model)
        learned = dict(learned)
        constraints = []
        for i, c in enumerate(seen.constraints.T):
            name = f"constraint_{i}."
            each, own = learn(space, seen.x, signed_logarithm(c), _part(state, name))
            constraints.append(each)
            learned |= {name + key: value for key, value in own.items()}
        posterior = with_stand_ins(told, seen.failed, np.full(len(seen.failed), y.min()))
        return Belief(posterior, told, tuple(constraints), learned, y, units)

    def _ambition(self, belief: Belief, seen: Seen) -> float:
        """By how much the next call is to improve on the best."""
        # The probability of improvement alone would ask for the smallest one there is.
        turns = _AMBITIONS[1::2] if self.acquisition == "pi" else _AMBITIONS
        values = belief.y[seen.allowed] if seen.allowed.any() else belief.y
        return turns[len(seen.rows) % len(turns)] * float(np.std(values))

    def _notes(
        self, acquisition: Acquisition, value: float, sought: float, units: Units
    ) -> dict[str, float]:
        if self.acquisition not in ("ei", "log_ei"):
            return {"acquisition": value}
        gain = float(np.exp(value)) if type(acquisition).logarithmic else value
        # A stopping rule must not mistake a hope for much more for the hope for anything at all,
        # nor nats for the unit of the function.
        name = "improvement_sought" if sought else "expected_improvement"
        kind = f"log_{name}" if units.logarithmic else name
        return {kind: float(units.times(sought or gain))}


def _repeat(rows: np.ndarray) -> bool:
    """Whether a row is there more than once."""
    return len(np.unique(rows, axis=0)) < len(rows)


def _part(state: State, name: str) -> State:
    """The hyper-parameters of one output."""
    if name:
        return {key[len(name) :]: value for key, value in state.items() if key.startswith(name)}
    return {key: value for key, value in state.items() if not key.startswith("constraint_")}


def _best_allowed(belief: Belief, seen: Seen) -> np.ndarray:
    """The highest posterior mean at an allowed call; -inf if there is none."""
    if seen.allowed.all():
        return np.asarray(best_expected(belief.posterior).value)
    means = np.asarray(belief.posterior.predict(seen.x).mean)
    return np.asarray(np.max(np.where(seen.allowed, means, -np.inf), initial=-np.inf))


def _close_to(belief: Belief, seen: Seen) -> np.ndarray:
    """The best calls; those that come nearest to being allowed if none is."""
    worst = np.max(seen.constraints, axis=1, initial=0.0)
    order = np.lexsort((-belief.y, worst * (worst > 0)))
    return seen.x[order[seen.inside[order]][:_BEST]]
