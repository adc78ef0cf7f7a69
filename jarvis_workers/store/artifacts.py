"""Artifacts: results of a run that are kept as blobs. And who wants which blob."""

from collections.abc import Sequence

from sqlalchemy import delete, insert, select, text, update
from sqlmodel import Session

from jarvis_workers.store.sql import changed, insert_missing, now
from jarvis_workers.store.tables import ARTIFACT, BLOB_USE, RUN

TRANSCRIPT = "transcript:"


def transcript_name(job_id: int) -> str:
    """Return what the transcript of a job that is done is called."""
    return f"{TRANSCRIPT}{job_id}"


def save(session: Session, run_id: str, kept: Sequence[tuple[str, str, int]]) -> None:
    """Save (name, blob, size); an artifact of the same name is replaced."""
    for name, blob, size in kept:
        session.execute(delete(ARTIFACT).where(ARTIFACT.c.run_id == run_id, ARTIFACT.c.name == name))
        row = {"run_id": run_id, "name": name, "blob": blob, "size": size, "created_at": now(session)}
        session.execute(insert(ARTIFACT).values(row))


def forget(session: Session, run_id: str) -> None:
    """Drop the artifacts of a run that goes on: they tell what it was. What was said in conversations stays."""
    said = ARTIFACT.c.name.startswith(TRANSCRIPT)
    session.execute(delete(ARTIFACT).where(ARTIFACT.c.run_id == run_id, ~said))


def find(session: Session, run_id: str, name: str) -> str | None:
    """Return the blob of an artifact, or None."""
    chosen = select(ARTIFACT.c.blob).where(ARTIFACT.c.run_id == run_id, ARTIFACT.c.name == name)
    return session.execute(chosen).scalar_one_or_none()


def want(session: Session, owner: str, blobs: Sequence[str]) -> None:
    """Record, before they are looked for, that `owner` (a run, or a submit on its way) wants blobs."""
    wishes = [{"owner": owner, "blob": blob} for blob in sorted(set(blobs))]
    insert_missing(session, BLOB_USE, wishes, at=now(session))


def hand_over(session: Session, owner: str, run_id: str) -> None:
    """Make what a submit wanted the wish of its run."""
    session.execute(update(BLOB_USE).where(BLOB_USE.c.owner == owner).values(owner=run_id))


def drop_wishes(session: Session, owner: str) -> None:
    """Forget what an owner wanted."""
    session.execute(delete(BLOB_USE).where(BLOB_USE.c.owner == owner))


def drop_stale_wishes(session: Session, older_than_seconds: float) -> int:
    """Forget what was wanted for something that never became a run, or is one no more."""
    nobody = BLOB_USE.c.owner.not_in(select(RUN.c.id))
    return changed(session, delete(BLOB_USE).where(nobody, BLOB_USE.c.at < now(session) - older_than_seconds))


def lock_wishes(session: Session) -> None:
    """Keep the wishes as they are until the transaction ends; it must come before any change of them.

    Whoever deletes blobs does so inside that transaction: a submit that comes later waits with
    its wish, and looks for its blobs only after it.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE blob_use IN SHARE ROW EXCLUSIVE MODE"))


def wanted(session: Session) -> set[str]:
    """Return every blob that somebody wants; `lock_wishes` keeps that true."""
    return {row.blob for row in session.execute(select(BLOB_USE.c.blob).distinct())}
