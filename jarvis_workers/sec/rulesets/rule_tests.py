"""Test rules on annotated example files, or on their own examples."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import read_regular, shown
from jarvis_workers.sec.examples import Tried, try_examples, try_own
from jarvis_workers.sec.rulesets.rule_files import SUFFIXES
from jarvis_workers.sec.rulesets.rulebook import Rulebook
from jarvis_workers.sec.scanner import Scanner
from jarvis_workers.source.languages import is_test, language_of

FILE_BYTES = 4_000_000


@dataclass(slots=True)
class RuleTestResult:
    """The result of a test: a summary, failures and notes, each as lines of text."""

    summary: str
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def try_rules(book: Rulebook) -> RuleTestResult:
    """Test each rule on its own bad and good example."""
    failures = [f"{rule.pattern}: {problem}" for rule in book.rules for problem in try_own(rule)]
    return RuleTestResult(f"{_count(len(book.rules), 'rule')} on their own examples", failures)


def rules_in(path: Path) -> list[Path]:
    """Return the rule files at or below `path`."""
    if path.is_dir():
        return [file for file in _below(path) if file.suffix in SUFFIXES]
    return [path] if path.suffix in SUFFIXES else []


def try_files(book: Rulebook, path: Path) -> RuleTestResult:
    """Test the project's rules, and rules named in annotations, on all examples. Raises UsageError without examples."""
    files = _examples(path)
    if not files:
        raise UsageError(f"{_shown(path)}: no C, C++ or Rust file with examples; mark lines with // ruleid: ID")
    scanner = Scanner(rules=book.rules)
    own = [rule["id"] for rule in book.project]
    tried = {file: _try(scanner, file, own) for file in files}
    marks = sum(one.marks for one in tried.values())
    named = frozenset[str]().union(*(one.rules for one in tried.values()))
    result = RuleTestResult(f"{_count(marks, 'mark')} of {_count(len(named), 'rule')} in {_count(len(files), 'file')}")
    for file, one in tried.items():
        result.failures += [
            f"{_shown(file)}:{failure.line}: {failure.what} {failure.pattern}" for failure in one.failures
        ]
    if not marks and not result.failures:
        raise UsageError(f"{_shown(path)}: no line is marked; mark lines with // ruleid: ID or // ok: ID")
    result.failures += _own_examples(book)
    result.notes += [f"note: no example marks where {rule} fires" for rule in own if rule not in named]
    return result


def _own_examples(book: Rulebook) -> list[str]:
    own = {rule["id"] for rule in book.project}
    rules = [rule for rule in book.rules if rule.pattern in own]
    return [f"{rule.pattern}: {problem}" for rule in rules for problem in try_own(rule)]


def _try(scanner: Scanner, file: Path, own: Sequence[str]) -> Tried:
    name = os.fsencode(file.name)
    language = language_of(name)
    assert language is not None
    try:
        content = read_regular(file, FILE_BYTES)
    except OSError as error:
        raise UsageError(f"{_shown(file)}: cannot be read: {error.strerror}") from error
    if len(content) > FILE_BYTES:
        raise UsageError(
            f"{_shown(file)} is larger than {FILE_BYTES // 1_000_000} MB; split it into smaller example files"
        )
    return try_examples(scanner, content, language, own, test=is_test(name))


def _examples(path: Path) -> list[Path]:
    """Return the example files of a path; those of a rule file are next to it and have the same stem."""
    if path.is_dir():
        return [file for file in _below(path) if _is_source(file)]
    if not path.exists():
        raise UsageError(f"{_shown(path)}: no such file or directory")
    if path.suffix in SUFFIXES:
        return sorted(file for file in path.parent.iterdir() if file.stem == path.stem and _is_source(file))
    return [path] if _is_source(path) else []


def _below(path: Path) -> Iterator[Path]:
    """Yield all files below a directory without following links, which can lead outside or form loops."""
    for place, directories, names in os.walk(path):
        directories.sort()
        yield from (Path(place, name) for name in sorted(names))


def _is_source(file: Path) -> bool:
    return language_of(os.fsencode(file.name)) is not None and file.is_file()


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _shown(path: Path) -> str:
    return shown(os.fsencode(path))
