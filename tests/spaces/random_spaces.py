"""Hypothesis strategies: the tables of random parameters, and of spaces with conditions.

They give tables, from which a test makes its space: type checks draw random numbers, which
Hypothesis does not want inside a strategy.
"""

from hypothesis import strategies as st

from leadline.spaces import Space

SCALARS = st.one_of(
    st.text(max_size=3), st.integers(-5, 5), st.booleans(), st.none(), st.sampled_from([0.5, 1.5])
)


@st.composite
def reals(draw):
    log = draw(st.booleans())
    if log:
        low = 10.0 ** draw(st.integers(-8, 3))
        high = low * draw(st.sampled_from([1.5, 10.0, 1e6]))
    else:
        low = draw(st.floats(-1e3, 1e3))
        high = low + draw(st.floats(1e-2, 1e4))
    return {"type": "real", "low": low, "high": high, "log": log}


@st.composite
def stepped(draw, widest=10**5, linear=False):
    """Real numbers with steps, as many as `widest` at most."""
    count = draw(st.integers(1, widest))
    if not linear and draw(st.booleans()):
        log, unit = draw(st.booleans()), 10 ** draw(st.integers(0, 4))
        low = draw(st.integers(1 if log else -1000, 1000))
        ends = {"low": low / unit, "high": (low + count) / unit}
        return {"type": "real", **ends, "log": log, "decimals": len(str(unit)) - 1}
    step = draw(st.sampled_from([0.5, 0.1, 0.125, 1 / 3, 7.0]))
    low = draw(st.sampled_from([-100.0, -0.3, 0.0, 0.1, 79.5]))
    return {"type": "real", "low": low, "high": low + count * step, "step": step}


@st.composite
def integers(draw, widest=10**6, linear=False):
    log = not linear and draw(st.booleans())
    low = draw(st.integers(1 if log else -1000, 1000))
    return {"type": "integer", "low": low, "high": low + draw(st.integers(1, widest)), "log": log}


@st.composite
def ordinals(draw):
    values = st.one_of(st.integers(-9, 9), st.text(max_size=2))
    listed = draw(st.lists(values, min_size=2, max_size=5, unique=True))
    return {"type": "ordinal", "values": listed}


@st.composite
def choices(draw):
    options = draw(st.lists(SCALARS, min_size=2, max_size=4, unique=True))
    return {"type": "choice", "options": options}


@st.composite
def spaces(draw, finite=False):
    """Two to six parameters in shuffled order, of which some depend on others."""
    kinds = [integers(4 if finite else 10**6), ordinals(), choices()]
    kinds += [stepped(4 if finite else 10**5)]
    kinds += [] if finite else [reals()]
    tables = {}
    for k in range(draw(st.integers(2, 6))):
        table = draw(st.one_of(kinds))
        parents = [name for name, other in tables.items() if has_separate_values(other)]
        if parents and draw(st.booleans()):
            name = draw(st.sampled_from(parents))
            table["when"] = {name: draw(st.sampled_from(some_values(tables[name])))}
        tables[f"p{k}"] = table
    return {name: tables[name] for name in draw(st.permutations(list(tables)))}


def has_separate_values(table):
    """Whether another parameter may have a condition on it."""
    return table["type"] != "real" or "step" in table or "decimals" in table


def some_values(table):
    """The values of a parameter that are listed; the ends of a range."""
    return table.get("options") or table.get("values") or [table["low"], table["high"]]


def parameter_of(table):
    """The parameter of a table."""
    return Space.from_table({"p": table}).parameters["p"]
