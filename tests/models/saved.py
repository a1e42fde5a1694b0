"""What a posterior says, for comparison with that of another process.

As a program it says so of files: `python -m tests.models.saved ANSWERS FILE...`.
"""

from __future__ import annotations

import sys

import jax
import numpy as np

import leadline as ll

XS = np.random.default_rng(3).uniform(size=(4, 2))


def answers(post):
    """Predictions, draws of functions and more data, as arrays."""
    said = {}
    p = post.predict(XS)
    said["mean"], said["var"] = p.mean, p.var
    if isinstance(post, ll.models.ExactPosterior):  # for others it takes long to compile
        said["paths"] = post.paths(jax.random.key(0), 3, 16)(XS)
    if hasattr(post, "update"):
        y = post.predict(XS).mean + 0.1
        said["updated"] = post.update(XS, y).predict(XS).mean
    return {key: np.asarray(value) for key, value in said.items()}


if __name__ == "__main__":
    _, target, *files = sys.argv
    found = [answers(ll.load(file)) for file in files]
    flat = {f"{i}.{key}": v for i, said in enumerate(found) for key, v in said.items()}
    np.savez(target, **flat)
