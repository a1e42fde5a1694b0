"""Function draws as users have them: values, gradients, pieces, extrema, more data."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.programs import computed

import leadline as ll
from leadline.models import Titsias, mixture
from leadline.paths import FourierFeatures, prior_draws, stack_outputs
from leadline.paths import _paths as paths_module

KEY = jax.random.key(0)
RNG = np.random.default_rng(0)
X = RNG.uniform(size=(20, 2))
Y = np.sin(6 * X[:, 0]) + X[:, 1]
XS = RNG.uniform(size=(32, 2))
GP = ll.GP(ll.kernels.Matern52(jnp.array([0.4, 0.6])), mean=0.5, noise=1e-2)
BOX = [(0.0, 1.0), (0.0, 1.0)]


@pytest.fixture(scope="module")
def post():
    return GP.condition(X, Y)


@pytest.fixture(scope="module")
def draws(post):
    return post.paths(KEY, 16, features=128)


def within_errors(values, mean, cov):
    """Samples have this mean and covariance, within 5 standard errors in every entry."""
    n, var = values.shape[0], np.diag(cov)
    assert np.all(np.abs(values.mean(0) - mean) < 5 * np.sqrt(var / n))
    errors = np.sqrt((cov**2 + np.outer(var, var)) / n)
    assert np.all(np.abs(np.cov(values.T) - cov) < 5 * errors)


def moments(law):
    """The mean and the covariance of a joint law."""
    return np.asarray(law.mean), np.asarray(law.cov)


def given_features(features, kernel, x, y, noise, xs, mean=0.5):
    """The law of draws given their features, in closed form (Wilson 2023, section 3.5).

    The mean is that of the posterior; the covariance has the features' prior in it.
    """
    solve = np.linalg.inv(computed(kernel, x, x) + np.diag(np.broadcast_to(noise, len(x))))
    gain = computed(kernel, xs, x) @ solve
    both = np.concatenate([xs, x])
    prior = computed(features.covariance, both, both)
    change = np.concatenate([np.eye(len(xs)), -gain], axis=1)
    cov = change @ prior @ change.T + gain * noise @ gain.T
    return mean + gain @ (y - mean), cov


def titsias_given_features(post, features, xs):
    """The same for draws through inducing values u with their belief q(u)."""
    z, kernel = np.asarray(post.inducing_points), post.gp.kernel
    gain = computed(kernel, xs, z) @ np.linalg.inv(computed(kernel, z, z))
    both = np.concatenate([xs, z])
    prior = computed(features.covariance, both, both)
    change = np.concatenate([np.eye(len(xs)), -gain], axis=1)
    cov = change @ prior @ change.T + gain @ np.asarray(post.q_cov) @ gain.T
    return 0.5 + gain @ (np.asarray(post.q_mean) - 0.5), cov


def values_at(draws, x):
    """Of all draws at one point."""
    return draws(x[None])[:, 0]


def jacobian_at(draws, x):
    return jax.jacrev(lambda x: values_at(draws, x))(x)


@jax.jit
def member_of(members, i):
    return jax.tree.map(lambda a: a[i], members)


class TestExactPosterior:
    def test_user_call(self, post):
        paths = post.paths(KEY, 7)
        assert paths.n == len(paths) == 7
        assert paths(XS).shape == (7, 32)
        assert repr(paths) == "FunctionDraws(7 draws, 1024 FourierFeatures, 20 centers)"

    @pytest.mark.parametrize("known", [False, True])
    def test_moments(self, known):
        """Draws have the law of their features, and that is near the posterior's.

        Also where one row has a large known variance.
        """
        var = np.zeros(20)
        var[3] = 25.0 * known
        post = GP.condition(X, Y, var)
        paths = post.paths(KEY, 2000, features=256)
        mean, cov = given_features(paths.features, GP.kernel, X, Y, 1e-2 + var, XS)
        within_errors(np.asarray(paths(XS)), mean, cov)
        exact_mean, exact_cov = moments(post.joint(XS))
        np.testing.assert_allclose(mean, exact_mean, atol=1e-10)
        assert np.abs(cov - exact_cov).max() < 0.1

    def test_is_a_function(self, draws):
        """Check: wilson S8.10. The same value again, in other company, and in a trace."""
        first = np.asarray(draws(XS))
        np.testing.assert_array_equal(first, draws(XS))
        np.testing.assert_allclose(first[:, 3:5], draws(XS[3:5]), atol=1e-12)
        np.testing.assert_allclose(first, jax.jit(lambda p, x: p(x))(draws, XS), atol=1e-12)

    def test_key_decides(self, post):
        same = np.asarray(post.paths(KEY, 3, features=64)(XS))
        np.testing.assert_array_equal(same, post.paths(KEY, 3, features=64)(XS))
        other = np.asarray(post.paths(jax.random.key(1), 3, features=64)(XS))
        assert np.abs(same - other).min() > 0

    def test_some_of_the_draws(self, draws):
        all_values = np.asarray(draws(XS))
        np.testing.assert_allclose(draws[2:5](XS), all_values[2:5], atol=1e-12)
        np.testing.assert_allclose(np.asarray(draws[4](XS))[0], all_values[4], atol=1e-12)

    def test_inside_a_trace(self, post):
        """Draws can be made in a trace, also of posteriors that are conditioned there."""

        @jax.jit
        def drawn(key, y):
            return GP.condition(X, y).paths(key, 16, features=128)(XS)

        mean, cov = moments(post.joint(XS))
        found = np.asarray(drawn(KEY, Y))
        assert np.all(np.abs(found.mean(0) - mean) < 6 * np.sqrt(np.diag(cov) / 16))


class TestPaired:
    def test_diagonal_of_shared(self, draws):
        """Check: wilson S10.8."""
        own = np.random.default_rng(1).uniform(size=(16, 5, 2))
        found = np.asarray(draws.paired(own))
        for i in (0, 7, 15):
            np.testing.assert_allclose(found[i], np.asarray(draws(own[i]))[i], atol=1e-12)

    def test_bad_shapes(self, draws):
        with pytest.raises(ll.InvalidData, match=r"\(16, m, 2\)"):
            draws.paired(np.zeros((3, 5, 2)))
        with pytest.raises(ll.InvalidData, match="2 columns"):
            draws(np.zeros((3, 5)))
        with pytest.raises(ll.InvalidData, match="finite"):
            draws.paired(np.full((16, 1, 2), np.nan))


class TestGradients:
    @pytest.mark.parametrize("at", ["anywhere", "a training point"])
    def test_in_the_input(self, draws, at):
        """Check: wilson S10.9, tiao S15.7. Against central differences."""
        x = XS[0] if at == "anywhere" else X[4]
        jacobian = computed(jacobian_at, draws, x)
        h = 1e-5
        for j, e in enumerate(h * np.eye(2)):
            up, down = (computed(values_at, draws, moved) for moved in (x + e, x - e))
            np.testing.assert_allclose(jacobian[:, j], (up - down) / (2 * h), rtol=1e-5, atol=1e-5)

    def test_in_the_length_scale(self):
        """Check: wilson S10.9. Draws of one key are smooth in the hyper-parameters."""

        @jax.jit
        def value(log_scale):
            kernel = ll.kernels.Matern52(jnp.exp(log_scale) * jnp.ones(2))
            return ll.GP(kernel, noise=1e-2).condition(X, Y).paths(KEY, 2, features=64)(XS[:3])

        slope = np.asarray(jax.jacfwd(value)(-0.5))
        assert np.all(np.isfinite(slope))
        up, down = (np.asarray(value(-0.5 + step)) for step in (1e-5, -1e-5))
        np.testing.assert_allclose(slope, (up - down) / 2e-5, rtol=1e-4, atol=1e-5)


class TestPieces:
    def test_long_queries(self, draws, monkeypatch):
        """A query longer than a piece, and one that does not fill its last piece."""
        long = np.random.default_rng(2).uniform(size=(5000, 2))
        found = np.asarray(draws(long))
        assert found.shape == (16, 5000)
        np.testing.assert_allclose(found[:, 4990:], draws(long[4990:]), atol=1e-12)

    def test_pieces_in_a_trace(self, draws, monkeypatch):
        monkeypatch.setattr(paths_module, "_NUMBERS", 2000)
        x = np.random.default_rng(3).uniform(size=(1001, 2))
        own = np.random.default_rng(4).uniform(size=(16, 33, 2))
        monkeypatch.setattr(paths_module, "_NUMBERS", 1000)
        pieces = jax.jit(lambda p, x: p(x))(draws, x)
        paired = jax.jit(lambda p, x: p.paired(x))(draws, own)
        monkeypatch.undo()
        np.testing.assert_allclose(pieces, draws(x), atol=1e-12)
        np.testing.assert_allclose(paired, draws.paired(own), atol=1e-12)

    def test_no_rows(self, draws):
        assert draws(np.zeros((0, 2))).shape == (16, 0)

    def test_a_growing_query_compiles_once(self, draws):
        draws(XS)
        with jax.log_compiles(False):
            before = paths_module._values_jit._cached._cache_size()
            for m in range(1, 32):
                draws(XS[:m])
            assert paths_module._values_jit._cached._cache_size() == before


class TestUpdate:
    NEW = np.random.default_rng(5).uniform(size=(4, 2))
    VALUES = np.cos(3 * NEW[:, 0])

    @pytest.mark.parametrize("one_by_one", [False, True])
    def test_law(self, post, one_by_one):
        """Draws updated row by row or at once have the law of draws that saw all rows."""
        draws = post.paths(KEY, 2000, features=256)
        if one_by_one:
            for x, y in zip(self.NEW, self.VALUES, strict=True):
                draws = draws.update(x[None], y[None])
        else:
            draws = draws.update(self.NEW, self.VALUES)
        x, y = np.concatenate([X, self.NEW]), np.concatenate([Y, self.VALUES])
        mean, cov = given_features(draws.features, GP.kernel, x, y, 1e-2, XS)
        within_errors(np.asarray(draws(XS)), mean, cov)
        joint = post.update(self.NEW, self.VALUES).joint(XS)
        np.testing.assert_allclose(mean, joint.mean, atol=1e-8)

    def test_law_of_titsias(self):
        """The belief through inducing points, conditioned on new rows."""
        post = Titsias(GP.kernel, X[:8], mean=0.5, noise=1e-2).condition(X, Y)
        draws = post.paths(KEY, 2000, features=256)
        new = draws.update(self.NEW, self.VALUES)
        # Given the features, values at XS and at the new rows have this joint law.
        everywhere = np.concatenate([XS, self.NEW])
        mean, cov = titsias_given_features(post, draws.features, everywhere)
        _, exact = moments(post.joint(everywhere))
        gain = exact[:32, 32:] @ np.linalg.inv(exact[32:, 32:] + 1e-2 * np.eye(4))
        change = np.concatenate([np.eye(32), -gain], axis=1)
        want = change @ cov @ change.T + 1e-2 * gain @ gain.T
        within_errors(np.asarray(new(XS)), mean[:32] + gain @ (self.VALUES - mean[32:]), want)

    def test_prior_draws_take_data(self):
        """Draws before data, then data: the law of draws from a posterior."""
        prior = prior_draws(GP.kernel, KEY, 2000, dim=2, features=256, mean=0.5, noise=1e-2)
        mean, cov = given_features(prior.features, GP.kernel, X, Y, 1e-2, XS)
        within_errors(np.asarray(prior.update(X, Y)(XS)), mean, cov)

    def test_keeps_draws_apart(self, draws):
        """Without noise every draw passes through the new value, and still differs elsewhere."""
        exact = ll.GP(GP.kernel, noise=0.0).condition(X[:5], Y[:5]).paths(KEY, 4, features=64)
        updated = exact.update(self.NEW[:1], [7.0])
        np.testing.assert_allclose(np.asarray(updated(self.NEW[:1]))[:, 0], 7.0, atol=1e-6)
        assert np.std(np.asarray(updated(XS)), axis=0).max() > 0.1

    def test_in_a_trace(self, draws):
        """The same draws as outside, but for the noise: both are near the new values."""
        updated = jax.jit(lambda p, x, y: p.update(x, y))(draws, self.NEW, self.VALUES)
        want = GP.condition(X, Y).update(self.NEW, self.VALUES).predict(self.NEW)
        found, std = np.asarray(updated(self.NEW)), np.asarray(want.std)
        assert np.all(np.abs(found.mean(0) - np.asarray(want.mean)) < 6 * std / np.sqrt(16))

    def test_bad_data(self, draws):
        with pytest.raises(ll.InvalidData, match="2 columns"):
            draws.update(np.zeros((1, 3)), [0.0])
        with pytest.raises(ll.InvalidData, match="1 values"):
            draws.update(self.NEW, [0.0])


class TestExtrema:
    def test_lowest_of_a_grid(self, draws):
        """No grid point is lower than the minimum that was found, and none higher."""
        axis = np.linspace(0, 1, 81)
        grid = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
        values = np.asarray(draws(grid))
        low, high = np.asarray(draws.argmin(BOX)), np.asarray(draws.argmax(BOX))
        assert low.shape == high.shape == (16, 2)
        assert np.all((low >= 0) & (low <= 1) & (high >= 0) & (high <= 1))
        at = lambda x: np.asarray(draws.paired(x[:, None, :]))[:, 0]  # noqa: E731
        assert np.all(at(low) <= values.min(1) + 1e-6)
        assert np.all(at(high) >= values.max(1) - 1e-6)
        np.testing.assert_array_equal(low, draws.argmin(BOX))

    def test_minimum_is_stationary_or_at_the_edge(self, draws):
        low = np.asarray(draws.argmin([(0.2, 0.8), (0.3, 0.9)]))
        slope = np.stack([computed(jacobian_at, draws, x)[i] for i, x in enumerate(low)])
        edge_low, edge_high = np.array([0.2, 0.3]), np.array([0.8, 0.9])
        fine = np.abs(slope) < 1e-2
        fine |= (np.abs(low - edge_low) < 1e-9) & (slope > 0)
        fine |= (np.abs(low - edge_high) < 1e-9) & (slope < 0)
        assert fine.all()

    @pytest.mark.parametrize(
        ("bounds", "message"),
        [
            ([(0, 1)], "2 .* pairs, got 1"),
            ([(0, 1), (1, 0)], r"\(1, 0\) for input column 1"),
            ([0, 1], "pair for each input column"),
            ([(0, 1), (0, np.inf)], "finite"),
        ],
    )
    def test_bad_bounds(self, draws, bounds, message):
        with pytest.raises(ll.InvalidData, match=message):
            draws.argmin(bounds)

    def test_starts(self, draws):
        with pytest.raises(ll.InvalidData, match="at least 1"):
            draws.argmin(BOX, starts=0)


class TestKinds:
    def test_titsias(self):
        """Check: tiao S15.8, wilson S9.4. Moments of sparse draws, given their features."""
        post = Titsias(GP.kernel, X[:8], mean=0.5, noise=1e-2).condition(X, Y)
        draws = post.paths(KEY, 2000, features=256)
        mean, cov = titsias_given_features(post, draws.features, XS)
        within_errors(np.asarray(draws(XS)), mean, cov)
        np.testing.assert_allclose(mean, post.joint(XS).mean, atol=1e-8)

    def test_mixture(self, post):
        other = ll.GP(ll.kernels.Matern52(jnp.array([1.0, 0.3])), mean=0.5, noise=1e-2)
        mixed = mixture([post, other.condition(X, Y)], [0.25, 0.75])
        paths = mixed.paths(KEY, 2000, features=256)
        assert np.bincount(paths.member).tolist() == [500, 1500]
        found = np.asarray(paths(XS))
        for i, gp in enumerate((GP, other)):
            features = member_of(paths.members, i).features
            mean, cov = given_features(features, gp.kernel, X, Y, 1e-2, XS)
            within_errors(found[paths.member == i], mean, cov)
        own = np.random.default_rng(6).uniform(size=(2000, 2, 2))
        paired = np.asarray(paths.paired(own))
        np.testing.assert_allclose(paired[17], np.asarray(paths(own[17]))[17], atol=1e-10)
        few = mixed.paths(KEY, 4, features=128)
        assert few.argmin(BOX).shape == (4, 2)
        assert repr(few) == "MixtureDraws(4 draws of 2 members)"
        updated = np.asarray(few.update(XS[:1], [3.0])(XS))
        for i, (member, slot) in enumerate(zip(few.member, few.slot, strict=True)):
            alone = member_of(few.members, member)
            found = np.asarray(alone.update(XS[:1], [3.0])(XS))
            np.testing.assert_allclose(updated[i], found[slot], atol=1e-10)

    def test_mixture_in_a_trace(self, post):
        mixed = mixture([post, post], [0.5, 0.5])
        found = jax.jit(lambda m, k: m.paths(k, 8, features=64)(XS))(mixed, KEY)
        assert found.shape == (8, 32)
        assert np.all(np.isfinite(found))

    def test_stacked_outputs(self, draws, post):
        other = post.paths(jax.random.key(2), 16, features=64)
        both = stack_outputs([draws, other])
        np.testing.assert_allclose(np.asarray(both(XS))[..., 1], other(XS), atol=1e-12)
        own = np.random.default_rng(7).uniform(size=(16, 3, 2))
        paired = np.asarray(both.paired(own))
        np.testing.assert_allclose(paired[..., 0], draws.paired(own), atol=1e-12)
        with pytest.raises(ll.Unsupported, match="ability of ScalarPaths"):
            both.argmin(BOX)
        with pytest.raises(ll.InvalidData, match="same number of draws"):
            stack_outputs([draws, draws[:3]])
        with pytest.raises(ll.InvalidData, match="at least one"):
            stack_outputs([])

    def test_several_outputs(self):
        gp = ll.MultiGP(
            [ll.kernels.Matern52(0.5), ll.kernels.SquaredExponential(0.3)], outputs=2, noise=1e-2
        )
        y = np.stack([Y, np.cos(4 * X[:, 0])], 1)
        mask = np.ones((20, 2), bool)
        mask[::3, 1] = False
        post = gp.condition(X, y, mask)
        paths = post.paths(KEY, 2000, features=256)
        values = np.asarray(paths(XS))
        assert values.shape == (2000, 32, 2)
        rows = post.stacked.rows
        x, y = (np.asarray(a)[np.asarray(rows.mask) > 0] for a in (rows.x, rows.y))
        queries = np.concatenate(
            [np.repeat(XS, 2, axis=0), np.tile([0.0, 1.0], 32)[:, None]], axis=1
        )
        kernel = post.stacked.gp.kernel
        mean, cov = given_features(paths.stacked.features, kernel, x, y, 1e-2, queries, 0.0)
        within_errors(values.reshape(2000, -1), mean, cov)
        exact_mean, exact_cov = moments(post.joint(XS))
        np.testing.assert_allclose(mean, exact_mean, atol=1e-8)
        assert np.abs(cov - exact_cov).max() < 0.1
        own = np.random.default_rng(8).uniform(size=(2000, 2, 2))
        paired, found = np.asarray(paths.paired(own)), np.asarray(paths(own[5]))
        np.testing.assert_allclose(paired[5], found[5], atol=1e-10)
        new, seen = [[1.0, 2.0], [3.0, np.nan]], [[True, True], [True, False]]
        near = np.asarray(paths.update(XS[:2], new, seen)(XS[:2]))
        want = np.asarray(post.update(XS[:2], new, seen).predict(XS[:2]).mean)
        # The mean of draws does not depend on their features.
        assert np.all(np.abs(near.mean(0) - want) < 6 * near.std(0) / np.sqrt(2000))

    def test_no_paths(self):
        """A posterior without draws says who has them."""
        from leadline.models import LaplaceClassifier

        post = LaplaceClassifier(GP.kernel).condition(X, Y > 0.5)
        who = "ExactPosterior, MixturePosterior, MultiPosterior, PartPosterior, TitsiasPosterior"
        with pytest.raises(ll.Unsupported, match=who):
            post.paths(KEY, 3)


class TestPriorFeatures:
    def test_sum_with_linear(self):
        kernel = (
            ll.kernels.Matern52(0.3)
            + 2.0 * ll.kernels.Linear(1.5)
            + ll.kernels.SquaredExponential(0.2).on([1])
            + ll.kernels.Linear(0.7).on([0])
        )
        prior = prior_draws(kernel, KEY, 2, dim=2, features=8192)
        found = computed(prior.features.covariance, XS, XS)
        np.testing.assert_allclose(found, computed(kernel, XS, XS), atol=0.06)
        own = np.random.default_rng(9).uniform(size=(2, 3, 2))
        paired, found = np.asarray(prior.paired(own)), np.asarray(prior(own[1]))
        np.testing.assert_allclose(paired[1], found[1], atol=1e-12)
        np.testing.assert_allclose(
            computed(prior.features.values, XS, prior.weights),
            np.asarray(prior.weights) @ computed(prior.features, XS).T,
            atol=1e-10,
        )

    def test_linear_kernel_is_exact(self):
        """Check: tiao S15.4. Features that are exact leave no error in the law."""
        post = ll.GP(ll.kernels.Linear(2.0), noise=1e-2).condition(X, Y)
        values = np.asarray(post.paths(KEY, 2000)(XS[:2]))
        within_errors(values, *moments(post.joint(XS[:2])))

    def test_other_kernels(self):
        with pytest.raises(ll.Unsupported, match="Polynomial has no Fourier features"):
            ll.GP(ll.kernels.Polynomial(1.0)).condition(X, Y).paths(KEY, 3)

    def test_wrong_numbers(self, post):
        with pytest.raises(ll.InvalidData, match="even"):
            post.paths(KEY, 3, features=7)
        with pytest.raises(ll.InvalidData, match="at least 1, got 0"):
            post.paths(KEY, 0)
        with pytest.raises(ll.InvalidData, match="dim"):
            prior_draws(GP.kernel, KEY, 3)
        wrong = FourierFeatures(ll.kernels.Matern52(0.3), 16, 3, key=KEY)
        with pytest.raises(ll.InvalidData, match="3 input columns, not of 2"):
            post.paths(KEY, 3, features=wrong)


def test_feature_kernel_draws_are_exact(post):
    """Conditioning with the kernel of the features, drawing with the features: no error."""
    features = FourierFeatures(GP.kernel, 32, 2, key=KEY)
    gp = ll.GP(features.kernel(), noise=1e-2).condition(X, Y)
    values = np.asarray(gp.paths(jax.random.key(3), 2000)(XS))
    within_errors(values, *moments(gp.joint(XS)))
    assert isinstance(gp.paths(KEY, 2).features, FourierFeatures)


def test_draws_are_pytrees(draws):
    leaves = jax.tree.leaves(eqx.filter(draws, eqx.is_array))
    assert all(hasattr(leaf, "dtype") for leaf in leaves)
