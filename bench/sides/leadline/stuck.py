"""Leadline's worker for how far below the best a search for hyper-parameters ends.

What a search maximizes is the log joint: log evidence plus log prior. The best there is, as far as
anybody can tell, is the best end of many full searches on all rows: none of them is given up, and
none is judged by fewer rows. The end of the search that is examined is one of their starts.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np

import leadline as ll
from bench.harness import worker
from bench.problems.landscapes import Landscape
from leadline.models._exact import log_evidence
from leadline.models._learning import log_joint, search_for
from leadline.models._rows import as_padded_rows
from leadline.numerics import DataScale, minimize_bounded, shifted_sobol, to_free

STARTS = 30
KERNELS = {
    "matern52": ll.kernels.Matern52,
    "rbf": ll.kernels.SquaredExponential,
    "partly additive": partial(ll.kernels.PartlyAdditive, extent=1.0),
}


def _settings(kernel, dim):
    """How the kernel's process is fitted: with default priors, or as `ll.Minimize` does it."""
    if kernel != "partly additive":
        return {"priors": "default"}
    reference = shifted_sobol(np.random.default_rng(0), 256, dim)
    return {"priors": "quiet", "reference": reference, "tolerance": 0.05}


def _loss(v, args):
    return -log_joint(log_evidence, v, args)


def shortfall(kernel, **landscape):
    """How many nats a fit ends below the best; the same for a fit that goes on as data grow."""
    x, y = Landscape(**landscape).data()
    half, dim = len(y) // 2, x.shape[1]
    process = ll.GP(1.0 * KERNELS[kernel](lengthscale=np.ones(dim)))
    settings = _settings(kernel, dim)
    earlier = process.fit(x[:half], y[:half], **settings).gp
    grown = earlier.fit(x, y, **settings).gp  # what it compiles, the next fit does not
    start = time.perf_counter()
    found = process.fit(x, y, **settings).gp
    seconds = time.perf_counter() - start

    scale = DataScale.of(settings.get("reference", x), y)
    search = search_for(process, scale, priors=settings["priors"], restarts=STARTS, seed=0)
    ends = [(np.asarray(to_free(gp)) - search.center) / search.unit for gp in (found, grown)]
    args = search.arguments(process, as_padded_rows(x, y))
    starts = np.stack([*ends, *search.starts])
    # A search of one evaluation says what its start is worth.
    worth, best = (
        -np.asarray(
            minimize_bounded(
                _loss, args, starts, search.lower, search.upper, max_evaluations=np.asarray(limit)
            ).value
        )
        for limit in (1, 200)
    )
    return {
        "seconds": seconds,
        "from_scratch": float(np.max(best) - worth[0]),
        "going_on": float(np.max(best) - worth[1]),
    }


if __name__ == "__main__":
    worker.serve(
        {
            "versions": worker.versions("leadline", "jax", "jaxlib", "equinox", "numpy", "scipy"),
            "shortfall": shortfall,
        }
    )
