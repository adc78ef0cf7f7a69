"""C types as plain values, with the layout that clang computed for the target of the unit.

| kind | meaning | fields |
|---|---|---|
| void, bool | | |
| integer | also `char`, `__int128` | signed |
| floating | size 4 and 8; `long double`, `_Float16`, `__float128` are "other" | |
| enum | | key; target: its integer type |
| record | a struct or union | key |
| pointer | | target; const if the pointee is const |
| array | of constant length | target, length |
| incomplete_array | `T x[]`, a flexible array member | target |
| variable_array | VLA | target |
| function | | target: the result type; parameters, variadic, prototyped |
| other | vector, complex, `long double`, … | |

All types are canonical: typedefs are resolved.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from jarvis_workers.source.clang.syntax_tree import SyntaxNode
from jarvis_workers.source.clang.unit import Extent

TypeKind = Literal[
    "void",
    "bool",
    "integer",
    "floating",
    "enum",
    "record",
    "pointer",
    "array",
    "incomplete_array",
    "variable_array",
    "function",
    "other",
]


@dataclass(frozen=True, slots=True)
class CType:
    """A canonical type; see the table above.

    `spelling` is clang's, without qualifiers.  `size` and `align` are in bytes, -1 for incomplete and function types.
    `key` is the symbol key of a record or enum.  `volatile` refers to the type itself, `const` to the pointee of a
    pointer.
    """

    kind: TypeKind
    spelling: str
    size: int = -1
    align: int = -1
    signed: bool = False
    const: bool = False
    key: str = ""
    target: "CType | None" = None
    length: int = 0
    parameters: "tuple[CType, ...]" = ()
    variadic: bool = False
    prototyped: bool = True
    volatile: bool = False


class Field(NamedTuple):
    """A member of a record. `offset` and `width` are in bits; `width` is 0 unless the member is a bit-field.

    A member that is an anonymous struct or union has the name "", and so has a bit-field used as padding; a bit-field
    of width 0 ends the storage unit.
    """

    name: str
    type: CType
    offset: int
    width: int = 0
    bit_field: bool = False


class Record(NamedTuple):
    """A struct or union; `size` is -1 if the unit does not define it, `name` is "" if it is anonymous."""

    key: str
    name: str
    kind: Literal["struct", "union"]
    size: int
    align: int
    fields: tuple[Field, ...]
    file: bytes
    line: int


class EnumDefinition(NamedTuple):
    """An enum with the names and values of its constants; `type` is its integer type, `name` is "" without a name."""

    key: str
    name: str
    type: CType
    constants: tuple[tuple[str, int], ...]
    file: bytes
    line: int


class CDefinition(NamedTuple):
    """A function or global that a unit defines, with its type and its syntax tree.

    A global without an initialiser is zero.  `constant` means that the variable, or the elements of the array, are
    const.
    """

    key: str
    name: str
    extent: Extent
    internal: bool
    type: CType
    tree: SyntaxNode
    constant: bool = False


class CDeclaration(NamedTuple):
    """A function or global that the unit uses but does not define; `project` is true if it is declared below the root.

    `symbol` is its name for the linker; an `asm` label in the declaration may set another name.
    """

    key: str
    name: str
    type: CType
    project: bool
    symbol: str


@dataclass(frozen=True, slots=True)
class UnitDefinitions:
    """The data of a unit that the translation needs in addition to the symbols.

    `types` maps `SyntaxNode.type` to the type, for all nodes of the trees.  `records` and `enums` are those named by
    these types, sorted by key; enumerators are values of their nodes.
    """

    file: bytes
    definitions: tuple[CDefinition, ...]
    declared: tuple[CDeclaration, ...]
    types: dict[str, CType]
    records: dict[str, Record]
    enums: dict[str, EnumDefinition] = field(default_factory=dict)
