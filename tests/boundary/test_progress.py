"""The progress line: how often it changes, lines above it, and silence."""

import io
import sys

import pytest
from rich.console import Console

from leadline.boundary import Silence, open_progress
from leadline.boundary import _progress as progress_module
from leadline.boundary._progress import ProgressLine


def recorded(width=100, terminal=True):
    return Console(file=io.StringIO(), width=width, force_terminal=terminal, color_system=None)


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
        line.show(step, lambda: str(made.append(1)))
    assert 9 <= len(made) <= 11
    line.show(1000, lambda: str(made.append(1)), last=True)
    assert 10 <= len(made) <= 12


def test_a_line_can_be_written_above():
    console = recorded()
    with ProgressLine(3, console) as line:
        line.say("Interrupted: [so far].")
    assert "Interrupted: [so far]." in console.file.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_by_default_it_is_shown_on_terminals(monkeypatch, terminal):
    class Stream(io.StringIO):
        def isatty(self):
            return terminal

    monkeypatch.setattr(sys, "stderr", Stream())
    assert isinstance(open_progress(None, 5), ProgressLine) == terminal
    assert isinstance(open_progress(True, 5), ProgressLine)
    assert type(open_progress(False, 5)) is Silence


def test_what_has_to_be_said_needs_no_terminal(capsys):
    with open_progress(None, 5) as line:
        line.show(1, lambda: "not this")
        line.say("Interrupted.")
    assert capsys.readouterr() == ("", "Interrupted.\n")
