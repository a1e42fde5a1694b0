"""Compiled programs: one for each signature, made when it is called or ahead of that.

The signature of a call is the structure of its arguments, the shapes of the arrays in them, and
everything else in them, which is constant to the program. A program is made from it in two steps.
The first says what the answer looks like: the function is traced, or that is read from the disk.
The second makes what can be run: the trace is compiled, or an earlier process's program is loaded
(`_program_store`), which traces nothing. The second step runs outside of Python's lock, so several
programs can be made at once by several threads (`_rehearsal`).

How a program is compiled depends on its signature alone (`_compilation`), never on who made it or
when: the same call gives the same bits in every process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Executor, Future
from functools import partial, wraps
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from leadline.boundary import is_traced
from leadline.numerics._programs import _forks
from leadline.numerics._programs._compilation import compiler_options, known_options
from leadline.numerics._programs._rehearsal import MADE_UP, rehearsal_pool
from leadline.numerics._programs._store import Stored, find_stored

_ARRAYS = (jax.Array, np.ndarray, np.generic)
# The programs of every function.
_every: list[dict] = []


def _filled(
    tree: Any, constants: tuple[Any, ...], places: tuple[int, ...], arrays: Sequence[Any]
) -> Any:
    """A structure with these constants, and arrays at their places."""
    leaves = list(constants)
    for place, array in zip(places, arrays, strict=True):
        leaves[place] = array
    return jax.tree.unflatten(tree, leaves)


class Outline(NamedTuple):
    """What a program answers: arrays of these shapes, at these places of this structure.

    `constants` are the leaves of the answer; an array's place has None and its number in `places`.
    """

    tree: Any
    constants: tuple[Any, ...]
    places: tuple[int, ...]
    shapes: tuple[jax.ShapeDtypeStruct, ...]

    def fill(self, arrays: Sequence[Any]) -> Any:
        """The answer with these arrays."""
        return _filled(self.tree, self.constants, self.places, arrays)

    def made_up(self) -> Any:
        """An answer of a rehearsal."""
        return self.fill([_made_up(shape) for shape in self.shapes])


class Call(NamedTuple):
    """A call: its signature, and the arrays in its arguments."""

    tree: Any
    constants: tuple[Any, ...]
    places: tuple[int, ...]
    arrays: list[Any]

    @classmethod
    def of(cls, args: tuple, kwargs: dict) -> Call:
        leaves, tree = jax.tree.flatten((args, kwargs))
        places, constants, arrays = [], [], []
        for place, leaf in enumerate(leaves):
            if isinstance(leaf, _ARRAYS):
                places.append(place)
                arrays.append(leaf)
                constants.append(None)
            else:
                constants.append(leaf)
        return cls(tree, tuple(constants), tuple(places), arrays)

    def key(self) -> Hashable:
        """What tells this call's program from the others of its function."""
        shapes = tuple([(a.shape, a.dtype) for a in self.arrays])
        kinds = tuple([type(c) for c in self.constants])
        return self.tree, self.constants, kinds, shapes

    def shapes(self) -> list[jax.ShapeDtypeStruct]:
        """The shapes of its arrays."""
        return [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in self.arrays]

    def arguments(self, arrays: Sequence[Any]) -> tuple[tuple, dict]:
        """The arguments with other arrays in the place of these."""
        return _filled(self.tree, self.constants, self.places, arrays)


class _Made:
    """The program of one signature: its outline, then what can be run, as soon as it is there."""

    def __init__(self, first_step: Callable[[], tuple[Outline, Callable[[], Any]]]):
        self._lock = threading.Lock()
        self._first_step = first_step
        self._steps: tuple[Outline, Callable[[], Any]] | None = None
        self._task: Future | None = None
        self._run: Any = None

    def _outlined(self) -> tuple[Outline, Callable[[], Any]]:
        """The outline, and how to make what runs; the lock is held."""
        if self._steps is None:
            self._steps = self._first_step()
        return self._steps

    def rehearse(self, pool: Executor) -> Any:
        """A made-up answer; the pool makes the program, unless that is done or has begun."""
        with self._lock:
            outline, make = self._outlined()
            if self._run is None and self._task is None:
                self._task = pool.submit(make)
        return outline.made_up()

    def __call__(self, arrays: list[Any]) -> Any:
        if self._run is None:
            with self._lock:
                if self._run is None:
                    self._run = self._made()
        assert self._steps is not None
        return self._steps[0].fill(self._run(*arrays))

    def _made(self) -> Any:
        """What runs it: made here, unless a pool has made it or has begun to."""
        _, make = self._outlined()
        task, self._task = self._task, None
        return make() if task is None or task.cancel() else task.result()


