"""The tables of a journal in a database. One database holds one campaign."""

from __future__ import annotations

import sqlalchemy as sa

# Raised when a change of the tables or of what is in them makes older versions misread a journal.
# 2: trials may be withdrawn and corrected, and spaces widened.
FORMAT = 2

# Who owns a trial after its owner has left.
LEFT = "left"

TABLES = sa.MetaData()

CAMPAIGN = sa.Table(
    "leadline_campaign",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("format", sa.Integer, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
)

# What happened, in order. A trial starts once and ends once; every further event of it, and of no
# trial, has a phase of its own.
EVENTS = sa.Table(
    "leadline_events",
    TABLES,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("trial", sa.Integer, nullable=False),
    sa.Column("phase", sa.String(5), nullable=False),
    sa.Column("kind", sa.String(6), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("arrays", sa.LargeBinary),
    sa.Column("written", sa.Double, nullable=False),
    sa.UniqueConstraint("trial", "phase"),
)

# Values of trials that were given up before the value came.
LATE = sa.Table(
    "leadline_late",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("trial", sa.Integer, nullable=False),
    sa.Column("kind", sa.String(6), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("arrays", sa.LargeBinary),
    sa.Column("written", sa.Double, nullable=False),
)

# Asked trials that have not ended; `since` when their owner has them. They are free without one, as
# after an ask by hand, and if there is no such owner, as when it has left.
RUNNING = sa.Table(
    "leadline_running",
    TABLES,
    sa.Column("trial", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("owner", sa.String(32)),
    sa.Column("since", sa.Double, nullable=False),
)

# Who takes part. `heartbeat` changes at least every `interval` seconds.
OWNERS = sa.Table(
    "leadline_owners",
    TABLES,
    sa.Column("token", sa.String(32), primary_key=True),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("born", sa.Double, nullable=False),
    sa.Column("interval", sa.Double, nullable=False),
    sa.Column("heartbeat", sa.Double, nullable=False),
)
