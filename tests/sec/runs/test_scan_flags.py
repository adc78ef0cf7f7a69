"""The compile_commands.json of a scan gives each file its macros and include directories."""

import json
from pathlib import Path

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.sec.runs.scan_flags import flags_of_files
from jarvis_workers.sec.stages.build_flags import FileFlags, encode_flags


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("src/a.c", "src/b.c"):
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_text("int i;\n")
    return tmp_path / "tree"


def database(tree: Path, *commands: tuple[str, str]) -> Path:
    entries = [{"directory": f"{tree}/src", "file": file, "command": command} for file, command in commands]
    (tree / "compile_commands.json").write_text(json.dumps(entries))
    return tree / "compile_commands.json"


def test_macros_and_directories_below_the_root_are_taken(tree: Path) -> None:
    command = (
        "cc -DA -DB=2 '-DF(x)=((x) + 1)' -DC=1 -UC -DB=3 -I../inc -I . -isystem /usr/include -I/elsewhere -O2 -c a.c"
    )

    blob = flags_of_files(tree, database(tree, ("a.c", command), ("b.c", "cc -c b.c"), ("a.c", "cc -DLATER -c a.c")))

    first = FileFlags(("A", "F(x)=((x) + 1)", "B=3"), ("inc", "src"))
    assert blob == encode_flags({"src/a.c": first, "src/b.c": FileFlags()})


def test_a_file_that_an_option_includes_has_the_flags_of_its_own_command_first(tree: Path) -> None:
    commands = (("a.c", "cc -DA -include b.c -include x.dat -I. -c a.c"), ("b.c", "cc -DB -c b.c"))

    a, b = FileFlags(("A",), ("src",)), FileFlags(("B",))
    expected = encode_flags({"src/a.c": a, "src/b.c": b, "src/x.dat": a})
    assert flags_of_files(tree, database(tree, *commands)) == expected


def test_files_that_are_not_there_do_not_matter(tree: Path) -> None:
    assert b"gone" not in flags_of_files(tree, database(tree, ("a.c", "cc -DA -c a.c"), ("gone.c", "cc -c gone.c")))


def test_hostile_macros_are_left_out(tree: Path) -> None:
    words = [f"-D{'A' * 400}", "-D9=1", "-D", "-DX=\x1b[2J", *(f"-DM{number}" for number in range(600)), "-DLAST=1"]
    entry = {"directory": f"{tree}/src", "file": "a.c", "arguments": ["cc", *words, "-c", "a.c"]}
    (tree / "flags.json").write_text(json.dumps([entry]))

    (defines, _), *_ = json.loads(flags_of_files(tree, tree / "flags.json"))["flags"]

    assert len(defines) == 500
    assert {"M0", "M499"} <= set(defines)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no such file"),
        ("[{", "compile_commands.json:1:3: not JSON"),
        ("{}", "compile_commands.json: not a list of compile commands"),
        ("[]", "lists no C or C++ file below"),
        ('[{"directory": "/", "file": "x.c", "command": "cc \'"}]', "entry 1: no closing quotation mark"),
    ],
)
def test_a_file_that_makes_no_sense_is_a_line(tree: Path, content: str | None, says: str) -> None:
    if content is not None:
        (tree / "compile_commands.json").write_text(content)

    with pytest.raises(UsageError) as problem:
        flags_of_files(tree, tree / "compile_commands.json")

    assert says in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_tree_that_is_not_here_has_no_flags(tree: Path) -> None:
    with pytest.raises(UsageError, match="is not a directory here"):
        flags_of_files(tree / "gone", database(tree))
