"""Every reproduction runs in its small version, says what it claims, and leaves a picture."""

import subprocess

import pytest
from reproductions.run import HERE, ROOT, claims, command, scripts

NAMES = [script.relative_to(HERE).as_posix() for script in scripts([])]


def test_reading_claims():
    printed = "a table\nclaim: x is 3 | ours: 3.01 | same: yes\nclaim without parts\n"
    assert claims(printed) == [("x is 3", "3.01", "yes")]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_quick_version(name, tmp_path):
    module = command(HERE / name, ["--quick", "--output", str(tmp_path)])
    done = subprocess.run(module, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = claims(done.stdout)
    assert found, done.stdout
    assert all(same.startswith(("yes", "no", "partly")) for _, _, same in found), found
    assert list(tmp_path.glob("*.png"))
