import numpy as np
import pytest

import leadline as ll

SPACE = ll.Space(rate=ll.Real(1e-3, 1.0, log=True), width=ll.Integer(2, 9))


@pytest.fixture(scope="module")
def answer():
    question = ll.Minimize(SPACE, method="random", seed=0)
    for k, trial in enumerate(question.ask(12)):
        if k == 3:
            question.fail(trial, "ValueError: no")
        elif k < 11:
            question.tell(trial, (np.log10(trial.x["rate"]) + 1) ** 2 + trial.x["width"])
    return question.answer()


def test_the_answer_reads_well(answer):
    text = repr(answer)
    assert text.startswith(f"minimize: {answer.value:.6g} at trial {answer.best.id} (12 trials")
    assert "1 failed, 1 not finished" in text
    assert f"width  {answer.x['width']}" in text


def test_predictions_are_in_the_callers_terms(answer):
    told = [t for t in answer.trials if t.value is not None]
    belief = answer.predict([t.x for t in told])
    np.testing.assert_allclose(belief.mean, [t.value for t in told], atol=0.5)
    assert belief.std.shape == (len(told),)


def test_predictions_of_a_maximum_keep_their_sign():
    question = ll.Maximize([(0.0, 1.0)], method="random")
    for x in np.linspace(0, 1, 6):
        question.tell([x], 10.0 + x)
    np.testing.assert_allclose(question.answer().predict([[0.5]]).mean, [10.5], atol=0.05)


def test_trials_as_a_frame(answer):
    frame = answer.to_frame()
    assert list(frame.columns) == [
        "trial",
        "rate",
        "width",
        "value",
        "failed",
        "reason",
        "seconds",
        "info",
    ]
    assert len(frame) == 12
    assert frame["failed"].sum() == 1
    assert frame["value"].isna().sum() == 2
    assert frame["value"].min() == answer.value


def test_without_any_value_the_answer_says_why():
    question = ll.Minimize(SPACE, method="random")
    question.fail(question.ask()[0], "RuntimeError: no license")
    answer = question.answer()
    assert answer.x is None
    assert np.isnan(answer.value)
    assert "RuntimeError: no license" in repr(answer)
    with pytest.raises(ll.InvalidData, match="at least 2 values"):
        answer.predict([{"rate": 0.1, "width": 3}])
