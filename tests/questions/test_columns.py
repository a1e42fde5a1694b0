"""Columns of tables: each has a name of its own, and what is written is read back."""

import io

import numpy as np
import pandas as pd
import pytest

import leadline as ll
from leadline.journal import MemoryJournal
from leadline.questions._frames import points_of

# Parameters with the name of every other column, with one that those could have got, and others.
CLASHING = {
    "trial": ll.Integer(0, 99),
    "value": ll.Real(0.0, 1.0),
    "constraint_0": ll.Real(-1.0, 1.0),
    "failed": ll.Choice(True, False),
    "reason": ll.Choice("cold", "warm"),
    "seconds": ll.Real(0.1, 10.0, log=True),
    "info": ll.Integer(1, 3).when(reason="warm"),
    "x.value": ll.Real(0.0, 1.0),
    "heat": ll.Real(0.0, 1.0),
}


def question(space=CLASHING, **options):
    options = {"method": "random", "seed": 0, "constraints": 1, **options}
    return ll.Minimize(ll.Space(space), **options)


def told(**options):
    """A question that was told something of each kind."""
    q = question(**options)
    for trial in q.ask(6):
        if trial.id == 2:
            q.fail(trial, "spilled")
        elif trial.id != 4:
            x = trial.x
            q.tell(
                trial, (x["value"] + 10 * x["x.value"], [x["constraint_0"]]), {"operator": "Ada"}
            )
    return q


def known(trials):
    return [(t.x, t.numbers) for t in trials if t.value is not None]


def test_every_column_has_a_name_of_its_own():
    q = told()
    assert q.columns == (
        *("trial", "x.trial", "x.x.value", "x.constraint_0", "x.failed", "x.reason", "x.seconds"),
        *("x.info", "x.value", "heat"),
        *("value", "constraint_0", "failed", "reason", "seconds", "info"),
    )
    frame = q.answer().to_frame()
    assert tuple(frame.columns) == q.columns
    for trial, (_, row) in zip(q.trials, frame.iterrows(), strict=True):
        assert row["x.x.value"] == trial.x["value"]
        assert row["x.value"] == trial.x["x.value"]
        assert row["x.seconds"] == trial.x["seconds"]
        assert row["x.reason"] == trial.x["reason"]
        assert row["reason"] == trial.reason
        assert row["trial"] == trial.id
    assert frame["info"][0] == {"operator": "Ada"}
    assert frame["info"][2] == {}


def test_names_that_do_not_clash_stay():
    from leadline.questions._table import columns_of_parts

    assert columns_of_parts(("a", "x.b"), ("b",)) == {"a": "a", "x.b": "x.b"}
    both = columns_of_parts(("b", "x.b"), ("b", "x.b"))
    assert both == {"b": "x.x.b", "x.b": "x.x.x.b"}


@pytest.mark.parametrize("as_csv", [False, True])
def test_what_is_written_is_read_back(as_csv):
    q = told()
    frame = q.answer().to_frame()
    if as_csv:
        frame = pd.read_csv(io.StringIO(frame.to_csv(index=False)))
    by_hand = question()
    by_hand.tell(frame[reversed(frame.columns)])
    assert known(by_hand.trials) == known(q.trials)
    given = ll.minimize(
        lambda x: (0.0, [0.0]),
        ll.Space(CLASHING),
        budget=1,
        method="random",
        constraints=1,
        given=frame,
        progress=False,
    )
    assert known(given.trials[:4]) == known(q.trials)


@pytest.mark.parametrize("options", [(None, "a"), (None, 1, 2)])
def test_nothing_may_be_an_option(options):
    q = question({"kind": ll.Choice(*options), "heat": ll.Real(0.0, 1.0)}, constraints=0)
    for trial in q.ask(8):
        q.tell(trial, 1.0)
    frame = q.answer().to_frame()
    again = question({"kind": ll.Choice(*options), "heat": ll.Real(0.0, 1.0)}, constraints=0)
    again.tell(frame)
    assert [t.x["kind"] for t in again.trials] == [t.x["kind"] for t in q.trials]


def test_predictions_read_the_same_frames():
    q = told()
    wanted = [t.x for t in q.trials]
    frame = q.answer().to_frame()
    assert points_of(q, frame) == wanted
    assert points_of(q, frame[reversed(frame.columns)]) == wanted
    # Of points alone, by the names of their parts.
    assert points_of(q, pd.DataFrame(wanted)) == wanted


def test_a_journal_keeps_names_as_they_are():
    journal = MemoryJournal()
    q = told(journal=journal)
    q.close()
    again = ll.load(journal)
    assert [t.x for t in again.trials] == [t.x for t in q.trials]
    assert again.columns == q.columns


def test_a_frame_with_columns_that_could_be_either():
    q = question({"value": ll.Real(0.0, 1.0), "heat": ll.Real(0.0, 1.0)}, constraints=0)
    sheet = pd.DataFrame([trial.x for trial in q.ask(2)])
    with pytest.raises(
        ll.InvalidData, match=r"lacks the columns 'x\.value'.*the parameter 'value'"
    ):
        q.tell(sheet)
    twice = pd.DataFrame([[0.1, 0.2, 0.3, 1.0]], columns=["x.value", "heat", "heat", "value"])
    with pytest.raises(ll.InvalidData, match="several columns 'heat'"):
        q.tell(twice)


def test_a_pool_with_names_of_columns():
    frame = pd.DataFrame({"reason": ["a", "b", "c"], "seconds": [1.0, 2.0, 4.0]})
    q = ll.Minimize(ll.Pool(frame), method="random")
    q.tell(q.ask()[0], 1.0)
    again = ll.Minimize(ll.Pool(frame), method="random")
    again.tell(q.answer().to_frame())
    assert [t.x for t in again.trials] == [t.x for t in q.trials]


def test_columns_of_a_box_are_found_by_name():
    q = ll.Minimize([(0.0, 1.0)] * 2, method="random")
    sheet = pd.DataFrame(
        {"value": [1.0, 2.0], "x1": [0.2, 0.4], "note": ["", "b"], "x0": [0.1, 0.3]}
    )
    q.tell(sheet)
    np.testing.assert_array_equal([t.x for t in q.trials], [[0.1, 0.2], [0.3, 0.4]])
    np.testing.assert_array_equal(points_of(q, sheet), [[0.1, 0.2], [0.3, 0.4]])
    # A frame without names is an array.
    array = pd.DataFrame([[0.1, 0.2], [0.3, 0.4]])
    assert points_of(q, array) is array
    other = pd.DataFrame({"width": [0.1], "height": [0.2], "value": [1.0]})
    for read in (q.answer().predict, q.tell):
        with pytest.raises(
            ll.InvalidData, match=r"lacks the columns 'x0', 'x1'.*'width', 'height'"
        ):
            read(other)
