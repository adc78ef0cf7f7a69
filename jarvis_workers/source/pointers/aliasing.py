"""Type-based alias analysis (C's strict aliasing): decide whether other pointers may reach the target of a parameter.

A record overlaps the records that it contains.  A number overlaps numbers of its type; calls within the project show
whether it is part of a record that another parameter points to.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from jarvis_workers.source.clang.c_types import CType, Record, UnitDefinitions
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk
from jarvis_workers.source.pointers.pointer_facts import LIBRARY, ParameterId, PointerAnalysis
from jarvis_workers.source.pointers.pointer_uses import FunctionUses, same_type, stripped

ARRAYS = ("array", "incomplete_array")


class AliasAnalysis:
    """`_loaded` is the memory that each function, or a callee, reaches through pointers that are not parameters.

    `_written` is the memory that it writes. Both are sets of record keys and kinds of numbers.
    """

    def __init__(self, units: Sequence[UnitDefinitions], analysis: PointerAnalysis) -> None:
        self._functions, self._uses = analysis.functions, analysis.uses
        records = {key: one for unit in units for key, one in unit.records.items() if one.size >= 0}
        self._contained = {key: _closure(key, records, ARRAYS) for key in records}
        self._reachable = {key: _closure(key, records, (*ARRAYS, "pointer")) for key in records}
        self._constants = {one.key for unit in units for one in unit.definitions if one.constant}
        self._calls = defaultdict[str, list[tuple[FunctionUses, SyntaxNode]]](list)
        callees = defaultdict[str, set[str]](set)
        for key, function in self._functions.items():
            for call in (node for node in function.nodes if node.kind == "call"):
                self._calls[_callee(call)].append((function, call))
                callees[key].add(_callee(call))
        self._inner = self._inner_pointers()
        given = (use for uses in self._uses.values() for use in uses)
        own = {id(use.node) for use in given if use.kind in ("dereference", "index")}
        loaded, written = {}, {}
        for key, function in self._functions.items():
            always = {*map(_memory, self._globals(function)), *self._passed_types(function)}
            followed = [
                (node, _memory(type_.target)) for node, type_ in _followed(function) if type_.target is not None
            ]
            loaded[key] = always | {memory for node, memory in followed if id(node) not in own}
            written[key] = always | {memory for node, memory in followed if function.changes(node)}
        self._loaded, self._written = _over_calls(loaded, callees), _over_calls(written, callees)

    def may_alias(self, one: ParameterId) -> bool:
        """Return whether other code may modify the target of the parameter, or observe modifications through it."""
        function = self._functions[one.function]
        types = [function.pointer(node) for node in function.parameters]
        type_ = types.pop(one.number)
        if type_ is None or type_.target is None:
            return True
        others = [other for other in types if other is not None]
        others += self._other_arguments(function, one)
        if any(self._clash(type_, other) for other in others):
            return True
        key = _record_of(type_.target, ARRAYS)
        if self._shares_parts(one, type_.const):
            return True
        if not key:
            return any(self._overlap(type_.target, named) for named in self._globals(function))
        reached = self._written[one.function] if type_.const else self._loaded[one.function]
        return any(self._records_overlap(key, other) or other in self._inner[key] for other in reached)

    def _inner_pointers(self) -> dict[str, set[str]]:
        """Return the fields of each record that may point into the record itself, as in `b->next = b->buffer`."""
        inner = defaultdict[str, set[str]](set)
        for function in self._functions.values():
            for node in function.nodes:
                target = stripped(node.children[0]) if node.operator == "=" else None
                parts = _parts(node.children[1], function) if target is not None else set()
                if target is None or target.kind != "member" or not parts:
                    continue
                type_ = function.pointer(node)
                for key, contained in self._contained.items():
                    if type_ is not None and type_.target is not None and {target.target, *parts} <= contained:
                        inner[key].add(_memory(type_.target))
        return inner

    def _shares_parts(self, one: ParameterId, const: bool) -> bool:
        """Return whether a call passes a record for one parameter, and the address of a part of it for another one."""
        callee = self._functions[one.function]
        types = [callee.pointer(node) for node in callee.parameters]
        records = ["" if type_ is None or type_.target is None else _record_of(type_.target, ARRAYS) for type_ in types]
        for function, call in self._calls[one.function]:
            parts = [_parts(argument, function) for argument in call.children[1:]]
            for number, (type_, theirs) in enumerate(zip(types, parts, strict=False)):
                if number == one.number or type_ is None or (const and type_.const):
                    continue
                mine = parts[one.number] if one.number < len(parts) else set()
                pairs = [(part, records[number]) for part in mine] + [(part, records[one.number]) for part in theirs]
                if any(record and self._records_overlap(part, record) for part, record in pairs):
                    return True
        return False

    def _other_arguments(self, function: FunctionUses, one: ParameterId) -> Iterator[CType]:
        """Yield the types of arguments that are loaded from memory rather than taken from a parameter."""
        own = {(id(use.node), use.argument) for use in self._uses[one] if use.kind == "argument"}
        for call in function.nodes:
            for number, argument in enumerate(call.children[1:] if call.kind == "call" else ()):
                if (id(call), number) not in own:
                    yield from _record_pointers(argument, function)

    def _clash(self, type_: CType, other: CType) -> bool:
        if type_.const and other.const:
            return False
        return type_.target is not None and other.target is not None and self._overlap(type_.target, other.target)

    def _overlap(self, one: CType, other: CType) -> bool:
        one, other = _element(one), _element(other)
        if one.kind == other.kind == "record":
            return self._records_overlap(one.key, other.key)
        return same_type(one, other) or one.kind == other.kind == "pointer"

    def _records_overlap(self, one: str, other: str) -> bool:
        return other in self._contained.get(one, {one}) or one in self._contained.get(other, ())

    def _globals(self, function: FunctionUses) -> Iterator[CType]:
        for node in function.nodes:
            if node.kind == "name" and node.target and not node.local and node.target not in self._constants:
                type_ = function.type_of(node)
                if type_ is not None and type_.kind not in ("function", "other"):
                    yield type_

    def _passed_types(self, function: FunctionUses) -> Iterator[str]:
        """Yield the types that unknown functions may reach through their arguments."""
        for call in function.nodes:
            if call.kind != "call" or _callee(call) in self._functions:
                continue
            is_library = getattr(stripped(call.children[0]), "name", "") in LIBRARY
            for argument in call.children[1:]:
                if not is_library and (type_ := function.pointer(argument)) is not None:
                    yield from self._reachable.get(_record_of(type_, (*ARRAYS, "pointer")), ())


def _closure(key: str, records: Mapping[str, Record], through: Sequence[str]) -> set[str]:
    """Return a record, and the records that its fields contain or point to."""
    closure, remaining = {key}, [key]
    while remaining:
        record = records.get(remaining.pop())
        for field in record.fields if record else ():
            other = _record_of(field.type, through)
            if other and other not in closure:
                closure.add(other)
                remaining.append(other)
    return closure


def _record_of(type_: CType, through: Sequence[str]) -> str:
    """Return the key of the record that a type is, contains or points to; "" if there is none."""
    type_ = _element(type_, through)
    return type_.key if type_.kind == "record" else ""


def _memory(type_: CType) -> str:
    """Return the key of a record, or the kind and size of a number."""
    type_ = _element(type_)
    return type_.key or f"{type_.kind} {type_.size}"


def _element(type_: CType, through: Sequence[str] = ARRAYS) -> CType:
    while type_.kind in through and type_.target is not None:
        type_ = type_.target
    return type_


def _followed(function: FunctionUses) -> Iterator[tuple[SyntaxNode, CType]]:
    """Yield the expressions that dereference a pointer, with the type of the pointer."""
    for node in function.nodes:
        follows = node.kind == "subscript" or node.operator == "->" or (node.kind == "unary" and node.operator == "*")
        if follows and (type_ := function.pointer(node.children[0])) is not None:
            yield node, type_


def _is_array(node: SyntaxNode, function: FunctionUses) -> bool:
    type_ = function.type_of(node)
    return type_ is not None and type_.kind in ARRAYS


def _parts(argument: SyntaxNode | None, function: FunctionUses) -> set[str]:
    """Return the records that contain the object whose address an argument is."""
    place = stripped(argument)
    if place is not None and place.operator == "&":
        place = stripped(place.children[0])
    elif place is None or not _is_array(place, function):
        return set()
    records: set[str] = set()
    while place is not None and place.kind in ("member", "subscript"):
        if place.kind == "member":
            records.add(place.target)
        inner = stripped(place.children[0])
        by_pointer = place.kind == "subscript" and inner is not None and not _is_array(inner, function)
        place = None if by_pointer or place.operator == "->" else inner
    return records


def _record_pointers(argument: SyntaxNode | None, function: FunctionUses) -> Iterator[CType]:
    """Yield the types of an argument, before and after casts, that point to records, unless it is a local variable."""
    plain = stripped(argument)
    if plain is None or plain.local:
        return
    for node in walk(argument) if argument is not None else ():
        type_ = function.pointer(node)
        if type_ is not None and type_.target is not None and type_.target.kind == "record":
            yield type_
        if node is plain:
            return


def _callee(call: SyntaxNode) -> str:
    name = stripped(call.children[0])
    return name.target if name is not None and name.kind == "name" else ""


def _over_calls(own: Mapping[str, set[str]], calls: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the union of each function's set with the sets of all functions that it calls, including cycles."""
    whole = {key: values - {""} for key, values in own.items()}
    changed = True
    while changed:
        changed = False
        for key, callees in calls.items():
            before = len(whole[key])
            whole[key].update(*(whole[one] for one in callees if one in whole))
            changed = changed or len(whole[key]) > before
    return whole
