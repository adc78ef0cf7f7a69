"""What of C++ refers to a container, a string, a smart pointer or a local variable, and what makes it dangle.

Invalidation follows the tables of the containers library (C++ standard, [container.requirements], [string.require]).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.queries.ast_queries import variables_in, without_casts
from jarvis_workers.dataflow.queries.name_heuristics import listed
from jarvis_workers.dataflow.state.definitions import Definitions

ARRAY, DEQUE, HASH, NODE, SMART, VIEW = "array", "deque", "hash", "node", "smart", "view"
FAMILIES = re.compile(
    r"(?:\w+::)*(?:(?P<array>vector|basic_string|[uw]?(?:8|16|32)?string|QVector|QList|QByteArray|QString|SmallVector)"
    r"|(?P<deque>deque)|(?P<hash>unordered_\w+|QHash|QSet)|(?P<node>(?:multi)?(?:map|set)|list|forward_list|QMap)"
    r"|(?P<smart>(?:unique|shared|scoped)_ptr|QScopedPointer|QSharedPointer)"
    r"|(?P<view>(?:[uw]?(?:8|16|32)?)?string_view|basic_string_view|span|QStringView|StringRef|StringPiece))\b(?!\s*::)"
)
STRING = re.compile(r"(?:\w+::)*(?:basic_string|[uw]?(?:8|16|32)?string|QString|QByteArray)(?:<|&*$)")
# Methods that make a container's elements move, by what stays valid.
GROWS = frozenset(
    listed("push_back emplace_back push_front emplace_front insert emplace resize reserve append shrink_to_fit rehash")
)
REPLACES = frozenset(listed("clear assign reset swap"))
ERASES = frozenset(listed("erase remove removeAt"))
SHRINKS = {"pop_back": "back", "pop_front": "front"}
CHANGES = GROWS | REPLACES | ERASES | SHRINKS.keys()
RESETS = REPLACES | {"resize", "emplace", "append", "push_back", "empty", "insert", "operator=", "str"}
ITERATORS = frozenset(
    listed("begin end cbegin cend rbegin rend find lower_bound upper_bound insert erase emplace before_begin")
)
ELEMENTS = frozenset(("front", "back", "at", "value", "top"))
POINTERS = frozenset(("data", "c_str", "constData"))
ALGORITHMS = re.compile(
    r"(?:std::)?(?:find\w*|begin|end|next|prev|lower_bound|upper_bound|remove\w*|max_element|min_element)$"
)
MAKES_STRING = re.compile(r"(?:std::)?(?:w?string|to_w?string|QString)$")
STRING_METHODS = frozenset(listed("substr str string u8string toStdString generic_string toUtf8 toLatin1"))
MOVES = re.compile(r"(?:std::)?move$")
MAKES_OWNER = re.compile(r"(?:std::)?make_(?:unique|shared)(?:_for_overwrite)?$")
OWNED_OBJECT = re.compile(r"\w+<(.*)>$")
# The types of variables that refer to something; those of iterators.
REFERS = re.compile(r"[*&]$|^auto\b|iterator|\bfunction\b|\bj?thread\b")
POSITIONS = re.compile(r"^auto\b|iterator|^pair\b")
DEEPEST = 8


class Borrow(NamedTuple):
    """What a variable refers to: its owner, None for a temporary, in what way, since which line, by which argument."""

    owner: str | None
    how: str
    line: int
    by: str = ""


def family(kind: str) -> str | None:
    """Return the family of a type, which decides when its iterators become invalid; None if it is no container."""
    found = FAMILIES.match(kind)
    return found.lastgroup if found is not None and not kind.endswith("*") else None


def key_of(e: ir.Expression) -> str | None:
    """Return the name of a variable or of a member of one; None for any other expression."""
    match e:
        case ir.NameExpr(name=name):
            return name
        case ir.DerefExpr(pointer=ir.NameExpr(name="this")):
            return "this"
        case ir.MemberExpr(base=base, member=member) | ir.ArrowExpr(base=base, member=member):
            outer = key_of(base)
            return None if outer is None else member if outer == "this" else f"{outer}.{member}"
    return None


class Types:
    """The types of the variables of a function."""

    def __init__(self, machine: Definitions, function: ir.LoweredFunction) -> None:
        self.machine = machine
        self.function = function
        self.names = {one.name: machine.plain(one.type) or one.type for one in function.params}
        # Variables that end with the function: its values, but not what its references refer to.
        self.local = {one.name for one in function.params if not one.type.endswith(("*", "&"))}
        self._fields = machine.fields_of_owner(function)

    def of(self, key: str | None) -> str:
        """Return the type of a variable or member, without references; empty if it is unknown."""
        if key is None:
            return ""
        first, *members = key.split(".")
        kind = self.names.get(first) or (self._fields[first].type if first in self._fields else "")
        for member in members[:DEEPEST]:
            record = self.machine.type_named(kind.rstrip("*&")) if kind else None
            kind = record.fields[member].type if record is not None and member in record.fields else ""
        return (self.machine.plain(kind) or kind).rstrip("&")

    def family(self, key: str | None) -> str | None:
        return family(self.of(key))

    def has_virtual_destructor(self, kind: str, deep: int = DEEPEST) -> bool:
        """Return whether the destructor of a class is virtual, or one of its bases is unknown."""
        record = self.machine.type_named(kind)
        destructor = self.machine.function(f"{kind}::~{kind}")
        is_virtual = destructor is not None and destructor[0].returns == "virtual"
        if record is None or record.virtual == "~" or is_virtual or deep == 0:
            return True
        return any(self.has_virtual_destructor(base, deep - 1) for base in record.bases)

    def is_derived(self, kind: str, base: str, deep: int = DEEPEST) -> bool:
        record = self.machine.type_named(kind) if deep else None
        return record is not None and any(one == base or self.is_derived(one, base, deep - 1) for one in record.bases)

    def is_text(self, e: ir.Expression) -> bool:
        """Return whether an expression is a string object, or a concatenation with one."""
        if isinstance(e, ir.BinaryExpr):
            return e.op == "+" and (self.is_text(e.left) or self.is_text(e.right))
        key = key_of(e)
        return STRING.match(self.of(key)) is not None if key is not None else self.is_temporary(e)

    def is_temporary(self, e: ir.Expression) -> bool:
        """Return whether an expression is a string object that ends with the statement."""
        match e:
            case ir.BinaryExpr(op="+"):
                return self.is_text(e)
            case ir.CallExpr(callee=ir.NameExpr(name=name)):
                return MAKES_STRING.match(name) is not None or self._returns_text(name)
            case ir.CallExpr(callee=ir.MemberExpr(base=base, member=member) | ir.ArrowExpr(base=base, member=member)):
                kind = self.of(key_of(base)).rstrip("*")
                if member in STRING_METHODS:
                    return family(kind) != VIEW
                return self._returns_text(f"{kind}::{member}")
        return False

    def _returns_text(self, name: str) -> bool:
        found = self.machine.function(name)
        return found is not None and STRING.fullmatch(found[0].returns) is not None

    def kind_of(self, declared: str, init: ir.Expression | None) -> str:
        """Return the type of a variable, which `auto` takes from its initializer."""
        if declared.rstrip("&*") != "auto" or init is None:
            return self.machine.plain(declared) or declared
        match init:
            case ir.NewExpr(type=kind, size=None):
                return f"{kind}*"
            case ir.CallExpr(callee=ir.NameExpr(name=name)) if MAKES_OWNER.match(name):
                return "unique_ptr<>"
            case ir.NumberExpr() | ir.FloatExpr():
                return "int"
        if self.is_temporary(init):
            return "string"
        key = key_of(init)
        if key is None and isinstance(init, ir.CallExpr) and init.args and _is_move(init):
            key = key_of(init.args[0])
        kind = self.of(key)
        return f"{kind}&" if kind and declared.endswith("&") else kind or declared


def _is_move(e: ir.CallExpr) -> bool:
    return isinstance(e.callee, ir.NameExpr) and MOVES.match(e.callee.name) is not None


def moved(e: ir.Expression) -> str | None:
    """Return the variable that an expression hands over by `std::move`."""
    return key_of(e.args[0]) if isinstance(e, ir.CallExpr) and len(e.args) == 1 and _is_move(e) else None


def captured(types: Types, e: ir.LambdaExpr) -> Iterator[str]:
    """Yield the local variables that a lambda captures by reference."""
    names = [
        one.removeprefix("&").strip() for one in e.captures if one.startswith("&") and one != "&" and "=" not in one
    ]
    if "&" in e.captures:
        own = {one.split("=")[0].strip() for one in e.captures}
        names += sorted(variables_in(e.body) - {*e.params} - own)
    yield from (name for name in names if name in types.local)


def borrowed(types: Types, borrows: dict[str, Borrow], declared: str, e: ir.Expression, line: int) -> Borrow | None:
    """Return what a variable of a type refers to after it is initialized by an expression; None if that is nothing."""
    e = without_casts(e)
    if isinstance(e, ir.ConstructExpr) and len(e.args) == 1 and (REFERS.search(declared) or family(declared) == VIEW):
        return borrowed(types, borrows, declared, e.args[0], line)
    if isinstance(e, ir.LambdaExpr):
        name = next(captured(types, e), None)
        return Borrow(name, "lambda", line) if name is not None else None
    if family(declared) == VIEW:
        if types.is_temporary(e):
            return Borrow(None, "view", line)
        if isinstance(e, ir.NameExpr) and types.family(e.name) == ARRAY:
            return Borrow(e.name, "view", line)
    if isinstance(e, ir.CallExpr):
        return _of_call(types, borrows, declared, e, line)
    return _of_place(types, borrows, declared, e, line)


def _of_place(types: Types, borrows: dict[str, Borrow], declared: str, e: ir.Expression, line: int) -> Borrow | None:
    result: Borrow | None = None
    match e:
        case ir.NameExpr(name=name) if name in borrows:
            result = borrows[name] if borrows[name].how != "reference" or declared.endswith("&") else None
        case ir.AddressExpr(operand=ir.IndexExpr() | ir.CallExpr() as inner):
            element = borrowed(types, borrows, "auto&", inner, line)
            result = element._replace(how="pointer") if element is not None else None
        case ir.BinaryExpr(op="+" | "-", left=left):
            before = borrowed(types, borrows, declared, left, line)
            result = before if before is not None and before.how in ("iterator", "pointer") else None
        case _ if declared.endswith("&"):
            result = _of_element(types, borrows, e, line)
    return result


def _of_element(types: Types, borrows: dict[str, Borrow], e: ir.Expression, line: int) -> Borrow | None:
    """Return what a reference refers to that is initialized by a variable or an element."""
    match e:
        case ir.NameExpr(name=name) if name in types.local:
            return Borrow(name, "reference", line)
        case ir.IndexExpr(base=base, subscript=at) if types.family(key_of(base)) in (ARRAY, DEQUE, HASH, NODE):
            return Borrow(key_of(base), "reference", line, argument_of((at,)))
        case ir.DerefExpr(pointer=ir.NameExpr(name=name)) if types.family(name) == SMART:
            return Borrow(name, "get", line)
        case ir.DerefExpr(pointer=ir.NameExpr(name=name)) | ir.ArrowExpr(base=ir.NameExpr(name=name)) if (
            name in borrows
        ):
            return borrows[name]._replace(how="reference")
    return None


def _of_call(types: Types, borrows: dict[str, Borrow], declared: str, e: ir.CallExpr, line: int) -> Borrow | None:
    match e.callee:
        case ir.NameExpr(name=name) if e.args and (
            ALGORITHMS.match(name) or family(name.removeprefix("std::")) == VIEW
        ):
            first = borrowed(types, borrows, name if family(name.removeprefix("std::")) else declared, e.args[0], line)
            return first or (Borrow(key_of(e.args[0]), "iterator", line) if types.family(key_of(e.args[0])) else None)
        case ir.MemberExpr(base=base, member=member) | ir.ArrowExpr(base=base, member=member):
            return _of_method(types, declared, (base, member), e, line)
    return None


def _of_method(
    types: Types, declared: str, method: tuple[ir.Expression, str], e: ir.CallExpr, line: int
) -> Borrow | None:
    base, member = method
    owner = key_of(base)
    of = types.family(owner)
    if member in POINTERS and not (REFERS.search(declared) or family(declared) == VIEW):
        return None
    if member in POINTERS and owner is None and types.is_temporary(base):
        return Borrow(None, "pointer", line)
    if owner is None or of is None or of == VIEW:
        return None
    if (member == "get" and of == SMART) or (member in POINTERS and of == ARRAY):
        return Borrow(owner, "get" if of == SMART else "pointer", line)
    if member in ELEMENTS and declared.endswith("&"):
        return Borrow(owner, "reference", line, member)
    is_position = member in ("begin", "end") or (member in ITERATORS and not STRING.match(types.of(owner)))
    return (
        Borrow(owner, "iterator", line, argument_of(e.args))
        if is_position and of != SMART and POSITIONS.search(declared)
        else None
    )


def argument_of(args: tuple[ir.Expression, ...]) -> str:
    """Return the text of the first argument, if it is a variable or a number."""
    match args:
        case (ir.NumberExpr(value=value), *_):
            return str(value)
        case (first, *_):
            return key_of(first) or ""
    return ""


def dangles(of: str | None, borrow: Borrow, method: str, argument: str, variable: str) -> bool:
    """Return whether a method call on the owner makes a borrow of it dangle."""
    how = borrow.how
    if how in ("lambda", "object") or (how == "reference" and of is None):
        return False
    if how == "get" or method in REPLACES:
        return method in REPLACES
    if method in GROWS:
        return of == ARRAY or (of in (DEQUE, HASH) and how in ("iterator", "range"))
    if method in SHRINKS:
        return borrow.by == SHRINKS[method]
    return method in ERASES and (
        of in (ARRAY, DEQUE) or variable == argument or (bool(argument) and (how == "range" or borrow.by == argument))
    )
