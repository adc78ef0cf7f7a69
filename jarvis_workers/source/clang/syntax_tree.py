"""The syntax tree of a definition as plain values: the input of a mechanical translation of C.

| kind | name | children |
|---|---|---|
| function | its name | parameters, body |
| parameter | its name | |
| variable | its name; operator: cleanup, thread_local, static, extern, register or "" | initialiser, if present |
| type | its name | (a type declared within a function) |
| compound | | statements |
| declaration | | variables, types, functions |
| if | | condition, then, else if present |
| switch, while | | condition, body |
| do | | body, condition |
| for | | initialisation, condition, increment, body; None for an omitted part |
| case | | value, end of the range if present, statement |
| default, label | of the label | statement |
| goto, address_of_label | of the label | |
| computed_goto, return | | expression, if present |
| break, continue, null | | |
| asm | | operands |
| integer, floating, character, string | the literal in C syntax, if known | |
| name | the name; operator: thread_local or "" | |
| member | the field, "" for an anonymous one; operator: "." or "->" | object |
| call | | callee, arguments |
| subscript | | array, index |
| unary, binary | (operator: as in C, but "x++" and "x--" for the postfix operators) | operands |
| conditional | | condition, then, else; condition and else for `a ?: b` |
| cast, implicit_cast | | expression |
| parentheses, statement_expression | | expression; compound |
| sizeof | sizeof, alignof | expression, if present |
| compound_literal | | initialiser list |
| initializers | | expressions |
| designated | the fields, "[]" for an index, "[...]" for a range: ".a[].b" | indices, value |
| generic | | controlling expression, then the expressions of the associations |
| va_arg | | list |
| builtin | its name | operands; in libclang's order |
| unknown | libclang's name of the kind | the children, unchanged |

`value` is the value of an integer or floating constant; expressions have one only if it does not follow from the
children: sizeof, offsetof, enumerators, labels of `case`, indices of designators, `_Generic` over constants. Anonymous
members that C code omits between an object and a field are included; a member's `target` is the key of the record, its
`value` the index of the field in the record.
"""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SyntaxNode:
    """A statement, expression or declaration.

    `type` is the type in C syntax, "" for statements. In a name, `target` is the key of the function, global or
    enumeration that it refers to, or `local` is the number of the local variable or parameter, counted from 1 within
    the function.
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
    """Yield a node and all its descendants in pre-order."""
    remaining = [node]
    while remaining:
        one = remaining.pop()
        yield one
        remaining.extend(child for child in reversed(one.children) if child is not None)
