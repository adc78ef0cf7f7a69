"""Types of C as plain values, with the layout that clang computed for the target of the unit.

| kind | is | its fields |
|---|---|---|
| void, bool | | |
| integer | also `char` | signed |
| floating | size 4 and 8; `long double`, `_Float16`, `__float128` are "other" | |
| enum | | key; target: its integer type |
| record | a struct or union | key |
| pointer | | target; const if what it points to is const |
| array | of constant length | target, length |
| incomplete_array | `T x[]`, a flexible array member | target |
| variable_array | VLA | target |
| function | | target: the result; parameters, variadic, prototyped |
| other | vector, complex, `long double`, … | |

All types are canonical: typedefs are resolved.
"""

from dataclasses import dataclass
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

    `spelling` is clang's, without qualifiers.  `size` and `align` are bytes, -1 for incomplete and function types.
    `key` is that of the symbol of a record or enum.
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


class Field(NamedTuple):
    """A member of a record. `offset` and `width` are bits; `width` is 0 but for a bit-field.

    The member of an anonymous struct or union has the name "".
    """

    name: str
    type: CType
    offset: int
    width: int = 0


class Record(NamedTuple):
    """A struct or union; `size` is -1 if the unit does not define it. An anonymous one has the name ""."""

    key: str
    name: str
    kind: Literal["struct", "union"]
    size: int
    align: int
    fields: tuple[Field, ...]
    file: bytes
    line: int


class CDefinition(NamedTuple):
    """A function or global that a unit defines, with its tree. `type` is that of the function or variable."""

    key: str
    name: str
    extent: Extent
    internal: bool
    type: CType
    tree: SyntaxNode


class CDeclaration(NamedTuple):
    """A function or global that the unit uses but does not define. `project`: it is declared below the root."""

    key: str
    name: str
    type: CType
    project: bool


@dataclass(frozen=True, slots=True)
class UnitDefinitions:
    """What a translation of a unit needs, beside its symbols.

    `types` are the types of all nodes of the trees by `SyntaxNode.type`; a spelling that means two types in the unit
    (types declared within functions) is in `ambiguous` and not in `types`.  `records` are those that the types name, by
    key, in the order of their keys; enumerators are values of their nodes.
    """

    file: bytes
    definitions: tuple[CDefinition, ...]
    declared: tuple[CDeclaration, ...]
    types: dict[str, CType]
    records: dict[str, Record]
    ambiguous: frozenset[str] = frozenset()
