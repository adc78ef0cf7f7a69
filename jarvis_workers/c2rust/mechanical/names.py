"""The Rust names that a translation uses, and the items of the crate that a translated body uses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from jarvis_workers.c2rust.record_layout import BitField
from jarvis_workers.c2rust.rust_names import KEYWORDS, identifier
from jarvis_workers.source.clang.c_types import CType


class RecordNames(Protocol):
    """Types as Rust text; fields by the key of their record and their number there."""

    def rust_type(self, type_: CType) -> str: ...

    def field_name(self, key: str, index: int) -> str:
        """Return the name of a field, or the name of the accessors of a bit-field: `b()` and `set_b(value)`."""

    def bit_field(self, key: str, index: int) -> BitField | None: ...

    def is_padded(self, key: str) -> bool:
        """Return whether the Rust type has more fields than C's."""


@dataclass(frozen=True)
class Names:
    """Project-wide names.

    `symbols` are the Rust names of functions and globals by key; one that is missing has its C name.  `signatures` are
    the types of functions by key that the crate declares; a unit that declares another type calls through a cast.
    `owners` are the type names of the units that define functions, by key of the function.
    `reserved` are names that no local variable can have: those of statics and constants that a glob imports.
    """

    types: RecordNames
    symbols: Mapping[str, str] = field(default_factory=dict)
    signatures: Mapping[str, CType] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    owners: Mapping[str, RecordNames] = field(default_factory=dict)

    def symbol(self, key: str, name: str) -> str:
        return self.symbols.get(key) or identifier(name)


class SymbolUse(NamedTuple):
    """A function, global or record that a body mentions; `name` is that of C, `type` what the unit declares."""

    kind: Literal["function", "global", "record"]
    key: str
    name: str
    type: CType


class RustBody(NamedTuple):
    """The items of a translated definition, and the symbols that they mention, ordered by key."""

    text: str
    uses: tuple[SymbolUse, ...]


GENERATED_LABEL = re.compile(r"(?:loop|once|next|switch|case)_\d+|machine")


def rust_label(name: str) -> str:
    """Return a C label as a Rust label that differs from all generated labels."""
    plain = identifier(name).removeprefix("r#")
    return f"'{plain}_" if plain in KEYWORDS or GENERATED_LABEL.fullmatch(plain) else f"'{plain}"
