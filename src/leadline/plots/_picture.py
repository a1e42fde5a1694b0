"""A figure that notebooks show and scripts save, and that pyplot knows nothing about.

A figure of pyplot appears twice in a notebook when it is also the value of a cell, and stays in
memory until somebody closes it. A bare one shows only if pyplot was imported before.
"""

from __future__ import annotations

import io

from matplotlib.figure import Figure

# Screens with twice the usual pixels are common, and the others scale down well.
_SHARPNESS = 2


class Picture(Figure):
    """A matplotlib figure; `savefig` writes it to a file."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """What a notebook shows, and at which size."""
        written = io.BytesIO()
        self.savefig(written, format="png", dpi=_SHARPNESS * self.dpi)
        width, height = (round(inches * self.dpi) for inches in self.get_size_inches())
        return written.getvalue(), {"width": width, "height": height}
