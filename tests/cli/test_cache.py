"""The second scan is spared what the first has found out, and reports the same."""

import json
import resource
from pathlib import Path

import pytest

from tests.cli.commands import COPY, SYSTEM, UNSAFE, Jarvis

FILES: dict[str, str | bytes] = {"a.c": COPY, "src/b.c": SYSTEM, "src/c.c": "int a;\n", "lib.rs": UNSAFE}


@pytest.fixture
def tree(jarvis: Jarvis) -> Path:
    return jarvis.tree("tree", FILES)


def report(jarvis: Jarvis, tree: Path, *options: str) -> tuple[dict[str, object], int]:
    """Return the report but for its `run` part, and how many of its files were known."""
    ended = jarvis("sec", "fast", "-q", "-p", tree, "--format", "json", *options)
    assert ended.code == 0, ended.err
    body = json.loads(ended.out)
    return body, body.pop("run")["stages"]["scan"]["cached"]


@pytest.mark.slow
def test_with_and_without_the_cache_the_report_is_the_same(jarvis: Jarvis, tree: Path) -> None:
    first, before = report(jarvis, tree)
    second, known = report(jarvis, tree)
    third, unknown = report(jarvis, tree, "--no-cache")

    assert (before, known, unknown) == (0, 4, 0)
    assert first == second == third


@pytest.mark.slow
def test_when_everything_is_known_no_child_is_started(
    jarvis: Jarvis, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JARVIS_PROCESSES", "1")
    for number in range(50):  # else it would be a small scan, in a fork
        (tree / f"{number}.c").write_text("int a;\n")

    def cpu_of_children() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        report(jarvis, tree)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 6)

    assert cpu_of_children() > 0
    assert cpu_of_children() == 0


@pytest.mark.slow
def test_show_and_doctor_tell_what_was_known(jarvis: Jarvis, tree: Path) -> None:
    report(jarvis, tree)
    report(jarvis, tree)

    assert "4 of 4 files cached" in jarvis("runs", "show", "last").out
    assert "MB of at most 500 MB" in jarvis("doctor").out


@pytest.mark.slow
def test_what_is_known_can_be_forgotten(jarvis: Jarvis, tree: Path) -> None:
    report(jarvis, tree)
    assert "MB of cached results" in jarvis("runs", "prune", "--cache").err

    assert report(jarvis, tree)[1] == 0


@pytest.mark.slow
def test_a_cache_of_no_size_is_none(jarvis: Jarvis, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JARVIS_CACHE__MAX_MB", "0")
    for _ in range(2):
        assert report(jarvis, tree)[1] == 0

    assert "off: every file is scanned again" in jarvis("doctor").out


@pytest.mark.slow
def test_a_profile_is_told_and_reported_and_changes_nothing_else(jarvis: Jarvis, tree: Path) -> None:
    plain, _ = report(jarvis, tree)
    ended = jarvis("sec", "fast", "-p", tree, "--format", "json", "--profile")
    body = json.loads(ended.out)
    run = body.pop("run")

    assert body == plain
    assert run["stages"]["scan"]["cached"] == 0
    assert {file["file"] for file in run["profile"]["files"]} == {"a.c", "src/b.c", "src/c.c", "lib.rs"}
    assert {rule["rule"] for rule in run["profile"]["rules"]} > {"unsafe_api", "unsafe"}
    assert "RULE" in ended.err
    assert "  unsafe_api\n" in ended.err
