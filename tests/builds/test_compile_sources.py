"""Where the compile commands of a project come from."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_workers.builds.command_words import BuildCommands
from jarvis_workers.builds.compile_sources import CompileOptions, compile_commands_of, pack_selection
from jarvis_workers.errors import UsageError
from jarvis_workers.snapshots.entries import FileFound
from jarvis_workers.snapshots.walk import walk


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def database(root: Path, flag: str = "-DX") -> str:
    return json.dumps([{"directory": str(root), "file": "a.c", "command": f"cc {flag} -c a.c"}])


def flags(tree: Path, options: CompileOptions | None = None) -> dict[str, tuple[str, ...]]:
    plan = compile_commands_of(tree, options or CompileOptions())
    return {os.fsdecode(command.file): command.arguments for command in plan.commands}


@pytest.mark.parametrize(
    "place", ["compile_commands.json", "build/compile_commands.json", "build-debug/compile_commands.json"]
)
def test_a_database_at_the_root_or_in_a_build_directory_is_found(tmp_path: Path, place: str) -> None:
    write(tmp_path, {"a.c": "", "other.c": "", place: database(tmp_path)})

    assert flags(tmp_path) == {"a.c": ("-DX",)}


def test_of_several_databases_the_first_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    write(tmp_path, {"a.c": ""} | {f"build{n}/compile_commands.json": database(tmp_path, f"-DN={n}") for n in (1, 2)})

    plan = compile_commands_of(tmp_path, CompileOptions())

    assert plan.commands[0].arguments == ("-DN=1",)
    assert plan.warnings == ("not read: build2/compile_commands.json; choose one with --compile-commands",)


def test_the_database_that_the_user_names_wins(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"a.c": "", "compile_commands.json": "broken"})
    write(tmp_path, {"mine/compile_commands.json": database(tree)})

    assert flags(tree, CompileOptions(tmp_path / "mine/compile_commands.json")) == {"a.c": ("-DX",)}
    assert flags(tree, CompileOptions(tmp_path / "mine")) == {"a.c": ("-DX",)}


def test_a_database_that_is_missing_or_names_no_c_file_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, {"a.c": "", "a.s": "", "s.json": '[{"directory": ".", "file": "a.s", "command": "cc a.s"}]'})

    with pytest.raises(UsageError, match=r"--compile-commands .*gone.json: no such file"):
        flags(tmp_path, CompileOptions(tmp_path / "gone.json"))
    with pytest.raises(UsageError, match=r"s\.json: it lists no C or C\+\+ file"):
        flags(tmp_path, CompileOptions(tmp_path / "s.json"))


def test_a_database_and_a_build_exclude_each_other(tmp_path: Path) -> None:
    write(tmp_path, {"a.c": "", "compile_commands.json": database(tmp_path)})

    with pytest.raises(UsageError, match="--compile-commands cannot be combined with --build"):
        flags(tmp_path, CompileOptions(tmp_path / "compile_commands.json", commands=BuildCommands(build="make")))


def test_the_arguments_of_the_setting_apply_to_all_sources(tmp_path: Path) -> None:
    write(tmp_path, {"a.c": "", "b/c.c": "", "vendor/x.c": "", "inc/h.h": ""})

    found = flags(tmp_path, CompileOptions(arguments=("-Iinc", "-DX"), exclude_dirs=("vendor",)))

    assert found == {"a.c": ("-I{root}/inc", "-DX"), "b/c.c": ("-I{root}/inc", "-DX")}


def test_include_directories_are_guessed_with_a_warning(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "src/a.c": '#include "a.h"\n#include <zip/zip.h>\n # include "deep.h"\n#include <string.h>\n',
            "src/a.h": "",
            "include/zip/zip.h": "",
            "lib/inner/deep.h": "",
            "src/inner/deep.h": "",
            "compat/string.h": "",
        },
    )

    plan = compile_commands_of(tmp_path, CompileOptions())

    [command] = plan.commands
    assert command.arguments == ("-I{root}/src/inner", "-I{root}/include", "-I{root}/lib/inner")
    assert plan.warnings == (
        "no compile_commands.json: include directories are guessed; "
        "--build CMD records them from the project's own build",
    )


def test_a_tree_without_c_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, {"README": "", "only.h": ""})

    with pytest.raises(UsageError, match="no C or C\\+\\+ file; give the root of a C project with --path"):
        flags(tmp_path)
    with pytest.raises(UsageError, match="nothing: not a directory"):
        flags(tmp_path / "nothing")


def test_response_files_outside_of_the_project_are_refused(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"secret": "-DSECRET", "tree/a.c": "", "tree/compile_commands.json": database(tmp_path / "tree", "@../secret")},
    )

    with pytest.raises(UsageError, match=r"entry 1: .*a response file outside the project"):
        flags(tmp_path / "tree")


def test_the_files_that_units_may_include_are_packed_whatever_their_suffix(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.c": '#include "table.xpm"\n',
            "table.xpm": '#include "rows.dat"\n',
            "rows.dat": "",
            "unused.dat": "",
            "build/config.h": "",
            ".gitignore": "build",
            "compile_commands.json": database(tmp_path),
        },
    )

    selection = pack_selection(compile_commands_of(tmp_path, CompileOptions()))

    packed = {entry.path for entry in walk(tmp_path, selection) if isinstance(entry, FileFound)}
    assert packed == {b"a.c", b"table.xpm", b"rows.dat", b"build/config.h"}


@pytest.fixture
def public_path() -> Iterator[Path]:
    """A temporary directory that every user may enter."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def test_directories_that_cannot_be_read_are_named(public_path: Path) -> None:
    write(public_path, {"a.c": "", "closed/b.c": ""})
    (public_path / "closed").chmod(0)
    before = os.geteuid()
    os.seteuid(65534 if before == 0 else before)  # root may read everything
    try:
        plan = compile_commands_of(public_path, CompileOptions())
    finally:
        os.seteuid(before)
        (public_path / "closed").chmod(0o755)

    assert [command.file for command in plan.commands] == [b"a.c"]
    assert plan.warnings[-1] == "closed: Permission denied"
