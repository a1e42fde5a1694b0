"""Pictures of integrals, in one dimension, two, and more."""

import numpy as np
import pytest

import leadline as ll


@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_picture(d, tmp_path):
    question = ll.Integrate(ll.measures.Uniform(np.zeros(d), np.ones(d)))
    for x in np.asarray(question.measure.qmc(12, 0)):
        question.tell(x, float(np.exp(-np.sum(x))))
    picture = question.answer().plot()
    titles = [axes.get_title("left") for axes in picture.axes if axes.get_title("left")]
    assert titles[0].startswith("Integral")
    assert len(titles) == (2 if d <= 2 else 1)
    picture.savefig(tmp_path / "integral.png")
