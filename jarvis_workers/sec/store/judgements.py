"""Triage verdicts (table `judgement`): the latest one per fingerprint, and a copy for each run.

A run gets a copy when it is submitted, so that its report does not change later.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from sqlalchemy import ColumnElement, case, delete, func, insert, literal, select

from jarvis_workers.sec.store.tables import JUDGED, JUDGEMENT
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import TriageState, TriageVerdict
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import chunked, insert_or_replace, now, storable

REAL = (TriageState.TRUE.value, TriageState.WONTFIX.value)


class Count(NamedTuple):
    """The number of findings of a rule judged real (true or won't fix), and judged false."""

    true: int
    false: int

    @property
    def all(self) -> int:
        return self.true + self.false


def judge(session: Session, judgements: Iterable[Judgement]) -> None:
    """Save verdicts with the current time; they replace earlier ones."""
    present = session.execute(select(now(session))).scalar_one()
    put(session, [one.model_copy(update={"at": present}) for one in judgements])


def put(session: Session, judgements: Iterable[Judgement]) -> None:
    """Save verdicts with their own times."""
    insert_or_replace(session, JUDGEMENT, [_row(one) for one in judgements])


def merge(session: Session, judgements: Iterable[Judgement]) -> int:
    """Import verdicts from another source, unless a later one is stored; return the number of new or different ones.

    A verdict without a time, or with a time in the future, counts as made now.
    """
    present: float = session.execute(select(now(session))).scalar_one()
    here = read(session)
    later = [one.model_copy(update={"at": min(one.at or present, present)}) for one in judgements]
    news = [one for one in later if _is_newer(one, here.get(one.fingerprint))]
    put(session, news)
    return len(news)


def read(session: Session) -> dict[str, Judgement]:
    """Return all verdicts by fingerprint, ordered by file and rule."""
    query = select(*[JUDGEMENT.c[name] for name in Judgement.model_fields])
    result = [Judgement(**row) for row in session.execute(query).mappings()]
    return {one.fingerprint: one for one in sorted(result, key=lambda one: (one.file, one.rule, one.fingerprint))}


def find(session: Session, fingerprints: Collection[str]) -> dict[str, Judgement]:
    """Return the verdicts on some fingerprints."""
    columns = [JUDGEMENT.c[name] for name in Judgement.model_fields]
    pieces = [select(*columns).where(JUDGEMENT.c.fingerprint.in_(some)) for some in chunked(fingerprints)]
    rows = [row for piece in pieces for row in session.execute(piece).mappings()]
    return {row["fingerprint"]: Judgement(**row) for row in rows}


def forget(session: Session, fingerprints: Collection[str]) -> None:
    """Delete the verdicts on some fingerprints."""
    for some in chunked(fingerprints):
        session.execute(delete(JUDGEMENT).where(JUDGEMENT.c.fingerprint.in_(some)))


def count(session: Session) -> dict[str, Count]:
    """Return the verdict counts by rule; postponed findings are not counted."""
    real = func.sum(case((JUDGEMENT.c.verdict.in_(REAL), 1), else_=0))
    settled = select(JUDGEMENT.c.rule, real, func.count()).where(JUDGEMENT.c.verdict != TriageState.LATER.value)
    rows = session.execute(settled.group_by(JUDGEMENT.c.rule))
    return {rule: Count(int(trues), every - int(trues)) for rule, trues, every in rows}


def attach(session: Session, run_id: str, more: Iterable[Judgement] = (), *, stored: bool = True) -> None:
    """Copy the stored verdicts to a run (if `stored` is set), and add `more`, which take precedence."""
    if stored:
        columns = [JUDGEMENT.c[name] for name in ("fingerprint", *TriageVerdict._fields)]
        query = select(literal(run_id), *columns)
        session.execute(insert(JUDGED).from_select(["run_id", *(column.name for column in columns)], query))
    rows = [_row(one) for one in more]
    named = ("fingerprint", *TriageVerdict._fields)
    insert_or_replace(session, JUDGED, [{"run_id": run_id} | {name: row[name] for name in named} for row in rows])


def attached(session: Session, run_id: str) -> Mapping[str, TriageVerdict]:
    """Return the verdicts copied to a run, by fingerprint."""
    return _copied(session, run_id)


def with_reasons(session: Session, run_id: str) -> Mapping[str, TriageVerdict]:
    """Return the verdicts copied to a run that have a reason, by fingerprint."""
    return _copied(session, run_id, JUDGED.c.reason != "")


def _copied(session: Session, run_id: str, *conditions: ColumnElement[bool]) -> Mapping[str, TriageVerdict]:
    query = select(JUDGED.c.fingerprint, *[JUDGED.c[name] for name in TriageVerdict._fields])
    rows = session.execute(query.where(JUDGED.c.run_id == run_id, *conditions))
    return {fingerprint: TriageVerdict(TriageState(verdict), reason) for fingerprint, verdict, reason in rows}


def _is_newer(one: Judgement, here: Judgement | None) -> bool:
    if here is None:
        return True
    columns = {"at"}
    return (one.at or 0.0) > (here.at or 0.0) and one.model_dump(exclude=columns) != here.model_dump(exclude=columns)


def _row(one: Judgement) -> dict[str, object]:
    return {name: storable(value) if isinstance(value, str) else value for name, value in one.model_dump().items()}
