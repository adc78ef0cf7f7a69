"""The Rust names that a translation uses, and the items of the crate that a translated body uses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from jarvis_workers.c2rust.rust_names import KEYWORDS, BitField, identifier
from jarvis_workers.source.clang.c_types import CType


class RecordNames(Protocol):
    """Looks up the Rust names of types, and of fields by the key of their record and their index in it."""

    def rust_type(self, type_: CType) -> str: ...

    def field_name(self, key: str, index: int) -> str:
        """Return the name of a field, or the name of the accessors of a bit-field: `b()` and `set_b(value)`."""

    def bit_field(self, key: str, index: int) -> BitField | None: ...

    def is_padded(self, key: str) -> bool:
        """Return whether the Rust type has more fields than the C type."""


@dataclass(frozen=True)
class Names:
    """Project-wide names.

    `symbols` maps keys of functions and globals to Rust names; those not listed have their C names.  `signatures` maps
    keys of functions to their declared types in the crate; a unit that declares a different type calls through a cast.
    `owners` maps keys of functions to the type names of the unit that defines them. `reserved` are names that local
    variables must not have, because globs import statics and constants with these names.
    """

    types: RecordNames
    symbols: Mapping[str, str] = field(default_factory=dict)
    signatures: Mapping[str, CType] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()
    owners: Mapping[str, RecordNames] = field(default_factory=dict)

    def symbol(self, key: str, name: str) -> str:
        return self.symbols.get(key) or identifier(name)


class SymbolUse(NamedTuple):
    """A function, global or record that a body mentions; `name` is the C name, `type` as declared in the unit."""

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
    """Return the Rust label for a C label, different from all generated labels."""
    plain = identifier(name).removeprefix("r#")
    return f"'{plain}_" if plain in KEYWORDS or GENERATED_LABEL.fullmatch(plain) else f"'{plain}"
