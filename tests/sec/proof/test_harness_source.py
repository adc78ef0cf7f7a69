"""Which harnesses are refused before they are compiled or linked."""

import pytest

from jarvis_workers.sec.proof.harness_source import (
    include_faults,
    included_headers,
    includes_of,
    source_faults,
    symbol_faults,
)

GOOD = """\
#include "a.h" // the API
#include <stdlib.h>
#define SIZE 10
int main(void) { return parse(malloc(SIZE), SIZE); }
"""
TREE = {"parse": "T", "table": "D"}


def faults(code: str) -> str:
    return "\n".join(source_faults(code, "c"))


def test_a_harness_that_calls_the_tree_is_accepted() -> None:
    assert faults(GOOD) == ""
    assert includes_of(GOOD).split("\n") == ['#include "a.h" // the API', "#include <stdlib.h>"]


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("#define NDEBUG\n" + GOOD, "put all #include lines first"),
        ("struct a;\n" + GOOD, "put all #include lines first"),
        (GOOD + "#line 3\n", "#line must not be"),
        (GOOD + "%:pragma weak x\n", "#pragma must not be"),
        ("#include HEADER\n" + GOOD, "must name a header"),
        ("#inc\\\nlude <a.h>\n" + GOOD, "joins lines"),
        ("// a comment\rint x;\n" + GOOD, "carriage return"),
        (GOOD.replace("SIZE)", "SIZE + __LINE__)"), ""),
        (GOOD.replace("return", '__asm__("nop"); return'), "__asm__ is reserved"),
        (GOOD.replace("return", 'asm("nop"); return'), "'asm' must not be"),
        ("int x;\n", "needs a main function"),
        ("x" * 70_000, "longer than"),
    ],
)
def test_a_harness_that_could_change_the_code_is_refused(code: str, fault: str) -> None:
    assert fault in faults(code)
    assert bool(faults(code)) == bool(fault)


def test_words_in_comments_and_literals_are_no_fault() -> None:
    assert faults(GOOD.replace("return", 'puts("asm __asm__ #line"); /* __asan_init */ return')) == ""


def test_only_headers_may_be_included() -> None:
    text = '# 1 "made/harness.c"\n# 1 "<built-in>"\n# 1 "project/./src/a.h" 1\n# 1 "/usr/include/stdlib.h" 1 3 4\n'
    bad = text + '# 1 "project/a.c" 1\n# 1 "project/../x.h" 1\n# 1 "/home/u/.ssh/key.h" 1\n'

    assert list(include_faults(text, "made/harness.c", "project", ("/usr/",))) == []
    assert [fault.partition(" ")[0] for fault in include_faults(bad, "made/harness.c", "project", ("/usr/",))] == [
        "a.c",
        "../x.h",
        "/home/u/.ssh/key.h",
    ]
    assert included_headers(text, "project") == ["src/a.h"]


def test_a_harness_defines_main_and_calls_the_tree_and_little_else() -> None:
    assert list(symbol_faults({"main"}, {"parse", "malloc", "printf", "__asan_report_load1"}, TREE, "c")) == []
    assert list(symbol_faults({"main", "___asan_globals_registered"}, {"__start_asan_globals"}, TREE, "c")) == []
    errno = {"__errno_location", "_GLOBAL_OFFSET_TABLE_"}
    assert list(symbol_faults({"main"}, errno, TREE, "c")) == []
    text = "\n".join(symbol_faults({"main", "parse", "memcpy"}, {"write", "dlsym"}, TREE, "c"))
    assert "make memcpy, parse static" in text
    assert "defines parse, which the tree defines" in text
    assert "write is neither" in text
    assert "dlsym is neither" in text
