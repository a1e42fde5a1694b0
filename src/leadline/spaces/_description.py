"""Parameters as plain tables, the form in which people write them in TOML and journals keep them.

[rate]
type = "real"
low = 1e-5
high = 1e-1
log = true
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from leadline.boundary import InvalidData, as_choice
from leadline.spaces._numbers import Integer, Real
from leadline.spaces._options import Choice, Ordinal
from leadline.spaces._parameter import Parameter

_KINDS: dict[str, type[Parameter]] = {
    "real": Real,
    "integer": Integer,
    "ordinal": Ordinal,
    "choice": Choice,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}

# What a parameter is made of, and whether it must be there.
_KEYS = {
    "real": {"low": True, "high": True, "log": False, "step": False, "decimals": False},
    "integer": {"low": True, "high": True, "log": False},
    "ordinal": {"values": True},
    "choice": {"options": True},
}


def describe_parameter(parameter: Parameter) -> dict[str, Any]:
    """A parameter as a table that can be written to JSON or TOML."""
    kind = _NAMES[type(parameter)]
    table: dict[str, Any] = {"type": kind}
    for key in _KEYS[kind]:
        value = getattr(parameter, key)
        # What a parameter does without is not written: TOML has no word for it.
        if value is not None:
            table[key] = list(value) if isinstance(value, tuple) else value
    if parameter.conditions:
        table["when"] = {
            name: values[0] if len(values) == 1 else list(values)
            for name, values in parameter.conditions
        }
    return table


def read_parameter(name: str, table: Any) -> Parameter:
    """A parameter from its table, with errors that say which parameter is wrong and how."""
    where = f"parameter {name!r}"
    if not isinstance(table, Mapping):
        raise InvalidData(f"The table of {where} must be a mapping with a type, got {table!r}.")
    if "type" not in table:
        raise InvalidData(
            f"The table of {where} lacks type, one of {', '.join(map(repr, _KINDS))}."
        )
    kind = as_choice(table["type"], tuple(_KINDS), f"The type of {where}")
    keys = _KEYS[kind]
    for key in table:
        as_choice(key, ("type", *keys, "when"), f"A key of {where} of type {kind!r}")
    for key, needed in keys.items():
        if needed and key not in table:
            raise InvalidData(f"The table of {where} of type {kind!r} lacks {key}.")
    given = {key: table[key] for key in keys if key in table}
    listed = next((given.pop(key) for key in ("values", "options") if key in given), ())
    if not isinstance(listed, list | tuple):
        raise InvalidData(f"The {next(iter(keys))} of {where} must be a list, got {listed!r}.")
    when = table.get("when", {})
    if not isinstance(when, Mapping):
        raise InvalidData(f"The key when of {where} must be a table, got {when!r}.")
    try:
        return _KINDS[kind](*listed, **given).when(**when)
    except InvalidData as error:
        raise InvalidData(f"In {where}: {error}") from error


def qualified_name(function: Callable[..., Any] | None) -> str | None:
    """Where a function is defined: `module.name`, that of its type for other callables."""
    if function is None:
        return None
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"
