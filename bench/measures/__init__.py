"""One file per measurement: a title, what it shows, and `run(session)` that gives figures."""
