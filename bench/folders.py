"""Where things are on disk; what asks here need not know in which folder it lies itself."""

from __future__ import annotations

from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
# Environments of peers, their remembered answers, tables that took long to make: one per machine.
CACHE = BENCH / ".cache"
