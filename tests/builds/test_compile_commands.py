"""compile_commands.json: what is read from it, what is dropped, and what is refused."""

import json
import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.builds.compile_commands import CompileCommands, Invocation, collect_commands, read_database
from jarvis_workers.errors import UsageError
from jarvis_workers.source.clang.unit import CompileCommand
from tests.support.machine import assert_cpu_within

ROOT = "/home/me/zlib"


class FakeTree:
    """A tree of names; `texts` are response files, `elsewhere` files outside of the tree."""

    root = ROOT

    def __init__(self, *names: str, texts: Mapping[str, str] | None = None, elsewhere: tuple[str, ...] = ()) -> None:
        self._texts = {f"{ROOT}/{name}": text for name, text in (texts or {}).items()}
        self._files = {f"{ROOT}/{name}" for name in names} | set(elsewhere) | set(self._texts)

    def exists(self, path: str) -> bool:
        return path in self._files

    def resolve(self, path: str) -> str:
        return path.replace("/link/", f"{ROOT}/", 1) if path.startswith("/link/") else path

    def read(self, path: str) -> str | None:
        return self._texts.get(path)


def entry(command: str, file: str = "a.c", directory: str = ROOT) -> dict[str, str]:
    return {"directory": directory, "file": file, "command": command}


def read(tree: FakeTree, *entries: object) -> CompileCommands:
    return read_database(json.dumps(entries).encode(), "compile_commands.json", ROOT, tree)


def arguments(tree: FakeTree, command: str, directory: str = ROOT) -> tuple[str, ...]:
    [found] = read(tree, entry(command, directory=directory)).commands
    return found.arguments


def test_compiler_file_and_outputs_are_dropped_and_paths_are_relative_to_the_root() -> None:
    command = "gcc -DN=1 -Iinclude -I../shared -isystem /usr/include/glib -O2 -MD -MF a.d -o build/a.o -c ../a.c"

    found = read(FakeTree("a.c"), entry(command, "../a.c", f"{ROOT}/src")).commands

    assert found == (
        CompileCommand(
            b"a.c",
            b"src",
            ("-DN=1", "-I{root}/src/include", "-I{root}/shared", "-isystem", "/usr/include/glib", "-O2"),
        ),
    )


def test_quotes_are_those_of_a_shell() -> None:
    command = r"""cc "-DNAME=\"two words\"" -DX='a "b"' -I"my include" -Da\ b=c -c a.c"""

    assert arguments(FakeTree("a.c"), command) == ('-DNAME="two words"', '-DX=a "b"', "-I{root}/my include", "-Da b=c")


def test_arguments_as_a_list_are_taken_as_they_are() -> None:
    row = {"directory": ROOT, "file": "a b\n.c", "arguments": ["cc", "-DX='", "-I", "in c", "-c", "a b\n.c"]}

    assert read(FakeTree("a b\n.c"), row).commands == (CompileCommand(b"a b\n.c", b".", ("-DX='", "-I{root}/in c")),)


@pytest.mark.parametrize(
    "flag",
    [
        *("-fno-ipa-cp", "-fno-ipa-sra", "-fplugin=evil.so", "-Wl,-z,now", "-Werror", "-mtune=native", "-march=native"),
        *("-flto=auto", "-ffat-lto-objects", "-fanalyzer", "-specs=x", "-pipe", "-g3", "-std=c49", "-march=gibberish"),
        *(
            "-Xclang -load",
            "--param max-inline=3",
            "-L lib",
            "-fdiagnostics-color",
            "-save-temps",
            "-fno-semantic-interposition",
        ),
    ],
)
def test_what_only_gcc_has_or_loads_code_is_dropped(flag: str) -> None:
    assert arguments(FakeTree("a.c"), f"cc {flag} -DX -c a.c") == ("-DX",)


@pytest.mark.parametrize(
    ("flags", "left"),
    [
        ("-std=gnu99 -ansi -pthread -funsigned-char -fshort-enums -m32", None),
        ("-std=c2y", ("-std=c23",)),
        ("-Wp,-DA=1,-Iinc,-MD,a.d", ("-DA=1", "-I{root}/inc")),
        ("-Xpreprocessor -DA", ("-DA",)),
        ("--sysroot=/opt/sys --target=arm-linux -I=/inc", ("-isysroot", "/opt/sys", "--target=arm-linux", "-I=/inc")),
        ("-D A -U B -x c", ("-DA", "-UB")),
        ("-include config.h -include stdio.h", ("-include", "{root}/config.h", "-include", "stdio.h")),
        ("-march=haswell -mavx2 -mno-sse4.2", None),
    ],
)
def test_what_changes_the_meaning_of_a_source_stays(flags: str, left: tuple[str, ...] | None) -> None:
    expected = tuple(flags.split()) if left is None else left

    assert arguments(FakeTree("a.c", "config.h"), f"cc {flags} -c a.c") == expected


