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
