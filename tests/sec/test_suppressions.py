"""Comments that suppress findings: which lines and rules they speak of, and what is remarked of them."""

import time

import pytest

from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.scanner import Scan, Scanner
from jarvis_workers.sec.suppressions import FOREIGN, REMARKS_MAX
from jarvis_workers.source.match import engines
from tests.support.machine import assert_cpu_within

SCANNER = Scanner()


def scan(content: str, language: str = "c/cpp") -> Scan:
    return SCANNER.scan(content.encode(), language=language)


def left(content: str, language: str = "c/cpp") -> list[int]:
    """Return the lines of the findings that are not suppressed."""
    return [hit.line for hit in scan(content, language).hits if hit.suppressed is None]


@pytest.mark.parametrize(
    "content",
    [
        "gets(a); // jarvis-ignore[unsafe_api]: bounded",
        "gets(a); // jarvis-ignore[unsafe_api]",
        "gets(a); //jarvis-ignore[scanf_no_width, unsafe_api]: both",
        "gets(a); /* jarvis-ignore: all rules */",
        "/* jarvis-ignore: before it */ gets(a);",
        "// jarvis-ignore: the line below\ngets(a);",
        "/* jarvis-ignore: long\n * reason\n */\ngets(a);",
        "/* why so\n * jarvis-ignore: in the middle\n */\ngets(a);",
        "// jarvis-ignore[format_string]: x\n// jarvis-ignore[unsafe_api]: y\n\ngets(a);",
        "gets(a); // NOLINT",
        "gets(a); // NOLINT: why",
        "gets(a); // NOLINT(*)",
        "gets(a); // NOLINT(unsafe_api)",
        "gets(a); // NOLINT(google-x, jarvis-unsafe_api)",
        "gets(a); // NOLINT(bugprone-unsafe-functions)",
        "// NOLINTNEXTLINE\ngets(a);",
        "// NOLINTBEGIN\nint a;\ngets(a);\n// NOLINTEND",
        "// NOLINTBEGIN(cert-msc24-c)\ngets(a);\n// NOLINTEND( cert-msc24-c )",
        "// NOLINTBEGIN\n// NOLINTBEGIN(a)\n// NOLINTEND(a)\ngets(a);\n// NOLINTEND",
        "gets(a); // nosem",
        "gets(a); // nosemgrep",
        "gets(a); // NOSEMGREP",
        "// nosemgrep\ngets(a);",
        "gets(a); // nosemgrep: unsafe_api",
        "gets(a); // nosemgrep: c.lang.security.insecure-use-gets-fn.insecure-use-gets-fn",
        "// cppcheck-suppress getsCalled\n// more\ngets(a);",
        "// cppcheck-suppress [getsCalled, x]\ngets(a);",
        "gets(a); // cppcheck-suppress getsCalled",
        "gets(a); /* cppcheck-suppress unsafe_api ; why */",
        "// cppcheck-suppress-begin getsCalled\nint a;\ngets(a);\n// cppcheck-suppress-end getsCalled",
        "// cppcheck-suppress-file getsCalled\nint a;\ngets(a);",
        "gets(a); /* Flawfinder: ignore */",
        "gets(a); // flawfinder:ignore",
        "/* FLAWFINDER: ignore */\ngets(a);",
        "gets(a); /* RATS: ignore */",
        "gets(a); /* ITS4: ignore */",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_comment_suppresses_what_it_speaks_of(content: str, end: str) -> None:
    assert left(content.replace("\n", end)) == []
    assert len(scan(content).hits) == 1


@pytest.mark.parametrize(
    "content",
    [
        'gets(a); puts("// jarvis-ignore: x");',
        'char *s = "// NOLINTNEXTLINE";\ngets(a);',
        "gets(a); // jarvis-ignore[format_string]: another rule",
        "gets(a); // jarvis-ignore[unsafe_ap]: no rule",
        "gets(a); // jarvis-ignore[]: none",
        "gets(a); // jarvis-ignored",
        "gets(a); // write jarvis-ignore to silence it",
        "gets(a); // my-jarvis-ignore-x: y",
        "// jarvis-ignore: one line only\nint b;\ngets(a);",
        "gets(a);\n// jarvis-ignore: above it, not below",
        "int b; // jarvis-ignore: this line\ngets(a);",
        "gets(a); // NOLINT()",
        "gets(a); // NOLINT(bugprone-*)",
        "gets(a); // NOLINT(cert-err34-c)",
        "gets(a); // NOLINTERS",
        "gets(a); // nolint",
        "// NOLINT\ngets(a);",
        "gets(a); // NOLINTNEXTLINE",
        "// NOLINTNEXTLINE\n\ngets(a);",
        "// NOLINTBEGIN\ngets(a);",
        "gets(a);\n// NOLINTEND",
        "// NOLINTBEGIN(a)\ngets(a);\n// NOLINTEND(b)",
        "// NOLINTBEGIN\n// NOLINTEND\ngets(a);",
        "gets(a); // nosemgrep: this is fine",
        "gets(a); // nosemantics",
        "int b; // nosemgrep\ngets(a);",
        "// cppcheck-suppress nullPointer\ngets(a);",
        "gets(a); // see cppcheck-suppress getsCalled",
        "gets(a); // cppcheck-suppress-macro getsCalled",
        "// cppcheck-suppress-begin getsCalled\n// cppcheck-suppress-end getsCalled\ngets(a);",
        "gets(a); // Flawfinder: hello",
        "gets(a); // use Flawfinder: ignore",
        "// Flawfinder: ignore\n\ngets(a);",
    ],
)
def test_what_only_looks_like_a_suppression_hides_nothing(content: str) -> None:
    assert len(left(content)) == 1


def test_the_reason_is_kept_and_without_one_the_comment() -> None:
    lines = ["gets(a); // jarvis-ignore[unsafe_api]: n < 9 \u202e", "gets(a); /* NOLINT(*) ok */", "gets(a); // nosem"]

    hits = [hit for hit in scan("\n".join(lines)).hits if hit.pattern == "unsafe_api"]
    assert [hit.suppressed for hit in hits] == ["n < 9 \\u202e", "NOLINT(*) ok", "nosem"]


def test_rust_comments_nest_and_suppress() -> None:
    content = 'unsafe { *a } // jarvis-ignore[unsafe]: ffi\n/* /* x */ jarvis-ignore: y */ unsafe { r"// NOLINT"; }'

    assert left(content, "rust") == []
    assert left('unsafe { *a(r#"// jarvis-ignore: "#) }', "rust") == [1]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("// jarvis-ignore[unsafe_api]: x\nint a;", ["no rule fires here"]),
        ("int a; // jarvis-ignore: x", ["no rule fires here"]),
        ("gets(a); // jarvis-ignore[unsafe_ap, unsafe_api]: x", ["no such rule: unsafe_ap"]),
        ("gets(a); // jarvis-ignore[unsafe_api]", ["gives no reason"]),
        ("gets(a); // jarvis-ignore: ", ["gives no reason"]),
        ("gets(a); // jarvis-ignore: x", []),
        ("int a; // NOLINT", []),
        ("int a; // nosemgrep: unsafe_api", []),
        ('char *a = "// jarvis-ignore: x";', []),
    ],
)
def test_our_own_comments_are_remarked_where_they_do_nothing_or_say_no_reason(content: str, says: list[str]) -> None:
    remarks = scan(content).remarks

    assert [remark.says for remark in remarks] == says
    assert all((remark.line, remark.text.startswith("jarvis-ignore")) == (1, True) for remark in remarks)