@pytest.mark.parametrize("launcher", ["ccache", "distcc ccache", "libtool --tag=CC --mode=compile", "A=1 nice -n 5"])
def test_launchers_before_the_compiler_are_dropped(launcher: str) -> None:
    assert arguments(FakeTree("a.c"), f"{launcher} /usr/bin/x86_64-linux-gnu-gcc-12 -DX -c a.c") == ("-DX",)


def test_a_c_file_compiled_as_cpp_has_its_language() -> None:
    assert arguments(FakeTree("a.c"), "g++ -DX -c a.c") == ("-x", "c++", "-DX")
    assert arguments(FakeTree("a.c"), "cc -x c++ -DX -c a.c") == ("-x", "c++", "-DX")


def test_response_files_are_expanded_also_nested_ones() -> None:
    tree = FakeTree("a.c", texts={"b/all.rsp": "-DX='1 2'\n@b/more.rsp", "b/more.rsp": "-Iinc"})

    assert arguments(tree, "cc @b/all.rsp @missing.rsp -c a.c") == ("-DX=1 2", "-I{root}/inc")


def test_response_files_that_include_each_other_are_refused() -> None:
    with pytest.raises(UsageError, match="entry 1: response files nested deeper than 10"):
        arguments(FakeTree("a.c", texts={"all.rsp": "@all.rsp"}), "cc @all.rsp -c a.c")


@pytest.mark.slow
def test_many_words_of_response_files_are_refused() -> None:
    texts = {f"{depth}": f"@{depth + 1} " * 10 for depth in range(9)} | {"9": "-DX"}

    with pytest.raises(UsageError, match="more than 200000 words"):
        arguments(FakeTree("a.c", texts=texts), "cc @0 -c a.c")


def test_paths_of_another_machine_are_mapped_by_what_follows_its_root() -> None:
    tree = FakeTree("src/a.c", "src/config.h")
    row = entry("cc -Iinclude -I/ci/work/zlib/src -I/opt/inc -include config.h -c a.c", "a.c", "/ci/work/zlib/src")

    assert read(tree, row).commands == (
        CompileCommand(
            b"src/a.c",
            b"src",
            ("-I{root}/src/include", "-I{root}/src", "-I/opt/inc", "-include", "{root}/src/config.h"),
        ),
    )


def test_a_symbolic_link_to_the_root_is_the_root() -> None:
    tree = FakeTree("src/a.c", elsewhere=("/link/src/a.c",))

    assert read(tree, entry("cc -I/link/inc -c a.c", "a.c", "/link/src")).commands == (
        CompileCommand(b"src/a.c", b"src", ("-I{root}/inc",)),
    )


def test_a_source_that_fits_nothing_is_an_error_with_its_name() -> None:
    rows = [entry("cc -c a.c"), entry("cc -c gone.c", "gone.c"), entry("cc -c lost.c", "lost.c")]

    with pytest.raises(UsageError) as raised:
        read(FakeTree("a.c"), *rows)

    assert str(raised.value) == (
        "compile_commands.json: entry 2: /home/me/zlib/gone.c does not exist (and 1 more); "
        "build the project, or correct its compile commands"
    )


def test_other_languages_and_files_outside_of_the_project_are_named() -> None:
    tree = FakeTree("a.c", "a.S", "k.cu", elsewhere=("/usr/src/gtest.c",))
    rows = [entry(f"cc -c {name}", name) for name in ("a.S", "k.cu", "a.c", "/usr/src/gtest.c")]

    found = read(tree, *rows)

    assert [command.file for command in found.commands] == [b"a.c"]
    assert found.warnings == ("not C or C++: a.S, k.cu", "outside the project: /usr/src/gtest.c")


def test_a_file_with_other_macros_is_another_unit_but_not_with_other_code_generation() -> None:
    flags = ("-O2", "-O2 -fPIC -DPIC", "-O0", "-DLARGE", "-DLARGE -fPIE", "-O2")

    found = read(FakeTree("a.c"), *(entry(f"cc {flag} -c a.c") for flag in flags))

    assert [command.arguments for command in found.commands] == [("-O2",), ("-DLARGE",)]


