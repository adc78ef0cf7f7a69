"""Follow a value through the functions of a project: which calls pass it on?

A name passes the value on if it is bound to it, to a part of it, or to what is made of it: a record, or the result of a
function that returns it or a part. What a call means is decided by the types that are annotated; local functions and
partial calls are followed where they are called.
"""

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tests.support.project_index import Class, Function, Project, Type

# Of the functions of other projects, these make something of what they take; others read what it names.
MAKING = (frozenset(dir(builtins)) - {"open", "len", "print"}) | {"Path", "replace", "asdict", "fsencode", "fsdecode"}
READING = ("read", "iterdir", "open", "execute", "stat", "lstat", "exists", "is_")
SYSTEM = ("os", "sys", "shutil", "subprocess")


class Event(NamedTuple):
    """A call that passes the value to a function."""

    path: str
    module: str
    function: str


@dataclass(frozen=True)
class Value:
    """What is known of an expression: whether it passes the value on, its type, and the functions that it may be."""

    passes: bool = False
    type: Type | None = None
    calls: "tuple[Callee, ...]" = ()

    def __or__(self, other: "Value") -> "Value":
        return Value(self.passes or other.passes, self.type or other.type, self.calls or other.calls)


OTHER = Value()
Names = dict[str, Value]
Argument = tuple[str | None, Value]


@dataclass(frozen=True)
class Callee:
    """A function that a call may enter; `outer` are the names around a local function, `bound` the first arguments."""

    function: Function
    outer: Names | None = None
    bound: "tuple[Argument, ...]" = ()

    @property
    def captures(self) -> bool:
        """Whether a local function reads the value from the function around it."""
        names = {node.id for node in ast.walk(self.function.node) if isinstance(node, ast.Name)}
        return any(value.passes for name, value in (self.outer or {}).items() if name in names)


class CutOff(Exception):
    """The walk has its number of events."""


@dataclass
class Walker:
    """Walks one value."""

    project: Project
    within: tuple[str, ...]
    limit: int
    events: list[Event] = field(default_factory=list)
    _results: dict[int, bool] = field(default_factory=dict)

    def enter(self, callee: Callee, arguments: Sequence[Argument]) -> bool:
        """Note a call that passes the value on, and follow it; return whether the result is made of the value."""
        function = callee.function
        if not function.module.name.startswith(self.within):
            return False
        if self.limit == 0:  # a silent walker
            return bool(self._results.get(id(function.node)))
        if len(self.events) == self.limit:
            raise CutOff
        self.events.append(Event(function.module.path, function.module.name, function.node.name))
        return self.follow(callee, arguments)

    def silent(self) -> "Walker":
        """Return a walker that looks at an expression a second time, and follows no call."""
        return Walker(self.project, self.within, 0, _results=self._results)

    def follow(self, callee: Callee, arguments: Sequence[Argument]) -> bool:
        """Walk the body of a function unless that was done before; return whether its result is made of the value."""
        function = callee.function
        known = self._results.get(id(function.node))
        if known is not None or not function.module.name.startswith(self.within):
            return bool(known)
        self._results[id(function.node)] = False
        names = dict(callee.outer or {})
        for argument in (*function.node.args.posonlyargs, *function.node.args.args, *function.node.args.kwonlyargs):
            names[argument.arg] = Value(type=self.project.type_of(function.module, argument.annotation))
        if function.is_bound:
            names[function.parameters[0]] = Value(type=Type(function.owner))
        for name, value in bind(function, arguments):
            names[name] = value | names.get(name, OTHER)
        body = Body(self, function, names)
        body.statements(function.node.body)
        self._results[id(function.node)] = body.returns
        return body.returns


def bind(function: Function, arguments: Sequence[Argument]) -> Iterator[tuple[str, Value]]:
    """Yield the parameters that arguments fill; a starred argument may fill all that are left."""
    places = iter(function.parameters)
    node = function.node.args
    rest = [one.arg for one in (node.vararg,) if one]
    for name, value in arguments:
        if name == "*":
            yield from ((one, value) for one in [*places, *rest])
        elif name == "**":
            yield from ((one.arg, value) for one in node.kwonlyargs)
        elif name is not None:
            yield name, value
        else:
            yield next(places, rest[0] if rest else ""), value


