"""Kernels and priors of one's own in the methods that have a model."""

import json
import sys
from functools import partial

import numpy as np
import pytest

import leadline as ll
from leadline import kernels as k
from leadline.measures import Gaussian, LogNormal
from leadline.questions._process import (
    Model,
    check_model,
    hyper_parameters,
    with_hyper_parameters,
)
from leadline.questions._surrogate import learn, with_stand_ins
from leadline.spaces import as_space

BOX = [(0.0, 1.0), (-5.0, 5.0)]
# Its programs are those of the default kernel, which other tests need as well.
KERNEL = 0.5 * k.PartlyAdditive([0.3, 0.5], 0.2, extent=1.0)
PRIORS = {"noise": LogNormal(np.log(0.04), 0.1), "lengthscale": LogNormal([-1.0, 0.5], 1.0)}
SPACE = ll.Space(rate=ll.Real(1e-5, 1e-1, log=True), act=ll.Choice("a", "b", "c"))


def bowl(x):
    return float((x[0] - 0.3) ** 2 + ((x[1] - 1.0) / 10) ** 2)


def method(**changes):
    return ll.methods.GP(**{"kernel": KERNEL, "priors": PRIORS, **changes})


def told(question, n):
    for trial in question.ask(n):
        question.tell(trial, bowl(trial.x))
    return question


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """A journal with a design and an ask of a model of one's own, and the question of it."""
    path = tmp_path_factory.mktemp("own") / "run.db"
    question = ll.Minimize(BOX, method=method(initial=4), seed=0, journal=path)
    for _ in range(5):
        told(question, 1)
    question.close()
    return path, question


def test_hyper_parameters_are_the_state_of_an_ask(campaign):
    _, question = campaign
    state = question.state()
    assert {*state} == {"variance", "lengthscale", "share", "mean", "noise", "rows"}
    assert float(state["noise"]) == pytest.approx(0.04, rel=0.3)  # by its prior: there is none


def test_a_campaign_is_loaded_and_goes_on(campaign):
    path, question = campaign
    loaded = ll.load(path)
    assert loaded.settings() == question.settings()
    assert repr(loaded.method.kernel) == repr(question.method.kernel)
    asked, again = loaded.propose(), question.propose()
    np.testing.assert_array_equal(asked.point, again.point)
    loaded.close()
    assert "PartlyAdditive" in loaded.heading()


def test_the_same_settings_are_those_of_the_same_kernel(campaign):
    path, _ = campaign
    other = 0.5 * k.PartlyAdditive([0.4, 0.5], 0.2, extent=1.0)
    with pytest.raises(ll.InvalidData, match=r"kernel.*0\.3 in the journal, 0\.4 given now"):
        ll.Minimize(BOX, method=method(initial=4, kernel=other), seed=0, journal=path)
    json.dumps(method().settings())


def test_defaults_are_not_in_the_settings():
    for each in (ll.methods.GP(), ll.methods.Thompson()):
        assert not {"kernel", "priors"} & {*each.settings()}


OWN = """
import equinox as eqx
import jax.numpy as jnp
import leadline as ll

class Bump(ll.kernels.Kernel):
    width: float = eqx.field(static=True, default=0.5)

    def __call__(self, x, y):
        return ll.kernels.SquaredExponential(self.width)(x, y)

    def diag(self, x):
        return jnp.ones(x.shape[0])
"""