def test_the_units_of_a_file_are_bounded() -> None:
    found = read(FakeTree("a.c"), *(entry(f"cc -DN={number} -c a.c") for number in range(20)))

    assert len(found.commands) == 8
    assert found.warnings == ("compiled in more than 8 ways; only the first 8 are read: a.c",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"directory": "/x",\n "file" "a.c"}]', "db.json:2:9: not JSON: Expecting ':' delimiter"),
        ("", "db.json:1:1: not JSON: Expecting value"),
        ("[" * 100_000, "db.json: not JSON: nested too deeply"),
        ('{"a": 1}', "db.json: not a list of compile commands"),
        ("[3]", "db.json: entry 1: not an object"),
        ('[{"file": "a.c", "command": "cc a.c"}]', 'db.json: entry 1: "directory" is missing'),
        ('[{"directory": "/x", "file": 3, "command": "cc"}]', 'db.json: entry 1: "file" is not a path'),
        ('[{"directory": "/x", "file": "a.c"}]', 'db.json: entry 1: neither "command" nor "arguments"'),
        (
            '[{"directory": "/x", "file": "a.c", "arguments": "cc"}]',
            'db.json: entry 1: "arguments" is not a list of strings',
        ),
        (
            '[{"directory": "/x", "file": "a.c", "command": "cc \'a.c"}]',
            "db.json: entry 1: no closing quotation mark: 'a.c",
        ),
        (f"[{'9' * 5000}]", "db.json: not JSON: a number is too long"),
        ('[{"directory": "\\ud800", "file": "a.c", "command": "cc"}]', 'db.json: entry 1: "directory" is not a path'),
        (
            '[{"directory": "/x", "file": "a.c", "arguments": ["cc", "-D\\ud800"]}]',
            "db.json: entry 1: an argument contains NUL or an unpaired surrogate",
        ),
        (
            '[{"directory": "/x", "file": "a.c", "command": "cc -D\\u0000 a.c"}]',
            "db.json: entry 1: an argument contains NUL or an unpaired surrogate",
        ),
    ],
)
def test_a_broken_database_is_one_line_with_its_place(content: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_database(content.encode(), "db.json", ROOT, FakeTree("a.c"))

    assert str(raised.value) == message


def test_names_that_are_not_utf8_are_read() -> None:
    content = b'[{"directory": "/home/me/zlib", "file": "\xff.c", "command": "cc -c \xff.c"}]'

    [command] = read_database(content, "db.json", ROOT, FakeTree("\udcff.c")).commands

    assert command.file == b"\xff.c"


@pytest.mark.slow
def test_ten_thousand_entries_take_less_than_a_few_seconds() -> None:
    names = [f"src/module{number // 100}/file{number}.c" for number in range(10_000)]
    flags = " ".join([r"-DNAME=\"quoted\"", *(f"-I../include{number}" for number in range(20)), "-fno-ipa-cp"])
    rows = [entry(f"/usr/bin/gcc {flags} -c {name}", name) for name in names]
    tree, started = FakeTree(*names), time.process_time()

    found = read(tree, *rows)

    assert len(found.commands) == 10_000
    assert_cpu_within(10, since=started)


def test_a_long_word_of_many_quoted_pieces_is_split_in_time() -> None:
    started = time.process_time()

    assert arguments(FakeTree("a.c"), "cc -D" + "x'y'" * 300_000 + " -c a.c") == ("-D" + "xy" * 300_000,)
    assert_cpu_within(10, since=started)


WORDS = st.one_of(
    st.sampled_from(
        ["cc", "-I", "-I..", "-D", "-x", "-xc++", "-include", "@r", "-Wp,-D", "-o", "-std=", "--", "a.c", "-"]
    ),
    st.text(max_size=6),
)
ENTRIES = st.fixed_dictionaries(
    {"directory": st.text("./ab\0\udcff", max_size=8), "file": st.sampled_from(["a.c", "../a.c", "/x/a.c", "", "b"])},
    optional={"arguments": st.lists(WORDS, max_size=6), "command": st.lists(WORDS).map(" ".join), "output": st.none()},
)


@given(st.lists(st.one_of(ENTRIES, st.none(), st.integers()), max_size=3))
def test_whatever_the_entries_are_the_result_is_commands_or_one_line(entries: list[object]) -> None:
    tree = FakeTree("a.c", texts={"r": "-DX '"})
    try:
        found = read(tree, *entries)
    except UsageError as error:
        assert "\n" not in str(error)
    else:
        assert all(command.file == b"a.c" for command in found.commands)


def test_calls_of_a_compiler_without_a_file_compile_each_of_their_sources() -> None:
    words = ("cc", "-DX", "a.c", "lib.o", "sub/b.cc", "-lm", "-o", "prog")

    found = collect_commands([Invocation(ROOT, words, None, "record 1")], FakeTree("a.c", "sub/b.cc"))

    assert [(command.file, command.arguments) for command in found.commands] == [
        (b"a.c", ("-DX",)),
        (b"sub/b.cc", ("-DX",)),
    ]


@pytest.mark.parametrize("flag", ["-E", "-M", "-MM", "--version", "-fsyntax-only"])
def test_calls_that_do_not_compile_are_no_units(flag: str) -> None:
    found = collect_commands([Invocation(ROOT, ("cc", flag, "a.c"), None, "record 1")], FakeTree("a.c"))

    assert found.commands == ()


def test_the_order_of_entries_does_not_change_the_order_of_files() -> None:
    names = ["b.c", "a.c", "a/z.c"]
    rows = [entry(f"cc -c {name}", name) for name in names]

    assert read(FakeTree(*names), *rows) == read(FakeTree(*names), *reversed(rows))
