"""Memories of agents (table `memory`), by project. Equal entries of a project are saved once."""

import json
from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import NamedTuple

from sqlalchemy import Index, Text, delete, select, tuple_
from sqlmodel import Field, SQLModel

from jarvis_workers.assistant.memory.entry import MemoryDraft, MemoryEntry, entry_of
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import changed, chunked, insert_missing, now
from jarvis_workers.store.tables import table

PAGE = 200


class MemoryRow(SQLModel, table=True):
    """A memory of agents for all runs on a project; `project` and `content_hash` are SHA-256, `entry` is JSON."""

    __tablename__ = "memory"
    __table_args__ = (Index("ix_memory_newest", "project", "entry_id"),)
    project: str = Field(primary_key=True, max_length=64)
    content_hash: str = Field(primary_key=True, max_length=64)
    entry_id: str = Field(max_length=64)
    entry: str = Field(sa_type=Text)


MEMORY = table(MemoryRow)


class PagePosition(NamedTuple):
    """The position of an entry of a project, in the order of pages."""

    entry_id: str
    content_hash: str


def add(session: Session, project: str, drafts: Sequence[MemoryDraft]) -> list[MemoryEntry]:
    """Save drafts with the current time, and return their entries; an equal entry that is there stays as it is."""
    began = round(session.execute(select(now(session))).scalar_one() * 1_000_000)
    entries = [entry_of(draft, began + number) for number, draft in enumerate(drafts)]
    rows = [
        {
            "project": _hash(project),
            "content_hash": _hash(json.dumps([draft.type, sorted(draft.tags), draft.content])),
            "entry_id": entry.id,
            "entry": json.dumps(entry.model_dump(mode="json", exclude_none=True)),
        }
        for draft, entry in zip(drafts, entries, strict=True)
    ]
    insert_missing(session, MEMORY, rows)
    return entries


def page(session: Session, project: str, before: PagePosition | None) -> list[tuple[PagePosition, MemoryEntry]]:
    """Return up to PAGE entries of a project after a place, newest first."""
    columns = (MEMORY.c.entry_id, MEMORY.c.content_hash)
    query = select(*columns, MEMORY.c.entry).where(MEMORY.c.project == _hash(project))
    if before:
        query = query.where(tuple_(*columns) < tuple_(*before))
    rows = session.execute(query.order_by(*(column.desc() for column in columns)).limit(PAGE))
    return [(PagePosition(name, content), MemoryEntry.model_validate_json(entry)) for name, content, entry in rows]


def remove(session: Session, project: str, ids: Collection[str]) -> int:
    """Remove the entries of a project with these ids, and return their number."""
    own = delete(MEMORY).where(MEMORY.c.project == _hash(project))
    return sum(changed(session, own.where(MEMORY.c.entry_id.in_(some))) for some in chunked(ids))


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
