"""What a release needs: metadata, a page for the index, and an audit that never passes silently."""

import importlib.util
import json
import re
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from jarvis_cli.kit.versions import versions
from jarvis_workers.store.revisions import REVISIONS
from tests.conftest import is_in_share

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAGE = (ROOT / PROJECT["readme"]).read_text()
FOLDERS = {".ci", "deploy", "docs", "helm", "jarvis_cli", "jarvis_workers", "tests"}
FILES = r"\.\w[\w.-]*|[A-Z]+(\.md)?|pyproject\.toml|(action|docker-compose)\.yml|requirements(-\w+)?\.lock"


def test_the_repository_has_no_stray_files() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    names = [name for name in listed.decode(errors="replace").split("\0") if name]
    stray = {name for name in names if "/" not in name and not re.fullmatch(FILES, name)}
    assert stray | {top for name in names for top in name.split("/")[:-1][:1]} - FOLDERS == set()
    assert [name for name in names if not name.isascii() or not name.isprintable()] == []


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", ROOT / ".ci" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_the_index_has_no_links_into_the_repository() -> None:
    assert not re.findall(r"\]\((?!https://)[^)]*\)", PAGE)


def test_the_page_of_the_index_names_extras_that_exist() -> None:
    rows = re.findall(r"^\| (`.*?`) \|", PAGE, re.MULTILINE)
    assert {extra for row in rows for extra in re.findall(r"`(\w+)`", row)} == set(PROJECT["optional-dependencies"]) - {
        "dev",
        "fuzz",
        "release",
    }


def test_the_version_of_the_schema_is_shown() -> None:
    assert any(line.endswith(f"schema {REVISIONS[-1]}") for line in versions())


def test_the_changelog_has_the_version() -> None:
    assert f"\n## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize(
    ("report", "errors", "passes", "line"),
    [
        ([{"name": "a", "version": "1", "vulns": []}], "", True, "x.lock: no advisory for 1 packages"),
        (
            [{"name": "a", "version": "1", "vulns": [{"id": "CVE-1"}]}, {"name": "b", "skip_reason": "unreachable"}],
            "",
            False,
            "x.lock: advisories: a 1 (CVE-1)",
        ),
        (
            [{"name": "a", "version": "1", "vulns": []}, {"name": "b", "skip_reason": "unreachable"}],
            "",
            None,
            "x.lock: not checked: 1 of 2 packages: unreachable",
        ),
        ([], "", False, "x.lock: no packages were audited"),
        (None, "WARNING\nConnectionError: refused", None, "x.lock: not checked: ConnectionError: refused"),
        (None, "", None, "x.lock: not checked: no report"),
    ],
)
def test_an_audit_says_what_was_not_checked_and_passes_with_it_only_offline(
    audit: ModuleType, report: list[object] | None, errors: str, passes: bool | None, line: str
) -> None:
    """`passes` is None if it depends."""
    text = "" if report is None else json.dumps({"dependencies": report})
    for offline in (False, True):
        expected = offline if passes is None else passes
        assert audit.conclusion("x.lock", text, errors, offline=offline) == (expected, line)


def test_an_audit_of_nothing_does_not_pass(audit: ModuleType) -> None:
    assert audit.main([]) == audit.main(["--offline"]) == 1


def test_each_test_is_in_one_part_of_three() -> None:
    tests = [f"tests/test_a.py::test_{number}" for number in range(300)]
    parts = [[name for name in tests if is_in_share(name, f"{number}/3")] for number in (1, 2, 3)]
    assert sorted(name for part in parts for name in part) == sorted(tests)
    assert min(map(len, parts)) > 80
