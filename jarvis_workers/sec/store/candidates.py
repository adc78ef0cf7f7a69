"""Candidates: insert them, number them before the report, read them in order.

A hostile tree can produce hundreds of thousands of candidates, so they are plain rows, processed in chunks.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from jarvis_workers.paths import shown
from jarvis_workers.sec.finding import (
    FOREIGN,
    FUZZ_CRASH,
    HIT_FIELDS,
    RULE_FIELDS,
    SEEN_BY_MODEL,
    SUPERSEDES,
    WITHOUT_RULE,
    Candidate,
)
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.rules.families.flow import HARMLESS
from jarvis_workers.sec.store.tables import CANDIDATE
from jarvis_workers.sec.triage_states import unadjusted_minimum
from jarvis_workers.store.session import Session
from jarvis_workers.store.sql import chunked
from jarvis_workers.store.tables import JOB
from jarvis_workers.store.values import Meaning, Spot

INSERT_ROWS = 5_000
READ_ROWS = 2_000
NOTHING_LEARNED: Mapping[str, float] = {}
# A candidate that a model reported is merged with another: `superseded` has the id of that one's row.
MERGED = "candidate "


class StoredCandidate(NamedTuple):
    """A candidate with the id of its row, and its gid if it has one."""

    id: int
    gid: int | None
    candidate: Candidate


class NamedBy(NamedTuple):
    """What a job has named: a candidate with a gid, or what was merged with it; `result` is that of the job."""

    gid: int
    file: str
    line: int
    description: str
    result: str | None


STORED = (CANDIDATE.c.id, CANDIDATE.c.gid, *(CANDIDATE.c[name] for name in Candidate._fields))


def insert(
    session: Session, run_id: str, job_id: int, spots: Sequence[Spot], *, meanings: Sequence[Meaning] = ()
) -> None:
    """Insert the candidates of a job; `meanings` describe rules that are not built in."""
    texts = {meaning.pattern: meaning._asdict() for meaning in meanings}
    common = {"run_id": run_id, "job_id": job_id}
    for start in range(0, len(spots), INSERT_ROWS):
        rows = [
            {**(texts.get(spot.pattern) or _described(spot.pattern)), **common, **_placed(spot)}
            for spot in spots[start : start + INSERT_ROWS]
        ]
        session.execute(sa.insert(CANDIDATE), rows)


def insert_seen(session: Session, run_id: str, job_id: int, seen: Sequence[tuple[bytes, Candidate]]) -> None:
    """Insert candidates that a model has seen, with the bytes of their paths; they get their gids later."""
    rows = [{**candidate._asdict(), "run_id": run_id, "job_id": job_id, "file_raw": path} for path, candidate in seen]
    if rows:
        session.execute(sa.insert(CANDIDATE), rows)


def merge(session: Session, run_id: str, pattern: str, into: Mapping[int, int]) -> None:
    """Merge candidates of a rule with others that stay, by the ids of their rows, and no others of this rule.

    The pattern FOREIGN stands for all rules of other analyzers.
    """
    ours = sa.update(CANDIDATE).where(CANDIDATE.c.run_id == run_id, _is_of(pattern))
    session.execute(ours.where(CANDIDATE.c.superseded.is_not(None)).values(superseded=None, gid=None))
    each = sa.update(CANDIDATE).where(CANDIDATE.c.id == sa.bindparam("row"))
    rows = [{"row": row_id, "into": f"{MERGED}{other}"} for row_id, other in into.items()]
    if rows:
        session.connection().execute(each.values(superseded=sa.bindparam("into"), gid=None), rows)


def set_confidences(session: Session, confidences: Mapping[int, float]) -> None:
    """Set the confidences of candidates, by the ids of their rows."""
    each = sa.update(CANDIDATE).where(CANDIDATE.c.id == sa.bindparam("row")).values(confidence=sa.bindparam("new"))
    if rows := [{"row": row_id, "new": confidence} for row_id, confidence in confidences.items()]:
        session.connection().execute(each, rows)


def _is_of(pattern: str) -> sa.ColumnElement[bool]:
    if pattern == FOREIGN:
        return CANDIDATE.c.pattern.contains(FOREIGN, autoescape=True)
    return CANDIDATE.c.pattern == pattern


def of_rule(session: Session, run_id: str, pattern: str) -> list[StoredCandidate]:
    """Return the candidates of a rule, merged or not, in an order that does not depend on that of the jobs."""
    query = sa.select(*STORED).where(CANDIDATE.c.run_id == run_id, _is_of(pattern))
    rows = session.execute(query.order_by(*_order(session)))
    return [StoredCandidate(row[0], row[1], Candidate(*row[2:])) for row in rows]


def numbered_in(session: Session, run_id: str, files: Collection[str]) -> list[StoredCandidate]:
    """Return the candidates with a gid in these (shown) files, in order."""
    query = sa.select(*STORED).where(CANDIDATE.c.run_id == run_id, CANDIDATE.c.gid.is_not(None))
    rows = [row for some in chunked(sorted(files)) for row in session.execute(query.where(CANDIDATE.c.file.in_(some)))]
    return sorted((StoredCandidate(row[0], row[1], Candidate(*row[2:])) for row in rows), key=lambda one: one.gid or 0)


def merged_texts(session: Session, run_id: str, *, models_only: bool = False) -> dict[int, list[str]]:
    """Return by gid the descriptions of the candidates that were merged with one, if they differ from its own.

    `models_only` leaves out those of other analyzers.
    """
    query = sa.select(CANDIDATE.c.superseded, CANDIDATE.c.description).where(
        CANDIDATE.c.run_id == run_id,
        CANDIDATE.c.gid.is_(None),
        CANDIDATE.c.superseded.startswith(MERGED, autoescape=True),
    )
    if models_only:
        query = query.where(~_is_of(FOREIGN))
    texts = defaultdict[int, list[str]](list)
    for into, text in session.execute(query.order_by(*_order(session))):
        texts[int(into.removeprefix(MERGED))].append(text)
    result, place = dict[int, list[str]](), sa.select(CANDIDATE.c.id, CANDIDATE.c.gid, CANDIDATE.c.description)
    for some in chunked(texts):
        for row_id, gid, own in session.execute(place.where(CANDIDATE.c.id.in_(some), CANDIDATE.c.gid.is_not(None))):
            others = [text for text in dict.fromkeys(texts[row_id]) if text != own]
            if others:
                result[gid] = others
    return result


def foreign_places(session: Session, run_id: str) -> list[tuple[Candidate, int | None, bool]]:
    """Return the candidates of other analyzers, each with the gid of its finding and whether it is merged with that.

    The gid is None where the candidate that it was merged with has none.
    """
    columns = (CANDIDATE.c.gid, CANDIDATE.c.superseded, *(CANDIDATE.c[name] for name in Candidate._fields))
    query = sa.select(*columns).where(CANDIDATE.c.run_id == run_id, _is_of(FOREIGN)).order_by(*_order(session))
    rows = [(row[0], (row[1] or "").removeprefix(MERGED), Candidate(*row[2:])) for row in session.execute(query)]
    place, gids = sa.select(CANDIDATE.c.id, CANDIDATE.c.gid), dict[str, int | None]()
    for some in chunked({int(into) for _, into, _ in rows if into}):
        gids |= {str(row.id): row.gid for row in session.execute(place.where(CANDIDATE.c.id.in_(some)))}
    return [(candidate, gids.get(into) if into else gid, bool(into)) for gid, into, candidate in rows]


def witnesses(session: Session, run_id: str) -> dict[int, list[Candidate]]:
    """Return by gid the candidates of other analyzers that were merged with one."""
    result = defaultdict[int, list[Candidate]](list)
    for candidate, gid, is_merged in foreign_places(session, run_id):
        if gid is not None and is_merged:
            result[gid].append(candidate)
    return dict(result)


def named_by(session: Session, run_id: str, gids: Collection[int]) -> list[NamedBy]:
    """Return what the candidates with these gids, and those merged with them, were named as, by whom, in order."""
    ids = dict[str, int]()
    for some in chunked(gids):
        ours = sa.select(CANDIDATE.c.id, CANDIDATE.c.gid).where(CANDIDATE.c.run_id == run_id)
        ids |= {f"{MERGED}{row.id}": row.gid for row in session.execute(ours.where(CANDIDATE.c.gid.in_(some)))}
    columns = [CANDIDATE.c[name] for name in ("gid", "superseded", "file", "line", "description")]
    query = sa.select(*columns, JOB.c.result).join_from(CANDIDATE, JOB, CANDIDATE.c.job_id == JOB.c.id)
    query = query.where(CANDIDATE.c.run_id == run_id).order_by(*_order(session))
    rows = [row for some in chunked(gids) for row in session.execute(query.where(CANDIDATE.c.gid.in_(some)))]
    rows += [row for some in chunked(ids) for row in session.execute(query.where(CANDIDATE.c.superseded.in_(some)))]
    return [NamedBy(row.gid or ids[row.superseded], *row[2:]) for row in rows]


def number(session: Session, run_id: str, least: float = 0.0, learned: Mapping[str, float] = NOTHING_LEARNED) -> None:
    """Assign gids 1..N in file, line, rule order, independent of the order of the jobs.

    A candidate superseded by a finding with a confidence of at least `least` gets no gid; `learned` are adjustments of
    the confidence of rules.
    """
    again = sa.update(CANDIDATE).where(CANDIDATE.c.run_id == run_id, CANDIDATE.c.superseded.is_not(None))
    again = again.where(CANDIDATE.c.pattern.not_in((*HARMLESS, *WITHOUT_RULE)), ~_is_of(FOREIGN))
    session.execute(again.values(superseded=None, gid=None))
    _supersede(session, run_id, least, learned)
    order = _order(session)
    place = sa.func.row_number().over(order_by=order).label("place")
    reported = sa.and_(CANDIDATE.c.run_id == run_id, CANDIDATE.c.superseded.is_(None))
    placed = sa.select(CANDIDATE.c.id, place).where(reported).subquery()
    session.execute(sa.update(CANDIDATE).where(CANDIDATE.c.id == placed.c.id).values(gid=placed.c.place))


def read(session: Session, run_id: str) -> Iterator[tuple[int, Candidate]]:
    """Yield the numbered candidates of a run in order; the numbers are provisional until the last stage has closed."""
    query = sa.select(*[CANDIDATE.c[name] for name in Candidate._fields])
    query = query.where(CANDIDATE.c.run_id == run_id, CANDIDATE.c.superseded.is_(None))
    ordered = query.order_by(*_order(session))
    rows = session.execute(ordered.execution_options(yield_per=READ_ROWS))
    return ((gid, Candidate(*row)) for gid, row in enumerate(rows, 1))


def count(session: Session, run_id: str) -> int:
    """Return the number of candidates of a run so far."""
    ours = sa.select(sa.func.count()).select_from(CANDIDATE).where(CANDIDATE.c.run_id == run_id)
    return int(session.execute(ours).scalar_one())


def of_gids(session: Session, run_id: str, gids: Collection[int]) -> list[tuple[int, Candidate]]:
    """Return the candidates with these gids, in order."""
    query = sa.select(CANDIDATE.c.gid, *[CANDIDATE.c[name] for name in Candidate._fields])
    ours, result = (
        query.where(CANDIDATE.c.run_id == run_id).order_by(CANDIDATE.c.gid),
        list[tuple[int, Candidate]](),
    )
    for some in chunked(gids):
        result += [(row[0], Candidate(*row[1:])) for row in session.execute(ours.where(CANDIDATE.c.gid.in_(some)))]
    return result


def of_rules_in(session: Session, run_id: str, path: bytes) -> list[Candidate]:
    """Return the candidates of rules in a file, by line and rule: also those that are suppressed or superseded."""
    besides = CANDIDATE.c.pattern.not_in((*HARMLESS, *WITHOUT_RULE))
    query = sa.select(*[CANDIDATE.c[name] for name in Candidate._fields])
    query = query.where(CANDIDATE.c.run_id == run_id, CANDIDATE.c.file_raw == path, besides)
    return [Candidate(*row) for row in session.execute(query.order_by(*_order(session)))]


def every(session: Session, run_id: str) -> Iterator[Candidate]:
    """Yield the candidates of a run, superseded or not, in order."""
    query = sa.select(*[CANDIDATE.c[name] for name in Candidate._fields]).where(CANDIDATE.c.run_id == run_id)
    rows = session.execute(query.order_by(*_order(session)).execution_options(yield_per=READ_ROWS))
    return (Candidate(*row) for row in rows)


def near(
    session: Session, run_id: str, files: Collection[str], patterns: Collection[str], most: int
) -> list[Candidate]:
    """Return at most `most` candidates in these (shown) files, or of these rules, those in the files first."""
    in_files = CANDIDATE.c.file.in_(files)
    query = sa.select(*[CANDIDATE.c[name] for name in Candidate._fields])
    query = query.where(CANDIDATE.c.run_id == run_id, sa.or_(in_files, CANDIDATE.c.pattern.in_(patterns)))
    rows = session.execute(query.order_by(sa.case((in_files, 0), else_=1), *_order(session)).limit(most))
    return [Candidate(*row) for row in rows]


def _supersede(session: Session, run_id: str, least: float, learned: Mapping[str, float]) -> None:
    """Mark the candidates of rules that are superseded by another rule on the same line."""
    ours, place = CANDIDATE.c.run_id == run_id, sa.tuple_(CANDIDATE.c.file_raw, CANDIDATE.c.line)
    fired = sa.select(CANDIDATE.c.pattern).where(ours, CANDIDATE.c.pattern.in_(SUPERSEDES)).distinct()
    for pattern in sorted(session.execute(fired).scalars()):
        sure = CANDIDATE.c.confidence >= unadjusted_minimum(least, learned.get(pattern, 0.0))
        places = sa.select(CANDIDATE.c.file_raw, CANDIDATE.c.line).where(ours, CANDIDATE.c.pattern == pattern, sure)
        silent = sa.and_(ours, CANDIDATE.c.pattern.in_(SUPERSEDES[pattern]), place.in_(places))
        session.execute(sa.update(CANDIDATE).where(silent).values(superseded=pattern, gid=None))


@cache
def _order(session: Session) -> tuple[sa.ColumnElement[Any], ...]:
    """Return the sort order: by bytes, regardless of the database's collation; suppressed candidates come last.

    Candidates that a model has seen while others were verified follow, then those of fuzzing, so that the gids of those
    before stay the same.  Models may report several defects of a line, which differ in weakness or words.
    """
    steps = sa.func.coalesce(CANDIDATE.c.trail, "")
    texts: list[sa.ColumnElement[Any]] = [CANDIDATE.c.pattern, CANDIDATE.c.description, steps]
    if session.get_bind().dialect.name == "postgresql":
        texts = [sa.collate(text, "C") for text in texts]
    pattern, description, trail = texts
    place = CANDIDATE.c.suppressed.is_not(None), CANDIDATE.c.file_raw, CANDIDATE.c.line
    late = CANDIDATE.c.pattern == FUZZ_CRASH, CANDIDATE.c.pattern == SEEN_BY_MODEL
    # Analyzers may report the same of two expressions of a line.
    return *late, *place, pattern, CANDIDATE.c.cwe, description, sa.func.coalesce(CANDIDATE.c.column, 0), trail


def _described(pattern: str) -> dict[str, Any]:
    """Return the columns that depend only on the rule; a pattern without a rule uses those of a rule it supersedes."""
    if pattern in HARMLESS:
        return _described(HARMLESS[pattern][0])
    return {name: getattr(RULES_BY_PATTERN[pattern], name) for name in RULE_FIELDS}


def _placed(spot: Spot) -> dict[str, Any]:
    return {
        "file_raw": spot.path,
        "file": shown(spot.path),
        **{name: getattr(spot, name) for name in HIT_FIELDS},
        "superseded": spot.pattern if spot.pattern in HARMLESS else None,
    }
