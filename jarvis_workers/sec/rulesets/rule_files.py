"""Read the rules of a project from YAML files, with one-line messages for errors.

The files are untrusted: they are bounded, read by a safe loader without aliases, and validated against a model before
they are used.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator

from jarvis_workers.dataflow.calls.function_models import KINDS
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.rulesets.rule_rows import Id, Names, ProjectRule, RuleRow
from jarvis_workers.settings.yamlfiles import Checked, describe_problem, line_of, read_yaml, shown_path
from jarvis_workers.source.call_patterns import PATTERN_MAX, CallPattern, parse_call, parse_condition

# The rows of rule files with `mode: taint`: sources, sinks, sanitizers and propagators as patterns of calls.

LISTS = ("sources", "sinks", "sanitizers", "propagators")
NESTED_KEYS = ("pattern", "focus", "from", "to")
RETURNS = "returns"


def _call(text: str) -> str:
    parse_call(text)
    return text


def _sanitizer(text: str) -> str:
    return text if parse_condition(text) else _call(text)


Call = Annotated[str, Field(max_length=PATTERN_MAX), AfterValidator(_call)]
CallOrCondition = Annotated[str, Field(max_length=PATTERN_MAX), AfterValidator(_sanitizer)]
Focus = Annotated[str, Field(min_length=1, max_length=64)]


class SinkRow(Checked):
    """Calls whose argument must not be tainted: the focus, by default any argument."""

    pattern: Call
    focus: Focus | None = None

    @model_validator(mode="after")
    def _has_its_focus(self) -> "SinkRow":
        _refuse_unbound("focus", self.focus, parse_call(self.pattern))
        return self


class SourceRow(Checked):
    """Calls that taint their focus, by default what they return."""

    pattern: Call
    focus: Focus | None = None

    @model_validator(mode="after")
    def _has_its_focus(self) -> "SourceRow":
        _refuse_unbound("focus", self.focus, parse_call(self.pattern), RETURNS)
        return self


class SanitizerRow(Checked):
    """Calls that clean their focus, by default what they return; or conditions that hold if an argument is clean."""

    pattern: CallOrCondition
    focus: Focus | None = None

    @model_validator(mode="after")
    def _has_its_focus(self) -> "SanitizerRow":
        condition = parse_condition(self.pattern)
        if condition is None:
            _refuse_unbound("focus", self.focus, parse_call(self.pattern), RETURNS)
            return self
        if self.focus is None and len(condition.call.metavariables) != 1:
            raise ValueError("a condition needs a focus, such as focus: $X")
        _refuse_unbound("focus", self.focus, condition.call)
        return self


class PropagatorRow(Checked):
    """Calls that taint `to` if `from` is tainted."""

    pattern: Call
    origin: Annotated[Focus, Field(alias="from")]
    to: Focus

    @model_validator(mode="after")
    def _has_its_ends(self) -> "PropagatorRow":
        call = parse_call(self.pattern)
        _refuse_unbound("from", self.origin, call)
        _refuse_unbound("to", self.to, call, RETURNS)
        return self


class TaintRuleRow(RuleRow):
    """A rule that follows data from its sources to its sinks."""

    mode: Literal["taint"]
    language: Literal["c/cpp"]
    sources: Annotated[list[SourceRow], Field(min_length=1, max_length=100)]
    sinks: Annotated[list[SinkRow], Field(min_length=1, max_length=100)]
    sanitizers: Annotated[list[SanitizerRow], Field(min_length=1, max_length=100)] | None = None
    propagators: Annotated[list[PropagatorRow], Field(min_length=1, max_length=100)] | None = None


class ModelRow(Checked):
    """What functions of a project do, for the data-flow rules."""

    id: Id
    mode: Literal["model"]
    allocates: Names | None = None
    releases: Names | None = None
    takes: Names | None = None
    never_returns: Names | None = None
    may_return_null: Names | None = None

    @model_validator(mode="after")
    def _names_something(self) -> "ModelRow":
        if not any(getattr(self, kind) for kind in KINDS):
            raise ValueError(f"should have one of {', '.join(KINDS)}")
        return self


def is_taint_row(row: object) -> bool:
    """Return whether a row is, or was meant to be, a rule with `mode: taint`."""
    return isinstance(row, Mapping) and row.get("mode") != "model" and any(key in row for key in ("mode", *LISTS))


def patterns_in(row: Mapping[str, Any]) -> int:
    """Return the number of patterns of a row."""
    return sum(len(row.get(name, ())) for name in (*LISTS, *KINDS))


def _refuse_unbound(key: str, focus: str | None, call: CallPattern, *others: str) -> None:
    options = (*call.metavariables, *others)
    if focus is not None and focus not in options:
        choice = f"write one of {', '.join(options)}" if options else "write a metavariable such as $X in it"
        raise ValueError(f"{key}: {focus} is not in the pattern; {choice}")


RULES_DIRECTORY = Path(".jarvis") / "rules"
SUFFIXES = (".yaml", ".yml")
FILE_BYTES = 64 * 1024
FILES_MAX = 500
RULES_MAX = 500
# Each child process compiles the rules: half a second for a thousand.
NAMES_MAX = 1_000
# The functions with a source or sink are analyzed once for each of these rules.
TAINT_RULES_MAX = 50


def rule_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files given, and those in the directories given. Raises UsageError."""
    result = {os.path.realpath(file): file for path in paths for file in _files(path)}
    if len(result) > FILES_MAX:
        raise UsageError(f"{len(result):,} rule files, limit {FILES_MAX}; merge some")
    return list(result.values())


