"""What holds for every classifier: the contract of `Classifier`."""

import inspect
import json

import jax
import numpy as np
import pytest
from tests.ratios.classifiers import CLASSIFIERS, COLUMNS, data

from leadline import ratios
from leadline.boundary import InvalidData, Unsupported
from leadline.ratios import Classifier, FittedClassifier, as_classifier, classifier_settings

every_classifier = pytest.mark.parametrize("name", CLASSIFIERS)
KEY = jax.random.key(3)
X, Z = data()
QUERY = np.random.default_rng(1).uniform(-1.0, 1.0, (7, COLUMNS))


@pytest.fixture(scope="module")
def fitted():
    return {name: classifier.fit(X, Z, key=KEY) for name, classifier in CLASSIFIERS.items()}


def test_every_classifier_of_this_room_is_tried():
    """A classifier that is exported but never tried fails here.

    Estimators of ratios that are also classifiers are tried with the ratios.
    """
    direct = {"Best", "RuLSIF", "uLSIF", "KLIEP", "KernelDensity", "Variational"}
    public = {
        cls
        for name, cls in vars(ratios).items()
        if inspect.isclass(cls) and issubclass(cls, Classifier) and not inspect.isabstract(cls)
        if name not in direct
    }
    assert public <= {type(classifier) for classifier in CLASSIFIERS.values()}


@every_classifier
def test_it_learns(name, fitted):
    new, labels = data(500, seed=2)
    assert np.mean((fitted[name].logits(new) > 0) == labels) > 0.8


@every_classifier
@pytest.mark.parametrize("rows", [0, 1, 7])
def test_log_odds_are_finite_double_precision_numbers(name, fitted, rows):
    assert isinstance(fitted[name], FittedClassifier)
    logits = np.asarray(fitted[name].logits(QUERY[:rows]))
    assert logits.shape == (rows,)
    assert logits.dtype == np.float64
    assert np.isfinite(logits).all()


@every_classifier
def test_a_row_is_answered_the_same_alone_and_among_others(name, fitted):
    together, alone = fitted[name].logits(QUERY), fitted[name].logits(QUERY[2:3])
    np.testing.assert_allclose(alone[0], together[2], rtol=1e-9, atol=1e-9)


@every_classifier
def test_the_key_decides_everything(name, fitted):
    again = CLASSIFIERS[name].fit(X, Z, key=KEY)
    np.testing.assert_array_equal(again.logits(QUERY), fitted[name].logits(QUERY))


def test_another_key_is_another_network(fitted):
    other = CLASSIFIERS["mlp"].fit(X, Z, key=jax.random.key(4))
    assert np.abs(other.logits(QUERY) - fitted["mlp"].logits(QUERY)).min() > 1e-6


@every_classifier
def test_a_row_without_weight_says_nothing(name, fitted):
    x, z = np.concatenate([X, QUERY[:3]]), np.concatenate([Z, [0.0, 1.0, 0.0]])
    weight = np.concatenate([np.ones(len(Z)), np.zeros(3)])
    found = CLASSIFIERS[name].fit(x, z, weight, key=KEY)
    np.testing.assert_allclose(
        found.logits(QUERY), fitted[name].logits(QUERY), rtol=1e-4, atol=1e-4
    )


@every_classifier
def test_what_is_traceable_has_gradients(name, fitted):
    found = fitted[name]
    if not found.traceable:
        with pytest.raises(Unsupported, match="not a JAX program"):
            jax.jit(found.logits)(QUERY)
        return
    # It traces as an argument of a program, and as a constant in it.
    jax.make_jaxpr(jax.grad(lambda x: found.logits(x).sum()))(QUERY)
    program = jax.jit(jax.value_and_grad(lambda x, model: model.logits(x).sum()))
    value, gradient = program(QUERY, found)
    np.testing.assert_allclose(value, found.logits(QUERY).sum(), rtol=1e-9)
    h = 1e-6
    up, down = QUERY.copy(), QUERY.copy()
    up[:, 0] += h
    down[:, 0] -= h
    differences = (found.logits(up) - found.logits(down)) / (2 * h)
    np.testing.assert_allclose(np.asarray(gradient)[:, 0], differences, rtol=1e-5, atol=1e-6)


