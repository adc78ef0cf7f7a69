"""Artifacts (results of a run stored as blobs), and the records of blob use."""

from collections.abc import Sequence

from sqlalchemy import delete, insert, select, text, update

from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import changed, chunked, insert_missing, now
from jarvis_workers.store.tables import ARTIFACT, BLOB_USE, RUN

TRANSCRIPT = "transcript:"


def transcript_name(job_id: int) -> str:
    """Return the artifact name of the transcript of a finished job."""
    return f"{TRANSCRIPT}{job_id}"


def save(session: Session, run_id: str, artifacts: Sequence[tuple[str, str, int]]) -> None:
    """Save artifacts, given as (name, blob, size); they replace artifacts with the same name."""
    for name, blob, size in artifacts:
        session.execute(delete(ARTIFACT).where(ARTIFACT.c.run_id == run_id, ARTIFACT.c.name == name))
        row = {"run_id": run_id, "name": name, "blob": blob, "size": size, "created_at": now(session)}
        session.execute(insert(ARTIFACT).values(row))


def forget(session: Session, run_id: str) -> None:
    """Delete the outdated artifacts of a run that continues; transcripts are kept."""
    is_transcript = ARTIFACT.c.name.startswith(TRANSCRIPT)
    session.execute(delete(ARTIFACT).where(ARTIFACT.c.run_id == run_id, ~is_transcript))


def find(session: Session, run_id: str, name: str) -> str | None:
    """Return the blob of an artifact, or None."""
    query = select(ARTIFACT.c.blob).where(ARTIFACT.c.run_id == run_id, ARTIFACT.c.name == name)
    return session.execute(query).scalar_one_or_none()


def blobs_named(session: Session, run_ids: Sequence[str], name: str) -> dict[str, str]:
    """Return the blobs of the artifacts with this name, by run."""
    result: dict[str, str] = {}
    for some in chunked(run_ids):
        query = select(ARTIFACT.c.run_id, ARTIFACT.c.blob).where(ARTIFACT.c.run_id.in_(some), ARTIFACT.c.name == name)
        result |= {run_id: blob for run_id, blob in session.execute(query)}
    return result


def add_uses(session: Session, owner: str, blobs: Sequence[str]) -> None:
    """Record that `owner` (a run or a submission in progress) uses blobs; call this before checking that they exist."""
    wishes = [{"owner": owner, "blob": blob} for blob in sorted(set(blobs))]
    insert_missing(session, BLOB_USE, wishes, at=now(session))


def transfer_uses(session: Session, owner: str, run_id: str) -> None:
    """Transfer the blob uses of a submission to its run."""
    session.execute(update(BLOB_USE).where(BLOB_USE.c.owner == owner).values(owner=run_id))


def copy_uses(session: Session, owner: str, run_id: str) -> None:
    """Let a run use the blobs that another owner uses."""
    add_uses(session, run_id, session.execute(select(BLOB_USE.c.blob).where(BLOB_USE.c.owner == owner)).scalars().all())


def drop_uses(session: Session, owner: str) -> None:
    """Delete the blob uses of an owner."""
    session.execute(delete(BLOB_USE).where(BLOB_USE.c.owner == owner))


def drop_stale_uses(session: Session, older_than_seconds: float) -> int:
    """Delete old blob uses whose owner never became a run or no longer exists; return their number."""
    nobody = BLOB_USE.c.owner.not_in(select(RUN.c.id))
    return changed(session, delete(BLOB_USE).where(nobody, BLOB_USE.c.at < now(session) - older_than_seconds))


def lock_uses(session: Session) -> None:
    """Lock the blob uses until the transaction ends; this must be the transaction's first statement on blob uses.

    Blobs are deleted within that transaction: a concurrent submission waits when it records its uses, and checks which
    blobs exist only afterwards.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE blob_use IN SHARE ROW EXCLUSIVE MODE"))


def used_blobs(session: Session) -> set[str]:
    """Return all blobs in use; after `lock_uses`, the set does not change until the transaction ends."""
    return {row.blob for row in session.execute(select(BLOB_USE.c.blob).distinct())}
