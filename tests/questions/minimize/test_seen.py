"""What was seen is put together once per ask, however many points are asked for."""

import pytest

import leadline as ll


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("told", [0, 12])
def test_once_per_ask(monkeypatch, n, told):
    question, made = ll.Minimize([(0.0, 1.0)] * 2, method="tpe", seed=1), []
    for k in range(told):
        question.tell([k / 12, 0.5], float(k))
    seen = ll.Minimize.seen
    monkeypatch.setattr(ll.Minimize, "seen", lambda self: made.append(1) or seen(self))
    asked = question.ask(n)
    assert len(made) == 1
    assert len({tuple(trial.x) for trial in asked}) == n


def test_a_batch_is_the_asks_one_by_one():
    """Also across the end of the design, where the method takes over."""
    at_once, singly = (ll.Minimize([(0.0, 1.0)] * 2, method="tpe", seed=1) for _ in range(2))
    for question in (at_once, singly):
        for k in range(3):
            question.tell([k / 12, 0.5], float(k))
    together = [trial.x.tolist() for trial in at_once.ask(6)]
    assert together == [singly.ask()[0].x.tolist() for _ in range(6)]


def test_a_batch_of_more_points_than_there_are():
    question = ll.Minimize(ll.Space(a=ll.Integer(0, 4)), method="random", seed=0)
    assert sorted(trial.x["a"] for trial in question.ask(9)) == [0, 1, 2, 3, 4]
    with pytest.raises(ll.questions.Exhausted):
        question.ask(2)
    with pytest.raises(ll.InvalidData, match="at least 1 point"):
        question.ask(0)
