import numpy as np
import pytest

import leadline as ll
from leadline.questions._design import check_design
from leadline.questions._process import Model, check_model
from leadline.questions._surrogate import learn, with_stand_ins
from leadline.spaces import as_space


@pytest.fixture(scope="module")
def fitted():
    space = as_space([(0.0, 1.0)] * 2)
    x = np.random.default_rng(0).uniform(size=(20, 2))
    y = np.sin(6 * x[:, 0]) + x[:, 1] ** 2
    return space, x, y, learn(space, x, y, {})


def test_a_state_is_kept_while_the_data_hardly_grow(fitted):
    space, x, y, (posterior, state) = fitted
    again, kept = learn(space, x, y, state)
    assert kept is state
    np.testing.assert_allclose(again.predict(x).mean, posterior.predict(x).mean, rtol=1e-8)
    _, other = learn(space, np.r_[x, [[0.5, 0.5]]], np.r_[y, 0.3], state)
    assert other is not state
    assert other["rows"] == 21


def test_noise_is_learned_down_to_nothing_when_there_is_none(fitted):
    *_, (posterior, _) = fitted
    y = fitted[2]
    assert float(posterior.gp.noise) < 1e-4 * np.var(y)


def test_noise_that_is_there_is_found():
    space = as_space([(0.0, 1.0)] * 2)
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(60, 2))
    y = np.sin(6 * x[:, 0]) + x[:, 1] ** 2 + 0.2 * rng.standard_normal(60)
    posterior, _ = learn(space, x, y, {})
    assert 0.015 < float(posterior.gp.noise) < 0.1
    known, _ = learn(space, x, y, {}, model=Model(noise=0.01))
    assert float(known.gp.noise) == 0.01


def test_stand_ins_have_no_noise_and_teach_nothing(fitted):
    *_, (posterior, _) = fitted
    rows, values = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([-3.0, 4.0])
    found = with_stand_ins(posterior, rows, values)
    marginal = found.predict(rows)
    np.testing.assert_allclose(marginal.mean, values, atol=1e-6)
    assert np.max(marginal.var) < 1e-6
    assert with_stand_ins(posterior, rows[:0], values[:0]) is posterior
    for name in ("lengthscale", "share"):
        old, new = (getattr(p.gp.kernel.kernel, name) for p in (posterior, found))
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize(
    ("initial", "message"),
    [
        ("many", "initial must be at least 2, a whole number, got 'many'"),
        (float("nan"), "got nan"),
        (2.5, r"got 2\.5"),
    ],
)
def test_designs_that_mean_nothing(initial, message):
    check_design(np.int64(2))
    with pytest.raises(ll.InvalidData, match=message):
        check_design(initial)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        ("low", "noise must be a variance, a number that is not negative, got 'low'"),
        (float("nan"), "got nan"),
        ((0.0, 1.0), r"got \(0\.0, 1\.0\)"),
    ],
)
def test_noise_that_means_nothing(noise, message):
    check_model(Model(noise=np.float32(0.0)))
    with pytest.raises(ll.InvalidData, match=message):
        check_model(Model(noise=noise))
