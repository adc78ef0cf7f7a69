"""`jarvis c2rust scan`: the files of a project, the exit codes, and its runs among those of other kinds."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Jarvis

HEADER = "struct pair { int x; };\nint helper(struct pair *p);\n"
HELPER = '#include "a.h"\nstatic int count;\nint helper(struct pair *p) { count++; return p->x; }\n'
MAIN = '#include "a.h"\nint main(void) { struct pair v = {1}; return helper(&v); }\n'
PROJECT = {"a.h": HEADER, "a.c": HELPER, "main.c": MAIN}


@pytest.fixture
def project(jarvis: Jarvis) -> Path:
    return jarvis.tree("project", PROJECT)


def symbols(project: Path, name: str = "symbols.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project / ".jarvis" / "c2rust" / name).read_text().splitlines()]


def test_a_scan_writes_the_symbols_and_the_order(jarvis: Jarvis, project: Path) -> None:
    ended = jarvis("c2rust", "scan", "-p", project)

    assert ended.code == 0
    assert ended.out.startswith("2 functions (2 lines), 1 types, 1 globals, 0 macros in 3 files; 1 calls, 1 roots")
    ids = {one["name"]: one["id"] for one in symbols(project)}
    assert list(ids) == ["count", "helper", "pair", "main"]
    assert symbols(project)[3]["ref"] == [ids["helper"], ids["pair"]]
    assert symbols(project) == symbols(project, "symbols_raw.jsonl")
    steps = symbols(project, "translation_order.jsonl")
    assert [step["items"][0]["name"] for step in steps] == ["pair", "helper", "main"]
    assert "helper" in (project / ".jarvis" / "c2rust" / "graph.dot").read_text()
    assert (project / ".jarvis" / ".gitignore").read_text().startswith("*\n")


def test_a_missing_header_is_named_and_its_unit_not_read(jarvis: Jarvis, project: Path) -> None:
    (project / "main.c").write_text('#include "gone.h"\n' + MAIN)

    ended = jarvis("c2rust", "scan", "-p", project)

    assert ended.code == 3
    assert "  main.c: main.c:1: 'gone.h' file not found\n" in ended.out
    assert "NOT CHECKED: 1 of 2 units, first main.c: main.c:1: 'gone.h' file not found" in ended.err
    assert "main" not in {one["name"] for one in symbols(project)}


def test_units_with_errors_are_taken_on_request(jarvis: Jarvis, project: Path) -> None:
    (project / "main.c").write_text('#include "gone.h"\n' + MAIN)

    ended = jarvis("c2rust", "scan", "-p", project, "--allow-errors")

    assert ended.code == 0
    by_name = {one["name"]: one for one in symbols(project)}
    assert (by_name["main"]["complete"], by_name["helper"]["complete"]) == (False, True)
    report = json.loads(jarvis("runs", "report", "last", "--json").out)
    assert any("main.c was read with errors: main.c:1: 'gone.h'" in warning for warning in report["graph"]["warnings"])


def test_a_directory_without_c_is_refused(jarvis: Jarvis) -> None:
    jarvis.tree("empty", {"notes.txt": "nothing\n"})

    ended = jarvis("c2rust", "scan", "-p", "empty")

    assert ended.code == 2
    assert "no C or C++ file" in ended.line


def test_its_runs_are_listed_shown_reported_and_exported(jarvis: Jarvis, project: Path, tmp_path: Path) -> None:
    jarvis("c2rust", "scan", "-p", project, "-q", "--label", "team=net")

    (listed,) = json.loads(jarvis("runs", "list", "--label", "team=net", "--json").out)
    assert (listed["kind"], listed["state"]) == ("c2rust.scan", "done")
    assert "symbols stage closed, 2/2 jobs" in jarvis("runs", "show", "last").out
    assert "\n2 functions (2 lines)" in jarvis("runs", "report", "last").out
    assert jarvis("runs", "report", "last", "--format", "markdown").code == 0
    assert "<title>project: symbol graph</title>" in jarvis("runs", "report", "last", "--format", "html").out
    assert jarvis("runs", "report", "last", "--format", "sarif").code == 2
    assert jarvis("runs", "wait", "last").code == 0
    jarvis("runs", "export", "last", "-d", tmp_path / "files")
    assert (tmp_path / "files" / "symbols.jsonl").read_bytes() == (
        project / ".jarvis" / "c2rust" / "symbols.jsonl"
    ).read_bytes()
