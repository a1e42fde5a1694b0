"""What a journal in a database says to it.

Statements are built once: building them takes longer than running them.
"""

from __future__ import annotations

import sqlalchemy as sa

from leadline.journal._tables import CAMPAIGN, EVENTS, LATE, LEFT, OWNERS, RUNNING

LOCK = sa.select(CAMPAIGN.c.id).with_for_update()
READ = (
    sa.select(EVENTS.c.number, EVENTS.c.trial, EVENTS.c.kind, EVENTS.c.body, EVENTS.c.arrays)
    .where(EVENTS.c.number > sa.bindparam("after"))
    .order_by(EVENTS.c.number)
)
LAST = sa.select(
    sa.select(sa.func.coalesce(sa.func.max(EVENTS.c.number), 0)).scalar_subquery(),
    sa.select(sa.func.coalesce(sa.func.max(EVENTS.c.trial), -1) + 1).scalar_subquery(),
)
ADD_EVENT = sa.insert(EVENTS)
ADD_LATE = sa.insert(LATE)
ADD_RUNNING = sa.insert(RUNNING)
ADD_OWNER = sa.insert(OWNERS)
EVENTS_OF = sa.select(sa.func.count()).where(EVENTS.c.trial == sa.bindparam("of"))
RUNS = sa.select(sa.func.count()).where(RUNNING.c.trial == sa.bindparam("of"))
SET_CAMPAIGN = sa.update(CAMPAIGN)
END_RUNNING = sa.delete(RUNNING).where(RUNNING.c.trial == sa.bindparam("ended"))
UNFINISHED = sa.select(sa.func.count()).select_from(RUNNING)
MINE = sa.select(RUNNING.c.trial).where(RUNNING.c.owner == sa.bindparam("token"))
OTHERS = (
    sa.select(RUNNING.c.trial, RUNNING.c.since, RUNNING.c.owner, *OWNERS.c)
    .select_from(RUNNING.outerjoin(OWNERS, RUNNING.c.owner == OWNERS.c.token))
    .where(sa.or_(RUNNING.c.owner.is_(None), RUNNING.c.owner != sa.bindparam("ours")))
    .order_by(RUNNING.c.trial)
)
TAKE = (
    sa.update(RUNNING)
    .where(RUNNING.c.trial == sa.bindparam("taken"))
    .values(owner=sa.bindparam("ours"), since=sa.bindparam("now"))
)
FREE = sa.update(RUNNING).where(RUNNING.c.owner == sa.bindparam("token")).values(owner=LEFT)
LEAVE = sa.delete(OWNERS).where(OWNERS.c.token == sa.bindparam("left"))
BEAT = (
    sa.update(OWNERS)
    .where(OWNERS.c.token == sa.bindparam("beating"))
    .values(heartbeat=sa.bindparam("now"))
)
