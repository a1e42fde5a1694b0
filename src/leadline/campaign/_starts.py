"""When a call begins: what can be known of it, in the executors of others.

A call waits in the queue of its executor first, and that time is not its own. A future of the
standard library says when its call runs, with two exceptions. A pool of processes says so of one
call more than it has processes; and Dask's futures never do. There each call says itself that it
begins: it makes a file, or sends a message that Dask passes on. An executor of another kind whose
futures do not say when they run leaves it unknown.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import uuid
from concurrent.futures import Future
from typing import Any

# What a call takes along to say that it begins; see `_worker.timed`.
Note = tuple | None


class Futures:
    """Futures say when their calls run."""

    def note(self) -> Note:
        """What the next call takes along."""
        return None

    def begun(self, future: Future, note: Note) -> bool:
        """Whether a call has begun."""
        return future.running() or future.done()

    def close(self) -> None:
        """Leave nothing behind."""


class Files(Futures):
    """Calls on this machine make files."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="leadline-", ignore_cleanup_errors=True)
        self._numbers = itertools.count()

    def note(self) -> Note:
        return "file", os.path.join(self._folder.name, str(next(self._numbers)))

    def begun(self, future: Future, note: Note) -> bool:
        return future.done() or (note is not None and os.path.exists(note[1]))

    def close(self) -> None:
        self._folder.cleanup()


class Messages(Futures):
    """Calls on Dask's workers send messages.

    Args:
        client: of the cluster.
    """

    def __init__(self, client: Any):
        self._client, self._topic = client, f"leadline-{uuid.uuid4()}"
        self._numbers, self._heard = itertools.count(), set()
        client.subscribe_topic(self._topic, self._hear)

    def note(self) -> Note:
        return "message", self._topic, next(self._numbers)

    def begun(self, future: Future, note: Note) -> bool:
        return future.done() or (note is not None and note[2] in self._heard)

    def close(self) -> None:
        self._client.unsubscribe_topic(self._topic)

    def _hear(self, event: tuple[float, int]) -> None:
        self._heard.add(event[1])
