"""A sampler for Optuna's studies.

    study = optuna.create_study(sampler=LeadlineSampler(seed=0))
    study.optimize(objective, n_trials=60)

The sampler keeps nothing but its settings. Every proposal folds the trials of the study, in the
order of their numbers, into a question and asks that; so a study that was interrupted goes on as if
it had not been, and many processes may share one storage. Random numbers come from the seed and the
number of the trial. Trials that other processes have begun, and for which they have not proposed
anything yet, get the next points: the proposal for a later trial is the one after those.

Optuna learns what the parameters are while the objective runs. The first trial is therefore random,
and so are parameters that not every finished trial had.
"""

from __future__ import annotations

import json
import math
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

try:
    from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.search_space import intersection_search_space
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial, TrialState
except ImportError as error:
    raise ImportError(
        "leadline.integrations.optuna needs Optuna: pip install 'leadline[optuna]'."
    ) from error

from leadline.boundary import InvalidData, shorten
from leadline.questions import Asked, Exhausted, Failed, Maximize, Minimize, Question, Told
from leadline.spaces import Choice, Integer, Parameter, Real, Space

__all__ = ["LeadlineSampler"]

# What a running trial was proposed, for others to see before its objective has asked for it. The
# databases of Optuna hold texts of up to 2046 letters.
_PROPOSED, _LETTERS = "leadline:proposed", 2000

# Where Optuna keeps what a function of constraints returned.
_CONSTRAINTS = "constraints"

# One proposal after the other, so that threads see what the others were proposed.
_PROPOSING = threading.Lock()


