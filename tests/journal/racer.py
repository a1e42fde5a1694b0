"""A process that claims and finishes trials as fast as it can.

    python -m tests.journal.racer JOURNAL COUNT NAME

It says "ready", waits for a line, finishes COUNT trials with its name in their info, and says how
often another process was faster.
"""

import sys
import time

import numpy as np
from tests.places import SETTINGS

from leadline.journal._journal import open_journal
from leadline.questions import Asked, Told


def race(where, count, name):
    """Finish `count` trials; how often another process was faster."""
    journal = open_journal(where)
    journal.open(SETTINGS)
    seen = trials = lost = 0
    while count:
        for number, event in journal.read(seen):
            assert number == seen + 1
            seen = number
            if isinstance(event, Asked):
                assert event.trial == trials
                trials += 1
        # Time for the others to be faster.
        time.sleep(0.002)
        if journal.claim([Asked(trials, {"a": 0.5, "b": "x"}, {"w": np.full(2, trials)})]):
            assert journal.finish(Told(trials, float(trials), {"name": name}))
            count -= 1
        else:
            lost += 1
    journal.close()
    return lost


if __name__ == "__main__":
    _, where, count, name = sys.argv
    print("ready", flush=True)
    sys.stdin.readline()
    print(race(where, int(count), name), flush=True)
