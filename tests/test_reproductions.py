"""Every reproduction runs in its small version, says what it claims, and leaves a picture."""

import subprocess
import sys

import pytest
from reproductions.run import HERE, claims, scripts

NAMES = [script.relative_to(HERE).as_posix() for script in scripts([])]


def test_reading_claims():
    printed = "a table\nclaim: x is 3 | ours: 3.01 | same: yes\nclaim without parts\n"
    assert claims(printed) == [("x is 3", "3.01", "yes")]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_quick_version(name, tmp_path):
    command = [sys.executable, str(HERE / name), "--quick", "--output", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = claims(done.stdout)
    assert found, done.stdout
    assert all(same.startswith(("yes", "no", "partly")) for _, _, same in found), found
    assert list(tmp_path.glob("*.png"))
