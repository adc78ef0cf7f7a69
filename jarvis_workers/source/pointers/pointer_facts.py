"""Interprocedural facts about the pointer parameters of a project's functions: the greatest fixed point.

All parameters start with the strongest facts; uses and callees remove facts until nothing changes.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from jarvis_workers.source.clang.c_types import UnitDefinitions
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk
from jarvis_workers.source.pointers.pointer_uses import (
    JUMPS,
    STEPS,
    WRAPPERS,
    FunctionUses,
    PointerUse,
    certain_nodes,
    stripped,
)

# Loops that visit each element of an array: `for (i = 0; i < n; i++) … p[i] …`, with the parameter `n`.


def counted_length(function: FunctionUses, uses: Sequence[PointerUse], certain: set[int]) -> int | None:
    """Return the number of the parameter that is the length of an array, or None if that is uncertain.

    All accesses must be in such loops, one of which runs in every call and accesses each element.
    """
    lengths: set[int | None] = set()
    sure = False
    for use in uses:
        if not use.whole or use.kind not in ("index", "dereference"):
            continue
        loop = _loop_around(use.node, function)
        lengths.add(None if loop is None else _length_of(loop, use.node, function))
        sure = sure or (loop is not None and id(loop) in certain and id(use.node) in certain_nodes(loop.children[3]))
    return lengths.pop() if sure and len(lengths) == 1 else None


def _loop_around(access: SyntaxNode, function: FunctionUses) -> SyntaxNode | None:
    """Return the loop whose counter is the index of an access."""
    index = stripped(access.children[1]) if access.kind == "subscript" else None
    above = function.parent(access)
    while above is not None and index is not None:
        loop, number = above
        if loop.kind == "for" and number == 3 and index.local and index.local == _counter(loop):
            return loop
        above = function.parent(loop)
    return None


def _counter(loop: SyntaxNode) -> int:
    """Return the number of the variable that a loop increments from 0, or 0 if there is none."""
    start, _, step, _ = loop.children
    counted = (
        stripped(step.children[0]) if step is not None and step.kind == "unary" and step.operator in STEPS else None
    )
    if start is None or step is None or counted is None or "--" in step.operator:
        return 0
    if start.kind == "declaration" and len(start.children) == 1:
        (variable,) = start.children
        begins = variable is not None and variable.local == counted.local and _is_zero(variable.children[:1])
    else:
        target = stripped(start.children[0]) if start.operator == "=" else None
        begins = target is not None and target.local == counted.local and _is_zero(start.children[1:])
    return counted.local if begins else 0


def _is_zero(values: Sequence[SyntaxNode | None]) -> bool:
    value = stripped(values[0]) if values else None
    return value is not None and value.kind == "integer" and value.value == 0


def _length_of(loop: SyntaxNode, access: SyntaxNode, function: FunctionUses) -> int | None:
    _, condition, _, body = loop.children
    if condition is None or body is None or condition.operator not in ("<", "!="):
        return None
    index, bound = stripped(access.children[1]), condition.children[1]
    left = stripped(condition.children[0])
    if index is None or left is None or left.local != index.local or not function.is_constant(index.local, body):
        return None
    return None if any(node.kind in JUMPS for node in walk(body)) else function.parameter_number(bound)


# Functions of the C library by parameter: r reads and w writes as many bytes as n says, s reads a string.
# What is passed for "-" is not understood.
LIBRARY = {
    "memcmp": "rrn", "memset": "w-n", "memcpy": "wrn", "memmove": "wrn", "bcmp": "rrn", "bzero": "wn",
    "strlen": "s", "strcmp": "ss", "strcasecmp": "ss", "strtol": "s--", "strtoul": "s--",
    "atoi": "s", "atol": "s", "atof": "s", "fopen": "ss", "fputs": "s-", "puts": "s", "getenv": "s", "strdup": "s",
    "strspn": "ss", "strcspn": "ss", "open": "s--", "unlink": "s", "remove": "s", "rename": "ss", "perror": "s",
    "access": "s-", "stat": "s-", "lstat": "s-", "chmod": "s-",
}  # fmt: skip
RETURNS_ARGUMENT = ("memcpy", "memmove", "memset")
MAX_PASSES = 100


@dataclass(frozen=True, slots=True)
class PointerFacts:
    """Facts about the uses of a pointer parameter in a function.

    `escapes`: the pointer may outlive the call, or is used in a way that is not understood.  `indexed`: more than one
    element is used; `length` is then the number of the parameter with the element count, if that is certain.
    `not_null`: every call dereferences it.  `string`: it is only read as a string.
    """

    escapes: bool = False
    indexed: bool = False
    written: bool = False
    read: bool = False
    not_null: bool = True
    string: bool = True
    length: int | None = None
    written_always: bool = False


ESCAPES = PointerFacts(escapes=True, not_null=False, string=False)


class ParameterId(NamedTuple):
    """A parameter, by the key of its function and its index."""

    function: str
    number: int


class PointerAnalysis:
    """The facts about all pointer parameters of the functions that the units define; each function is analysed once."""

    def __init__(self, units: Sequence[UnitDefinitions]) -> None:
        self.functions: dict[str, FunctionUses] = {}
        for unit in units:
            for one in unit.definitions:
                if one.type.kind == "function" and one.key not in self.functions:
                    self.functions[one.key] = FunctionUses(one, unit)
        self._certain = {key: certain_nodes(one.definition.tree.children[-1]) for key, one in self.functions.items()}
        self.uses = {
            ParameterId(key, number): one.uses(parameter.local)
            for key, one in self.functions.items()
            for number, parameter in enumerate(one.parameters)
            if one.pointer(parameter) is not None
        }
        self.facts = self._fixed_point()

    def _fixed_point(self) -> Mapping[ParameterId, PointerFacts]:
        facts = dict.fromkeys(self.uses, PointerFacts())
        facts = {one: self._of(one, facts) for one in facts}
        for _ in range(MAX_PASSES):
            following = {one: self._of(one, facts) for one in facts}
            if following == facts:
                return facts
            facts = following
        return dict.fromkeys(facts, ESCAPES)

    def _of(self, one: ParameterId, facts: Mapping[ParameterId, PointerFacts]) -> PointerFacts:
        function, certain, uses = self.functions[one.function], self._certain[one.function], self.uses[one]
        effects = [self._effect(use, function, facts) for use in uses]
        sure = [id(use.node) in certain and use.whole and not use.copy for use in uses]
        whole = [effect for effect, use in zip(effects, uses, strict=True) if use.whole]
        passed = [(use, effect) for use, effect in zip(uses, effects, strict=True) if use.whole and effect.indexed]
        lengths = {
            effect.length if _runs_with_length(use.node, effect.length, function, certain) else None
            for use, effect in passed
            if use.kind == "argument"
        }
        if any(use.kind == "index" for use, _ in passed):
            lengths.add(counted_length(function, uses, certain))
        return PointerFacts(
            escapes=any(effect.escapes for effect in effects),
            indexed=any(effect.indexed for effect in whole),
            written=any(effect.written for effect in effects),
            read=any(effect.read for effect in effects),
            not_null=any(effect.not_null and certainly for effect, certainly in zip(effects, sure, strict=True)),
            string=bool(whole) and all(effect.string for effect in whole),
            length=self._checked_length(lengths, uses, function, facts),
            written_always=any(use.kind == "write" and id(use.node) in certain for use in uses),
        )

    def _checked_length(
        self,
        lengths: Collection[int | None],
        uses: Sequence[PointerUse],
        function: FunctionUses,
        facts: Mapping[ParameterId, PointerFacts],
    ) -> int | None:
        """Return the length of a slice if the function cannot tell an empty one from NULL or a negative length."""
        (length, *others) = lengths or (None,)
        if others or length is None or any(use.kind == "test" for use in uses):
            return None
        parameter = function.parameters[length]
        type_ = function.type_of(parameter)
        if type_ is not None and not type_.signed:
            return length
        only_counts = (self._counts(node, number, facts) for node, number in _users(function, parameter.local))
        return length if all(only_counts) else None

    def _counts(self, node: SyntaxNode, number: int, facts: Mapping[ParameterId, PointerFacts]) -> bool:
        """Return whether an operand is the bound of a loop or the length of a slice."""
        if node.kind != "call":
            return node.operator == "<" and number == 1
        callee = stripped(node.children[0])
        if callee is None or callee.target not in self.functions:
            return callee is not None and LIBRARY.get(callee.name, "")[number - 1 : number] == "n"
        given = range(len(self.functions[callee.target].parameters))
        return any(facts.get(ParameterId(callee.target, one), ESCAPES).length == number - 1 for one in given)

    def _effect(
        self, use: PointerUse, function: FunctionUses, facts: Mapping[ParameterId, PointerFacts]
    ) -> PointerFacts:
        """Return the facts that follow from a single use of the pointer."""
        if use.kind == "argument":
            return self._passed(use, function, facts)
        effect = EFFECTS[use.kind]
        return replace(effect, not_null=True) if use.node.kind == "subscript" else effect

    def _passed(
        self, use: PointerUse, function: FunctionUses, facts: Mapping[ParameterId, PointerFacts]
    ) -> PointerFacts:
        callee = stripped(use.node.children[0])
        if callee is None or callee.kind != "name" or callee.local:
            return ESCAPES
        arguments = use.node.children[1:]
        if callee.target in self.functions:
            given = facts.get(ParameterId(callee.target, use.argument), ESCAPES)
            return replace(given, length=_parameter_at(arguments, given.length, function))
        roles = LIBRARY.get(callee.name, "")
        role = roles[use.argument : use.argument + 1]
        returned = use.argument == 0 and callee.name in RETURNS_ARGUMENT and function.is_used(use.node)
        if role in ("r", "w") and not returned:
            whole, length = _count(stripped(arguments[roles.index("n")]), use, function)
            return PointerFacts(indexed=not whole, written=role == "w", read=role == "r", string=False, length=length)
        return PointerFacts(indexed=True, read=True) if role == "s" else ESCAPES


EFFECTS = {
    "dereference": PointerFacts(string=False),
    "index": PointerFacts(indexed=True, not_null=False, string=False),
    "read": PointerFacts(read=True, not_null=False, string=False),
    "write": PointerFacts(written=True, not_null=False, string=False),
    "test": PointerFacts(not_null=False),
    "escape": ESCAPES,
    "assign": ESCAPES,
}


def _users(function: FunctionUses, local: int) -> Iterator[tuple[SyntaxNode, int]]:
    """Yield the nodes that use the value of a variable, each with the index of the operand."""
    for node in function.nodes:
        above = function.parent(node) if node.kind == "name" and node.local == local else None
        while above is not None and above[0].kind in WRAPPERS:
            above = function.parent(above[0])
        if above is not None:
            yield above


def _runs_with_length(node: SyntaxNode, length: int | None, function: FunctionUses, certain: set[int]) -> bool:
    """Return whether a call is executed in every call of the function, or in every call with a nonzero length."""
    if id(node) in certain:
        return True
    above = function.parent(node)
    while above is not None and above[0].kind in ("compound", *WRAPPERS):
        above = function.parent(above[0])
    if above is None or above[0].kind != "if" or above[1] != 1 or id(above[0]) not in certain:
        return False
    return length is not None and function.parameter_number(above[0].children[0]) == length


def _parameter_at(arguments: Sequence[SyntaxNode | None], number: int | None, function: FunctionUses) -> int | None:
    if number is None or number >= len(arguments):
        return None
    return function.parameter_number(arguments[number])


def _count(size: SyntaxNode | None, use: PointerUse, function: FunctionUses) -> tuple[bool, int | None]:
    """Return whether a size in bytes is that of one element, else the number of the parameter that counts elements."""
    type_ = function.pointer(stripped(use.node.children[use.argument + 1]))
    width = type_.target.size if type_ is not None and type_.target is not None else -1
    if size is None or size.value is not None:
        return size is not None and 0 < (size.value or 0) <= width, None
    if size.operator == "*":
        factors = [one for one in map(stripped, size.children) if one is not None and one.value != width]
        return False, function.parameter_number(factors[0]) if len(factors) == 1 else None
    return False, function.parameter_number(size) if width == 1 else None
