"""Flow rules see a tree as one: what a file calls is found in whichever file has it, and is gone through once."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from jarvis_workers.pipeline.controller import advance
from jarvis_workers.pipeline.each_file import FileLimits
from jarvis_workers.pipeline.history import PARTLY, read_result
from jarvis_workers.sec.rules.analysis.examined import EXAMINED_MAX
from jarvis_workers.sec.rulesets.rulebook import choose, open_rulebook
from jarvis_workers.sec.scanner import MATCHES_MAX, Scanner
from jarvis_workers.sec.stages.flow_cache import FlowCache, space
from jarvis_workers.sec.stages.payloads import FlowPayload
from jarvis_workers.sec.stages.summaries import read_rows
from jarvis_workers.sec.stages.symbol_index import SymbolIndex
from jarvis_workers.settings import RulesSettings
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.resources import open_resources
from jarvis_workers.source.identity import engine_identity
from jarvis_workers.store import runs
from jarvis_workers.store.engine import Store
from jarvis_workers.store.tables import JOB, RUN
from tests.sec.stages.pipeline import Pipeline, places
from tests.store.arrange import job_rows

RELEASE = "#include <stdlib.h>\n\nvoid release(char *p)\n{\n    free(p);\n}\n"
KEEP = "#include <stdio.h>\n\nvoid release(char *p)\n{\n    puts(p);\n}\n"
END = """\
#include <stdlib.h>
void release(char *p);

