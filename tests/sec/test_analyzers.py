"""Command lines of other analyzers, and what is read from their output."""

import pytest

from jarvis_workers.sec.alerts.compiler_logs import read_log
from jarvis_workers.sec.witnesses.analyzers import ANALYZERS, AnalyzerAnswer

GCC_OUTPUT = """\
src/a.c: In function 'f':
src/a.c:5:5: warning: double-'free' of 'p' [CWE-415] [-Wanalyzer-double-free]
src/a.c:4:5: note: (1) first 'free' here
src/a.c:5:5: note: (2) second 'free' here; first 'free' was at (1)
"""
TIDY_OUTPUT = "src/a.c:5:5: warning: Attempt to free released memory [clang-analyzer-unix.Malloc]\n"
TIDY_ERROR = "src/a.c:1:10: error: 'gone.h' file not found [clang-diagnostic-error]\n"
CPPCHECK_HEAD = '<?xml version="1.0"?>\n<results version="2"><cppcheck version="2.10"/><errors>'
CPPCHECK_ERROR = (
    '<error id="doubleFree" severity="error" msg="freed twice" cwe="415"><location file="src/a.c" line="5"/></error>'
)
CPPCHECK_END = "</errors></results>"
UNREADABLE = '<error id="syntaxError" severity="error" msg="bad code"><location file="src/a.c" line="3"/></error>'


def answer_of(name: str, output: str = "", messages: str = "") -> AnalyzerAnswer:
    return ANALYZERS[name].read(output, messages)


def rules_of(answer: AnalyzerAnswer) -> list[tuple[str, str, int]]:
    return [(one.tool, one.rule, one.line) for one in answer.alerts]


def test_warnings_become_alerts_with_their_steps() -> None:
    of_gcc = answer_of("gcc", messages=GCC_OUTPUT)

    assert (rules_of(of_gcc), of_gcc.failure) == ([("gcc", "analyzer-double-free", 5)], "")
    assert [step.line for step in of_gcc.alerts[0].steps] == [4, 5]
    of_tidy = answer_of("clang-tidy", TIDY_OUTPUT)
    assert rules_of(of_tidy) == [("clang-tidy", "clang-analyzer-unix.Malloc", 5)]
    assert of_tidy.alerts[0].cwe == 415  # the report names none
    xml = f"{CPPCHECK_HEAD}{CPPCHECK_ERROR}{CPPCHECK_END}"
    assert rules_of(answer_of("cppcheck", messages=xml)) == [("cppcheck", "doubleFree", 5)]


@pytest.mark.parametrize(
    ("name", "output", "messages", "failure", "alerts"),
    [
        ("gcc", "", "src/a.c:1:10: fatal error: gone.h: No such file or directory\n", "gone.h: No such file", 0),
        ("clang-tidy", TIDY_ERROR + TIDY_OUTPUT, "", "'gone.h' file not found", 1),
        ("cppcheck", "", f"{CPPCHECK_HEAD}{UNREADABLE}{CPPCHECK_ERROR}{CPPCHECK_END}", "bad code (line 3)", 1),
        ("cppcheck", "", f"{CPPCHECK_HEAD}{CPPCHECK_ERROR}", "cannot be read", 0),
        ("cppcheck", "", "", "it printed no report", 0),
    ],
)
def test_what_an_analyzer_cannot_read_is_a_failure(
    name: str, output: str, messages: str, failure: str, alerts: int
) -> None:
    answer = answer_of(name, output, messages)

    assert failure in answer.failure
    assert len(answer.alerts) == alerts


def test_nothing_printed_is_nothing_found() -> None:
    assert answer_of("gcc") == AnalyzerAnswer()
    assert answer_of("clang-tidy") == AnalyzerAnswer()
    assert answer_of("cppcheck", messages=CPPCHECK_HEAD + CPPCHECK_END) == AnalyzerAnswer()


@pytest.mark.parametrize(
    ("file", "arguments", "program"),
    [("a.c", (), "/usr/bin/gcc"), ("a.cpp", (), "/usr/bin/g++"), ("a.h", ("-x", "c++"), "/usr/bin/g++")],
)
def test_gcc_compiles_with_the_compiler_of_the_language(file: str, arguments: tuple[str, ...], program: str) -> None:
    words = ANALYZERS["gcc"].words("/usr/bin/gcc", file, arguments)

    assert words[0] == program
    assert words[-1] == file
    assert ("-Wno-int-conversion" in words) == (program == "/usr/bin/gcc")


def test_cppcheck_gets_macros_and_directories_alone() -> None:
    arguments = ("-std=gnu11", "-DA=1", "-D", "B", "-isystem", "/inc", "-include", "config.h", "-Iinclude")
    words = ANALYZERS["cppcheck"].words("cppcheck", "a.c", arguments)

    assert [word for word in words if word.startswith(("-D", "-I"))] == ["-DA=1", "-DB", "-I/inc", "-Iinclude"]
    assert "config.h" not in words


def test_the_settings_of_the_tree_are_not_used() -> None:
    assert "--config={}" in ANALYZERS["clang-tidy"].words("clang-tidy", "a.c", ())


def test_an_empty_output_has_no_lines() -> None:
    assert read_log("") == read_log("\n")
