"""A tool, and the outcome of a call.

Names are compared exactly; arguments are JSON and are validated by the tool's own model. `brings_foreign` marks a tool
whose output may contain untrusted text; `foreign_text` one whose description and schema others wrote; `repeatable` a
tool without external side effects, which may run again if it is unknown whether it ran; `reads_only` one without any
effect, of which an answer may contain several calls; `quick` one that never blocks; `replayed` one that runs again, for
its effect on a scratch copy, when a conversation resumes: its first result stays.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jarvis_workers.errors import UsageError

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


# execute_script: run a script in a sandbox supplied by the caller; without a sandbox, the tool does not exist.

SCRIPT_MAX = 100_000
DESCRIPTION = (
    "Run a script in a sandbox over a read-only copy of the project: no network, an empty environment, a scratch"
    " directory in $HOME, and limits on time, memory and output."
)

Interpreter = Literal["bash", "sh", "python3"]


class ScriptRunner(Protocol):
    """Runs scripts in a sandbox."""

    def __call__(self, interpreter: str, script: str) -> ToolOutcome:
        """Run a script to completion or up to its limits; failure is an outcome, not an exception."""


class ExecuteScript(ToolArguments):
    """A script and its interpreter."""

    interpreter: Interpreter = "bash"
    script_content: str = Field(min_length=1, max_length=SCRIPT_MAX)


def execute_script(run: ScriptRunner) -> Tool:
    """Return the execute_script tool for a runner."""

    def confined(arguments: ExecuteScript) -> ToolOutcome:
        return run(arguments.interpreter, arguments.script_content)

    return typed(ExecuteScript, confined, name="execute_script", description=DESCRIPTION, brings_foreign=True)


# The tools of one agent. Tool names are looked up only in this module, at dispatch.

NAME_SHOWN = 80


class Toolbox:
    """Tools by name, in the order in which they are described to a model."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise UsageError(f'there are two tools called "{tool.name}"; rename one')
            self._tools[tool.name] = tool

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    def only(self, names: Iterable[str]) -> "Toolbox":
        """Return a toolbox with only these tools, in the same order. Raises UsageError for an unknown name."""
        selection = set(names)
        unknown = sorted(selection - set(self._tools))
        if unknown:
            raise UsageError(f'unknown tool "{unknown[0]}"; available tools: {", ".join(self._tools)}')
        return Toolbox(tool for name, tool in self._tools.items() if name in selection)

    def plus(self, *tools: Tool) -> "Toolbox":
        """Return a toolbox with further tools."""
        return Toolbox((*self._tools.values(), *tools))

    def find(self, name: str) -> Tool:
        """Return a tool by name. Raises BadCall if it is not in the list."""
        tool = self._tools.get(name)
        if tool is None:
            available = ", ".join(self._tools) or "none"
            raise BadCall(f"there is no tool {name[:NAME_SHOWN]!r}; your tools are: {available}")
        return tool

    def is_replayed(self, name: str) -> bool:
        """Return whether there is a tool with this name that runs again when a conversation resumes."""
        return name in self._tools and self._tools[name].replayed

    def read(self, name: str, arguments: str) -> Mapping[str, Any]:
        """Return the parsed arguments of a call. Raises BadCall if the tool does not accept them."""
        tool = self.find(name)
        values = read_arguments(arguments)
        tool.read(values)
        return values

    def run(self, name: str, arguments: Mapping[str, Any]) -> ToolOutcome:
        """Run a tool of this toolbox; BadCall and ToolFailed become an outcome in state "error"."""
        return self.repeat(name, arguments)

    def repeat(self, name: str, arguments: Mapping[str, Any]) -> ToolOutcome:
        """Run a tool as `run` does, for the effect of a call that was counted before."""
        try:
            tool = self.find(name)
            return tool.run(tool.read(arguments))
        except (BadCall, ToolFailed) as error:
            return ToolOutcome("error", stderr=str(error))


# Check the arguments of a call against a JSON schema that others wrote.

TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}


def schema_reader(tool: str, schema: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    """Return a function that returns the arguments of a call if they match the schema; it raises BadCall."""
    properties, required = schema.get("properties"), schema.get("required")
    fields = properties if isinstance(properties, Mapping) else {}
    names = required if isinstance(required, list | tuple) else ()
    is_closed = bool(fields) and schema.get("additionalProperties", False) is False

    def read(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        missing = [name for name in names if isinstance(name, str) and name not in arguments]
        if missing:
            raise BadCall(f"{tool}: {missing[0]} is missing")
        for name, value in arguments.items():
            if name not in fields and is_closed:
                raise BadCall(f"{tool}: unknown argument {name!r}; available: {', '.join(fields)}")
            if problem := _problem(value, fields.get(name)):
                raise BadCall(f"{tool}: {name} {problem}")
        return arguments

    return read


def _problem(value: object, schema: object) -> str:
    """Return what is wrong with an argument, empty if nothing is."""
    if not isinstance(schema, Mapping):
        return ""
    declared, choices = schema.get("type"), schema.get("enum")
    types = [declared] if isinstance(declared, str) else declared if isinstance(declared, list) else []
    is_checked = bool(types) and all(isinstance(one, str) and one in TYPES for one in types)
    if is_checked and not any(_is_of(value, one) for one in types):
        return f"should be of type {' or '.join(types)}"
    if isinstance(choices, list) and value not in choices:
        return f"should be one of {', '.join(map(str, choices))}"
    return ""


def _is_of(value: object, name: str) -> bool:
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))
