"""Verdicts: insert the verdicts of a job, read the verdicts of a run in gid order."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Row, and_, case, func, or_, select
from sqlalchemy import insert as insert_into

from jarvis_workers.paths import from_shown
from jarvis_workers.sec.assessment import Verdict
from jarvis_workers.sec.finding import derived_severity
from jarvis_workers.sec.store.tables import CANDIDATE, VERDICT
from jarvis_workers.sec.trace import OUTSIDE
from jarvis_workers.source.languages import is_test
from jarvis_workers.store.record_columns import record_row
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import chunked

READ_ROWS = 500
DISMISSED, CONFIRMED = "dismissed", "confirmed"
COLUMNS = tuple(column for column in VERDICT.c if column.key in Verdict._fields)


class FindingCount(NamedTuple):
    """The number of findings that have the same severity; `rated` is that of a verdict, "" without one."""

    pattern: str
    confidence: float
    cwe: int
    file: str
    outside: bool
    rated: str
    findings: int

    def severity_under(self, severities: Mapping[str, str]) -> str:
        """Return the severity where those of some rules are configured."""
        derived = derived_severity(
            self.pattern, self.confidence, self.cwe, outside=self.outside, test=is_test(from_shown(self.file))
        )
        return self.rated or severities.get(self.pattern) or derived


def insert(session: Session, run_id: str, job_id: int, verdicts: Sequence[Verdict]) -> None:
    """Insert the verdicts of a job."""
    rows = [{"run_id": run_id, "job_id": job_id, **record_row(COLUMNS, verdict)} for verdict in verdicts]
    if rows:
        session.execute(insert_into(VERDICT), rows)


def read(session: Session, run_id: str) -> Iterator[Verdict]:
    """Yield the current verdicts of a run."""
    query = select(*COLUMNS).where(VERDICT.c.run_id == run_id)
    rows = session.execute(query.order_by(VERDICT.c.gid).execution_options(yield_per=READ_ROWS))
    return (_verdict(row) for row in rows)


def of_gids(session: Session, run_id: str, gids: Collection[int]) -> list[Verdict]:
    """Return the existing verdicts on some candidates of a run."""
    ours, result = select(*COLUMNS).where(VERDICT.c.run_id == run_id).order_by(VERDICT.c.gid), list[Verdict]()
    for some in chunked(gids):
        result += [_verdict(row) for row in session.execute(ours.where(VERDICT.c.gid.in_(some)))]
    return result


def _verdict(row: Row[Any]) -> Verdict:
    return Verdict(**row._mapping)


def statuses(session: Session, run_id: str) -> dict[int, str]:
    """Return the status of each candidate that has a verdict, by gid."""
    rows = session.execute(select(VERDICT.c.gid, VERDICT.c.status).where(VERDICT.c.run_id == run_id))
    return {gid: status for gid, status in rows}


def escalated(session: Session, run_id: str, besides: int) -> tuple[int, int]:
    """Return the numbers of escalated verdicts and of all verdicts of a run, not counting that on one candidate."""
    query = select(func.count().filter(VERDICT.c.escalated), func.count())
    row = session.execute(query.where(VERDICT.c.run_id == run_id, VERDICT.c.gid != besides)).one()
    return row[0], row[1]


def severities(session: Session, run_id: str) -> dict[int, str]:
    """Return the severity of each confirmed candidate whose verdict has one, by gid."""
    query = select(VERDICT.c.gid, VERDICT.c.severity).where(VERDICT.c.run_id == run_id)
    rows = session.execute(query.where(VERDICT.c.status == "confirmed", VERDICT.c.severity != ""))
    return {gid: severity for gid, severity in rows}


def ratings(session: Session, run_id: str) -> dict[int, tuple[str, str]]:
    """Return the severity and the exposure of each confirmed candidate by gid; "" for what its verdict does not say."""
    query = select(VERDICT.c.gid, VERDICT.c.severity, VERDICT.c.exposure).where(VERDICT.c.run_id == run_id)
    rows = session.execute(query.where(VERDICT.c.status == "confirmed"))
    return {gid: (severity, exposure) for gid, severity, exposure in rows}


def job_of(session: Session, run_id: str, gid: int) -> int | None:
    """Return the id of the job that produced the verdict on a candidate, or None."""
    query = select(VERDICT.c.job_id).where(VERDICT.c.run_id == run_id, VERDICT.c.gid == gid)
    return session.execute(query).scalar_one_or_none()


def sandboxes(session: Session, run_id: str) -> list[str]:
    """Return the sandbox tiers in which the scripts of a run were executed."""
    query = select(VERDICT.c.sandbox).where(VERDICT.c.run_id == run_id, VERDICT.c.sandbox.is_not(None)).distinct()
    return sorted(session.execute(query).scalars())


def finding_counts(session: Session, run_id: str) -> Iterator[FindingCount]:
    """Yield the numbers of findings of a finished run by what decides their severity, without suppressed ones.

    Neither are dismissed ones counted.
    """
    verdict = and_(VERDICT.c.run_id == CANDIDATE.c.run_id, VERDICT.c.gid == CANDIDATE.c.gid)
    shown = (CANDIDATE.c.run_id == run_id) & CANDIDATE.c.gid.is_not(None) & CANDIDATE.c.suppressed.is_(None)
    outside = or_(*(CANDIDATE.c.trail.contains(words) for words in OUTSIDE)).label("outside")
    rated = case((VERDICT.c.status == CONFIRMED, VERDICT.c.severity), else_="").label("rated")
    key: Any = (CANDIDATE.c.pattern, CANDIDATE.c.confidence, CANDIDATE.c.cwe, CANDIDATE.c.file, outside, rated)
    counted = select(*key, func.count()).outerjoin(VERDICT, verdict)
    counted = counted.where(shown, func.coalesce(VERDICT.c.status, "") != DISMISSED).group_by(*key)
    for row in session.execute(counted.execution_options(yield_per=READ_ROWS)):
        yield FindingCount(*row)._replace(outside=bool(row.outside))
