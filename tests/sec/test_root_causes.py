"""Root causes: findings with one missing check, or one source and sink, are one defect with a stable id."""

import json
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_workers.dataflow.file_analysis import merged
from jarvis_workers.sec.finding import Candidate, RootCauseIds, defect_of
from jarvis_workers.sec.judge.batching import batches, place_of
from jarvis_workers.sec.report.body import MIN_CONFIDENCE, every_issue, gather
from jarvis_workers.sec.report.defect_groups import count_root_causes, defect_groups
from jarvis_workers.sec.report.verdict_index import VerdictIndex
from jarvis_workers.sec.trace import other_callers, trail_of, without_callers
from jarvis_workers.sec.triage_states import TriageState, TriageVerdict
from tests.sec.test_batching import found

TWELVE = Path(__file__).parents[1] / "data" / "root_causes" / "tinyproxy-1.11.1.jsonl"
MAKES, USES = "calloc(1, n) may return NULL", "t is NULL here and is dereferenced"


def null(file: str, line: int, *, source: int = 8, sink: int = 13, uses: str = USES, made: str = MAKES) -> Candidate:
    """A finding at a caller of a function of table.c, in which the pointer is made and used."""
    way = [("table.c", source, made), ("table.c", sink, uses)]
    return found("flow_null_dereference", file, line=line, trail=trail_of(way, file))


def ids(*candidates: Candidate) -> list[str]:
    causes = RootCauseIds(candidates)
    return [causes.id_of(one) for one in candidates]


def test_what_models_name_with_one_cause_is_one_defect_in_several_places() -> None:
    def named(line: int, cause: int, cwe: int = 787) -> Candidate:
        way = [("table.c", cause, "n is not bounded"), ("table.c", line, "goes wrong here")]
        return found(file="table.c", line=line, trail=trail_of(way, "table.c"))._replace(pattern="discovered", cwe=cwe)

    first, second, other = named(13, 8), named(15, 8, 125), named(17, 9)
    assert ids(first, second, other)[0] == ids(first, second, other)[1] != ids(first, second, other)[2]
    assert defect_of(first).key != defect_of(second).key


def twelve() -> Iterable[Candidate]:
    for line in TWELVE.read_text().splitlines():
        row: dict[str, Any] = json.loads(line)
        way = row.pop("trail")
        yield found(row.pop("pattern"), row.pop("file"), trail=trail_of(map(tuple, way), ""), **row)


def test_twelve_findings_of_a_proxy_are_three_root_causes_and_three_jobs() -> None:
    candidates = list(twelve())
    issues = gather(enumerate(candidates, 1)).issues
    planned = batches([place_of(gid, one, {}) for gid, one in enumerate(candidates, 1)], 50)

    assert sorted(Counter(ids(*candidates)).values()) == [1, 1, 10]
    assert sorted(len(batch.gids) for batch in planned) == [1, 1, 10]
    assert (len(issues), count_root_causes(issues)) == (12, 3)
    assert [1 + len(others) for _, others in defect_groups(issues)] == [1, 1, 10]


@given(st.lists(st.sampled_from(["", "suppressed", "judged", "dismissed"]), max_size=6), st.booleans())
@settings(max_examples=25)
def test_a_root_cause_has_one_id_whatever_is_set_aside(fates: list[str], has_baseline: bool) -> None:
    judged = {found(file="judged.c", evidence="free(p);").fingerprint: TriageVerdict(TriageState.FALSE, "no")}
    numbered = [
        (gid, found(line=gid, evidence="free(p);", file="judged.c" if fate == "judged" else "a.c"))
        for gid, fate in enumerate(fates, 1)
    ]
    aside = [
        (gid, one._replace(suppressed="on purpose") if fate == "suppressed" else one)
        for (gid, one), fate in zip(numbered, fates, strict=True)
    ]
    dismissed = [gid for gid, fate in enumerate(fates, 1) if fate == "dismissed"]
    verdicts = VerdictIndex(dict.fromkeys(dismissed, "dismissed"), candidates=set(range(1, len(fates) + 1)))
    baseline = {numbered[0][1].fingerprint: 1} if has_baseline and numbered else None

    plain = {issue.gid: (issue.id, issue.root_cause) for issue in gather(numbered).issues}
    reported = gather(aside, baseline=baseline, judged=judged, verdicts=verdicts)
    listed = every_issue(lambda: aside, MIN_CONFIDENCE, baseline=baseline, judged=judged)
    for issue in chain(reported.issues, reported.dismissed, reported.suppressed, listed):
        assert (issue.id, issue.root_cause) == plain[issue.gid]


