"""Flow-insensitive analysis of the uses of a pointer in a function, including local copies.

A use that is not understood is "escape": the pointer may be stored, freed, or cast to another type.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Literal, NamedTuple

from jarvis_workers.source.clang.c_types import CDefinition, CType, UnitDefinitions
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk

# "dereference" is of the first element, "index" of any; "write" changes what is pointed to; "test" compares with NULL.
UseKind = Literal["dereference", "index", "read", "write", "test", "argument", "escape", "assign"]
WRAPPERS = ("parentheses", "cast", "implicit_cast")
ARRAYS = ("array", "incomplete_array", "variable_array")
ASSIGNMENTS = frozenset(f"{operator}=" for operator in ("", "*", "/", "%", "+", "-", "<<", ">>", "&", "^", "|"))
STEPS = ("x++", "x--", "++", "--")
STATEMENTS = ("compound", "for", "label", "case", "default", "statement_expression")
COMPARISONS: dict[str, UseKind] = {
    **dict.fromkeys(("==", "!=", "&&", "||"), "test"),
    **dict.fromkeys(("<", ">", "<=", ">="), "index"),
}
CONDITIONS = {"if": 0, "while": 0, "do": 1, "for": 1}


class PointerUse(NamedTuple):
    """A use of a pointer.

    `whole`: the pointer itself or a copy is used, not a pointer to a part of its target.  `copy`: a local variable is
    used that holds the pointer or another value.  `node` is where the use occurs; for an argument it is the call, and
    `argument` is the index of the parameter.
    """

    kind: UseKind
    node: SyntaxNode
    whole: bool
    argument: int = -1
    copy: bool = False


class FunctionUses:
    """The uses of the pointers of a function."""

    def __init__(self, definition: CDefinition, unit: UnitDefinitions) -> None:
        self.definition = definition
        self.unit = unit
        self._parents: dict[int, tuple[SyntaxNode, int]] = {}
        self._names: dict[int, list[SyntaxNode]] = defaultdict(list)
        self.nodes = list(walk(definition.tree))
        for node in self.nodes:
            if node.kind == "name" and node.local:
                self._names[node.local].append(node)
            for number, child in enumerate(node.children):
                if child is not None:
                    self._parents[id(child)] = (node, number)

    @property
    def parameters(self) -> tuple[SyntaxNode, ...]:
        return tuple(one for one in self.definition.tree.children if one is not None and one.kind == "parameter")

    def type_of(self, node: SyntaxNode) -> CType | None:
        return self.unit.types.get(node.type)

    def parent(self, node: SyntaxNode) -> tuple[SyntaxNode, int] | None:
        return self._parents.get(id(node))

    def uses(self, local: int) -> list[PointerUse]:
        """Return the uses of a local variable or parameter, and of the variables that it is copied to."""
        uses: list[PointerUse] = []
        seen: set[tuple[int, bool, bool]] = set()
        remaining = [(local, True, False)]
        while remaining:
            variable, whole, copy = one = remaining.pop()
            if one in seen:
                continue
            seen.add(one)
            for use in (use for name in self._names[variable] for use in self._value(name, whole)):
                if use.kind == "assign" and use.argument < 0:
                    uses.extend([use] if variable == local else [])
                elif use.kind == "assign":
                    same = use.node.kind == "variable" and self.is_constant(use.argument)
                    remaining.append((use.argument, use.whole, copy or not same))
                else:
                    uses.append(use._replace(copy=copy))
        return uses

    def is_constant(self, local: int, within: SyntaxNode | None = None) -> bool:
        """Return whether a variable is neither changed nor has its address taken in the function or in a part of it."""
        inside = None if within is None else {id(node) for node in walk(within)}
        for name in self._names[local]:
            above = self.parent(name)
            if above is None or (inside is not None and id(name) not in inside):
                continue
            parent, number = above
            if _assigns(parent, number) or (parent.kind == "unary" and parent.operator == "&"):
                return False
        return True

    def parameter_number(self, node: SyntaxNode | None) -> int | None:
        """Return the index of the parameter that an expression names, if the function never modifies it."""
        name, numbers = stripped(node), [one.local for one in self.parameters]
        if name is None or name.local not in numbers or not self.is_constant(name.local):
            return None
        return numbers.index(name.local)

    def is_used(self, node: SyntaxNode) -> bool:
        """Return whether the value of an expression is used."""
        above = self.parent(node)
        while above is not None and above[0].kind in WRAPPERS:
            above = self.parent(above[0])
        if above is None or above[0].kind in STATEMENTS:
            return False
        return above[0].kind not in CONDITIONS or CONDITIONS[above[0].kind] == above[1]

    def changes(self, place: SyntaxNode) -> bool:
        """Return whether an lvalue may be modified at a node, or through a pointer derived from it."""
        return any(use.kind not in ("read", "dereference", "index", "test") for use in self._place(place))

    def _value(self, node: SyntaxNode, whole: bool) -> Iterator[PointerUse]:
        """Yield the uses of the value of an expression that is, or is derived from, the pointer."""
        while (above := self.parent(node)) is not None:
            parent, number = above
            if parent.kind in ("cast", "implicit_cast"):
                if not self._keeps_type(node, parent):
                    type_ = self.type_of(parent)
                    tested = type_ is not None and type_.kind == "bool"
                    yield PointerUse("test" if tested else "escape", parent, whole)
                    return
            elif parent.kind != "parentheses" and parent.operator != "__extension__":
                yield from self._consumed(node, parent, number, whole)
                return
            node = parent

    def _consumed(self, node: SyntaxNode, parent: SyntaxNode, number: int, whole: bool) -> Iterator[PointerUse]:
        if parent.kind == "member" or (parent.kind == "unary" and parent.operator == "*"):
            yield PointerUse("dereference", parent, whole)
            yield from self._place(parent)
        elif parent.kind == "subscript" and number == 0:
            first = parent.children[1] is not None and parent.children[1].value == 0
            yield PointerUse("dereference" if first else "index", parent, whole)
            yield from self._place(parent)
        elif parent.kind == "binary":
            yield from self._operand(parent, number, whole)
        elif parent.kind == "unary" and parent.operator in STEPS:
            yield PointerUse("index", parent, whole)
            yield from self._value(parent, whole)
        elif parent.kind == "conditional" and number:
            yield PointerUse("escape", parent, whole)
        elif parent.operator == "!" or parent.kind == "conditional" or CONDITIONS.get(parent.kind) == number:
            yield PointerUse("test", parent, whole)
        elif parent.kind == "call" and number:
            yield PointerUse("argument", parent, whole, number - 1)
        elif parent.kind == "variable" and not parent.operator:
            yield PointerUse("assign", parent, whole, parent.local)
        elif parent.kind not in STATEMENTS and parent.kind != "sizeof":
            yield PointerUse("escape", parent, whole)

    def _operand(self, parent: SyntaxNode, number: int, whole: bool) -> Iterator[PointerUse]:
        if use := COMPARISONS.get(parent.operator):
            yield PointerUse(use, parent, whole)
        elif parent.operator == "=" and number:
            target = stripped(parent.children[0])
            if target is not None and target.kind == "name" and target.local:
                yield PointerUse("assign", parent, whole, target.local)
                yield from self._value(parent, whole)
            else:
                yield PointerUse("escape", parent, whole)
        elif parent.operator in ("+", "-"):
            yield PointerUse("index", parent, whole)
            if self.pointer(parent) is not None:
                yield from self._value(parent, False)
        elif parent.operator == ",":
            yield from self._value(parent, whole) if number else ()
        elif parent.operator == "=":
            yield PointerUse("assign", parent, whole)
        elif parent.operator in ("+=", "-="):
            yield PointerUse("index", parent, whole)
            yield from self._value(parent, whole)
        else:
            yield PointerUse("escape", parent, whole)

    def _place(self, node: SyntaxNode) -> Iterator[PointerUse]:
        """Yield the uses of an lvalue inside the target of the pointer."""
        while (above := self.parent(node)) is not None:
            parent, number = above
            type_ = self.type_of(node)
            if type_ is not None and type_.kind in ARRAYS and parent.kind in ("implicit_cast", "subscript"):
                yield from self._value(node, False)
                return
            if parent.kind == "parentheses" or (parent.kind == "member" and parent.operator == "."):
                node = parent
                continue
            if parent.kind == "unary" and parent.operator == "&":
                yield from self._value(parent, False)
            elif _assigns(parent, number):
                yield PointerUse("write", parent, False)
                if parent.operator != "=" or self.is_used(parent):
                    yield PointerUse("read", parent, False)
            elif parent.kind != "sizeof":
                yield PointerUse("escape" if type_ is None or type_.kind in ARRAYS else "read", parent, False)
            return

    def _keeps_type(self, node: SyntaxNode, cast: SyntaxNode) -> bool:
        """Return whether a cast keeps the target type of a pointer, except for adding const, or casts to `void *`."""
        before, after = self.type_of(node), self.pointer(cast)
        if after is None or after.target is None or before is None or before.target is None:
            return False
        if before.kind == "pointer" and before.const and not after.const:
            return False
        return after.target.kind == "void" or same_type(before.target, after.target)

    def pointer(self, node: SyntaxNode | None) -> CType | None:
        """Return the type of an expression if it is a pointer."""
        type_ = None if node is None else self.type_of(node)
        return type_ if type_ is not None and type_.kind == "pointer" else None


def _assigns(parent: SyntaxNode, number: int) -> bool:
    if parent.kind == "unary":
        return parent.operator in STEPS
    return parent.kind == "binary" and number == 0 and parent.operator in ASSIGNMENTS


def same_type(one: CType, other: CType) -> bool:
    """Return whether two types are the same apart from qualifiers and the signedness of integers."""
    if one.kind != other.kind or one.size != other.size or one.key != other.key or one.length != other.length:
        return False
    if one.target is None or other.target is None:
        return one.target is other.target
    return same_type(one.target, other.target)


def stripped(node: SyntaxNode | None) -> SyntaxNode | None:
    """Return an expression without parentheses and casts."""
    while node is not None and (node.kind in WRAPPERS or node.operator == "__extension__"):
        node = node.children[-1] if node.children else None
    return node


def certain_nodes(statement: SyntaxNode | None) -> set[int]:
    """Return the ids of the nodes that are executed whenever a statement is executed."""
    certain: set[int] = set()
    if statement is not None:
        _run(statement, certain)
    return certain


JUMPS = ("return", "goto", "computed_goto", "break", "continue", "label", "case", "default")


def _run(statement: SyntaxNode, certain: set[int]) -> bool:
    """Add the nodes that a statement always executes; return whether the next statement is always executed, too."""
    certain.add(id(statement))
    if statement.kind == "compound":
        return all(child is None or _run(child, certain) for child in statement.children)
    heads = {"if": (0,), "while": (0,), "switch": (0,), "for": (0, 1)}.get(statement.kind)
    for number in heads or ():
        _evaluate(statement.children[number], certain)
    if heads is None and statement.kind not in ("label", "case", "default", "do"):
        _evaluate(statement, certain)
    return not any(node.kind in JUMPS for node in walk(statement))


def _evaluate(expression: SyntaxNode | None, certain: set[int]) -> None:
    remaining = [expression]
    while remaining:
        node = remaining.pop()
        if node is None:
            continue
        certain.add(id(node))
        lazy = node.kind == "conditional" or (node.kind == "binary" and node.operator in ("&&", "||"))
        if node.kind not in ("sizeof", "generic", "statement_expression"):
            remaining.extend(node.children[:1] if lazy else node.children)
