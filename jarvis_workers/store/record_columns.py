"""Table columns for the fields of a record type, and their values."""

import json
from collections.abc import Iterable, Iterator, Mapping
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from sqlalchemy import Boolean, Column, Float, Integer, String, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

from jarvis_workers.store.sql import storable

COLUMN_TYPES: Mapping[type, type[TypeEngine[Any]]] = {int: Integer, float: Float, bool: Boolean}
# Longer than every word of a literal type.
WORD = String(16)


class JsonList(TypeDecorator[tuple[Any, ...]]):
    """A tuple of texts, or of named tuples, as a list in JSON."""

    impl, cache_ok = Text, True

    def __init__(self, item: type) -> None:
        super().__init__()
        self.item = item

    def process_bind_param(self, value: tuple[Any, ...] | None, dialect: Any) -> str | None:
        """Return the JSON of a value; of texts, it has only ASCII characters."""
        if value is None:
            return None
        is_text = self.item is str
        rows = value if is_text else [one._asdict() for one in value]
        return storable(json.dumps(rows, ensure_ascii=is_text))

    def process_result_value(self, value: str | None, dialect: Any) -> tuple[Any, ...] | None:
        """Return the value of its JSON."""
        if value is None:
            return None
        rows = json.loads(value)
        return tuple(rows if self.item is str else (self._record(row) for row in rows))

    def _record(self, row: Mapping[str, Any]) -> Any:
        names: tuple[str, ...] = self.item._fields  # type: ignore[attr-defined]
        return self.item(*(row[name] for name in names))


def record_columns(
    record: type,
    text: type[TypeEngine[Any]] = String,
    *,
    key: str | None = None,
    without: tuple[str, ...] = (),
    **types: TypeEngine[Any],
) -> Iterator[Column[Any]]:
    """Yield a column for each annotated field of a record type; an optional field is nullable.

    `text` is the type of texts, `types` are those of certain fields; the field `key` is part of the primary key.
    """
    for name, hint in get_type_hints(record).items():
        if name not in without:
            column = types.get(name) or _column_type(hint, text)
            yield Column(name, column, primary_key=name == key, nullable=NoneType in get_args(hint))


def record_row(columns: Iterable[Column[Any]], record: object) -> dict[str, Any]:
    """Return the values of columns, in which texts are storable."""
    values = ((column.key, getattr(record, column.key)) for column in columns)
    return {name: storable(value) if isinstance(value, str) else value for name, value in values}


def _column_type(hint: Any, text: type[TypeEngine[Any]]) -> TypeEngine[Any]:
    kind = get_args(hint)[0] if NoneType in get_args(hint) else hint
    if get_origin(kind) is Literal:
        return WORD
    if get_origin(kind) is tuple:
        return JsonList(get_args(kind)[0])
    return COLUMN_TYPES.get(kind, text)()
