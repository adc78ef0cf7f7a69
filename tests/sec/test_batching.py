"""Batches: each candidate is in one, and what several files share is put together."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.sec.finding import Candidate, candidate
from jarvis_workers.sec.judge.batching import Member, Shared, batches, is_plain, merge_across, place_of, worst
from jarvis_workers.sec.scanner import Hit
from jarvis_workers.sec.trace import trail_of

THROUGH = [("h.h", 4, "copied here")]


def found(pattern: str = "unsafe_api", file: str = "a.c", **about: Any) -> Candidate:
    hit = Hit(
        pattern=pattern, line=about.pop("line", 1), confidence=0.9, evidence=about.pop("evidence", "strcpy(a, b)")
    )
    return candidate(hit, file)._replace(**about)


def placed(*candidates: Candidate) -> list[Member]:
    return [place_of(gid, one, {}) for gid, one in enumerate(candidates, 1)]


def gids(*candidates: Candidate, limit: int = 50) -> list[tuple[int, ...]]:
    return [batch.gids for batch in batches(placed(*candidates), limit)]


something = st.builds(
    Shared, pattern=st.sampled_from(["x", "y"]), place=st.sampled_from(["1:h", "2:h"]), name=st.just("h")
)
some_rows = st.lists(
    st.tuples(st.sampled_from(["a.c", "b.c", "c.c"]), st.floats(0, 3), st.none() | something, something), max_size=30
)
some_places = some_rows.map(lambda rows: [Member(gid, *row, defect=gid) for gid, row in enumerate(rows, 1)])
some_defects = some_rows.map(lambda rows: [Member(gid, *row, (row[3], gid % 3)) for gid, row in enumerate(rows, 1)])


@given(some_places, st.integers(1, 6))
def test_every_candidate_is_in_one_batch_and_no_batch_is_too_large(places: list[Member], limit: int) -> None:
    made = batches(places, limit)
    file_of = {place.gid: place.file for place in places}

    assert sorted(gid for batch in made for gid in batch.gids) == [place.gid for place in places]
    assert all(1 <= len(batch.gids) <= limit for batch in made)
    assert all(batch.shared or {file_of[gid] for gid in batch.gids} == {batch.file} for batch in made)
    assert len({(batch.file, batch.batch_index) for batch in made}) == len(made)


@given(some_defects, st.integers(2, 6))
def test_a_defect_of_several_files_is_in_one_batch(places: list[Member], limit: int) -> None:
    made = batches(places, limit)
    defect_of = {place.gid: place.defect for place in places}
    across = {one.cause for one in places if len({other.file for other in places if other.cause == one.cause}) > 1}
    batches_of = [{number for number, batch in enumerate(made) if one.gid in batch.gids} for one in places]

    assert sorted(gid for batch in made for gid in batch.gids) == [place.gid for place in places]
    assert all(len({defect_of[gid] for gid in batch.gids}) <= limit for batch in made)
    for one, its in zip(places, batches_of, strict=True):
        same = [those for other, those in zip(places, batches_of, strict=True) if other.defect == one.defect]
        assert one.cause not in across or all(those == its for those in same)


def test_a_file_is_cut_into_batches_that_are_counted() -> None:
    made = batches(placed(*[found(line=line) for line in range(1, 6)], found(file="b.c")), 2)

    assert [(batch.file, batch.batch_index, batch.gids) for batch in made] == [
        ("a.c", 1, (1, 2)),
        ("a.c", 2, (3, 4)),
        ("a.c", 3, (5,)),
        ("b.c", 1, (6,)),
    ]


def test_a_batch_scores_what_its_worst_candidate_does() -> None:
    weak, strong = found(confidence=0.5), found(confidence=0.9)

    assert [batch.score for batch in batches(placed(weak, strong), 50)] == [2.7]
    assert place_of(1, weak, {"unsafe_api": "high"}).score == 1.5


def test_what_goes_through_one_line_of_another_file_is_put_together() -> None:
    here, there = (
        found("flow_double_free", file, trail=trail_of([*THROUGH, (None, 9, "again")], file)) for file in ("a.c", "b.c")
    )
    (batch,) = batches(placed(here, there), 50)

    assert (batch.gids, batch.shared) == ((1, 2), "h.h")


def test_a_macro_that_several_files_define_is_put_together() -> None:
    text = "#define COPY(d, s)   strcpy(d, s)"
    (batch,) = batches(placed(*[found(file=file, evidence=text) for file in ("a.c", "b.c", "c.c")]), 50)

    assert (batch.gids, batch.shared) == ((1, 2, 3), "COPY")


@pytest.mark.parametrize(
    "others",
    [
        [found("flow_memory_leak", "b.c", trail=trail_of(THROUGH, "b.c"))],
        [found("flow_double_free", "b.c", trail=trail_of([("h.h", 5, "copied here")], "b.c"))],
        [found("flow_double_free", "b.c", trail=trail_of([(None, 4, "copied here")], "b.c"))],
        [found("flow_double_free", "b.c")],
    ],
    ids=["another rule", "another line", "no other file", "no path"],
)
def test_what_has_nothing_in_common_stays_with_its_file(others: list[Candidate]) -> None:
    one = found("flow_double_free", "a.c", trail=trail_of(THROUGH, "a.c"))

    assert gids(one, *others) == [(1,), (2,)]


def test_what_one_file_has_twice_stays_with_it() -> None:
    twice = [found("flow_double_free", line=line, trail=trail_of(THROUGH, "a.c")) for line in (1, 2)]

    assert merge_across(placed(*twice), 50, lambda place: place.shared) == []
    assert [batch.shared for batch in batches(placed(*twice), 50)] == [""]


def test_what_is_shared_by_many_is_cut_as_well() -> None:
    many = [found(file=f"{n}.c", evidence="#define GET(b) gets(b)") for n in range(5)]

    assert gids(*many, limit=2) == [(1, 2), (3, 4), (5,)]


def test_with_a_limit_of_one_nothing_is_put_together() -> None:
    many = [found(file=f"{n}.c", evidence="#define GET(b) gets(b)") for n in range(3)]

    assert [batch.shared for batch in batches(placed(*many), 1)] == ["", "", ""]


@pytest.mark.parametrize(
    ("evidence", "plain"),
    [
        (["strcpy(a, b);", "strcpy(c, d);"], True),
        (["strcpy(a, b);", "strcat(a, b);"], False),
        (["strcpy(a, name(b));", "if (c) strcpy(c, sizeof(d));"], True),
        (["strcpy(a, b); strcat(a, c);", "strcpy(a, b);"], False),
        (["COPY(a, b);", "COPY(c, d);"], True),
        (["COPY(f(a), b);", "COPY(f(a), b);"], False),
        (["a = b;", "a = b;"], False),
    ],
)
def test_it_is_plain_where_one_rule_fired_at_one_sink(evidence: list[str], plain: bool) -> None:
    assert is_plain([found(evidence=text) for text in evidence]) == plain


def test_two_rules_are_not_plain_and_one_candidate_is() -> None:
    assert not is_plain([found(), found("boundary_funcs")])
    assert is_plain([found("deadlock_patterns", evidence="")])


def test_a_defect_of_several_files_is_one_batch_however_many_places_report_it() -> None:
    way = [("table.c", 8, "calloc(1, n) may return NULL"), ("table.c", 13, "t is NULL here and is dereferenced")]
    callers = [
        found("flow_null_dereference", file, line=line, trail=trail_of(way, file))
        for file, line in [("a.c", 3), ("a.c", 7), ("b.c", 5), ("table.c", 13)]
    ]
    unchecked = found("malloc_no_null_check", "table.c", line=8)
    made = batches(placed(found(), *callers, unchecked), 2)

    assert [(batch.gids, batch.shared) for batch in made] == [((2, 3, 4, 5, 6), "table.c"), ((1,), "")]


def test_what_models_report_does_not_count_against_the_most() -> None:
    reported = [found(line=9)._replace(pattern=rule, cwe=787) for rule in ("discovered", "seen_by_model")]
    places = [*placed(found(), found(line=2), *reported), place_of(5, found(line=3), {}, is_reported=True)]

    assert [one.gid for one in worst(places, 1)] == [1, 3, 4, 5]


def test_what_only_a_lack_of_memory_triggers_comes_last_whatever_its_score() -> None:
    fails, opens = (
        found("flow_unchecked_null", trail=trail_of([(None, 1, note)], "a.c"))
        for note in ("malloc(9) may return NULL", "fopen(name) may return NULL")
    )
    weak = found(confidence=0.4)
    places = placed(found("malloc_no_null_check"), fails, opens, weak)

    assert [one.gid for one in worst(places, 2)] == [3, 4]
    assert [one.gid for one in worst(places, 4)] == [1, 2, 3, 4]
