"""Runs the Python examples of the README and the documentation.

The fenced `python` blocks of one page run in order in one namespace, as a reader would type them;
each page starts with an empty namespace, in an empty working directory. The line numbers of a
traceback are those of the page. MkDocs calls `on_pre_build` (see `hooks` in `mkdocs.yml`), so a
broken example stops the build; `python docs/run_examples.py [page ...]` does the same without it.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^(?P<indent> *)```python\b[^\n]*\n(?P<code>.*?)^(?P=indent)```", re.M | re.S)


def pages() -> list[Path]:
    """The README and every page of the documentation."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def examples(text: str) -> Iterator[tuple[int, str]]:
    """The first line and the code of each fenced Python block."""
    for match in BLOCK.finditer(text):
        indent = len(match["indent"])
        lines = (line[indent:] for line in match["code"].splitlines(keepends=True))
        yield text.count("\n", 0, match.start("code")), "".join(lines)


def run_page(page: Path) -> int:
    """Run the examples of one page; returns how many there were."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    blocks = list(examples(page.read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for line, code in blocks:
            program = compile("\n" * line + code, str(page), "exec")
            printed = io.StringIO()
            try:
                with contextlib.redirect_stdout(printed):
                    exec(program, namespace)
            except Exception as error:
                where = f"{page.relative_to(ROOT)}:{line + 1}"
                raise RuntimeError(f"{where}: the example fails\n{printed.getvalue()}") from error
    return len(blocks)


def run_pages(chosen: list[Path]) -> None:
    """Run the examples of several pages, saying which."""
    os.environ.setdefault("MPLBACKEND", "agg")
    for page in chosen:
        count = run_page(page)
        print(f"{page.relative_to(ROOT)}: {count} example{'s' if count != 1 else ''} run")


def on_pre_build(config: object) -> None:
    """MkDocs calls this before it builds the pages."""
    del config
    run_pages(pages())


if __name__ == "__main__":
    run_pages([Path(name).resolve() for name in sys.argv[1:]] or pages())
