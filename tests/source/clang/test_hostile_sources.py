"""Errors are reported, never a smaller unit without one; paths and arguments may be anything."""

import os
import time
from pathlib import Path

import pytest

from jarvis_workers.source.clang.unit import ROOT, CompileCommand, language_of, parser_arguments
from jarvis_workers.source.clang.unit_json import decode_unit, encode_unit
from tests.source.clang.reading import read_file, read_files, read_source
from tests.support.machine import assert_cpu_within


def test_a_missing_header_is_an_error_by_name(tmp_path: Path) -> None:
    unit = read_files(tmp_path, {"src/a.c": '#include "absent.h"\n#include <gone.h>\nint it(void) { return f(); }\n'})

    assert [(one.severity, one.file, one.line, one.message) for one in unit.unit.errors] == [
        ("error", b"src/a.c", 1, "'absent.h' file not found"),
        ("error", b"src/a.c", 2, "'gone.h' file not found"),
    ]


def test_a_unit_with_errors_keeps_what_clang_understands(tmp_path: Path) -> None:
    unit = read_source(
        tmp_path,
        "int good(void) { return 1; }\nint broken(void) { return good() + missing; }\nint other(int x) { return x; ",
    )

    assert [one.line for one in unit.unit.errors] == [2, 3]
    assert {"good", "broken", "other"} <= set(unit.names)


def test_text_that_is_no_c(tmp_path: Path) -> None:
    unit = read_files(tmp_path, {"a.c": bytes(range(256)) * 20})

    assert unit.unit.errors
    assert len(unit.unit.diagnostics) <= 200


@pytest.mark.parametrize("text", [b"", b"\x00", b"\xef\xbb\xbf", b"/*", b'"', b"\\", b"#", b"#include", b"{", b"\r\r"])
def test_almost_nothing(tmp_path: Path, text: bytes) -> None:
    assert read_files(tmp_path, {"a.c": text}).unit.symbols == ()


@pytest.mark.parametrize(
    "source",
    [
        '#define A "' + '\\"' * 30_000 + "\n",
        "int it(void) { " + "__attribute__((unused)) int a; { " * 150 + "}" * 151,
        "int it(int n) { switch (n) { default: "
        + "__attribute__((fallthrough)); case 1 + __LINE__:\n" * 3_000
        + "; } }",
        "int it" + " __attribute__((weak))" * 3_000 + ";",
        "".join(f"#define M{n} M{n + 1} M{n + 1}\n" for n in range(3_000)),
    ],
    ids=["quotes", "variables", "statements", "attributes", "macros"],
)
def test_hostile_sources_take_linear_time(tmp_path: Path, source: str) -> None:
    before = time.process_time()
    read_source(tmp_path, source)

    assert_cpu_within(5, since=before)


@pytest.mark.parametrize(
    "text", ["int(r", "r[e()", "static struct S _[][]", "int f(", "struct s { int", "enum {", "typedef"]
)
def test_a_declaration_that_ends_with_the_file(tmp_path: Path, text: str) -> None:
    assert read_source(tmp_path, text).unit.errors


@pytest.mark.parametrize("name", [b"a b.c", b"a\nb.c", b"\xff\xfe.c", b"-D.c", b"{root}.c", b"d\xff/s p/a'\".c"])
def test_any_path(tmp_path: Path, name: bytes) -> None:
    header = name.rpartition(b"/")[0] + b"/h \xff.h" if b"/" in name else b"h \xff.h"
    source = b'#include "h \xff.h"\nstatic int it(void) { return of_header(); }\n'
    read_files(tmp_path, {header: "static int of_header(void) { return 1; }\n", name: source})
    unit = read_file(tmp_path, name)

    assert not unit.unit.diagnostics
    assert unit.unit.file == unit.symbol("it").extent.file == name
    assert unit.unit.includes == (header,)
    assert unit.calls("it") == {"of_header"}
    for symbol in unit.unit.symbols:
        symbol.key.encode()
    assert decode_unit(encode_unit(unit.unit)) == unit.unit


def test_the_root_is_nowhere_in_a_unit(tmp_path: Path) -> None:
    words = '#include "h.h"\nstruct { int a; } global;\nint it(void) { return global.b + absent; }\n'
    units = []
    for place in ("one", "other place"):
        read_files(tmp_path / place, {"src/a.c": words, "inc/h.h": "typedef union { int x; } *opaque;\n"})
        units.append(
            read_file(tmp_path / place, "src/a.c", "-I", f"{ROOT}/inc", f"-I{ROOT}/gen", directory=b"src").unit
        )

    assert units[0] == units[1]
    assert str(tmp_path) not in encode_unit(units[0]).decode()


def test_paths_are_relative_to_the_directory_of_the_command(tmp_path: Path) -> None:
    read_files(tmp_path, {"a/x.c": '#include "h.h"\n#include "f.h"\nint it(void) { return N + F; }\n'})
    read_files(tmp_path, {"inc/h.h": "#define N 1\n", "a/build/forced.h": "#define F 1\n", "inc2/f.h": ""})
    arguments = ("-I../../inc", "-I", "../../inc2", "-include", "forced.h", "-isystem", "absent")
    unit = read_file(tmp_path, "a/x.c", *arguments, directory=b"a/build")

    assert not unit.unit.diagnostics
    assert unit.unit.includes == (b"a/build/forced.h", b"inc/h.h", b"inc2/f.h")
    assert unit.uses("it") == {"macro": {"N", "F"}}