def quick_jit(fun: Callable[..., Any], *, once: bool = False) -> Callable[..., Any]:
    """Compile a function once for each signature of its arguments.

    Arrays in the arguments, JAX's and NumPy's, are inputs of the program; everything else is
    constant to it, and must be hashable. Inside a trace the function is simply called. `once` is
    for programs without loops, of which small ones compile with little optimization.
    """
    programs: dict[Hashable, _Made] = {}
    _every.append(programs)

    @wraps(fun)
    def run(*args: Any, **kwargs: Any) -> Any:
        if _forks.forked:
            _forks.refuse_forks()
        call = Call.of(args, kwargs)
        if is_traced(call.arrays) or jax.config.jax_disable_jit:  # pyright: ignore[reportAttributeAccessIssue]
            return fun(*args, **kwargs)
        key = call.key()
        made = programs.get(key)
        if made is None:
            _forks.jax_begins()
            # Of two threads that come here at once both get the one that is kept.
            outlined = call._replace(arrays=call.shapes())
            made = programs.setdefault(key, _Made(partial(_first_step, fun, outlined, once)))
        pool = rehearsal_pool()
        return made(call.arrays) if pool is None else made.rehearse(pool)

    return run


def forget_programs() -> None:
    """Forget every program that was made: each takes memory that a long process may want back."""
    for programs in _every:
        programs.clear()


def _first_step(
    fun: Callable[..., Any], call: Call, once: bool
) -> tuple[Outline, Callable[[], Any]]:
    """The outline of a program, and how to make what runs it."""
    options = compiler_options(call.arrays, once)
    stored = find_stored(fun, call, options)
    if stored is None or stored.outline is None:
        return _trace(fun, call, options, stored)

    def load() -> Any:
        try:
            return stored.load()
        except Exception:  # a file that is damaged, or gone by now
            stored.forget()
            return _trace(fun, call, options, stored)[1]()

    return stored.outline, load


def _trace(
    fun: Callable[..., Any], call: Call, options: dict[str, Any], stored: Stored | None
) -> tuple[Outline, Callable[[], Any]]:
    """The outline from a trace of the function, and how to compile it."""
    answer: dict[str, Any] = {}

    def flat(*arrays: Any) -> tuple[Any, ...]:
        args, kwargs = call.arguments(arrays)
        leaves, tree = jax.tree.flatten(fun(*args, **kwargs))
        places = tuple(i for i, leaf in enumerate(leaves) if isinstance(leaf, _ARRAYS))
        constants = tuple(None if i in places else leaf for i, leaf in enumerate(leaves))
        answer.update(tree=tree, constants=constants, places=places)
        return tuple(leaves[i] for i in places)

    # JAX's own cache must not take it for a program of another version, which has no place of ours.
    version = "" if stored is None else f"_{stored.version}"
    flat.__name__ = flat.__qualname__ = getattr(fun, "__name__", "program") + version
    traced = jax.jit(flat, compiler_options=known_options(options)).trace(*call.arrays)
    shapes = tuple(jax.ShapeDtypeStruct(s.shape, s.dtype) for s in traced.out_info)
    outline = Outline(**answer, shapes=shapes)

    def compile_it() -> Any:
        lowered = traced.lower()
        return lowered.compile() if stored is None else stored.compile(outline, lowered)

    return outline, compile_it


def _made_up(shape: jax.ShapeDtypeStruct) -> Any:
    if jnp.issubdtype(shape.dtype, jax.dtypes.prng_key):
        return jax.random.split(jax.random.key(0), shape.shape)
    return jax.device_put(np.full(shape.shape, MADE_UP, shape.dtype))
