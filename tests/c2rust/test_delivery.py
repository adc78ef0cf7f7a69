"""The user's crate: it builds by cargo alone, has the programs of the project, and behaves as C does."""

import subprocess
from pathlib import Path

import pytest

from jarvis_workers.c2rust.delivery import included_files, programs_of, units_of
from jarvis_workers.source.clang.definitions import read_definitions
from jarvis_workers.toolchain.headers import builtin_headers
from tests.c2rust.deliveries import build, command, delivery, output, refusals, translated

PROGRAMS = {
    "lib.h": "int twice(int a); const char *name(void); int count(void);\n",
    "lib.c": '#include <stdio.h>\n#include "lib.h"\nint twice(int a) { printf("%s ", name()); return 2 * a; }\n',
    "one.c": '#include <stdio.h>\n#include "lib.h"\nconst char *name(void) { return "one"; }\n'
    'int main(int n, char **v) { printf("%d %s", twice(n), v[n - 1]); return 0; }\n',
    "two.c": '#include <stdio.h>\n#include "lib.h"\nconst char *name(void) { return "two"; }\n'
    'int main(void) { printf("%d", twice(21)); return 0; }\n',
}


def test_a_program_has_the_name_that_the_build_gave_it(tmp_path: Path) -> None:
    names = ("tool_bin.c", "example.c", "a.c", "b.c")
    project = translated(tmp_path, dict.fromkeys(names, "int main(void) { return 0; }\n")).project
    built = {
        "tool_bin__main": ["tool"],
        "example__main": ["example64", "example", "examplesh"],
        "a__main": ["same"],
        "b__main": ["same"],
    }

    assert sorted(one.name for one in programs_of(project, built)) == ["a", "b", "example", "tool"]


def test_functions_and_variables_have_their_assembler_names(tmp_path: Path) -> None:
    declared = 'extern int old __asm__("other"); int open_it(void) __asm__("open64"); int plain(void);\n'
    text = declared + "int f(void) { return old + open_it() + plain(); }\n"

    assert translated(tmp_path, {"a.c": text}).declarations() == {
        "old": '#[link_name = "other"]\npub static mut old: i32;',
        "open_it": '#[link_name = "open64"]\npub fn open_it() -> i32;',
        "plain": "pub fn plain() -> i32;",
    }


def test_each_file_with_a_main_is_a_program_with_a_name_that_cargo_accepts(tmp_path: Path) -> None:
    names = ("a.c", "x/b.c", "y/b.c", "x/test.c", "3d.c", "q.r.c")
    project = translated(tmp_path, dict.fromkeys(names, "int main(void) { return 0; }\n"))

    assert {one.file: one.name for one in programs_of(project.project)} == {
        "a.c": "a",
        "x/b.c": "x_b",
        "y/b.c": "y_b",
        "x/test.c": "program_test",
        "3d.c": "program_3d",
        "q.r.c": "q_r",
    }
    assert refusals(project) == {}


@pytest.mark.slow
@pytest.mark.parametrize("remaining", [(), ("one__main", "two__main", "twice")], ids=["in Rust", "in C"])
def test_programs_of_the_crate_do_what_those_in_c_do(tmp_path: Path, remaining: tuple[str, ...]) -> None:
    crate = delivery(tmp_path, PROGRAMS, remaining=remaining)
    build(tmp_path / "crate", crate.files)

    assert output(tmp_path / "crate", "one", "x") == "one 4 x"
    assert output(tmp_path / "crate", "two") == "two 42"


STATE = """static int seen = 1;
static const int table[] = { 3, 4 };
static int bump(void) { static int calls; return ++calls; }
static int pure(int a) { return table[a & 1]; }
static int indirect(void) { return bump(); }
"""


def test_a_static_variable_of_a_header_is_one_for_each_file(tmp_path: Path) -> None:
    use = '#include "s.h"\nint {0}(void) {{ return seen += {1}; }}\nint pure_{0}(void) {{ return pure(1); }}\n'
    files = {"s.h": STATE, "a.c": use.format("a", 1), "b.c": use.format("b", 2)}
    project = translated(tmp_path, files)
    texts = {one.item.slot: one.body.text for one in project.items if one.body}

    assert {"a__seen", "b__seen"} <= texts.keys()
    assert "a__seen" in texts["a"] and "b__seen" in texts["b"]
    assert "table" in texts["s__pure"]


