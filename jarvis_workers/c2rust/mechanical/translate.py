"""Translate C definitions to Rust: functions, globals, and declarations of the symbols that stay in C."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from jarvis_workers.c2rust.mechanical.code import LINE_WIDTH, braces, indented, wrapped
from jarvis_workers.c2rust.mechanical.context import (
    VOID,
    BodyContext,
    JumpTarget,
    Parts,
    Unstructured,
    check_type,
    decay,
    operand,
    present,
    scalar,
)
from jarvis_workers.c2rust.mechanical.control_flow import case_pattern, cases_of, diverges, has_inner_cases, labelled
from jarvis_workers.c2rust.mechanical.expressions import condition, effect, value
from jarvis_workers.c2rust.mechanical.gotos import goto_counts
from jarvis_workers.c2rust.mechanical.names import Names, RustBody
from jarvis_workers.c2rust.mechanical.refusals import Refusal, Refused, refuse
from jarvis_workers.c2rust.mechanical.statements import body, jump_to, parameter, statement, static_item
from jarvis_workers.source.clang.c_types import CDefinition, CType, UnitDefinitions
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk

# State machines for jumps that blocks and loops cannot express: `loop { match state { … } }`.


@dataclass
class StateMachine:
    """The states of a body, each with its lines; lines after a jump are unreachable and dropped."""

    states: dict[int, list[str]] = field(default_factory=lambda: {0: []})
    labels: dict[str, int] = field(default_factory=dict)
    entries: set[int] = field(default_factory=set)
    cases: dict[int, int] = field(default_factory=dict)
    number: int = 0
    current: int = 0

    def new(self) -> int:
        self.number += 1
        return self.number

    def state_of(self, label: str) -> int:
        """Return the state that starts at a label."""
        if label not in self.labels:
            self.labels[label] = self.new()
        return self.labels[label]

    def begin(self, state: int, *, falls: bool = True) -> None:
        """Start a state; the previous state falls through to it unless it jumps elsewhere."""
        if falls:
            self.states[self.current].append(f"state = {state};")
        self.current = state
        self.states[state] = []

    def add(self, *lines: str) -> None:
        self.states[self.current] += lines


def machine_lines(ctx: BodyContext, body: SyntaxNode) -> list[str]:
    """Return the lines of a function body as a state machine."""
    machine = StateMachine()
    ctx.machine = machine
    for one in walk(body):
        if one.kind == "label":
            machine.entries.add(id(one))
        elif one.kind == "switch" and has_inner_cases(one):
            machine.entries.update(map(id, cases_of(operand(one, 1))))
    _flatten(ctx, machine, body)
    machine.add("return;" if ctx.result.kind == "void" else "return core::mem::zeroed();")
    if machine.labels.keys() - {one.name for one in walk(body) if one.kind == "label"} or any(
        state not in machine.states for state in machine.labels.values()
    ):
        refuse("label_in_expression", body)
    arms = [braces(f"{state} =>", _reached(lines)) for state, lines in sorted(machine.states.items())]
    arms.append("_ => core::hint::unreachable_unchecked(),")
    return ["let mut state: u32 = 0;", braces("'machine: loop", [braces("match state", arms)])]


def _reached(lines: list[str]) -> list[str]:
    """Return the lines up to the first one that leaves the state."""
    for number, line in enumerate(lines):
        if line.startswith(("return", "state = ", "break", "continue")):
            return lines[: number + 1]
    return lines


def _has_entry(machine: StateMachine, node: SyntaxNode) -> bool:
    return any(id(one) in machine.entries for one in walk(node))


def _flatten(ctx: BodyContext, machine: StateMachine, node: SyntaxNode) -> None:
    if node.kind == "label":
        machine.begin(machine.state_of(node.name))
        _flatten(ctx, machine, labelled(node))
    elif node.kind in ("case", "default") and id(node) in machine.cases:
        machine.begin(machine.cases[id(node)])
        _flatten(ctx, machine, labelled(node))
    elif not _has_entry(machine, node):
        _add(ctx, machine, node)
    elif node.kind == "switch":
        _switch(ctx, machine, node)
    elif node.kind == "compound":
        with ctx.scope():
            for child in present(node.children):
                _flatten(ctx, machine, child)
    elif node.kind == "if":
        _if(ctx, machine, node)
    elif node.kind in ("while", "do", "for"):
        _loop(ctx, machine, node)
    else:
        _add(ctx, machine, node)


def _add(ctx: BodyContext, machine: StateMachine, node: SyntaxNode) -> None:
    hoisting, ctx.hoisting = ctx.hoisting, node.kind == "declaration"
    machine.add(*statement(ctx, node))
    ctx.hoisting = hoisting


def _if(ctx: BodyContext, machine: StateMachine, node: SyntaxNode) -> None:
    then, otherwise, after = machine.new(), machine.new(), machine.new()
    branch = node.children[2] if len(node.children) > 2 else None
    test = braces(f"if {condition(ctx, operand(node)).text}", [f"state = {then};"])
    machine.add(braces(f"{test} else", [f"state = {otherwise if branch else after};"]))
    machine.begin(then, falls=False)
    _flatten(ctx, machine, operand(node, 1))
    machine.add(f"state = {after};")
    if branch is not None:
        machine.begin(otherwise, falls=False)
        _flatten(ctx, machine, branch)
        machine.add(f"state = {after};")
    machine.begin(after, falls=False)


@contextmanager
def _targets(ctx: BodyContext, after: int, following: int | None = None) -> Iterator[None]:
    targets = [JumpTarget("", breaks=True, code=jump_to(after))]
    if following is not None:
        targets.append(JumpTarget("", continues=True, code=jump_to(following)))
    with ctx.target(*targets):
        yield


def _loop(ctx: BodyContext, machine: StateMachine, node: SyntaxNode) -> None:
    test, inside, following, after = machine.new(), machine.new(), machine.new(), machine.new()
    first, tested, last, body = _parts(node)
    with ctx.scope():
        if first is not None:
            _add(ctx, machine, first)
        if node.kind == "do":
            machine.add(f"state = {inside};")
        machine.begin(test, falls=node.kind != "do")
        if tested is None:
            machine.add(f"state = {inside};")
        else:
            branch = braces(f"if {condition(ctx, tested).text}", [f"state = {inside};"])
            machine.add(braces(f"{branch} else", [f"state = {after};"]))
        machine.begin(inside, falls=False)
        with _targets(ctx, after, following):
            _flatten(ctx, machine, body or refuse("expression", node))
        machine.begin(following)
        machine.add(*([] if last is None else ctx.effect(last)), f"state = {test};")
        machine.begin(after, falls=False)


def _parts(node: SyntaxNode) -> Sequence[SyntaxNode | None]:
    """Return the initialisation, condition, increment and body of a loop."""
    if node.kind == "for":
        return node.children
    first, second = operand(node), operand(node, 1)
    return (None, second, None, first) if node.kind == "do" else (None, first, None, second)


def _switch(ctx: BodyContext, machine: StateMachine, node: SyntaxNode) -> None:
    tested, inside = operand(node), operand(node, 1)
    after, default = machine.new(), 0
    type_ = ctx.type_of(tested)
    arms = []
    for one in cases_of(inside):
        state = machine.cases[id(one)] = machine.new()
        machine.entries.add(id(one))
        if one.kind == "default":
            default = state
        else:
            arms.append(f"{case_pattern(ctx, one, type_)} => state = {state},")
    arms.append(f"_ => state = {default or after},")
    machine.add(braces(f"match {ctx.value(tested).text}", arms))
    machine.begin(machine.new(), falls=False)
    with _targets(ctx, after):
        _flatten(ctx, machine, inside)
    machine.begin(after)


PARTS = Parts(value, effect, statement)


def translate_function(definition: CDefinition, unit: UnitDefinitions, names: Names) -> RustBody | Refusal:
    """Return the Rust function for a C function and the statics that it needs, or the reason why there is none."""
    return _refusable(lambda: _function(definition, unit, names), definition)


def translate_global(definition: CDefinition, unit: UnitDefinitions, names: Names) -> RustBody | Refusal:
    """Return the Rust static for a C global with its initial value, or the reason why there is none."""
    return _refusable(lambda: _global(definition, unit, names), definition)


def declaration(name: str, type_: CType, names: Names) -> str:
    """Return an item of an `extern "C"` block for a function or global.

    Raises ValueError for a type without a counterpart in Rust.
    """
    try:
        check_type(type_)
    except Refused as refused:
        raise ValueError(refused.refusal.reason) from refused
    if type_.kind != "function":
        return f"pub static mut {name}: {spelled(type_, names)};"
    words = [f"a{number}: {spelled(decay(one), names)}" for number, one in enumerate(type_.parameters)]
    if type_.variadic and type_.prototyped:
        words.append("...")
    result = type_.target or VOID
    return f"pub fn {name}({', '.join(words)}){'' if result.kind == 'void' else f' -> {spelled(result, names)}'};"


def spelled(type_: CType, names: Names) -> str:
    """Return the Rust spelling of a type in bodies."""
    return scalar(type_) or names.types.rust_type(type_)


def _refusable(translate: Callable[[], RustBody], definition: CDefinition) -> RustBody | Refusal:
    try:
        return translate()
    except Refused as refused:
        return refused.refusal._replace(line=refused.refusal.line or definition.extent.line)
    except Unstructured:
        return Refusal("label_in_expression", definition.extent.line)
    except RecursionError:
        return Refusal("deep_nesting", definition.extent.line)


def _function(definition: CDefinition, unit: UnitDefinitions, names: Names) -> RustBody:
    tree = definition.tree
    if definition.type.variadic and definition.type.prototyped:
        refuse("variadic", tree)
    try:
        return _translated(definition, unit, names, machine=False)
    except Unstructured:
        return _translated(definition, unit, names, machine=True)


def _context(definition: CDefinition, unit: UnitDefinitions, names: Names) -> BodyContext:
    ctx = BodyContext(unit, names, names.symbol(definition.key, definition.name), PARTS)
    ctx.taken.update(names.symbol(*one) for one in _mentioned(definition.tree))
    return ctx


def _mentioned(tree: SyntaxNode) -> set[tuple[str, str]]:
    """Return the keys and names of the functions and globals that a tree mentions."""
    remaining, found = [tree], set()
    while remaining:
        node = remaining.pop()
        if node.kind == "name" and node.target and node.value is None:
            found.add((node.target, node.name.removeprefix("__builtin_")))
        remaining.extend(child for child in node.children if child is not None)
    return found


def _translated(definition: CDefinition, unit: UnitDefinitions, names: Names, *, machine: bool) -> RustBody:
    ctx, tree = _context(definition, unit, names), definition.tree
    ctx.result = definition.type.target or VOID
    ctx.gotos = goto_counts([tree])
    parameters, lines = [], []
    for number, one in enumerate(child for child in tree.children if child is not None and child.kind == "parameter"):
        words, conversion = parameter(ctx, one, number, definition.type)
        parameters.append(words)
        lines += conversion
    inside = next((child for child in tree.children if child is not None and child.kind == "compound"), None)
    if inside is None:
        refuse("expression", tree)
    statements = machine_lines(ctx, inside) if machine else body(ctx, inside)
    if ctx.result.kind != "void" and not machine and not diverges(inside):
        statements.append("0" if definition.name == "main" else "core::mem::zeroed()")
    result = "" if ctx.result.kind == "void" else f" -> {ctx.rust(ctx.result, tree)}"
    head = f'pub unsafe extern "C" fn {ctx.symbol}({", ".join(parameters)}){result}'
    if len(head) > LINE_WIDTH:
        head = f'pub unsafe extern "C" fn {ctx.symbol}(\n{wrapped(parameters)}\n){result}'
    return _finished(ctx, braces(head, [*lines, *ctx.hoisted, *statements]))


def _global(definition: CDefinition, unit: UnitDefinitions, names: Names) -> RustBody:
    if definition.tree.operator == "thread_local":
        refuse("thread_local", definition.tree)
    ctx = _context(definition, unit, names)
    return _finished(ctx, static_item(ctx, ctx.symbol, definition.type, definition.tree, public=True))


def _finished(ctx: BodyContext, item: str) -> RustBody:
    uses = tuple(use for _, use in sorted(ctx.uses.items()))
    return RustBody(indented("\n".join([*ctx.items, item])) + "\n", uses)
