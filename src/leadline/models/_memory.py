"""Whether the matrices of an exact model fit into this machine, asked before they are made."""

from __future__ import annotations

import psutil

from leadline.boundary import InvalidData

# How many n x n matrices there are at once: measured, of the compiled programs.
CONDITIONING, LEARNING = 3, 7
_SPARSE = 5  # of inducing points x n
_SMALL = 4096  # rows that any machine has room for
_INDUCING = 500


def require_memory(rows: int, matrices: int, instead: str = "") -> None:
    """Refuse more rows than there is memory for; `instead` is what to do, if not a sparse model."""
    if rows <= _SMALL:
        return
    needed, there = 8 * matrices * rows**2, psutil.virtual_memory().total
    if needed > there:
        raise InvalidData(
            f"{rows} values need {matrices} matrices of {rows} x {rows} numbers, "
            f"{needed / 1e9:.0f} GB, and this machine has {there / 1e9:.0f} GB. "
            f"{instead or _sparse(rows)}"
        )


def _sparse(rows: int) -> str:
    needed = 8 * _SPARSE * rows * _INDUCING
    return (
        f"leadline.models.Titsias(kernel, inducing_points=x[::{rows // _INDUCING}]).fit(x, y) "
        f"learns from all of them with {needed / 1e9:.1g} GB."
    )
