"""Every rule fires on the lines marked for it, and on no other."""

import re
from functools import cache
from pathlib import Path

import pytest

from jarvis_workers.sec import rules
from jarvis_workers.sec.rules import CODE, RULES, RULES_BY_PATTERN, rules_fingerprint
from jarvis_workers.sec.scanner import Scanner
from jarvis_workers.sec.severity import CATEGORY_ORDER
from jarvis_workers.source.identity import code_files
from jarvis_workers.source.languages import language_of
from jarvis_workers.source.match import engines

EXAMPLES = Path(__file__).parent.parent / "data" / "rules"
FOLLOWED = EXAMPLES.parent / "flow"
FLOW = {rule.pattern for rule in RULES if rule.check is None}
MARK = re.compile(rb"\b(ruleid|ok): (\w+)")


@cache
def marked(kind: bytes) -> frozenset[tuple[str, str, int]]:
    return frozenset(
        (pattern.decode(), file.name, line)
        for file in sorted([*EXAMPLES.glob("*/*"), *FOLLOWED.glob("*.c*")])
        for line, text in enumerate(file.read_bytes().splitlines(), 1)
        for word, pattern in MARK.findall(text)
        if word == kind
    )


@cache
def scanner(engine: str) -> Scanner:
    """All rules, compiled once for an engine."""
    return Scanner(engine)


@pytest.mark.parametrize("engine", engines())
@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*/*")), ids=lambda file: file.name)
def test_rules_fire_on_the_marked_lines_and_on_no_other(file: Path, engine: str) -> None:
    language = language_of(file.name.encode())
    assert language is not None

    scan = scanner(engine).scan(file.read_bytes(), language=language)

    fired = {(hit.pattern, file.name, hit.line) for hit in scan.hits}
    subject = ({file.stem} if file.stem in RULES_BY_PATTERN else set(RULES_BY_PATTERN)) - FLOW
    assert {one for one in fired if one[0] in subject} == {
        one for one in marked(b"ruleid") if one[1] == file.name and one[0] in subject
    }
    assert scan.problem is None


@pytest.mark.parametrize("pattern", sorted(FLOW))
def test_what_a_flow_rule_supersedes_is_found_without_following_anything(pattern: str) -> None:
    rule = RULES_BY_PATTERN[pattern]

    assert set(rule.supersedes) <= RULES_BY_PATTERN.keys() - FLOW
    assert {RULES_BY_PATTERN[other].language for other in rule.supersedes} <= {rule.language}


@pytest.mark.parametrize("pattern", RULES_BY_PATTERN)
def test_every_rule_has_examples_and_near_misses(pattern: str) -> None:
    for kind in (b"ruleid", b"ok"):
        assert sum(one[0] == pattern for one in marked(kind)) >= 5


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.pattern)
def test_a_rule_can_stand_in_a_report(rule) -> None:  # type: ignore[no-untyped-def]
    assert rule.language in ("c/cpp", "rust")
    assert rule.category in CATEGORY_ORDER
    assert 0.4 <= rule.confidence <= 0.95
    assert rule.description.endswith(".")
    assert rule.suggestion.endswith(".")


def test_the_fingerprint_of_the_rules_is_the_same_each_time() -> None:
    assert re.fullmatch("[0-9a-f]{16}", rules_fingerprint())
    assert rules_fingerprint() == rules_fingerprint()


def test_every_file_of_the_rules_goes_into_the_fingerprint() -> None:
    folder = Path(rules.__file__).parent

    assert {file for file in folder.rglob("*") if file.suffix in (".py", ".json")} <= {
        folder.parents[1] / name.partition("/")[2] for name, _ in code_files(CODE)
    }
