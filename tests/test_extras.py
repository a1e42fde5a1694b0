"""Extras of the package: each is in the documentation, and named where it is missed."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = set(PROJECT["optional-dependencies"]) - {"test", "docs"}


def test_every_extra_is_documented():
    page = (ROOT / "docs" / "index.md").read_text()
    described = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `")}
    assert described == EXTRAS


def test_every_extra_is_for_something():
    """An error names it; but for Dask's, whose executor is made by the caller."""
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    assert {name for name in EXTRAS if f"leadline[{name}]" not in source} == {"cluster"}
