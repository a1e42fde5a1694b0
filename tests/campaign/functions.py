"""Functions for worker processes, which start fast: nothing here imports Leadline or JAX."""

import os
import sys
import time


class Stubborn(Exception):
    """Pickles, but cannot be unpickled: its constructor takes two arguments."""

    def __init__(self, what, why):
        super().__init__(f"{what}: {why}")


def first(x):
    """The first coordinate."""
    return float(x[0])


def limited(x):
    """The sum, which must be at least 1, and the first input, which must be at most 0.5."""
    return float(x.sum()), [1.0 - float(x.sum()), float(x[0]) - 0.5]


def remember(folder, x):
    """The first coordinate; leaves a file for each call."""
    with open(os.path.join(folder, f"{os.getpid()}-{time.monotonic_ns()}"), "w") as file:
        file.write(repr(float(x[0])))
    return float(x[0])


def modules(x):
    """Which of the heavy modules the worker has loaded."""
    return 1.0, {"loaded": [name for name in ("leadline", "jax") if name in sys.modules]}


def misbehave(x):
    """Does what the first coordinate says."""
    match int(x[0]):
        case 0:
            return 0.5, {"pid": os.getpid()}
        case 1:
            raise ValueError("no luck")
        case 2:
            os._exit(3)
        case 3:
            time.sleep(600.0)
        case 4:
            raise Stubborn("a", "b")
        case 5:
            print("x" * 1_000_000)
            return 5.0
        case 6:
            return "six"
        case 7:
            return float("nan")
        case 8:
            sys.exit(8)
        case 9:
            return lambda: None
        case 10:
            raise TimeoutError("the function's own")
    return float(x[0])


def die(x):
    """Ends its process."""
    os._exit(1)


def unlucky(x):
    """Fails, with its point in the reason."""
    raise ValueError(f"no luck at {x[0]:.3g}")


def leave(x):
    """Ends its process at 1 and 2 as if all were well, and tries to at 3."""
    if x[0] in (1.0, 2.0):
        os._exit(0)
    if x[0] == 3.0:
        sys.exit()
    return float(x[0])


def fork_and_leave(x):
    """Ends its process, whose connections a child of it still has."""
    if x[0] == 1.0 and os.fork():
        os._exit(0)
    if x[0] == 1.0:
        time.sleep(3.0)
        os._exit(0)
    return float(x[0])


def nap(x):
    """The first coordinate, after a second."""
    time.sleep(1.0)
    return float(x[0])


def wait_for(path):
    """Return when there is a file."""
    while not os.path.exists(path):
        time.sleep(0.01)


def together(points):
    """The first coordinates of several points, with the process and how many points it got."""
    info = {"pid": os.getpid(), "points": len(points)}
    return [(float(x[0]), info) for x in points]


def misbehave_together(points):
    """Hangs with a point whose first coordinate is 3, and ends its process with one at 7."""
    if 3.0 in points[:, 0]:
        time.sleep(600.0)
    if 7.0 in points[:, 0]:
        os._exit(3)
    return points[:, 0]