def test_a_static_function_of_a_header_with_state_stays_c_and_so_do_its_callers(tmp_path: Path) -> None:
    files = {"s.h": STATE, "a.c": '#include "s.h"\nint a(void) { return indirect(); }\n', "b.c": '#include "s.h"\n'}

    assert refusals(translated(tmp_path, files)) == {
        "s__bump": "a static function in a header; each file has its own copy of its static variables",
        "s__indirect": "uses bump; each file has its own copy of it",
        "a": "uses indirect; each file has its own copy of it",
    }
    files.pop("b.c")
    assert refusals(translated(tmp_path / "alone", files)) == {}


def test_a_source_that_tests_include_has_one_copy_in_each_program(tmp_path: Path) -> None:
    library = "static int calls;\nstatic int count(void) { return ++calls; }\nint next(void) { return count(); }\n"
    test = '#include "lib.c"\nint main(void) {{ return next() != {0}; }}\n'
    files = {"lib.c": library, "one.c": test.format(1), "two.c": test.format("count() - 1")}

    assert refusals(translated(tmp_path, files)) == {}


def test_a_function_that_differs_between_variants_of_its_file_stays_c(tmp_path: Path) -> None:
    text = "#ifndef N\n#define N 1\n#endif\nint same(void) { return 1; }\nint differs(void) { return N; }\n"
    text += "#ifdef OTHER\nint moved(void) { return 1; }\n#else\nint moved(void) { return 1; }\n#endif\n"
    commands = [command("a.c"), command("a.c", "-DN=2"), command("a.c", "-DOTHER")]

    found = refusals(translated(tmp_path, {"a.c": text}, commands))
    assert found == dict.fromkeys(["differs", "moved"], "compiled in several variants, which differ by macros")


TESTABLE = """#ifdef TESTS
#define STATIC
int twice(int);
#else
#define STATIC static
#endif
STATIC int twice(int a) { return a * 2; }
int four(int a) { return twice(twice(a)); }
"""


def test_what_is_static_in_one_variant_of_a_file_and_global_in_another_is_one(tmp_path: Path) -> None:
    files = {"a.c": TESTABLE, "t.c": "int twice(int), four(int);\nint main(void) { return twice(1) + four(1) != 6; }\n"}
    project = translated(tmp_path, files, [command("a.c"), command("a.c", "-DTESTS"), command("t.c")])

    assert refusals(project) == {}
    texts = {one.item.slot: one.body.text for one in project.items if one.body}
    assert sorted(texts) == ["a__twice", "four", "t__main"]
    assert "twice(1)" in texts["t__main"] and "twice(twice(a))" in texts["four"]


def test_of_the_units_of_a_file_the_one_with_all_symbols_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(TESTABLE)
    commands = [command("a.c"), command("a.c", "-DTESTS")]
    read = {index: read_definitions(tmp_path, commands[index], builtin_headers(None)) for index in (0, 1)}

    assert units_of(commands, read) == [commands[1]]
    assert units_of(commands, read, [b"a.c"]) == [commands[0]]


def test_a_template_that_is_compiled_for_several_types_stays_c_where_its_copies_differ(tmp_path: Path) -> None:
    text = "#define C(a, b) a##b\n#define D(a, b) C(a, b)\nstatic T half(T a) { return a / 2; }\n"
    text += "T D(sum_, T)(T a) { return half(a) + 1; }\nstatic int n;\nint D(count_, T)(void) { return ++n; }\n"
    commands = [command("a.c", "-DT=int"), command("a.c", "-DT=short")]

    found = refusals(translated(tmp_path, {"a.c": text}, commands))
    assert found == {
        "a__half": "compiled in several variants, which differ by macros",
        "count_int": "uses n; each file has its own copy of it",
        "count_short": "uses n; each file has its own copy of it",
        "sum_int": "uses half; each file has its own copy of it",
        "sum_short": "uses half; each file has its own copy of it",
    }


