"""Journals that an earlier version wrote: they open, show and go on with the same asks.

The asks that they must go on with are those that the same version went on with. Designs are the
same to the last bit. What a model chose is the same as far as machines round alike.
"""

import math
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import leadline as ll
from leadline.cli import app

JOURNALS = Path(__file__).parent / "journals"
SPACE = ll.Space(
    rate=ll.Real(1e-5, 1e-1, log=True), width=ll.Integer(4, 64), act=ll.Choice("a", "b", "c")
)


def loss(params):
    away = (math.log10(params["rate"]) + 3.0) ** 2 + (params["width"] / 20 - 1.0) ** 2
    return away + "abc".index(params["act"]), [params["width"] - 60.0]


@pytest.fixture
def journal(tmp_path):
    """A copy of a journal, by its name."""
    return lambda name: str(shutil.copy(JOURNALS / f"{name}.db", tmp_path / "copy.db"))


def test_a_design_goes_on(journal):
    found = ll.minimize(
        lambda x: float(np.sum((x - 0.3) ** 2)),
        [(0, 1)] * 3,
        budget=6,
        seed=5,
        journal=journal("before_rooms_design"),
        progress=False,
    )
    expected = [
        [0.5550029237453803, 0.05794078973649375, 0.265325561042142],
        [0.6800029237453803, 0.6829407897364937, 0.140325561042142],
        [0.1800029237453803, 0.18294078973649375, 0.640325561042142],
    ]
    np.testing.assert_array_equal([trial.x for trial in found.trials[3:]], expected)


def test_a_model_with_constraints_goes_on(journal):
    found = ll.minimize(
        loss,
        SPACE,
        budget=15,
        seed=3,
        constraints=1,
        journal=journal("before_rooms"),
        progress=False,
    )
    asked = [trial.x for trial in found.trials[12:]]
    assert [(x["width"], x["act"]) for x in asked] == [(18, "a"), (4, "a"), (20, "a")]
    expected = [0.0028167099615012047, 0.0011204576647109619, 0.0009467905953866635]
    np.testing.assert_allclose([x["rate"] for x in asked], expected, rtol=1e-3)
    assert all(trial.constraints == (trial.x["width"] - 60.0,) for trial in found.trials)


def test_it_is_shown_and_exported(journal, tmp_path):
    copy = journal("before_rooms")
    shown = CliRunner().invoke(app, ["show", copy])
    assert shown.exit_code == 0, shown.output
    assert "12 trials" in shown.output
    table = tmp_path / "table.csv"
    exported = CliRunner().invoke(app, ["export", copy, str(table)])
    assert exported.exit_code == 0, exported.output
    first, *rows = table.read_text().splitlines()
    assert first.startswith("trial,rate,width,act,value,constraint_0")
    assert len(rows) == 12
