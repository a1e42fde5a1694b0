"""The collapsed sparse posterior: exact where it must be, a bound always, and NumPy by force."""

import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

import leadline as ll
from leadline.boundary import InvalidData, Unsupported
from leadline.models import GP, Titsias
from leadline.models._rows import as_padded_rows
from leadline.models._titsias import elbo
from leadline.numerics import from_free, to_free

VARIANCE, LENGTHSCALE = 1.3, np.array([0.4, 0.7])
NOISE, MEAN = 0.02, 0.3
BASE = ll.kernels.Matern52(LENGTHSCALE)
KERNEL = VARIANCE * BASE


def matern(x, y):
    """KERNEL in NumPy."""
    a = np.sqrt(5.0) * np.linalg.norm((x[:, None] - y[None]) / LENGTHSCALE, axis=-1)
    return VARIANCE * (1.0 + a + a * a / 3.0) * np.exp(-a)


def data(n=24, m=5, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 2))
    y = np.sin(5.0 * x[:, 0]) + x[:, 1] + 0.1 * rng.normal(size=n)
    return x, y, rng.uniform(0.0, 0.05, size=n), rng.uniform(size=(m, 2))


def model(z, **kwargs):
    return Titsias(
        **{"kernel": KERNEL, "inducing_points": z, "mean": MEAN, "noise": NOISE} | kwargs
    )


class Brute:
    """The formulas of Tiao (2023), section 2.4, with inverses and rows of different noise."""

    def __init__(self, x, y, var, z, noise=NOISE):
        self.z, self.r, self.d = z, y - MEAN, noise + var
        self.kff, self.kuu, self.kuf = matern(x, x), matern(z, z), matern(z, x)
        self.q = self.kuf.T @ np.linalg.solve(self.kuu, self.kuf)
        middle = np.linalg.inv(self.kuu + self.kuf @ (self.kuf / self.d).T)
        self.q_mean = MEAN + self.kuu @ middle @ self.kuf @ (self.r / self.d)
        self.q_cov = self.kuu @ middle @ self.kuu

    @staticmethod
    def log_normal(r, cov):
        _, logdet = np.linalg.slogdet(cov)
        return -0.5 * (r @ np.linalg.solve(cov, r) + logdet + r.size * np.log(2.0 * np.pi))

    def log_evidence(self):
        return self.log_normal(self.r, self.kff + np.diag(self.d))

    def bound_without_trace(self):
        return self.log_normal(self.r, self.q + np.diag(self.d))

    def trace_term(self):
        return 0.5 * np.sum(np.diag(self.kff - self.q) / self.d)

    def predict(self, q_mean, q_cov, xs):
        weights = np.linalg.solve(self.kuu, matern(self.z, xs)).T
        cov = matern(xs, xs) - weights @ (self.kuu - q_cov) @ weights.T
        return MEAN + weights @ (q_mean - MEAN), cov

    def uncollapsed(self, q_mean, q_cov, x):
        """Expected log likelihood minus KL(q(u) || p(u))."""
        mean, cov = self.predict(q_mean, q_cov, x)
        misfit = (self.r + MEAN - mean) ** 2 + np.diag(cov)
        expected = -0.5 * np.sum(misfit / self.d + np.log(2.0 * np.pi * self.d))
        inverse, u = np.linalg.inv(self.kuu), q_mean - MEAN
        logdet = np.linalg.slogdet(self.kuu)[1] - np.linalg.slogdet(q_cov)[1]
        return expected - 0.5 * (np.sum(inverse * q_cov) + u @ inverse @ u - u.size + logdet)


