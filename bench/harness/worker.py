"""The inside of a worker: a process that does tasks on request.

A request is one line of JSON on standard input, `{"task": name, ...arguments}`; its answer is one
line on what was standard output, `{"answer": ...}` or `{"error": traceback}`. Whatever libraries
print goes to standard error. Every environment imports this file: the standard library only.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

Tasks = dict[str, Callable[..., Any]]


def versions(*packages: str) -> Callable[[], dict[str, str]]:
    """A task that says which versions an environment has."""
    return lambda: {name: importlib.metadata.version(name) for name in packages}


def serve(tasks: Tasks) -> None:
    """Answer requests until standard input ends."""
    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = {"answer": tasks[request.pop("task")](**request)}
        except Exception:
            reply = {"error": traceback.format_exc()}
        print(json.dumps(reply), file=answers, flush=True)
