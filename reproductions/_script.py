"""What every script shares: its command line, and how it prints claims."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def options(
    description: str | None, quick: str = "a small version, in seconds"
) -> argparse.Namespace:
    """The command line: `--quick`, which does what `quick` says, and `--output`."""
    parser = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help=quick)
    beside = Path(sys.argv[0]).resolve().parent / "results"
    parser.add_argument("--output", type=Path, default=beside, help="folder of the pictures")
    found = parser.parse_args()
    found.output.mkdir(parents=True, exist_ok=True)
    return found


def claim(text: str, ours: str, same: str | bool, why: str = "") -> None:
    """Print what the thesis says beside what is found; `same` begins with yes, no or partly."""
    said = same if isinstance(same, str) else "yes" if same else "no"
    print(f"claim: {text} | ours: {ours} | same: {said}{why and ', ' + why}", flush=True)


def which(true: dict[str, bool]) -> str:
    """A verdict: yes if all are true, no if none is, else partly, with those that are."""
    names = [name for name, holds in true.items() if holds]
    if len(names) in (0, len(true)):
        return "yes" if names else "no"
    return f"partly, only {' and '.join(names)}"
