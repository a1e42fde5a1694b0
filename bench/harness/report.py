"""What is written down: `results.json`, `RESULTS.md`, and the table of the README."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from bench.folders import BENCH, ROOT
from bench.harness.figures import Figure

JSON, MARKDOWN, README = BENCH / "results.json", BENCH / "RESULTS.md", ROOT / "README.md"
BEGIN, END = "<!-- bench: written by make bench -->", "<!-- end of bench -->"
# What the README shows: the measure, the case and the peer, and what the row is called there.
HEADLINES = (
    ("ask", "50 rows", "BoTorch", "The next point after 50 calls in 6 dimensions, warm"),
    ("ask", "50 rows", "Optuna", "The next point after 50 calls in 6 dimensions, warm"),
    ("runs", "hartmann6, cache empty", "BoTorch", "60 calls of Hartmann-6: a new process, cold"),
    ("runs", "hartmann6, cache empty", "Optuna", "60 calls of Hartmann-6: a new process, cold"),
    ("fit", "50 rows", "BoTorch", "A fit of 50 rows in 6 dimensions, 1000 predictions, warm"),
    (
        "draws",
        "256 draws, 500 rows, 10000 points",
        "BoTorch",
        "256 function draws given 500 rows, at 10 000 points, warm",
    ),
)


def load() -> dict[str, Any]:
    """The results so far; measures that are not run again keep theirs."""
    return json.loads(JSON.read_text()) if JSON.exists() else {"versions": {}, "measures": {}}


def as_json(figures: list[Figure]) -> list[dict[str, Any]]:
    """Figures with whether they meet their bar."""
    return [{**dataclasses.asdict(figure), "met": figure.met} for figure in figures]


def write(results: dict[str, Any]) -> None:
    """Write all three."""
    JSON.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    MARKDOWN.write_text(_markdown(results))
    _write_readme(results)


def _markdown(results: dict[str, Any]) -> str:
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`. Sides run on the same data, each in its own environment and",
        "process, in turns; times are medians.",
        "Peers' figures are measured once per machine and again with `make bench PEERS=1`.",
        "",
    ]
    for side, found in sorted(results["versions"].items()):
        lines.append(f"- {side}: {', '.join(f'{k} {v}' for k, v in found.items())}")
    for measure in results["measures"].values():
        lines += ["", f"## {measure['title']}", "", " ".join(measure["what"].split()), ""]
        lines += [_when(measure), ""]
        if measure.get("failed"):
            lines += ["**It failed:**", "", "```", measure["failed"], "```", ""]
            continue
        lines += ["| case | Leadline | peer | theirs | compared | bar | met | note |"]
        lines += ["|---|---|---|---|---|---|---|---|"]
        lines += [_row(figure) for figure in measure["figures"]]
    return "\n".join(lines) + "\n"


def _when(measure: dict[str, Any]) -> str:
    machine = measure["machine"]
    return (
        f"{measure['date']}, {machine['processor']}, {machine['cores']} cores, "
        f"load {machine['load']:.1f} at the start. Peers: {measure['peers']}."
    )


def _row(figure: dict[str, Any]) -> str:
    bar = ""
    if figure["bar"] is not None:
        bar = f"{'≥' if figure['at_least'] else '≤'} {figure['bar']:g}"
    met = {True: "yes", False: "**no**", None: ""}[figure["met"]]
    compared = f"{figure['value']:.3g} {figure['kind']}"
    shown = (figure[name] for name in ("case", "ours", "peer", "theirs"))
    return f"| {' | '.join(shown)} | {compared} | {bar} | {met} | {figure['note']} |"


def _write_readme(results: dict[str, Any]) -> None:
    """Put the table between its two marks, if the README has them."""
    text = README.read_text() if README.exists() else ""
    if BEGIN not in text or END not in text:
        return
    before, rest = text.split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    README.write_text("\n".join([before + BEGIN, *headlines(results), END + after]))


def headlines(results: dict[str, Any]) -> list[str]:
    """The README's table; what has not been measured is left out."""
    rows = ["| | Leadline | peer | |", "|---|---|---|---|"]
    for name, case, peer, title in HEADLINES:
        for figure in results["measures"].get(name, {}).get("figures", []):
            if (figure["case"], figure["peer"]) == (case, peer):
                value, kind = figure["value"], figure["kind"]
                if kind == "times faster" and value < 1:
                    value, kind = 1 / value, "times slower"
                theirs = f"{figure['theirs']} ({peer})"
                rows.append(f"| {title} | {figure['ours']} | {theirs} | {value:.2g} {kind} |")
    return rows
