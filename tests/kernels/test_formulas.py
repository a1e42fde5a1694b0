"""Every kernel against its textbook formula, one pair of rows at a time in NumPy and SciPy, and
against scikit-learn where it has the kernel.
"""

import math

import numpy as np
import pytest
import scipy.special
from sklearn.gaussian_process import kernels as peers
from tests.kernels.registry import KERNELS, gram, inputs

from leadline import kernels as k

ARD = np.array([0.7, 1.1, 1.6])


def distance(x, y, lengthscale=ARD):
    return math.sqrt(sum(((a - b) / c) ** 2 for a, b, c in zip(x, y, lengthscale, strict=True)))


def matern(nu, r):
    if r == 0:
        return 1.0
    z = math.sqrt(2 * nu) * r
    return 2 ** (1 - nu) / math.gamma(nu) * z**nu * scipy.special.kv(nu, z)


def periodic(x, y, lengthscale, period):
    exponent = 0.0
    for a, b, c, p in zip(x, y, lengthscale, period, strict=True):
        exponent += 2 * math.sin(math.pi * (a - b) / p) ** 2 / c**2
    return math.exp(-exponent)


def wave(x, y, period):
    return math.cos(2 * math.pi * sum((a - b) / p for a, b, p in zip(x, y, period, strict=True)))


def mixture(x, y):
    weights = [0.5, 0.9]
    means = [[0.2, 0.0, 0.1], [-0.1, 0.3, 0.05]]
    scales = [[0.1, 0.2, 0.15], [0.05, 0.1, 0.2]]
    total = 0.0
    for w, mean, scale in zip(weights, means, scales, strict=True):
        phase = sum((a - b) * m for a, b, m in zip(x, y, mean, strict=True))
        term = w * math.cos(2 * math.pi * phase)
        for a, b, s in zip(x, y, scale, strict=True):
            term *= math.exp(-2 * math.pi**2 * (a - b) ** 2 * s**2)
        total += term
    return total


def product_matern(nu, x, y):
    return math.prod(matern(nu, abs(a - b) / c) for a, b, c in zip(x, y, ARD, strict=True))


def mahalanobis(x, y):
    c = np.array([[1, 0, 0], [0.5, 1, 0], [-0.3, 0.8, 1]])
    precision = np.diag(1 / ARD) @ c.T @ c @ np.diag(1 / ARD)
    return matern(2.5, math.sqrt((x - y) @ precision @ (x - y)))


def arc_cosine(order, x, y):
    x, y = (np.append(np.sqrt([0.5, 1.0, 2.0]) * row, math.sqrt(0.8)) for row in (x, y))
    lengths = np.linalg.norm(x) * np.linalg.norm(y)
    theta = math.acos(min(x @ y / lengths, 1.0))
    if order == 0:
        return 1 - theta / math.pi
    return lengths * (math.sin(theta) + (math.pi - theta) * math.cos(theta)) / math.pi


def sphere_matern(x, y):
    x, y = (np.append(row / ARD, 0.9) for row in (x, y))
    t = x @ y / np.linalg.norm(x) / np.linalg.norm(y)
    return matern(1.5, math.sqrt(max(2 - 2 * t, 0.0)))


def gibbs(x, y):
    value = 1.0
    for a, b in zip(x, y, strict=True):
        la, lb = 0.6 + 0.3 * math.sin(a), 0.6 + 0.3 * math.sin(b)
        total = la**2 + lb**2
        value *= math.sqrt(2 * la * lb / total) * math.exp(-((a - b) ** 2) / total)
    return value


def squared_exponential(x, y, lengthscale):
    return math.exp(-0.5 * distance(x, y, lengthscale) ** 2)


ONES, MIX = [1.0] * 3, [[1.0], [-0.5], [0.3]]
B = np.array(MIX) @ np.array(MIX).T + np.diag([0.2, 0.4, 0.0])

