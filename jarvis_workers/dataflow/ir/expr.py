"""The kinds of expressions. A docstring gives the meaning of a kind and, after the last colon, an example in C or C++.

Types of values are texts without qualifiers (`char*`, `unsigned int`); lines are numbered from 1.
"""

from typing import Annotated, Any, Literal, NamedTuple

# Any named tuple for mypy; two distinct types at run time, by which `decode` and `validator` distinguish the fields.
Expression = Annotated[tuple[Any, ...], "expression"]
Statement = Annotated[tuple[Any, ...], "statement"]


class UnknownExpr(NamedTuple):
    """Code that the front end does not understand: `({ int i = 1; i; })`"""

    kind: Literal["x"]


class NameExpr(NamedTuple):
    """A variable, function, macro or constant by its name: `count`"""

    kind: Literal["v"]
    name: str


class NumberExpr(NamedTuple):
    """An integer or character constant, true or false: `0x1F`"""

    kind: Literal["n"]
    value: int


class FloatExpr(NamedTuple):
    """A floating-point constant: `1.5`"""

    kind: Literal["f"]
    value: float


class StringExpr(NamedTuple):
    """A string literal, decoded and joined with adjacent ones: `"a\\n"`"""

    kind: Literal["s"]
    text: str
    wide: bool

    @property
    def length(self) -> int:
        """Return the number of characters."""
        return len(self.text)


class LongStringExpr(NamedTuple):
    """A string literal that was cut, with its full length."""

    kind: Literal["s"]
    text: str
    wide: bool
    length: int


class NullExpr(NamedTuple):
    """The null pointer: `NULL`"""

    kind: Literal["null"]


class UnaryExpr(NamedTuple):
    """A unary operation, op is - + ! or ~: `!done`"""

    kind: Literal["u"]
    op: str
    operand: Expression


class DerefExpr(NamedTuple):
    """The object that a pointer refers to: `*p`"""

    kind: Literal["*"]
    pointer: Expression


class AddressExpr(NamedTuple):
    """The address of an object or function: `&buffer`"""

    kind: Literal["&"]
    operand: Expression


class IndexExpr(NamedTuple):
    """An element of an array, or of the memory that a pointer refers to: `a[i]`"""

    kind: Literal["i"]
    base: Expression
    subscript: Expression


class MemberExpr(NamedTuple):
    """A member of an object: `node.next`"""

    kind: Literal["."]
    base: Expression
    member: str


class ArrowExpr(NamedTuple):
    """A member of the object that a pointer refers to: `node->next`"""

    kind: Literal["->"]
    base: Expression
    member: str


class BinaryExpr(NamedTuple):
    """An arithmetic or bitwise operation, or a comparison: `a + b`"""

    kind: Literal["b"]
    op: str
    left: Expression
    right: Expression


class AndExpr(NamedTuple):
    """A conjunction; the right side is evaluated only if the left side holds: `p && *p`"""

    kind: Literal["&&"]
    left: Expression
    right: Expression


class OrExpr(NamedTuple):
    """A disjunction; the right side is evaluated only if the left side does not hold: `!p || !*p`"""

    kind: Literal["||"]
    left: Expression
    right: Expression


class AssignExpr(NamedTuple):
    """An assignment; op is the operator before =, empty for a plain one: `n += 2`"""

    kind: Literal["="]
    op: str
    target: Expression
    value: Expression
    line: int


class UpdateExpr(NamedTuple):
    """An increment or decrement, op is + or -: `++i`"""

    kind: Literal["++"]
    op: str
    prefix: bool
    operand: Expression


class CallExpr(NamedTuple):
    """A call of a function, of a method, or of a macro that looks like one: `f(x, 1)`"""

    kind: Literal["c"]
    callee: Expression
    args: tuple[Expression, ...]
    line: int


class CastExpr(NamedTuple):
    """A conversion to a type: `(char *)p`"""

    kind: Literal["t"]
    type: str
    operand: Expression


class SizeofExpr(NamedTuple):
    """The size of a type or of an expression: `sizeof(int)`"""

    kind: Literal["z"]
    type: str | None
    operand: Expression | None


class ConditionalExpr(NamedTuple):
    """A choice between two values: `p ? 1 : 2`"""

    kind: Literal["?:"]
    condition: Expression
    then: Expression
    otherwise: Expression


class CommaExpr(NamedTuple):
    """Expressions evaluated in order, with the value of the last one: `i = 0, j = 1`"""

    kind: Literal[","]
    parts: tuple[Expression, ...]


class InitListExpr(NamedTuple):
    """The initializer of an array or struct: `int a[] = {1, 2}`"""

    kind: Literal["{}"]
    items: tuple[Expression, ...]


class DesignatedExpr(NamedTuple):
    """An item of an initializer with the member it sets: `struct s v = {.x = 1}`"""

    kind: Literal[".="]
    member: str
    value: Expression


class ConstructExpr(NamedTuple):
    """The initializer of a variable by a constructor (C++): `string s(p, 1)`"""

    kind: Literal["ctor"]
    type: str
    args: tuple[Expression, ...]


class NewExpr(NamedTuple):
    """An object, or an array of objects, allocated on the heap (C++): `new int[n]`"""

    kind: Literal["new"]
    type: str
    size: Expression | None
    args: tuple[Expression, ...]
    line: int

    @property
    def placement(self) -> tuple[Expression, ...]:
        """Return the placement arguments: none."""
        return ()


class PlacementNewExpr(NamedTuple):
    """An object constructed in existing memory (C++): `new (p) node(1)`"""

    kind: Literal["new"]
    type: str
    size: Expression | None
    args: tuple[Expression, ...]
    line: int
    placement: tuple[Expression, ...]


class DeleteExpr(NamedTuple):
    """An object or array released to the heap (C++): `delete[] p`"""

    kind: Literal["del"]
    array: bool
    operand: Expression
    line: int


class LambdaExpr(NamedTuple):
    """An anonymous function, its parameters by name, its captures as texts (C++): `[&n](int a) { return a + n; }`"""

    kind: Literal["fn"]
    params: tuple[str, ...]
    body: tuple[Statement, ...]
    captures: tuple[str, ...]


EXPRESSIONS = tuple(one for one in list(globals().values()) if "kind" in getattr(one, "_fields", ()))
# The kinds that contain no other nodes.
LEAVES = frozenset((UnknownExpr, NameExpr, NumberExpr, FloatExpr, StringExpr, LongStringExpr, NullExpr))
ZERO = NumberExpr("n", 0)
STRINGS = (StringExpr, LongStringExpr)
NEWS = (NewExpr, PlacementNewExpr)
