"""Facts about the control flow of statements."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from jarvis_workers.c2rust.mechanical.code import Code, braces
from jarvis_workers.c2rust.mechanical.context import (
    BodyContext,
    JumpTarget,
    Unstructured,
    literal,
    operand,
    plain,
    present,
    uncast,
)
from jarvis_workers.c2rust.mechanical.refusals import refuse
from jarvis_workers.source.clang.c_types import CType
from jarvis_workers.source.clang.syntax_tree import SyntaxNode

LOOPS = ("while", "do", "for")
JUMPS = ("return", "goto", "computed_goto", "break", "continue")
LABELS = ("label", "case", "default")


def has_continue(node: SyntaxNode) -> bool:
    """Whether a loop body has a `continue` of this loop."""
    return node.kind == "continue" or any(map(has_continue, _without(LOOPS, node)))


def has_break(node: SyntaxNode) -> bool:
    return node.kind == "break" or any(map(has_break, _without((*LOOPS, "switch"), node)))


def _without(kinds: Sequence[str], node: SyntaxNode) -> Iterator[SyntaxNode]:
    return (child for child in present(node.children) if child.kind not in kinds)


def cases_of(node: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield the case and default labels of a switch with this body."""
    if node.kind in ("case", "default"):
        yield node
    for child in _without(("switch",), node):
        yield from cases_of(child)


def has_inner_cases(node: SyntaxNode) -> bool:
    """Whether cases of a switch are inside its inner statements, as in Duff's device."""
    inside = operand(node, 1)
    direct = 0
    for child in present(inside.children) if inside.kind == "compound" else [inside]:
        inner = child
        while inner.kind in ("case", "default"):
            direct += 1
            inner = labelled(inner)
    return direct != sum(1 for _ in cases_of(inside))


def labelled(node: SyntaxNode) -> SyntaxNode:
    """Return the statement after a label, case or default."""
    return operand(node, len(node.children) - 1)


def diverges(node: SyntaxNode) -> bool:
    """Whether control never reaches the end of a statement; False if that is not obvious."""
    if node.kind in JUMPS:
        return True
    if node.kind in LABELS:
        return diverges(labelled(node))
    if node.kind == "compound":
        return bool(node.children) and diverges(operand(node, len(node.children) - 1))
    if node.kind == "if":
        return len(node.children) == 3 and diverges(operand(node, 1)) and diverges(operand(node, 2))
    return is_endless(node) and not has_break(body_of(node))


def body_of(node: SyntaxNode) -> SyntaxNode:
    return operand(node, 0 if node.kind == "do" else len(node.children) - 1)


def is_endless(node: SyntaxNode) -> bool:
    """Whether a loop has no condition, or a condition that is constant and true."""
    if node.kind == "for":
        return node.children[1] is None or constant_truth(operand(node, 1)) is True
    return node.kind in LOOPS and constant_truth(operand(node, 1 if node.kind == "do" else 0)) is True


def constant_truth(node: SyntaxNode) -> bool | None:
    """Return whether a literal, possibly with a cast, is true; None for other expressions."""
    literal = uncast(node)
    if literal.kind not in ("integer", "character") or literal.value is None:
        return None
    return bool(literal.value) if literal is plain(node) or literal.value in (0, 1) else None


# Switches as `match`, with one arm per group of cases; groups that fall through become labelled blocks in one arm.


class StatementSequence(Protocol):
    def __call__(self, ctx: BodyContext, nodes: Sequence[SyntaxNode], *, hoist: bool = False) -> list[str]: ...


@dataclass
class SwitchGroup:
    """Consecutive labels, and the statements up to the next label."""

    patterns: list[str]
    default: bool
    statements: list[SyntaxNode]

    @property
    def falls_through(self) -> bool:
        return not self.statements or not diverges(self.statements[-1])

    @property
    def pattern(self) -> str:
        return "_" if self.default else " | ".join(self.patterns)


