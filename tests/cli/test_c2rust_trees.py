"""`jarvis c2rust scan` over trees with symbolic links, special files, and files that cannot be packed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import Jarvis

HEADER = "static inline int one(void) { return 1; }\n"


def symbols(project: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project / ".jarvis/c2rust/symbols.jsonl").read_text().splitlines()]


def places(project: Path) -> list[tuple[str, str]]:
    return [(one["file"], one["name"]) for one in symbols(project)]


def commands(project: Path, *calls: str) -> None:
    rows = [{"directory": str(project), "file": call.split()[-1], "command": f"cc -c {call}"} for call in calls]
    (project / "compile_commands.json").write_text(json.dumps(rows))


def test_headers_and_sources_are_read_through_symbolic_links(jarvis: Jarvis) -> None:
    files = {
        "lib/one.h": HEADER,
        "lib/two.txt": "#define TWO 2\n",
        "src/a.c": '#include "config.h"\n#include "one.h"\n',
    }
    project = jarvis.tree(
        "project", files | {"b.c": "#include <lib/one.h>\n#include <two.h>\nint b(void) { return one(); }\n"}
    )
    for place in ("include", "work"):
        (project / place).mkdir()
    (project / "include" / "one.h").symlink_to("../lib/one.h")
    (project / "include" / "two.h").symlink_to(project / "lib" / "two.txt")
    (project / "include" / "lib").symlink_to("../lib")
    (project / "work" / "config.h").write_text("int configured;\n")
    (project / "work" / "a.c").symlink_to("../src/a.c")
    commands(project, "-Iinclude work/a.c", "-Iinclude b.c")

    ended = jarvis("c2rust", "scan", "-p", project)

    assert (ended.code, ended.err.count("not checked")) == (0, 0), ended.err
    # A file has one path, whichever link leads to it.
    assert places(project) == [
        ("b.c", "b"),
        ("lib/one.h", "one"),
        ("lib/two.txt", "TWO"),
        ("work/config.h", "configured"),
    ]


@pytest.mark.slow
def test_a_unit_is_read_again_after_a_link_has_another_target(jarvis: Jarvis) -> None:
    project = jarvis.tree("project", {"x/v.h": HEADER, "y/v.h": "static int two;\n", "a.c": "#include <v.h>\n"})
    commands(project, "-Iused a.c")
    found = []
    for target in ("x", "y", "x"):
        (project / "used").unlink(missing_ok=True)
        (project / "used").symlink_to(target)
        assert jarvis("c2rust", "scan", "-p", project).code == 0
        found += places(project)

    assert found == [("x/v.h", "one"), ("y/v.h", "two"), ("x/v.h", "one")]


def test_special_files_and_links_that_no_unit_reads_change_nothing(jarvis: Jarvis) -> None:
    project = jarvis.tree("project", {"a.c": "int a(void) { return 1; }\n"})
    os.mkfifo(project / "pipe.h")
    (project / "gone.h").symlink_to("nowhere.h")
    (project / "outside.h").symlink_to("/etc/hostname")
    (project / "loop.h").symlink_to("loop.h")
    (project / "up").symlink_to(".")

    ended = jarvis("c2rust", "scan", "-p", project)

    assert (ended.code, places(project)) == (0, [("a.c", "a")]), ended.err


@pytest.mark.slow
def test_paths_longer_than_the_system_allows_are_no_files(jarvis: Jarvis) -> None:
    project = jarvis.tree("project", {"a.c": "int a(void) { return 1; }\n"})
    long = "x/" * 3000
    row = {
        "directory": long,
        "file": str(project / "a.c"),
        "arguments": ["cc", "-include", "y" * 5000, "@" + "z" * 5000],
    }
    database = project / "compile_commands.json"
    database.write_text(json.dumps([row]))

    ended = jarvis("c2rust", "scan", "-p", project)

    assert ended.code == 3 and "NOT CHECKED: 1 of 1 units, first a.c: " in ended.err
    database.write_text(json.dumps([{**row, "file": f"{long}gone.c"}]))
    ended = jarvis("c2rust", "scan", "-p", project)
    assert ended.code == 2 and "gone.c does not exist" in ended.err


@pytest.mark.slow
def test_a_file_that_is_too_large_to_be_packed_is_named(jarvis: Jarvis) -> None:
    project = jarvis.tree("project", {"a.c": "int a(void) { return 1; }\n"})
    with (project / "large.h").open("wb") as file:
        file.truncate(65_000_000)

    ended = jarvis("c2rust", "scan", "-p", project)

    assert ended.code == 3
    assert "; not read: large.h: " in ended.err
    assert "large.h was not read: " in jarvis("runs", "report", "last").out
