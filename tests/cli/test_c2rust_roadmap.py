"""`jarvis c2rust roadmap`."""

import json

import pytest

from tests.cli.commands import COPY, SYSTEM, Jarvis


@pytest.mark.slow
def test_the_roadmap_compares_the_first_and_the_last_scan(jarvis: Jarvis) -> None:
    tree = jarvis.tree("lib", {"a.c": COPY, "b.c": SYSTEM})
    jarvis("sec", "fast", "-q", "-p", tree, "-o", "before.json", "--format", "json")
    (tree / "b.c").write_text("int g(void) { return 0; }\n")
    jarvis("sec", "fast", "-q", "-p", tree, "-o", "after.json", "--format", "json")

    by_runs = json.loads(jarvis("c2rust", "roadmap", "-p", tree, "--json").out)
    by_files = jarvis("c2rust", "roadmap", "--sec-before", "before.json", "--sec-after", "after.json", "--json")
    text = jarvis("c2rust", "roadmap", "-p", tree).out

    assert json.loads(by_files.out) == by_runs
    assert [stage["passed"] for stage in by_runs["stages"]] == [True, False, *[None] * 6]
    assert "score_sum" in by_runs["stages"][1]["value"] and "(-" in by_runs["stages"][1]["value"]
    assert "1 Harden the C code: not passed\n  input: the findings, riskiest files first\n" in text
    assert "  input_validation: 2 -> 0\n" in text


def test_a_report_that_is_missing_is_named(jarvis: Jarvis) -> None:
    ended = jarvis("c2rust", "roadmap", "--sec-before", "no/such.json")

    assert ended.code == 2
    assert "no/such.json" in ended.line
