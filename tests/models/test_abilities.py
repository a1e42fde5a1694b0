"""Outside models, posteriors are known by their abilities alone."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

import leadline.models as models

SOURCE = Path(models.__file__).resolve().parent.parent
# Everything but what it was made from: its process, how well that fits, and a mixture's members.
KEPT = {
    field.name
    for kind in vars(models).values()
    if isinstance(kind, type) and issubclass(kind, models.Posterior)
    for field in dataclasses.fields(kind)
    if field.name not in ("gp", "log_evidence", "members")
}
KINDS = [name for name in models.__all__ if re.fullmatch(r"\w+Posterior", name)]
NAMES = re.compile(rf"\b({'|'.join(KINDS)})\b")
READS = re.compile(
    rf"\b\w*(?:post|posterior|posteriors\[\w+\]|belief)_?\.(_\w+|{'|'.join(sorted(KEPT))})\b"
)


def code(path: Path) -> str:
    """The text without comments and strings of several lines, which may speak of anything."""
    return re.sub(r'"""[\s\S]*?"""|#.*', "", path.read_text())


OUTSIDE = [
    path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.relative_to(SOURCE).parts[0] not in ("models", "__init__.py")
]


def test_nobody_asks_for_a_class_of_posteriors():
    assert len(OUTSIDE) > 100
    assert {"ExactPosterior", "TitsiasPosterior", "LaplacePosterior"} <= set(KINDS)
    found = {str(path): NAMES.findall(code(path)) for path in OUTSIDE}
    assert {path: names for path, names in found.items() if names} == {}


def test_nobody_reads_what_a_posterior_keeps():
    assert {"factor", "weights", "rows", "q_mean", "labels", "stacked"} <= KEPT
    found = {str(path): READS.findall(code(path)) for path in OUTSIDE}
    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    "line",
    [
        "a = posterior.factor",
        "self.posterior.weights @ x",
        "post.rows.x",
        "belief.posterior._cross",
    ],
)
def test_such_a_line_would_be_found(line):
    """Negative control."""
    assert READS.search(line)
