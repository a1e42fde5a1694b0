"""More rows than an exact model has memory for: an error before anything is made."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import leadline as ll
from leadline.kernels import Matern52
from leadline.models import LaplaceClassifier, _memory

N = 60_000
X = np.random.default_rng(0).uniform(size=(N, 1))
Y = np.sin(6.0 * X[:, 0])


@pytest.fixture(autouse=True)
def a_machine_of_16_gb(monkeypatch):
    monkeypatch.setattr(_memory.psutil, "virtual_memory", lambda: SimpleNamespace(total=16e9))


def test_many_rows_point_to_a_sparse_model():
    wanted = r"60000 values need 7 matrices .* 202 GB, and this machine has 16 GB\. leadline\."
    line = r"models\.Titsias\(kernel, inducing_points=x\[::120\]\)\.fit\(x, y\) learns .* 1 GB\."
    with pytest.raises(ll.InvalidData, match=wanted + line):
        ll.GP(Matern52()).fit(X, Y)
    with pytest.raises(ll.InvalidData, match=r"60000 values need 3 matrices .* 86 GB"):
        ll.GP(Matern52()).condition(X, Y)
    with pytest.raises(ll.InvalidData, match="need 3 matrices"):
        ll.GP(Matern52()).condition(X[:3], Y[:3]).update(X, Y)


def test_what_is_not_sparse_yet_says_what_else_to_do():
    model = ll.MultiGP(Matern52(), outputs=2)
    half = np.stack([Y, -Y], axis=1)[: N // 2]
    for learn in (model.fit, model.condition):
        with pytest.raises(ll.InvalidData, match=r"60000 values .* each output alone with lead"):
            learn(X[: N // 2], half)
    labels = LaplaceClassifier(Matern52())
    for learn in (labels.fit, labels.condition):
        with pytest.raises(ll.InvalidData, match=r"60000 values .* Learn from a part of the rows"):
            learn(X, Y > 0)


def test_sampled_hyper_parameters_keep_a_matrix_each():
    with pytest.raises(ll.InvalidData, match=r"10000 values need 35 matrices .* 28 GB.*maximum"):
        ll.GP(Matern52()).fit(X[:10_000], Y[:10_000], inference="nuts")


def test_what_there_is_room_for():
    _memory.require_memory(25_000, _memory.CONDITIONING)  # 15 GB
    _memory.require_memory(16_000, _memory.LEARNING)
    _memory.require_memory(4000, 10**9)  # small data ask for nothing
    with pytest.raises(ll.InvalidData):
        _memory.require_memory(26_000, _memory.CONDITIONING)
