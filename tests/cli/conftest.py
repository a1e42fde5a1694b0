"""A folder as a person has it: spaces, and a module of functions."""

import sys

import pytest

SPACE = """
[rate]
type = "real"
low = 1e-5
high = 1e-1
log = true
[act]
type = "choice"
options = ["relu", "[tanh]"]
[slope]
type = "real"
low = 0.0
high = 1.0
when = {act = "relu"}
"""

FUNCTIONS = """
import sys

def rate(params):
    return params["rate"]

def total(x):
    return float(x.sum())

def loss(params):
    assert isinstance(params, dict)
    if params["act"] == "[tanh]":
        raise ValueError("no [tanh] today")
    return params["rate"] + params["slope"]

def heavy(params):
    return float("jax" in sys.modules)

def limited(params):
    if params["act"] == "[tanh]":
        raise ValueError("no [tanh] today")
    return params["rate"], [0.5 - params["slope"], params["slope"] - 0.9]

def impossible(params):
    return params["rate"], [0.25, 0.125]

def broken(params):
    raise ValueError("never")

def several(points):
    return [(params["rate"], {"points": len(points)}) for params in points]

number = 3
"""

SPACES = """
import leadline as ll

half = ll.Space(
    rate=ll.Real(0.0, 1.0), slope=ll.Real(0.0, 1.0), constraint=lambda p: p["rate"] <= 0.5
)
box = [(0.0, 1.0), (2.0, 3.0)]
pool = ll.Pool([{"name": f"m{i}", "rate": float(i)} for i in range(20)])

def make():
    return half

def cannot():
    raise RuntimeError("no license")

number = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with spaces and functions."""
    (tmp_path / "space.toml").write_text(SPACE)
    (tmp_path / "functions_of_the_user.py").write_text(FUNCTIONS)
    (tmp_path / "spaces_of_the_user.py").write_text(SPACES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for module in ("functions_of_the_user", "spaces_of_the_user"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return tmp_path
