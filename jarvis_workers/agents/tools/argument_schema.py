"""Check the arguments of a call against a JSON schema that others wrote.

Only names, types and enumerations are checked, and only where the schema is well-formed; the tool checks the rest. A
whole validator would evaluate patterns and references of an untrusted schema.
"""

from collections.abc import Callable, Mapping
from typing import Any

from jarvis_workers.agents.tools.tool import BadCall

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
