"""Matheron's rule and every update, against closed forms and against one another."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from tests.programs import computed

import leadline as ll
from leadline.models import Titsias
from leadline.paths import (
    FourierFeatures,
    exact_update,
    gaussian_update,
    inducing_draws,
    iterative_update,
    matheron,
    prior_draws,
    pseudo_data_update,
    sparse_update,
    weight_space_update,
)
from leadline.paths._draws import condition_on
from leadline.paths._features._finite_set import FiniteSet

KEY = jax.random.key(0)
RNG = np.random.default_rng(0)
X = RNG.uniform(size=(12, 2))
Y = np.sin(6 * X[:, 0]) + X[:, 1]
XS = RNG.uniform(size=(9, 2))
KERNEL = 1.5 * ll.kernels.Matern52(jnp.array([0.4, 0.6]))
NOISE = 0.05
BOTH = np.concatenate([X, XS])
ALL = computed(KERNEL, BOTH, BOTH)
K, KS, KSS = ALL[:12, :12], ALL[12:, :12], ALL[12:, 12:]


def exact_features(points):
    """Features whose draws are exact at the given points."""
    return FiniteSet(KERNEL, points)


@pytest.fixture(scope="module")
def prior():
    """Draws from Fourier features, far fewer than would be accurate."""
    return prior_draws(KERNEL, KEY, 5, dim=2, features=64, mean=0.3, noise=NOISE)


def affine_covariance(update, features):
    """The covariance of updated draws at XS, by pushing unit weights through the affine update.

    Every standard normal number that the update uses is set to one in turn, the others to zero.
    """
    base, *units = update(np.eye(features.noises + 1, features.noises, k=-1))
    columns = np.stack(units) - base
    return columns.T @ columns


class TestMatheron:
    def test_bivariate(self):
        """Check: wilson S7.1."""
        rho, beta, n = 0.75, 1.3, 100_000
        z = np.random.default_rng(1).standard_normal((n, 2))
        a, b = z[:, :1], rho * z[:, :1] + np.sqrt(1 - rho**2) * z[:, 1:]
        drawn = np.asarray(matheron(a, b, np.array([[rho]]), np.eye(1), np.array([beta])))[:, 0]
        sd = np.sqrt(1 - rho**2)
        assert abs(drawn.mean() - rho * beta) < 4 * sd / np.sqrt(n)
        assert abs(drawn.var() - sd**2) < 4 * sd**2 * np.sqrt(2 / n)
        assert scipy.stats.kstest((drawn - rho * beta) / sd, "norm").pvalue > 1e-3

    def test_ten_dimensions(self):
        """Check: wilson S7.2. Moments by pushing the covariance through, and by sampling."""
        rng = np.random.default_rng(2)
        root = rng.standard_normal((10, 10)) / 3
        cov, mean = root @ root.T, rng.standard_normal(10)
        p, beta = 6, rng.standard_normal(4)
        ab, bb = cov[:p, p:], cov[p:, p:]
        want_mean = mean[:p] + ab @ np.linalg.solve(bb, beta - mean[p:])
        want_cov = cov[:p, :p] - ab @ np.linalg.solve(bb, ab.T)
        # The rule is affine in (a, b): the images of the unit vectors give its matrix.
        units = np.eye(10)
        moved = matheron(units[:, :p], units[:, p:], ab, bb, np.zeros(4))
        np.testing.assert_allclose(
            np.asarray(moved).T @ cov @ np.asarray(moved), want_cov, atol=1e-10
        )
        draws = mean + rng.standard_normal((1_000_000, 10)) @ root.T
        given = np.asarray(matheron(draws[:, :p], draws[:, p:], ab, bb, beta))
        assert np.abs(given.mean(0) - want_mean).max() < 0.02
        assert np.abs(np.cov(given.T) - want_cov).max() < 0.02

    def test_not_centered_and_singular(self):
        """Check: wilson S7.3. A repeated observation is a singular direction; 4 standard errors."""
        rng = np.random.default_rng(3)
        cov = np.array([[1.0, 0.6, 0.6], [0.6, 1.0, 1.0], [0.6, 1.0, 1.0]])
        mean = np.array([2.0, -1.0, -1.0])
        b = mean[1] + rng.standard_normal(200_000)
        a = mean[0] + 0.6 * (b - mean[1]) + 0.8 * rng.standard_normal(b.size)
        beta = np.array([0.5, 0.5])
        bs = np.stack([b, b], 1)
        given = np.asarray(matheron(a[:, None], bs, cov[:1, 1:], cov[1:, 1:], beta))[:, 0]
        assert abs(given.mean() - (2.0 + 0.6 * 1.5)) < 4 * 0.8 / np.sqrt(b.size)
        assert abs(given.var() - 0.8**2) < 4 * 0.8**2 * np.sqrt(2 / b.size)
        # What is left of a draw knows nothing of the b that it came with.
        assert abs(np.corrcoef(given, b)[0, 1]) < 4 / np.sqrt(b.size)

    def test_residual_is_independent(self):
        """Check: wilson S7.5. Draws moved to b = 0, by pushing the covariance through."""
        kbb = K + NOISE * np.eye(12)
        joint = np.block([[KSS, KS], [KS.T, kbb]])
        units = np.eye(21)
        residual = np.asarray(matheron(units[:, :9], units[:, 9:], KS, kbb, np.zeros(12))).T
        assert np.abs((residual @ joint)[:, 9:]).max() < 1e-12
        # Moved the other way, and not moved at all.
        for wrong in (2.0 * units[:9] - residual, units[:9]):
            assert np.abs((wrong @ joint)[:, 9:]).max() > 0.1


class TestExact:
    def test_interpolates(self, prior):
        """Check: wilson S7.4."""
        found = exact_update(prior, X, Y)(X)
        np.testing.assert_allclose(found, np.broadcast_to(Y, (5, 12)), atol=1e-8)

    def test_targets_move_draws_by_the_kernel(self, prior):
        """Check: wilson S7.6."""
        other = Y + np.cos(np.arange(12.0))
        before, after = (np.asarray(exact_update(prior, X, y)(XS)) for y in (Y, other))
        moved = after - before
        want = KS @ np.linalg.solve(K, other - Y)
        np.testing.assert_allclose(moved, np.broadcast_to(want, moved.shape), atol=1e-10)

    def test_mean_shift(self, prior):
        """Check: wilson S7.7."""
        shifted = eqx.tree_at(lambda p: p.mean, prior, ll.means.Constant(0.3 + 5.0))
        before, after = exact_update(prior, X, Y)(XS), exact_update(shifted, X, Y + 5.0)(XS)
        moved = np.asarray(after) - np.asarray(before)
        np.testing.assert_allclose(moved, 5.0, atol=1e-10)

    def test_draws_after_data_are_refused(self, prior):
        with pytest.raises(ll.InvalidData, match=r"draws\.update"):
            exact_update(exact_update(prior, X, Y), X, Y)

    def test_coinciding_and_missing_points(self, prior):
        twice = np.concatenate([X, X])
        with pytest.raises(ll.InvalidData, match="finite"):
            exact_update(prior, np.full((3, 2), np.nan), np.zeros(3))
        assert np.isfinite(np.asarray(exact_update(prior, twice, np.tile(Y, 2))(XS))).all()


class TestGaussian:
    def test_no_noise_is_exact(self, prior):
        """Check: wilson S9.1. The limit of small noise."""
        limit = gaussian_update(prior, X, Y, 1e-12, key=KEY)(XS)
        np.testing.assert_allclose(limit, exact_update(prior, X, Y)(XS), atol=1e-5)

    def test_covariance(self):
        """Check: wilson S9.1, S9.2. Exact with an exact prior; without the noise draw too small."""
        points = np.concatenate([X, XS])
        features = exact_features(points)
        draws = prior_draws(KERNEL, KEY, features.noises, features=features)
        solve = np.linalg.inv(K + NOISE * np.eye(12))
        xi = KS @ solve
        want = KSS - xi @ KS.T

        @jax.jit
        def without_noise(z):
            with_weights = eqx.tree_at(lambda p: p.weights, draws, features.correlate(z))
            # No variance in the noise draw, all of it in the matrix: the mistake.
            rows = jnp.ones(12)
            grown = eqx.tree_at(
                lambda p: (p.centers, p.coefficients, p.mask, p.information.matrix),
                with_weights,
                (X, jnp.zeros((z.shape[0], 12)), jnp.zeros(12), jnp.zeros((12, 12))),
            )
            found, _ = condition_on(
                grown, X, jnp.zeros((z.shape[0], 12)), NOISE * rows, rows, jnp.asarray(0)
            )
            return found.values(XS)

        lacking = affine_covariance(lambda z: np.asarray(without_noise(z)), features)
        deficit = NOISE * xi @ xi.T
        np.testing.assert_allclose(lacking + deficit, want, atol=1e-8)
        assert np.abs(lacking - want).max() > 1e-3

    def test_moments_by_sampling(self):
        """The public update draws its noise: mean and covariance within 4 standard errors."""
        n, features = 40_000, exact_features(np.concatenate([X, XS]))
        draws = prior_draws(KERNEL, KEY, n, features=features)
        found = np.asarray(gaussian_update(draws, X, Y, NOISE, key=jax.random.key(7))(XS))
        solve = np.linalg.inv(K + NOISE * np.eye(12))
        mean, cov = KS @ solve @ Y, KSS - KS @ solve @ KS.T
        sd = np.sqrt(np.diag(cov))
        assert np.all(np.abs(found.mean(0) - mean) < 4 * sd / np.sqrt(n))
        errors = np.sqrt((cov**2 + np.outer(sd**2, sd**2)) / n)
        assert np.all(np.abs(np.cov(found.T) - cov) < 4.5 * errors)

    def test_variance_of_each_row(self, prior):
        """A row with a huge variance says nothing."""
        variances = np.full(12, NOISE)
        variances[-1] = 1e12
        whole = gaussian_update(prior, X, Y, variances, key=KEY)
        assert np.abs(np.asarray(whole.coefficients)[:, -1]).max() < 1e-4


class TestPseudoData:
    def test_path_by_path(self, prior):
        """Check: wilson S9.3. Equations 3.31 and 3.33 together are 3.34, draw by draw."""
        variances = np.linspace(0.02, 0.4, 12)
        direct = pseudo_data_update(prior, X, Y, variances, key=KEY)
        f = np.asarray(prior(X))
        eps = np.sqrt(variances) * np.asarray(jax.random.normal(KEY, (5, 12)))
        u = f + (Y - f - eps) @ np.linalg.solve(K + np.diag(variances), K)
        np.testing.assert_allclose(sparse_update(prior, X, u)(XS), direct(XS), atol=1e-10)

    def test_covariance_of_the_values(self):
        """Check: wilson S9.3. Cov(u) within 4.5 standard errors, and not as printed."""
        n, variances = 40_000, np.linspace(0.2, 0.8, 12)
        draws = prior_draws(KERNEL, KEY, n, features=exact_features(X))
        u = np.asarray(pseudo_data_update(draws, X, Y, variances, key=jax.random.key(3))(X))
        want = K - K @ np.linalg.solve(K + np.diag(variances), K)
        np.testing.assert_allclose(
            want, np.linalg.inv(np.linalg.inv(K) + np.diag(1 / variances)), atol=1e-8
        )
        sd2 = np.diag(want)
        errors = np.sqrt((want**2 + np.outer(sd2, sd2)) / n)
        found = np.cov(u.T)
        assert np.all(np.abs(found - want) < 4.5 * errors)
        printed = np.linalg.inv(np.linalg.inv(K) + np.diag(variances))
        assert np.any(np.abs(found - printed) > 20 * errors)

    def test_data_as_pseudo_data(self, prior):
        """Check: wilson S9.5."""
        pseudo = pseudo_data_update(prior, X, Y, np.full(12, NOISE), key=KEY)
        np.testing.assert_allclose(pseudo(XS), gaussian_update(prior, X, Y, NOISE, key=KEY)(XS))


class TestSparse:
    def test_inducing_points_at_the_data(self):
        """Check: wilson S9.4. Titsias's q(u) with Z = X gives the exact posterior's moments."""
        gp = Titsias(KERNEL, X, mean=0.3, noise=NOISE).condition(X, Y)
        xi = KS @ np.linalg.inv(K)
        mean = 0.3 + xi @ (np.asarray(gp.q_mean) - 0.3)
        cov = KSS - xi @ KS.T + xi @ np.asarray(gp.q_cov) @ xi.T
        exact = ll.GP(KERNEL, mean=0.3, noise=NOISE).condition(X, Y).joint(XS)
        np.testing.assert_allclose(mean, exact.mean, atol=1e-6)
        np.testing.assert_allclose(cov, exact.cov, atol=1e-6)

    def test_takes_the_values(self, prior):
        u = np.random.default_rng(4).standard_normal((5, 12))
        np.testing.assert_allclose(sparse_update(prior, X, u)(X), u, atol=1e-8)
        with pytest.raises(ll.InvalidData, match=r"\(5, 12\)"):
            sparse_update(prior, X, u[:3])

    def test_draws_of_a_belief(self):
        mean, cov = np.arange(3.0), np.diag([1.0, 4.0, 0.25])
        u = np.asarray(inducing_draws(mean, cov, KEY, 20_000))
        assert np.all(np.abs(u.mean(0) - mean) < 4 * np.sqrt(np.diag(cov) / 20_000))

    def test_augmented_law_is_the_same(self):
        """Check: wilson S9.8. With an exact prior more centers change nothing in law.

        First in closed form, then by the values that the update draws at all centers.
        """
        points, extra = X[:5], X[5:9]
        k_uu, k_su = K[:5, :5], KS[:, :5]
        xi = k_su @ np.linalg.inv(k_uu)
        q_cov = 0.3 * k_uu
        want = KSS - xi @ k_su.T + xi @ q_cov @ xi.T
        both = np.concatenate([points, extra])
        k_bb, k_sb = K[:9, :9], KS[:, :9]
        gain = k_sb @ np.linalg.inv(k_bb)
        # Cov(u, f_A) with u ~ q and f_A given u.
        a = K[5:9, :5] @ np.linalg.inv(k_uu)
        cov_a = K[5:9, 5:9] - a @ K[:5, 5:9] + a @ q_cov @ a.T
        joint = np.block([[q_cov, q_cov @ a.T], [a @ q_cov, cov_a]])
        np.testing.assert_allclose(KSS - gain @ k_sb.T + gain @ joint @ gain.T, want, atol=1e-6)
        # And the update draws exactly that joint: values at the extra centers, by sampling.
        n = 40_000
        draws = prior_draws(KERNEL, KEY, n, features=exact_features(both))
        u = inducing_draws(np.zeros(5), q_cov, jax.random.key(5), n)
        found = np.cov(np.asarray(sparse_update(draws, points, u, extra=extra)(both)).T)
        sd2 = np.diag(joint)
        assert np.all(np.abs(found - joint) < 4.5 * np.sqrt((joint**2 + np.outer(sd2, sd2)) / n))

    @pytest.mark.parametrize("n", [16, 64])
    def test_augmented_corrects_the_prior(self, n):
        """Check: wilson S9.8. More centers bring the covariance of approximate draws nearer."""
        rng = np.random.default_rng(n)
        kernel = ll.kernels.Matern52(jnp.full(4, 0.5))
        z, extra, xs = (rng.uniform(size=(k, 4)) for k in (n // 4, 64, 80))
        features = FourierFeatures(kernel, 256, 4, key=KEY, points="random")

        def error(centers):
            k_cc, k_sc = computed(kernel, centers, centers), computed(kernel, xs, centers)
            gain = np.linalg.solve(k_cc, k_sc.T).T
            phi = computed(features, xs) - gain @ computed(features, centers)
            exact = computed(kernel, xs, xs) - gain @ k_sc.T
            return np.linalg.norm(phi @ phi.T - exact)

        assert error(np.concatenate([z, extra])) < 0.9 * error(z)


class TestIterative:
    X = np.random.default_rng(5).uniform(size=(500, 2))
    Y = np.sin(5 * X[:, 0]) * np.cos(4 * X[:, 1])
    KERNEL = ll.kernels.SquaredExponential(0.3)

    def draws(self):
        return prior_draws(self.KERNEL, KEY, 4, dim=2, features=128)

    def test_matches_the_factorization(self):
        """Check: wilson S9.6. Coefficients of both variants, and the preconditioner's worth."""
        prior = self.draws()
        direct = np.asarray(gaussian_update(prior, self.X, self.Y, 1e-3, key=KEY).coefficients)
        settings = {"key": KEY, "tol": 1e-8, "max_iter": 3000}
        found, info = iterative_update(prior, self.X, self.Y, 1e-3, **settings)
        scale = np.abs(direct).max()
        assert np.all(info.converged)
        assert np.abs(np.asarray(found.coefficients) - direct).max() < 1e-5 * scale
        cached, _ = iterative_update(prior, self.X, self.Y, 1e-3, **settings, solve="inverse")
        assert np.abs(np.asarray(cached.coefficients) - direct).max() < 1e-5 * scale
        _, plain = iterative_update(prior, self.X, self.Y, 1e-3, **settings, rank=0)
        assert int(info.iterations) < int(plain.iterations)

    def test_cannot_be_updated(self):
        found, _ = iterative_update(self.draws(), self.X, self.Y, 1e-3, key=KEY)
        with pytest.raises(ll.Unsupported, match="cannot be updated"):
            found.update(X, Y)

    def test_unknown_variant(self):
        with pytest.raises(ll.InvalidData, match="Did you mean 'inverse'"):
            iterative_update(self.draws(), self.X, self.Y, 1e-3, key=KEY, solve="inverses")


