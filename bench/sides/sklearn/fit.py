"""scikit-learn: `GaussianProcessRegressor`, maximum likelihood with two restarts, mean zero."""

from __future__ import annotations

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from bench.harness import worker
from bench.problems import datasets


def log_evidence(name):
    """The log marginal likelihood that maximum likelihood reaches."""
    problem = datasets.quality_problem(name)
    kernel = ConstantKernel() * RBF(np.ones(problem.x.shape[1])) + WhiteKernel()
    model = GaussianProcessRegressor(kernel, n_restarts_optimizer=2, random_state=0)
    model.fit(problem.x, problem.y)
    reached = float(model.log_marginal_likelihood_value_)
    return {"log_evidence": reached, "digest": problem.digest()}


if __name__ == "__main__":
    worker.serve({"versions": worker.versions("scikit-learn"), "log_evidence": log_evidence})
