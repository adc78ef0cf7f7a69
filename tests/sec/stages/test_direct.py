"""A scan without a store reports what one with a store does."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.pipeline.each_file import FileLimits
from jarvis_workers.sec.report_json import body_to_json
from jarvis_workers.sec.rulesets.rulebook import choose, open_rulebook
from jarvis_workers.sec.runs.scan_input import Baseline
from jarvis_workers.sec.stages.direct import DirectScan, is_one_batch, scan_directly
from jarvis_workers.sec.triage_states import TriageState, TriageVerdict
from jarvis_workers.settings import RulesSettings
from jarvis_workers.snapshots.blobs import DirectoryBlobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.engine import Store
from tests.sec.stages.pipeline import Pipeline

DATA = Path(__file__).parents[2] / "data"
COPY = "void f(char *a, char *b) { strcpy(a, b); }\n"
QUIET = "void g(char *a, char *b) {\n    strcpy(a, b); // jarvis-ignore[unsafe_api]: measured\n}\n"
TWICE = "#include <stdlib.h>\nvoid k(char *p) {\n    free(p);\n    free(p);\n}\n"
UNUSED = "int h(void) { return 0; } // jarvis-ignore[unsafe_api]: nothing here\n"


@pytest.fixture
def pipeline(tmp_path: Path, sqlite_url: str, open_stores: Callable[..., Store]) -> Pipeline:
    return Pipeline(open_stores(sqlite_url), DirectoryBlobs(tmp_path / "blobs"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with findings of both kinds of rules, suppressions, and a file that is not checked."""
    return plant(tmp_path / "tree")


def plant(tree: Path) -> Path:
    tree.mkdir(exist_ok=True)
    for name, text in {"quiet.c": QUIET, "unused.c": UNUSED, "copy.c": COPY + COPY, "twice.c": TWICE}.items():
        (tree / name).write_text(text)
    (tree / "away.c").symlink_to("/etc/passwd")
    return tree


def both(pipeline: Pipeline, tree: Path, **options: Any) -> tuple[dict[str, Any], DirectScan]:
    """Return the report of a run with a store, and the same run without one."""
    baseline = options.get("baseline")
    run = pipeline.run(pipeline.do(tree, **options))
    return pipeline.body(run.id), scan_directly(
        run, Resources(pipeline.blobs), baseline=baseline.counts if baseline else None
    )


def test_report_is_the_same_with_and_without_a_store(pipeline: Pipeline, tree: Path) -> None:
    stored, direct = both(pipeline, tree)

    assert {"unsafe_api", "flow_double_free"} <= {issue["pattern"] for issue in stored["issues"]}
    assert stored["summary"]["not_checked"]
    assert stored["summary"]["suppressed"]
    assert stored["summary"]["unused_suppressions"]
    assert json.dumps(body_to_json(direct.body)) == json.dumps(stored)


@pytest.mark.slow
def test_report_of_every_marked_example_is_the_same(pipeline: Pipeline, tree: Path) -> None:
    for name in ("flow", "rules"):
        shutil.copytree(DATA / name, tree / name)
    stored, direct = both(pipeline, tree)

    assert stored["summary"]["total"] > 100
    assert json.dumps(body_to_json(direct.body)) == json.dumps(stored)


def test_state_and_stages_are_the_same(pipeline: Pipeline, tree: Path) -> None:
    run = pipeline.run(pipeline.do(tree))
    direct = scan_directly(run, Resources(pipeline.blobs))

    assert (direct.run.state, direct.run.reason) == (run.state, run.reason)
    assert direct.run.state == "incomplete"
    for stage in direct.stages:
        stored = pipeline.stage(run.id, stage.name)
        for fact in ("jobs", "done", "failed", "files", "bytes", "not_checked"):
            assert getattr(stage, fact) == getattr(stored, fact), (stage.name, fact)


@pytest.mark.slow
def test_chosen_rules_and_severities_are_the_same(pipeline: Pipeline, tree: Path) -> None:
    asked = RulesSettings(disable=("flow_double_free",), severity={"unsafe_api": "low"})
    stored, direct = both(pipeline, tree, rules=choose(open_rulebook(), asked))

    assert {"low"} == {one["severity"] for one in stored["issues"] if one["pattern"] == "unsafe_api"}
    assert body_to_json(direct.body) == stored


@pytest.mark.slow
def test_baseline_is_the_same(pipeline: Pipeline, tree: Path) -> None:
    whole = pipeline.body(pipeline.do(tree))
    known = Counter(issue["fingerprint"] for issue in whole["issues"][::2])
    stored, direct = both(pipeline, tree, baseline=Baseline(known, {"what": "before"}))

    assert stored["summary"]["baseline"]["known"] == len(whole["issues"][::2])
    assert body_to_json(direct.body) == stored


def test_an_empty_tree_has_an_empty_report(pipeline: Pipeline, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    stored, direct = both(pipeline, tmp_path / "none", may_be_empty=True)

    assert body_to_json(direct.body) == stored


def test_a_batch_without_time_goes_on_in_another_job(pipeline: Pipeline, tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    for name in ("a.c", "b.c"):
        (tmp_path / "two" / name).write_text(f"// {name}\n{COPY}")
    stored, direct = both(pipeline, tmp_path / "two", limits=FileLimits(batch_seconds=0.0))

    assert [stage.jobs for stage in direct.stages] == [2, 2, 2, 1]
    assert body_to_json(direct.body) == stored


@pytest.mark.timing
def test_a_tree_of_several_batches_is_told_apart(pipeline: Pipeline, tree: Path) -> None:
    small, large = (pipeline.run(pipeline.start(tree, files=files)) for files in (1000, 2))

    assert is_one_batch(small, pipeline.blobs)
    assert not is_one_batch(large, pipeline.blobs)


@pytest.mark.timing
def test_stages_are_shown_as_they_end(pipeline: Pipeline, tree: Path) -> None:
    seen: list[tuple[str, int]] = []
    scan_directly(
        pipeline.run(pipeline.start(tree)),
        Resources(pipeline.blobs),
        show=lambda stage, found: seen.append((stage.name, found)),
    )

    assert [name for name, _ in seen] == ["scan", "summarize", "flow"]
    assert 0 < seen[0][1] < seen[-1][1]


@pytest.mark.timing
def test_what_people_judged_false_is_set_aside(pipeline: Pipeline, tmp_path: Path) -> None:
    (tmp_path / "copy.c").write_text(COPY)
    run = pipeline.run(pipeline.start(tmp_path / "copy.c"))
    (found,) = scan_directly(run, Resources(pipeline.blobs)).body.issues
    judged = {found.fingerprint: TriageVerdict(TriageState.FALSE, "measured before")}

    assert scan_directly(run, Resources(pipeline.blobs), judged=judged).body.summary.judged_false == 1
