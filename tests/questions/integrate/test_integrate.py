"""Integrals of functions, from a few calls: known ones, odd ones, and campaigns."""

import numpy as np
import pytest

import leadline as ll

SQUARE = ll.measures.Uniform([0.0, 0.0], [1.0, 1.0])
QUIET = dict(progress=False)


def bump(x):
    return float(np.exp(-0.5 * x @ x))


def wave(x):
    return float(np.sin(5.0 * x[0]) + x[1])


# Of the two against the square.
BUMP, WAVE = 0.8556243918921488**2, (1.0 - np.cos(5.0)) / 5.0 + 0.5


@pytest.fixture(scope="module")
def bumps():
    return ll.integrate(bump, SQUARE, budget=12, seed=0, **QUIET)


@pytest.fixture(scope="module")
def waves():
    return ll.integrate(wave, SQUARE, budget=16, seed=0, **QUIET)


def test_known_integrals(bumps, waves):
    """One that is positive and one that is not; truths lie within 4 standard deviations."""
    assert bumps.mean == pytest.approx(BUMP, rel=1e-3)
    assert waves.mean == pytest.approx(WAVE, rel=1e-2)
    for found, truth in ((bumps, BUMP), (waves, WAVE)):
        assert abs(found.mean - truth) < 4.0 * found.std
        assert found.std < 0.02 * truth
        low, high = found.interval(0.9999)
        assert low < truth < high
        assert np.log(found.mean) == pytest.approx(found.log_mean)
        assert np.log(found.std) == pytest.approx(found.log_std)
    assert "95 % interval" in repr(bumps)
    assert len(bumps.to_frame()) == 12


def test_the_integrand_is_known_too(waves):
    x = np.array([[0.3, 0.4], [0.7, 0.2]])
    f = waves.predict(x)
    np.testing.assert_allclose(f.mean, [wave(row) for row in x], atol=0.1)


def test_logarithms_of_any_size(bumps):
    """With logarithms in place of values, and an offset of -1e5, the trials are the same."""
    found = ll.integrate(log_f=lambda x: -1e5 - 0.5 * x @ x, measure=SQUARE, budget=12, **QUIET)
    assert found.log_mean == pytest.approx(bumps.log_mean - 1e5, abs=1e-6)
    assert found.relative_error == pytest.approx(bumps.relative_error, rel=1e-3)
    assert found.mean == 0.0
    assert "log integral -100000" in repr(found)


def test_scales_of_measures_and_values(bumps):
    """A box of 1e-4 or 1e4 and values of 1e-200 change nothing but the units."""
    for width, size in ((1e-4, 1e-200), (1e4, 1e200)):
        box = ll.measures.Uniform([0.0, 0.0], [width, width])

        def f(x, width=width, size=size):
            return size * bump(x / width)

        found = ll.integrate(f, box, budget=8, **QUIET)
        first = ll.integrate(bump, SQUARE, budget=8, **QUIET)
        assert found.mean / size == pytest.approx(first.mean, rel=1e-4)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_the_integrand_of_any_size_is_known(size):
    question = ll.Integrate(ll.measures.Uniform(0.0, 1.0))
    for x in np.linspace(0.0, 1.0, 9):
        question.tell([x], size * (1.0 + x))
    f = question.answer().predict([[0.3], [0.55]])
    np.testing.assert_allclose(np.asarray(f.mean) / size, [1.3, 1.55], rtol=1e-3)
    assert np.all((f.std / size > 0.0) & (f.std / size < 1e-2))


def test_what_is_zero_has_no_logarithm():
    """An integrand that changes sign, of which the integral is 0."""
    question = ll.Integrate(ll.measures.Uniform(-1.0, 1.0))
    for x in np.linspace(-1.0, 1.0, 9):
        question.tell([x], x**3)
    found = question.answer()
    assert abs(found.mean) < max(4.0 * found.std, 1e-6)
    question.correct(8, -1.0)
    with pytest.raises(ll.InvalidData, match="It has no logarithm"):
        _ = question.answer().log_mean


@pytest.mark.parametrize("value", [3.0, -2.0])
def test_a_constant(value):
    question = ll.Integrate(ll.measures.Uniform(0.0, 1.0))
    for x in (0.0, 0.2, 0.2, 0.5, 0.9):
        question.tell([x], value)
    assert question.answer().mean == pytest.approx(value, rel=1e-2)


def test_values_that_are_all_zero_say_nothing_of_others():
    question = ll.Integrate(ll.measures.Uniform(0.0, 1.0), tolerance=0.1)
    for x in (0.0, 0.2, 0.2, 0.5, 0.9):
        question.tell([x], 0.0)
    found = question.answer()
    assert (found.mean, found.std) == (0.0, np.inf)
    assert "every value is zero" in repr(found)
    assert question.worth_asking(question.propose())


