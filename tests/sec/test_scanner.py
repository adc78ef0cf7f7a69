"""One file in, its hits out."""

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.dataflow import summarize
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.rules.analysis.examined import EXAMINED_MAX
from jarvis_workers.sec.scanner import MATCHES_MAX, Hit, Scan, Scanner
from jarvis_workers.source.functions import MARKS_MAX
from jarvis_workers.source.match import engines
from tests.support.machine import assert_cpu_within

SCANNER = Scanner()
LINES = """strcpy(a, b);|printf(x);|printf("x");|/*|*/|#if 0|#endif|"|'|int atoi(char *s);|p = realloc(p, 3); system(x);
|char *x = "y";||\t// gets(a);|#define F(x) \\|\0gets(b);|é"""
SOURCES = st.lists(st.sampled_from(LINES.split("|")), max_size=12).map("\n".join)


def scan(content: str | bytes, language: str = "c/cpp") -> Scan:
    return SCANNER.scan(content.encode() if isinstance(content, str) else content, language=language)


def confidence(content: str, *, language: str = "c/cpp", test: bool = False) -> float:
    (hit,) = SCANNER.scan(content.encode(), language=language, test=test).hits
    return hit.confidence


def test_a_hit_says_what_where_how_sure_and_shows_the_line() -> None:
    found = scan("int f(void)\n{\n\tstrcpy(a,\tb);\n}\n")

    assert found == Scan((Hit("unsafe_api", 3, 0.45, "strcpy(a, b);", 2),), None)


def test_hits_come_by_line_and_pattern_and_one_of_a_kind_a_line() -> None:
    found = scan('system(x); strcpy(a, "b"); strcpy(a, b);\natoi(s);')

    assert [hit[:3] for hit in found.hits] == [
        ("command_execution", 1, 0.6),
        ("unsafe_api", 1, 0.45),
        ("atoi_family", 2, 0.4),
    ]


SCANNERS = [Scanner(engine) for engine in engines()]
for scanner in SCANNERS:
    scanner.scan(b"", language="c/cpp")


@given(source=SOURCES)
def test_engines_agree(source: str) -> None:
    assert len({scanner.scan(source.encode(), language="c/cpp") for scanner in SCANNERS}) == 1


@given(source=SOURCES)
def test_line_endings_and_byte_order_marks_change_nothing(source: str) -> None:
    plain = scan(source)

    assert scan(source.replace("\n", "\r\n")) == plain
    assert scan("\ufeff" + source) == plain
    assert scan(("\ufeff" + source).encode("utf-16-le")) == plain
    assert scan(("\ufeff" + source).encode("utf-16-be")) == plain


@given(content=st.binary(max_size=200), language=st.sampled_from(["c/cpp", "rust"]))
def test_no_bytes_hide_what_stands_before_them(content: bytes, language: str) -> None:
    call = b"gets(a);\n" if language == "c/cpp" else b"unsafe { *a }\n"

    assert scan(call + content, language).hits[0].line == 1


def test_a_column_counts_characters_and_not_bytes() -> None:
    found = scan("/* \u00e9\u20ac */\tgets(a);\n  x = 1; gets(b);\n")

    assert [(hit.line, hit.column) for hit in found.hits] == [(1, 10), (2, 10)]


def test_undecodable_bytes_and_nul_hide_nothing_behind_them() -> None:
    found = scan(b"\xff\xfe\x00 = \x00\xc3;\n\x80\x00\ngets(a); \x00\xff \x1b[0m"[1:])

    assert found.hits == (Hit("unsafe_api", 3, 0.95, "gets(a); \\x00\\xff \\x1b[0m", 1),)


def test_evidence_is_one_line_of_printable_text() -> None:
    _, hit = scan("gets(a); // \u202e \u2028 \U0001f600 你好\r\n").hits

    assert hit.evidence == "gets(a); // \\u202e \\u2028 \U0001f600 你好"


@pytest.mark.parametrize("filler", ["x", "你", "\x01"])
def test_of_a_long_line_the_part_around_the_hit_is_shown(filler: str) -> None:
    (hit,) = scan(f'"{filler * 300}"; gets(a); "{filler * 300}"').hits

    assert "gets(a);" in hit.evidence
    assert len(hit.evidence) <= 200
    assert "\\xe" not in hit.evidence


