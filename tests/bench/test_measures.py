"""Every measure is there, and the sides that it compares have workers."""

import importlib

import pytest
from bench.folders import BENCH
from bench.run import MEASURES
from bench.sides.libraries import BOTORCH, LEADLINE


def test_the_runner_knows_every_measure():
    files = (BENCH / "measures").glob("[!_]*.py")
    assert sorted(MEASURES) == sorted(file.stem for file in files)


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_says_what_it_is(name):
    # Sides are found while a measure is imported.
    measure = importlib.import_module(f"bench.measures.{name}")
    assert measure.TITLE
    assert measure.WHAT
    assert callable(measure.run)


def test_a_library_says_what_it_has_workers_for():
    assert LEADLINE.on("fit").module == "bench.sides.leadline.fit"
    with pytest.raises(ValueError, match="BoTorch has no 'stuck', only batch, fit"):
        BOTORCH.on("stuck")
