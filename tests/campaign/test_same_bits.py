"""A campaign asks the same to the bit, whatever was compiled when, and on how many threads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

BUDGET = 16
PROGRAM = """
import json, os, signal, sys
from pathlib import Path
import numpy as np
from leadline.campaign import minimize

journal, fatal = sys.argv[1:]

def f(x):
    if fatal and not Path(fatal).exists() and len(list(Path(fatal).parent.glob("call*"))) == 11:
        Path(fatal).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if fatal:
        (Path(fatal).parent / f"call{x.tobytes().hex()}").touch()
    return float(np.sin(9 * x[0]) + (x[1] - 0.4) ** 2)

answer = minimize(f, [(0.0, 1.0)] * 2, budget=16, seed=3, journal=journal or None, progress=False)
print(json.dumps([[t.x.tobytes().hex(), t.value] for t in answer.trials]))
"""


def run(programs: Path, journal: Path | str = "", fatal: Path | str = "", **variables: str):
    environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(programs)} | variables
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(journal), str(fatal)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def trials(process) -> list:
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


@pytest.mark.slow
def test_killed_and_resumed_with_cold_and_warm_caches(tmp_path):
    folders = {name: tmp_path / name for name in ("first", "second", "third")}
    for folder in folders.values():
        folder.mkdir()
    cold = trials(run(folders["first"]))
    assert len(cold) == BUDGET
    warm = trials(run(folders["first"]))
    assert warm == cold

    journal, fatal = tmp_path / "run.db", folders["second"] / "fatal"
    killed = run(folders["second"], journal, fatal)
    assert killed.returncode == -signal.SIGKILL
    resumed = trials(run(folders["third"], journal, fatal))
    assert resumed == cold

    alone = run(folders["third"], JAX_ENABLE_COMPILATION_CACHE="0", OPENBLAS_NUM_THREADS="1")
    assert trials(alone) == cold
