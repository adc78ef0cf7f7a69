"""A tool, and the outcome of a call.

Names are compared exactly; arguments are JSON and are validated by the tool's own model. `brings_foreign` marks a tool
whose output may contain untrusted text; `foreign_text` one whose description and schema others wrote; `repeatable` a
tool without external side effects, which may run again if it is unknown whether it ran; `reads_only` one without any
effect, of which an answer may contain several calls; `quick` one that never blocks; `replayed` one that runs again, for
its effect on a scratch copy, when a conversation resumes: its first result stays.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

State = Literal["done", "failed", "error"]
Language = Literal["en", "zh"]
WORDS: Mapping[Language, tuple[str, str, str]] = {
    "en": ("[failed]", "[partial output]", "[error]"),
    "zh": ("[失败]", "[部分输出]", "[错误]"),
}
ARGUMENTS_MAX = 256 * 1024
# Parts of a schema that cost tokens and do not help a model.
BOUNDS = frozenset(
    [
        *("$defs", "title", "additionalProperties", "pattern", "format", "maxLength", "minLength", "maxItems"),
        *("minItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    ]
)
# Instead of pydantic's message, which names the Python class.
NOT_AN_OBJECT = "Input should be an object"
EMPTY: tuple[tuple[str, Any], ...] = (("description", None), ("default", None), ("default", []), ("default", ""))

A = TypeVar("A", bound=BaseModel)


class BadCall(Exception):
    """Raised if a call is malformed and cannot run; the message is for the model."""


class ToolFailed(Exception):
    """Raised if a tool cannot complete its task; the message is for the model."""


class ToolArguments(BaseModel):
    """Base class of tool arguments; unknown fields are rejected."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class NoArguments(ToolArguments):
    """The arguments of a tool that takes none."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The outcome of a call: done, failed (the tool ran and reported failure), or error (the tool did not run)."""

    state: State = "done"
    stdout: str = ""
    stderr: str = ""
    exit: int | None = None
    seconds: float = 0.0

    @property
    def success(self) -> bool:
        return self.state == "done"

    def text(self, language: Language = "en") -> str:
        """Return the text for the model."""
        failed, partial, error = WORDS[language]
        if self.state == "error":
            return f"{error} {self.stderr}"
        if self.state == "done":
            return self.stdout if not self.stderr else f"{self.stdout}\n[stderr]\n{self.stderr}".lstrip("\n")
        code = f" (exit {self.exit})" if self.exit is not None else ""
        header = f"{failed} {self.stderr.strip()}{code}"
        return f"{header}\n{partial}\n{self.stdout}" if self.stdout else header


@dataclass(frozen=True)
class Tool:
    """A tool of an agent; `read` validates the arguments and returns the input of `run`, or raises BadCall."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    read: Callable[[Mapping[str, Any]], Any]
    run: Callable[[Any], ToolOutcome]
    brings_foreign: bool = False
    foreign_text: bool = False
    repeatable: bool = True
    reads_only: bool = False
    quick: bool = False
    replayed: bool = False


def typed(model: type[A], run: Callable[[A], ToolOutcome], **about: Any) -> Tool:
    """Return a tool whose arguments are a pydantic model; `about` sets the other fields of Tool."""

    def read(arguments: Mapping[str, Any]) -> A:
        try:
            return model.model_validate(arguments)
        except ValidationError as error:
            raise BadCall(f"{about['name']}: {_first(error)}") from error

    return Tool(parameters=_schema(model), read=read, run=run, **about)


def read_arguments(text: str) -> Mapping[str, Any]:
    """Parse a call's arguments; empty text means no arguments. Raises BadCall."""
    if len(text) > ARGUMENTS_MAX:
        raise BadCall(f"the arguments are {len(text)} characters long, limit {ARGUMENTS_MAX}")
    try:
        document = json.loads(text or "{}", object_pairs_hook=_each_once)
    except (ValueError, RecursionError) as error:
        raise BadCall(f"the arguments are not valid JSON: {error}") from error
    if not isinstance(document, dict):
        raise BadCall("the arguments should be a JSON object")
    return document


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as an object. Raises ValueError for a duplicate key, which is ambiguous."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key occurs twice")
    return fields


def _first(error: ValidationError) -> str:
    wrong = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, wrong["loc"])) or "arguments"
    return f"{place}: {NOT_AN_OBJECT if wrong['type'] == 'model_type' else wrong['msg']}"


@cache
def _schema(model: type[BaseModel]) -> Mapping[str, Any]:
    """Return the JSON schema of a model, short: what a model violates is in the message that it gets."""
    schema = model.model_json_schema()
    compact = _compact(schema, schema.get("$defs", {}))
    assert isinstance(compact, dict)
    compact.pop("description", None)
    return compact


def _compact(part: Any, definitions: Mapping[str, Any]) -> Any:
    """Drop bounds, titles and the defaults null and [], and replace references by what they refer to."""
    if isinstance(part, list):
        return [_compact(inner, definitions) for inner in part]
    if not isinstance(part, dict):
        return part
    choices = [choice for choice in part.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1 and "default" in part:
        part = {**choices[0], **{name: value for name, value in part.items() if name != "anyOf"}}
    if reference := part.get("$ref"):
        about = {name: value for name, value in part.items() if name != "$ref"}
        part = {**definitions[reference.rpartition("/")[2]], "description": None, **about}
    short = {name: inner for name, inner in part.items() if name not in BOUNDS and (name, inner) not in EMPTY}
    return {
        name: {key: _compact(value, definitions) for key, value in inner.items()}
        if name == "properties"
        else _compact(inner, definitions)
        for name, inner in short.items()
    }
