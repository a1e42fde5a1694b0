"""A sampler for Optuna's studies.

    study = optuna.create_study(sampler=LeadlineSampler(seed=0))
    study.optimize(objective, n_trials=60)

The sampler keeps nothing but its settings. Every proposal folds the trials of the study, in the
order of their numbers, into a question and asks that; so a study that was interrupted goes on as if
it had not been, and many processes may share one storage. Random numbers come from the seed and the
number of the trial.

Optuna learns what the parameters are while the objective runs. The first trial is therefore random,
and so are parameters that not every finished trial had.
"""

from __future__ import annotations

import json
import math
import threading
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

try:
    from optuna.distributions import BaseDistribution, CategoricalDistribution
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.search_space import intersection_search_space
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial, TrialState
except ImportError as error:
    raise ImportError(
        "leadline.integrations.optuna needs Optuna: pip install 'leadline[optuna]'."
    ) from error

from leadline.boundary import InvalidData, as_seed
from leadline.questions import Asked, Exhausted, Failed, Maximize, Minimize, Question, Told
from leadline.questions.minimize import as_method
from leadline.spaces import Choice, Integer, Parameter, Real, Space

__all__ = ["LeadlineSampler"]

# What a running trial was proposed, for others to see before its objective has asked for it. The
# databases of Optuna hold texts of up to 2046 letters.
_PROPOSED, _LETTERS = "leadline:proposed", 2000

# One proposal after the other, so that threads see what the others were proposed.
_PROPOSING = threading.Lock()


class LeadlineSampler(BaseSampler):
    """Proposes the parameters of the next trial of a study with one objective.

    Trials that failed or were pruned count as failures, and running ones as calls that have not
    returned.

    Args:
        method: "gp", "random", or an object of `ll.methods`.
        seed: of everything random; None draws one. With a seed and one worker, runs are repeatable.
    """

    def __init__(self, method: Any = "gp", seed: int | None = None):
        if seed is None:
            seed = int(np.random.default_rng().integers(2**31))
        self._method, self._seed = as_method(method), as_seed(seed)

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
            question = self._fold(study, trial, search_space)
            try:
                point = question.propose().point
            except Exhausted:
                return {}
            values = {name: _to_optuna(d, point[name]) for name, d in search_space.items()}
            _announce(study, trial, values)
        return {name: d.to_external_repr(values[name]) for name, d in search_space.items()}

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

    def _fold(
        self, study: Study, trial: FrozenTrial, search_space: Mapping[str, BaseDistribution]
    ) -> Question:
        """The question after all trials of the study but this one."""
        space = Space({name: _as_parameter(d) for name, d in search_space.items()})
        kind = Maximize if study.direction == StudyDirection.MAXIMIZE else Minimize
        question, count = kind(space, self._method, self._seed), 0
        for past in study.get_trials(deepcopy=False):
            point = None if past.number == trial.number else _point(past, search_space, space)
            if point is None:
                continue
            question.apply(Asked(count, point))
            if past.state == TrialState.COMPLETE and math.isfinite(past.values[0]):
                question.apply(Told(count, past.values[0]))
            elif past.state.is_finished():
                question.apply(Failed(count, past.state.name.lower()))
            count += 1
        return question


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
    """A distribution as a parameter: choices by their index, numbers with a step by their count."""
    if isinstance(distribution, CategoricalDistribution):
        return Choice(*range(len(distribution.choices)))
    if _has_steps(distribution):
        return Integer(0, round((distribution.high - distribution.low) / distribution.step))
    kind = Real if distribution.step is None else Integer
    return kind(distribution.low, distribution.high, log=distribution.log)


def _has_steps(distribution: Any) -> bool:
    """Whether values are `low + k * step`; whole numbers on a log scale are not seen so."""
    is_number = not isinstance(distribution, CategoricalDistribution)
    return is_number and distribution.step is not None and not distribution.log


def _from_optuna(distribution: Any, value: float | int) -> float | int:
    """A value of a parameter from Optuna's internal form."""
    if _has_steps(distribution):
        return round((value - distribution.low) / distribution.step)
    return int(value) if isinstance(distribution, CategoricalDistribution) else value


def _to_optuna(distribution: Any, value: float | int) -> float | int:
    """Optuna's internal form of the value of a parameter."""
    if _has_steps(distribution):
        # The sum may be a rounding error above the end.
        return min(distribution.low + value * distribution.step, distribution.high)
    return value
