"""Data that one already has: told once, checked first, and no calls of the budget."""

import numpy as np
import pandas as pd
import pytest

import leadline as ll
from leadline.campaign import MemoryJournal

BOX = [(0.0, 1.0)] * 2
SPACE = ll.Space(
    kind=ll.Choice("a", "b"), rate=ll.Real(0.1, 10.0, log=True), n=ll.Integer(1, 9).when(kind="b")
)
PAIRS = [([0.1, 0.2], 1.0), (np.array([0.3, 0.4]), 0.5), ([0.1, 0.2], 1.0)]


def bowl(x):
    return float(np.sum((x - 0.3) ** 2))


def loss(params):
    return params["rate"] + params.get("n", 0)


def campaign(given, f=bowl, space=BOX, budget=4, method="random", **options):
    options = {"progress": False, **options}
    return ll.minimize(f, space, budget=budget, method=method, given=given, **options)


def test_pairs_come_first_and_are_no_calls():
    calls = []
    found = campaign(PAIRS, f=lambda x: calls.append(x) or 7.0)
    assert len(calls) == 4
    assert [t.asked for t in found.trials] == [False] * 3 + [True] * 4
    assert [t.value for t in found.trials[:3]] == [1.0, 0.5, 1.0]
    assert found.value == 0.5


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_they_are_told_once(tmp_path, kind):
    """The pair that is there twice was told twice, and a new one is told on top."""
    journal = MemoryJournal() if kind == "memory" else str(tmp_path / "run.db")
    campaign(PAIRS, journal=journal)
    found = campaign(PAIRS, journal=journal, budget=5)
    assert [t.asked for t in found.trials] == [False] * 3 + [True] * 5
    found = campaign([*PAIRS, ([0.9, 0.9], 3.0)], journal=journal, budget=5)
    assert [t.value for t in found.trials if not t.asked] == [1.0, 0.5, 1.0, 3.0]


def test_they_count_as_a_design():
    """A model chooses at once, from a budget that is no design."""
    rng = np.random.default_rng(0)
    pairs = [(x, bowl(x)) for x in rng.random((6, 2))]
    found = campaign(pairs, budget=1, method="gp")
    assert found.trials[6].notes
    with pytest.raises(ll.InvalidData, match="budget=1"):
        campaign(pairs[:2], budget=1, method="gp")


def test_a_frame_that_an_answer_wrote():
    first = campaign(None, loss, SPACE, budget=8)
    again = campaign(first.to_frame(), loss, SPACE, budget=2)
    assert [t.x for t in again.trials[:8]] == [t.x for t in first.trials]
    assert [t.value for t in again.trials[:8]] == [t.value for t in first.trials]
    box = campaign(None, budget=3)
    again = campaign(box.to_frame(), budget=3)
    np.testing.assert_array_equal([t.x for t in again.trials[:3]], [t.x for t in box.trials])


def test_constraints_and_failures_in_a_frame():
    frame = pd.DataFrame(
        {
            "x0": [0.1, 0.2, 0.3],
            "x1": [0.5, 0.5, 0.5],
            "value": [1.0, np.nan, 2.0],
            "constraint_0": [0.1, np.nan, -0.1],
            "failed": [False, True, False],
        }
    )
    journal = MemoryJournal()
    found = ll.minimize(
        lambda x: (bowl(x), [-1.0]),
        BOX,
        budget=8,
        constraints=1,
        given=frame,
        journal=journal,
        callback=lambda _: True,
        progress=False,
    )
    assert [t.constraints for t in found.trials[:2]] == [(0.1,), (-0.1,)]
    assert ll.load(journal).trials[1].value == 2.0


def test_rows_without_a_value_are_left_out():
    """A sheet of experiments of which some are still to be made."""
    frame = pd.DataFrame({"x0": [0.1, 0.2], "x1": [0.5, 0.5], "value": [1.0, None]})
    found = campaign(frame)
    assert [t.value for t in found.trials if not t.asked] == [1.0]


def test_points_outside_of_the_bounds_are_data():
    found = campaign([([0.1, 1.2], -1.0), ([0.1, 0.2], 1.0)])
    assert [t.outside for t in found.trials[:3]] == [True, False, False]
    assert found.value >= 0.0


def test_another_journal(tmp_path):
    path = str(tmp_path / "old.db")
    campaign(None, journal=path, budget=3)
    before = (tmp_path / "old.db").read_bytes()
    found = campaign(path, budget=2)
    assert [t.asked for t in found.trials] == [False] * 3 + [True] * 2
    assert (tmp_path / "old.db").read_bytes() == before
    with pytest.raises(ll.InvalidData, match="own journal"):
        campaign(path, journal=path)
    with pytest.raises(ll.InvalidData, match="There is no journal"):
        campaign(str(tmp_path / "none.db"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([([0.1, 0.2], 1.0), ([0.1, 0.2], np.nan)], r"given\[1\].*finite"),
        ([([0.1, 0.2, 0.3], 1.0)], r"given\[0\]"),
        ([([0.1, np.inf], 1.0)], r"given\[0\].*finite"),
        ([0.5], r"given\[0\] must be a pair"),
        (3, "must be pairs"),
        (pd.DataFrame({"x0": [0.1], "value": [1.0]}), "lacks the columns 'x1'"),
        (pd.DataFrame({"x0": [0.1], "x1": [0.1]}), "lacks the columns 'value'"),
        (pd.DataFrame({"x0": [0.1], "x1": [np.nan], "value": [1.0]}), r"given\[0\]"),
        (pd.DataFrame({"x0": [0.1], "x1": [0.2], "value": [np.inf]}), r"given\[0\].*finite"),
    ],
)
def test_what_cannot_be_used_is_said_before_anything_happens(tmp_path, given, message):
    path = tmp_path / "run.db"
    with pytest.raises(ll.InvalidData, match=message):
        campaign(given, f=lambda _: pytest.fail("called"), journal=str(path))
    assert not path.exists()
