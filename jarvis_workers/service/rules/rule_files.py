"""Read the rules of a project from YAML files, with one-line messages for errors.

The files are untrusted: they are bounded, read by a safe loader without aliases, and validated against a model before
they are used.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from jarvis_workers.errors import UsageError
from jarvis_workers.extras import advice
from jarvis_workers.paths import plain
from jarvis_workers.reprs import short
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.service.rules.yamlfiles import Checked, describe_problem, one_line, read_yaml, shown_path
from jarvis_workers.source.safe_regex import PATTERN_MAX, compile_linear, is_linear_here

RULES_DIRECTORY = Path(".jarvis") / "rules"
SUFFIXES = (".yaml", ".yml")
FILE_BYTES = 64 * 1024
FILES_MAX = 500
RULES_MAX = 500
# Each child process compiles the rules: half a second for a thousand.
NAMES_MAX = 1_000


def _lines(text: str) -> str:
    if not text.replace("\n", "").replace("\t", "").isprintable():
        raise ValueError("should not contain control characters")
    return text


def _regex(text: str) -> str:
    if not is_linear_here():
        raise ValueError(f"needs google-re2, here and on every worker; {advice('re2')}")
    compile_linear(text)
    return text


Id = Annotated[str, Field(pattern=r"\A[a-z][a-z0-9_]{1,63}\z")]
Name = Annotated[str, Field(pattern=r"\A[A-Za-z_][A-Za-z0-9_]{0,127}\z")]
Names = Annotated[list[Name], Field(min_length=1, max_length=200)]
Sentence = Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(one_line)]
Example = Annotated[str, Field(max_length=4_000), AfterValidator(_lines)]
Pattern = Annotated[str, Field(min_length=1, max_length=PATTERN_MAX), AfterValidator(_regex)]
Count = Annotated[int, Field(ge=0, le=64)]


class Argument(Checked):
    """A condition on one argument; the first is number 1."""

    index: Annotated[int, Field(ge=1, le=64)]
    literal: bool | None = None
    regex: Pattern | None = None

    @model_validator(mode="after")
    def _asks_something(self) -> "Argument":
        if self.literal is None and self.regex is None:
            raise ValueError("should have literal or regex")
        return self


class ArgumentCount(Checked):
    min: Count | None = None
    max: Count | None = None

    @model_validator(mode="after")
    def _asks_something(self) -> "ArgumentCount":
        if self.min is None and self.max is None:
            raise ValueError("should have min or max")
        return self


def _listed(value: object) -> object:
    return [value] if isinstance(value, dict) else value


def _ranged(value: object) -> object:
    return {"min": value, "max": value} if isinstance(value, int) and not isinstance(value, bool) else value


class ProjectRule(Checked):
    """A rule in a file."""

    id: Id
    language: Literal["c/cpp", "rust"]
    category: Annotated[str, Field(pattern=r"\A[a-z][a-z0-9_]{1,31}\z")]
    cwe: Annotated[int, Field(ge=1, le=9_999)]
    confidence: Annotated[float, Field(ge=0.4, le=0.95)]
    message: Sentence
    suggestion: Sentence
    calls: Names | None = None
    words: Names | None = None
    argument: Annotated[list[Argument], Field(min_length=1, max_length=8), BeforeValidator(_listed)] | None = None
    argument_count: Annotated[ArgumentCount, BeforeValidator(_ranged)] | None = None
    not_in_tests: bool = False
    title: Annotated[Sentence, Field(max_length=80)] | None = None
    verification: Sentence | None = None
    bad: Example | None = None
    good: Example | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> "ProjectRule":
        if (self.calls is None) == (self.words is None):
            raise ValueError("should have either calls or words")
        if self.words and (self.argument or self.argument_count):
            raise ValueError("a condition on arguments needs calls, not words")
        return self


def rule_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files given, and those in the directories given. Raises UsageError."""
    result = {os.path.realpath(file): file for path in paths for file in _files(path)}
    if len(result) > FILES_MAX:
        raise UsageError(f"{len(result):,} rule files, limit {FILES_MAX}; merge some")
    return list(result.values())


def read_rules(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the rules in files, in the form that `custom_rule` takes. Raises UsageError."""
    result: dict[str, tuple[dict[str, Any], Path]] = {}
    names = 0
    for file in files:
        for rule in _rules(file):
            if rule["id"] in result:
                raise UsageError(
                    f'{shown_path(file)}: rule "{rule["id"]}" is also in {shown_path(result[rule["id"]][1])}'
                )
            result[rule["id"]] = rule, file
            if len(result) > RULES_MAX:
                raise UsageError(f"{shown_path(file)}: more than {RULES_MAX} rules in total; remove some")
            names += len(rule.get("calls", ())) + len(rule.get("words", ()))
            if names > NAMES_MAX:
                raise UsageError(f"{shown_path(file)}: more than {NAMES_MAX:,} names in total; remove some")
    return [rule for rule, _ in result.values()]


def _files(path: Path) -> Iterator[Path]:
    try:
        if not path.is_dir():
            path.stat()
            yield path
            return
        yield from sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
    except OSError as error:
        raise UsageError(f"rules: {shown_path(path)}: {error.strerror}") from error


def _rules(file: Path) -> Iterator[dict[str, Any]]:
    document = read_yaml(file, FILE_BYTES)
    rows = document.get("rules") if isinstance(document, dict) and list(document) == ["rules"] else document
    if not isinstance(rows, list):
        raise UsageError(
            f'{shown_path(file)} is {short.repr(document)}; expected a list of rules under the key "rules"'
        )
    if len(rows) > RULES_MAX:
        raise UsageError(f"{shown_path(file)}: {len(rows):,} rules, limit {RULES_MAX}; remove some")
    for number, row in enumerate(rows, 1):
        yield _checked(row, number, file)


def _checked(row: object, number: int, file: Path) -> dict[str, Any]:
    named = row.get("id") if isinstance(row, dict) else None
    place = (
        f'{shown_path(file)}: rule "{plain(named)[:64]}"'
        if isinstance(named, str)
        else f"{shown_path(file)}: rule {number}"
    )
    try:
        rule = ProjectRule.model_validate(row)
    except ValidationError as error:
        raise UsageError(f"{place}: {describe_problem(error, ProjectRule)}") from error
    if rule.id in RULES_BY_PATTERN:
        raise UsageError(f"{place} is the id of a built-in rule; choose another id")
    return rule.model_dump(exclude_none=True, exclude_defaults=True)
