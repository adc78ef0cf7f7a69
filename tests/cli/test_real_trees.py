"""SARIF of whole projects: what a service would take of it, and whether a finding is known again after an edit.

BENCH_TREES names the trees, parted by a colon, such as the sources of redis, curl and tokio.
"""

import gzip
import json
import os
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft4Validator

from jarvis_workers.source.languages import language_of

SCHEMA = Path(__file__).parents[1] / "data" / "sarif-schema-2.1.0.json"
TREES = [Path(tree) for tree in os.environ.get("BENCH_TREES", "").split(":") if tree]
GZIPPED_MAX = 10_000_000
LINES = 10
FINISHED, SOME_NOT_CHECKED = 0, 3

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(params=TREES or [None], ids=lambda tree: tree.name if tree else "none")
def tree(request: pytest.FixtureRequest) -> Path:
    return request.param or pytest.skip("BENCH_TREES is not set")


def test_the_report_on_a_real_tree_is_valid_and_small(jarvis, tree):
    written = scan(jarvis, tree)

    log = json.loads(written)
    small = len(gzip.compress(written))
    print(f"{tree.name}: {len(log['runs'][0]['results'])} results, {len(written)} bytes, {small} gzipped")
    assert [error.message for error in Draft4Validator(json.loads(SCHEMA.read_text())).iter_errors(log)] == []
    assert log["runs"][0]["results"]
    assert small <= GZIPPED_MAX


def test_ten_lines_on_top_of_each_file_change_no_fingerprint(jarvis, tree, tmp_path):
    copied = tmp_path / tree.name
    shutil.copytree(tree, copied, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    before = known(scan(jarvis, copied))
    edited = put_lines_on_top(copied)
    after = known(scan(jarvis, copied))

    moved = {(file, mark, line + LINES) for file, mark, line in before}
    print(f"{tree.name}: {edited} files edited, {len(before)} findings before, {len(after)} after")
    assert before
    assert (sorted(after - moved), sorted(moved - after)) == ([], [])


def scan(jarvis, tree: Path) -> bytes:
    """Write the report into the test's own directory, which the command stands in, and return it."""
    ended = jarvis("sec", "fast", "-q", "-p", tree, "-o", "report.sarif")
    assert ended.code in (FINISHED, SOME_NOT_CHECKED)
    return Path("report.sarif").read_bytes()


def known(written: bytes) -> set[tuple[str, str, int]]:
    """Return where each finding is, and by what it is known again."""
    found = set()
    for one in json.loads(written)["runs"][0]["results"]:
        place = one["locations"][0]["physicalLocation"]
        mark = one["partialFingerprints"]["primaryLocationLineHash"]
        found.add((place["artifactLocation"]["uri"], mark, place["region"]["startLine"]))
    return found


def put_lines_on_top(tree: Path) -> int:
    edited = 0
    for path in tree.rglob("*"):
        if language_of(path.name.encode()) and path.is_file() and not path.is_symlink():
            path.write_bytes(b"\n" * LINES + path.read_bytes())
            edited += 1
    return edited
