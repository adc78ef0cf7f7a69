"""What people have said is given to later runs, changes none that is there, and is learned from when asked."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from jarvis_workers.runs.run_part import run_part
from jarvis_workers.sec.finding import fingerprint_of
from jarvis_workers.sec.report_json import issue_to_json
from jarvis_workers.sec.rules import RULES, RULES_BY_PATTERN
from jarvis_workers.sec.runs.scan_input import Triage
from jarvis_workers.sec.stages.write_report import list_issues
from jarvis_workers.sec.store import judgements
from jarvis_workers.sec.triage.records import JUDGED_MIN, RuleRecord, records_of
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.store.engine import Store
from tests.sec.stages.pipeline import Pipeline
from tests.store.arrange import job_rows

COPY, NUMBER = "strcpy(a, b);", "return atoi(b);"
STATED = RULES_BY_PATTERN["unsafe_api"].confidence


@pytest.fixture
def pipeline(tmp_path: Path, store: Store) -> Pipeline:
    return Pipeline(store, DirectoryBlobs(tmp_path / "blobs"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    tree.mkdir()
    for name, line in (("a.c", COPY), ("b.c", COPY), ("c.c", NUMBER)):
        (tree / name).write_text(f"void f(char *a, char *b) {{\n  {line}\n}}\n")
    return tree


def said(file: str, verdict: bool, reason: str = "measured", rule: str = "unsafe_api", code: str = COPY) -> Judgement:
    return Judgement(fingerprint=fingerprint_of(file, rule, code), rule=rule, verdict=verdict, reason=reason)


def judge(pipeline: Pipeline, *words: Judgement) -> None:
    with pipeline.store.write() as session:
        judgements.judge(session, words)


def patterns(issues: Iterable[dict[str, object]]) -> list[tuple[object, object]]:
    return [(issue["file"], issue.get("judged")) for issue in issues if issue["pattern"] == "unsafe_api"]


def many(verdicts: Iterable[bool]) -> list[Judgement]:
    return [said(f"x{place}.c", verdict) for place, verdict in enumerate(verdicts)]


def confidences(pipeline: Pipeline, run: str) -> dict[str, float]:
    return {
        issue["file"]: issue["confidence"] for issue in pipeline.body(run)["issues"] if "strcpy" in issue["evidence"]
    }


@pytest.mark.slow
@pytest.mark.sample(1)
def test_a_later_run_sets_aside_what_was_judged_false_and_marks_what_was_judged_true(
    pipeline: Pipeline, tree: Path
) -> None:
    before = pipeline.do(tree)
    judge(pipeline, said("a.c", False), said("b.c", True))

    after = pipeline.body(pipeline.do(tree))

    assert patterns(after["issues"]) == [("b.c", True)]
    assert [one["suppression"] for one in after["suppressed"]] == [{"kind": "external", "justification": "measured"}]
    assert after["summary"]["judged_false"] == 1
    assert patterns(pipeline.body(before)["issues"]) == [("a.c", None), ("b.c", None)]


@pytest.mark.timing
def test_what_is_said_after_the_submit_changes_nothing_in_a_run(pipeline: Pipeline, tree: Path) -> None:
    judge(pipeline, said("a.c", False))
    run = pipeline.start(tree)
    judge(pipeline, said("a.c", True), said("b.c", False))

    pipeline.go_on(run)

    assert patterns(pipeline.body(run)["issues"]) == [("b.c", None)]
    with pipeline.store.read() as session:
        assert list(map(issue_to_json, list_issues(session, pipeline.run(run)))) == pipeline.body(run)["issues"]


@pytest.mark.sample(1)
@pytest.mark.slow
def test_a_run_can_be_told_to_heed_nobody_or_a_file_beside_or_instead(pipeline: Pipeline, tree: Path) -> None:
    judge(pipeline, said("a.c", False))
    file = (said("a.c", True), said("b.c", False))

    nobody, both, alone = (
        pipeline.body(pipeline.do(tree, triage=triage))
        for triage in (Triage(stored=False), Triage(more=file), Triage(stored=False, more=file[1:]))
    )

    assert patterns(nobody["issues"]) == [("a.c", None), ("b.c", None)]
    assert patterns(both["issues"]) == [("a.c", True)]
    assert patterns(alone["issues"]) == [("a.c", None)]


@pytest.mark.timing
def test_what_was_judged_false_never_goes_to_an_agent(pipeline: Pipeline, tree: Path) -> None:
    judge(pipeline, said("a.c", False))
    run = pipeline.start(tree, kind="sec.agent")

    pipeline.go_on(run, until="cluster")

    planned = [json.loads(row.payload) for row in job_rows(pipeline.store, run, "cluster")]
    assert sum(len(told["gids"]) for told in planned) == len(["b.c", "c.c"])
    assert "a.c" not in str(planned)


@pytest.mark.slow
def test_the_report_names_the_file_that_was_heeded(pipeline: Pipeline, tree: Path) -> None:
    run = pipeline.do(tree, triage=Triage(named="team.yaml"))

    assert run_part(pipeline.store, pipeline.run(run))["triage"] == "team.yaml"


def test_nothing_is_learned_unless_asked(pipeline: Pipeline, tree: Path) -> None:
    judge(pipeline, *many([False] * JUDGED_MIN))

    assert confidences(pipeline, pipeline.do(tree)) == {"a.c": STATED, "b.c": STATED}


def test_asked_to_learn_a_run_moves_its_findings_as_far_as_their_rule(pipeline: Pipeline, tree: Path) -> None:
    judge(pipeline, *many([True] * 4 + [False] * 6))
    run = pipeline.do(tree, triage=Triage(learns=True))
    (record,) = records_of(pipeline.store, RULES)
    judge(pipeline, *many([True] * JUDGED_MIN))

    moved = run_part(pipeline.store, pipeline.run(run))["rules"]["learned"]

    assert moved == {"unsafe_api": round(record.learned - STATED, 2)}
    assert confidences(pipeline, run) == {name: round(STATED + moved["unsafe_api"], 2) for name in ("a.c", "b.c")}
    assert moved["unsafe_api"] < 0


@pytest.mark.slow
def test_no_finding_is_moved_below_what_any_finding_has(pipeline: Pipeline, tree: Path) -> None:
    judge(pipeline, *many([False] * 100))

    run = pipeline.do(tree, triage=Triage(learns=True))

    assert confidences(pipeline, run) == {"a.c": 0.4, "b.c": 0.4}


def test_too_few_judgements_move_nothing(pipeline: Pipeline, tree: Path) -> None:
    judge(pipeline, *many([False] * (JUDGED_MIN - 1)))

    assert (
        run_part(pipeline.store, pipeline.run(pipeline.do(tree, triage=Triage(learns=True))))["rules"]["learned"] == {}
    )


def test_the_stated_confidence_weighs_as_ten_judgements() -> None:
    record = RuleRecord("r", true=3, false=7, stated=0.8)

    assert (record.share, record.learned, record.is_enough) == (0.3, 0.55, True)
    assert RuleRecord("r", true=0, false=1, stated=0.8).learned == 0.73
    assert json.loads(json.dumps(record.as_json()))["learned"] == 0.55
