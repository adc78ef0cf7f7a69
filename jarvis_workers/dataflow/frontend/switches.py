"""Lower conditions, and `switch` with its cases.

Adjacent labels share one group; control falls through from a group into the next one.
"""

from typing import Any

from jarvis_workers.dataflow.frontend.bodies import with_bodies
from jarvis_workers.dataflow.frontend.grammar import Expr, Node, Reading, Stmt


def after(reading: Reading, node: Node, before: list[Stmt], statement: Stmt, out: list[Stmt]) -> None:
    if before:
        _, line, *_ = statement
        out.append(["blk", line, [*before, statement], reading.first_line + node.end_point[0]])
    else:
        out.append(statement)


def condition_of(reading: Reading, node: Node, before: list[Stmt]) -> Expr:
    """Return the condition of a statement; a declaration in it is added to `before`."""
    if node.type != "condition_clause":
        return reading.expr(node)
    condition: Expr = ["x"]
    for child in reading.children(node):
        if child.type == "init_statement":
            before.extend(reading.listed(child.children))
        elif child.type == "declaration":
            reading.add(child, before)
            match before:
                case [*_, ["d", _, name, *_]]:
                    condition = ["v", name]
                case _:
                    condition = ["x"]
        elif child.is_named:
            condition = reading.expr(child)
    return condition


def switch(reading: Reading, node: Node, out: list[Stmt]) -> None:
    children = [child for child in reading.children(node) if child.is_named]
    if len(children) < 2:
        out.append(["?", reading.line(node)])
        return
    before: list[Stmt] = []
    condition = condition_of(reading, children[0], before)
    body = children[1]
    groups: list[list[Any]] = []
    for child in body.children if body.type == "compound_statement" else [body]:
        if child.type == "case_statement":
            labels, statements = _case(reading, child)
            match groups:
                case [*_, [[_, *_] as others, []]]:
                    others.extend(labels)
                case _:
                    groups.append([labels, []])
            for inner in statements:
                reading.add(inner, groups[-1][-1])
        elif child.is_named:
            if not groups:
                groups.append([[], []])
            if not groups[0][0]:
                # Only a macro that is a case may lead here.
                reading.skip("code before the first case", child)
            reading.add(child, groups[-1][-1])
    groups = [[labels, with_bodies(statements)] for labels, statements in groups if labels or statements]
    after(reading, node, before, ["sw", reading.line(node), condition, groups], out)


def _case(reading: Reading, node: Node) -> tuple[list[Expr | None], list[Node]]:
    children = node.children
    colon = next((place for place, child in enumerate(children) if child.type == ":"), len(children))
    values = [child for child in children[:colon] if child.is_named and not child.is_error]
    statements = children[colon + 1 :]
    if children[0].type == "default":
        return [None], statements
    if reading.broken and statements and statements[0].is_error and reading.word(statements[0]).startswith(".."):
        reading.understood += 1
        return [["x"]], statements[1:]
    ranges = [child for child in children[:colon] if child.is_error]
    if ranges:
        reading.understood += len(ranges)
        return [["x"]], statements
    return [reading.expr(values[0]) if len(values) == 1 else ["x"]], statements


def stray_case(reading: Reading, node: Node, out: list[Stmt]) -> None:
    """Lower a case nested in another statement of its switch; unknown code marks that the switch jumps to it."""
    out.append(["?", reading.line(node)])
    for child in _case(reading, node)[1]:
        reading.add(child, out)