def test_a_root_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "h.h").write_text("static int header(void) { return 1; }\n")
    unit = read_files(
        tmp_path / "link", {"a.c": f'#include "{tmp_path}/real/h.h"\nint it(void) {{ return header(); }}\n'}
    )

    assert unit.names == ["it", "header"]
    assert unit.unit.includes == (b"h.h",)


CPP = """
#include "shape.hpp"
extern "C" int plain(int x) { return x; }
namespace geometry {
int Shape::area() const { return plain(side_) + helper(2) + twice(3); }
template <class T> T Box<T>::get() { return value; }
}
struct Number { int n; Number operator+(const Number &other) const { return {n + other.n}; } };
int use(const geometry::Shape &shape) { Number a{1}, b{2}; return shape.area() + (a + b).n; }
"""
HPP = """
namespace geometry {
class Shape {
public:
    explicit Shape(int side) : side_(side) {}
    int area() const;
private:
    int helper(int x) const { return x; }
    int side_;
};
template <class T> class Box { T value; T get(); };
inline int twice(int x) { return 2 * x; }
}
"""


def test_cpp_is_read_and_marked_as_not_translatable(tmp_path: Path) -> None:
    unit = read_files(tmp_path, {"shape.cpp": CPP, "shape.hpp": HPP})

    assert unit.unit.language == "c++"
    assert not unit.unit.diagnostics
    assert {symbol.language for symbol in unit.unit.symbols} == {"c++"}
    assert all("not_translatable" in symbol.facts for symbol in unit.unit.symbols)
    assert unit.symbol("area").qualified_name == "geometry::Shape::area"
    assert (unit.symbol("area").kind, unit.symbol("area").is_definition) == ("method", True)
    assert unit.calls("area") == {"plain", "helper", "twice"}
    assert unit.calls("use") >= {"area", "operator+"}
    assert unit.symbol("plain").key == "c:@F@plain"


def test_a_header_of_c_and_cpp_declares_one_function(tmp_path: Path) -> None:
    shared = "inline int shared(int x) { return x; }\n"
    header = '#ifdef __cplusplus\nextern "C" {\n#endif\n' + shared + "#ifdef __cplusplus\n}\n#endif\n"
    read_files(tmp_path, {"api.h": header, "a.c": '#include "api.h"\n', "b.cc": '#include "api.h"\n'})
    keys = {read_file(tmp_path, file).symbol("shared").key for file in ("a.c", "b.cc")}

    assert keys == {"c:@F@shared"}


@pytest.mark.parametrize(
    ("file", "arguments", "language"),
    [
        (b"a.c", (), "c"),
        (b"a.C", (), "c++"),
        (b"a.hpp", (), "c++"),
        (b"a.h", (), "c"),
        (b"a.c", ("-x", "c++"), "c++"),
        (b"a.cpp", ("-xc",), "c"),
        (b"a.cpp", ("-xc", "-x", "none"), "c++"),
    ],
)
def test_language(file: bytes, arguments: tuple[str, ...], language: str) -> None:
    assert language_of(CompileCommand(file, b"", arguments)) == language


def test_arguments_that_load_code_write_files_or_only_gcc_knows_are_left_out(tmp_path: Path) -> None:
    refused = (
        *(
            "-fplugin=evil.so",
            "-Xclang",
            "-load",
            "-Xclang",
            "evil.so",
            "-MF",
            "deps",
            "-MD",
            "-o",
            "out",
            "-save-temps",
        ),
        *(
            "--serialize-diagnostics",
            "file",
            "-Wp,-MD,deps",
            "-mllvm",
            "-z",
            "@file",
            "-include-pch",
            "p",
            "-target-cpu",
            "z",
            "-fmodules",
            "-ftime-trace",
        ),
        *("-fno-tree-vectorize", "-Werror", "-Wall", "-pedantic-errors", "-B/bin", "-specs=x", "-fprofile-generate=x"),
    )
    taken = ("-DA=1", "-D", "B", "-UC", "-I", "x", "-std=gnu99", "-m32", "-funsigned-char", "-msse4.2", "-O2")
    command = CompileCommand(b"a.c", b"", (*refused, *taken))
    arguments = parser_arguments(os.fsencode(tmp_path), command, tmp_path / "include")

    assert arguments[: len(taken)] == [word.encode() for word in taken]
    assert arguments[len(taken)].startswith(b"-working-directory=")


def test_a_plugin_is_not_loaded(tmp_path: Path) -> None:
    unit = read_source(tmp_path, "int it;\n", "-fplugin=/absent.so", "-Xclang", "-load", "-Xclang", "/absent.so")

    assert not unit.unit.diagnostics


def test_what_gcc_only_warns_of_is_a_warning(tmp_path: Path) -> None:
    words = "it(void) { int *p = 5; undeclared(); return p == 0; }\nint other(void) { return it; }\n"
    unit = read_source(tmp_path, words, "-Werror", "-Wall")

    assert {one.severity for one in unit.unit.diagnostics} == {"warning"}
    assert unit.calls("it") == {"undeclared"}
