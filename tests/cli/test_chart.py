"""Charts of text."""

import numpy as np

from leadline.cli._chart import text_chart


def test_chart():
    lines = text_chart([np.nan, 8.0, 8.0, 4.0, 0.0], 5, 2)
    assert lines == ["8 ┤ ██▁ ", "0 ┤ ███▁"]
    assert text_chart([3.0] * 4, 9, 3)[2] == "3 ┤▁▁▁▁"
    # Of 100 steps in 10 columns the last of each is shown, the last of all at the right end.
    falling = text_chart(np.arange(100.0, 0.0, -1.0).tolist(), 10, 2)
    assert [line[:2] for line in falling] == ["91", " 1"]
    # Values over several magnitudes are on a log scale: the middle one is half-way.
    assert text_chart([100.0, 1.0, 0.01], 3, 4)[2][-3:] == "██ "
    assert text_chart([100.0, 1.0, -0.01], 3, 4)[2][-3:] == "█  "
