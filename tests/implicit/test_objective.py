"""The losses: identities between them, cycle consistency as a limit, and who gets a gradient."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline.implicit import (
    Affine,
    ConstantScale,
    Gaussian,
    JointRatio,
    Laplace,
    LearnedDensity,
    MarginalRatio,
    Networks,
    Objective,
)
from leadline.implicit._networks import Columns
from leadline.implicit._objective import (
    MATCHING_LOSSES,
    RATIO_LOSSES,
    UNINFORMED,
    player_terms,
    ratio_losses,
)

RNG = np.random.default_rng(0)
D, K, B = 3, 2, 16
X, Z = jnp.asarray(RNG.normal(size=(B, D))), jnp.asarray(RNG.normal(size=(B, K)))
KEY = jax.random.key(0)
LOGITS = np.concatenate([RNG.normal(size=50), [-40.0, -5.0, 0.0, 5.0, 30.0]])


def affine(d, c):
    return Affine(jnp.asarray(RNG.normal(size=(d, c))), jnp.asarray(RNG.normal(size=d)))


DECODER, ENCODER = affine(D, K), affine(K, D)
JUDGE_Z, JUDGE_X = affine(1, K), affine(1, D)
terms_of = eqx.filter_jit(player_terms)
verdicts_of = eqx.filter_jit(ratio_losses)


def anchored(network, width):
    return LearnedDensity(network, Columns(np.zeros(width), np.ones(width)).traced())


RATIOS = {
    "joint": (JointRatio(affine(1, K + D)), JointRatio(affine(1, D + K))),
    "anchored": (anchored(JUDGE_Z, K), anchored(JUDGE_X, D)),
}


def networks(kind):
    learned = ConstantScale(0.5, learned=True)
    return Networks(Gaussian(DECODER, learned), Gaussian(ENCODER, learned), *RATIOS[kind])


def test_matching_losses():
    """Check: tiao S11.4

    C is the log ratio, and A and B make C; D is 1 - sigmoid of the logit.
    """
    a, b, c = (np.asarray(MATCHING_LOSSES[name](jnp.asarray(LOGITS))) for name in "ABC")
    np.testing.assert_array_equal(c, LOGITS)
    np.testing.assert_allclose(a + b, c, rtol=1e-12, atol=1e-12)
    some = slice(0, 50)
    discriminator = 1.0 / (1.0 + np.exp(LOGITS[some]))
    np.testing.assert_allclose(a[some], np.log1p(-discriminator), rtol=1e-12)
    np.testing.assert_allclose(b[some], -np.log(discriminator), rtol=1e-12)
    assert np.all(np.isfinite(a) & np.isfinite(b))


def test_ratio_losses_are_bounds_on_divergences():
    """Check: tiao S11.4

    Each is -f'(r) on draws and f*(f'(r)) on samples, for f of the divergence.
    """
    drawn, free = LOGITS[:25], LOGITS[25:50]
    r, s = np.exp(drawn), np.exp(free)
    gan = -np.log(r / (1 + r)) - np.log(1 - s / (1 + s))
    kl = -(1 + np.log(r)) + s
    pairs = jnp.asarray(drawn), jnp.asarray(free)
    np.testing.assert_allclose(RATIO_LOSSES["bce"](*pairs), gan, rtol=1e-12)
    np.testing.assert_allclose(RATIO_LOSSES["kl"](*pairs), kl, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("name", "constant"), [("bce", 0.0), ("kl", 0.0), ("least_squares", 0.5)])
def test_a_judge_that_knows_nothing(name, constant):
    loss = RATIO_LOSSES[name]
    same = jnp.full(1, constant)
    np.testing.assert_allclose(loss(same, same), UNINFORMED[name], rtol=1e-12)
    # No other constant does better.
    for other in (same - 0.1, same + 0.1):
        assert loss(other, other)[0] > UNINFORMED[name]


@pytest.mark.parametrize("t", [4.0, 1e8])
def test_likelihood_becomes_cycle_consistency(t):
    """Check: tiao S11.3

    For linear maps the mean over noise is exact with 2 K points, and what is left over is known.
    """
    tau = 2.5
    likelihood, posterior = Gaussian(DECODER, tau**-0.5), Gaussian(ENCODER, t**-0.5)
    points = np.sqrt(K) * np.concatenate([np.eye(K), -np.eye(K)])
    nell = np.mean(
        [
            -likelihood.log_prob(
                X, posterior.mean(X) + posterior.scale.spread(jnp.tile(p, (B, 1)), X)
            )
            for p in points
        ]
    )
    cycle = np.mean(np.sum((X - likelihood.mean(posterior.mean(X))) ** 2, axis=1))
    w = np.asarray(DECODER.weight)
    rest = nell - tau / 2 * cycle - D / 2 * np.log(2 * np.pi / tau)
    np.testing.assert_allclose(rest, tau / 2 * np.trace(w @ w.T) / t, rtol=1e-9, atol=1e-12)
    if t == 1e8:
        assert abs(rest) < 1e-6


@pytest.mark.parametrize("rho", [1, 2])
@pytest.mark.parametrize("matching", ["A", "B", "C", "least_squares"])
def test_cycle_gan_is_a_special_case(rho, matching):
    """Check: tiao S11.6

    Without noise and with ratios of one argument the terms are the losses of a CycleGAN, which are
    written out here, up to the constants of the densities.
    """
    weight = 3.0
    family, scale = (Laplace, 1 / weight) if rho == 1 else (Gaussian, (2 * weight) ** -0.5)
    ratio_loss = "least_squares" if matching == "least_squares" else "bce"
    objective = Objective("SJMVI", degenerate=True, ratio_loss=ratio_loss, matching=matching)
    model = Networks(
        family(DECODER, scale),
        family(ENCODER, scale),
        MarginalRatio(JUDGE_Z),
        MarginalRatio(JUDGE_X),
    )
    found = terms_of(model, objective, X, Z, KEY)
    verdicts = [float(np.mean(v)) for v in verdicts_of(model, objective, X, Z, KEY)]

    def image(map_, rows):
        return np.asarray(rows) @ np.asarray(map_.weight).T + np.asarray(map_.bias)

    x, z = np.asarray(X), np.asarray(Z)
    x_of_z, z_of_x = image(DECODER, z), image(ENCODER, x)
    cycle_x = weight * np.mean(np.sum(np.abs(x - image(DECODER, z_of_x)) ** rho, axis=1))
    cycle_z = weight * np.mean(np.sum(np.abs(z - image(ENCODER, x_of_z)) ** rho, axis=1))
    constant = np.log(2 / weight) if rho == 1 else 0.5 * np.log(np.pi / weight)

    def outputs(judge, drawn):
        """The players' loss, by the discriminator D of the thesis."""
        g = image(judge, drawn)[:, 0]
        d = 1 - g if matching == "least_squares" else 1 / (1 + np.exp(g))
        return {
            "A": lambda: np.mean(np.log(1 - d)),
            "B": lambda: np.mean(-np.log(d)),
            "C": lambda: np.mean(-np.log(d / (1 - d))),
            "least_squares": lambda: np.mean((1 - d) ** 2),
        }[matching]()

    def adversarial(judge, drawn, own):
        """The negative of (4.27), or the least squares of Mao et al."""
        g, h = image(judge, drawn)[:, 0], image(judge, own)[:, 0]
        if matching == "least_squares":
            return np.mean((1 - g) ** 2) + np.mean(((1 - h) - 1) ** 2)
        d, e = 1 / (1 + np.exp(g)), 1 / (1 + np.exp(h))
        return -np.mean(np.log(e)) - np.mean(np.log(1 - d))

    wanted = (
        cycle_x + D * constant,
        outputs(JUDGE_Z, z_of_x),
        cycle_z + K * constant,
        outputs(JUDGE_X, x_of_z),
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    both = adversarial(JUDGE_Z, z_of_x, z), adversarial(JUDGE_X, x_of_z, x)
    np.testing.assert_allclose(verdicts, both, rtol=1e-12)


def test_noise_makes_a_difference():
    """A negative control of the one above."""
    model, objective = networks("joint"), Objective("SJMVI")
    still = terms_of(model, dataclasses.replace(objective, degenerate=True), X, Z, KEY)
    noisy = terms_of(model, objective, X, Z, KEY)
    assert not np.any(np.isclose(still, noisy, rtol=1e-3))


@pytest.mark.parametrize("kind", RATIOS)
def test_players_leave_judges_alone(kind):
    """Check: tiao S11.9

    Judges get no gradient from the players' loss, players none from the judges'; each gets one from
    its own, and the players get it through the judges.
    """
    model, objective = networks(kind), Objective("SJMVI")

    def size(tree):
        return sum(float(jnp.sum(jnp.abs(leaf))) for leaf in jax.tree.leaves(tree))

    def played(model):
        return jnp.sum(jnp.stack(player_terms(model, objective, X, Z, KEY)))

    def matched(model):
        terms = player_terms(model, objective, X, Z, KEY)
        return terms.matched_latent + terms.matched_observed

    def judged(model):
        return jnp.sum(jnp.stack(ratio_losses(model, objective, X, Z, KEY)))

    players, judges, through = (
        eqx.filter_jit(eqx.filter_grad(loss))(model) for loss in (played, judged, matched)
    )
    assert size((players.latent_ratio, players.observed_ratio)) == 0.0
    assert size((judges.likelihood, judges.posterior)) == 0.0
    for part in (judges.latent_ratio, judges.observed_ratio, players.likelihood, players.posterior):
        assert size(part) > 0.0
    assert size(through.likelihood) > 0.0
    assert size(through.posterior) > 0.0
