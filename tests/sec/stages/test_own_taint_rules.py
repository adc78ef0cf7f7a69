"""A project's own taint rules reach the workers with the run, and decide which results of earlier runs still hold."""

from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_workers.sec.rulesets.rulebook import choose, open_rulebook
from jarvis_workers.sec.runs.scan_input import Chosen
from jarvis_workers.settings import RulesSettings
from jarvis_workers.snapshots.resources import open_resources
from jarvis_workers.store.engine import Store
from tests.sec.stages.pipeline import Pipeline

RULE = """\
- id: own
  mode: taint
  language: c/cpp
  category: input_validation
  cwe: 89
  confidence: 0.8
  message: Text from a packet becomes part of a statement.
  suggestion: Escape it.
  sources: [{{pattern: "{source}(...)"}}]
  sinks: [{{pattern: "{sink}($DB, $SQL)", focus: $SQL}}]
"""
FILES = {
    "a/serve.c": "void serve(struct db *db)\n{\n    look_up(db, next_name(1));\n    look_up(db, other_name(1));\n}\n",
    "b/find.c": "void look_up(struct db *db, char *name)\n{\n    run_query(db, name);\n    log_query(db, name);\n}\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / "tree" / name).parent.mkdir(parents=True)
        (tmp_path / "tree" / name).write_text(content)
    return tmp_path / "tree"


@pytest.fixture
def pipeline(tmp_path: Path, sqlite_url: str, open_stores: Callable[..., Store]) -> Pipeline:
    resources = open_resources(str(tmp_path / "blobs"), tmp_path / "cache", results_bytes=10_000_000)
    return Pipeline(open_stores(sqlite_url), resources.blobs, cache=resources.cache)


@pytest.fixture
def chosen(tmp_path: Path) -> Callable[..., Chosen]:
    def make(*off: str, source: str = "next_name", sink: str = "run_query") -> Chosen:
        (tmp_path / "own.yaml").write_text(RULE.format(source=source, sink=sink))
        return choose(open_rulebook([tmp_path / "own.yaml"]), RulesSettings(), off)

    return make


def own(pipeline: Pipeline, run: str) -> list[tuple[str, int, str]]:
    issues = pipeline.body(run)["issues"]
    return [(one["file"], one["line"], one["path"][-1]["note"]) for one in issues if one["pattern"] == "own"]


def test_a_rule_is_followed_across_files_and_explained(
    pipeline: Pipeline, tree: Path, chosen: Callable[..., Chosen]
) -> None:
    run = pipeline.do(tree, rules=chosen())

    (issue,) = (one for one in pipeline.body(run)["issues"] if one["pattern"] == "own")
    assert (issue["file"], issue["line"], issue["cwe"], issue["confidence"]) == ("a/serve.c", 3, 89, 0.78)
    assert issue["description"] == "Text from a packet becomes part of a statement."
    assert issue["suggestion"] == "Escape it."
    assert [step["file"] for step in issue["path"]] == ["a/serve.c", "a/serve.c", "b/find.c"]


@pytest.mark.slow
def test_cached_results_hold_as_long_as_the_rule_is_the_same(
    pipeline: Pipeline, tree: Path, chosen: Callable[..., Chosen]
) -> None:
    def scan(rules: Chosen) -> tuple[list[tuple[str, int, str]], int, int]:
        run = pipeline.do(tree, rules=rules)
        return own(pipeline, run), pipeline.stage(run, "summarize").cached, pipeline.stage(run, "flow").cached

    first = scan(chosen())
    assert [line for _, line, _ in first[0]] == [3]

    assert scan(chosen()) == (first[0], 2, 2)
    other_sink, *_ = scan(chosen(sink="log_query"))
    assert [(line, note.partition("(")[0]) for _, line, note in other_sink] == [(3, "log_query")]
    other_source, summarized, _ = scan(chosen(source="other_name"))
    assert [line for _, line, _ in other_source] == [4]
    assert summarized == 0
    assert scan(chosen("own"))[0] == []
    assert scan(chosen()) == (first[0], 2, 2)
