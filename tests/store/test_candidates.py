"""Candidates: the same order and numbers, whatever order the jobs came in."""

import random

import pytest

from jarvis_workers.sec.finding import SEEN_BY_MODEL, candidate
from jarvis_workers.sec.scanner import Hit
from jarvis_workers.sec.store import candidates
from jarvis_workers.sec.store.tables import CANDIDATE
from jarvis_workers.sec.trace import trail_of
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Spot
from tests.store.arrange import add_planned_run, claim, commit

SPOTS = [
    Spot(path, pattern, line, 0.8, "x")
    for path in (b"B.c", b"a.c", b"a/\xff.c", "é.c".encode())
    for line in (2, 10)
    for pattern in ("format_string", "unsafe_api")
]


@pytest.mark.parametrize("seed", range(3))
def test_candidates_are_numbered_by_file_line_and_rule(store: Store, seed: int) -> None:
    run = add_planned_run(store, 3)
    shuffled = random.Random(seed).sample(SPOTS, len(SPOTS))
    for part, job in enumerate(claim(store, run, limit=3)):
        commit(store, job, *shuffled[part::3])
    with store.write() as session:
        candidates.number(session, run)
        found = list(candidates.read(session, run))
        rows = session.execute(CANDIDATE.select().order_by(CANDIDATE.c.gid)).all()

    assert [(row.file_raw, row.line, row.pattern) for row in rows] == [(s.path, s.line, s.pattern) for s in SPOTS]
    assert [row.gid for row in rows] == list(range(1, len(SPOTS) + 1))
    assert [(gid, found.line) for gid, found in found] == [(gid, s.line) for gid, s in enumerate(SPOTS, 1)]


@pytest.mark.parametrize("seed", range(3))
def test_what_differs_in_column_and_path_alone_has_an_order(store: Store, seed: int) -> None:
    spots = [
        Spot(b"a.c", "unsafe_api", 2, 0.5, "x", column, None, trail_of([("a.c", line, "x"), ("a.c", 9, "y")], "a.c"))
        for column in (None, 1, 10)
        for line in (1, 2)
    ]
    run = add_planned_run(store, 3)
    shuffled = random.Random(seed).sample(spots, len(spots))
    for part, job in enumerate(claim(store, run, limit=3)):
        commit(store, job, *shuffled[part::3])
    with store.write() as session:
        found = [(one.candidate.column, one.candidate.trail) for one in candidates.of_rule(session, run, "unsafe_api")]

    assert found == [(spot.column, spot.trail) for spot in spots]


def test_a_file_name_that_is_no_text_is_shown_escaped(store: Store) -> None:
    run = add_planned_run(store, 1)
    commit(store, claim(store, run)[0], Spot(b"a/\xff.c", "unsafe_api", 1, 0.8, "x"))
    with store.read() as session:
        ((_, found),) = candidates.read(session, run)

    assert found.file == r"a/\xff.c"
    assert (found.category, found.cwe) == ("unsafe_api", 120)


@pytest.mark.slow
@pytest.mark.sample(1)
def test_as_many_as_a_hostile_file_makes_come_back_as_they_went(store: Store) -> None:
    run = add_planned_run(store, 1)
    spots = [Spot(b"a.c", "unsafe_api", line, 0.8, f"gets({line});") for line in range(1, 12_001)]
    commit(store, claim(store, run)[0], *spots)
    with store.read() as session:
        found = list(candidates.read(session, run))

    assert [gid for gid, _ in found] == list(range(1, 12_001))
    assert [(one.line, one.confidence, one.evidence) for _, one in found] == [spot[2:5] for spot in spots]
    assert found[0][1] == candidate(Hit(*spots[0][1:7]), "a.c")


@pytest.mark.sample(1)
def test_some_are_found_by_more_gids_than_a_statement_takes(store: Store) -> None:
    run = add_planned_run(store, 1)
    spots = [Spot(b"a.c", "unsafe_api", line, 0.8, "x") for line in range(1, 1_202)]
    commit(store, claim(store, run)[0], *spots)
    with store.write() as session:
        candidates.number(session, run)
        found = candidates.of_gids(session, run, range(70_000))

    assert [(gid, one.line) for gid, one in found] == [(line, line) for line in range(1, 1_202)]


