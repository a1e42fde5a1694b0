"""Programs of coming asks are made in the background, and that changes no answer."""

from __future__ import annotations

import copy
import pickle
import threading
import time

import jax
import numpy as np
import pytest

import leadline as ll
from leadline.numerics._programs import forget_programs
from leadline.questions._rehearsals import Rehearsals, forget_rehearsals
from leadline.questions.minimize.methods._scenes import Prospect, scenes

BOX = [(0.0, 1.0)] * 2


def bowl(x):
    return float(np.sum((np.asarray(x) - 0.3) ** 2))


def until_rehearsed(question):
    """Wait until the background is idle: its threads end when they have done everything."""
    for pool in question._rehearsals._pools or ():
        pool.shutdown(wait=True)
    question._rehearsals._pools = None


def ours():
    return [t for t in threading.enumerate() if t.name.startswith("leadline-")]


def asked(question, n):
    """Ask and tell `n` times; the points."""
    points = []
    for _ in range(n):
        (trial,) = question.ask()
        question.tell(trial, bowl(trial.x))
        points.append(trial.x)
    return np.array(points)


def test_the_first_ask_of_the_method_finds_its_programs_made(nothing_made, compilations):
    question = ll.Minimize(BOX)
    asked(question, question.least_budget())
    until_rehearsed(question)
    assert compilations[0] >= 4
    before = compilations[0]
    asked(question, 1)
    assert compilations[0] == before


def test_asks_are_the_same_to_the_bit_whoever_made_the_programs(nothing_made, monkeypatch):
    """Made in the background, made by the asks themselves, or found on the disk."""
    found = []
    for background in (True, False, True):
        with monkeypatch.context() as patch:
            if not background:
                patch.setattr(Rehearsals, "rehearse", lambda *_: None)
                jax.config.update("jax_compilation_cache_dir", None)
            question = ll.Minimize(BOX, seed=5)
            found.append(asked(question, 9))
            until_rehearsed(question)
        jax.config.update("jax_compilation_cache_dir", str(nothing_made))
        forget_rehearsals()
        forget_programs()
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def names(method, space=BOX, **known):
    known = dict(rows=0, calls=100, at_once=1, constraints=0, patient=False) | known
    return [name for name, _ in scenes(method, ll.Space(space), Prospect(**known))]


def test_what_is_rehearsed():
    gp = ll.methods.GP()
    assert names(gp) == [(64, True, False, 1e3)]
    # The programs of more rows follow when the data come near, if they ever will.
    assert [name[0] for name in names(gp, rows=48)] == [64, 128]
    assert [name[0] for name in names(gp, rows=47)] == [64]
    assert [name[0] for name in names(gp, rows=48, calls=64)] == [64]
    assert [name[0] for name in names(gp, rows=100, calls=np.inf)] == [128, 256]
    # Noise may be found, and calls may run beside.
    assert len(names(gp, patient=True)) == 2
    assert len(names(gp, at_once=4)) == 3


def test_nothing_is_rehearsed_that_is_never_asked():
    assert names(ll.methods.GP(), calls=5) == []
    assert names(ll.methods.GP(), rows=30, calls=30) == []
    for method in (ll.methods.Random(), ll.methods.TPE(), ll.methods.BORE(classifier="forest")):
        assert names(method) == []


def test_a_campaign_that_compiles_nothing_has_no_threads():
    ll.minimize(bowl, BOX, budget=6, method="random", progress=False)
    ll.minimize(bowl, BOX, budget=5, progress=False)
    assert not ours()


@pytest.mark.parametrize("options", [{}, {"workers": 3}, {"batch": 2}], ids=str)
def test_threads_end_with_the_campaign(options):
    ll.minimize(bowl, BOX, budget=8, progress=False, **options)
    end = time.monotonic() + 60.0
    while ours() and time.monotonic() < end:
        time.sleep(0.01)
    assert not ours()


def test_calls_beside_find_their_programs_made(nothing_made, compilations):
    question = ll.Minimize(BOX)
    question.expect(40, 3)
    question._rehearsals._patient = True  # six values of a bowl may well be noise
    for trial in question.ask(7)[:6]:
        question.tell(trial, bowl(trial.x))
    until_rehearsed(question)
    before = compilations[0]
    question.ask(2)
    assert compilations[0] == before


def test_other_threads_never_call_the_constraint():
    callers = set()

    def constraint(x):
        callers.add(threading.current_thread())
        return x[0] + x[1] < 1.5

    question = ll.Minimize(ll.Space(BOX, constraint=constraint))
    asked(question, 7)
    until_rehearsed(question)
    assert callers == {threading.main_thread()}


def test_what_fails_in_a_rehearsal_stays_there(capfd):
    rehearsals, done = Rehearsals(), threading.Event()

    def fails():
        raise RuntimeError("made-up data")

    rehearsals.rehearse("fails", fails)
    rehearsals.rehearse("goes on", done.set)
    assert done.wait(10.0)
    rehearsals.rehearse("goes on", fails)  # of a name that is known
    rehearsals.close()
    assert capfd.readouterr() == ("", "")


def test_a_second_question_of_the_kind_rehearses_nothing(nothing_made):
    for rehearsed in (True, False):
        question = ll.Minimize(BOX)
        asked(question, 1)
        assert (question._rehearsals._pools is not None) == rehearsed
        until_rehearsed(question)


def test_a_question_with_threads_can_be_copied_and_pickled(nothing_made):
    question = ll.Minimize(BOX)
    asked(question, 1)
    assert question._rehearsals._pools is not None
    for other in (copy.deepcopy(question), pickle.loads(pickle.dumps(question._rehearsals))):
        getattr(other, "_rehearsals", other).close()
    until_rehearsed(question)


def test_a_question_that_was_closed_goes_on():
    question = ll.Minimize(BOX)
    asked(question, 3)
    question.close()
    assert len(asked(question, 5)) == 5
    question.close()