@pytest.mark.parametrize("base", [ll.kernels.Matern52(0.5), ll.kernels.SquaredExponential(0.3)])
def test_inducing_points_at_the_data_give_the_exact_posterior(base):
    """Check: tiao Background. The squared exponential needs jitter there."""
    x, y, var, _ = data()
    xs = np.random.default_rng(1).uniform(size=(9, 2))
    sparse = Titsias(base, x, mean=MEAN, noise=NOISE).condition(x, y, var)
    exact = GP(base, mean=MEAN, noise=NOISE).condition(x, y, var)
    assert float(sparse.elbo) == pytest.approx(float(exact.log_evidence), abs=1e-6)
    np.testing.assert_allclose(sparse.predict(xs).mean, exact.predict(xs).mean, atol=1e-6)
    np.testing.assert_allclose(sparse.predict(xs).var, exact.predict(xs).var, atol=1e-6)
    np.testing.assert_allclose(sparse.joint(xs).cov, exact.joint(xs).cov, atol=1e-6)
    np.testing.assert_allclose(sparse.q_mean, exact.predict(x).mean, atol=1e-6)
    np.testing.assert_allclose(sparse.q_cov, exact.joint(x).cov, atol=1e-6)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 32),
    lengthscale=st.floats(0.05, 5.0),
    variance=st.floats(0.1, 10.0),
    noise=st.floats(1e-3, 1.0),
    size=st.floats(0.0, 3.0),
)
def test_the_bound_is_never_above_the_evidence(seed, n, lengthscale, variance, noise, size):
    x, y, var, z = data(n, seed=seed)
    kernel = variance * ll.kernels.Matern52(np.full(2, lengthscale))
    sparse = Titsias(kernel, z, mean=MEAN, noise=noise).condition(x, size * y, var)
    exact = GP(kernel, mean=MEAN, noise=noise).condition(x, size * y, var)
    evidence = float(exact.log_evidence)
    assert float(sparse.elbo) <= evidence + 1e-8 * (1.0 + abs(evidence))


def test_without_the_trace_term_it_would_not_be_a_bound():
    """Negative control: the likelihood of the low-rank model alone exceeds the evidence."""
    x, _, var, z = data()
    brute = Brute(x, np.full(24, MEAN), var, z)
    assert brute.bound_without_trace() > brute.log_evidence() + 1.0
    elbo = float(model(z).condition(x, np.full(24, MEAN), var).elbo)
    assert elbo == pytest.approx(brute.bound_without_trace() - brute.trace_term(), abs=1e-9)
    assert elbo < brute.log_evidence()


def test_posterior_is_that_of_the_printed_formulas():
    """Check: tiao Background. With different noise in every row."""
    x, y, var, z = data()
    xs = np.random.default_rng(1).uniform(size=(9, 2))
    post, brute = model(z).condition(x, y, var), Brute(x, y, var, z)
    np.testing.assert_allclose(post.q_mean, brute.q_mean, atol=1e-10)
    np.testing.assert_allclose(post.q_cov, brute.q_cov, atol=1e-10)
    np.testing.assert_allclose(post.factor @ post.factor.T, brute.kuu, atol=1e-12)
    mean, cov = brute.predict(brute.q_mean, brute.q_cov, xs)
    np.testing.assert_allclose(post.predict(xs).mean, mean, atol=1e-10)
    np.testing.assert_allclose(post.predict(xs).var, np.diag(cov), atol=1e-10)
    np.testing.assert_allclose(post.predict(xs, noise=True).var, np.diag(cov) + NOISE, atol=1e-10)
    np.testing.assert_allclose(post.joint(xs).mean, mean, atol=1e-10)
    np.testing.assert_allclose(post.joint(xs).cov, cov, atol=1e-10)


def test_whitened_law_and_factor_rebuild_the_inducing_values():
    x, y, var, z = data()
    post = model(z).condition(x, y, var)
    l, b = np.asarray(post.factor), np.asarray(post.precision_factor)
    np.testing.assert_allclose(MEAN + l @ post.whitened_mean, post.q_mean, atol=1e-12)
    np.testing.assert_allclose(l @ np.linalg.inv(b @ b.T) @ l.T, post.q_cov, atol=1e-12)
    # The function at the inducing points is the inducing values.
    np.testing.assert_allclose(post.joint(z).mean, post.q_mean, atol=1e-10)
    np.testing.assert_allclose(post.joint(z).cov, post.q_cov, atol=1e-10)


