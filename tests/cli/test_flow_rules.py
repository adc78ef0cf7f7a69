"""`sec fast` finds what no file shows alone, and its flow rules are rules like any other."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Jarvis
from tests.sec.stages.test_trace_flows import FILES, KEEP, LINE, end

RULE = "flow_double_free"


@pytest.fixture
def tree(jarvis: Jarvis) -> Path:
    return jarvis.tree("tree", dict(FILES))


def scan(jarvis: Jarvis, tree: Path, *options: str, code: int = 0) -> dict[str, Any]:
    ended = jarvis("sec", "fast", "-q", "-p", tree, "--format", "json", *options)
    assert ended.code == code, ended.err
    body: dict[str, Any] = json.loads(ended.out)
    return body


def places(body: dict[str, Any]) -> list[tuple[str, int]]:
    return [(one["file"], one["line"]) for one in body["issues"] if one["pattern"] == RULE]


@pytest.mark.slow
def test_processes_and_batches_change_nothing_of_the_report(
    jarvis: Jarvis, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = scan(jarvis, tree, "--no-cache")
    monkeypatch.setenv("JARVIS_SCAN__BATCH_FILES", "1")
    two = scan(jarvis, tree, "--no-cache", "-j", "2")

    assert places(one) == [("a/first.c", LINE), ("z/second.c", LINE)]
    assert two["run"].pop("stages")["flow"]["jobs"] > one["run"].pop("stages")["flow"]["jobs"]
    assert {**one, "run": None} == {**two, "run": None}


@pytest.mark.slow
def test_a_flow_rule_is_listed_explained_weighed_and_switched_off(jarvis: Jarvis, tree: Path) -> None:
    assert RULE in jarvis("sec", "rules").out
    assert "Fix" in jarvis("sec", "explain", RULE).out
    assert places(scan(jarvis, tree, "--exclude-rules", RULE)) == []
    (jarvis.place / "jarvis.yaml").write_text(f"rules: {{severity: {{{RULE}: low}}}}\n")

    issues = scan(jarvis, tree)["issues"]
    assert {one["severity"] for one in issues if one["pattern"] == RULE} == {"low"}


@pytest.mark.slow
def test_a_baseline_knows_what_a_flow_rule_has_found(jarvis: Jarvis, tree: Path) -> None:
    jarvis("sec", "fast", "-q", "-p", tree, "-o", "base.json")
    (tree / "z/third.c").write_text(end("third"))

    body = scan(jarvis, tree, "--baseline", "base.json")

    assert places(body) == [("z/third.c", LINE)]
    assert body["summary"]["baseline"]["known"] >= 2


@pytest.mark.slow
def test_every_format_tells_the_steps(jarvis: Jarvis, tree: Path) -> None:
    jarvis("sec", "fast", "-q", "-p", tree, "-o", "r.md")

    for form in ("markdown", "html", "sarif", "junit", "json"):
        assert "lib/release.c" in jarvis("runs", "report", "last", "--format", form).out


@pytest.mark.slow
def test_show_tells_how_far_each_stage_is(jarvis: Jarvis, tree: Path) -> None:
    scan(jarvis, tree)
    scan(jarvis, tree)

    shown = jarvis("runs", "show", "last").out
    assert "summarize stage closed, 1/1 jobs" in shown
    assert f"{len(FILES)} of {len(FILES)} files cached" in shown
    assert "flow stage    closed, 1/1 jobs" in shown
    (listed,) = [one for one in json.loads(jarvis("runs", "list", "--json").out)][:1]
    assert listed["files"] == len(FILES)


@pytest.mark.slow
def test_a_change_elsewhere_takes_a_finding_away(jarvis: Jarvis, tree: Path) -> None:
    assert places(scan(jarvis, tree))
    (tree / "lib/release.c").write_text(KEEP)

    assert places(scan(jarvis, tree)) == []
