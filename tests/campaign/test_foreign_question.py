"""A question that is defined outside of Leadline goes the whole way of a campaign."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from tests.campaign.foreign import Panel, ask_panel
from tests.campaign.toys import history
from typer.testing import CliRunner

import leadline as ll
from leadline.campaign import CampaignOptions, run
from leadline.cli import app


def told(trials):
    return [(t[0], t[1], None if t[2] is None else t[2].tolist(), t[4]) for t in history(trials)]


def test_a_kill_and_a_resume(database):
    """What comes after is what would have come without the kill."""
    url = str(database.where)
    killed = subprocess.run([sys.executable, "-m", "tests.campaign.foreign", url], check=False)
    assert killed.returncode == 9
    before = ll.load(url)
    assert isinstance(before, Panel)
    assert sum(t.value is not None or t.failed for t in before.trials) == 6
    run(Panel(), ask_panel, CampaignOptions(12, journal=url, progress=False))
    whole = Panel()
    run(whole, ask_panel, CampaignOptions(12, progress=False))
    assert told(ll.load(url).trials) == told(whole.trials)
    assert any(t.failed for t in whole.trials)


def test_frames_files_and_reports(tmp_path):
    journal = str(tmp_path / "panel.db")
    frame = run(Panel(), ask_panel, CampaignOptions(12, journal=journal, progress=False))
    columns = ["trial", "left", "right", "value", "failed", "reason", "seconds", "info"]
    assert list(frame.columns) == columns
    assert len(frame) == 12
    good = frame[~frame["failed"]]
    np.testing.assert_allclose(
        np.stack(list(good["value"])), np.outer(good["left"] - good["right"], [1.0, 2.0, 3.0])
    )
    shown = CliRunner().invoke(app, ["show", journal])
    assert shown.exit_code == 0, shown.output
    assert "panel, seed 0" in shown.output
    assert "12 trials" in shown.output
    exported = CliRunner().invoke(app, ["export", journal, str(tmp_path / "panel.csv")])
    assert exported.exit_code == 0, exported.output
    table = pd.read_csv(tmp_path / "panel.csv")
    assert list(table.columns) == [*columns, "traceback", "state"]
    assert len(table) == 12


def test_a_question_that_says_nothing_of_its_settings():
    class Silent(Panel):
        verb = "silent"
        from_settings = classmethod(ll.questions.Question.from_settings.__func__)

    with pytest.raises(ll.Unsupported, match="Silent"):
        ll.questions.question_from_settings(Silent().settings())