void {name}(char *text)
{{
    release(text);
    free(text);{comment}
}}
"""
OTHER = "int {name}(int a)\n{{\n    return a + 1;\n}}\n"
LINE = 7


def end(name: str, comment: str = "") -> str:
    return END.format(name=name, comment=comment)


FILES = {
    "a/first.c": end("first"),
    "b/other.c": OTHER.format(name="other"),
    "lib/release.c": RELEASE,
    "z/second.c": end("second"),
    "z/third.rs": "fn third() {}\n",
}


def write(root: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return root


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write(tmp_path / "tree", FILES)


@pytest.fixture
def pipeline(tmp_path: Path, sqlite_url: str, open_stores: Callable[..., Store]) -> Pipeline:
    resources = open_resources(str(tmp_path / "blobs"), tmp_path / "cache", results_bytes=10_000_000)
    return Pipeline(open_stores(sqlite_url), resources.blobs, cache=resources.cache)


@pytest.mark.slow
def test_what_a_function_of_another_file_does_is_found_with_its_steps(pipeline: Pipeline, tree: Path) -> None:
    body = pipeline.body(pipeline.do(tree))

    assert places(body) == [("a/first.c", LINE), ("z/second.c", LINE)]
    issue = body["issues"][0]
    assert issue["evidence"] == "free(text);"
    assert [step["file"] for step in issue["path"]][-1] == "a/first.c"
    assert "lib/release.c" in {step["file"] for step in issue["path"]}
    assert body["summary"]["scanned_files"] == len(FILES)
    assert body["summary"]["not_checked"] == []


def test_without_that_file_there_is_nothing_to_find(pipeline: Pipeline, tree: Path) -> None:
    (tree / "lib/release.c").unlink()

    assert places(pipeline.body(pipeline.do(tree))) == []


@pytest.mark.slow
def test_the_second_time_nothing_is_gone_through(pipeline: Pipeline, tree: Path) -> None:
    first, second = pipeline.do(tree), pipeline.do(tree)

    assert pipeline.analysed(first) == pipeline.stage(first, "flow").files > 0
    assert pipeline.analysed(second) == 0
    assert pipeline.stage(second, "summarize").cached == len(FILES)
    assert pipeline.body(second) == pipeline.body(first)


@pytest.mark.slow
def test_an_unchanged_tree_needs_no_lookups_of_names(
    pipeline: Pipeline, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = pipeline.do(tree)
    looked_up: list[str] = []
    monkeypatch.setattr(SymbolIndex, "_exporters", lambda _, name: looked_up.append(name))

    second = pipeline.do(tree)

    assert (pipeline.analysed(second), looked_up) == (0, [])
    assert pipeline.body(second) == pipeline.body(first)


@pytest.mark.slow
def test_without_the_cache_all_is_gone_through_again_and_found_again(pipeline: Pipeline, tree: Path) -> None:
    first, second = pipeline.do(tree), pipeline.do(tree, cache=False)

    assert pipeline.stage(second, "flow").cached == pipeline.stage(second, "summarize").cached == 0
    assert pipeline.body(second) == pipeline.body(first)


@pytest.mark.slow
def test_when_a_function_changes_only_those_who_call_it_are_gone_through_again(pipeline: Pipeline, tree: Path) -> None:
    pipeline.do(tree)
    (tree / "lib/release.c").write_text(KEEP)

    run = pipeline.do(tree)

    assert places(pipeline.body(run)) == []
    assert pipeline.stage(run, "summarize").files - pipeline.stage(run, "summarize").cached == 1
    assert pipeline.analysed(run) in (2, 3)


@pytest.mark.slow
def test_when_a_file_moves_the_steps_lead_to_its_new_place(pipeline: Pipeline, tree: Path) -> None:
    pipeline.do(tree)
    (tree / "lib/release.c").rename(tree / "lib/moved.c")

    issue = pipeline.body(pipeline.do(tree))["issues"][0]

    assert "lib/moved.c" in {step["file"] for step in issue["path"]}


@pytest.mark.slow
def test_what_is_found_does_not_depend_on_batches_or_order(pipeline: Pipeline, tree: Path) -> None:
    whole = pipeline.body(pipeline.do(tree, cache=False))

    for files, seed in ((1, 1), (1, 2), (2, 3), (3, 4)):
        assert pipeline.body(pipeline.do(tree, cache=False, files=files, seed=seed)) == whole


@pytest.mark.slow
def test_batches_for_which_there_is_no_time_are_done_in_parts(pipeline: Pipeline, tree: Path) -> None:
    whole = pipeline.body(pipeline.do(tree, cache=False))

    run = pipeline.do(tree, cache=False, limits=FileLimits(batch_seconds=0))

    assert len(job_rows(pipeline.store, run, "summarize")) == len(FILES)
    assert len(job_rows(pipeline.store, run, "flow")) > 1
    assert pipeline.body(run) == whole


@pytest.mark.slow
@pytest.mark.timing
def test_a_stage_alone_that_has_no_time_goes_on_where_it_was(pipeline: Pipeline, tree: Path) -> None:
    whole = pipeline.body(pipeline.do(tree, cache=False))

    for stage in ("summarize", "flow"):
        run = pipeline.start(tree, cache=False)
        pipeline.go_on(run, until=stage)
        with pipeline.store.write() as session:
            options = json.dumps(pipeline.run(run).options | {"limits": {"batch_seconds": 0}})
            session.execute(update(RUN).where(RUN.c.id == run).values(options=options))
        pipeline.go_on(run)

        assert len(job_rows(pipeline.store, run, stage)) > 1
        assert pipeline.body(run) == whole


@pytest.mark.slow
@pytest.mark.timing
def test_what_has_failed_once_is_done_with_care_and_comes_to_the_same(pipeline: Pipeline, tree: Path) -> None:
    whole = pipeline.body(pipeline.do(tree, cache=False))
    run = pipeline.start(tree, cache=False)
    for stage in ("summarize", "flow"):
        pipeline.go_on(run, until=stage)
        with pipeline.store.write() as session:
            failed = update(JOB).where(JOB.c.run_id == run, JOB.c.stage == stage, JOB.c.step == stage)
            session.execute(failed.values(attempts=1))

    pipeline.go_on(run)

    assert pipeline.body(run) == whole


@pytest.mark.slow
def test_with_no_flow_rule_on_both_stages_have_nothing_to_do(pipeline: Pipeline, tree: Path) -> None:
    chosen = choose(open_rulebook(), RulesSettings(enable_only=("unsafe_api",)))

    run = pipeline.do(tree, rules=chosen)

    assert job_rows(pipeline.store, run, "summarize") == job_rows(pipeline.store, run, "flow") == []
    assert pipeline.run(run).state == "done"
    assert pipeline.body(run)["summary"]["not_checked"] == []


@pytest.mark.slow
def test_a_rule_that_is_off_says_nothing_of_what_is_known(pipeline: Pipeline, tree: Path) -> None:
    pipeline.do(tree)
    chosen = choose(open_rulebook(), RulesSettings(), ["flow_double_free"])

    assert places(pipeline.body(pipeline.do(tree, rules=chosen))) == []


@pytest.mark.slow
def test_models_that_are_gone_are_made_again(pipeline: Pipeline, tree: Path) -> None:
    first = pipeline.do(tree)
    (row,) = job_rows(pipeline.store, first, "summarize")
    pipeline.blobs.delete(read_result(pipeline.blobs, row.result).blobs["models"])

    second = pipeline.do(tree)

    assert 0 < pipeline.stage(second, "summarize").cached < len(FILES)
    assert pipeline.body(second) == pipeline.body(first)


@pytest.mark.slow
def test_the_models_of_an_unchanged_file_are_taken_from_where_they_were(pipeline: Pipeline, tree: Path) -> None:
    pipeline.do(tree)
    write(tree, {"a/added.c": end("added")})

    run = pipeline.do(tree)

    assert pipeline.stage(run, "summarize").cached == len(FILES)
    assert places(pipeline.body(run)) == [("a/added.c", LINE), ("a/first.c", LINE), ("z/second.c", LINE)]


@pytest.mark.timing
def test_a_damaged_model_is_not_believed(pipeline: Pipeline, tree: Path) -> None:
    run = pipeline.start(tree)
    pipeline.go_on(run, until="flow")
    (row,) = job_rows(pipeline.store, run, "summarize")
    place = pipeline.blobs.path(read_result(pipeline.blobs, row.result).blobs["models"])
    place.write_bytes(bytes(place.stat().st_size))

    pipeline.go_on(run)

    assert pipeline.run(run).state == "incomplete"
    gaps = pipeline.body(run)["summary"]["not_checked"]
    assert {gap["file"] for gap in gaps} >= {"a/first.c", "lib/release.c", "z/second.c"}
    assert all(
        gap["reason"].startswith("data-flow rules did not run on it: a cached file summary is corrupt") for gap in gaps
    )


@pytest.mark.slow
def test_a_file_that_was_not_gone_through_whole_is_named_with_what_was_found(pipeline: Pipeline, tree: Path) -> None:
    first = pipeline.do(tree)
    (job,) = job_rows(pipeline.store, first, "flow")
    payload = FlowPayload.from_json(job.payload)
    names = SymbolIndex(pipeline.blobs, payload.names)
    row = next(row for row in read_rows(pipeline.blobs, payload.index) if row.path == b"lib/release.c")
    hit = ["flow_double_free", 5, 0.9, "", [[None, 5, "freed again"]]]
    key = f"{row.key}-{sha256(b'lib').hexdigest()[:8]}"
    gap = ["release", 3, "it takes too many steps"]
    said = {key: [[[[hit], [gap]], [], None], names.answers(row.calls), ""]}
    FlowCache(pipeline.cache, space("flow")).put([(key, row.path)], said)

    body = pipeline.body(pipeline.do(tree))

    assert ("lib/release.c", 5) in places(body)
    assert body["summary"]["not_checked"] == [
        {
            "file": "lib/release.c",
            "reason": "data-flow rules did not run on release to its end (line 3): it takes too many steps",
        }
    ]


def test_the_cache_of_flow_results_is_of_one_interpreter_and_its_engines(pipeline: Pipeline) -> None:
    debian, newer = (space("flow", engine_identity(f"cpython {version}")) for version in ("3.11.2", "3.11.7"))
    FlowCache(pipeline.cache, debian).put([("0" * 40, b"a.c")], {"0" * 40: [[], None, []]})

    assert FlowCache(pipeline.cache, debian).find([("0" * 40, b"a.c")]) == {"0" * 40: [[], None, []]}
    assert FlowCache(pipeline.cache, newer).find([("0" * 40, b"a.c")]) == {}
    assert FlowCache(pipeline.cache, space("flow")).find([("0" * 40, b"a.c")]) == {}


@pytest.mark.slow
def test_a_finding_in_a_file_whose_copy_is_damaged_is_a_gap(pipeline: Pipeline, tree: Path) -> None:
    first = pipeline.do(tree)
    with open_snapshot(pipeline.blobs, pipeline.run(first).snapshot_id) as reader:
        places_of_shards = [pipeline.blobs.path(shard) for shard in reader.index.shards]
    for place in places_of_shards:
        place.write_bytes(place.read_bytes().replace(b"first", b"worst"))

    run = pipeline.do(tree)

    (gap,) = pipeline.body(run)["summary"]["not_checked"]
    assert gap["file"] == "a/first.c"
    assert gap["reason"].startswith("data-flow rules did not run on it: its copy is corrupt; ")
    assert pipeline.run(run).state == "incomplete"


@pytest.mark.slow
def test_what_a_scan_has_seen_in_part_is_known_by_its_words() -> None:
    problem = Scanner().scan(b"gets(a);\n" * (MATCHES_MAX + 1), language="c/cpp").problem

    assert problem is not None
    assert PARTLY in problem


@pytest.mark.slow
def test_data_flow_rules_run_on_a_file_of_which_a_text_rule_has_not_checked_all_places(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    tree = tmp_path / "long"
    tree.mkdir()
    reads = "  n = read(0, b, 8);\n  if (n < 0) return;\n" * (EXAMINED_MAX + 1)
    twice = "void g(char *p)\n{\n  free(p);\n  free(p);\n}\n"
    (tree / "a.c").write_text(f"void f(char *b)\n{{\n  size_t n;\n{reads}}}\n{twice}")

    body = pipeline.body(pipeline.do(tree))

    reasons = " ".join(gap["reason"] for gap in body["summary"]["not_checked"])
    assert "sign_comparison: checked only the first 2000 possible places" in reasons
    assert "flow_double_free" in {one["pattern"] for one in body["issues"]}


@pytest.mark.slow
@pytest.mark.timing
def test_the_files_of_a_batch_that_failed_are_named_once_each_and_retried(pipeline: Pipeline, tree: Path) -> None:
    whole = pipeline.body(pipeline.do(tree, cache=False))
    for stage in ("summarize", "flow"):
        run = pipeline.start(tree, cache=False)
        pipeline.go_on(run, until=stage)
        with pipeline.store.write() as session:
            failed = update(JOB).where(JOB.c.run_id == run, JOB.c.stage == stage, JOB.c.step == stage)
            session.execute(failed.values(state="failed", reason="crashed"))
            session.execute(update(JOB).where(JOB.c.run_id == run, JOB.c.state == "pending").values(not_before=0.0))
        with pipeline.store.write() as session:
            advance(session, run)
        pipeline.go_on(run)

        gaps = pipeline.body(run)["summary"]["not_checked"]
        assert pipeline.run(run).state == "incomplete"
        assert {gap["reason"] for gap in gaps} == {"data-flow rules did not run on it: its batch failed: crashed"}
        assert len({gap["file"] for gap in gaps}) == len(gaps)
        assert {"a/first.c", "lib/release.c", "z/second.c"} <= {gap["file"] for gap in gaps}
        with pipeline.store.write() as session:
            assert runs.retry(session, run, "cluster")
        pipeline.go_on(run)
        assert pipeline.run(run).state == "done"
        assert pipeline.body(run) == whole


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("stage", ["summarize", "flow", "report"])
def test_before_its_end_a_report_names_what_the_flow_rules_have_not_seen(
    pipeline: Pipeline, tree: Path, stage: str
) -> None:
    run = pipeline.start(tree)
    pipeline.go_on(run, until=stage)

    gaps = [gap for gap in pipeline.body(run)["summary"]["not_checked"] if gap["file"] in FILES]
    named = {gap["file"] for gap in gaps}
    assert {gap["reason"] for gap in gaps} <= {"data-flow rules did not run on it: not reached before the run ended"}
    assert ("a/first.c" in named) == (stage != "report")
    assert (named == FILES.keys()) == (stage == "summarize")


@pytest.mark.timing
def test_what_a_scan_has_lost_is_named_by_it_alone(pipeline: Pipeline, tree: Path) -> None:
    run = pipeline.start(tree)
    pipeline.go_on(run, until="summarize")
    (row,) = job_rows(pipeline.store, run, "scan")
    gaps = [["a/first.c", "took more than 10 s of CPU"], ["z/second.c", "x; checked only as far as line 9"]]
    with pipeline.store.write() as session:
        session.execute(update(JOB).where(JOB.c.id == row.id).values(result=json.dumps({"not_checked": gaps})))
        session.execute(JOB.delete().where(JOB.c.run_id == run, JOB.c.stage == "summarize", JOB.c.step != "plan"))
        again = update(JOB).where(JOB.c.run_id == run, JOB.c.stage == "summarize")
        session.execute(again.values(state="pending"))

    pipeline.go_on(run)

    body = pipeline.body(run)
    assert [[gap["file"], gap["reason"]] for gap in body["summary"]["not_checked"]] == gaps
    assert places(body) == [("z/second.c", LINE)]


def silenced(pipeline: Pipeline, tree: Path, comment: str, **options: Any) -> tuple[dict[str, Any], list[Any]]:
    """Return the report of a tree whose one finding has a comment, and the comments that are said to be of no use."""
    (tree / "z/second.c").unlink()
    (tree / "a/first.c").write_text(end("first", f" /* {comment} */"))
    body = pipeline.body(pipeline.do(tree, **options))
    return body, [(one["line"], one["reason"]) for one in body["summary"]["unused_suppressions"]]


@pytest.mark.slow
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "comment",
    [
        "jarvis-ignore: owned twice",
        "jarvis-ignore[flow_double_free]: owned twice",
        "jarvis-ignore[unsafe_api, flow_double_free]: owned twice",
        "jarvis-ignore[double_free_and_free_non_heap]: owned twice",
        "nosemgrep",
    ],
)
def test_a_comment_silences_a_flow_rule_and_is_not_unused(pipeline: Pipeline, tree: Path, comment: str) -> None:
    for _ in range(2):
        body, unused = silenced(pipeline, write(tree, FILES), comment)

        assert body["issues"] == []
        assert [one["pattern"] for one in body["suppressed"]] == ["flow_double_free"]
        assert unused == []


def test_a_comment_that_silences_nothing_is_unused(pipeline: Pipeline, tree: Path) -> None:
    (tree / "lib/release.c").write_text(KEEP)

    body, unused = silenced(pipeline, tree, "jarvis-ignore[flow_double_free]: owned twice")

    assert (body["issues"], unused) == ([], [(LINE, "no rule fires here")])


@pytest.mark.timing
def test_of_a_file_that_the_flow_rules_have_not_seen_no_comment_is_called_unused(
    pipeline: Pipeline, tree: Path
) -> None:
    (tree / "a/first.c").write_text(end("first", " /* jarvis-ignore: owned twice */"))
    run = pipeline.start(tree)
    pipeline.go_on(run, until="flow")

    assert pipeline.body(run)["summary"]["unused_suppressions"] == []


@pytest.mark.slow
def test_a_flow_rule_speaks_for_the_rule_that_it_supersedes(pipeline: Pipeline, tmp_path: Path) -> None:
    twice = "void twice(char *text)\n{\n    free(text); free(text);\n}\n"
    tree = write(tmp_path / "one", {"a.c": twice})

    def found(*off: str) -> list[tuple[int, str]]:
        chosen = choose(
            open_rulebook(), RulesSettings(enable_only=("flow_double_free", "double_free_and_free_non_heap")), off
        )
        return [(one["gid"], one["pattern"]) for one in pipeline.body(pipeline.do(tree, rules=chosen))["issues"]]

    assert found("flow_double_free") == [(1, "double_free_and_free_non_heap")]
    assert found() == [(1, "flow_double_free")]


def test_a_name_that_two_files_export_means_nothing_to_those_as_near_to_both(pipeline: Pipeline, tree: Path) -> None:
    write(tree, {"other/release.c": RELEASE})

    assert places(pipeline.body(pipeline.do(tree))) == []


def test_of_two_files_that_export_a_name_the_nearer_is_meant(pipeline: Pipeline, tree: Path) -> None:
    write(tree, {"a/release.c": KEEP, "z/release.c": RELEASE})

    assert places(pipeline.body(pipeline.do(tree))) == [("z/second.c", LINE)]


@pytest.mark.slow
def test_identical_files_are_gone_through_once(pipeline: Pipeline, tree: Path) -> None:
    write(tree, {"a/copy.c": FILES["a/first.c"], "b/copy.c": FILES["a/first.c"]})

    run = pipeline.do(tree)
    again = pipeline.do(tree)

    assert ("b/copy.c", LINE) in places(pipeline.body(run))
    assert pipeline.analysed(again) == 0


@pytest.mark.slow
def test_functions_that_are_not_analysed_to_their_end_are_named_and_their_file_counts_once(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    lines = "    n = g(n);\n"
    long = "int {name}(char *p, int n)\n{{\n    free(p);\n    free(p);\n" + lines * 9_000 + "}}\n"
    tree = write(tmp_path / "long", {"a.c": long.format(name="first") + long.format(name="second"), "b.c": end("b")})

    runs_done = [pipeline.do(tree), pipeline.do(tree)]

    first, again = (pipeline.body(run) for run in runs_done)
    assert first == again
    assert pipeline.stage(runs_done[1], "flow").cached > 0
    reason = "data-flow rules did not run on {} to its end (line {}): it is longer than 120,000 bytes"
    assert first["summary"]["not_checked"] == [
        {"file": "a.c", "reason": reason.format("first", 1)},
        {"file": "a.c", "reason": reason.format("second", 9_006)},
    ]
    assert pipeline.run(runs_done[1]).state == "incomplete"
    assert pipeline.run(runs_done[1]).reason == "1 file or directory was not checked"
