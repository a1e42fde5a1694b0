"""Leadline and its peers side by side; `python -m bench.run`."""
