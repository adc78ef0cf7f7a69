"""`jarvis c2rust collect`: the names of functions that headers declare."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import Jarvis

API = "#include <stddef.h>\nint first(int);\nvoid *second(size_t);\nint first(int);\n#define MACRO(x) x\n"


@pytest.fixture
def roots(jarvis: Jarvis) -> Path:
    return jarvis.place / ".jarvis" / "c2rust" / "roots.txt"


def test_names_are_written_one_a_line_and_once(jarvis: Jarvis, roots: Path) -> None:
    jarvis.tree(".", {"api.h": API, "more.hpp": "namespace n { void third(); }\nint first(int);\n"})
    done = jarvis("c2rust", "collect", "api.h", "more.hpp")

    assert (done.code, done.out) == (0, "")
    assert roots.read_text() == "first\nsecond\nthird\n"
    assert done.err.endswith("3 functions: .jarvis/c2rust/roots.txt\n")


def test_other_files_are_skipped_by_name_and_broken_headers_are_warnings(jarvis: Jarvis, roots: Path) -> None:
    jarvis.tree(".", {"api.h": API, "main.c": "int main(void) { return 0; }\n", "bad.hh": '#include "nowhere.h"\n'})
    done = jarvis("c2rust", "collect", "main.c", "bad.hh", "api.h", "missing.hxx")

    assert done.code == 0
    assert roots.read_text() == "first\nsecond\n"
    assert "main.c: skipped, not a header (.h, .hh, .hpp, .hxx)\n" in done.err
    assert "cannot be parsed: bad.hh: bad.hh:1: 'nowhere.h' file not found\n" in done.err
    assert "cannot be parsed: missing.hxx: no such file\n" in done.err


@pytest.mark.parametrize(
    ("files", "message"),
    [("a.c b.txt", "a.c: skipped, not a header"), ("bad.h", "no header can be parsed: bad.h: bad.h:1: ")],
)
def test_without_a_header_nothing_is_written(jarvis: Jarvis, roots: Path, files: str, message: str) -> None:
    jarvis.tree(".", {"a.c": "int a;\n", "b.txt": "", "bad.h": "#error no\n"})
    done = jarvis("c2rust", "collect", *files.split())

    assert done.code == 2
    assert done.line.startswith(f"jarvis: {message}")
    assert not roots.exists()


def test_headers_are_parsed_as_the_sources_beside_them(jarvis: Jarvis) -> None:
    header = "#ifdef EXTRA\nint extra(void);\n#endif\n#include <config.h>\n"
    place = jarvis.tree(".", {"lib/api.h": header, "lib/api.c": '#include "api.h"\n', "gen/config.h": "", "x.c": ""})
    call = {"directory": str(place), "file": "lib/api.c", "arguments": ["cc", "-DEXTRA", "-Igen", "-c", "lib/api.c"]}
    other = {"directory": str(place), "file": "x.c", "arguments": ["cc", "-c", "x.c"]}
    (place / "out").mkdir()
    (place / "out" / "compile_commands.json").write_text(json.dumps([other, call]))
    done = jarvis("c2rust", "collect", "lib/api.h", "--cc-root", "out", "-o", "names/roots.txt")

    assert done.code == 0
    assert (place / "names" / "roots.txt").read_text() == "extra\n"


def test_headers_are_parsed_with_the_arguments_of_the_settings(jarvis: Jarvis, roots: Path) -> None:
    header = "#ifdef EXTRA\nint extra(void);\n#endif\nint api(void);\n"
    jarvis.tree(".", {"api.h": header, "a.c": "int a;\n", "jarvis.yaml": "c2rust: {args: [-DEXTRA]}\n"})

    assert jarvis("c2rust", "collect", "api.h").code == 0
    assert roots.read_text() == "extra\napi\n"


def test_headers_outside_of_the_project_are_read(jarvis: Jarvis, tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "far.h").write_text("void far_away(void);\n")
    jarvis.tree(".", {"a.c": "int a;\n"})
    done = jarvis("c2rust", "collect", tmp_path / "away" / "far.h", "-o", "roots.txt")

    assert done.code == 0
    assert (jarvis.place / "roots.txt").read_text() == "far_away\n"


def test_a_named_directory_without_compile_commands_is_refused(jarvis: Jarvis) -> None:
    jarvis.tree(".", {"a.c": "int a;\n", "a.h": "int f(void);\n"})

    assert jarvis("c2rust", "collect", "a.h", "--cc-root", "build").code == 2


def test_help_shows_examples(jarvis: Jarvis) -> None:
    assert "Examples:\n    jarvis c2rust collect" in jarvis("c2rust", "collect", "-h").out
