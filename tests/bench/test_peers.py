"""What peers' environments have to have."""

import ast
import sys

import pytest
from bench.harness.sources import sources
from bench.sides.libraries import PEERS

WORKERS = [library.on(subject) for library in PEERS for subject in library.subjects()]
# Besides their own library.
EVERYWHERE = {*sys.stdlib_module_names, "numpy", "bench"}


def imported(file):
    """The packages that are needed to import a file."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            yield node.module.partition(".")[0]
        elif isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)


@pytest.mark.parametrize("side", WORKERS, ids=lambda side: side.module)
def test_harness_and_problems_need_numpy_at_most(side):
    files = sources(side.module)
    assert any(file.name == "worker.py" for file in files)
    needed = {name for file in files if "sides" not in file.parts for name in imported(file)}
    assert needed <= EVERYWHERE
    assert "leadline" not in {name for file in files for name in imported(file)}
