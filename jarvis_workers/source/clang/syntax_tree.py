"""The syntax tree of a definition as plain values: what a mechanical translation of C stands on.

| kind | name | children |
|---|---|---|
| function | its name | parameters, body |
| parameter | its name | |
| variable | its name; operator: static, extern, register or "" | initialiser, if any |
| type | its name | (a type declared within a function) |
| compound | | statements |
| declaration | | variables, types, functions |
| if | | condition, then, else if any |
| switch, while | | condition, body |
| do | | body, condition |
| for | | initialisation, condition, increment, body; None for what is left out |
| case | | value, end of the range if any, statement |
| default, label | of the label | statement |
| goto, address_of_label | of the label | |
| computed_goto, return | | expression, if any |
| break, continue, null | | |
| asm | | operands |
| integer, floating, character, string | the literal as C, where it is known | |
| name | the name | |
| member | the field; operator: "." or "->" | object |
| call | | callee, arguments |
| subscript | | array, index |
| unary, binary | (operator: as in C, "x++" and "x--" for the postfix ones) | operands |
| conditional | | condition, then, else; condition and else for `a ?: b` |
| cast, implicit_cast | | expression |
| parentheses, statement_expression | | expression; compound |
| sizeof | sizeof, alignof | expression, if it has one |
| compound_literal | | initialiser list |
| initializers | | expressions |
| designated | the fields, "[]" for an index, "[...]" for a range: ".a[].b" | indices, value |
| generic | | controlling expression, then those of the associations |
| va_arg | | list |
| builtin | its name | operands; in libclang's order |
| unknown | what libclang calls it | the children as they are |

`value` is the value of a constant that is an integer or floating; of an expression only where that is not plain from
the children: sizeof, offsetof, enumerators, `_Generic` over constants.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SyntaxNode:
    """A statement, expression or declaration.

    `type` is C's spelling, "" for statements. A name has the key of the function, global or enumeration it refers to as
    `target`, or the number of the local variable or parameter, which counts from 1 within the function, as `local`.
    """

    kind: str
    line: int
    type: str = ""
    name: str = ""
    operator: str = ""
    target: str = ""
    local: int = 0
    value: int | float | None = None
    children: "tuple[SyntaxNode | None, ...]" = ()


def walk(node: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield a node and all below it in pre-order."""
    remaining = [node]
    while remaining:
        one = remaining.pop()
        yield one
        remaining.extend(child for child in reversed(one.children) if child is not None)