def test_a_ratio_needs_rows_of_both_labels():
    for label in (0.0, 1.0):
        with pytest.raises(InvalidData, match="both labels"):
            CLASSIFIERS["rulsif"].fit(X, np.full(len(Z), label), key=KEY)


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name != "rulsif"])
def test_one_class_alone_is_believed(name):
    for label, sign in ((0.0, -1.0), (1.0, 1.0)):
        found = CLASSIFIERS[name].fit(X, np.full(len(Z), label), key=KEY)
        assert np.all(sign * np.asarray(found.logits(QUERY)) > 0)


@every_classifier
def test_its_state_is_arrays_that_a_fit_can_start_from(name, fitted):
    state = fitted[name].state()
    assert all(isinstance(a, np.ndarray) for a in state.values())
    later = CLASSIFIERS[name].fit(X, Z, key=KEY, state=state)
    assert np.isfinite(np.asarray(later.logits(QUERY))).all()
    assert {k: a.shape for k, a in later.state().items()} == {k: a.shape for k, a in state.items()}


@pytest.mark.parametrize("name", ["mlp", "dropout", "laplace", "sghmc", "ensemble", "platt", "gp"])
def test_a_state_of_something_else_is_refused(name, fitted):
    classifier = CLASSIFIERS[name]
    with pytest.raises(InvalidData, match="state"):
        classifier.fit(X, Z, key=KEY, state={"else": np.zeros(3)})
    with pytest.raises(InvalidData, match="state"):
        classifier.fit(np.repeat(X, 2, axis=1), Z, key=KEY, state=fitted[name].state())


@every_classifier
@pytest.mark.parametrize(
    ("x", "z", "weight", "message"),
    [
        (X, 2.0 * Z, None, "0 or 1"),
        (X, Z[:-1], None, "59 values"),
        (X[:, 0], Z, None, "two dimensions"),
        (np.where(X > 0.9, np.nan, X), Z, None, "finite"),
        (X, Z, -np.ones(len(Z)), "negative"),
        (X, Z, np.zeros(len(Z)), "positive"),
    ],
)
def test_bad_data_are_refused(name, x, z, weight, message):
    with pytest.raises(InvalidData, match=message):
        CLASSIFIERS[name].fit(x, z, weight, key=KEY)


@every_classifier
def test_a_query_of_other_columns_is_refused(name, fitted):
    with pytest.raises(InvalidData, match="columns"):
        fitted[name].logits(np.zeros((3, COLUMNS + 1)))


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("mlp", (50, 51, 52, 60)),
        ("mlp", (100, 101, 102, 110)),
        ("deep ensemble", (50, 51, 52, 60)),
        ("dropout", (50, 51, 52, 60)),
        ("laplace", (50, 51, 52, 60)),
        ("sghmc", (50, 51, 52, 60)),
        ("gp", (50, 51, 52, 60)),
    ],
)
def test_a_growing_loop_compiles_once_in_a_bucket(name, sizes, compilations):
    classifier, state, before = CLASSIFIERS[name], None, None
    x, z = data(max(sizes))
    for count, n in enumerate(sizes):
        found = classifier.fit(x[:n], z[:n], key=KEY, state=state)
        found.logits(x[:n])
        state = found.state()
        # The second fit is the first one from a state.
        if count == 1:
            before = compilations[0]
    assert compilations[0] == before


@every_classifier
def test_its_settings_are_json(name):
    classifier = CLASSIFIERS[name]
    settings = json.loads(json.dumps(classifier_settings(classifier)))
    if name == "pipeline":
        with pytest.raises(InvalidData, match="pass the classifier itself"):
            as_classifier(settings)
        return
    made = as_classifier(settings)
    assert type(made) is type(classifier)
    assert classifier_settings(made) == settings