def test_an_unchecked_pointer_is_one_root_cause_whoever_calls_and_wherever_it_is_used() -> None:
    unchecked = found("malloc_no_null_check", "table.c", line=8, evidence="t = calloc(1, n);")
    same = ids(null("a.c", 3), null("b.c", 5), null("table.c", 13), null("a.c", 9, sink=14), unchecked)

    assert len(set(same)) == 1
    assert len({defect_of(null("a.c", 3)).key, defect_of(null("b.c", 5)).key}) == 1
    assert len({defect_of(null("a.c", 3)).key, defect_of(null("a.c", 9, sink=14)).key}) == 2


def test_of_other_rules_source_and_sink_count() -> None:
    def overflow(line: int, *, source: int = 3, pattern: str = "flow_buffer_overflow") -> Candidate:
        way = [(None, source, "buf has 8 bytes"), (None, line, "buf is written behind its end")]
        return found(pattern, line=line, trail=trail_of(way, "a.c"))

    apart = [overflow(9), overflow(10), overflow(9, source=4), overflow(9, pattern="flow_buffer_overread")]
    assert len(set(ids(*apart))) == len(apart)
    assert len(set(ids(found(line=1), found(line=2), found(file="b.c", line=1)))) == 3


def test_an_id_outlives_edits_above_and_findings_elsewhere() -> None:
    here = [null("a.c", 3), null("b.c", 5, uses=f"{USES} (also from lines 7, 9)"), found(line=4)]
    below = [
        null("a.c", 30, source=80, sink=85),
        null("b.c", 5, source=80, sink=85, uses=f"{USES} (also from line 11)"),
        found(line=40),
    ]

    assert (
        ids(*here)
        == ids(*below)
        == ids(*here, found(file="z.c"), null("q.c", 1, source=90, made="f() returns NULL"))[:3]
    )


def test_root_causes_that_read_the_same_are_numbered_by_their_places() -> None:
    first, second = found(line=4), found(line=9)

    assert ids(first, second) == ids(second, first)[::-1]
    assert ids(first)[0] == ids(first, second)[0] != ids(first, second)[1]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 9), st.integers(1, 3)), max_size=12), st.randoms())
def test_ids_do_not_depend_on_the_order_of_findings(rows: list[tuple[str, int, int]], chance: Any) -> None:
    candidates = [null(f"{file}.c", line, source=source) for file, line, source in rows]
    shuffled = chance.sample(candidates, len(candidates))

    assert dict(zip(candidates, ids(*candidates), strict=True)) == dict(zip(shuffled, ids(*shuffled), strict=True))


def test_the_lines_of_other_callers_are_read_as_they_are_written() -> None:
    sink = ("table.c", 13, USES)
    findings = {("flow_null_dereference", line): (0.5, [sink]) for line in range(1, 14)}
    ((_, (_, [(_, _, note)])),) = merged({key: findings[key] for key in list(findings)[:3]})
    ((_, (_, [(_, _, many)])),) = merged(findings)

    assert (without_callers(note), other_callers(note)) == (USES, (2, 3))
    assert (without_callers(many), other_callers(many)) == (USES, (2, 3, 4, 5, 6, 7, 8, 9))
    assert (without_callers(USES), other_callers(USES)) == (USES, ())


def test_a_group_begins_with_the_least_weight_and_stands_where_that_stands() -> None:
    issues = gather(enumerate([null("a.c", 3), found(line=5), null("b.c", 5)], 1)).issues
    by_file = {"a.c": 2, "b.c": 1}

    assert [[one.gid for one in (lead, *others)] for lead, others in defect_groups(issues)] == [[1, 3], [2]]
    assert [
        [one.gid for one in (lead, *others)]
        for lead, others in defect_groups(issues, lambda one: by_file[one.candidate.file])
    ] == [[2], [3, 1]]
    older = [issue._replace(root_cause="") for issue in issues]
    assert [len(group.others) for group in defect_groups(older)] == [0, 0, 0]
