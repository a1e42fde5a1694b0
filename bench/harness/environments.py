"""The environments of the peers: one virtual environment each, made when it is first wanted.

They are made by pip under `bench/.cache/envs`. `LEADLINE_BENCH_ENVS` names a folder with ready ones
instead, `<folder>/torch` and `<folder>/gpjax`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.folders import CACHE

REQUIREMENTS = {
    "torch": (
        "torch==2.13.0",
        "botorch==0.18.1",
        "gpytorch==1.15.2",
        "optuna==5.0.0",
        "scikit-learn>=1.6",
    ),
    "gpjax": ("gpjax==1.0.0",),
}


def python(environment: str) -> Path:
    """The interpreter of an environment; `leadline` is the one that runs this."""
    if environment == "leadline":
        return Path(sys.executable)
    ready = os.environ.get("LEADLINE_BENCH_ENVS")
    if ready:
        found = Path(ready) / environment / "bin" / "python"
        if not found.exists():
            raise FileNotFoundError(f"LEADLINE_BENCH_ENVS is {ready!r}, which has no {found}")
        return found
    return _made(environment)


def _made(environment: str) -> Path:
    folder = CACHE / "envs" / environment
    interpreter = folder / "bin" / "python"
    wanted = "\n".join(REQUIREMENTS[environment])
    stamp = folder / "installed.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"making the environment {environment}: {', '.join(REQUIREMENTS[environment])}")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(interpreter), "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, *REQUIREMENTS[environment]], check=True)
        stamp.write_text(wanted)
    return interpreter