def test_a_prototype_in_a_header_is_no_call() -> None:
    header = b"EXPORT(int) strcpy(char *to, const char *from);\nstatic inline void f(void) { strcpy(a, b); }\n"

    assert [hit.line for hit in SCANNER.scan(header, language="c/cpp", header=True).hits] == [2]


@pytest.mark.parametrize(
    ("surer", "less"),
    [
        ("strcpy(a, b);", "if (strlen(b) < n) strcpy(a, b);"),
        ("gets(a);", "strcpy(a, b);"),
        ('vsprintf(a, "%s", c);', "vsprintf(a, FORMAT, c);"),
        ('scanf("%s", a);', 'sscanf(b, "%s", a);'),
        ("printf(a);", "printf(a, b);"),
        ("printf(a);", "vprintf(a, b);"),
        ("printf(a);", "warnx(a);"),
        ("printf(a);", "#define SAY(a) \\\n  printf(a)"),
        ("a = b; printf(a);", 'a = b; a = "c"; printf(a);'),
        ("system(argv[1]);", "system(a);"),
        ('sprintf_s(a, "%s", b); strlcat(a, b); system(a);', "strlen(a); system(a);"),
        ("system(a);", "execv(a, b);"),
        ("atoi(argv[1]);", "atoi(a);"),
    ],
)
def test_context_moves_the_confidence(surer: str, less: str) -> None:
    assert 0.4 <= confidence(less) < confidence(surer) <= 0.95


@pytest.mark.parametrize(
    ("surer", "less"),
    [
        ("unsafe { *a }", "// SAFETY: a is pure\nunsafe { *a }"),
        ("unsafe { *a }", "/// # Safety\n/// b\n#[inline]\npub unsafe fn a() { }"),
        ("unsafe { *a }", "// 安全：a\nunsafe { *a }"),
        ("unsafe { *a }", "unsafe {\n    // Safety: a\n    *a }"),
        ("unsafe { *a }", "#[test]\nfn t() { if b { } unsafe { *a } }"),
        ("unsafe { *a }", "#[cfg(test)]\nuse b;\nmod tests {\n fn t() { }\n unsafe { *a }\n}"),
        ("unsafe { *a }", "#[tokio::test]\nasync fn t() { unsafe { *a } }"),
        ("a.unwrap()", "a.lock().unwrap()"),
        ("transmute(a)", "/* SAFETY: a */ transmute(a)"),
    ],
)
def test_safety_comments_and_tests_soften_rust_findings(surer: str, less: str) -> None:
    assert 0.4 <= confidence(less, language="rust") < confidence(surer, language="rust")


@pytest.mark.parametrize(
    "content",
    [
        '"safety"; unsafe { *a }',
        "let safety = 1; unsafe { *a }",
        "// SAFETY: b\n\n\n\n\n\n\nunsafe { *a }",
        "#[test]\nfn t() { }\nfn f() { unsafe { *a } }",
        "#[cfg(test)]\nuse b;\nfn f() { unsafe { *a } }",
        "#[test]",
    ],
)
def test_what_only_looks_like_an_explanation_softens_nothing(content: str) -> None:
    assert all(hit.confidence == RULES_BY_PATTERN["unsafe"].confidence for hit in scan(content, "rust").hits)


def test_a_file_of_tests_is_less_sure() -> None:
    assert confidence("strcpy(a, b);", test=True) < confidence("strcpy(a, b);")


@pytest.mark.slow
def test_beyond_the_limit_of_matches_the_scan_says_where_it_stopped() -> None:
    found = scan("atoi(a);\n" * (MATCHES_MAX + 1))

    assert len(found.hits) == MATCHES_MAX
    assert found.problem == f"more than 50000 possible matches; checked only as far as line {MATCHES_MAX + 1}"


@pytest.mark.slow
def test_a_rule_that_stops_before_the_end_of_a_file_says_so() -> None:
    tested = b"  n = read(0, b, 8);\n  if (n < 0) return;\n"
    head, tail = b"void f(char *b)\n{\n  size_t n;\n", b"}\n"

    assert scan(head + tested * EXAMINED_MAX + tail).problem is None
    beyond = scan(head + tested * (EXAMINED_MAX + 1) + tail).problem
    assert beyond == "sign_comparison: checked only the first 2000 possible places"


