"""The command line: run a campaign, look at one, export one."""

from leadline.cli._commands import app, main

__all__ = ["app", "main"]
