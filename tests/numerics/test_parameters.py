"""Parameters: free coordinates and back, what stays fixed, and what is refused by name."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxtyping import Array, Float

from leadline.numerics import (
    Constraint,
    DataScale,
    Parameterized,
    bounded,
    fixed,
    free_slots,
    from_free,
    positive,
    real,
    slots,
    to_free,
)


class Inner(Parameterized):
    length: Float[Array, ...] = positive(1.0, scales_with="input")
    share: Float[Array, ""] = bounded(-1.0, 3.0, 0.5)


class Outer(Parameterized):
    parts: tuple[Inner, ...]
    place: Float[Array, ...] = real(0.0, scales_with="location")
    noise: Float[Array, ""] = positive(0.1, scales_with="noise", zero=True)
    label: str = eqx.field(static=True, default="")

    def scale_for(self, field, scale):
        # The second part reads the inputs a hundred times as large.
        return scale, scale.with_inputs(100.0 * scale.x)


def model(**changes):
    parts = (Inner([0.3, 2.0, 5.0]), Inner(fixed(4.0), 2.5))
    return Outer(**{"parts": parts, "place": [-1.0, 7.0], "noise": 0.2} | changes)


def test_leaves_are_strong_float64_arrays():
    """An array of weak type would compile every program a second time."""
    for value in (1, 1.0, np.float32(1.0), [1, 2], jnp.asarray(1.0), np.arange(3) + 1):
        length = Inner(value).length
        assert isinstance(length, jax.Array)
        assert length.dtype == jnp.float64
        assert not length.weak_type


def test_free_coordinates_are_logarithms_reals_and_logits():
    wanted = [
        *np.log([0.3, 2.0, 5.0]),
        np.log(1.5 / 2.5),
        np.log(3.5 / 0.5),
        -1.0,
        7.0,
        np.log(0.2),
    ]
    np.testing.assert_allclose(to_free(model()), wanted, rtol=1e-14)


@settings(max_examples=30)
@given(st.lists(st.floats(-30, 30), min_size=8, max_size=8))
def test_round_trip(u):
    moved = from_free(model(), jnp.asarray(u))
    assert np.all(np.asarray(moved.parts[0].length) > 0)
    assert np.all((moved.parts[0].share >= -1.0) & (moved.parts[0].share <= 3.0))
    assert float(moved.parts[1].length) == 4.0
    back = np.asarray(to_free(moved))
    # A logit near 30 is the last digit of a number near 1.
    near = np.abs(u) < 10
    np.testing.assert_allclose(back[near], np.asarray(u)[near], rtol=1e-6, atol=1e-10)


def test_fixed_leaves_are_not_coordinates():
    names = [slot.name for slot in free_slots(model())]
    assert names == ["length", "share", "share", "place", "noise"]
    assert [s.name for s, _ in slots(model()) if s.fixed] == ["length"]
    everything = Inner(fixed(1.0), fixed(0.0))
    assert to_free(everything).shape == (0,)
    assert from_free(everything, jnp.zeros(0)) is everything


def test_fixed_survives_tree_operations_and_shows():
    m = jax.tree.map(lambda a: 2.0 * a, model())
    assert [slot.name for slot, _ in slots(m) if slot.fixed] == ["length"]
    assert repr(m.parts[1]) == "Inner(length=fixed(8), share=5)"
    assert repr(model().parts[0]) == "Inner(length=[0.3, 2, 5], share=0.5)"
    assert "f64[40]" in repr(Inner(np.ones(40)))


def test_from_free_traces_and_differentiates():
    def total(u):
        m = from_free(model(), u)
        return jnp.sum(m.parts[0].length) + m.noise

    gradient = jax.jit(jax.grad(total))(to_free(model()))
    np.testing.assert_allclose(gradient, [0.3, 2.0, 5.0, 0, 0, 0, 0, 0.2], rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Inner(-1.0), r"length of Inner must be finite and positive, got -1\."),
        (lambda: Inner(0.0), "length of Inner must be finite and positive, got 0"),
        (lambda: Inner([1.0, np.nan]), "length of Inner must be .* got nan"),
        (lambda: Inner(np.inf), "length of Inner must be .* got inf"),
        (lambda: Inner(fixed(-1.0)), "length of Inner must be finite and positive"),
        (lambda: Inner(1.0, 3.0), "share of Inner must be strictly between -1 and 3, got 3"),
        (lambda: model(noise=-0.1), "noise of Outer must be finite, and zero or positive"),
        (lambda: model(place=np.nan), "place of Outer must be finite, got nan"),
    ],
)
def test_values_outside_their_set(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("value", ["0.1", None, 1j, {"a": 1}, ["a"], np.array([1j])])
def test_values_that_are_no_numbers(value):
    with pytest.raises(TypeError, match="must be a number or an array of numbers, got"):
        Inner(value)


def test_zero_where_it_switches_something_off():
    assert float(model(noise=0.0).noise) == 0.0


@pytest.mark.parametrize(
    ("scales_with", "unit"),
    [
        ("input", [1.0, 10.0]),
        ("position", [1.0, 10.0]),
        ("frequency", [1.0, 0.1]),
        ("slope", [3.0, 0.3]),
        ("slope_variance", [9.0, 0.09]),
        ("output", [9.0, 9.0]),
        ("noise", [9.0, 9.0]),
        ("location", [3.0, 3.0]),
        ("deviation", [3.0, 3.0]),
        (None, [1.0, 1.0]),
    ],
)
def test_natural_units(scales_with, unit):
    """Inputs one and ten wide (as uniform laws of that deviation), targets with deviation 3."""
    x = np.array([[0.0, 0.0], [1.0, 10.0]]) / np.sqrt(3.0)
    scale = DataScale.of(x, np.array([2.0, 8.0]))
    constraint = Constraint("positive", scales_with)
    np.testing.assert_allclose(scale.unit(constraint, (2,)), unit, rtol=1e-12)
    shared = np.exp(np.mean(np.log(unit)))
    np.testing.assert_allclose(scale.unit(constraint, ()), shared, rtol=1e-12)
    center = {"location": [5.0, 5.0], "position": x.mean(0)}.get(scales_with, [0.0, 0.0])
    np.testing.assert_allclose(scale.center(constraint, (2,)), center)


def test_each_child_sees_the_data_through_its_parent():
    x = np.random.default_rng(0).uniform(size=(50, 3))
    seen = {
        slot.path: scale.unit(slot.constraint, ()).item()
        for slot, scale in slots(model(), DataScale.of(x, x[:, 0]))
        if slot.name == "length"
    }
    first, second = seen["parts", 0, "length"], seen["parts", 1, "length"]
    assert second == pytest.approx(100.0 * first)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e12 / 3, -1e-12 / 3])
def test_constant_columns_have_unit_spread(constant):
    """The computed deviation of a constant is its rounding error, not a length."""
    x = np.stack([np.full(7, constant), np.arange(7.0)], axis=1)
    spread = DataScale.of(x, np.zeros(7)).spread()
    assert spread[0] == 1.0
    assert spread[1] == pytest.approx(np.sqrt(12.0) * np.std(np.arange(7.0)))


@pytest.mark.parametrize(
    ("y", "std"),
    [([5.0, 5.0], 5.0), ([0.1] * 7, 1.0), ([0.0], 1.0), ([-3.0], 3.0), ([1e-12, 3e-12], 1e-12)],
)
def test_targets_without_spread_have_the_size_of_their_value(y, std):
    assert DataScale.of(np.zeros((len(y), 1)), np.array(y)).y_std == pytest.approx(std)
