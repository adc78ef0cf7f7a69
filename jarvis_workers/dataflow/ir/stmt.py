"""The kinds of statements, and the definitions that contain them: functions, variables, types and macros.

A docstring gives the meaning of a kind and, after the last colon, an example in C or C++.
"""

from typing import Literal, NamedTuple

from jarvis_workers.dataflow.ir.expr import Expression, Statement


class UnknownStmt(NamedTuple):
    """Code that the front end does not understand: `asm("nop");`"""

    kind: Literal["?"]
    line: int


class ExprStmt(NamedTuple):
    """An expression evaluated for its side effects: `i++;`"""

    kind: Literal["e"]
    line: int
    value: Expression


class DeclStmt(NamedTuple):
    """A variable; flags: c const, s static, t thread-local, e extern; a dimension may be None: `char a[8] = "b";`"""

    kind: Literal["d"]
    line: int
    name: str
    type: str
    dims: tuple[Expression | None, ...]
    init: Expression | None
    flags: str


class BlockStmt(NamedTuple):
    """A block, with the line of its end: `{ f(); }`"""

    kind: Literal["blk"]
    line: int
    body: tuple[Statement, ...]
    end: int


class IfStmt(NamedTuple):
    """A conditional statement: `if (p) f();`"""

    kind: Literal["if"]
    line: int
    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


class LoopStmt(NamedTuple):
    """A loop, form is for, while or do: `for (i = 0; i < n; i++) f();`"""

    kind: Literal["loop"]
    line: int
    form: str
    init: tuple[Statement, ...]
    condition: Expression | None
    step: Expression | None
    body: tuple[Statement, ...]


class RangeForStmt(NamedTuple):
    """A loop over the elements of a container (C++): `for (auto one : list) f(one);`"""

    kind: Literal["each"]
    line: int
    name: str
    type: str
    container: Expression
    body: tuple[Statement, ...]


class CaseGroup(NamedTuple):
    """Adjacent labels, None for default, and the statements after them."""

    labels: tuple[Expression | None, ...]
    body: tuple[Statement, ...]


class SwitchStmt(NamedTuple):
    """A switch; control falls through to the next group of cases: `switch (n) { case 1: f(); default: g(); }`"""

    kind: Literal["sw"]
    line: int
    subject: Expression
    groups: tuple[CaseGroup, ...]


class ReturnStmt(NamedTuple):
    """A return from a function: `return 1;`"""

    kind: Literal["ret"]
    line: int
    value: Expression | None


class BreakStmt(NamedTuple):
    """A jump out of a loop or switch: `while (1) break;`"""

    kind: Literal["brk"]
    line: int


class ContinueStmt(NamedTuple):
    """A jump to the next iteration of a loop: `while (1) continue;`"""

    kind: Literal["cont"]
    line: int


class GotoStmt(NamedTuple):
    """A jump: `goto out;`"""

    kind: Literal["goto"]
    line: int
    label: str


class LabelStmt(NamedTuple):
    """The target of a jump: `out: return;`"""

    kind: Literal["lab"]
    line: int
    label: str


class ThrowStmt(NamedTuple):
    """An exception (C++): `throw 1;`"""

    kind: Literal["throw"]
    line: int
    value: Expression | None


class DeferStmt(NamedTuple):
    """Statements for the end of the block; without any, the end of the block for the last ones: `defer free(p);`"""

    kind: Literal["defer"]
    line: int
    body: tuple[Statement, ...]


class TryStmt(NamedTuple):
    """A body and the bodies of its handlers (C++): `try { f(); } catch (...) { g(); }`"""

    kind: Literal["try"]
    line: int
    body: tuple[Statement, ...]
    handlers: tuple[tuple[Statement, ...], ...]


STATEMENTS = tuple(one for one in list(globals().values()) if "kind" in getattr(one, "_fields", ()))


class MacroStmt(NamedTuple):
    """A macro without a semicolon, in the front end only: with a body after it a loop, otherwise an ExprStmt."""

    kind: Literal["macro"]
    line: int
    call: Expression


class Parameter(NamedTuple):
    """A parameter of a function; an array is a pointer, and `dims` are its further dimensions."""

    name: str
    type: str
    dims: tuple[Expression | None, ...]


class Initializer(NamedTuple):
    """A member or base initializer of a constructor."""

    member: str
    args: tuple[Expression, ...]


class LoweredFunction(NamedTuple):
    """A function; a method is named `class::method`. Of a `partial` one, the front end has not read all code.

    `returns` is the type of its result in C++, empty if it is unknown.
    """

    name: str
    line: int
    end: int
    params: tuple[Parameter, ...]
    init: tuple[Initializer, ...]
    body: tuple[Statement, ...]
    partial: bool = False
    returns: str = ""


class GlobalVariable(NamedTuple):
    """A variable outside of functions; flags as of a DeclStmt."""

    type: str
    dims: tuple[Expression | None, ...]
    init: Expression | None
    flags: str


class RecordField(NamedTuple):
    """A member of a struct, class or union."""

    type: str
    dims: tuple[Expression | None, ...]


class RecordType(NamedTuple):
    """A struct, class or union; an anonymous one is named after its line.

    `virtual` is "~" if its destructor is virtual, another text if some method is; `shared` are the members of
    anonymous unions in it.
    """

    fields: dict[str, RecordField]
    bases: tuple[str, ...]
    union: bool
    virtual: str = ""
    shared: frozenset[str] = frozenset()


class FunctionMacro(NamedTuple):
    """A macro with parameters, and its expression or block; a macro without parameters is that expression."""

    params: tuple[str, ...]
    body: Expression | BlockStmt