def test_uncollapsed_bound_is_largest_at_the_optimum_and_equal_there():
    """Check: tiao Background (SGPR = SVGP at the optimal q)."""
    x, y, var, z = data()
    post, brute = model(z).condition(x, y, var), Brute(x, y, var, z)
    mean, cov = np.asarray(post.q_mean), np.asarray(post.q_cov)
    assert brute.uncollapsed(mean, cov, x) == pytest.approx(float(post.elbo), abs=1e-8)
    rng = np.random.default_rng(2)
    for _ in range(5):
        shift = 0.1 * rng.normal(size=5)
        stretch = np.eye(5) + 0.1 * rng.normal(size=(5, 5))
        assert brute.uncollapsed(mean + shift, cov, x) < float(post.elbo) - 1e-4
        assert brute.uncollapsed(mean, stretch @ cov @ stretch.T, x) < float(post.elbo) - 1e-4


def test_padding_changes_nothing():
    x, y, var, z = data()
    gp = model(z)
    padded = gp.condition(x, y, var)
    plain = jax.jit(lambda gp, x, y, var: gp.condition(x, y, var))(gp, x, y, var)
    assert float(padded.elbo) == pytest.approx(float(plain.elbo), abs=1e-10)
    np.testing.assert_allclose(padded.q_mean, plain.q_mean, atol=1e-10)
    np.testing.assert_allclose(padded.q_cov, plain.q_cov, atol=1e-10)
    xs = np.random.default_rng(1).uniform(size=(9, 2))
    traced = jax.jit(lambda post, xs: (post.predict(xs), post.joint(xs)))(plain, xs)
    np.testing.assert_allclose(padded.predict(xs).mean, traced[0].mean, atol=1e-10)
    np.testing.assert_allclose(padded.predict(xs).var, traced[0].var, atol=1e-10)
    np.testing.assert_allclose(padded.joint(xs).cov, traced[1].cov, atol=1e-10)


def test_long_queries_are_answered_in_pieces():
    x, y, var, z = data()
    post = model(z).condition(x, y, var)
    xs = np.random.default_rng(1).uniform(size=(2050, 2))
    whole, ends = post.predict(xs), post.predict(xs[[0, -1]])
    assert whole.mean.shape == (2050,)
    np.testing.assert_allclose(whole.mean[[0, -1]], ends.mean, atol=1e-12)
    np.testing.assert_allclose(whole.var[[0, -1]], ends.var, atol=1e-12)