UNITS = """strcpy(a,b);|strcpy(|((((|"|'|\\|/*|/**/|//|"a",|*| |printf(x|err(,|\n|#if 0\n|p = realloc(p|A_|R"(
|sprintf(a,\n|strcpy \\\n|int strcpy(a |printf(a ? b : |printf(AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAb)"""
RUST_UNITS = """unsafe{|#[test]|{}|/*|r#"|'a|x.unwrap();\n|transmute::<|// safety |unsafe { } // safety\n"""


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("unit", UNITS.split("|"))
@pytest.mark.parametrize("megabytes", [10, pytest.param(30, marks=pytest.mark.long)])
def test_hostile_repetition_is_scanned_in_bounded_time(unit: str, megabytes: int) -> None:
    size = megabytes * 1_000_000
    content = b"gets(a);\n" + (unit.encode() * (size // len(unit) + 1))[:size] + b"\ngets(a);\n"
    began = time.process_time()

    found = scan(content)

    assert_cpu_within(8, since=began)
    assert found.hits[0].line == 1


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("unit", RUST_UNITS.split("|"))
@pytest.mark.parametrize("megabytes", [10, pytest.param(30, marks=pytest.mark.long)])
def test_hostile_rust_is_scanned_in_bounded_time(unit: str, megabytes: int) -> None:
    size = megabytes * 1_000_000
    content = b"x.unwrap();\n" + (unit.encode() * (size // len(unit) + 1))[:size] + b"\nx.unwrap();\n"
    began = time.process_time()

    found = scan(content, "rust")

    assert_cpu_within(8, since=began)
    assert found.hits[0].line == 1


SCAN = """
import re, sys
from pathlib import Path
from jarvis_workers.sec.scanner import Scanner
unit = sys.argv[1].encode()
Scanner().scan(b"gets(a);\\n" + unit * (100_000_000 // len(unit)) + b"\\ngets(a);\\n", language="c/cpp")
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.timing
@pytest.mark.slow
@pytest.mark.parametrize("unit", ["strcpy(a,b);", '"a"', "\n", "/**/", "x"])
def test_a_hundred_megabytes_take_less_than_eight_hundred_of_memory(unit: str) -> None:
    said = subprocess.run([sys.executable, "-c", SCAN, unit], capture_output=True, text=True, check=True)

    assert int(said.stdout) < 800 * 1024


@pytest.mark.slow
def test_functions_that_were_not_searched_are_named_by_scan_and_data_flow_analysis() -> None:
    twice = b"void f%d(char *p)\n{\n    free(p);\n    free(p);\n}\n"
    content = twice % 1 + b"#if 1\n#endif\n" * (MARKS_MAX // 2) + twice % 2

    flow = summarize(content, language="c/cpp", header=False, test=False, path="a.c")

    braces = "more than 1,000,000 braces and conditional directives"
    assert scan(content).problem == f"{braces}; functions are checked only as far as line 1000004"
    assert flow is not None
    assert flow["gaps"] == [["the rest of the file", 1_000_004, f"it is behind {braces}"]]


@pytest.mark.slow
def test_beyond_the_limit_of_literals_the_scan_says_where_it_stopped() -> None:
    found = scan(b'gets(a);\n"a"' + b'"a"' * 3_000_100 + b"\ngets(a);\n")

    assert [hit.line for hit in found.hits] == [1]
    assert found.problem == "too many comments and literals; checked only as far as line 2"


@pytest.mark.parametrize(
    "content",
    [
        "system();",
        "printf(fmts[i]); const char *x;",
        'strcpy(a, "unclosed\n);',
        "strcpy(" + "(" * 5_000,
        "for (;;) strcpy(a; b);",
    ],
)
def test_broken_calls_do_not_stop_a_scan(content: str) -> None:
    assert scan(content + "\ngets(a);").hits[-1].confidence == 0.95


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-16", "utf-32"])
def test_text_in_wide_characters_is_read_with_or_without_a_mark(encoding: str) -> None:
    text = "int x;\nvoid f(char *d) { gets(d); }\n"

    (hit,) = Scanner().scan(text.encode(encoding), language="c/cpp").hits

    assert (hit.pattern, hit.line) == ("unsafe_api", 2)
