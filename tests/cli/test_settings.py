"""Settings of methods as text."""

import pytest
from tests.cli.calls import run

from leadline.boundary import InvalidData
from leadline.campaign import load
from leadline.cli._settings import read_settings


def test_values_are_as_in_json_and_anything_else_is_text():
    texts = ["acquisition=ucb", "noise=1e-3", "gamma=[0.4, 0.2]", "a = null", 'b="1"', "c=x=y"]
    settings = read_settings(texts)
    assert settings == {
        "acquisition": "ucb",
        "noise": 1e-3,
        "gamma": [0.4, 0.2],
        "a": None,
        "b": "1",
        "c": "x=y",
    }
    assert read_settings(['{"noise": 0.5, "batch": "joint"}', "initial=4"]) == {
        "noise": 0.5,
        "batch": "joint",
        "initial": 4,
    }


@pytest.mark.parametrize("text", ["acquisition", "=ucb", "", "[1]", '{"noise"'])
def test_texts_that_are_no_settings(text):
    with pytest.raises(InvalidData, match=r"NAME=VALUE|no JSON"):
        read_settings([text])


def test_a_method_has_them(folder):
    options = ["--method", "tpe", "--method-settings", "initial=4"]
    done = run("functions_of_the_user:loss", *options, "--method-settings", '{"gamma": [0.4, 0.2]}')
    assert done.exit_code == 0
    method = load("run.db").method
    assert (method.name, method.initial, method.gamma) == ("tpe", 4, (0.4, 0.2))
    # They are settings of the campaign.
    other = run("functions_of_the_user:loss", "--method", "tpe", budget=9)
    assert other.exit_code == 1
    assert "initial" in other.stderr


@pytest.mark.parametrize(
    ("method", "text", "message"),
    [
        ("gp", "aquisition=ucb", "Did you mean 'acquisition'?"),
        ("gp", "acquisition=usb", "Did you mean 'ucb'?"),
        ("gp", "initial=1", "initial must be at least 2, a whole number, got 1"),
        ("gp", "noise=-1.0", "noise must be a variance, a number that is not negative, got -1.0"),
        ("tpe", "candidates=0", "candidates must be at least 1, a whole number, got 0"),
        ("random", "initial=4", "has no such settings: initial. It has none."),
    ],
)
def test_wrong_ones_are_told_in_a_line(folder, method, text, message):
    options = ["--method", method, "--method-settings", text]
    done = run("functions_of_the_user:loss", *options)
    assert done.exit_code == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (folder / "run.db").exists()
