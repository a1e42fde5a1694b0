"""The sampler in real studies. Asks of the Gaussian process share one space, for its programs."""

import pickle
import threading

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial

import leadline as ll
from leadline.integrations.optuna import LeadlineSampler, _as_parameter, _from_optuna
from leadline.spaces import Choice, Integer, Real

optuna.logging.set_verbosity(optuna.logging.ERROR)


def quadratic(trial):
    x, y = trial.suggest_float("x", -5, 5), trial.suggest_float("y", -5, 5)
    return (x - 1) ** 2 + (y + 2) ** 2


def mixed(trial):
    rate = trial.suggest_float("rate", 1e-5, 1e-1, log=True)
    width = trial.suggest_int("width", 16, 256, log=True)
    depth = trial.suggest_int("depth", 2, 10, step=2)
    drop = trial.suggest_float("drop", 0.0, 0.5, step=0.1)
    act = trial.suggest_categorical("act", ["relu", "tanh", None])
    trial.suggest_categorical("only", ["one"])
    return np.log(rate / 1e-3) ** 2 + abs(width - 64) + depth + drop + (act == "tanh")


@pytest.fixture
def storage(tmp_path):
    """Opens a storage, once more each time; Optuna leaves it to others to close what it opens."""
    opened = []

    def open_once_more():
        opened.append(optuna.storages.RDBStorage(f"sqlite:///{tmp_path / 'study.db'}"))
        return opened[-1]

    yield open_once_more
    for each in opened:
        each.remove_session()
        each.engine.dispose()


def params(study):
    return [trial.params for trial in study.trials]


def test_better_than_random_on_a_quadratic():
    best = {}
    for method in ("gp", "random"):
        study = optuna.create_study(sampler=LeadlineSampler(method, seed=1))
        study.optimize(quadratic, n_trials=20)
        best[method] = study.best_value
    # Over seeds 0 to 9 the ratio is at most 0.0004.
    assert best["gp"] < 0.1 * best["random"]


def test_a_resumed_study_goes_on_as_if_it_had_not_been_interrupted(storage):
    whole = optuna.create_study(sampler=LeadlineSampler(seed=3), direction="maximize")
    whole.optimize(lambda trial: -quadratic(trial), n_trials=9)
    for trials in (4, 3, 2):
        study = optuna.create_study(
            storage=storage(),
            study_name="s",
            load_if_exists=True,
            direction="maximize",
            sampler=LeadlineSampler(seed=3),
        )
        study.optimize(lambda trial: -quadratic(trial), n_trials=trials)
    assert params(study) == params(whole)
    other = optuna.create_study(sampler=LeadlineSampler(seed=4), direction="maximize")
    other.optimize(lambda trial: -quadratic(trial), n_trials=2)
    assert params(other) != params(whole)[:2]
    assert params(other)[0]["x"] != params(other)[0]["y"]


def test_mixed_parameters(storage):
    study = optuna.create_study(storage=storage(), sampler=LeadlineSampler("random", seed=0))
    study.optimize(mixed, n_trials=12)
    for trial in study.trials:
        assert trial.state == TrialState.COMPLETE
        assert isinstance(trial.params["width"], int)
        assert isinstance(trial.params["depth"], int)
        for name, distribution in trial.distributions.items():
            value = distribution.to_internal_repr(trial.params[name])
            assert distribution._contains(value), (name, value)
    assert {t.params["act"] for t in study.trials} == {"relu", "tanh", None}
    assert {t.params["depth"] for t in study.trials} <= {2, 4, 6, 8, 10}


class Strange:
    """A choice that is neither JSON nor comparable to anything."""