class LeadlineSampler(BaseSampler):
    """Proposes the parameters of the next trial of a study with one objective.

    Trials that failed or were pruned count as failures, and running ones as calls that have not
    returned. Constraints are those of Optuna: `trial.set_constraint` in the objective, or the
    argument `constraints_func`. A trial that completed without one of them is left out.

    Args:
        method: "gp", "random", or an object of `ll.methods`; constraints need one that takes them.
        seed: of everything random; None draws one. With a seed and one worker, runs are repeatable.
        constraints_func: of a trial that has completed, returns its constraint values, of which
            those up to 0 are allowed; as in Optuna's own samplers.
    """

    def __init__(
        self,
        method: Any = "gp",
        seed: Any = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
    ):
        seed = int(np.random.default_rng().integers(2**31)) if seed is None else seed
        constrained = int(constraints_func is not None)
        # A question knows what methods and seeds there are, and which methods take constraints.
        checked = Minimize([(0.0, 1.0)], method, seed, constrained)
        self._method, self._seed = checked.method, checked.seed
        self._constraints_func = constraints_func

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """The parameters that every finished trial had, without those that have one value only."""
        if len(study.directions) != 1:
            raise InvalidData(
                f"LeadlineSampler needs a study with one objective, this one has "
                f"{len(study.directions)}."
            )
        found = intersection_search_space(study.get_trials(deepcopy=False))
        return {name: d for name, d in found.items() if not d.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Values of all parameters of the search space; none if all its points are taken."""
        if not search_space:
            return {}
        with _PROPOSING:
            trials = study.get_trials(deepcopy=False)
            question = self._fold(study, trial, search_space, trials)
            try:
                point = question.propose_batch(1 + _without_proposal(trials, trial))[-1].point
            except Exhausted:
                return {}
            _announce(study, trial, point)
        return {name: d.to_external_repr(point[name]) for name, d in search_space.items()}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """A random value of one parameter."""
        name = zlib.crc32(param_name.encode())
        (seed,) = np.random.SeedSequence([self._seed, trial.number, name]).generate_state(1)
        random = RandomSampler(seed=int(seed))
        return random.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self,
        study: Study,
        trial: FrozenTrial,
        state: TrialState,
        values: Sequence[float] | None,
    ) -> None:
        """Keep the constraint values of a trial where Optuna looks for them."""
        if self._constraints_func is None or state not in (TrialState.COMPLETE, TrialState.PRUNED):
            return
        found = _as_numbers(self._constraints_func(trial))
        study._storage.set_trial_system_attr(trial._trial_id, _CONSTRAINTS, found)

    def _fold(
        self,
        study: Study,
        trial: FrozenTrial,
        search_space: Mapping[str, BaseDistribution],
        trials: Sequence[FrozenTrial],
    ) -> Question:
        """The question after all trials of the study but this one."""
        space = Space({name: _as_parameter(d) for name, d in search_space.items()})
        kind = Maximize if study.direction == StudyDirection.MAXIMIZE else Minimize
        names = sorted({name for past in trials for name in _constraints(past)})
        question, count = kind(space, self._method, self._seed, len(names)), 0
        for past in trials:
            point = None if past.number == trial.number else _point(past, search_space, space)
            told = _told(past, names)
            if point is None or told is None:
                continue
            question.apply(Asked(count, point))
            if past.state == TrialState.COMPLETE and all(map(math.isfinite, told)):
                question.apply(Told(count, told if names else told[0]))
            elif past.state.is_finished():
                question.apply(Failed(count, past.state.name.lower()))
            count += 1
        return question


def _without_proposal(trials: Sequence[FrozenTrial], trial: FrozenTrial) -> int:
    """How many of the trials began before this one and run, and nothing is known of their point.

    One of which that is so when a later trial has ended belongs to a process that was killed.
    """
    ended = max((t.number for t in trials if t.state.is_finished()), default=-1)
    begun = (t for t in trials if t.state == TrialState.RUNNING and ended < t.number < trial.number)
    return sum(not t.params and not _announced(t) for t in begun)


def _as_numbers(values: Any) -> list[float]:
    """What a function of constraints returned."""
    try:
        found = [_as_number(value) for value in values]
    except (TypeError, ValueError):
        found = [math.nan]
    if any(map(math.isnan, found)):
        raise InvalidData(
            f"constraints_func must return a list of numbers, at most 0 where a trial is allowed, "
            f"got {shorten(values)}."
        )
    return found


def _as_number(value: Any) -> float:
    """A number, which an array of one element is too; a bool or a text is none."""
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind in "bSU":
        raise TypeError
    return float(array.item())


def _constraints(trial: FrozenTrial) -> Mapping[str, float]:
    """The constraint values of a trial that has completed, by their names."""
    if trial.state != TrialState.COMPLETE:
        return {}
    if hasattr(trial, "constraints"):  # since Optuna 5, where an objective sets them one by one
        return trial.constraints
    values = trial.system_attrs.get(_CONSTRAINTS) or ()
    return {str(k): value for k, value in enumerate(values)}


def _told(trial: FrozenTrial, names: Sequence[str]) -> list[float] | None:
    """What a trial returned, if anything, with its constraint values; None if some are missing."""
    if trial.state != TrialState.COMPLETE:
        return []
    constraints = _constraints(trial)
    if not all(name in constraints for name in names):
        return None
    return [trial.values[0], *(constraints[name] for name in names)]


def _point(
    trial: FrozenTrial, search_space: Mapping[str, BaseDistribution], space: Space
) -> dict[str, Any] | None:
    """Where a trial is or will be in the space; None if that is not known or not inside it."""
    try:
        given = {
            name: search_space[name].to_internal_repr(v)
            for name, v in trial.params.items()
            if name in search_space
        }
        values = _announced(trial) | given
        point = {name: _from_optuna(d, values[name]) for name, d in search_space.items()}
        space.encode([point])
    except (KeyError, ValueError):
        # It lacks a parameter, or was made by hand with a value from outside.
        return None
    return point


def _announce(study: Study, trial: FrozenTrial, values: Mapping[str, float | int]) -> None:
    text = json.dumps(values)
    for k, start in enumerate(range(0, len(text), _LETTERS)):
        piece = text[start : start + _LETTERS]
        study._storage.set_trial_system_attr(trial._trial_id, f"{_PROPOSED}:{k:04d}", piece)


def _announced(trial: FrozenTrial) -> dict[str, float | int]:
    pieces = sorted(item for item in trial.system_attrs.items() if item[0].startswith(_PROPOSED))
    return json.loads("".join(piece for _, piece in pieces)) if pieces else {}


def _as_parameter(distribution: Any) -> Parameter:
    """A distribution as a parameter: choices by their index, all steps as those of real numbers."""
    if isinstance(distribution, CategoricalDistribution):
        return Choice(*range(len(distribution.choices)))
    low, high, log = distribution.low, distribution.high, distribution.log
    if log and isinstance(distribution, IntDistribution):
        return Integer(low, high, log=True)
    return Real(low, high, log=log, step=distribution.step)


def _from_optuna(distribution: Any, value: float | int) -> float | int:
    """A value of a parameter from Optuna's internal form."""
    return int(value) if isinstance(distribution, CategoricalDistribution) else value