def test_gradient_of_the_bound_is_that_of_central_differences():
    x, y, var, z = data()
    gp, rows = model(z), as_padded_rows(x, y, var)
    u = to_free(gp)
    both = jax.jit(jax.value_and_grad(lambda u, rows: elbo(from_free(gp, u), rows)))
    value, found = both(u, rows)
    h = 1e-5
    wanted = [
        (both(u + h * e, rows)[0] - both(u - h * e, rows)[0]) / (2.0 * h) for e in np.eye(u.size)
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    assert float(value) == pytest.approx(float(gp.condition(x, y, var).elbo), abs=1e-10)


def test_fit_raises_the_bound_and_follows_the_units_of_the_targets():
    x, y, _, z = data(n=32)
    start = model(z)
    one = start.fit(x, y, restarts=2)
    assert float(one.elbo) > float(start.condition(x, y).elbo) + 1.0
    np.testing.assert_array_equal(one.inducing_points, z)
    unit = 1e6
    scaled = model(z, kernel=(VARIANCE * unit**2) * BASE, mean=unit * MEAN, noise=unit**2 * NOISE)
    many = scaled.fit(x, unit * y, restarts=2)
    assert float(many.elbo) == pytest.approx(float(one.elbo) - 32 * np.log(unit), abs=1e-3)
    assert float(many.gp.noise) == pytest.approx(unit**2 * float(one.gp.noise), rel=1e-2)
    np.testing.assert_allclose(many.predict(z).mean, unit * one.predict(z).mean, rtol=1e-2)
    again = one.gp.condition(x, y)
    assert float(again.elbo) == pytest.approx(float(one.elbo), abs=1e-10)


def test_samples_have_the_moments_of_the_joint_law():
    """Means within 5 standard errors; variances within 5 of theirs."""
    x, y, var, z = data()
    post = model(z).condition(x, y, var)
    xs = np.random.default_rng(1).uniform(size=(9, 2))
    draws = np.asarray(post.sample(jax.random.key(0), xs, 4000))
    law = post.joint(xs)
    spread = np.sqrt(np.diag(law.cov))
    assert np.all(np.abs(draws.mean(0) - law.mean) < 5.0 * spread / np.sqrt(4000))
    assert np.all(np.abs(draws.var(0) / spread**2 - 1.0) < 5.0 * np.sqrt(2.0 / 4000))


def test_coinciding_inducing_points_are_harmless():
    x, y, var, z = data()
    brute = Brute(x, y, var, z[:4])
    post = model(np.concatenate([z[:4], z[:1]])).condition(x, y, var)
    wanted = brute.bound_without_trace() - brute.trace_term()
    assert float(post.elbo) == pytest.approx(wanted, abs=1e-4)
    mean, cov = brute.predict(brute.q_mean, brute.q_cov, x)
    np.testing.assert_allclose(post.predict(x).mean, mean, atol=1e-5)
    np.testing.assert_allclose(post.predict(x).var, np.diag(cov), atol=1e-5)


def test_no_array_is_larger_than_data_times_inducing_points():
    """Time and memory follow from it: the n x n covariance is never formed, not even to learn."""
    x, y, var, z = data(n=512)
    gp, rows = model(z), as_padded_rows(x, y, var)
    program = jax.value_and_grad(lambda u, rows: elbo(from_free(gp, u), rows))
    assert max(_sizes(jax.make_jaxpr(program)(to_free(gp), rows).jaxpr)) == 512 * 5


def _sizes(jaxpr):
    for equation in jaxpr.eqns:
        yield from (v.aval.size for v in equation.outvars)
        for inner in jax.tree.leaves(equation.params, is_leaf=lambda p: hasattr(p, "jaxpr")):
            if hasattr(inner, "jaxpr"):
                yield from _sizes(inner.jaxpr)


def test_noise_may_be_known_by_row_only_but_not_be_missing():
    x, y, var, z = data()
    var = var + 0.01
    silent = model(z, noise=ll.fixed(0.0))
    brute = Brute(x, y, var, z, noise=0.0)
    wanted = brute.bound_without_trace() - brute.trace_term()
    assert float(silent.condition(x, y, var).elbo) == pytest.approx(wanted, abs=1e-9)
    for call in (silent.condition, silent.fit):
        with pytest.raises(InvalidData, match="needs noise"):
            call(x, y)
    # A noise that may be learned can start from nothing.
    assert float(model(z, noise=0.0).fit(x, y, restarts=2).gp.noise) > 0.0


def test_errors_say_what_is_wanted():
    x, y, _, z = data()
    with pytest.raises(InvalidData, match="inducing_points must have two dimensions"):
        model(z[:, 0])
    with pytest.raises(InvalidData, match="must have 2 columns"):
        model(z).condition(x[:, :1], y)
    with pytest.raises(InvalidData, match="priors must be one of"):
        model(z).fit(x, y, priors="defualt")
    post = model(z).condition(x, y)
    with pytest.raises(Unsupported, match="has no 'update'"):
        post.update(x, y)
    # The bound is not the evidence.
    assert not hasattr(post, "log_evidence")
    assert post.gaussian
    assert jnp.isfinite(post.elbo)
    assert "elbo=" in repr(post)