def switch(ctx: BodyContext, node: SyntaxNode, sequence: StatementSequence) -> list[str]:
    """Return the lines of a switch. Raises Unstructured if cases are inside inner statements."""
    tested, inside = operand(node), operand(node, 1)
    type_ = ctx.type_of(tested)
    before, groups = _groups(ctx, inside, type_)
    if has_inner_cases(node):
        raise Unstructured
    number = ctx.numbers["switch"] = ctx.numbers.get("switch", 0) + 1
    target = JumpTarget(f"'switch_{number}", breaks=True)
    value = ctx.value(tested)
    with ctx.scope(), ctx.target(target):
        lines = sequence(ctx, before, hoist=True)
        runs = _runs(groups)
        name = f"switch_{number}" if any(len(run) > 1 for run in runs) else ""
        arms = [_arm(ctx, run, name, sequence) for run in runs]
    arms.sort(key=lambda arm: arm.startswith("_ "))
    if not any(group.default for group in groups):
        arms.append("_ => {}")
    if name:
        lines.append(f"let {name} = {value.text};")
    match = braces(f"match {name or value.text}", arms)
    return [*lines, braces(f"{target.label}:", [match]) if target.mentioned else match]


def _groups(ctx: BodyContext, inside: SyntaxNode, type_: CType) -> tuple[list[SyntaxNode], list[SwitchGroup]]:
    """Return the declarations before the first case, and the groups."""
    before: list[SyntaxNode] = []
    groups: list[SwitchGroup] = []
    for child in present(inside.children) if inside.kind == "compound" else [inside]:
        if child.kind in ("case", "default"):
            group = SwitchGroup([], default=False, statements=[])
            while child.kind in ("case", "default"):
                group.default |= child.kind == "default"
                if child.kind == "case":
                    group.patterns.append(case_pattern(ctx, child, type_))
                child = labelled(child)
            group.statements.append(child)
            groups.append(group)
        elif groups:
            groups[-1].statements.append(child)
        elif child.kind == "declaration":
            # Its initialisers are never run.
            bare = tuple(replace(one, children=()) if not one.operator else one for one in present(child.children))
            before.append(replace(child, children=bare))
    return before, groups


def case_pattern(ctx: BodyContext, node: SyntaxNode, type_: CType) -> str:
    """Return the pattern of a case."""
    ends = [case_value(ctx, one, type_) for one in present(node.children[:-1])]
    return "..=".join(one.short for one in ends)


def case_value(ctx: BodyContext, node: SyntaxNode, type_: CType) -> Code:
    value = node.value if node.value is not None else ctx.value(node).value
    return literal(value, type_) if value is not None else refuse("expression", node)


def _runs(groups: Sequence[SwitchGroup]) -> list[list[SwitchGroup]]:
    """Return sequences of groups in which each group falls through to the next."""
    runs: list[list[SwitchGroup]] = []
    open_ = False
    for group in groups:
        if open_:
            runs[-1].append(group)
        else:
            runs.append([group])
        open_ = group.falls_through
    return runs


def _arm(ctx: BodyContext, run: Sequence[SwitchGroup], name: str, sequence: StatementSequence) -> str:
    if len(run) == 1:
        lines = sequence(ctx, without_break(run[0].statements), hoist=True)
        return braces(f"{run[0].pattern} =>", lines)
    labels = [f"'case_{number}" for number in _case_numbers(ctx, len(run))]
    entries = []
    for group, label in zip(run, labels, strict=True):
        jump = "{}" if group is run[0] else f"break {label},"
        if group.patterns and not group.default:
            entries.append(f"{group.pattern} => {jump}")
    first = next((one for one in run if one.default), run[0])
    entries.append(f"_ => {'{}' if first is run[0] else f'break {labels[run.index(first)]},'}")
    lines = [braces(f"match {name}", [one for one in entries if not _is_covered(one, entries)])]
    for number, group in enumerate(run):
        statements = without_break(group.statements) if group is run[-1] else group.statements
        lines += sequence(ctx, statements, hoist=True)
        if group is not run[-1]:
            lines = [braces(f"{labels[number + 1]}:", lines)]
    pattern = "_" if any(one.default for one in run) else " | ".join(one.pattern for one in run)
    return braces(f"{pattern} =>", lines)


def _is_covered(entry: str, entries: Sequence[str]) -> bool:
    """Whether the last arm, which is for all other values, has the same effect as this one."""
    return entry is not entries[-1] and entry.partition(" => ")[2] == entries[-1].partition(" => ")[2]


def _case_numbers(ctx: BodyContext, count: int) -> range:
    first = ctx.numbers.get("case", 0) + 1
    ctx.numbers["case"] = first + count - 1
    return range(first, first + count)


def without_break(statements: Sequence[SyntaxNode]) -> list[SyntaxNode]:
    """Return the statements of a case without the final `break`."""
    if not statements:
        return []
    *others, last = statements
    if last.kind == "break":
        return others
    if last.kind == "compound":
        return [*others, replace(last, children=tuple(without_break(present(last.children))))]
    return [*others, last]