class TestWeightSpace:
    def test_is_linear_regression(self):
        """Check: wilson S9.9. The covariance and the mean of the weights, to 1e-8."""
        features = FourierFeatures(KERNEL, 16, 2, key=KEY)
        phi = computed(features, X)
        precision = phi.T @ phi / NOISE + np.eye(16)
        want_mean = np.linalg.solve(precision, phi.T @ Y / NOISE)
        want_cov = np.linalg.inv(precision)
        # Wilson writes the covariance as noise (phi^T phi + noise I)^-1.
        np.testing.assert_allclose(
            want_cov, NOISE * np.linalg.inv(phi.T @ phi + NOISE * np.eye(16)), atol=1e-10
        )
        base = prior_draws(KERNEL, KEY, 17, features=features)
        units = eqx.tree_at(lambda p: p.weights, base, jnp.asarray(np.eye(17, 16, k=-1)))
        moved = np.asarray(weight_space_update(units, X, Y, NOISE, key=KEY).weights)
        eps = np.sqrt(NOISE) * np.asarray(jax.random.normal(KEY, (17, 12)))
        gain = phi.T @ np.linalg.inv(phi @ phi.T + NOISE * np.eye(12))
        # Undo each draw's own noise: what is left is affine in the weights.
        moved = moved + eps @ gain.T
        np.testing.assert_allclose(moved[0], want_mean, atol=1e-8)
        change = (moved[1:] - moved[0]).T
        np.testing.assert_allclose(change @ change.T + NOISE * gain @ gain.T, want_cov, atol=1e-8)


