"""The password in a journal's URL is printed nowhere, however the URL is written."""

import io
import traceback
from pathlib import Path

import pytest
from tests.cli.calls import leadline
from tests.cli.conftest import folder  # noqa: F401 (a fixture)

import leadline as ll
from leadline.campaign import CampaignOptions, load, open_journal

BOX = [(0.0, 1.0)] * 2
# The halves of a password; in between is what may be a part of it, and be taken for something else.
HALVES = ("hunter", "tortoise")
WHOLE = "".join(HALVES)
# Nobody listens there.
AT = "127.0.0.1:1/runs"

URLS = [
    f"postgresql://{AT}?password={WHOLE}&user=x",
    f"postgresql://x@{AT}?sslmode=disable&sslpassword={WHOLE}&passfile=/home/{WHOLE}",
    f"postgresql://{AT}?pasword={WHOLE}",
    f"postgresql://{AT}?sslmode={WHOLE}&password={WHOLE}",
    f"postgresql://x:{WHOLE}@{AT}",
    f"postgres://x:{WHOLE}@{AT}",
    f"postgresql://:{WHOLE}@{AT}",
    f"postgresql://x%3A{WHOLE}@{AT}",
    f"postgresql://{AT}?dbname=password%3D{WHOLE}",
    f"postgresql://x:{WHOLE}",
    f"postgresql://x:{WHOLE}@127.0.0.1:one/runs",
    f"postgresql://x:{WHOLE}@127.0.0.1:99999/runs",
    f"postgresql+pigeon://x:{WHOLE}@{AT}",
    f"postgresql://{AT}?plugin={WHOLE}",
    f"mysql://x:{WHOLE}@{AT}",
    f"postgresql:/x:{WHOLE}@{AT}",
    f"postgresql:x:{WHOLE}@{AT}",
    f"x:{WHOLE}@{AT}",
    f"postgresql//x:{WHOLE}@{AT}",
    *[f"postgresql://{AT}{sign}password={WHOLE}" for sign in ";&"],
    f"host=127.0.0.1 port=1 password={WHOLE}",
    *[f"postgresql://x:{'{}' + sign + '{}'}@{AT}".format(*HALVES) for sign in "@:/?#%"],
    *[f"postgresql://x:{'{}' + sign + '{}'}@{AT}".format(*HALVES) for sign in ("%40", "%2F")],
    f"postgresql://x:{HALVES[0]}@127.0.0.1:1/{HALVES[1]}@{AT}",
    f"postgresql://127.0.0.1:1/runs?password={HALVES[0]}@{HALVES[1]}",
    f"postgresql://x@127.0.0.1:1/runs?password={HALVES[0]}%40{HALVES[1]}",
]


def quiet(x):
    return float(x[0])


WAYS = {
    "open_journal": lambda journal: open_journal(journal).open({"seed": 0}),
    "settings": lambda journal: open_journal(journal).settings(),
    "load": load,
    "minimize": lambda journal: ll.minimize(
        quiet, BOX, budget=2, method="random", journal=journal, progress=True
    ),
    "given": lambda journal: ll.minimize(quiet, BOX, budget=2, method="random", given=journal),
    "a call": lambda journal: ll.minimize(
        lambda x: len(load(journal).trials), BOX, budget=1, method="random"
    ),
    "by hand": lambda journal: ll.Minimize(BOX, "random", journal=journal),
}
COMMANDS = {
    "run": [
        "run",
        "functions_of_the_user:loss",
        "--space",
        "space.toml",
        "--budget",
        "2",
        "--journal",
    ],
    "show": ["show"],
    "export": ["export"],
}


def found(text):
    """The halves of the password that are in a text, whichever way it is escaped."""
    return [half for half in HALVES if half in text]


def said(work, *args):
    """Everything that can be read of an error, and of what comes back."""
    try:
        result = work(*args)
    except Exception as error:
        file = io.StringIO()
        traceback.print_exception(error, file=file)
        return f"{file.getvalue()}\n{error}\n{error!r}\n{vars(error)}"
    trials = getattr(result, "trials", ())
    return "\n".join([repr(result), *(f"{trial!r} {trial.traceback}" for trial in trials)])


@pytest.mark.parametrize("url", URLS)
def test_no_error_and_no_repr_has_the_password(url, folder, capfd):  # noqa: F811
    # Whoever looks finds it in the URL.
    assert found(url) == list(HALVES)
    texts = {name: said(way, url) for name, way in WAYS.items()}
    # A `Path` joins slashes, and so is no URL any more.
    texts["path"] = said(load, Path(url))
    options = {name: url for name in ("journal", "given")}
    texts["options"] = repr(CampaignOptions.of(5, options))
    texts["options of a path"] = repr(CampaignOptions.of(5, {"journal": Path(url)}))
    question = ll.Minimize(BOX, "random")
    question.resume(url, None)
    texts["question"] = repr(question)
    for name, command in COMMANDS.items():
        done = leadline(*command, url, *(["-"] if name == "export" else []))
        assert done.exit_code == 1
        texts[name] = done.output
    out, err = capfd.readouterr()
    texts["standard output"] = out + err
    assert {name: text for name, text in texts.items() if found(text)} == {}
    assert all("Error" in texts[name] or "InvalidData" in texts[name] for name in WAYS)
    assert list(folder.glob("*.db")) == []


def test_nor_has_anything_else_where_it_works(postgresql, folder, capfd):  # noqa: F811
    """The server asks for no password, so any will do."""
    url = f"{postgresql.where}&password={WHOLE}"
    texts = [said(WAYS["minimize"], url), said(load, url), said(WAYS["by hand"], url)]
    texts += [said(lambda: ll.Minimize(BOX, "random", seed=1, journal=url))]
    texts += [leadline("show", url).output, leadline("export", url, "-").output]
    texts += [leadline(*COMMANDS["run"], url).output]
    journal = open_journal(url)
    texts += [str(journal), repr(journal)]
    journal.close()
    texts += capfd.readouterr()
    assert "other settings" in texts[3]
    assert [text for text in texts if found(text)] == []


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://x:y@host:5432/runs?sslmode=require", "postgresql://x@host:5432/runs"),
        ("postgresql+psycopg://host/runs", "postgresql://host/runs"),
        ("postgresql:///runs?host=/tmp/a&user=x&q=y", "postgresql:///runs?host=/tmp/a&user=x"),
        ("postgresql://x:[@[::1]:5432/runs", "postgresql://x@[::1]:5432/runs"),
        ("postgresql://x:a@b@host/runs", "postgresql://***"),
        ("postgresql://x%3Aa@host/runs", "postgresql://***"),
        ("a b/run:1@2.db", "a b/run:1@2.db"),
    ],
)
def test_what_is_shown_says_where_it_is(url, shown):
    assert f"journal={shown!r}" in repr(CampaignOptions.of(5, {"journal": url}))


def test_a_file_is_shown_whatever_its_name(tmp_path):
    path = tmp_path / "x:y@z.db"
    path.write_text("no database " * 100)
    for journal in (path, f"sqlite:///{path}"):
        with pytest.raises(ll.InvalidData, match=r"/x:y@z\.db cannot be opened: file is not a"):
            load(journal)


def test_a_password_with_an_at_sign_is_explained():
    with pytest.raises(ll.InvalidData, match=r"cannot be read.* @ is %40"):
        open_journal("postgresql://x:a@b@host/runs")
