"""Abilities: who has them is found among the classes, not written down."""

from typing import ClassVar

import equinox as eqx
import pytest

from leadline.boundary import Able, Unsupported, inherited_ability


class Bird(Able, eqx.Module):
    abilities: ClassVar = ("sing", "fly")


class Penguin(Bird):
    pass


class _Singer(Bird):
    def sing(self):
        return "tweet"


class Thrush(_Singer):
    pass


class Blackbird(_Singer):
    pass


class Young(Blackbird):
    pass


class Flock(Bird):
    birds: tuple[Bird, ...]

    def parts(self):
        return self.birds

    @inherited_ability
    def sing(self):
        """All of them."""
        return [bird.sing() for bird in self.birds]


def test_a_missing_ability_names_the_public_classes_that_have_it():
    """Private classes and those that derive from a named one are left out."""
    with pytest.raises(Unsupported) as error:
        _ = Penguin().sing
    assert str(error.value) == (
        "Penguin has no 'sing'. "
        "It is an ability of Blackbird, Thrush; of Flock if all parts have it."
    )
    assert not hasattr(Penguin(), "sing")
    assert Young().sing() == "tweet"


def test_an_ability_that_nothing_has():
    with pytest.raises(Unsupported, match="of no class that is loaded"):
        _ = Thrush().fly

    class Local(Bird):
        def fly(self):
            return "up"

    assert Local().fly() == "up"
    with pytest.raises(Unsupported, match="of no class that is loaded"):
        _ = Thrush().fly


def test_a_combination_has_what_all_its_parts_have():
    assert Flock((Thrush(), Young())).sing() == ["tweet", "tweet"]
    mixed = Flock((Thrush(), Penguin()))
    assert not hasattr(mixed, "sing")
    with pytest.raises(Unsupported, match="Flock has no 'sing' because Penguin has none"):
        mixed.sing()
    assert Flock.sing.__doc__ == "All of them."


def test_other_names_are_ordinary():
    with pytest.raises(AttributeError, match="'Thrush' object has no attribute 'swim'") as error:
        _ = Thrush().swim
    assert not isinstance(error.value, Unsupported)
