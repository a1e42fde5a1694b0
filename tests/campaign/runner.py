"""A campaign in a process of its own: `python -m tests.campaign.runner CASE JOURNAL LOG`.

The answer is printed as JSON.
"""

import contextlib
import functools
import json
import os
import signal
import sys
import threading
import time


def hang(log, x):
    """Say which process runs, and wait to be interrupted."""
    _note(log, os.getpid())
    time.sleep(600.0)


def hang_in_a_thread(log, x):
    """The same, in a thread, which signals do not reach."""
    _note(log, os.getpid())
    threading.Event().wait(600.0)


def noted(log, x):
    """A short call that leaves its point in the log."""
    _note(log, x.tobytes().hex())
    time.sleep(0.005)
    return float(x[0])


def hear_interrupts():
    """Let Ctrl-C interrupt: a shell that starts something in the background makes it deaf."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _note(log, what):
    with open(log, "a") as file:
        file.write(f"{what}\n")


CASES = {
    "calling thread": (hang, {}),
    "threads": (hang_in_a_thread, {"workers": 2}),
    "processes": (hang, {"executor": "processes", "workers": 2}),
    "quiet": (hang, {"executor": "processes", "workers": 2, "progress": False}),
    "shared": (noted, {"workers": 4}),
}


def main(case, journal, log):
    """Run a campaign and print its trials."""
    from leadline.campaign import minimize

    hear_interrupts()
    f, options = CASES[case]
    answer = minimize(
        functools.partial(f, log),
        [(0.0, 1.0)] * 2,
        budget=60,
        method="random",
        journal=journal,
        **{"progress": True, **options},
    )
    print(json.dumps([[t.x.tobytes().hex(), t.value, t.running] for t in answer.trials]))


if __name__ == "__main__":
    # Raised if the interrupt comes before the first call.
    with contextlib.suppress(KeyboardInterrupt):
        main(*sys.argv[1:])
