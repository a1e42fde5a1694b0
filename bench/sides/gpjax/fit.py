"""GPJax: a conjugate model with an ARD squared exponential, fitted by `fit_scipy`.

GPJax leaves scaling to its user: targets are standardized here, inputs are in the unit cube.
"""

from __future__ import annotations

import time

import jax

jax.config.update("jax_enable_x64", True)

import gpjax as gpx  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from bench.harness import worker  # noqa: E402
from bench.problems import datasets  # noqa: E402


def _negative_evidence(model, data):
    return -gpx.objectives.conjugate_mll(model, data)


def fit_predict(n, seed, kernel="rbf"):
    """Fit `n` rows of Hartmann-6 and predict at 1000 points."""
    kinds = {"rbf": gpx.kernels.RBF, "matern52": gpx.kernels.Matern52}
    problem = datasets.sampled("hartmann6", n, seed)
    start = time.perf_counter()
    center, spread = problem.y.mean(), problem.y.std()
    data = gpx.Dataset(
        X=jnp.asarray(problem.x), y=jnp.asarray((problem.y - center) / spread)[:, None]
    )
    prior = gpx.gps.Prior(
        mean_function=gpx.mean_functions.Constant(),
        kernel=kinds[kernel](lengthscale=jnp.ones(problem.x.shape[1])),
    )
    model, _ = gpx.fit_scipy(
        model=prior * gpx.likelihoods.Gaussian(),
        objective=_negative_evidence,
        train_data=data,
        verbose=False,
    )
    latent = model.condition(data)(jnp.asarray(problem.xs), covariance="diagonal")
    mean, var = np.asarray(latent.mean), np.asarray(latent.variance)
    seconds = time.perf_counter() - start
    noise = float(gpx.parameters.val(model.likelihood.obs_stddev)) ** 2
    residual = (problem.ys - center) / spread - mean
    density = -0.5 * (np.log(2 * np.pi * (var + noise)) + residual**2 / (var + noise))
    return {
        "seconds": seconds,
        "log_density": float(density.mean() - np.log(spread)),
        "digest": problem.digest(),
    }


if __name__ == "__main__":
    worker.serve({"versions": worker.versions("gpjax", "jax"), "fit_predict": fit_predict})