NUMBERS = [
    (FloatDistribution(-2.0, 3.0), Real(-2.0, 3.0), [-2.0, 0.123, 3.0]),
    (FloatDistribution(1e-4, 1.0, log=True), Real(1e-4, 1.0, log=True), [1e-4, 0.3]),
    (FloatDistribution(0.1, 1.0, step=0.3), Real(0.1, 1.0, step=0.3), [0.1, 0.4, 0.7, 1.0]),
    (FloatDistribution(0.0, 0.9, step=0.3), Real(0.0, 0.9, step=0.3), [0.0, 0.3, 0.9]),
    (IntDistribution(-3, 9), Real(-3, 9, step=1), [-3, 0, 9]),
    (IntDistribution(-3, 9, step=4), Real(-3, 9, step=4), [-3, 1, 9]),
    (IntDistribution(2**50, 2**50 + 8), Real(2**50, 2**50 + 8, step=1), [2**50 + 1, 2**50 + 8]),
    (IntDistribution(1, 99, log=True), Integer(1, 99, log=True), [1, 7, 99]),
    (CategoricalDistribution(["a", None, True, 1.5]), Choice(0, 1, 2, 3), ["a", None, True, 1.5]),
]


@pytest.mark.parametrize(("distribution", "parameter", "values"), NUMBERS)
def test_distributions_there_and_back(distribution, parameter, values):
    assert _as_parameter(distribution) == parameter
    for value in values:
        ours = _from_optuna(distribution, distribution.to_internal_repr(value))
        (decoded,) = parameter.decode(np.array([parameter.state(ours)]))
        back = distribution.to_external_repr(decoded)
        assert back == value
        assert type(back) is type(value)


def test_choices_may_be_any_objects():
    with pytest.warns(UserWarning, match="should be a tuple of None, bool"):
        distribution = CategoricalDistribution([Strange(), Strange(), float("nan")])
    assert _as_parameter(distribution) == Choice(0, 1, 2)


def asked_question(study, sampler):
    """The question that the sampler would ask for the next trial of the study."""
    trial = study.ask()
    frozen = study.trials[trial.number]
    space = sampler.infer_relative_search_space(study, frozen)
    return sampler._fold(study, frozen, space, study.trials)


def test_what_becomes_of_trials():
    sampler = LeadlineSampler("random", seed=0)
    study = optuna.create_study(sampler=sampler)
    line = {"x": FloatDistribution(0.0, 1.0)}

    def add(x, state, value=None, **more):
        made = dict(params={"x": x}, distributions=line, value=value, state=state) | more
        study.add_trial(create_trial(**made))

    add(0.1, TrialState.COMPLETE, 1.0)
    add(0.2, TrialState.COMPLETE, float("inf"))
    add(0.3, TrialState.FAIL)
    add(0.4, TrialState.PRUNED, 7.0, intermediate_values={0: 7.0})
    add(0.5, TrialState.RUNNING)
    # Nothing is known of these: no parameter, one from outside, one not started.
    add(None, TrialState.FAIL, params={}, distributions={})
    add(3.0, TrialState.FAIL, distributions={"x": FloatDistribution(0.0, 9.0)})
    study.enqueue_trial({"x": 0.9})
    add(0.6, TrialState.COMPLETE, 2.0)
    waiting = study.ask()
    assert waiting.suggest_float("x", 0.0, 1.0) == 0.9
    trials = asked_question(study, sampler).trials
    assert [t.x["x"] for t in trials] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.9, 0.6]
    assert [t.value for t in trials] == [1.0, None, None, None, None, None, 2.0]
    assert [t.failed for t in trials] == [False, True, True, True, False, False, False]
    assert [t.running for t in trials] == [False, False, False, False, True, True, False]


def test_a_proposal_is_known_before_its_objective_asks_for_it(storage):
    sampler = LeadlineSampler("random", seed=0)
    study = optuna.create_study(sampler=sampler, storage=storage())
    names = [f"a parameter with a rather long name, the {k}th" for k in range(40)]
    study.optimize(lambda t: sum(t.suggest_float(name, 0, 1) for name in names), n_trials=1)
    first = study.ask()
    # Optuna 5 asks the sampler for all parameters when the objective asks for the first.
    first.suggest_float(names[0], 0, 1)
    others = asked_question(study, sampler).trials
    assert [t.running for t in others] == [False, True]
    assert [others[1].x[name] for name in names] == [first.suggest_float(n, 0, 1) for n in names]


