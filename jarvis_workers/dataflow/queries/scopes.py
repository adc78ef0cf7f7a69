"""Blocks of functions, and the variables that end with them."""

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.queries.ast_queries import bodies, walk, without_casts


def addressed(function: ir.LoweredFunction) -> dict[int, tuple[str, ...]]:
    """Return the variables of inner blocks, by the identity of the block, whose address an assignment takes.

    The name of each is declared once in the function.
    """
    taken: set[str] = set()
    declared: dict[str, int] = {parameter.name: 1 for parameter in function.params}
    blocks: list[tuple[int, list[str]]] = []
    for node in walk(function.body):
        if isinstance(node, ir.AssignExpr):
            value = without_casts(node.value)
            inner = value.operand if isinstance(value, ir.AddressExpr) else value
            while isinstance(inner, (ir.MemberExpr, ir.IndexExpr)):
                inner = inner.base
            if isinstance(inner, ir.NameExpr):
                taken.add(inner.name)
        elif isinstance(node, ir.DeclStmt):
            declared[node.name] = declared.get(node.name, 0) + 1
        for body in bodies(node):
            names = [one.name for one in body if isinstance(one, ir.DeclStmt)]
            if names:
                blocks.append((id(body), names))
    found = {body: tuple([name for name in names if name in taken and declared[name] == 1]) for body, names in blocks}
    return {body: names for body, names in found.items() if names}
