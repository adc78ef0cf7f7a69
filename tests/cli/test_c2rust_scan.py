"""`jarvis c2rust scan`: the files of a project, the exit codes, and its runs among those of other kinds."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.c2rust.runs.pictures import dot_program
from tests.cli.commands import Jarvis
from tests.support.servers import missing

HEADER = "struct pair { int x; };\nint helper(struct pair *p);\n"
HELPER = '#include "a.h"\nstatic int count;\nint helper(struct pair *p) { count++; return p->x; }\n'
MAIN = '#include "a.h"\nint main(void) { struct pair v = {1}; return helper(&v); }\n'
PROJECT: dict[str, str | bytes] = {"a.h": HEADER, "a.c": HELPER, "main.c": MAIN}


@pytest.fixture
def project(jarvis: Jarvis) -> Path:
    return jarvis.tree("project", PROJECT)


def symbols(project: Path, name: str = "symbols.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project / ".jarvis" / "c2rust" / name).read_text().splitlines()]


def test_a_scan_writes_the_symbols_and_the_order(jarvis: Jarvis, project: Path) -> None:
    ended = jarvis("c2rust", "scan", "-p", project)

    assert ended.code == 0
    assert ended.out.startswith("2 functions (2 lines), 1 type, 1 global, 0 macros in 3 files; 1 call, 1 root")
    ids = {one["name"]: one["id"] for one in symbols(project)}
    assert list(ids) == ["count", "helper", "pair", "main"]
    assert symbols(project)[3]["ref"] == [ids["helper"], ids["pair"]]
    assert symbols(project) == symbols(project, "symbols_raw.jsonl")
    steps = symbols(project, "translation_order.jsonl")
    assert [step["items"][0]["name"] for step in steps] == ["pair", "helper", "main"]
    assert "helper" in (project / ".jarvis" / "c2rust" / "graph.dot").read_text()
    assert (project / ".jarvis" / ".gitignore").read_text().startswith("*\n")


@pytest.mark.slow
def test_the_language_of_its_report_is_that_of_the_run(
    jarvis: Jarvis, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = jarvis("c2rust", "scan", "-p", project, "--lang", "zh")
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")

    assert ended.out.startswith("2 个函数（2 行）、1 个类型、1 个全局变量、0 个宏，位于 3 个文件；1 处调用，1 个根函数")
    assert '<html lang="zh-CN">' in (project / ".jarvis" / "c2rust" / "graph.html").read_text()
    assert "\n2 个函数（2 行）" in jarvis("runs", "report", "last").out
    assert jarvis("runs", "report", "last", "--format", "markdown").out.startswith("# 符号图")


@pytest.mark.slow
def test_symbols_that_a_person_has_edited_survive_another_scan(jarvis: Jarvis, project: Path) -> None:
    jarvis("c2rust", "scan", "-p", project)
    path = project / ".jarvis" / "c2rust" / "symbols.jsonl"
    edited = "".join(path.read_text().splitlines(keepends=True)[1:])
    path.write_text(edited)

    first, second = (jarvis("c2rust", "scan", "-p", project) for _ in range(2))

    assert f"{path} was edited after the last scan: renamed to symbols.jsonl.orig" in first.err
    assert "edited" not in second.err
    assert path.with_name("symbols.jsonl.orig").read_text() == edited
    assert symbols(project) == symbols(project, "symbols_raw.jsonl")


@pytest.mark.slow
def test_a_missing_header_is_named_and_its_unit_not_read(jarvis: Jarvis, project: Path) -> None:
    (project / "main.c").write_text('#include "gone.h"\n' + MAIN)

    ended = jarvis("c2rust", "scan", "-p", project)

    assert ended.code == 3
    assert "  main.c: main.c:1: 'gone.h' file not found\n" in ended.out
    assert "NOT CHECKED: 1 of 2 units, first main.c: main.c:1: 'gone.h' file not found" in ended.err
    assert "main" not in {one["name"] for one in symbols(project)}


def test_units_are_read_whose_working_directory_has_no_file_of_the_project(jarvis: Jarvis, project: Path) -> None:
    directory = project / "build" / "lib"
    directory.mkdir(parents=True)
    (project / "sub").mkdir()
    (project / "a.h").rename(project / "sub" / "a.h")
    command = {"directory": str(directory), "file": "../../main.c", "arguments": ["cc", "-I../../sub", "../../main.c"]}
    (project / "compile_commands.json").write_text(json.dumps([command]))

    ended = jarvis("c2rust", "scan", "-p", project)

    assert (ended.code, [one["name"] for one in symbols(project)]) == (0, ["main", "pair"])


def test_units_with_errors_are_taken_on_request(jarvis: Jarvis, project: Path) -> None:
    (project / "main.c").write_text('#include "gone.h"\n' + MAIN)

    ended = jarvis("c2rust", "scan", "-p", project, "--allow-errors")

    assert ended.code == 0
    assert "1 symbol has no error-free definition: edges may be missing" in ended.out
    assert "c2rust.scan  done" in jarvis("runs", "list").out
    by_name = {one["name"]: one for one in symbols(project)}
    assert (by_name["main"]["complete"], by_name["helper"]["complete"]) == (False, True)
    report = json.loads(jarvis("runs", "report", "last", "--json").out)
    assert any("main.c was read with errors: main.c:1: 'gone.h'" in warning for warning in report["graph"]["warnings"])


def test_a_directory_without_c_is_refused(jarvis: Jarvis) -> None:
    jarvis.tree("empty", {"notes.txt": "nothing\n"})

    ended = jarvis("c2rust", "scan", "-p", "empty")

    assert ended.code == 2
    assert "no C or C++ file" in ended.line


@pytest.mark.slow
def test_its_runs_are_listed_shown_reported_and_exported(jarvis: Jarvis, project: Path, tmp_path: Path) -> None:
    jarvis("c2rust", "scan", "-p", project, "-q", "--label", "team=net")

    (listed,) = json.loads(jarvis("runs", "list", "--label", "team=net", "--json").out)
    assert (listed["kind"], listed["state"]) == ("c2rust.scan", "done")
    assert "symbols stage closed, 2/2 batches of units" in jarvis("runs", "show", "last").out
    assert "\n2 functions (2 lines)" in jarvis("runs", "report", "last").out
    assert jarvis("runs", "report", "last", "--format", "markdown").code == 0
    assert "<title>project: symbol graph</title>" in jarvis("runs", "report", "last", "--format", "html").out
    assert jarvis("runs", "report", "last", "--format", "sarif").code == 2
    assert jarvis("runs", "wait", "last").code == 0
    jarvis("runs", "export", "last", "-d", tmp_path / "files")
    assert (tmp_path / "files" / "symbols.jsonl").read_bytes() == (
        project / ".jarvis" / "c2rust" / "symbols.jsonl"
    ).read_bytes()


def parsed(jarvis: Jarvis, project: Path) -> int:
    """Scan, and return how many units were parsed rather than taken from the cache."""
    assert jarvis("c2rust", "scan", "-p", project, "-q").code == 0
    stage = json.loads(jarvis("runs", "show", "last", "--json").out)["stages"]["symbols"]
    return int(stage["files"]) - int(stage["cached"])


@pytest.mark.slow
def test_only_what_a_change_may_affect_is_parsed_again(jarvis: Jarvis, project: Path) -> None:
    (project / "alone.c").write_text("#include <stddef.h>\nsize_t alone(void) { return 1; }\n")
    assert parsed(jarvis, project) == 3
    first = symbols(project)
    assert parsed(jarvis, project) == 0
    assert symbols(project) == first

    (project / "a.h").write_text(HEADER + "int more(void);\n")
    assert parsed(jarvis, project) == 2
    (project / "a.h").write_text(HEADER)
    assert parsed(jarvis, project) == 0
    assert symbols(project) == first


@pytest.mark.slow
def test_a_header_that_would_be_found_first_counts(jarvis: Jarvis, tmp_path: Path) -> None:
    project = jarvis.tree("two", {"a.c": '#include "x.h"\nint f(void) { return X; }\n', "old/x.h": "#define X 1\n"})
    command = {"directory": str(project), "file": "a.c", "arguments": ["cc", "-Inew", "-Iold", "-c", "a.c"]}
    (project / "compile_commands.json").write_text(json.dumps([command]))
    (project / "new").mkdir()
    assert [parsed(jarvis, project), parsed(jarvis, project)] == [1, 0]

    (project / "new" / "x.h").write_text("#define X 2\n")

    assert parsed(jarvis, project) == 1
    assert [one["file"] for one in symbols(project) if one["name"] == "X"] == ["new/x.h"]


@pytest.mark.slow
@pytest.mark.parametrize("question", ['__has_include("y.h")', '__has_\\\ninclude("y.h")', 'ASK("y.h")'])
def test_a_unit_that_asks_for_headers_is_parsed_each_time(jarvis: Jarvis, question: str) -> None:
    text = f"#if {question}\nint with(void) {{ return 1; }}\n#endif\nint f(void) {{ return 1; }}\n"
    project = jarvis.tree("asking", {"a.c": text})
    command = {"directory": str(project), "file": "a.c", "arguments": ["cc", "-DASK=__has_include", "a.c"]}
    if question.startswith("ASK"):
        (project / "compile_commands.json").write_text(json.dumps([command]))
    assert [parsed(jarvis, project), parsed(jarvis, project)] == [1, 1]

    (project / "y.h").write_text("\n")

    assert parsed(jarvis, project) == 1
    assert {one["name"] for one in symbols(project)} == {"with", "f"}


@pytest.mark.slow
def test_graphs_are_written_and_drawn_beside_a_scan(jarvis: Jarvis, project: Path) -> None:
    if dot_program() is None:
        missing("dot")
    ended = jarvis("c2rust", "scan", "-p", project, "--dot", "calls.dot", "--subgraphs-dir", "roots")

    assert ended.code == 0
    assert "helper" in (jarvis.place / "calls.dot").read_text()
    assert (jarvis.place / "calls.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.suffix for path in (jarvis.place / "roots").iterdir()) == [".dot", ".png"]
    assert "4 graph files" in ended.err


@pytest.mark.slow
def test_graphs_of_an_earlier_scan_need_none(jarvis: Jarvis, project: Path) -> None:
    assert jarvis("c2rust", "scan", "-p", project, "--only-dot").code == 2
    jarvis("c2rust", "scan", "-p", project)
    listed = jarvis("runs", "list", "--json").out
    ended = jarvis("c2rust", "scan", "-p", project, "--only-dot", "--only-subgraphs", "--no-png")

    assert ended.code == 0 and "2 graph files" in ended.err
    assert not list((project / ".jarvis" / "c2rust").glob("**/*.png"))
    assert jarvis("runs", "list", "--json").out == listed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--detach", "--dot", "x.dot"), "leave out --detach"),
        (("-p", "https://host/x.git", "--dot", "x.dot"), "need a project on this machine"),
    ],
)
def test_graphs_need_a_result_on_this_machine(
    jarvis: Jarvis, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], message: str
) -> None:
    monkeypatch.setenv("JARVIS_BROKER_URL", "redis://127.0.0.1:1/0")
    ended = jarvis("c2rust", "scan", *options)

    assert ended.code == 2 and message in ended.err


@pytest.mark.slow
def test_a_unit_that_kills_clang_costs_itself_alone(jarvis: Jarvis, project: Path) -> None:
    (project / "deep.c").write_text(f"int deep(int x) {{ return {'-~' * 300_000}x; }}\n")

    ended = jarvis("c2rust", "scan", "-p", project)

    assert ended.code == 3
    assert "  deep.c: its process was killed by SIGSEGV\n" in ended.out
    assert {"helper", "main"} <= {one["name"] for one in symbols(project)}
    assert "its process was killed" in (project / ".jarvis" / "c2rust" / "graph.html").read_text()


@pytest.mark.slow
def test_a_named_scan_is_not_repeated(jarvis: Jarvis, project: Path) -> None:
    assert jarvis("c2rust", "scan", "-p", project, "-q", "--name", "nightly").code == 0
    again = jarvis("c2rust", "scan", "-p", project, "--name", "nightly")

    assert (again.code, "which has ended" in again.err) == (0, True)
    assert len(json.loads(jarvis("runs", "list", "--json").out)) == 1
    assert jarvis("c2rust", "scan", "-p", project, "--name", "nightly", "--allow-errors").code == 2


@pytest.mark.slow
def test_names_of_files_may_be_any_bytes(jarvis: Jarvis) -> None:
    root = bytes(jarvis.place / "odd")
    os.makedirs(root + b"/d d")  # noqa: PTH103  (bytes)
    contents = {
        b"d d/h h.h": b"#define X 1\n",
        b"d d/a\n\xff b.c": b'#include "h h.h"\nint f(void) { return X; }\n',
        b"bad\xfe.c": b"int f( {\n",
    }
    for name, text in contents.items():
        with open(root + b"/" + name, "wb") as file:  # noqa: PTH123  (bytes)
            file.write(text)

    ended = jarvis("c2rust", "scan", "-p", "odd")

    assert ended.code == 3
    assert "  bad\\xfe.c: bad\\xfe.c:1: expected parameter declarator (and 2 more)\n" in ended.out
    assert [one["file"] for one in symbols(jarvis.place / "odd")] == ["d d/a\n\\xff b.c", "d d/h h.h"]
    assert "d d/a\\n\\xff b.c:2" in jarvis("c2rust", "symbols", "f", "-p", "odd").out


@pytest.mark.slow
def test_a_unit_that_waits_is_ended_before_its_job(
    jarvis: Jarvis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "waiting.h")
    project = jarvis.tree("waits", {"a.c": f'#include "{tmp_path}/waiting.h"\n'})
    monkeypatch.setenv("JARVIS_SCAN__HARD_LIMIT_SECONDS", "2")

    ended = jarvis("c2rust", "scan", "-p", project)

    assert ended.code == 3
    assert "  a.c: exceeded the limit of 0.9 s\n" in ended.out
