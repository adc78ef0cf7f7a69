"""Table columns for the fields of a record type."""

from collections.abc import Iterator, Mapping
from types import NoneType
from typing import Any, get_args, get_type_hints

from sqlalchemy import Column, Float, Integer, String
from sqlalchemy.types import TypeEngine

COLUMN_TYPES: Mapping[type, type[TypeEngine[Any]]] = {str: String, int: Integer, float: Float}


def record_columns(record: type) -> Iterator[Column[Any]]:
    """Yield a column for each annotated field of a record type; an optional field is nullable."""
    for name, kind in get_type_hints(record).items():
        kinds = get_args(kind) or (kind,)
        yield Column(name, COLUMN_TYPES[kinds[0]], nullable=NoneType in kinds)
