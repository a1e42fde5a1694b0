"""What the methods share that model the objective by a Gaussian process."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from typing import Any

from leadline.boundary import InvalidData
from leadline.kernels import Kernel
from leadline.numerics import describe, is_described, restore
from leadline.questions._design import check_design, design_size
from leadline.questions._process import Model, check_model, check_model_in
from leadline.questions.minimize.methods._method import Method


class Modeled(Method):
    """A method with a model of the objective: its design, and a kernel and priors of one's own.

    A journal describes these. If it names a class of a kernel that has not been imported, the
    method keeps the description until the model is needed.
    """

    initial: int | None
    noise: float | None
    kernel: Kernel | Mapping[str, Any] | None
    priors: Mapping[str, Any] | None

    def __post_init__(self):
        check_design(self.initial)
        if not is_described(self.kernel):
            check_model(self.model)

    @property
    def model(self) -> Model:
        """What is believed of the objective before any call."""
        kernel: Any = restore(self.kernel) if is_described(self.kernel) else self.kernel
        return Model(kernel, self.priors, self.noise)

    @property
    def drawn(self) -> int | None:
        """How many features stand for the kernel where functions are drawn; None if none are."""
        return None

    def design(self, space):
        """The size of the space-filling design."""
        return design_size(space, self.initial)

    def check(self, space):
        """Refuse a space whose rows the kernel cannot read, and a kernel with no description."""
        if not is_described(self.kernel):
            check_model_in(space, self.model, self.drawn)
            self.settings()

    def settings(self):
        """The method's name and settings, as JSON values; nothing of a kernel that is default."""
        found = Method.settings(dataclasses.replace(self, kernel=None, priors=None))
        del found["kernel"], found["priors"]
        if self.kernel is not None:
            own = self.kernel if is_described(self.kernel) else describe(self.kernel, name="kernel")
            found["kernel"] = own
        if self.priors is not None:
            names = sorted(self.priors)
            found["priors"] = {key: describe(self.priors[key], name=key) for key in names}
        return found

    def shown(self):
        """Settings for people: a kernel as one writes it."""
        kernel: Any = self.kernel
        own = {"kernel": kernel["class"] if is_described(kernel) else kernel, "priors": self.priors}
        return {key: own.get(key, value) for key, value in super().shown().items()}

    @classmethod
    def from_settings(cls, settings):
        """The method that has these settings."""
        fields = dict(settings)
        if "kernel" in fields:
            with contextlib.suppress(InvalidData):
                fields["kernel"] = restore(fields["kernel"])
        if "priors" in fields:
            fields["priors"] = {key: restore(each) for key, each in fields["priors"].items()}
        return super().from_settings(fields)
