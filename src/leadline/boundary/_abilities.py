"""Abilities: what only some classes of a kind can do.

A contract (kernels, measures, draws, posteriors, acquisitions) names its abilities; a class has one
by defining it, and a combination (`inherited_ability`) if all its parts have it. There are no stub
methods: asking for an ability that is missing raises `Unsupported`, which names the classes that
have it. Those are looked up among the subclasses of the contract, so a class of one's own counts.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import jax

from leadline.boundary._errors import Unsupported
from leadline.boundary._homes import home_of


class Able:
    """What a contract with abilities derives from.

    Attributes:
        abilities: the names of what only some of the classes can do.
    """

    abilities: ClassVar[tuple[str, ...]] = ()

    def __getattr__(self, name: str) -> Any:
        kind = type(self)
        if name not in kind.abilities:
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
        raise Unsupported(
            f"{kind.__name__} has no {name!r}{_because(self, name)}. {_who(kind, name)}"
        )


class inherited_ability:
    """Decorates a method of a combination that is there only if all its `parts()` have it."""

    def __init__(self, method: Callable):
        self.method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, combination: Any, owner: type) -> Any:
        if combination is None:
            return self
        if self.part_without(combination) is not None:
            raise AttributeError(self.name)  # Able.__getattr__ turns it into an explanation
        return jax.tree_util.Partial(self.method, combination)

    def part_without(self, combination: Any) -> Any:
        """The first part that has no such ability; None if all have it."""
        return next((p for p in combination.parts() if not hasattr(p, self.name)), None)


def _because(able: Able, name: str) -> str:
    """For a combination: the part that stands in the way."""
    found = inspect.getattr_static(type(able), name, None)
    if not isinstance(found, inherited_ability):
        return ""
    return f" because {type(found.part_without(able)).__name__} has none"


def _who(kind: type, name: str) -> str:
    """A sentence that says which classes have an ability."""
    contract = next(c for c in reversed(kind.__mro__) if name in vars(c).get("abilities", ()))
    own, inherited = set(), set()
    for c in _owners(contract, name):
        combines = isinstance(inspect.getattr_static(c, name), inherited_ability)
        (inherited if combines else own).add(c.__name__)
    who = [", ".join(sorted(own))] if own else []
    if inherited:
        who.append(f"{', '.join(sorted(inherited))} if all parts have it")
    return f"It is an ability of {'; of '.join(who) or 'no class that is loaded'}."


def _owners(kind: type, name: str) -> Iterator[type]:
    """The public classes below `kind` that have an ability, without those that derive from them."""
    for c in kind.__subclasses__():
        if inspect.getattr_static(c, name, None) is not None and _is_public(c):
            yield c
        else:
            yield from _owners(c, name)


def _is_public(c: type) -> bool:
    """Whether its home shows a class."""
    module = sys.modules.get(home_of(c))
    return getattr(module, c.__name__, None) is c and not c.__name__.startswith("_")
