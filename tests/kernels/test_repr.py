"""Kernels print as one would write them, also while they are traced."""

import jax
import numpy as np
import pytest

from leadline import fixed
from leadline.kernels import (
    Constant,
    Gibbs,
    Matern,
    Matern12,
    Matern52,
    SquaredExponential,
    Warp,
)


def double(x):
    return 2 * x


TEXTS = {
    "Matern52(lengthscale=1)": Matern52(),
    "2 * Matern52(lengthscale=[0.5, 0.5])": 2 * Matern52([0.5, 0.5]),
    "Matern(lengthscale=0.1235, nu=1.3)": Matern(0.123456, nu=1.3),
    "2 * (Matern12(lengthscale=1) + Constant(variance=0.5))": 2 * (Matern12() + 0.5),
    "(Matern12(lengthscale=1) + Constant(variance=1)) * Matern52(lengthscale=1)": (
        (Matern12() + Constant()) * Matern52()
    ),
    "2 * Matern12(lengthscale=1) * Matern52(lengthscale=3)": 2 * Matern12() * Matern52(3.0),
    "fixed(3) * Matern52(lengthscale=fixed([1, 2]))": fixed(3) * Matern52(fixed([1, 2])),
    "Matern52(lengthscale=1).on([0, 2])": Matern52(active_dims=[0, 2]),
    "(2 * Matern52(lengthscale=1)).on([1])": (2 * Matern52()).on(1),
    "SquaredExponential(lengthscale=f64[20])": SquaredExponential(np.ones(20)),
    "Gibbs(lengthscale=double)": Gibbs(double),
    "Warp(kernel=Matern12(lengthscale=1), warp=double)": Warp(Matern12(), double),
}


@pytest.mark.parametrize("text", TEXTS)
def test_repr(text):
    assert repr(TEXTS[text]) == text


def test_traced_values_show_their_shape():
    seen = []

    @jax.jit
    def look(kernel):
        seen.append(repr(kernel))
        return kernel.diag(np.zeros((1, 2)))

    look(2 * Matern52([0.5, 0.5]))
    assert seen == ["f64[] * Matern52(lengthscale=f64[2])"]
