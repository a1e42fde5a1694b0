"""What commands are given as text: a function, a space."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from leadline.boundary import InvalidData, did_you_mean
from leadline.spaces import Space


def load_function(text: str) -> Callable[[Any], Any]:
    """The function that `module:function` names; modules of the current folder come first."""
    module_name, _, name = text.partition(":")
    if not module_name or not name:
        raise InvalidData(f"A function is written as module:function, got {text!r}.")
    if module_name.endswith(".py") or os.sep in module_name:
        right = ".".join(Path(module_name).with_suffix("").parts)
        raise InvalidData(f"A function is written as {right}:{name}, got {text!r}.")
    sys.path.insert(0, os.getcwd())
    module = _import(module_name)
    function = getattr(module, name, None)
    if not callable(function):
        hint = did_you_mean(name, (k for k, v in vars(module).items() if callable(v)))
        raise InvalidData(f"The module {module_name!r} has no function {name!r}.{hint}")
    return function


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except Exception as error:
        if (
            isinstance(error, ModuleNotFoundError)
            and error.name
            and f"{name}.".startswith(f"{error.name}.")
        ):
            here = [path.stem for path in Path.cwd().glob("*.py")]
            raise InvalidData(
                f"There is no module {error.name!r}.{did_you_mean(name, here)}"
            ) from None
        where = traceback.extract_tb(error.__traceback__)[-1]
        reason = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
        raise InvalidData(
            f"The module {name!r} cannot be imported: {reason} ({where.filename}, line "
            f"{where.lineno})."
        ) from error


def load_space(path: Path) -> Space:
    """The space in a TOML file."""
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidData(f"{path} is not TOML: {error}.") from error
    except OSError as error:
        raise InvalidData(f"The space {path} cannot be read: {error.strerror}.") from error
    try:
        return Space.from_table(table)
    except InvalidData as error:
        raise InvalidData(f"{path}: {error}") from error


@contextlib.contextmanager
def no_script_in_workers() -> Iterator[None]:
    """Meanwhile new processes do not run the script of this command, which would import JAX."""
    main = sys.modules["__main__"]
    script = getattr(main, "__file__", None)
    main.__file__ = None
    try:
        yield
    finally:
        main.__file__ = script
