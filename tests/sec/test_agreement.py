"""How likely findings are by the analyzers that report them."""

import pytest

from jarvis_workers.sec.alerts.agreement import confidence_of, is_measured
from tests.sec.verifying import found

OURS = "flow_use_after_free"
GCC, GCC_TOO, CPPCHECK = "gcc:use-after-free", "gcc:analyzer-use-after-free", "cppcheck:deallocuse"
CLANG, CHECKER = "clang-tidy:clang-analyzer-unix.Malloc", "clang-tidy:unix.Malloc"
CHECK, API = "clang-tidy:bugprone-use-after-move", "clang-tidy:clang-analyzer-security.insecureAPI.strcpy"
CODEQL = "codeql:cpp/use-after-free"


def likelihood(pattern: str, *witnesses: str, own: float = 0.6, cwe: int = 416, scanned: bool = True) -> float:
    standing, *others = (found()._replace(pattern=one, confidence=own, cwe=cwe) for one in (pattern, *witnesses))
    return confidence_of(standing, others, scanned=scanned)


@pytest.mark.parametrize(
    ("pattern", "witnesses", "expected"),
    [
        (OURS, (), 0.6),
        (OURS, (GCC,), 0.8),
        (OURS, (GCC, GCC_TOO), 0.8),
        (OURS, (GCC, CPPCHECK), 0.85),
        (OURS, (GCC, CLANG, CPPCHECK), 0.85),
        (OURS, (CHECKER,), 0.8),
        (OURS, (CHECK, API), 0.6),
        (OURS, (CODEQL,), 0.6),
        (GCC, (), 0.4),
        (GCC, (GCC_TOO,), 0.4),
        (GCC, (CLANG,), 0.5),
        (CHECK, (), 0.2),
        (API, (), 0.4),
        (CODEQL, (), 0.6),
        (CODEQL, (GCC, CLANG), 0.6),
    ],
)
def test_agreement_of_analyzers_makes_a_finding_likely(
    pattern: str, witnesses: tuple[str, ...], expected: float
) -> None:
    assert likelihood(pattern, *witnesses) == expected


def test_agreement_does_not_lower_what_a_rule_says_and_is_stable() -> None:
    assert likelihood(OURS, GCC, own=0.95) == 0.95
    raised = likelihood(OURS, GCC)
    assert likelihood(OURS, GCC, own=raised) == raised


def test_an_analyzer_alone_is_worth_more_where_no_rule_was_looking() -> None:
    assert likelihood(GCC, scanned=False) == 0.55
    assert likelihood(GCC, CPPCHECK, scanned=False) == 0.8
    assert likelihood(CODEQL, GCC, CPPCHECK, scanned=False) == 0.8
    assert likelihood(CHECK, scanned=False) == 0.4


def test_what_names_no_weakness_agrees_with_nothing() -> None:
    assert likelihood(GCC, CLANG, cwe=0, scanned=False) == 0.4
    assert likelihood(GCC, CLANG, cwe=0) == 0.2
    assert not is_measured(OURS)
    assert not is_measured("semgrep:c.gcc")
