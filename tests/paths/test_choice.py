"""The choice of features follows their errors, which depend on range / length scale."""

import equinox as eqx
import jax
import numpy as np
import pytest

from leadline import Unsupported
from leadline.boundary import InvalidData
from leadline.kernels import Frequencies, Linear, Matern52, Periodic, SquaredExponential
from leadline.numerics import blas_threads_for
from leadline.paths import FourierFeatures
from leadline.paths._features._choice import choose_features, feature_error
from leadline.paths._features._quadrature import GaussHermite, GaussLegendre

KEY = jax.random.key(0)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small matrix products in NumPy: a second BLAS thread only spins."""
    with blas_threads_for(1):
        yield


@jax.jit
def gram_of(kernel, x):
    return kernel(x, x)


def error(features, x, gram):
    """The relative Frobenius error, in NumPy."""
    phase, weight = x @ np.asarray(features.theta).T, np.asarray(features.weight)
    c, s = np.cos(phase), np.sin(phase)
    found = (c * weight) @ c.T + (s * weight) @ s.T
    return np.linalg.norm(found - gram) / np.linalg.norm(gram)


# Length scale, nodes; the errors of Gauss-Hermite, quasi-random and random frequencies.
UNIFORM = {
    4: [
        (1.0, 16, 2.7e-2, 6.5e-2, 0.12),
        (1.0, 81, 1.7e-3, 1.6e-2, 5.4e-2),
        (1.0, 256, 8.9e-5, 4.3e-3, 2.9e-2),
        (0.25, 256, 0.62, 0.18, 0.27),
    ],
    10: [(1.0, 1024, 5.5e-2, 1.3e-2, 3.7e-2)],
}


@pytest.mark.parametrize("dim", [4, pytest.param(10, marks=pytest.mark.slow)])
def test_dimension_and_range(dim):
    """150 uniform inputs: the errors are at most 1.3 times the tabulated ones, and their order is
    the same. Check: tiao S14.9.
    """
    x = np.random.default_rng(0).uniform(size=(150, dim))
    squares = np.sum((x[:, None] - x) ** 2, axis=-1)
    most = max(row[1] for row in UNIFORM[dim])
    keys = jax.random.split(KEY, 4)
    frequencies = {
        points: [
            np.asarray(
                FourierFeatures(SquaredExponential(), 2 * most, dim, key=k, points=points).theta
            )
            for k in keys
        ]
        for points in ("sobol", "random")
    }
    for scale, nodes, *expected in UNIFORM[dim]:
        gram = np.exp(-0.5 * squares / scale**2)
        hermite = GaussHermite(SquaredExponential(scale), nodes + nodes % 2, dim)
        found = [error(hermite, x, gram)]
        for sets in frequencies.values():
            each = [Frequencies(t[:nodes] / scale, np.full(nodes, 1 / nodes)) for t in sets]
            found.append(np.mean([error(features, x, gram) for features in each]))
        assert np.all(np.array(found) < 1.3 * np.array(expected)), found
        assert np.array_equal(np.argsort(found), np.argsort(expected)), found


CHOICES = [
    (1, 1 / 4, 64, GaussHermite),
    (1, 1 / 16, 64, GaussLegendre),  # too far for Gauss-Hermite, not for the tangent
    pytest.param(1, 1 / 16, 256, GaussHermite, marks=pytest.mark.slow),
    (4, 1.0, 256, GaussHermite),
    (4, 0.25, 256, FourierFeatures),  # the same dimension and size, another range
    pytest.param(10, 1.0, 1024, FourierFeatures, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("dim", "scale", "size", "kind"), CHOICES)
def test_choice(dim, scale, size, kind):
    """It looks at range / length scale, not only at the dimension. Check: tiao S14.9."""
    kernel = SquaredExponential(np.full(dim, scale))
    features = choose_features(kernel, size, [0.0] * dim, [1.0] * dim, key=KEY)
    assert type(features) is kind
    assert features.size <= size


def test_range_is_in_units_of_the_length_scale():
    """A box four times as wide is a length scale four times as short, also with ARD."""
    scales = np.array([0.5, 2.0, 1.0, 10.0])
    near = choose_features(SquaredExponential(scales), 256, 0.0 * scales, scales, key=KEY)
    far = choose_features(SquaredExponential(scales), 256, -2.0 * scales, 2.0 * scales, key=KEY)
    assert type(near) is GaussHermite
    assert type(far) is FourierFeatures


def test_choice_is_the_best_of_the_candidates():
    """On inputs that the choice did not see; a Matern kernel with amplitude."""
    x = np.random.default_rng(1).uniform(-1, 2, size=(100, 2))
    for scale in (0.3, 1.5):
        kernel = 2.5 * Matern52(scale)
        gram = np.asarray(gram_of(kernel, x))
        found = choose_features(kernel, 256, [-1.0, -1.0], [2.0, 2.0], key=KEY)
        rivals = [GaussHermite(kernel, 256, 2), GaussLegendre(kernel, 256, 2)]
        rivals += [FourierFeatures(kernel, 256, 2, key=KEY)]
        assert error(found, x, gram) < 1.2 * min(error(r, x, gram) for r in rivals)


def test_feature_error():
    x = np.random.default_rng(2).uniform(size=(20, 2))
    kernel = 2.0 * SquaredExponential(0.4)
    features = GaussHermite(kernel, 64, 2)
    gram = 2.0 * np.exp(-0.5 * np.sum((x[:, None] - x) ** 2, axis=-1) / 0.4**2)
    np.testing.assert_allclose(
        eqx.filter_jit(feature_error)(features, kernel, x), error(features, x, gram), rtol=1e-9
    )


def test_kernels_without_density():
    """Quasi-random frequencies serve every kernel with frequencies; others are told what to use."""
    found = choose_features(Periodic(), 64, [0.0], [1.0], key=KEY)
    assert type(found) is FourierFeatures
    with pytest.raises(Unsupported, match="Use Nystrom features"):
        choose_features(Linear(), 64, [0.0], [1.0], key=KEY)


def test_in_a_trace():
    """Nothing can be compared: the safe choice."""

    @eqx.filter_jit
    def make(kernel):
        return choose_features(kernel, 64, [0.0], [1.0], key=KEY)

    assert type(make(SquaredExponential(1.0))) is FourierFeatures


@pytest.mark.parametrize("box", [(0.0, 1.0), ([0.0], [1.0, 2.0]), ([0.0, 1.0], [1.0, 1.0])])
def test_bad_boxes(box):
    with pytest.raises(InvalidData, match=r"box|bounds"):
        choose_features(SquaredExponential(), 64, *box, key=KEY)
