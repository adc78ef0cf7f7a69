"""The rows of rule files with `mode: taint`: sources, sinks, sanitizers and propagators as patterns of calls."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from jarvis_workers.sec.rulesets.rule_rows import RuleRow
from jarvis_workers.settings.yamlfiles import Checked
from jarvis_workers.source.call_patterns import PATTERN_MAX, CallPattern, parse_call, parse_condition

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


def is_taint_row(row: object) -> bool:
    """Return whether a row is, or was meant to be, a rule with `mode: taint`."""
    return isinstance(row, Mapping) and any(key in row for key in ("mode", *LISTS))


def patterns_in(row: Mapping[str, Any]) -> int:
    """Return the number of patterns of a row."""
    return sum(len(row.get(name, ())) for name in LISTS)


def _refuse_unbound(key: str, focus: str | None, call: CallPattern, *others: str) -> None:
    options = (*call.metavariables, *others)
    if focus is not None and focus not in options:
        choice = f"write one of {', '.join(options)}" if options else "write a metavariable such as $X in it"
        raise ValueError(f"{key}: {focus} is not in the pattern; {choice}")
