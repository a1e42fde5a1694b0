"""What the picture of an answer shows. The model is a known function, so nothing is compiled."""

import dataclasses
import io
import sys
from typing import Any

import numpy as np
import pytest

from leadline.boundary import InvalidData
from leadline.plots import Picture, picture_of_optimum
from leadline.questions import Minimize
from leadline.questions.minimize import MinimizeTrial as Trial
from leadline.spaces import Choice, Integer, Ordinal, Real, Space


@dataclasses.dataclass
class Belief:
    mean: np.ndarray
    std: np.ndarray


def flat(point):
    return 0.0


@dataclasses.dataclass
class Answer:
    """An answer whose model is `believed`, with a deviation of 1."""

    space: Space
    trials: list[Trial]
    sign: float = -1.0
    believed: Any = flat

    @property
    def best(self):
        allowed = [t for t in self.trials if t.allowed]
        return max(allowed, key=lambda t: self.sign * t.value) if allowed else None

    @property
    def recommended(self):
        return self.best

    @property
    def x(self):
        return self.recommended and self.recommended.x

    def predict(self, points):
        return Belief(np.array([self.believed(p) for p in points]), np.ones(len(points)))


def line_of(axes, label):
    (line,) = (line for line in axes.get_lines() if line.get_label() == label)
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def labels_of(axes):
    return {line.get_label() for line in axes.get_lines()}


BOX = Space([(0.0, 1.0), (-2.0, 2.0)])
TRIALS = [
    Trial(0, np.array([0.5, 0.0]), 3.0, asked=False),
    Trial(1, np.array([0.1, 0.0]), 5.0),
    Trial(2, np.array([0.2, 0.0]), reason="ValueError: no"),
    Trial(3, np.array([0.3, 1.0]), 1.0),
    Trial(4, np.array([0.4, 0.0])),
]


@pytest.mark.parametrize(("sign", "best"), [(-1.0, [3, 3, 1, 1]), (1.0, [3, 5, 5, 5])])
def test_convergence(sign, best):
    picture = picture_of_optimum(Answer(BOX, TRIALS, sign))
    axes = picture.axes[0]
    assert axes.get_xlabel() == "call"
    calls, values = line_of(axes, "best so far")
    np.testing.assert_array_equal(calls, [0, 1, 3, 4])
    np.testing.assert_array_equal(values, best)
    np.testing.assert_array_equal(line_of(axes, "value"), [[1, 3], [5, 1]])
    np.testing.assert_array_equal(line_of(axes, "given"), [[0], [3]])
    # A failure is on the edge where bad values are, whatever the limits.
    calls, edge = line_of(axes, "failed")
    assert (calls, edge) == ([2], [1.0 if sign < 0 else 0.0])


LIMITED = [
    dataclasses.replace(trial, numbers=(trial.value, *constraints))
    for trial, constraints in zip(TRIALS, [(1.0,), (-1.0,), (), (0.5,), ()], strict=True)
]


def test_calls_that_were_not_allowed_look_different_and_do_not_count():
    picture = picture_of_optimum(Answer(BOX, LIMITED))
    axes = picture.axes[0]
    np.testing.assert_array_equal(line_of(axes, "not allowed"), [[0, 3], [3, 1]])
    np.testing.assert_array_equal(line_of(axes, "value"), [[1], [5]])
    np.testing.assert_array_equal(line_of(axes, "best so far"), [[1, 4], [5, 5]])
    assert "given" not in labels_of(axes)
    np.testing.assert_array_equal(line_of(picture.axes[1], "best"), [[0.1], [5]])
    assert "not allowed" not in labels_of(picture_of_optimum(Answer(BOX, TRIALS)).axes[0])


def test_without_an_allowed_call_there_is_only_the_convergence():
    none = [dataclasses.replace(trial, numbers=(trial.value, 1.0)) for trial in TRIALS]
    (axes,) = picture_of_optimum(Answer(BOX, none)).axes
    assert {"not allowed", "failed"} == {k for k in labels_of(axes) if not k.startswith("_")}


def test_values_of_many_magnitudes_are_on_a_log_scale():
    trials = [Trial(k, np.zeros(2), v) for k, v in enumerate([1e-4, 1.0, 50.0])]
    assert picture_of_optimum(Answer(BOX, trials)).axes[0].get_yscale() == "log"
    assert picture_of_optimum(Answer(BOX, TRIALS)).axes[0].get_yscale() == "linear"


def test_slices_move_one_parameter_and_keep_the_others_at_the_best_point():
    picture = picture_of_optimum(Answer(BOX, TRIALS, believed=lambda p: p[0] + 10 * p[1]))
    _, first, second = picture.axes
    x, mean = line_of(first, "mean")
    np.testing.assert_allclose(mean, x + 10 * 1.0)
    assert (x[0], x[-1], first.get_xlabel()) == (0.0, 1.0, "x0")
    x, mean = line_of(second, "mean")
    np.testing.assert_allclose(mean, 0.3 + 10 * x)
    assert (x[0], x[-1], second.get_xlabel()) == (-2.0, 2.0, "x1")
    np.testing.assert_array_equal(line_of(second, "best"), [[1.0], [1.0]])
    band = first.collections[0].get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose([band.min(), band.max()], [10 - 1.96, 11 + 1.96])


def test_without_two_values_there_is_only_the_convergence():
    answer = Minimize(BOX).answer()
    assert [a.get_title(loc="left") for a in answer.plot().axes] == ["Convergence"]
    one = [dataclasses.replace(TRIALS[2], id=0), dataclasses.replace(TRIALS[3], id=1)]
    assert len(picture_of_optimum(Answer(BOX, one)).axes) == 1
    only_failed = picture_of_optimum(Answer(BOX, one[:1])).axes[0]
    assert "failed" in labels_of(only_failed)


