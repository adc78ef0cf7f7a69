"""Dataclasses that are stored in a row as a JSON object, such as the options of runs and the payloads of jobs."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any, Self


@dataclass(frozen=True)
class JsonRecord:
    """The base of frozen dataclasses whose fields are the keys of a JSON object.

    The metadata of a field may have a function `read`, which converts a JSON value to the type of the field.
    """

    def encode(self) -> dict[str, Any]:
        """Return the record as a dict for JSON; fields that are None are left out."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: _plain(value) for name, value in values.items() if value is not None}

    @classmethod
    def decode(cls, content: Mapping[str, Any]) -> Self:
        """Return the record that `encode` wrote; unknown keys are ignored, missing ones get their defaults."""
        readers: dict[str, Callable[[Any], Any]] = {one.name: one.metadata.get("read", _same) for one in fields(cls)}
        return cls(**{name: readers[name](value) for name, value in content.items() if name in readers})

    def to_json(self) -> str:
        """Return the JSON text of the record, with its keys in the order of the fields."""
        return json.dumps(self.encode())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the record that `to_json` wrote."""
        return cls.decode(json.loads(text))


def _plain(value: Any) -> Any:
    """Convert a nested value for JSON: named tuples, dataclasses and models of pydantic become objects."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, JsonRecord):
        return value.encode()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value._asdict() if hasattr(value, "_asdict") else value


def _same(value: Any) -> Any:
    return value
