"""Functions by name: where they are looked for, and what is said when they are not there."""

import json

import pytest
from tests.cli.calls import run

from leadline.cli._loading import load_function


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("functions_of_the_user:los", "has no function 'los'. Did you mean 'loss'?"),
        ("functions_of_the_users:loss", "Did you mean 'functions_of_the_user'?"),
        ("functions_of_the_user", "written as module:function"),
        ("functions_of_the_user.py:loss", "written as functions_of_the_user:loss"),
        ("functions_of_the_user:number", "has no function 'number'."),
        ("bad:f", "cannot be imported: ZeroDivisionError: division by zero"),
        ("lacking:f", "cannot be imported: ModuleNotFoundError: No module named 'not_there'"),
        ("misspelled:f", "cannot be imported: SyntaxError"),
    ],
)
def test_functions_that_are_not_there(folder, function, message):
    (folder / "bad.py").write_text("x = 1\ny = x / 0\n")
    (folder / "lacking.py").write_text("import not_there\n")
    (folder / "misspelled.py").write_text("def f(:\n")
    done = run(function)
    assert done.exit_code == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (folder / "run.db").exists()


def test_modules_of_the_current_folder_come_first(folder):
    (folder / "json5000.py").write_text("def f(x):\n    return 1.0\n")
    assert load_function("json5000:f")(None) == 1.0
    assert load_function("json:dumps") is json.dumps