MIXED = Space(
    rate=Real(1e-5, 1e-1, log=True),
    width=Integer(16, 256, log=True),
    depth=Integer(1, 4),
    optimizer=Choice("sgd", "adam"),
    momentum=Real(0.0, 0.9).when(optimizer="sgd"),
    size=Ordinal("S", "M", "L"),
)


def mixed_answer():
    """At the best point there is no momentum, which costs 100 where it exists."""
    point = dict(rate=1e-3, width=64, depth=2, optimizer="adam", size="M")
    trials = [Trial(0, point, 0.5), Trial(1, point, 0.7)]
    return Answer(MIXED, trials, believed=lambda p: p["depth"] + 100.0 * p.get("momentum", 0.0))


def test_panels_of_mixed_parameters():
    panels = {axes.get_xlabel(): axes for axes in picture_of_optimum(mixed_answer()).axes[1:]}
    assert set(panels) == {"rate", "width", "depth", "optimizer", "size"}
    assert [panels[k].get_xscale() for k in ("rate", "width", "depth")] == ["log", "log", "linear"]
    width, _ = line_of(panels["width"], "mean")
    np.testing.assert_array_equal(width, np.rint(width))
    assert [t.get_text() for t in panels["optimizer"].get_xticklabels()] == ["sgd", "adam"]
    assert [t.get_text() for t in panels["size"].get_xticklabels()] == ["S", "M", "L"]
    # Few values are points with error bars, and a line otherwise.
    assert {k for k, axes in panels.items() if axes.containers} == {"depth", "optimizer", "size"}
    np.testing.assert_array_equal(line_of(panels["size"], "best"), [[1.0], [0.5]])


def test_a_parameter_that_comes_into_existence_is_at_its_middle():
    panels = {axes.get_xlabel(): axes for axes in picture_of_optimum(mixed_answer()).axes[1:]}
    (points,) = panels["optimizer"].containers
    np.testing.assert_allclose(points.lines[0].get_ydata(), [2 + 100 * 0.45, 2.0])


def test_of_many_parameters_the_six_that_matter_most():
    weights = np.array([1.0, 0.1, 5.0, 0.2, 3.0, 4.0, 2.0, 6.0])
    trials = [Trial(k, np.full(8, 0.3), 1.0) for k in range(2)]
    answer = Answer(Space([(0, 1)] * 8), trials, believed=lambda p: weights @ p)
    panels = picture_of_optimum(answer).axes[1:]
    assert [axes.get_xlabel() for axes in panels] == ["x0", "x2", "x4", "x5", "x6", "x7"]
    assert "6 of 8" in panels[0].get_title(loc="left")


def test_forbidden_points_are_left_out():
    space = Space([(0.0, 1.0)], constraint=lambda p: p[0] <= 0.5)
    trials = [Trial(k, np.array([0.25]), 1.0) for k in range(2)]
    x, mean = line_of(picture_of_optimum(Answer(space, trials)).axes[1], "mean")
    np.testing.assert_array_equal(np.isfinite(mean), x <= 0.5)
    nowhere = Space([(0.0, 1.0)], constraint=lambda p: False)
    assert len(picture_of_optimum(Answer(nowhere, trials)).axes) == 2


def test_many_long_options_have_labels_that_fit():
    space = Space(kind=Choice(*[f"a rather long option {k}" for k in range(40)]))
    trials = [Trial(k, {"kind": "a rather long option 0"}, 1.0) for k in range(2)]
    picture = picture_of_optimum(Answer(space, trials))
    labels = [t.get_text() for t in picture.axes[1].get_xticklabels()]
    assert len(labels) <= 12
    assert max(map(len, labels)) <= 14


def test_the_picture_is_shown_and_saved(tmp_path):
    picture = picture_of_optimum(Answer(BOX, TRIALS))
    assert isinstance(picture, Picture)
    picture.savefig(tmp_path / "answer.png")
    shown, size = picture._repr_png_()
    assert shown.startswith(b"\x89PNG")
    assert size["width"] > size["height"] > 100
    picture.savefig(io.BytesIO(), format="pdf")


def test_a_real_answer():
    question = Minimize([(0.0, 1.0)], method="random")
    for trial in question.ask(4):
        question.tell(trial, float(np.sin(5 * trial.x[0])))
    answer = question.answer()
    x, mean = line_of(answer.plot().axes[1], "mean")
    at_data = np.interp([t.x[0] for t in answer.trials], x, mean)
    np.testing.assert_allclose(at_data, [t.value for t in answer.trials], atol=0.05)
    with pytest.raises(InvalidData, match="at least 2 values"):
        Minimize([(0.0, 1.0)]).answer().predict([[0.5]])


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("leadline.plots")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"leadline\[plots\]"):
        Minimize(BOX).answer().plot()


class NoisyAnswer(Answer):
    """An answer that is not the best call."""

    @property
    def recommended(self):
        return self.trials[1]


def test_the_answer_is_not_called_the_best_where_it_is_not():
    axes = picture_of_optimum(NoisyAnswer(BOX, TRIALS)).axes
    assert "recommended point" in axes[1].get_title(loc="left")
    np.testing.assert_array_equal(line_of(axes[1], "recommended"), [[0.1], [5]])
    assert "best" not in labels_of(axes[1])
    assert "best point" in picture_of_optimum(Answer(BOX, TRIALS)).axes[1].get_title(loc="left")
