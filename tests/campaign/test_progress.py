"""What a campaign says of how far it is."""

from tests.boundary.test_progress import recorded
from tests.campaign.toys import Toy

import leadline as ll
from leadline.boundary._progress import ProgressLine
from leadline.campaign import CampaignOptions, run
from leadline.campaign._tally import Tally


def test_it_says_how_far_the_campaign_is():
    console = recorded(terminal=False)
    with ProgressLine(12, console) as line:
        tally = Tally(started=9, ended=7, failed=2)
        line.show(tally.ended, lambda: tally.describe("best [0.25]"), last=True)
    (last,) = console.file.getvalue().splitlines()
    assert "7/12" in last
    assert "best [0.25], 2 failed, 2 running" in last
    assert "0:00:00" in last


def test_nothing_is_said_about_what_there_is_not():
    console = recorded()
    with ProgressLine(3, console) as line:
        line.show(3, lambda: Tally(started=3, ended=3).describe(""), last=True)
    assert "failed" not in console.file.getvalue()
    assert "running" not in console.file.getvalue()


def test_failures_that_were_told_by_hand_and_mended_are_none(tmp_path, capsys):
    path, box = tmp_path / "run.db", [(0.0, 1.0)] * 2
    question = ll.Minimize(box, "random", journal=path)
    for _ in range(3):
        question.fail([0.5, 0.5], "spilled")
    question.correct(0, 0.25)
    question.correct(1, 0.5)
    question.close()
    ll.minimize(lambda x: 1.0, box, budget=2, method="random", journal=path, progress=True)
    assert "best call 0.25, 1 failed" in capsys.readouterr().err


def test_a_campaign_shows_its_end(capsys):
    run(Toy(), lambda x: 1.0, CampaignOptions(7, progress=True))
    captured = capsys.readouterr()
    assert "7/7" in captured.err
    assert "[7 values]" in captured.err
    assert captured.out == ""


def test_without_progress_there_is_no_output_at_all(capfd):
    run(Toy(), lambda x: 1.0, CampaignOptions(3, progress=False))
    # Standard error is no terminal here.
    run(Toy(), lambda x: 1.0, CampaignOptions(3))
    assert capfd.readouterr() == ("", "")
