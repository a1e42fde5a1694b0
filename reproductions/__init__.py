"""What theses claim, and what is found; `python -m reproductions.run`."""