def test_a_kernel_of_a_class_of_ones_own(tmp_path, monkeypatch):
    """Without its module a journal can be read, and not asked; with it, it can."""
    (tmp_path / "own_bump.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    import own_bump  # pyright: ignore[reportMissingImports]

    path = tmp_path / "run.db"
    wanted = ll.methods.GP(kernel=own_bump.Bump(0.3), initial=2)
    question = ll.Minimize([(0, 1)], method=wanted, seed=0, journal=path)
    question.close()
    monkeypatch.delitem(sys.modules, "own_bump")
    loaded = ll.load(path)
    assert loaded.settings() == question.settings()
    assert "own_bump.Bump" in loaded.heading()
    with pytest.raises(ll.InvalidData, match=r"own_bump\.Bump is needed.*import what defines it"):
        _ = loaded.method.model
    monkeypatch.setitem(sys.modules, "own_bump", own_bump)
    assert loaded.method.model.kernel == wanted.kernel
    loaded.close()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kernel": k.Matern52([0.1, 0.2, 0.3])}, r"4 columns, rate, act \(3 columns\): Matern52"),
        ({"kernel": k.Matern52(0.3).on([4])}, "reads input column 4"),
        ({"kernel": k.Matern52(0.3) * k.Categorical()}, "reads one index column"),
        ({"kernel": k.Warp(k.Matern52(0.3), lambda x: x)}, "kernel.warp.function is .*as a module"),
        ({"priors": {"lengthscal": LogNormal(0, 1)}}, "Did you mean 'lengthscale'"),
        ({"priors": {"share": LogNormal(0, 1)}}, "share must be left to the default"),
        ({"priors": {"mean": Gaussian(0, 1)}}, "Its mean is not in your units"),
        ({"priors": {"noise": LogNormal(0, 1)}, "noise": 0.1}, "'noise', which is fixed"),
    ],
)
def test_models_that_do_not_fit_are_refused_when_the_question_is_made(changes, said):
    with pytest.raises(ll.InvalidData, match=said):
        ll.Minimize(SPACE, method=ll.methods.GP(**changes))


def test_models_that_are_none():
    for model, said in (
        (Model(kernel=0.3), "kernel must be a kernel of ll.kernels, got 0.3"),
        (Model(priors=[LogNormal(0, 1)]), "priors must be a mapping"),
    ):
        with pytest.raises(ll.InvalidData, match=said):
            check_model(model)


def test_draws_need_features():
    kernel = k.Periodic(0.5) * k.Categorical().on([1])
    for each in (ll.methods.Thompson(kernel=kernel), ll.methods.GP("jes", kernel=kernel)):
        with pytest.raises(ll.Unsupported, match="has no Fourier features"):
            ll.Minimize(SPACE, method=each)
    ll.Minimize(SPACE, method=ll.methods.GP(kernel=kernel))
    ll.Minimize(SPACE, method=ll.methods.Thompson("location-scale", kernel=kernel))


def test_names_of_hyper_parameters():
    """Paths; fixed ones are among them."""
    kernel = ll.fixed(0.5) * k.Matern32([0.3, 0.5]) + k.Linear(0.1).on([1])
    process = Model(kernel, noise=0.01).process(2, 1.0)
    state = hyper_parameters(process)
    assert {*state} == {
        "kernel.kernels.0.variance",
        "kernel.kernels.0.kernel.lengthscale",
        "kernel.kernels.1.kernel.variance",
        "mean",
        "noise",
    }
    assert (state["kernel.kernels.0.variance"], state["noise"]) == (0.5, 0.01)
    changed = {name: 2.0 * value for name, value in state.items()}
    again = with_hyper_parameters(process, changed)
    assert float(again.noise) == 0.02
    np.testing.assert_array_equal(again.kernel.kernels[0].kernel.lengthscale, [0.6, 1.0])
    assert again.fixed_fields == process.fixed_fields


def test_failures():
    """What stands for failed calls is in a process of the same kernel, without noise."""
    space = as_space([(0.0, 1.0)] * 2)
    x = np.random.default_rng(0).uniform(size=(20, 2))
    y = np.sin(6 * x[:, 0]) + x[:, 1] ** 2
    model = Model(1.0 * k.Matern52([0.3, 0.5]))
    posterior, state = learn(space, x, y, {}, model)
    found = with_stand_ins(posterior, np.array([[0.9, 0.1]]), np.array([-3.0]))
    np.testing.assert_allclose(found.predict([[0.9, 0.1]]).mean, -3.0, atol=1e-6)
    again, _ = learn(space, x, y, state, model)
    np.testing.assert_allclose(again.predict(x).mean, posterior.predict(x).mean, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [ll.methods.GP, ll.methods.Thompson, partial(ll.methods.GP, "jes")],
    ids=["log_ei", "thompson", "jes"],
)
def test_a_bowl_is_minimized_with_a_kernel_of_ones_own(make):
    kernel = 1.0 * k.Matern52(0.5).on([0]) + 1.0 * k.SquaredExponential(0.5).on([1])
    priors = {"kernel.kernels.1.kernel.kernel.lengthscale": LogNormal(0.0, 0.5)}
    chosen = make(kernel=kernel, priors=priors)
    found = ll.minimize(bowl, BOX, budget=16, method=chosen, seed=1, workers=2, progress=False)
    assert found.value < 0.02
    assert np.isfinite(found.predict([[0.3, 1.0]]).mean).all()
