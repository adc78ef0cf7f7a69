"""A file that a compiler takes is scanned or named, whatever its name and however a build reaches it."""

import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from jarvis_workers.api import Report, ScanOptions, ScanSession, scan
from tests.support.servers import require

CALL = "int f(const char *s)\n{\n    char b[8];\n    strcpy(b, s);\n    return b[0];\n}\n"
C = "char *strcpy(char *, const char *);\n" + CALL
CXX = f'extern "C" {C}'
OBJECTIVE_C = "#include <string.h>\n" + CALL
ASSEMBLED = ".globl f\nf:\n\tjmp strcpy\n"
# A command that compiles the call, the files of its tree, and the one that has the call.
WAYS = {
    "a template": ("cc -x c -c x.c.in", {"x.c.in": C}, "x.c.in"),
    "a template of a header": ("cc -c x.c", {"x.c": '#include "x.h.in"\n', "x.h.in": C}, "x.h.in"),
    "what the preprocessor wrote": ("cc -c x.i", {"x.i": C}, "x.i"),
    "C++ that the preprocessor wrote": ("g++ -c x.ii", {"x.ii": CXX}, "x.ii"),
    "Objective-C": ("clang -c x.m", {"x.m": OBJECTIVE_C}, "x.m"),
    "Objective-C without a sign": ("clang -c x.m", {"x.m": C}, "x.m"),
    "Objective-C++": ("clang++ -c x.mm", {"x.mm": CXX}, "x.mm"),
    "capitals": ("g++ -c x.C", {"x.C": CXX}, "x.C"),
    "capitals of C++": ("g++ -c x.CPP", {"x.CPP": CXX}, "x.CPP"),
    "capitals of Objective-C": ("clang++ -c x.M", {"x.M": OBJECTIVE_C}, "x.M"),
    "another suffix of C++": ("g++ -c x.cp", {"x.cp": CXX}, "x.cp"),
    "plus signs": ("g++ -c x.c++", {"x.c++": CXX}, "x.c++"),
    "a module": ("clang++ -x c++ -c x.cppm", {"x.cppm": CXX}, "x.cppm"),
    "another module": ("clang++ -x c++ -c x.ixx", {"x.ixx": CXX}, "x.ixx"),
    "a header of C++": ("g++ -c a.cc", {"x.hp": CXX, "a.cc": '#include "x.hp"\n'}, "x.hp"),
    "a table": ("cc -c x.c", {"x.c": '#include "x.inc"\n', "x.inc": C}, "x.inc"),
    "a text": ("cc -c x.c", {"x.c": '#include "x.txt"\n', "x.txt": C}, "x.txt"),
    "no suffix": ("cc -c x.c", {"x.c": '#include "x"\n', "x": C}, "x"),
    "a hidden file": ("cc -c x.c", {"x.c": '#include ".x"\n', ".x": C}, ".x"),
    "another language": ("cc -c x.c", {"x.c": '#include "x.py"\n', "x.py": C}, "x.py"),
    "assembler in name only": ("cc -c x.c", {"x.c": '#include "x.s"\n', "x.s": C}, "x.s"),
    "MATLAB in name only": ("cc -c x.c", {"x.c": '#include "x.m"\n', "x.m": C}, "x.m"),
    "a macro": ("cc -c x.c", {"x.c": '#define A "x.def"\n#include A\n', "x.def": C}, "x.def"),
    "another file between": (
        "cc -c x.c",
        {"x.c": '#include "1.t"\n', "1.t": '#include "d/2.t"\n', "d/2.t": C},
        "d/2.t",
    ),
    "an import": ("clang -c x.c", {"x.c": '#import "x.t"\n', "x.t": C}, "x.t"),
    "the next one": (
        "cc -c x.c -Id -Ie",
        {"x.c": "#include <y.t>\n", "d/y.t": "#include_next <y.t>\n", "e/y.t": C},
        "e/y.t",
    ),
    "a spliced line": ("cc -c x.c", {"x.c": '#inc\\\nlude "x.t"\n', "x.t": C}, "x.t"),
    "a digraph": ("cc -c x.c", {"x.c": '%:include "x.t"\n', "x.t": C}, "x.t"),
    "a comment": ("cc -c x.c", {"x.c": '/* */ # /* */ include /* */ "x.t"\n', "x.t": C}, "x.t"),
    "assembler": ("cc -c x.s", {"x.s": ASSEMBLED}, "x.s"),
    "assembler with macros": ("cc -c x.S", {"x.S": ASSEMBLED}, "x.S"),
    "an excluded directory": ("cc -c vendor/x.c", {"vendor/x.c": C}, "vendor"),
}
RECORDED = {
    "its language": ("cc -x c -c x.pc", {"x.pc": C}, "x.pc"),
    "its language, without a suffix": ("cc -x c -c x", {"x": C}, "x"),
    "a language of a compiler of C++": ("g++ -x c++ -c x.t", {"x.t": CXX}, "x.t"),
    "its language in one word": ("cc -xc++ -c x.def", {"x.def": CXX}, "x.def"),
    "a file before the file": ("cc -include x.t -c x.c", {"x.c": "int a;\n", "x.t": C}, "x.t"),
}


@pytest.fixture(scope="module")
def session() -> Iterator[ScanSession]:
    with ScanSession(ScanOptions(processes=1)) as opened:
        yield opened


def _tree(place: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    (place / "other.c").write_text("int other;\n")
    return place


def _compiles(command: str, tree: Path) -> None:
    """Compile outside of the tree, and see that the object calls strcpy."""
    words = shlex.split(command)
    require(words[0], "nm")
    built = tree.parent / "x.o"
    subprocess.run([*words, "-w", "-o", str(built)], cwd=tree, check=True)
    listed = subprocess.run(["nm", str(built)], check=True, capture_output=True, text=True)
    assert "U strcpy" in listed.stdout


def _named(report: Report) -> set[str]:
    """Return the files with a finding, and all that the report names as not checked, left out or excluded."""
    found = {finding.file for finding in report.findings if finding.rule_id == "unsafe_api"}
    absent = {one.file for one in (*report.not_checked, *report.summary.excluded)}
    return found | absent | {reason.rpartition(": ")[2] for reason in report.summary.left_out}


@pytest.mark.parametrize("way", WAYS)
def test_a_file_is_scanned_or_named(way: str, tmp_path: Path, session: ScanSession) -> None:
    command, files, hidden = WAYS[way]
    tree = _tree(tmp_path / "tree", files)
    _compiles(command, tree)

    assert hidden in _named(session.scan(tree))


@pytest.mark.parametrize("way", RECORDED)
def test_a_file_of_a_recorded_build_is_scanned(way: str, tmp_path: Path) -> None:
    command, files, hidden = RECORDED[way]
    tree = _tree(tmp_path / "tree", files)
    _compiles(command, tree)
    words = shlex.split(command)
    database = tmp_path / "compile_commands.json"
    database.write_text(json.dumps([{"directory": str(tree), "file": words[-1], "arguments": words}]))

    assert hidden in _named(scan(tree, options=ScanOptions(processes=1, compile_commands=database)))
