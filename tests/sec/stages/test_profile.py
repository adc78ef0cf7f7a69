"""Times are taken of every rule and file, and of many jobs the slowest are named."""

import json

import pytest

from jarvis_workers.sec.scanner import Scanner
from jarvis_workers.sec.stages.scan_files import TOP, ProfiledScanner, merge
from jarvis_workers.snapshots.reader import Entry
from tests.cli.commands import COPY, SYSTEM


def entry(path: str) -> Entry:
    return Entry(path.encode(), len(COPY), "", 0, 0)


@pytest.mark.timing
def test_a_watched_scanner_finds_the_same_and_knows_how_long_it_took() -> None:
    watch = ProfiledScanner(Scanner())
    content = (COPY + SYSTEM).encode()
    watch.start()

    assert watch.scanner.scan(content, language="c/cpp") == Scanner().scan(content, language="c/cpp")
    watch.record(entry("a.c"))
    said = json.loads(watch.to_json())
    assert {name: calls for name, _, calls in said["rules"]}["unsafe_api"] >= 1
    assert [path for path, _, _ in said["files"]] == ["a.c"]
    assert said["seconds"] >= sum(seconds for _, seconds, _ in said["rules"]) > 0
    assert said["bytes"] == len(COPY)


@pytest.mark.timing
def test_a_watch_starts_anew_for_each_batch() -> None:
    watch = ProfiledScanner(Scanner())
    watch.record(entry("a.c"))
    watch.start()

    assert json.loads(watch.to_json()) == {"seconds": 0, "bytes": 0, "rules": [], "files": []}


def test_of_many_jobs_the_slowest_rules_and_files_are_named() -> None:
    def taken(number: int) -> str:
        times = {"seconds": 1.0, "bytes": 10}
        rules = [["slow", 0.5, 2], [f"rule{number:02}", number / 100, 1]]
        return json.dumps(times | {"rules": rules, "files": [[f"{number:02}.c", number / 10, 5]]})

    profile = merge(taken(number) for number in range(30))

    assert (profile["cpu_seconds"], profile["bytes"]) == (30.0, 300)
    assert profile["rules"][:2] == [
        {"rule": "slow", "seconds": 15.0, "calls": 60},
        {"rule": "rule29", "seconds": 0.29, "calls": 1},
    ]
    assert [file["file"] for file in profile["files"]] == [f"{number:02}.c" for number in range(29, 9, -1)]
    assert len(profile["rules"]) == TOP
