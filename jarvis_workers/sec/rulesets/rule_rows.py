"""The rows of rule files: what they may contain, and the rules that find names and calls."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from jarvis_workers.extras import advice
from jarvis_workers.settings.yamlfiles import Checked, one_line
from jarvis_workers.source.safe_regex import PATTERN_MAX, compile_linear, is_linear_here


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


class RuleRow(Checked):
    """What the rules of a file have in common."""

    id: Id
    category: Annotated[str, Field(pattern=r"\A[a-z][a-z0-9_]{1,31}\z")]
    cwe: Annotated[int, Field(ge=1, le=9_999)]
    confidence: Annotated[float, Field(ge=0.4, le=0.95)]
    message: Sentence
    suggestion: Sentence
    not_in_tests: bool = False
    title: Annotated[Sentence, Field(max_length=80)] | None = None
    verification: Sentence | None = None
    bad: Example | None = None
    good: Example | None = None


class ProjectRule(RuleRow):
    """A rule that finds names and calls."""

    language: Literal["c/cpp", "rust"]
    calls: Names | None = None
    words: Names | None = None
    argument: Annotated[list[Argument], Field(min_length=1, max_length=8), BeforeValidator(_listed)] | None = None
    argument_count: Annotated[ArgumentCount, BeforeValidator(_ranged)] | None = None

    @model_validator(mode="after")
    def _fits_together(self) -> "ProjectRule":
        if (self.calls is None) == (self.words is None):
            raise ValueError("should have either calls or words")
        if self.words and (self.argument or self.argument_count):
            raise ValueError("a condition on arguments needs calls, not words")
        return self
