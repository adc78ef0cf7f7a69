"""A tree that is named by its path decides nothing about the command that scans it."""

import json

from tests.cli.commands import COPY, Jarvis

SETTINGS = "rules: {disable: [unsafe_api], paths: [rules.yaml]}\nscan: {exclude_dirs: [src], max_file_mb: 0.00001}\n"
RULE = "- {id: own_gets, languages: [c/cpp], calls: [strcpy], severity: low, description: Harmless., advice: None.}\n"
PYPROJECT = '[tool.jarvis]\nstore_url = "sqlite:////nowhere/jarvis.db"\nbroker_url = "redis://127.0.0.1:1/0"\n'


def test_settings_and_rules_of_the_scanned_tree_are_not_read(jarvis: Jarvis) -> None:
    files: dict[str, str | bytes] = {"src/a.c": COPY, "rules.yaml": RULE}
    tree = jarvis.tree("tree", {**files, "jarvis.yaml": SETTINGS, "pyproject.toml": PYPROJECT})
    (issue,) = json.loads(jarvis("sec", "fast", tree, "--json").out)["issues"]
    assert (issue["file"], issue["pattern"]) == ("src/a.c", "unsafe_api")


def test_included_code_is_scanned_whatever_its_name(jarvis: Jarvis) -> None:
    code = ("body.txt", "evil.inc", "sub/big.h.in", "x.CPP", "x.H", "x.Hpp", "x.C")
    lines = '#include "body.txt"\n#inc\\\nlude "evil.inc"\n%:include /* */ <big.h.in>\n#include PARTS\n'
    files: dict[str, str | bytes] = dict.fromkeys(code, COPY) | {"a.c": lines, "notes.txt": COPY}
    report = json.loads(jarvis("sec", "fast", jarvis.tree("tree", files), "--json").out)

    assert {issue["file"] for issue in report["issues"] if issue["pattern"] == "unsafe_api"} == set(code)
    assert report["summary"]["scanned_files"] == len(code) + 1
    assert report["summary"]["left_out"] == {"included by the macro PARTS": 1}
    assert report["summary"]["not_checked"] == []