@dataclass
class Body:
    """The body of a function that is walked; `names` are its local names."""

    walker: Walker
    function: Function
    names: Names
    returns: bool = False

    def statements(self, nodes: Sequence[ast.stmt]) -> None:
        for node in nodes:
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                local = Function(self.function.module, node)
                self.names[node.name] = Value(calls=(Callee(local, self.names),))
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                self.assignment(node)
            case ast.For() | ast.AsyncFor():
                self.assign(node.target, held(self.value(node.iter)))
                self.statements([*node.body, *node.orelse])
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    value = self.value(item.context_expr)
                    if item.optional_vars:
                        self.assign(item.optional_vars, held(value))
                self.statements(node.body)
            case ast.Return():
                self.returns |= bool(node.value and self.value(node.value).passes)
            case ast.ClassDef() | ast.Raise():
                pass  # an error says what is wrong with the value, and passes nothing on
            case _:
                self.parts(node)

    def assignment(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        if node.value is None:
            return
        value = self.value(node.value)
        if isinstance(node, ast.AnnAssign):
            value = Value(type=self.walker.project.type_of(self.function.module, node.annotation)) | value
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            self.assign(target, value, node.value)

    def parts(self, node: ast.AST) -> None:
        """Walk the expressions and statements of any other statement, in the order of the source."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child)
            elif isinstance(child, ast.expr):
                self.value(child)
            elif isinstance(child, ast.ExceptHandler | ast.match_case):
                self.parts(child)

    def assign(self, target: ast.expr, value: Value, source: ast.expr | None = None) -> None:
        """Bind names; what once passes the value on keeps doing so, since branches are walked one after the other."""
        match target:
            case ast.Name():
                self.names[target.id] = replace(value, passes=value.passes or self.names.get(target.id, OTHER).passes)
            case ast.Tuple() | ast.List():
                parts = source.elts if isinstance(source, ast.Tuple) and len(source.elts) == len(target.elts) else None
                again = replace(self, walker=self.walker.silent())
                for position, one in enumerate(target.elts):
                    self.assign(one, again.value(parts[position]) if parts else Value(value.passes))
            case ast.Starred():
                self.assign(target.value, value)
            case ast.Attribute(value=ast.Name() as holder) | ast.Subscript(value=ast.Name() as holder):
                known = self.names.get(holder.id, OTHER)
                self.names[holder.id] = replace(known, passes=known.passes or value.passes)

    def value(self, node: ast.expr) -> Value:
        """Return what is known of an expression, after its calls have been followed."""
        match node:
            case ast.Name():
                value = self.names.get(node.id) or self.named(node)
                return replace(value, passes=value.passes or any(one.captures for one in value.calls))
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.call(node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self.comprehension(node)
            case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.JoinedStr():
                self.parts(node)
                return OTHER
        return self.compound(node)

    def compound(self, node: ast.expr) -> Value:
        """Return what is known of an expression from its parts."""
        parts = [self.value(one) for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
        match node:
            case ast.NamedExpr():
                self.assign(node.target, parts[1])
                return parts[1]
            case ast.IfExp() | ast.Lambda():
                return union(parts[-2:])
            case ast.Subscript():
                return held(parts[0])
            case ast.Yield() | ast.YieldFrom():
                self.returns |= union(parts).passes
                return OTHER
            case ast.Tuple() | ast.List() | ast.Set():
                return collection(parts)
        return union(parts)

    def named(self, node: ast.expr) -> Value:
        """Return the value of a name of the module."""
        match self.walker.project.expressed(self.function.module, node):
            case Function() as function:
                return Value(calls=(Callee(function),))
            case Class() as found:
                return Value(type=Type(found, is_class=True))
        return OTHER

    def attribute(self, node: ast.Attribute) -> Value:
        """Return a member. Reading a property is no call, but what its body calls with the value is."""
        holder = self.value(node.value)
        if holder.type is None or holder.type.of is None:
            found = OTHER if isinstance(node.value, ast.Name) and node.value.id in self.names else self.named(node)
            return replace(found, passes=holder.passes)
        method = self.walker.project.method(holder.type.of, node.attr)
        member = self.walker.project.attribute(holder.type.of, node.attr)
        if method is None:
            return Value(holder.passes, member)
        if method.is_property:
            if holder.passes:
                self.walker.follow(Callee(method), [(None, holder)])
            return Value(holder.passes, member)
        bound = ((None, holder),) if method.is_bound else ()
        return Value(holder.passes, calls=(Callee(method, bound=bound),))

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        for part in node.generators:
            self.assign(part.target, held(self.value(part.iter)))
            for condition in part.ifs:
                self.value(condition)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return collection([self.value(part) for part in parts])

    def call(self, node: ast.Call) -> Value:
        """Follow the call of a function with the value; return whether the result is made of the value."""
        called = self.value(node.func)
        arguments = [("*" if isinstance(one, ast.Starred) else None, self.value(one)) for one in node.args]
        arguments += [(one.arg or "**", self.value(one.value)) for one in node.keywords]
        passes = any(value.passes for _, value in arguments)
        if called.type and called.type.is_class and called.type.of:
            return self.construct(called.type.of, arguments, passes=passes)
        if not called.calls:
            return self.foreign(node.func, arguments, passes=passes or called.passes)
        made = False
        for callee in called.calls:
            given = [*callee.bound, *arguments]
            if callee.captures or any(value.passes for _, value in given):
                made |= self.walker.enter(callee, given)
        results = (self.walker.project.type_of(one.function.module, one.function.node.returns) for one in called.calls)
        return Value(made, next((one for one in results if one), None))

    def foreign(self, function: ast.expr, arguments: Sequence[Argument], *, passes: bool) -> Value:
        """Return the result of a function of another project."""
        name = getattr(function, "attr", getattr(function, "id", ""))
        _, first = arguments[0] if arguments else (None, OTHER)
        if name == "partial":
            return Value(passes, calls=tuple(replace(one, bound=(*one.bound, *arguments[1:])) for one in first.calls))
        if name == "replace" and first.type:
            return Value(passes, first.type)
        if isinstance(function, ast.Attribute) and ast.unparse(function.value) not in SYSTEM:
            return Value(passes and not name.startswith(READING))
        return Value(passes and name in MAKING)

    def construct(self, made: Class, arguments: Sequence[Argument], *, passes: bool) -> Value:
        """Make a record: its attributes hold the value; only a constructor that is written out is a call."""
        this = Value(passes, Type(made))
        for name in ("__init__", "__post_init__"):
            method = self.walker.project.method(made, name)
            if method and passes:
                self.walker.enter(Callee(method), [(None, this), *(arguments if name == "__init__" else ())])
        return this


def held(value: Value) -> Value:
    """Return what an iteration or a `with` yields: without a container's type, the thing itself."""
    return replace(value, type=value.type.holds if value.type and value.type.holds else value.type)


def collection(parts: Sequence[Value]) -> Value:
    elements = union(parts)
    return Value(elements.passes, Type(holds=elements.type) if elements.type else None)


def union(values: Sequence[Value]) -> Value:
    result = OTHER
    for value in values:
        result = Value(result.passes or value.passes, result.type or value.type, (*result.calls, *value.calls))
    return result
