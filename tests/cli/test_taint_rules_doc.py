"""docs/own-rules.md: its taint rule finds what its example marks, in tests and in scans."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.commands import Jarvis

DOC = (Path(__file__).parents[2] / "docs" / "own-rules.md").read_text()
RULE, EXAMPLE = re.findall(r"```(?:yaml|c)\n(.*?)```", DOC.partition("## Taint rules")[2], re.DOTALL)[:2]


@pytest.fixture
def tree(jarvis: Jarvis) -> Jarvis:
    jarvis.tree("src", {"find.c": EXAMPLE, ".jarvis/rules/packet.yaml": RULE, ".jarvis/rules/packet.c": EXAMPLE})
    return jarvis


def test_the_rule_passes_its_test(tree: Jarvis) -> None:
    ended = tree("sec", "rules", "test", "src/.jarvis/rules")

    assert (ended.code, ended.out) == (0, "2 marks of 1 rule in 1 file: all passed\n")


def test_the_rule_is_listed_and_explained(tree: Jarvis) -> None:
    (tree.place / "jarvis.yaml").write_text("rules: {paths: [src/.jarvis/rules]}")

    rows = {row["id"]: row for row in json.loads(tree("sec", "rules", "--format", "json").out)}
    page = tree("sec", "explain", "packet_query").out

    assert (rows["packet_query"]["cwe"], rows["packet_query"]["on"]) == (89, True)
    assert "read_packet($BUF, ...)" in page
    assert "run_query($DB, $SQL)" in page
    assert "if (is_name($TEXT))" in page


def test_the_rule_is_reported_with_its_path(tree: Jarvis) -> None:
    ended = tree("sec", "fast", "-p", "src", "--project-rules", "--rules", "packet_query", "--format", "json")

    (issue,) = json.loads(ended.out)["issues"]
    assert (issue["file"], issue["line"], issue["severity"]) == ("find.c", 6, "high")
    assert [step["line"] for step in issue["path"]] == [4, 6]


def test_an_error_is_a_line_with_its_place(tree: Jarvis) -> None:
    (tree.place / "src/.jarvis/rules/packet.yaml").write_text(RULE.replace("focus: $SQL", "focus: $QUERY"))

    ended = tree("sec", "fast", "-p", "src", "--project-rules")

    assert ended.code == 2
    assert 'packet.yaml:15: rule "packet_query": "sinks.0" is ' in ended.line
    assert ended.line.endswith("focus: $QUERY is not in the pattern; write one of $DB, $SQL")
