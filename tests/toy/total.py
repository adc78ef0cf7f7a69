"""Report the line counts of all files, and their total."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import sqlalchemy as sa

from jarvis_workers.paths import shown
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.values import Claimed, Commit, NewJob, Run
from tests.toy import LINES

if TYPE_CHECKING:
    from sqlmodel import Session


def plan(_: Run, __: Blobs) -> Iterator[NewJob]:
    yield NewJob(step="total", queue="control", label="add up", input_hash="total")


def load(session: "Session", run: Run, _: Claimed) -> dict[str, int]:
    rows = session.execute(sa.select(LINES.c.path, LINES.c.lines).where(LINES.c.run_id == run.id))
    return {shown(path): lines for path, lines in rows}


def decide(lines: dict[str, int], _: Resources) -> Commit:
    report = {"files": lines, "total": sum(lines.values())}
    return Commit(artifacts=(("report", json.dumps(report, sort_keys=True).encode()),))
