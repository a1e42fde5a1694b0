"""Programs that another process has compiled: found without tracing, where that is right."""

from __future__ import annotations

import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline.models._exact import _condition_at, log_evidence
from leadline.numerics._programs import _store, forget_programs
from leadline.numerics._programs._programs import Call
from leadline.numerics._programs._store import find_stored

X = np.random.default_rng(0).random((6, 2))
Y = np.sin(3 * X[:, 0]) + X[:, 1]
KERNEL = 1.0 * ll.kernels.Matern52([0.5, 0.7])


@pytest.fixture
def traces():
    """How many programs were traced and lowered."""
    count = [0]

    def listen(event, duration, **_):
        count[0] += event == "/jax/core/compile/jaxpr_to_mlir_module_duration"

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield count
    jax.monitoring.unregister_event_duration_listener(listen)


def stored(folder):
    return sorted(p.name for p in folder.glob("leadline-programs/*/*"))


def condition(kernel=KERNEL):
    post = ll.GP(kernel, noise=1e-2).condition(X, Y)
    return np.asarray(post.factor), np.asarray(post.weights), float(post.log_evidence)


def test_a_program_is_found_again_and_is_the_same_to_the_bit(nothing_made, traces):
    first = condition()
    assert len(stored(nothing_made)) == 1
    forget_programs()
    condition()  # may lower a small program once, to have LAPACK ready
    forget_programs()
    traces[0] = 0
    again = condition()
    assert traces[0] == 0
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)


def test_another_process_finds_it(nothing_made):
    """One that has done nothing with LAPACK before."""
    expected = condition()[2]
    program = f"""
import jax, numpy as np
jax.config.update("jax_compilation_cache_dir", {str(nothing_made)!r})
lowered = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, d, **_: lowered.append(event) if "backend_compile" in event else None
)
import leadline as ll
x = np.random.default_rng(0).random((6, 2))
y = np.sin(3 * x[:, 0]) + x[:, 1]
post = ll.GP(1.0 * ll.kernels.Matern52([0.5, 0.7]), noise=1e-2).condition(x, y)
print(repr(float(post.log_evidence)), len(lowered))
"""
    # Shapes are checked in this process by other code than in that one, so it compiles its own.
    for compiled in (True, False):
        out = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout.split()
        assert float(out[0]) == expected
        assert (int(out[1]) > 0) <= compiled


def test_a_damaged_file_is_compiled_again(nothing_made):
    first = condition()
    (path,) = nothing_made.glob("leadline-programs/*/*")
    for damaged in (path.read_bytes()[:-100], path.read_bytes()[:20], b""):
        path.write_bytes(damaged)
        for _ in range(2):
            forget_programs()
            assert condition()[2] == first[2]


def test_a_program_that_jax_has_loaded_is_not_written_again(nothing_made):
    """It would lack parts: whoever loads it then fails when it runs."""
    first = condition()
    (path,) = nothing_made.glob("leadline-programs/*/*")
    path.unlink()
    forget_programs()
    jax.clear_caches()
    assert condition()[2] == first[2]
    assert stored(nothing_made) == []


class Flat(ll.kernels.Kernel):
    """A kernel of a user's own: its code may change, and nobody would know."""

    def __call__(self, x, y):
        return jnp.ones((x.shape[0], y.shape[0]))

    def diag(self, x):
        return jnp.ones(x.shape[0])


def test_code_that_is_not_our_own_is_never_kept(nothing_made):
    condition(KERNEL + Flat())
    assert stored(nothing_made) == []


def _place(fun, *args):
    return find_stored(fun, Call.of(args, {}), {})


def test_what_makes_another_program_has_another_place(nothing_made, monkeypatch):
    places = [
        _place(log_evidence, X, Y),
        _place(log_evidence, Y, X),
        _place(log_evidence, X.astype(np.float32), Y),
        _place(log_evidence, X, (Y,)),
        _place(log_evidence, X, [Y]),
        _place(log_evidence, X, Y, None),
        _place(log_evidence, X, Y, 1),
        _place(log_evidence, X, Y, 1.0),
        _place(log_evidence, X, Y, True),
        _place(log_evidence, X, Y, "1"),
        _place(log_evidence, KERNEL),
        _place(log_evidence, 1.0 * ll.kernels.Matern32([0.5, 0.7])),
        _place(log_evidence, 1.0 * ll.kernels.Matern52(ll.fixed([0.5, 0.7]))),
        _place(_condition_at, X, Y),
    ]
    monkeypatch.setattr(_store, "_source", lambda: "another version")
    _store._environment.cache_clear()
    places.append(_place(log_evidence, X, Y))
    _store._environment.cache_clear()
    monkeypatch.undo()
    with jax.default_matmul_precision("highest"):
        assert _place(log_evidence, X, Y) is not None
    paths = [place._path for place in places]
    assert len(set(paths)) == len(paths)
    assert _place(log_evidence, X, Y)._path == paths[0]
    # Values of arrays do not matter, and neither does whose arrays they are.
    assert _place(log_evidence, jnp.asarray(X) + 1, Y)._path == paths[0]


@pytest.mark.parametrize(
    "argument",
    [lambda x: x, np.sin, eqx.nn.Identity(), object()],
    ids=["lambda", "ufunc", "module", "object"],
)
def test_what_cannot_be_described_has_no_place(nothing_made, argument):
    assert _place(log_evidence, X, argument) is None
    assert _place(lambda x: x, X) is None


def test_without_a_cache_nothing_is_kept(nothing_made):
    jax.config.update("jax_compilation_cache_dir", None)
    assert _place(log_evidence, X) is None
    jax.config.update("jax_compilation_cache_dir", str(nothing_made))
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        assert _place(log_evidence, X) is None
    finally:
        jax.config.update("jax_enable_compilation_cache", True)


def test_a_folder_that_cannot_be_written_to_is_no_error(nothing_made):
    blocked = nothing_made / "file"
    blocked.write_text("")
    jax.config.update("jax_compilation_cache_dir", str(blocked))
    assert np.isfinite(condition()[2])