class TestOnline:
    def test_one_by_one_is_all_at_once(self):
        """Check: wilson S9.7. The same noise, row by row or together, gives the same draws."""
        prior = prior_draws(KERNEL, KEY, 6, dim=2, features=64, noise=NOISE)
        eps = np.sqrt(NOISE) * np.random.default_rng(8).standard_normal((6, 12))
        variance = np.full(12, NOISE)

        def room(draws):
            return eqx.tree_at(
                lambda p: (p.centers, p.coefficients, p.mask, p.information.matrix),
                draws,
                (np.zeros((12, 2)), np.zeros((6, 12)), np.zeros(12), np.zeros((12, 12))),
            )

        step = jax.jit(condition_on)
        batch, _ = step(room(prior), X, Y - eps, variance, np.ones(12), np.asarray(0))
        one = room(prior)
        for i in range(12):
            row = slice(i, i + 1)
            one, _ = step(
                one, X[row], Y[row] - eps[:, row], variance[row], np.ones(1), np.asarray(i)
            )
        np.testing.assert_allclose(computed(one.values, XS), computed(batch.values, XS), atol=1e-10)
        direct = np.linalg.solve(K + NOISE * np.eye(12), (Y - eps - np.asarray(prior(X))).T).T
        np.testing.assert_allclose(batch.coefficients, direct, atol=1e-10)