FORMULAS = {
    "SquaredExponential": lambda x, y: squared_exponential(x, y, [0.9] * 3),
    "SquaredExponentialARD": lambda x, y: squared_exponential(x, y, ARD),
    "Matern12": lambda x, y: math.exp(-distance(x, y)),
    "Matern32": lambda x, y: matern(1.5, distance(x, y)),
    "Matern52": lambda x, y: matern(2.5, distance(x, y)),
    "MaternRough": lambda x, y: matern(0.3, distance(x, y)),
    "MaternOne": lambda x, y: matern(1.0, distance(x, y)),
    "MaternSmooth": lambda x, y: matern(4.2, distance(x, y)),
    "RationalQuadratic": lambda x, y: (1 + distance(x, y) ** 2 / 3.4) ** -1.7,
    "PartlyAdditive": lambda x, y: (
        0.6 * matern(2.5, distance(x, y))
        + sum(
            0.4 / 3 * matern(2.5, 3**0.5 * abs(a - b) / l)
            for a, b, l in zip(x, y, ARD, strict=True)
        )
    ),
    "Periodic": lambda x, y: periodic(x, y, [0.8, 1.2, 1.0], [2.0, 3.0, 4.0]),
    "Cosine": lambda x, y: wave(x, y, [3.0, 5.0, 7.0]),
    "Constant": lambda x, y: 0.7,
    "SpectralMixture": mixture,
    "ProductMatern12": lambda x, y: product_matern(0.5, x, y),
    "ProductMatern32": lambda x, y: product_matern(1.5, x, y),
    "ProductMatern52": lambda x, y: product_matern(2.5, x, y),
    "Mahalanobis": mahalanobis,
    "ActiveDims": lambda x, y: matern(2.5, distance(x[[2, 0]], y[[2, 0]], [0.7, 1.3])),
    "DirectSum": lambda x, y: (
        matern(1.5, abs(x[1] - y[1]) / 0.8)
        + 1.5 * squared_exponential(x[[0, 2]], y[[0, 2]], [1.2] * 2)
    ),
    "Scale": lambda x, y: 2.5 * matern(2.5, distance(x, y)),
    "Sum": lambda x, y: 2.0 * matern(2.5, distance(x, y)) + periodic(x, y, ONES, [3.0] * 3) + 0.5,
    "Product": lambda x, y: 1.5 * matern(2.5, distance(x, y)) * wave(x, y, [3.0, 5.0, 7.0]),
    "ProductOfSums": lambda x, y: (
        (matern(2.5, distance(x, y)) + 3.0) * (2.0 * wave(x, y, [4.0] * 3) + mixture(x, y))
    ),
    "Linear": lambda x, y: 0.5 * x[0] * y[0] + x[1] * y[1] + 2.0 * x[2] * y[2],
    "Polynomial": lambda x, y: (sum(x * y / ARD**2) + 0.6) ** 3,
    "White": lambda x, y: 0.4 if np.array_equal(x, y) else 0.0,
    "ArcCosine0": lambda x, y: arc_cosine(0, x, y),
    "ArcCosine1": lambda x, y: arc_cosine(1, x, y),
    "SphereMatern": sphere_matern,
    "Gibbs": gibbs,
    "Warp": lambda x, y: matern(
        2.5, distance(np.tanh(0.7 * x)[:2], np.tanh(0.7 * y)[:2], [0.5, 0.9])
    ),
    "Categorical": lambda x, y: (
        matern(2.5, math.dist(x[:2], y[:2])) * (1.0 if x[2] == y[2] else 0.3)
    ),
    "Coregionalization": lambda x, y: (
        B[int(x[2]), int(y[2])] * matern(1.5, math.dist(x[:2], y[:2]))
    ),
}


def test_every_kernel_has_a_formula():
    assert FORMULAS.keys() == KERNELS.keys()


@pytest.mark.parametrize("name", KERNELS)
def test_formula(name):
    """Including a row that both sets share; angles and roots near it cost half the digits."""
    kernel, kind = KERNELS[name]
    x, y = inputs(kind, 10), inputs(kind, 10, seed=1)
    y[3] = x[5]
    expected = np.array([[FORMULAS[name](a, b) for b in y] for a in x])
    assert np.ptp(expected) > 0 or name == "Constant"
    np.testing.assert_allclose(gram(kernel, x, y), expected, rtol=1e-11, atol=5e-8)
    off = np.ones_like(expected, dtype=bool)
    off[5, 3] = False
    np.testing.assert_allclose(np.asarray(gram(kernel, x, y))[off], expected[off], rtol=1e-11)


PEERS = {
    "rbf": (k.SquaredExponential(ARD), peers.RBF(ARD)),
    "matern 0.5": (k.Matern12(ARD), peers.Matern(ARD, nu=0.5)),
    "matern 1.5": (k.Matern32(ARD), peers.Matern(ARD, nu=1.5)),
    "matern 2.5": (k.Matern52(ARD), peers.Matern(ARD, nu=2.5)),
    "matern 0.7": (k.Matern(ARD, nu=0.7), peers.Matern(ARD, nu=0.7)),
    "matern 3.1": (k.Matern(ARD, nu=3.1), peers.Matern(ARD, nu=3.1)),
    "rational quadratic": (
        k.RationalQuadratic(0.8, alpha=1.7),
        peers.RationalQuadratic(length_scale=0.8, alpha=1.7),
    ),
    "exp sine squared": (
        k.Periodic(0.8, 1.3, active_dims=[0]),
        peers.ExpSineSquared(length_scale=0.8, periodicity=1.3),
    ),
    "dot product": (k.Linear() + 0.9**2, peers.DotProduct(sigma_0=0.9)),
    "dot product squared": (
        k.Polynomial(degree=2, offset=0.9**2),
        peers.DotProduct(sigma_0=0.9) ** 2,
    ),
    "white": (k.White(0.4), peers.WhiteKernel(0.4)),
    "constant": (k.Constant(0.4), peers.ConstantKernel(0.4)),
    "combined": (
        2.0 * k.Matern52(ARD) + k.SquaredExponential(0.5) * k.RationalQuadratic(),
        2.0 * peers.Matern(ARD, nu=2.5) + peers.RBF(0.5) * peers.RationalQuadratic(),
    ),
}


@pytest.mark.parametrize("name", PEERS)
def test_scikit_learn(name):
    ours, theirs = PEERS[name]
    x = inputs("other", 10)
    columns = x[:, :1] if name == "exp sine squared" else x  # theirs takes the distance's sine
    np.testing.assert_allclose(gram(ours, x, x), theirs(columns), rtol=1e-10, atol=1e-10)