def test_numbering_again_gives_the_same_numbers(store: Store) -> None:
    run = add_planned_run(store, 1)
    commit(store, claim(store, run)[0], *SPOTS)
    seen = []
    for _ in range(2):
        with store.write() as session:
            candidates.number(session, run)
            seen.append(session.execute(CANDIDATE.select().order_by(CANDIDATE.c.id)).all())

    assert seen[0] == seen[1]


def test_a_run_without_candidates_has_none(store: Store) -> None:
    run = add_planned_run(store, 0)
    with store.write() as session:
        candidates.number(session, run)
        assert list(candidates.read(session, run)) == []


def test_what_is_suppressed_is_numbered_behind_all_others(store: Store) -> None:
    run = add_planned_run(store, 1)
    silent = Spot(b"a.c", "unsafe_api", 1, 0.8, "gets(a);", 1, "checked")
    commit(store, claim(store, run)[0], silent, Spot(b"b.c", "unsafe_api", 1, 0.8, "gets(b);"))
    with store.read() as session:
        found = list(candidates.read(session, run))

    assert [(gid, one.file, one.suppressed) for gid, one in found] == [(1, "b.c", None), (2, "a.c", "checked")]


LEXICAL, FLOW = "double_free_and_free_non_heap", "flow_double_free"


def numbered(store: Store, run: str, least: float = 0.0, **learned: float) -> list[tuple[int, str, int]]:
    """Number the candidates; what is read must have the numbers that are stored."""
    with store.write() as session:
        candidates.number(session, run, least, learned)
        found = [(gid, one.pattern, one.line) for gid, one in candidates.read(session, run)]
        rows = session.execute(CANDIDATE.select().where(CANDIDATE.c.gid.is_not(None)).order_by(CANDIDATE.c.gid)).all()
    assert found == [(row.gid, row.pattern, row.line) for row in rows]
    return found


def test_what_a_flow_rule_supersedes_on_its_line_has_no_number(store: Store) -> None:
    run = add_planned_run(store, 2)
    scan, flow = claim(store, run, limit=2)
    commit(store, scan, *(Spot(b"a.c", LEXICAL, line, 0.8, "x") for line in (1, 2)), Spot(b"b.c", LEXICAL, 2, 0.8, "x"))
    commit(store, flow, Spot(b"a.c", FLOW, 2, 0.6, "x"), Spot(b"c.c", FLOW, 2, 0.6, "x"))

    assert numbered(store, run) == [(1, LEXICAL, 1), (2, FLOW, 2), (3, LEXICAL, 2), (4, FLOW, 2)]
    assert numbered(store, run) == numbered(store, run)


def test_what_is_too_unsure_to_be_told_supersedes_nothing(store: Store) -> None:
    run = add_planned_run(store, 1)
    commit(store, claim(store, run)[0], Spot(b"a.c", LEXICAL, 2, 0.8, "x"), Spot(b"a.c", FLOW, 2, 0.6, "x"))

    assert numbered(store, run, 0.5) == [(1, FLOW, 2)]
    assert numbered(store, run, 0.7) == [(1, LEXICAL, 2), (2, FLOW, 2)]


def test_what_judgements_make_too_unsure_to_be_told_supersedes_nothing(store: Store) -> None:
    run = add_planned_run(store, 1)
    commit(store, claim(store, run)[0], Spot(b"a.c", LEXICAL, 2, 0.8, "x"), Spot(b"a.c", FLOW, 2, 0.8, "x"))

    assert numbered(store, run, 0.7, flow_double_free=-0.1) == [(1, FLOW, 2)]
    assert numbered(store, run, 0.7, flow_double_free=-0.11) == [(1, LEXICAL, 2), (2, FLOW, 2)]
    assert numbered(store, run, 0.4, flow_double_free=-0.7) == [(1, FLOW, 2)]


