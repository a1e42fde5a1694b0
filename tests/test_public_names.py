"""Public names: ours are used or documented, and of other libraries nothing else is imported."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "leadline"
REFERENCE = ROOT / "docs" / "reference"


def is_public(folder: Path) -> bool:
    return not any(part.startswith("_") for part in folder.relative_to(SOURCE).parts)


PACKAGES = {
    ".".join(("leadline", *path.parent.relative_to(SOURCE).parts)): path
    for path in sorted(SOURCE.rglob("__init__.py"))
    if is_public(path.parent)
}


@functools.cache
def exported(package: str) -> tuple[str, ...]:
    for node in ast.parse(PACKAGES[package].read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return tuple(ast.literal_eval(node.value))
    return ()


@functools.cache
def words(path: Path) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", path.read_text()))


@functools.cache
def texts() -> tuple[Path, ...]:
    """All files in which a name counts; tests do not."""
    found = [ROOT / "README.md"]
    for folder, kind in {"src": "py", "docs": "md", "examples": "py"}.items():
        found += (ROOT / folder).rglob(f"*.{kind}")
    for folder in ("bench", "reproductions"):
        found += (path for path in (ROOT / folder).rglob("*.py") if ".cache" not in path.parts)
    return tuple(found)


def elsewhere(package: str) -> list[Path]:
    """Files outside the package; what the package of everything shows again says nothing."""
    if package == "leadline":
        return [path for path in texts() if SOURCE not in path.parents]
    home = PACKAGES[package].parent
    return [p for p in texts() if home not in p.parents and p != SOURCE / "__init__.py"]


def reference() -> list[tuple[str, str, list[str] | None]]:
    """Page, package and listed names of each block of the reference; None if all are shown."""
    found = []
    for page in sorted(REFERENCE.glob("*.md")):
        for block in re.split(r"^::: ", page.read_text(), flags=re.MULTILINE)[1:]:
            package, _, rest = block.partition("\n")
            listed = rest.partition("members:\n")[2]
            names = re.findall(r"^ +- (\w+)$", listed, flags=re.MULTILINE)
            found.append((page.name, package.strip(), names or None))
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_exported_names_are_used_or_documented(package):
    """By another package, an example, a reproduction, a benchmark or a page."""
    used = frozenset().union(*map(words, elsewhere(package)))
    assert [name for name in exported(package) if name not in used] == []


def test_the_reference_lists_what_is_there():
    for page, package, names in reference():
        assert names is not None, f"{page}: {package} lists no names"
        assert sorted(set(names)) == sorted(names), f"{page}: a name is listed twice"
        assert set(names) <= set(exported(package)), page


def test_every_page_of_the_reference_can_be_found():
    pages = set(re.findall(r"reference/([\w.]+)", (ROOT / "mkdocs.yml").read_text()))
    assert pages == {page.name for page in REFERENCE.glob("*.md")}


def test_nothing_private_of_another_library_is_imported():
    private = re.compile(r"^\s*(?:from|import) (?!leadline)\w+[\w.]*\._\w+", re.MULTILINE)
    assert private.search("    from equinox._module._module import _ModuleMeta")  # negative control
    found = {str(path): private.findall(path.read_text()) for path in SOURCE.rglob("*.py")}
    assert {path: lines for path, lines in found.items() if lines} == {}
