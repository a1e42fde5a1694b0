"""Functions of `_worker.py` that travel as text.

What is pickled by its name can only be loaded where this package is installed. A worker has the
user's module and may have nothing of ours, neither the package nor the disk that it lies on.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

from leadline.campaign import _worker


class _Text:
    """The globals of `_worker.py`; unpickling runs its text."""

    def __reduce__(self) -> tuple:
        return eval, (_expression(),)


@functools.cache
def _expression() -> str:
    """An expression whose value is the globals of `_worker.py`."""
    path = Path(_worker.__file__)
    code = f"compile({path.read_text()!r}, {str(path)!r}, 'exec')"
    return f"(lambda names: exec({code}, names) or names)({{'__name__': 'leadline_worker'}})"


class Shipped:
    """A function of `_worker.py`; unpickling it imports nothing of this package.

    Args:
        name: of the function.
    """

    def __init__(self, name: str):
        self._name = name

    def __call__(self, *args: Any) -> Any:
        return getattr(_worker, self._name)(*args)

    def __reduce__(self) -> tuple:
        return operator.getitem, (_Text(), self._name)


class Timed:
    """A function whose calls return (seconds, value), and say that they have begun.

    Args:
        f: the function.
        note: where a call says that it has begun (see `_starts.py`); None: nowhere.
    """

    def __init__(self, f: Callable, note: tuple | None):
        self._f, self._note = f, note
        # Dask names tasks by it.
        self.__name__ = getattr(f, "__name__", type(f).__name__)

    def __call__(self, argument: Any) -> tuple[float, Any]:
        return _worker.timed(self._f, self._note, argument)

    def __reduce__(self) -> tuple:
        return functools.partial, (Shipped("timed"), self._f, self._note)
