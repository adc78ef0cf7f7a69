"""`--compile-commands`: scans read files with the macros of their build."""

import json
import os

from tests.cli.commands import Jarvis

CODE = "#include <string.h>\nvoid f(const char *text)\n{\n    char small[SMALL];\n    memcpy(small, text, 16);\n}\n"


def test_macros_of_the_build_count(jarvis: Jarvis) -> None:
    entry = {"directory": ".", "file": "src/a.c", "command": "cc -DSMALL=8 -c src/a.c"}
    jarvis.tree("tree", {"src/a.c": CODE, "build/compile_commands.json": json.dumps([entry | {"directory": ".."}])})

    ended = jarvis("sec", "fast", "-p", "tree", "--json", "--compile-commands", "tree/build")

    (issue,) = (one for one in json.loads(ended.out)["issues"] if one["pattern"].startswith("flow"))
    assert (issue["pattern"], issue["line"]) == ("flow_buffer_overflow", 5)


def test_files_that_the_build_compiles_are_scanned_whatever_their_names(jarvis: Jarvis) -> None:
    code = "#include <string.h>\nvoid {}(char *d, const char *s) {{ strcpy(d, s); }}\n"
    commands = {
        "src/impl.txt": "cc -x c -c src/impl.txt",
        "src/a.c": "cc -Igen -include src/forced.dat -include found.dat -imacros gone.dat -c src/a.c",
    }
    entries = [{"directory": ".", "file": file, "command": command} for file, command in commands.items()]
    others = ("src/impl.txt", "src/forced.dat", "gen/found.dat", "src/data.txt")
    files = {name: code.format(f"f{number}") for number, name in enumerate(others)} | {"src/a.c": "int i;\n"}
    jarvis.tree("tree", files | {"compile_commands.json": json.dumps(entries)})

    ended = jarvis("sec", "fast", "-p", "tree", "--json", "--compile-commands", "tree")

    issues = json.loads(ended.out)["issues"]
    assert {one["file"] for one in issues if one["pattern"] == "unsafe_api"} == set(others[:3])


def test_a_database_that_is_not_there_is_a_line(jarvis: Jarvis) -> None:
    jarvis.tree("tree", {"a.c": CODE})

    ended = jarvis("sec", "fast", "-p", "tree", "--compile-commands", "gone.json")

    assert (ended.code, ended.line) == (2, "jarvis: --compile-commands gone.json: no such file")


def test_a_database_that_is_no_regular_file_is_named_as_such(jarvis: Jarvis) -> None:
    os.mkfifo(jarvis.tree("tree", {"a.c": CODE}) / "pipe")

    ended = jarvis("sec", "fast", "-p", "tree", "--compile-commands", "tree/pipe")

    assert (ended.code, ended.line) == (2, "jarvis: --compile-commands tree/pipe: not a regular file")


def test_a_repository_on_a_server_has_no_database_here(jarvis: Jarvis) -> None:
    ended = jarvis("sec", "fast", "-p", "https://example.invalid/x.git", "--compile-commands", "gone.json")

    assert ended.code == 2
    assert "--compile-commands needs a directory on this machine" in ended.line
