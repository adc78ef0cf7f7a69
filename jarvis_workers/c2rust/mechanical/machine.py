"""State machines for jumps that blocks and loops cannot express: `loop { match state { … } }`.

Only statements that contain a label, or a case of an outer switch, are split into states. State 0 is the start of the
body; the address of a label is the number of its state.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from jarvis_workers.c2rust.mechanical.code import braces
from jarvis_workers.c2rust.mechanical.conditions import condition
from jarvis_workers.c2rust.mechanical.context import BodyContext, JumpTarget, operand, present
from jarvis_workers.c2rust.mechanical.control_flow import cases_of, has_inner_cases, labelled
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.c2rust.mechanical.statements import jump_to, statement
from jarvis_workers.c2rust.mechanical.switches import case_pattern
from jarvis_workers.source.clang.syntax_tree import SyntaxNode, walk


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
