import numpy as np
import pytest

import leadline as ll


def fitted(priors, noise):
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(25, 2))
    y = np.sin(4 * x[:, 0]) + x[:, 1] + noise * rng.standard_normal(25)
    return ll.GP(1.0 * ll.kernels.Matern52([0.5, 0.5])).fit(x, y, priors=priors)


def test_noise_is_learned_down_to_nothing():
    quiet, default = (float(fitted(p, 0.0).gp.noise) for p in ("quiet", "default"))
    assert quiet < 0.1 * default
    assert quiet < 1e-5


def test_noise_that_is_there_is_no_surprise():
    quiet, default = (float(fitted(p, 0.3).gp.noise) for p in ("quiet", "default"))
    assert quiet == pytest.approx(default, rel=0.3)
