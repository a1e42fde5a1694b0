"""The table of the README is what was measured last."""

from bench.harness import report


def test_the_readme_shows_six_rows_of_the_results():
    table = report.headlines(report.load())
    assert len(table) == 2 + 6
    written = report.README.read_text().split(report.BEGIN)[1].split(report.END)[0]
    assert written.strip().splitlines() == table


def test_what_is_slower_says_so():
    def figure(peer, value):
        return {
            "case": "50 rows",
            "ours": "2 s",
            "peer": peer,
            "theirs": f"{2 * value:g} s",
            "value": value,
            "kind": "times faster",
        }

    figures = [figure("BoTorch", 4.0), figure("Optuna", 0.5), figure("GPJax", 2.0)]
    found = report.headlines({"measures": {"ask": {"figures": figures}}})
    assert [row.split(" | ")[1:] for row in found[2:]] == [
        ["2 s", "8 s (BoTorch)", "4 times faster |"],
        ["2 s", "1 s (Optuna)", "2 times slower |"],
    ]