def test_processes_that_propose_at_the_same_time_propose_different_points():
    """Neither can see the proposal of the other: the later trial gets the point after it."""
    proposed = []
    for begun_elsewhere in (0, 1, 2):
        study = optuna.create_study(sampler=LeadlineSampler(seed=3))
        study.optimize(quadratic, n_trials=2)
        for _ in range(begun_elsewhere):
            study._storage.create_new_trial(study._study_id)
        proposed.append(study.ask().relative_params)
    (one, two, three) = (tuple(each.values()) for each in proposed)
    assert len({one, two, three}) == 3


def test_a_process_that_was_killed_while_it_proposed_is_not_waited_for():
    study, other = (optuna.create_study(sampler=LeadlineSampler(seed=3)) for _ in range(2))
    study.optimize(quadratic, n_trials=2)
    study._storage.create_new_trial(study._study_id)
    study.optimize(quadratic, n_trials=1)
    other.add_trials(t for t in study.trials if t.state.is_finished())
    assert study.ask().relative_params == other.ask().relative_params


def test_threads_are_proposed_different_points():
    """Both threads wait for each other inside the objective, so the second ask sees the first."""
    study = optuna.create_study(sampler=LeadlineSampler(seed=0))
    together = threading.Barrier(2, timeout=60)

    def objective(trial):
        value = quadratic(trial)
        if trial.number >= 6:
            together.wait()
        return value

    study.optimize(objective, n_trials=6)
    study.optimize(objective, n_trials=6, n_jobs=2)
    points = np.array([[t.params["x"], t.params["y"]] for t in study.trials])
    apart = np.linalg.norm(points[:, None] - points, axis=2) + 99 * np.eye(len(points))
    assert len(points) == 12
    assert apart.min() > 1e-3


def test_failed_and_pruned_trials_do_not_stop_a_study():
    study = optuna.create_study(sampler=LeadlineSampler(seed=0))

    def objective(trial):
        value = quadratic(trial)
        if trial.number % 4 == 1:
            raise ValueError("no")
        if trial.number % 4 == 2:
            raise optuna.TrialPruned
        return float("nan") if trial.number % 4 == 3 else value

    study.optimize(objective, n_trials=16, catch=ValueError)
    states = [t.state for t in study.trials]
    assert states.count(TrialState.COMPLETE) == states.count(TrialState.PRUNED) == 4
    assert states.count(TrialState.FAIL) == 8


def test_a_finite_space_may_be_used_up():
    study = optuna.create_study(sampler=LeadlineSampler("random", seed=0))
    study.optimize(lambda t: t.suggest_int("k", 0, 3), n_trials=9)
    assert len({t.params["k"] for t in study.trials[:4]}) == 4
    assert len(study.trials) == 9