def read_rules(files: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the rules in files, in the form that `custom_rule` takes. Raises UsageError."""
    result: dict[str, tuple[dict[str, Any], Path]] = {}
    names = taints = 0
    for file in files:
        for rule in _rules(file):
            if rule["id"] in result:
                raise UsageError(
                    f'{shown_path(file)}: rule "{rule["id"]}" is also in {shown_path(result[rule["id"]][1])}'
                )
            result[rule["id"]] = rule, file
            names += len(rule.get("calls", ())) + len(rule.get("words", ())) + patterns_in(rule)
            taints += is_taint_row(rule)
            for count, most, what in (
                (len(result), RULES_MAX, "rules"),
                (taints, TAINT_RULES_MAX, "taint rules"),
                (names, NAMES_MAX, "names"),
            ):
                if count > most:
                    raise UsageError(f"{shown_path(file)}: more than {most:,} {what} in total; remove some")
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
    is_named = isinstance(document, dict) and list(document) == ["rules"]
    rows = document["rules"] if is_named and isinstance(document, dict) else document
    if not isinstance(rows, list):
        # The settings of a clone may name any file of this machine, whose content is not to be shown.
        raise UsageError(f'{shown_path(file)}: expected a list of rules under the key "rules"')
    if len(rows) > RULES_MAX:
        raise UsageError(f"{shown_path(file)}: {len(rows):,} rules, limit {RULES_MAX}; remove some")
    for number, row in enumerate(rows):
        yield _checked(row, file, ("rules", number) if is_named else (number,))


def _checked(row: object, file: Path, at: tuple[str | int, ...]) -> dict[str, Any]:
    """Return a validated row; `at` is its position in the file."""
    is_model = isinstance(row, Mapping) and row.get("mode") == "model"
    model: type[ModelRow | TaintRuleRow | ProjectRule] = (
        ModelRow if is_model else TaintRuleRow if is_taint_row(row) else ProjectRule
    )
    try:
        rule = model.model_validate(row)
    except ValidationError as error:
        problem, position = describe_problem(error, model, NESTED_KEYS)
        raise UsageError(f"{_place(row, file, at, position)}: {problem}") from error
    if rule.id in RULES_BY_PATTERN:
        raise UsageError(f"{_place(row, file, at, ('id',))} is the id of a built-in rule; choose another id")
    return rule.model_dump(exclude_none=True, exclude_defaults=True, by_alias=True)


def _place(row: object, file: Path, at: tuple[str | int, ...], inside: Sequence[str | int]) -> str:
    """Return the file, line and rule of a problem."""
    named = row.get("id") if isinstance(row, dict) else None
    rule = f'rule "{plain(named)[:64]}"' if isinstance(named, str) else f"rule {int(at[-1]) + 1}"
    return f"{shown_path(file)}:{line_of(file, FILE_BYTES, (*at, *inside))}: {rule}"
