"""Training: what is found where it is known, how training ends, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline.implicit import (
    AVB,
    SJMVI,
    VAE,
    Affine,
    ConstantScale,
    CycleGAN,
    Gaussian,
    JointRatio,
)
from leadline.implicit._networks import Columns, perceptron

RNG = np.random.default_rng(0)
# Check 7: x = 2 z + 1 + 0.1 noise, from samples that are not paired, and a prior that is lopsided.
PRIOR = RNG.exponential(size=(4000, 1)) - 1.0
X = 2.0 * (RNG.exponential(size=(4000, 1)) - 1.0) + 1.0 + 0.1 * RNG.normal(size=(4000, 1))
SMALL = {"width": 16, "depth": 1}
SMALL_RATIO = {"ratio_width": 16, "ratio_depth": 1}


def standard_normal(z):
    return jnp.sum(jax.scipy.stats.norm.logpdf(z), axis=-1)


def line(slope):
    return Affine(jnp.asarray([[slope]]), jnp.zeros(1))


METHODS = {
    "VAE": VAE(log_prior=standard_normal, **SMALL),
    "AVB": AVB(**SMALL, **SMALL_RATIO),
    "SJMVI": SJMVI(**SMALL, **SMALL_RATIO),
    "CycleGAN": CycleGAN(**SMALL, **SMALL_RATIO),
}


@pytest.fixture(scope="module")
def fitted():
    return {name: m.fit(X, PRIOR, steps=40) for name, m in METHODS.items()}


@pytest.mark.parametrize("ratio_loss", ["bce", "kl"])
@pytest.mark.parametrize("joint", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_estimated_divergence(ratio_loss, joint):
    """Check: tiao S11.5

    The posterior is N(0.5, 0.8^2) for any x, and stays so; the prior is N(0, 1). The likelihood
    does not look at z, so that NELBO is the divergence and a number that is known.
    """
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(5000, 1)), rng.normal(size=(5000, 1))
    ratio = None
    if joint:
        columns = Columns.of(np.concatenate([z, x], axis=1))
        ratio = JointRatio(perceptron(jax.random.key(3), columns, 1, 16, 1))
    method = AVB(
        likelihood=Gaussian(line(0.0), 1.0),
        posterior=Gaussian(Affine(jnp.zeros((1, 1)), jnp.asarray([0.5])), 0.8),
        latent_ratio=ratio,
        ratio_loss=ratio_loss,
        ratio_learning_rate=5e-3,
        learning_rate=0.0,
        **SMALL_RATIO,
    )
    found = method.fit(x, z, steps=800)
    known = 0.5 * np.mean(x**2) + 0.5 * np.log(2 * np.pi)
    divergence = -np.log(0.8) + 0.5 * (0.8**2 + 0.5**2) - 0.5
    assert abs(found.nelbo(x) - known - divergence) < 0.1
    np.testing.assert_array_equal(found.networks.posterior.location.bias, [0.5])


def test_a_line_from_unpaired_samples():
    """Check: tiao S11.7"""
    method = SJMVI(
        likelihood=Gaussian(line(1.0), ConstantScale(0.5, learned=True)),
        posterior=Gaussian(line(1.0), ConstantScale(0.5, learned=True)),
        learning_rate=5e-3,
        ratio_learning_rate=5e-3,
        ratio_width=32,
        ratio_depth=1,
        batch_size=64,
    )
    found = method.fit(X, PRIOR, steps=2500)
    latents = np.asarray(found.sample_latents(jax.random.key(1), X))[0]
    assert found.mse_x(X) < 0.05
    assert found.mse_z(PRIOR) < 0.05
    assert abs(latents.mean() - PRIOR.mean()) < 0.15
    assert abs(latents.var() - PRIOR.var()) < 0.15
    # The prior is lopsided, so the map can be only this one.
    assert np.mean((np.asarray(found.encode(X)) - (X - 1.0) / 2.0) ** 2) < 0.05


@pytest.mark.slow
def test_a_cycle_gan_finds_the_line():
    found = CycleGAN(
        loss="C", rho=2, decoder=line(1.0), encoder=line(1.0), learning_rate=5e-3, **SMALL_RATIO
    ).fit(X, PRIOR, steps=1500)
    assert found.mse_x(X) < 0.05
    assert np.mean((np.asarray(found.encode(X)) - (X - 1.0) / 2.0) ** 2) < 0.05


@pytest.mark.parametrize("name", METHODS)
def test_shapes_and_words(name, fitted):
    found = fitted[name]
    assert found.encode(X[:5]).shape == (5, 1)
    assert found.decode(PRIOR[:5]).shape == (5, 1)
    assert found.mse_x(X[:50]) > 0.0
    assert found.mse_z(PRIOR[:50]) > 0.0
    assert repr(found).startswith(f"<{name}, 1 latent for 1 columns; trained for 40 steps; at the")
    np.testing.assert_array_equal(found.history.step, [20, 40])
    assert not found.history.stopped
    assert ("-log q(z | x)" in repr(found)) == (name in ("SJMVI", "CycleGAN"))


def test_draws(fitted):
    key = jax.random.key(0)
    found = fitted["SJMVI"]
    draws = found.sample_latents(key, X[:5], 400)
    assert draws.shape == (400, 5, 1)
    scale = np.std(draws, axis=0)
    assert np.all(np.abs(draws.mean(axis=0) - found.encode(X[:5])) < 5 * scale / np.sqrt(400))
    assert found.sample_observations(key, PRIOR[:5], 3).shape == (3, 5, 1)
    assert found.nelbo(X[:50]) == found.nelbo(X[:50])
    assert found.nelbo(X[:50]) != found.nelbo(X[:50], seed=1)


def test_missing_abilities(fitted):
    for name in ("VAE", "AVB"):
        assert np.isfinite(fitted[name].nelbo(X[:50]))
        with pytest.raises(ll.Unsupported, match=f"which {name} does not train; SJMVI does"):
            fitted[name].naplbo(PRIOR[:50])
    assert np.isfinite(fitted["SJMVI"].naplbo(PRIOR[:50]))
    points = fitted["CycleGAN"]
    with pytest.raises(ll.Unsupported, match="those of CycleGAN are points"):
        points.nelbo(X[:50])
    with pytest.raises(ll.Unsupported, match="sample_latents needs conditionals with a density"):
        points.sample_latents(jax.random.key(0), X[:5])


def test_seeds(fitted):
    again = METHODS["SJMVI"].fit(X, PRIOR, steps=40)
    other = METHODS["SJMVI"].fit(X, PRIOR, steps=40, seed=1)
    np.testing.assert_array_equal(again.encode(X[:5]), fitted["SJMVI"].encode(X[:5]))
    assert np.all(other.encode(X[:5]) != again.encode(X[:5]))


def test_one_program_for_all_seeds_and_lengths(fitted, compilations):
    """The fixture has compiled it; a second fit of the same shapes needs small programs at most."""
    METHODS["SJMVI"].fit(X, PRIOR, steps=40, seed=2)
    first = compilations[0]
    METHODS["SJMVI"].fit(X, PRIOR, steps=130, seed=3)
    assert compilations[0] == first


def test_overfitted_judges_end_training():
    """Both sides have the same law, and maps leave it so: there is nothing to learn but the rows.

    Of few rows that is learned; of many the judges keep saying the same of everything.
    """
    rng = np.random.default_rng(2)
    same = Affine(jnp.eye(5), jnp.zeros(5))
    method = CycleGAN(
        loss="C",
        decoder=same,
        encoder=same,
        learning_rate=0.0,
        ratio_learning_rate=1e-2,
        ratio_width=64,
        ratio_depth=1,
        patience=3,
    )
    few = method.fit(*rng.normal(size=(2, 100, 5)), steps=600)
    assert few.history.stopped
    assert few.history.step[-1] < 600
    assert "when a ratio network was overfitted" in repr(few)
    many = method.fit(*rng.normal(size=(2, 20_000, 5)), steps=100)
    assert not many.history.stopped


def test_progress(capsys):
    METHODS["VAE"].fit(X, PRIOR, steps=40, progress=True)
    assert "40/40" in capsys.readouterr().err
    METHODS["VAE"].fit(X, PRIOR, steps=40)
    assert capsys.readouterr().err == ""


def test_divergence_is_an_error():
    with pytest.raises(ArithmeticError, match="Smaller rates than learning_rate=1e\\+200"):
        VAE(log_prior=standard_normal, learning_rate=1e200, **SMALL).fit(X, PRIOR, steps=40)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SJMVI(likelihood="gausian"), "Did you mean 'gaussian'"),
        (lambda: SJMVI(ratio_loss="least_squares"), "ratio_loss must be one of 'bce', 'kl'"),
        (lambda: AVB(width=0), "width must be at least 1, got 0"),
        (lambda: AVB(ratio_steps=0), "ratio_steps must be at least 1"),
        (lambda: AVB(patience=0), "patience must be at least 1, or None"),
        (lambda: VAE(log_prior=standard_normal, learning_rate=-1.0), "must be not negative"),
        (lambda: CycleGAN(loss="D"), "loss must be one of 'A', 'B', 'C', 'least_squares'"),
        (lambda: CycleGAN(rho=3), "rho must be one of 1, 2"),
        (lambda: CycleGAN(cycle_weight=0.0), "cycle_weight must be positive"),
        (lambda: SJMVI().fit(X, PRIOR, seed=-1), "seed must be a whole number, from 0 to 2"),
        (lambda: SJMVI(posterior_scale=-1.0).fit(X, PRIOR), "a scale must be positive"),
    ],
)
def test_bad_settings(make, message):
    with pytest.raises(ll.InvalidData, match=message):
        make()


@pytest.mark.parametrize(
    ("x", "z", "steps", "message"),
    [
        (X[:, 0], PRIOR, 10, "x must have two dimensions"),
        (X, PRIOR[:1], 10, "z must have at least 2 row"),
        (np.full((5, 1), np.nan), PRIOR, 10, "x must be finite"),
        (X, PRIOR, 0, "steps must be at least 1"),
    ],
)
def test_bad_data(x, z, steps, message):
    with pytest.raises(ll.InvalidData, match=message):
        METHODS["SJMVI"].fit(x, z, steps=steps)


def test_networks_that_do_not_fit():
    wide = Affine(jnp.zeros((2, 1)), jnp.zeros(2))
    with pytest.raises(ll.InvalidData, match="likelihood must work for 1 observed and 1 latent"):
        SJMVI(likelihood=Gaussian(Affine(jnp.zeros((1, 3)), jnp.zeros(1)), 1.0)).fit(X, PRIOR)
    with pytest.raises(ll.InvalidData, match=r"should give shape \(2, 1\), they give \(2, 2\)"):
        SJMVI(posterior=Gaussian(wide, 1.0)).fit(X, PRIOR)
    with pytest.raises(ll.InvalidData, match="log_prior must work"):
        VAE(log_prior=lambda z: z).fit(X, PRIOR)
    with pytest.raises(ll.InvalidData, match="latent_ratio must work"):
        AVB(latent_ratio=lambda z, x: x).fit(X, PRIOR)


def test_bad_rows_after_training(fitted):
    with pytest.raises(ll.InvalidData, match="x must have 1 columns"):
        fitted["SJMVI"].encode(np.zeros((3, 2)))
    with pytest.raises(ll.InvalidData, match="number of draws must be at least 1"):
        fitted["SJMVI"].nelbo(X[:5], draws=0)


@pytest.mark.slow
def test_digits_with_banana_latents():
    """Check: tiao S11.8

    The error of latents of SJMVI is below that of a VAE that has the density of the prior.
    """
    from reproductions.tiao_2023.banana_latents import banana, digits, methods

    data, prior, new = digits(), banana(5000, 0), banana(1000, 1)
    chosen = methods()
    errors = {
        name: [chosen[name].fit(data.train, prior, steps=1500, seed=s).mse_z(new) for s in range(3)]
        for name in ("SJMVI", "VAE")
    }
    assert np.median(errors["SJMVI"]) < 0.7 * np.median(errors["VAE"])