def test_parameters_that_come_and_go_are_random():
    def objective(trial):
        kind = trial.suggest_categorical("kind", ["a", "b"])
        return trial.suggest_float(f"only_{kind}", 0, 1) + trial.suggest_float("x", 0, 1)

    sampler = LeadlineSampler("random", seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(objective, n_trials=10)
    assert set(sampler.infer_relative_search_space(study, study.trials[-1])) == {"kind", "x"}


def left_half(trial):
    """At most 0 where x is at most -1; the lowest value there is 4, and 0 elsewhere."""
    return trial.params["x"] + 1.0


def constrained(trial):
    value = quadratic(trial)
    trial.set_constraint("left", left_half(trial))
    return value


def test_constraints_of_optuna_are_kept():
    """As the objective sets them; who ignores them asks around the lowest value of all."""
    studies = {}
    for name, objective in (("kept", constrained), ("ignored", quadratic)):
        studies[name] = optuna.create_study(sampler=LeadlineSampler(seed=0))
        studies[name].optimize(objective, n_trials=12)
    best = studies["kept"].best_trial
    assert left_half(best) <= 0.0
    late = {name: study.trials[7:] for name, study in studies.items()}
    allowed = {name: sum(left_half(t) <= 0.0 for t in trials) for name, trials in late.items()}
    assert best.value < 4.5
    assert studies["ignored"].best_value < 0.5
    assert allowed["kept"] >= 4
    assert allowed["ignored"] <= 1


def test_a_function_of_constraints_says_the_same():
    """As Optuna's own samplers take it: values are stored where Optuna looks for them."""

    def both(trial):
        return [left_half(trial), -trial.params["y"] - 3.0]

    study = optuna.create_study(sampler=LeadlineSampler("random", 0, constraints_func=both))
    study.optimize(quadratic, n_trials=6)
    trials = study.trials
    assert [list(t.constraints.values()) for t in trials] == [both(t) for t in trials]
    told = asked_question(study, study.sampler).trials
    assert [t.constraints for t in told] == [tuple(both(t)) for t in trials]
    allowed = [t for t in trials if max(both(t)) <= 0.0]
    assert study.best_trial.value == min(t.value for t in allowed)
    assert max(both(min(trials, key=lambda t: t.value))) > 0.0


@pytest.mark.parametrize(
    "returned", [0.5, None, ["no"], [float("nan")], "12", ["1"], [True], [np.zeros(2)]]
)
def test_what_is_no_list_of_constraint_values(returned):
    sampler = LeadlineSampler("random", 0, constraints_func=lambda trial: returned)
    study = optuna.create_study(sampler=sampler)
    with pytest.raises(ll.InvalidData, match="constraints_func must return a list of numbers"):
        study.optimize(quadratic, n_trials=1)


def test_constraint_values_of_arrays():
    values = [np.array([0.5]), np.float32(-1.0), np.array(2)]
    sampler = LeadlineSampler("random", 0, constraints_func=lambda trial: values)
    study = optuna.create_study(sampler=sampler)
    study.optimize(quadratic, n_trials=1)
    assert list(study.trials[0].constraints.values()) == [0.5, -1.0, 2.0]


def test_trials_without_all_constraints_are_left_out():
    sampler = LeadlineSampler("random", seed=0)
    study = optuna.create_study(sampler=sampler)
    line = {"x": FloatDistribution(0.0, 1.0)}
    for k, constraints in enumerate(
        [{"a": 1.0, "b": -1.0}, {"b": 2.0, "a": -2.0}, {"a": 1.0}, {}, {"a": float("inf"), "b": 0}]
    ):
        made = dict(params={"x": k / 10}, distributions=line, constraints=constraints)
        study.add_trial(create_trial(value=float(k), **made))
    study.add_trial(create_trial(state=TrialState.FAIL, params={"x": 0.9}, distributions=line))
    trials = asked_question(study, sampler).trials
    assert [t.x["x"] for t in trials] == [0.0, 0.1, 0.4, 0.9]
    assert [t.constraints for t in trials] == [(1.0, -1.0), (-2.0, 2.0), (), ()]
    assert [t.failed for t in trials] == [False, False, True, True]


def test_constraints_need_a_method_that_takes_them():
    wanted = r"constraints need a method that takes them \('gp', 'random'\), and 'tpe' does not"
    with pytest.raises(ll.InvalidData, match=wanted):
        LeadlineSampler("tpe", constraints_func=lambda trial: [0.0])
    study = optuna.create_study(sampler=LeadlineSampler("tpe", seed=0))
    with pytest.raises(ll.InvalidData, match=wanted):
        study.optimize(constrained, n_trials=3)


def test_several_objectives_are_refused():
    study = optuna.create_study(directions=["minimize"] * 2, sampler=LeadlineSampler())
    with pytest.raises(ll.InvalidData, match="one objective, this one has 2"):
        study.optimize(lambda t: (0.0, t.suggest_float("x", 0, 1)), n_trials=1)


def test_settings():
    with pytest.raises(ll.InvalidData, match="Did you mean 'random'"):
        LeadlineSampler("randon")
    for seed in (-1, 1.0, 2**70, "1", True):
        with pytest.raises(ll.InvalidData, match="seed must be a whole number"):
            LeadlineSampler(seed=seed)
    assert LeadlineSampler()._seed != LeadlineSampler()._seed
    sampler = pickle.loads(pickle.dumps(LeadlineSampler(ll.methods.GP(initial=3), seed=5)))
    assert (sampler._method, sampler._seed) == (ll.methods.GP(initial=3), 5)
