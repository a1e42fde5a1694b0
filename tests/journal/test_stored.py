"""Events as text and bytes."""

import enum
import json
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from tests.journal.random_events import events, same

from leadline.boundary import InvalidData
from leadline.journal._stored import (
    restore,
    restore_settings,
    store,
    store_settings,
)
from leadline.questions import Asked, Told


@given(events)
def test_events_come_back_bit_for_bit(event):
    stored = store(event)
    assert stored.body.isascii()
    assert "\0" not in stored.body
    assert same(restore(stored), event)


def test_numbers_of_numpy_come_back_as_numbers():
    event = Told(3, np.float64(0.1), {"loss": np.float32(0.1), "on": np.bool_(True)})
    back = restore(store(event))
    assert same(
        vars(back),
        dict(trial=3, value=0.1, info={"loss": float(np.float32(0.1)), "on": True}, seconds=None),
    )


def test_arrays_of_jax_come_back_as_arrays_of_numpy():
    back = restore(store(Told(0, jnp.arange(3.0), {"key": jax.random.key(0)})))
    assert same(back.value, np.arange(3.0))
    assert isinstance(back.info["key"], str)


def test_arrays_keep_their_order_of_bytes_and_of_axes():
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3)).astype(">f8")
    back = restore(store(Told(0, array))).value
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    assert same(restore(store(Told(0, array[:, ::2]))).value, array[:, ::2].copy())


class Loud:
    def __repr__(self):
        raise RuntimeError("no repr")


class Color(enum.StrEnum):
    RED = "red"


def test_a_value_is_kept_whatever_came_with_it():
    loop = [1]
    loop.append(loop)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    given = {
        "object": {"path": object, "loss": 0.5},
        "set": {1},
        "objects": np.array([None, object]),
        "masked": np.ma.masked_array([1.0, 2.0], [True, False]),
        "records": np.zeros(2, dtype=[("a", float)]),
        "loop": loop,
        "deep": deep,
        "long": 10**5000,
        "loud": Loud(),
        "color": Color.RED,
        "complex": 1j,
        "bytes": b"\0",
        "keys": {1: "number"},
    }
    back = restore(store(Told(0, 0.25, given)))
    assert back.value == 0.25
    assert back.info["object"] == {"path": repr(object), "loss": 0.5}
    assert back.info["set"] == "{1}"
    assert back.info["loop"] == "[1, [...]]"
    assert back.info["loud"] == "<Loud without a repr>"
    assert back.info["color"] == "red"
    assert back.info["bytes"] == repr(b"\0")
    assert back.info["keys"] == {"1": "number"}
    assert all(isinstance(back.info[key], str) for key in ("masked", "objects", "long", "deep"))


def test_info_that_fails_halfway_leaves_no_array_behind():
    class Broken(dict):
        def items(self):
            yield "array", np.ones(2)
            raise RuntimeError("no more")

    back = restore(store(Told(0, np.zeros(1), {"broken": Broken(), "good": np.ones(3)})))
    assert same(back.value, np.zeros(1))
    assert same(back.info["good"], np.ones(3))


@pytest.mark.parametrize("value", [object(), {1, 2}, 1j, np.array([object()]), b"x"])
def test_values_that_cannot_be_kept_are_refused(value):
    with pytest.raises(InvalidData, match="A journal keeps numbers"):
        store(Told(0, value))


def test_nothing_is_pickled():
    with pytest.raises(InvalidData):
        store(Asked(0, np.zeros(1), {"state": np.array([{}])}))


def test_settings_are_plain_json():
    settings = {"space": {"low": -math.inf, "high": 0.1}, "seed": 3}
    text = store_settings(settings)
    json.loads(text)
    assert restore_settings(text) == settings
    with pytest.raises(InvalidData, match="must become a list"):
        store_settings({"w": np.zeros(2)})
