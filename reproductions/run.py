"""Run the reproductions and write `reproductions/RESULTS.md`: `python -m reproductions.run`.

Every script is a module, `python -m reproductions.wilson_2023.boundary` in the repository's root.
It prints lines `claim: ... | ours: ... | same: ...`, and whatever else it has to show, and leaves
pictures in the folder that `--output` names, `results` beside it if none. With names
(`wilson_2023`, `tiao_2023/features/filon.py`) only those run, and the others keep their results;
`--quick` runs small versions, whose results are printed but not written down.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
JSON, MARKDOWN = HERE / "results.json", HERE / "RESULTS.md"


def scripts(names: list[str]) -> list[Path]:
    """All scripts, or those whose path begins with one of the names; `_*.py` are their helpers."""
    found = sorted(p for p in HERE.glob("*/**/*.py") if not p.name.startswith("_"))
    return [p for p in found if not names or any(_name(p).startswith(n) for n in names)]


def _name(script: Path) -> str:
    return script.relative_to(HERE).as_posix()


def command(script: Path, arguments: list[str]) -> list[str]:
    """What runs a script, in the repository's root."""
    module = ".".join(script.relative_to(ROOT).with_suffix("").parts)
    return [sys.executable, "-m", module, *arguments]


def run(script: Path, arguments: list[str]) -> tuple[str, float]:
    """What a script prints, and its seconds; its errors end the run."""
    start = time.perf_counter()
    done = subprocess.run(
        command(script, arguments), cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout, time.perf_counter() - start


def claims(printed: str) -> list[tuple[str, str, str]]:
    """The claims in what a script printed: claim, ours, same."""
    found = []
    for line in printed.splitlines():
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) == 3 and parts[0].startswith("claim:"):
            found.append(tuple(part.split(":", 1)[1].strip() for part in parts))
    return found


def write(results: dict) -> None:
    """Write the claims of all scripts that have been run."""
    JSON.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    lines = [
        "# Reproductions",
        "",
        "Written by `make reproduce`: what a thesis claims, what these scripts find, and whether",
        "that is the same. Pictures are in the folder `results` beside each script.",
    ]
    for name, entry in sorted(results.items()):
        lines += ["", f"## {name}", "", f"{entry['date']}, {entry['seconds']:.0f} s.", ""]
        lines += ["| claim | ours | same |", "|---|---|---|"]
        lines += [f"| {' | '.join(row)} |" for row in entry["claims"]]
        folder = (HERE / name).parent / "results"
        stem = Path(name).stem
        for picture in sorted(folder.glob(f"{stem}*.png")):
            lines += ["", f"![{picture.stem}]({picture.relative_to(HERE).as_posix()})"]
        if entry["rest"]:
            lines += ["", "```", *entry["rest"], "```"]
    MARKDOWN.write_text("\n".join(lines) + "\n")


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    for script in scripts(options.names):
        print(_name(script), flush=True)
        if options.quick:
            with tempfile.TemporaryDirectory() as folder:
                print(run(script, ["--quick", "--output", folder])[0], flush=True)
            continue
        printed, seconds = run(script, [])
        print(printed, flush=True)
        found = claims(printed)
        rest = [s for s in printed.strip().splitlines() if not s.startswith("claim:")]
        # Another run may have written its own results meanwhile.
        results = json.loads(JSON.read_text()) if JSON.exists() else {}
        results[_name(script)] = {
            "date": datetime.date.today().isoformat(),
            "seconds": seconds,
            "claims": found,
            "rest": rest,
        }
        write(results)


if __name__ == "__main__":
    main()