def test_includes_of_a_file_that_was_not_read_are_found_by_the_ends_of_their_paths() -> None:
    files = {
        b"src/a.c": b'#include <stdio.h>\n # include "../inc/x.h"\n#include "missing.h"\n',
        b"inc/x.h": b"#include <sub/y.h>\n",
        b"lib/sub/y.h": b'#include "x.h"\n',
        b"lib/y.h": b"",
        b"other/z.h": b"",
    }

    assert included_files(b"src/a.c", files.keys(), lambda one: files[one]) == {b"inc/x.h", b"lib/sub/y.h"}


def test_a_file_is_compiled_once_for_each_set_of_symbols(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("#ifdef B\nint b(void) { return 1; }\n#else\nint a(void) { return 2; }\n#endif\n")
    commands = [command("a.c"), command("a.c", "-DPIC"), command("a.c", "-DB"), command("bad.c"), command("no.cc")]
    read = {index: read_definitions(tmp_path, commands[index], builtin_headers(None)) for index in (0, 1, 2)}

    assert units_of(commands, read) == [commands[0], commands[2], commands[3]]


@pytest.mark.slow
def test_files_that_could_not_be_read_stay_c(tmp_path: Path) -> None:
    files = {
        "lib.h": "int outer(int a); int plain(int a);\n",
        "lib.c": '#include "lib.h"\nint plain(int a) { return outer(a) * 2; }\n',
        "main.c": '#include <stdio.h>\n#include "lib.h"\nint main(void) { printf("%d", plain(4)); return 0; }\n',
    }
    nested = "int outer(int a) { int in(int b) { return b + a; } return in(1); }\n"
    (tmp_path / "nested.c").write_text('#include "lib.h"\n' + nested)
    (tmp_path / "other.c").write_text("int main(void) { return missing(); }\n")
    crate = delivery(tmp_path, files, unread=[command("nested.c"), command("other.c")])
    build(tmp_path / "crate", crate.files)

    assert crate.remainder == ("nested.c", "other.c")
    assert output(tmp_path / "crate", "main") == "10"


@pytest.mark.slow
def test_functions_with_state_of_a_header_behave_as_in_c(tmp_path: Path) -> None:
    use = '#include "s.h"\nint {0}(void) {{ return seen += indirect() + pure({1}); }}\n'
    main = "#include <stdio.h>\nint a(void), b(void);\n"
    main += 'int main(void) { printf("%d ", a()); printf("%d ", b()); printf("%d", a()); return 0; }\n'
    crate = delivery(tmp_path, {"s.h": STATE, "a.c": use.format("a", 1), "b.c": use.format("b", 2), "main.c": main})
    build(tmp_path / "crate", crate.files)
    words = ["cc", "-o", "c", "a.c", "b.c", "main.c"]
    subprocess.run(words, cwd=tmp_path, check=True)

    expected = subprocess.run([tmp_path / "c"], capture_output=True, text=True, check=True).stdout
    assert output(tmp_path / "crate", "main") == expected


@pytest.mark.slow
def test_a_text_that_is_compiled_for_several_types_stays_in_c(tmp_path: Path) -> None:
    text = "#define C(a, b) a##b\n#define D(a, b) C(a, b)\nT D(half_, T)(T a) {\n    return a / 2;\n}\n"
    main = "#include <stdio.h>\nint half_int(int a); short half_short(short a);\n"
    main += 'int main(void) { printf("%d %d", half_int(8), half_short(6)); return 0; }\n'
    commands = [command("half.c", "-DT=int"), command("half.c", "-DT=short"), command("main.c")]
    files = {"half.c": text, "main.c": main}
    uncut = delivery(tmp_path, files, commands=commands, remaining=["half_int"]).uncut
    crate = delivery(tmp_path, files, commands=commands, remaining=["half_int", *uncut])
    build(tmp_path / "crate", crate.files)

    assert uncut == ("half_short",)
    assert output(tmp_path / "crate", "main") == "4 3"