def test_a_rule_that_was_not_looked_for_makes_no_suppression_unused() -> None:
    rules = [rule for rule in RULES_BY_PATTERN.values() if rule.pattern != "unsafe_api"]
    found = Scanner(rules=rules).scan(b"gets(a); // jarvis-ignore[unsafe_api]: x", language="c/cpp")

    assert (found.hits, found.remarks) == ((), ())


def test_of_many_remarks_of_a_file_the_first_are_told_and_the_rest_counted() -> None:
    remarks = scan("// jarvis-ignore: x\n" * (REMARKS_MAX + 9)).remarks

    assert [remark.line for remark in remarks[:REMARKS_MAX]] == list(range(1, REMARKS_MAX + 1))
    assert remarks[REMARKS_MAX:] == ((REMARKS_MAX + 1, "9 more in this file", "not listed"),)


@pytest.mark.parametrize(
    "content",
    [
        "gets(a); // jarvis-ignore[unsafe_api]: x\n// NOLINTNEXTLINE\ngets(a); // its4: no",
        "gets(a); /* RATS: ignore */",
        "// NOSEM\ngets(a); // cppcheck-suppress x jarvis-ignore: y",
    ],
)
def test_engines_agree_on_what_is_suppressed(content: str) -> None:
    assert len({Scanner(engine).scan(content.encode(), language="c/cpp") for engine in engines()}) == 1


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize(
    "unit",
    [
        "/* NOLINTBEGIN(a) */",
        "// jarvis-ignore: x\n",
        "gets(a); // NOLINT\n",
        "gets(a); /* NOLINTBEGIN */\n",
        "/*NOLINT*/",
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_hostile_suppressions_are_read_in_bounded_time(unit: str, inside: bool) -> None:
    if inside:
        unit = unit.replace("/*", "").replace("*/", "")
    content = "gets(a);\n" + ("/*" if inside else "") + unit * 60_000
    began = time.process_time()

    assert scan(content).hits[0].line == 1
    assert_cpu_within(8, since=began)


def test_checks_of_others_mean_rules_by_small_letters() -> None:
    assert all(name == name.lower() and rules for name, rules in FOREIGN.items())
