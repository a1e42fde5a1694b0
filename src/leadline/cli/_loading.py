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
from types import ModuleType
from typing import Any

from leadline.boundary import InvalidData, did_you_mean
from leadline.spaces import Space, as_space


def load_function(text: str) -> Callable[[Any], Any]:
    """The function that `module:function` names; modules of the current folder come first."""
    return _named(text, "function", callable)


def load_space(text: str) -> Space:
    """The space of a TOML file, or the one that `module:space` names.

    There it is a space, a list of bounds, or a function that returns one of them.
    """
    if ":" not in text or Path(text).exists():
        return _space_of_file(Path(text))
    found = _named(text, "space", lambda value: not isinstance(value, ModuleType | None))
    try:
        return as_space(found() if callable(found) else found)
    except InvalidData as error:
        raise InvalidData(f"{text}: {error}") from error
    except Exception as error:
        raise InvalidData(f"The space {text} cannot be made: {_explained(error)}.") from error


def _named(text: str, kind: str, fits: Callable[[Any], bool]) -> Any:
    """What `module:name` names, if it is of a kind."""
    module_name, _, name = text.partition(":")
    if not module_name or not name:
        raise InvalidData(f"A {kind} is written as module:{kind}, got {text!r}.")
    if module_name.endswith(".py") or os.sep in module_name:
        right = ".".join(Path(module_name).with_suffix("").parts)
        raise InvalidData(f"A {kind} is written as {right}:{name}, got {text!r}.")
    if sys.path[0] != os.getcwd():
        sys.path.insert(0, os.getcwd())
    module = _import(module_name)
    found = getattr(module, name, None)
    if not fits(found):
        hint = did_you_mean(name, (k for k, v in vars(module).items() if fits(v)))
        raise InvalidData(f"The module {module_name!r} has no {kind} {name!r}.{hint}")
    return found


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
        raise InvalidData(
            f"The module {name!r} cannot be imported: {_explained(error)}."
        ) from error


def _explained(error: Exception) -> str:
    """What was raised, and where."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    reason = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    return f"{reason} ({where.filename}, line {where.lineno})"


def _space_of_file(path: Path) -> Space:
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidData(f"{path} is not TOML: {error}.") from error
    except OSError as error:
        raise InvalidData(
            f"The space {path} cannot be read: {error.strerror}. A space is a TOML file, or is "
            "written as module:space."
        ) from error
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
