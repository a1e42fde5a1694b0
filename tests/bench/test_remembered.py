"""What peers answered is found again after code has moved, and not after it has changed."""

import json
import shutil

import pytest
from bench.folders import BENCH
from bench.harness.remembered import EARLIER, Remembered, digest, request_key
from bench.harness.sources import fingerprint
from bench.sides.libraries import BOTORCH, PEERS

FIT = BOTORCH.on("fit")
WORKERS = [library.on(subject) for library in PEERS for subject in library.subjects()]
REQUEST = {"seed": 0, "n": 50}
ENTRY = {"answer": {"seconds": 0.17}, "date": "2026-11-18", "versions": {"botorch": "0.18.1"}}


def remembered(path, *keys):
    path.write_text(json.dumps({key: ENTRY for key in keys}))
    return Remembered(path)


@pytest.fixture
def checkout(tmp_path):
    """A copy of the benchmarks that may be changed."""
    shutil.copytree(BENCH, tmp_path / "bench", ignore=shutil.ignore_patterns(".cache", "*.json"))
    return tmp_path


def replace(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_an_answer_is_found_until_its_request_changes(tmp_path):
    key = request_key(FIT, "fit_predict", REQUEST)
    known = remembered(tmp_path / "peers.json", key)
    assert known.get(key) == ENTRY
    assert known.get(request_key(FIT, "fit_predict", {**REQUEST, "n": 51})) is None
    assert known.get(request_key(FIT, "log_density", REQUEST)) is None


def test_earlier_digests_are_of_workers_of_today():
    changed = set(EARLIER) - {digest(side) for side in WORKERS}
    assert not changed, (
        "These workers, or their data, do something else now, and will be measured again. If that "
        "is meant, take their lines off EARLIER."
    )


MOVED = [side for side in WORKERS if digest(side) in EARLIER]


@pytest.mark.parametrize("side", MOVED, ids=lambda side: side.module)
def test_answers_from_before_the_move_are_found(side, tmp_path, checkout):
    key = request_key(side, "ask", REQUEST)
    old = key.replace(digest(side), EARLIER[digest(side)])
    assert old != key
    known = remembered(tmp_path / "peers.json", old)
    assert known.get(key) == ENTRY
    # A worker that has changed does not get them.
    worker = checkout / f"{side.module.replace('.', '/')}.py"
    worker.write_text(worker.read_text() + "\nMORE = 1\n")
    assert known.get(request_key(side, "ask", REQUEST, checkout)) is None


def test_a_cache_of_the_flat_layout(tmp_path, monkeypatch):
    path = tmp_path / "peers.json"
    known = remembered(path, "BoTorch: fit_predict n=50 seed=0 [4b437790aa]")
    key = request_key(FIT, "fit_predict", REQUEST)
    monkeypatch.setitem(EARLIER, digest(FIT), "4b437790aa")
    assert known.get(key) == ENTRY
    monkeypatch.delitem(EARLIER, digest(FIT))
    assert known.get(key) is None


def test_what_was_measured_since_comes_first(tmp_path, monkeypatch):
    monkeypatch.setitem(EARLIER, "now", "then")
    known = remembered(tmp_path / "peers.json", "a [then]")
    assert known.get("a [now]") == ENTRY
    newer = {**ENTRY, "answer": {"regret": 0.1}}
    known.put("a [now]", newer)
    assert known.get("a [now]") == newer
    assert Remembered(known.path).get("a [now]") == newer
    assert Remembered(known.path).get("a [then]") == ENTRY


def test_code_that_moves_is_the_same_code(checkout):
    before = fingerprint(FIT.module)
    assert fingerprint(FIT.module, checkout) == before
    bench = checkout / "bench"
    (bench / "peers").mkdir()
    (bench / "sides/botorch/fit.py").rename(bench / "peers/torch_fit.py")
    (bench / "problems/datasets.py").rename(bench / "datasets.py")
    replace(
        bench / "peers/torch_fit.py",
        "from bench.problems import datasets",
        "# where data come from\nfrom bench import (\n    datasets,\n)",
    )
    assert fingerprint("bench.peers.torch_fit", checkout) == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("sides/botorch/fit.py", "Standardize(1)", "Standardize(2)"),
        (
            "harness/worker.py",
            "print(json.dumps(reply), file",
            "print(json.dumps(reply, indent=1), file",
        ),
        ("problems/datasets.py", "NOISE = 0.01", "NOISE = 0.02"),
        # Of which the worker knows by way of its data only.
        ("problems/functions.py", "[1.0, 1.2, 3.0, 3.2]", "[1.0, 1.2, 3.0, 3.3]"),
    ],
)
def test_code_that_changes_is_other_code(checkout, file, old, new):
    replace(checkout / "bench" / file, old, new)
    assert fingerprint(FIT.module, checkout) != fingerprint(FIT.module)
    assert digest(FIT, checkout) != digest(FIT)


def test_code_of_other_workers_does_not_matter(checkout):
    replace(checkout / "bench/sides/botorch/minimize.py", "INITIAL = 10", "INITIAL = 11")
    replace(checkout / "bench/problems/objectives.py", "FLOOR = 1e-4", "FLOOR = 1e-5")
    assert fingerprint(FIT.module, checkout) == fingerprint(FIT.module)


def test_required_versions_matter(monkeypatch):
    before = digest(FIT)
    versions = {FIT.environment: ("torch==3", "botorch==1")}
    monkeypatch.setattr("bench.harness.environments.REQUIREMENTS", versions)
    assert digest(FIT) != before
