"""Functions and spaces by name: where they are looked for, and what is said if they are wrong."""

import json

import pytest
from tests.cli.calls import leadline, run

from leadline.campaign import load
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


@pytest.mark.parametrize("name", ["half", "make"])
def test_a_space_of_a_module_may_have_a_constraint(folder, name):
    done = run("functions_of_the_user:rate", space=f"spaces_of_the_user:{name}", budget=12)
    assert done.exit_code == 0
    rates = [trial.x["rate"] for trial in load("run.db").trials]
    assert len(rates) == 12
    assert max(rates) <= 0.5
    assert leadline("show", "run.db").exit_code == 0


def test_a_list_of_bounds_and_a_pool(folder):
    assert run("functions_of_the_user:total", space="spaces_of_the_user:box").exit_code == 0
    assert all(trial.x[1] >= 2.0 for trial in load("run.db").trials)
    options = dict(journal="pool.db", space="spaces_of_the_user:pool")
    assert run("functions_of_the_user:rate", **options).exit_code == 0
    assert all(trial.x["name"] == f"m{trial.value:g}" for trial in load("pool.db").trials)


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ("spaces_of_the_user:haf", "has no space 'haf'. Did you mean 'half'?"),
        ("spaces_of_the_user:ll", "has no space 'll'."),
        ("spaces_of_the_users:half", "Did you mean 'spaces_of_the_user'?"),
        ("spaces_of_the_user.py:half", "A space is written as spaces_of_the_user:half"),
        ("functions_of_the_user:", "A space is written as module:space"),
        ("functions_of_the_user", "A space is a TOML file, or is written as module:space"),
        ("spaces_of_the_user:number", "from a list of (low, high) pairs, got 3"),
        ("spaces_of_the_user:cannot", "cannot be made: RuntimeError: no license ("),
        ("functions_of_the_user:rate", "cannot be made: TypeError: rate() missing 1"),
    ],
)
def test_spaces_that_are_not_there(folder, space, message):
    done = run(space=space)
    assert done.exit_code == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (folder / "run.db").exists()


def test_a_file_with_a_colon_in_its_name_is_a_file(folder):
    (folder / "space.toml").rename(folder / "my:space.toml")
    assert run(space="my:space.toml").exit_code == 0
