"""Alerts of compilers, clang-tidy and cppcheck have the weakness of their rule where the report names none."""

import json
from importlib.resources import files

import pytest

from jarvis_workers.sec.alerts import known_weaknesses
from jarvis_workers.sec.alerts.alert import Alert
from jarvis_workers.sec.alerts.known_weaknesses import with_weakness
from jarvis_workers.sec.alerts.report_forms import read_alerts
from jarvis_workers.sec.cwe import CWE_MAX


def test_a_rule_has_one_weakness() -> None:
    text = files(known_weaknesses.__package__).joinpath("known_weaknesses.json").read_text("utf-8")
    for by_cwe in json.loads(text).values():
        rules = [rule for named in by_cwe.values() for rule in named]
        assert len(rules) == len(set(rules))
        assert all(0 < int(cwe) < CWE_MAX for cwe in by_cwe)


@pytest.mark.parametrize(
    ("tool", "rule", "text", "cwe"),
    [
        ("gcc", "use-after-free", "pointer 'p' used after 'free'", 416),
        ("GNU C17", "-Wstringop-overflow=", "writing 8 bytes", 787),
        ("GNU C++17", "-Warray-bounds", "subscript 4 is outside", 119),
        ("gcc", "unused-parameter", "unused parameter 'n'", 0),
        ("clang-tidy", "clang-diagnostic-uninitialized", "'n' is uninitialized", 457),
        ("clang-tidy", "clang-analyzer-core.NullDereference", "Dereference of null pointer", 476),
        ("clang-tidy", "clang-analyzer-core.NullDereference", "Dereference of undefined pointer value", 457),
        ("clangsa", "unix.Malloc", "Use of memory after it is freed", 416),
        ("clang", "unix.Malloc", "Attempt to free released memory", 415),
        ("clang", "unix.Malloc", "Potential leak of memory pointed to by 'p'", 401),
        ("clang", "unix.Malloc", "Argument to free() is offset by 4 bytes from the start of memory", 761),
        ("clang", "unix.Malloc", "Argument to free() is the address of a local, which is not memory allocated by", 590),
        ("clang-tidy", "bugprone-use-after-move,hicpp-invalid-access-moved", "used after it was moved", 672),
        ("clang-tidy", "bugprone-branch-clone", "if with identical branches", 0),
        ("Cppcheck", "nullPointer", "Null pointer dereference: p", 476),
        ("ESLint", "nullPointer", "", 0),
        ("Semgrep", "use-after-free", "", 0),
    ],
)
def test_the_weakness_follows_from_tool_rule_and_text(tool: str, rule: str, text: str, cwe: int) -> None:
    assert with_weakness(Alert(tool, rule, text, "a.c", 1)).cwe == cwe


def test_a_weakness_that_a_report_names_stays_but_one_that_says_little() -> None:
    cppcheck = Alert("cppcheck", "invalidContainer", "", "a.cpp", 1)
    assert with_weakness(Alert("gcc", "use-after-free", "", "a.c", 1, cwe=825)).cwe == 825
    assert with_weakness(cppcheck._replace(cwe=664)).cwe == 416
    assert with_weakness(cppcheck._replace(cwe=664, rule="va_end_missing")).cwe == 664


CPPCHECK = (
    b'<results version="2"><errors><error id="deallocuse" severity="error"><location file="a.c" line="1"/>'
    b"</error></errors></results>"
)
RUN = {"tool": {"driver": {"name": "cppcheck"}}, "results": [{"ruleId": "deallocuse"}]}
SARIF = {"version": "2.1.0", "runs": [RUN]}


@pytest.mark.parametrize(
    "report",
    [
        b"a.c:1:2: warning: pointer 'p' used after 'free' [-Wuse-after-free]\n",
        b"a.c:1:2: warning: Use of memory after it is freed [clang-analyzer-unix.Malloc]\n",
        CPPCHECK,
        json.dumps(SARIF).encode(),
    ],
)
def test_reports_of_every_form_have_it(report: bytes) -> None:
    assert [alert.cwe for alert in read_alerts(report).alerts] == [416]
