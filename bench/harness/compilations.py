"""Which programs JAX compiles while something runs."""

from __future__ import annotations

import collections
import contextlib
import logging

# Says, at the level of debugging, when a program is compiled.
COMPILER = logging.getLogger("jax._src.interpreters.pxla")


class Compilations(logging.Handler, contextlib.AbstractContextManager):
    """Counts compiled programs by name, from the beginning of a `with` block to its end."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.names = collections.Counter()

    def emit(self, record):
        """Count a message of the compiler."""
        if str(record.msg).startswith("Compiling"):
            self.names[str(record.args[0])] += 1

    def __enter__(self):
        COMPILER.addHandler(self)
        COMPILER.setLevel(logging.DEBUG)
        COMPILER.propagate = False
        return self

    def __exit__(self, *exception):
        COMPILER.removeHandler(self)
