"""The report that ends an agent's task: a value of a given type, validated with pydantic.

How the report is requested depends on the model: a JSON schema for its answer, the tool `submit_report`, or YAML
between tags. An unreadable report is requested again, `AgentLimits.reasks` times; then the conversation ends as
inconclusive and is never treated as "safe".
"""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from jarvis_workers.agents.loop.prompts import fill
from jarvis_workers.agents.loop.repair import Unreadable, bodies, plain_key, readings, with_plain_fields
from jarvis_workers.agents.tools.tool import BadCall, Tool, ToolOutcome
from jarvis_workers.models.platforms.profiles import Profile

SUBMIT = "submit_report"
WRAPPER = "report"
WRAPPERS = frozenset({"report", "reports", "items", "results", "findings", "clusters"})

# Instead of pydantic's message, which names the Python class.
NOT_AN_OBJECT = "Input should be an object with the fields of the report"

Way = Literal["schema", "tool", "tags"]


class BadReport(Exception):
    """An invalid report; the message is for the model."""


class ReportForm:
    """The form of a report: any type that pydantic supports, and the tag around a report in text form."""

    def __init__(self, of: Any, tag: str = "REPORT") -> None:
        self.tag = tag
        self._adapter: TypeAdapter[Any] = TypeAdapter(of)

    def way(self, profile: Profile, *, has_tools: bool) -> Way:
        """Return how a report is requested from a model with this profile."""
        if profile.schemas == "json_schema" and (profile.schema_with_tools or not has_tools):
            return "schema"
        return "tool" if profile.tools == "native" else "tags"

    def explain(self, way: Way, language: str = "en") -> str:
        """Return the model's instructions for handing in the report."""
        return fill(f"report_{way}", tag=self.tag, language=language)

    def describe(self, way: Way) -> str:
        """Return the JSON schema of the report for the system prompt, if requests have no other place for it."""
        return json.dumps(self._own_schema, ensure_ascii=False) if way == "tags" else ""

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """The strict JSON schema of the report: an object (lists are wrapped) with exactly these fields."""
        own = dict(self._own_schema)
        definitions = own.pop("$defs", None)
        result = own if own.get("type") == "object" else _object(own)
        strict: Mapping[str, Any] = _strict(result | ({"$defs": definitions} if definitions else {}))
        return strict

    def tool(self) -> Tool:
        """Return the tool `submit_report`; calling it ends the task."""
        return Tool(
            name=SUBMIT,
            description="Submit the findings. This ends the task.",
            parameters=self.schema,
            read=self._read_arguments,
            run=lambda _: ToolOutcome(stdout="handed in"),
            quick=True,
        )

    def read_value(self, value: Any) -> Any:
        """Validate a decoded value and return it as a report; raises BadReport."""
        try:
            return self._adapter.validate_python(self._unwrapped(value))
        except ValidationError as error:
            wrong = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, wrong["loc"]))
            what = NOT_AN_OBJECT if wrong["type"] == "model_type" else wrong["msg"]
            raise BadReport(f"{place or 'the report'}: {what}") from error

    def read_text(self, answer: str) -> Any:
        """Parse and return the report in the text of an answer; raises BadReport."""
        try:
            result = [self._read_body(body) for body in bodies(answer, self.tag)]
        except Unreadable as error:
            raise BadReport(str(error)) from error
        if any(other != result[0] for other in result[1:]):
            raise BadReport(f"there are {len(result)} different reports; give one")
        return result[0]

    def _read_body(self, body: str) -> Any:
        problem = BadReport("the report is neither YAML nor JSON")
        for value in readings(body, self._words):
            try:
                return self.read_value(with_plain_fields(self._unwrapped(value), self._own_schema))
            except BadReport as error:
                problem = error
            except ValueError as error:
                problem = BadReport(str(error))
        raise problem

    def _read_arguments(self, arguments: Mapping[str, Any]) -> Any:
        try:
            return self.read_value(arguments)
        except BadReport as error:
            raise BadCall(str(error)) from error

    def _unwrapped(self, value: Any) -> Any:
        """Normalize a list report: unwrap a list in an object (as schemas require), and put a bare item in a list."""
        if self._own_schema.get("type") != "array" or not isinstance(value, Mapping):
            return value
        inner = list(value.values())
        name = plain_key(next(iter(value), ""))
        if len(inner) == 1 and (name in WRAPPERS or name == self.tag.lower()) and isinstance(inner[0], list):
            return inner[0]
        return [value]

    @cached_property
    def _own_schema(self) -> Mapping[str, Any]:
        return self._adapter.json_schema()

    @cached_property
    def _words(self) -> frozenset[str]:
        """The names of all text fields."""
        parts = [self._own_schema, *self._own_schema.get("$defs", {}).values()]
        fields = [field for part in parts for field in part.get("properties", {}).items()]
        return frozenset(name for name, about in fields if about.get("type") == "string" and "enum" not in about)


def _object(inner: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {WRAPPER: dict(inner)}}


def _strict(part: Any) -> Any:
    if isinstance(part, list):
        return [_strict(inner) for inner in part]
    if not isinstance(part, Mapping):
        return part
    strict = {name: _strict(inner) for name, inner in part.items() if name not in ("title", "default")}
    if isinstance(part.get("properties"), Mapping):
        strict["properties"] = {name: _strict(inner) for name, inner in part["properties"].items()}
        strict |= {"required": list(part["properties"]), "additionalProperties": False}
    return strict
