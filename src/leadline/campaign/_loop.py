"""The loop that runs a question against a function.

Each turn reads what is new in the journal, takes over trials whose process died, asks for points
and claims them in the journal, calls the function, and writes down what became of the calls. The
question changes only by events read from the journal, its own among them, so a question that
replays the journal is the one that ran.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from leadline.boundary import InvalidData, Silence, open_progress
from leadline.campaign._calls import Calls
from leadline.campaign._failures import CallsFailed, ExecutorFailed
from leadline.campaign._given import Known, not_yet_given, read_given
from leadline.campaign._hopeless import hopeless
from leadline.campaign._interrupts import uninterrupted
from leadline.campaign._options import CampaignOptions
from leadline.campaign._outcomes import Outcome, event_of
from leadline.campaign._pool import open_pool
from leadline.campaign._tally import Tally
from leadline.campaign._tasks import tasks_of
from leadline.journal import (
    Asked,
    Corrected,
    End,
    Event,
    Failed,
    Given,
    Journal,
    JournalFailed,
    Told,
    Withdrawn,
    open_journal,
)
from leadline.questions import Exhausted, Question, Trial, with_unwritten

# Seconds between two looks at what other processes do: while there is nothing else to do, and
# while our own calls run.
_WATCH, _GLANCE = 0.25, 1.0

WorthAsking = Callable[[Asked], bool]


def run(
    question: Question,
    f: Any,
    options: CampaignOptions,
    worth_asking: WorthAsking | None = None,
) -> Any:
    """Call a function where a question asks, until the budget is used up.

    Args:
        question: a new one; what the journal knows is told to it first.
        f: takes a point and returns a value; after it, in a tuple, may come a dict of anything
            else worth keeping. With `vectorized`, points and as many of these.
        options: how to run.
        worth_asking: whether an ask is worth its call, if others than the question decide it; the
            campaign ends when none is.

    Returns:
        The question's answer: after Ctrl-C too, with what is known by then.

    Raises:
        ExecutorFailed: the executor takes no more calls.
        JournalFailed: the journal cannot be read or written any more.
        CallsFailed: all calls failed, `max_failures` of them in a row the same way.
    """
    given = read_given(question, options.given, options.journal)
    _check(question, f, options, len(given))
    journal = open_journal(options.journal, options.lease)
    with contextlib.ExitStack() as stack:
        if journal is not options.journal:
            stack.callback(journal.close)
        journal.open(question.settings())
        stack.callback(question.close)
        stack.callback(journal.release)
        # Leaves before the journal: a call is not free for others while we may still run it.
        pool = open_pool(options, f)
        stack.callback(pool.close)
        progress = stack.enter_context(open_progress(options.progress, options.budget))
        calls = Calls(f, pool, tasks_of(options, pool.slots))
        question.expect(options.budget, options.batch or calls.free)
        worth = worth_asking or question.worth_asking
        loop = Loop(question, calls, journal, options, worth, progress)
        stack.enter_context(loop.saying_what_is_lost())
        stack.callback(loop.settle)
        try:
            loop.give(given)
            loop.run()
        except KeyboardInterrupt:
            loop.settle()
            progress.say(f"Interrupted: this is the answer so far. {loop.ended()}")
        except (ExecutorFailed, CallsFailed) as error:
            kept = "are lost: journal= keeps them"
            if options.journal is not None:
                kept = "are safe in the journal: the same call continues"
            raise type(error)(f"{error} The trials so far {kept}.") from error
    return question.answer()


class Loop:
    """One process's part in a campaign."""

    def __init__(
        self,
        question: Question,
        calls: Calls,
        journal: Journal,
        options: CampaignOptions,
        worth_asking: WorthAsking,
        progress: Silence,
    ):
        self._question, self._calls, self._journal = question, calls, journal
        self._options, self._worth_asking, self._progress = options, worth_asking, progress
        self._begin = time.monotonic()
        self._tally = Tally()
        # The number of the last event that was applied.
        self._number = 0
        # Trials that started and did not end, here or elsewhere.
        self._open: set[int] = set()
        # Ours, and not called yet: trials with their points.
        self._waiting: collections.deque[tuple[int, Any]] = collections.deque()
        # Ours, and finished, but not read back yet; and those that the callback does not know yet.
        self._ended: set[int] = set()
        self._untold: collections.deque[Trial] = collections.deque()
        # What we wrote and have not read back.
        self._unread: list[Event] = []
        # What became of calls, until it is in the journal; and whether it came too late.
        self._unwritten: collections.deque[tuple[Told | Failed, bool]] = collections.deque()
        # Nothing is worth asking until an event after this number.
        self._refused = -1
        self._exhausted = False
        self._called_off = False
        self._broken: ExecutorFailed | None = None
        # Failures of earlier runs, after which another one ends this run if there is no hope.
        self._failed_before = 0

    def give(self, given: list[Known]) -> None:
        """Tell the question what is known already, unless the journal has told it."""
        self._catch_up()
        self._failed_before = self._tally.failed
        while left := not_yet_given(self._question, given):
            for known in left:
                event = Given(len(self._question.trials), *known)
                with uninterrupted():
                    # Another process may have been faster.
                    given_now = self._journal.give(event)
                    self._apply_news()
                if not given_now:
                    break

    def run(self) -> None:
        """Until the budget is used up and no trial runs any more, here or elsewhere."""
        while True:
            self._catch_up()
            self._adopt()
            self._ask()
            if not self._over():
                self._start()
            others = self._others()
            if not self._calls.running and (self._over() or not others):
                self._check_hope()
                return
            self._calls.wait(_WATCH if others and self._calls.free else _GLANCE)
            with uninterrupted():
                self._record(self._calls.collect())
            if self._broken is not None:
                raise self._broken

    def settle(self) -> None:
        """Write down what ended, and leave the rest to whoever continues."""
        with uninterrupted():
            self._calls.withdraw()
            self._record(self._calls.collect())
            self._apply_news()
        self._show(last=True)

    @contextlib.contextmanager
    def saying_what_is_lost(self) -> Iterator[None]:
        """If the journal fails, its error says what is in there, and what is not."""
        try:
            yield
        except JournalFailed as error:
            lost = [event for event, _ in self._unwritten]
            told = with_unwritten(error, self._question, self._unread, lost)
            raise told from error.__cause__

    def ended(self) -> str:
        """How many calls have ended, in words."""
        ended = self._tally.ended
        return f"{ended or 'No'} call{' has' if ended < 2 else 's have'} ended."

    def _over(self) -> bool:
        """Whether no call may start any more, whatever the budget."""
        limit = self._options.seconds
        late = limit is not None and time.monotonic() - self._begin >= limit
        return late or self._called_off or self._hopeless() is not None

    def _hopeless(self) -> Trial | None:
        """The last of the failures after which no call may start, if there are too many."""
        most, failed = self._options.max_failures, self._tally.failed
        if most is None or failed < self._tally.ended or failed <= self._failed_before:
            return None
        return hopeless(self._question.trials, most)

    def _check_hope(self) -> None:
        last = None if self._called_off else self._hopeless()
        if last is not None:
            raise CallsFailed(
                f"No call has returned a value, and the last {self._options.max_failures} failed "
                f"the same way: {last.reason.rstrip('.')}. max_failures=None goes on whatever "
                "fails."
            )

    def _others(self) -> set[int]:
        """Trials that run elsewhere, or whose process died."""
        return self._open - self._calls.running - {trial for trial, _ in self._waiting}

    def _catch_up(self) -> None:
        """Read and apply what is new, and tell the callback which of our trials ended."""
        with uninterrupted():
            self._apply_news()
        callback = self._options.callback
        while self._untold:
            trial = self._untold.popleft()
            wish = callback(trial) if callback else None
            # A callback that returns something by chance, as `file.write` does, wishes nothing.
            self._called_off |= isinstance(wish, bool | np.bool_) and bool(wish)
        self._show()

    def _show(self, last: bool = False) -> None:
        """Say how far the campaign is."""
        tally, question = self._tally, self._question
        self._progress.show(tally.ended, lambda: tally.describe(question.headline()), last)

    def _apply_news(self) -> None:
        """Apply what is new in the journal."""
        news = self._journal.read(self._number)
        self._unread.clear()
        for number, event in news:
            if isinstance(event, Corrected):
                self._tally.failed -= self._question.trials[event.trial].failed
            trial = self._question.apply(event)
            self._number = number
            if isinstance(event, Asked):
                self._tally.started += 1
                self._open.add(event.trial)
            elif isinstance(event, Given | Corrected):
                self._tally.failed += trial.failed
            elif isinstance(event, Withdrawn):
                # It is no call.
                self._tally.started -= 1
                self._open.discard(event.trial)
            elif isinstance(event, End):
                self._tally.ended += 1
                self._tally.failed += trial.failed
                self._open.discard(event.trial)
                if event.trial in self._ended:
                    self._ended.remove(event.trial)
                    self._untold.append(trial)

    def _adopt(self) -> None:
        """Take over trials that nobody runs any more."""
        others = self._others()
        rerun = self._options.rerun
        room = self._calls.free - len(self._waiting) if rerun else len(others)
        if not others or room < 1 or self._over():
            return
        with uninterrupted():
            adopted = self._journal.adopt(room)
            # They may be newer than what we have read.
            self._apply_news()
            for trial in adopted:
                if rerun:
                    self._waiting.append((trial, self._question.trials[trial].x))
                else:
                    self._finish(Failed(trial, "was running when its process ended"))
        if adopted and not rerun:
            self._catch_up()

    def _ask(self) -> None:
        """Ask for points, claim them and call there, as long as there is room."""
        while room := self._room():
            asks = self._proposals(room)
            if not asks or self._over():
                return
            with uninterrupted():
                claimed = self._journal.claim(asks)
                if claimed:
                    self._waiting.extend((ask.trial, ask.point) for ask in asks)
                    self._unread += asks
            self._start()
            # Another process may have been faster; or there is room for the next ask.
            if not claimed or self._calls.free:
                self._catch_up()

    def _room(self) -> int:
        """How many points may be asked for now."""
        if self._exhausted or self._over() or self._refused == self._number:
            return 0
        left = max(0, self._options.budget - self._tally.started)
        if self._options.batch is None:
            return min(1, left, self._calls.free - len(self._waiting))
        idle = not self._calls.running and not self._waiting
        return min(self._options.batch, left) if idle else 0

    def _proposals(self, n: int) -> list[Asked]:
        """The next asks that are worth a call, at most `n`."""
        try:
            asks = self._question.propose_batch(n)
        except Exhausted:
            self._exhausted = True
            return []
        worth = list(itertools.takewhile(self._worth_asking, asks))
        if not worth:
            # What runs may change that; if nothing does, nothing will.
            self._refused, self._exhausted = self._number, not self._open
        return worth

    def _start(self) -> None:
        """Call the function for trials that wait, as long as there is room."""
        for trials in self._calls.deal(len(self._waiting)):
            self._calls.start([self._waiting.popleft() for _ in range(trials)])

    def _record(self, outcomes: list[Outcome]) -> None:
        """Write down what became of calls."""
        for outcome in outcomes:
            if isinstance(outcome.error, ExecutorFailed):
                self._broken = outcome.error
                continue
            self._unwritten.append((event_of(self._question, outcome), outcome.late))
        while self._unwritten:
            event, late = self._unwritten.popleft()
            try:
                kept = not late and self._finish(event)
                if not kept and isinstance(event, Told):
                    self._journal.late(event)
            except JournalFailed:
                self._unwritten.appendleft((event, late))
                raise

    def _finish(self, event: Told | Failed) -> bool:
        finished = self._journal.finish(event)
        if finished:
            self._ended.add(event.trial)
            self._unread.append(event)
        return finished


def _check(question: Question, f: Any, options: CampaignOptions, given: int) -> None:
    if not callable(f):
        raise InvalidData(f"The function to call must be callable, got {type(f).__name__}.")
    if question.trials:
        raise InvalidData(
            f"A campaign starts from a question without trials, and this one has "
            f"{len(question.trials)}: the journal is where a campaign continues."
        )
    if question.keeps_journal:
        raise InvalidData(
            "A question that keeps a journal of its own is asked and told by hand. To call a "
            "function, give journal= to the campaign."
        )
    least = question.least_budget()
    if options.budget + given < least:
        raise InvalidData(
            f"budget={options.budget} is less than the {least} calls that fill the space before "
            "the method chooses: give a larger budget, or a method with a smaller design."
        )
