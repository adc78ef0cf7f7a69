"""Lex and yacc files are scanned like other sources."""

import json
from pathlib import Path

TREE = Path(__file__).parents[1] / "data/grammars"
FILES = {name: (TREE / name).read_text() for name in ("sheet.l", "sheet.y")}


def test_lex_and_yacc_files_are_scanned_as_c_with_both_kinds_of_rules(jarvis):
    tree = jarvis.tree("tree", FILES)

    report = json.loads(jarvis("sec", "fast", "-p", tree, "--format", "json").out)

    assert report["summary"]["scanned_files"] == 2
    assert {issue["language"] for issue in report["issues"]} == {"c/cpp"}
    found = {(issue["file"], issue["pattern"]) for issue in report["issues"]}
    assert found >= {(name, pattern) for name in FILES for pattern in ("unsafe_api", "flow_unchecked_null")}


def test_a_suppression_between_the_rules_of_a_grammar_counts(jarvis):
    rules = "%%\na: B\n  // jarvis-ignore: a fixed name\n  { strcpy(to, $1); }\n;\n"
    tree = jarvis.tree("tree", {"a.y": rules, "b.y": rules.replace("ignore", "look")})

    report = json.loads(jarvis("sec", "fast", "-p", tree, "--format", "json").out)

    assert [issue["file"] for issue in report["issues"]] == ["b.y"]
