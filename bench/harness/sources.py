"""What a worker is made of: a fingerprint of its code and of all code of ours that it imports.

The fingerprint does not tell where files lie, nor what they say about themselves: imports of our
own modules, `bench.folders`, comments, docstrings and blank lines are left out, and files are taken
in the order of their contents. So code may move from folder to folder and is still the same code.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from bench import folders

PACKAGE = "bench"


@cache
def fingerprint(module: str, root: Path = folders.ROOT) -> str:
    """The code of a module, and of what it imports from its own package, in one line."""
    found = {_code(file.read_text()) for file in sources(module, root)}
    return hashlib.sha256("\0".join(sorted(found - {""})).encode()).hexdigest()


def sources(module: str, root: Path = folders.ROOT) -> set[Path]:
    """The file of a module, and those of ours that it imports, directly or not."""
    found, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        path = root / name.replace(".", "/")
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if name != folders.__name__ and file.exists() and file not in found:
                found.add(file)
                waiting += _imported(ast.parse(file.read_text()))
    return found


def _imported(tree: ast.Module) -> Iterator[str]:
    """Our modules that are imported, and names that are imported from them, which may be some."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _own_import(node):
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import) and _own_import(node):
            yield from (alias.name for alias in node.names)


def _own_import(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        # Relative imports would be ours as well; they are not used here.
        assert not node.level
        return str(node.module).partition(".")[0] == PACKAGE
    return isinstance(node, ast.Import) and node.names[0].name.partition(".")[0] == PACKAGE


def _docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _code(text: str) -> str:
    """The lines of a file that say what it does."""
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if _own_import(node) or _docstring(node):
            left_out.update(range(node.lineno, node.end_lineno + 1))
    lines = enumerate(text.splitlines(), start=1)
    kept = (line.rstrip() for number, line in lines if number not in left_out)
    return "\n".join(line for line in kept if line and not line.lstrip().startswith("#"))