def test_logarithms_of_nothing():
    """Minus infinity is data: there the integrand is 0. Plus infinity is none."""
    question = ll.Integrate(ll.measures.Uniform(0.0, 1.0), logarithmic=True)
    for x in np.linspace(0.0, 1.0, 17):
        question.tell([x], 0.0 if 0.2 < x < 0.8 else -np.inf)
    assert 0.5 < question.answer().mean < 0.7
    for nothing in (np.inf, np.nan):
        with pytest.raises(ll.InvalidData, match="A logarithm must be finite"):
            question.tell([0.5], nothing)


def test_a_journal_continues_and_loads(tmp_path, waves):
    """The same points as without a stop, and the same answer from the file."""
    where = str(tmp_path / "wave.db")
    ll.integrate(wave, SQUARE, budget=11, journal=where, **QUIET)
    found = ll.integrate(wave, SQUARE, budget=16, journal=where, **QUIET)
    np.testing.assert_array_equal([t.x for t in found.trials], [t.x for t in waves.trials])
    loaded = ll.load(where)
    assert loaded.answer().mean == found.mean == waves.mean
    assert loaded.heading().startswith("integrate against Uniform")
    with pytest.raises(ll.InvalidData, match="settings"):
        ll.integrate(wave, ll.measures.Uniform([0, 0], [1, 2]), budget=16, journal=where, **QUIET)


def test_calls_at_once_are_at_different_points(waves):
    question = ll.Integrate(SQUARE, seed=0)
    for trial in waves.trials[:12]:
        question.tell(trial.x, trial.value)
    points = np.array([trial.x for trial in question.ask(3)])
    assert (
        np.linalg.norm(points[:, None] - points[None], axis=2)[np.triu_indices(3, 1)].min() > 0.02
    )


def test_a_tolerance_ends_it():
    found = ll.integrate(bump, SQUARE, budget=30, tolerance=0.05, seed=0, **QUIET)
    assert 5 <= len(found.trials) < 12
    assert found.relative_error <= 0.05


def test_failures_are_trials_and_given_data_count():
    def f(x):
        if x[0] > 0.9:
            raise ValueError("no luck")
        return "text" if x[1] > 0.95 else bump(x)

    given = [(x, bump(x)) for x in np.random.default_rng(0).uniform(size=(6, 2))]
    found = ll.integrate(f, SQUARE, budget=8, given=given, seed=0, **QUIET)
    assert len(found.trials) == 14
    assert all(t.reason for t in found.trials if t.x[0] > 0.9 and t.asked)
    assert found.mean == pytest.approx(BUMP, rel=0.05)


MEASURES = [
    (ll.measures.Gaussian([1.0, -1.0], [[0.5, 0.2], [0.2, 0.3]]), 0.0),
    (ll.measures.GaussianMixture([0.4, 0.6], [[0.0, 0.0], [1.0, 1.0]], [0.2, 0.1]), 1.2),
    (ll.measures.Product([ll.measures.Uniform(0.0, 2.0), ll.measures.Gaussian(-0.5, 0.1)]), 0.5),
    (ll.measures.Beta([2.0, 3.0], [2.0, 1.0]), 1.25),
]


@pytest.mark.parametrize(("measure", "truth"), MEASURES, ids=lambda m: type(m).__name__)
def test_every_measure(measure, truth):
    """The mean of x0 + x1, from points of the measure."""
    question = ll.Integrate(measure, method="bq")
    for x in np.asarray(measure.qmc(24, 0)):
        question.tell(x, float(np.sum(x)))
    assert question.answer().mean == pytest.approx(truth, abs=0.02)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(measure=SQUARE), "Give the integrand f"),
        (dict(f=bump), "measure is missing"),
        (dict(f=bump, measure=[(0, 1)]), "measure must be one of ll.measures"),
        (dict(f=bump, measure=SQUARE, method="wasbi"), "wsabi"),
        (dict(f=bump, measure=SQUARE, tolerance=-1.0), "tolerance must be a positive"),
        (dict(f=wave, measure=SQUARE, method="wsabi"), "not negative"),
    ],
)
def test_what_makes_no_sense(arguments, message):
    with pytest.raises(ll.InvalidData, match=message):
        ll.integrate(**arguments, budget=12, **QUIET)


def test_too_few_values():
    question = ll.Integrate(SQUARE)
    assert "no answer" in repr(question.answer())
    with pytest.raises(ll.InvalidData, match="at least 2 values"):
        _ = question.answer().mean
    with pytest.raises(ll.InvalidData, match="level must be between"):
        question.answer().interval(95.0)
