"""The progress line: what it says, how often, and silence."""

import io
import sys

import pytest
from rich.console import Console
from tests.campaign.toys import Toy

from leadline.campaign import CampaignOptions, run
from leadline.campaign import _progress as progress_module
from leadline.campaign._progress import ProgressLine, Silence, Tally, open_progress


def recorded(width=100, terminal=True):
    return Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None)


def test_it_says_how_far_the_campaign_is():
    console = recorded(terminal=False)
    with ProgressLine(12, console) as line:
        line.show(Tally(started=9, ended=7, failed=2), lambda: "best [0.25]", last=True)
    (last,) = console.file.getvalue().splitlines()
    assert "7/12" in last
    assert "best [0.25], 2 failed, 2 running" in last
    assert "0:00:00" in last


def test_nothing_is_said_about_what_there_is_not():
    console = recorded()
    with ProgressLine(3, console) as line:
        line.show(Tally(started=3, ended=3), lambda: "", last=True)
    assert "failed" not in console.file.getvalue()
    assert "running" not in console.file.getvalue()


def test_most_of_many_changes_in_a_short_time_are_passed_over(monkeypatch):
    """A headline may be dear: it is made at most ten times a second, and at the end."""

    class FakeTime:
        now = 0.0

        def monotonic(self):
            return self.now

    clock, made = FakeTime(), []
    line = ProgressLine(1000, recorded())
    monkeypatch.setattr(progress_module, "time", clock)
    for step in range(1000):
        clock.now = step * 0.001
        line.show(Tally(step, step), lambda: str(made.append(1)))
    assert 9 <= len(made) <= 11
    line.show(Tally(1000, 1000), lambda: str(made.append(1)), last=True)
    assert 10 <= len(made) <= 12


def test_a_line_can_be_written_above():
    console = recorded()
    with ProgressLine(3, console) as line:
        line.say("Interrupted: [so far].")
    assert "Interrupted: [so far]." in console.file.getvalue()


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


@pytest.mark.parametrize("terminal", [True, False])
def test_by_default_it_is_shown_on_terminals(monkeypatch, terminal):
    class Stream(io.StringIO):
        def isatty(self):
            return terminal

    monkeypatch.setattr(sys, "stderr", Stream())
    assert isinstance(open_progress(None, 5), ProgressLine) == terminal
    assert isinstance(open_progress(True, 5), ProgressLine)
    assert type(open_progress(False, 5)) is Silence