def test_the_steps_to_a_candidate_come_back_as_they_went(store: Store) -> None:
    run = add_planned_run(store, 1)
    trail = trail_of([("b.c", 5, "freed here"), (None, 7, "freed again")], "a.c")
    commit(store, claim(store, run)[0], Spot(b"a.c", FLOW, 7, 0.8, "free(p);", 5, None, trail))
    with store.read() as session:
        ((_, found),) = candidates.read(session, run)

    assert found.trail == trail


def reported(store: Store, run: str) -> list[tuple[int, str, int]]:
    """Return the numbered candidates: gid, description and CWE."""
    with store.read() as session:
        return [(gid, one.description, one.cwe) for gid, one in candidates.read(session, run)]


def test_a_merged_report_has_no_number_and_its_text_belongs_to_the_one_that_stays(store: Store) -> None:
    run = add_planned_run(store, 1)
    (job,) = claim(store, run)
    commit(store, job, Spot(b"a.c", "unsafe_api", 1, 0.8, "gets(a);"))
    with store.write() as session:
        rule = candidates.of_rule(session, run, "unsafe_api")[0].candidate
        texts = ("too long", "much too long", "NULL")
        seen = [rule._replace(pattern=SEEN_BY_MODEL, description=text) for text in texts]
        candidates.insert_seen(session, run, job.id, [(b"a.c", one) for one in seen])
        candidates.number(session, run)
        rows = {one.candidate.description: one.id for one in candidates.of_rule(session, run, SEEN_BY_MODEL)}
        (stays,) = candidates.of_rule(session, run, "unsafe_api")
        into = {rows["too long"]: stays.id, rows["much too long"]: stays.id}
        candidates.merge(session, run, SEEN_BY_MODEL, into)
        candidates.number(session, run)
        candidates.number(session, run)
        texts_by_gid = candidates.merged_texts(session, run)

    assert [(gid, text) for gid, text, _ in reported(store, run)] == [(1, rule.description), (2, "NULL")]
    assert texts_by_gid == {1: ["much too long", "too long"]}
    with store.write() as session:
        candidates.merge(session, run, SEEN_BY_MODEL, {})
        candidates.number(session, run)
        assert candidates.merged_texts(session, run) == {}
    assert len(reported(store, run)) == 4


def test_several_reports_on_a_line_have_the_same_numbers_in_any_order(store: Store) -> None:
    found = list[list[tuple[int, str, int]]]()
    for order in (1, -1):
        run = add_planned_run(store, 1)
        (job,) = claim(store, run)
        one = candidate(Hit("unsafe_api", 1, 0.8, "gets(a);"), "a.c")._replace(pattern=SEEN_BY_MODEL)
        seen = [one._replace(description=text, cwe=cwe) for text in "bac" for cwe in (0, 787)]
        with store.write() as session:
            candidates.insert_seen(session, run, job.id, [(b"a.c", one) for one in seen[::order]])
            candidates.number(session, run)
        found.append(reported(store, run))

    assert found[0] == found[1]
    assert [one[1:] for one in found[0]] == [("a", 0), ("b", 0), ("c", 0), ("a", 787), ("b", 787), ("c", 787)]


def test_the_hints_of_rules_depend_neither_on_a_threshold_nor_on_models(store: Store) -> None:
    run = add_planned_run(store, 1)
    (job,) = claim(store, run)
    there = [Spot(b"a.c", pattern, 2, 0.5, "x") for pattern in (LEXICAL, FLOW, "harmless_copy")]
    commit(store, job, *there, Spot(b"a.c", LEXICAL, 3, 0.5, "x", 1, "ok"))
    with store.write() as session:
        one = candidates.of_rule(session, run, LEXICAL)[0].candidate
        candidates.insert_seen(session, run, job.id, [(b"a.c", one._replace(pattern=SEEN_BY_MODEL))])
        hints = [candidates.of_rules_in(session, run, b"a.c")]
        candidates.number(session, run, 0.0)
        hints.append(candidates.of_rules_in(session, run, b"a.c"))

    assert hints[0] == hints[1]
    assert sorted((hint.pattern, hint.line) for hint in hints[0]) == [(LEXICAL, 2), (LEXICAL, 3), (FLOW, 2)]
