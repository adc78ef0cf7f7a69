"""The tree of cursors below a declaration, collected in one visit and without recursion in Python."""

from dataclasses import dataclass, field

from jarvis_workers.source.clang.libclang import RECURSE, Cursor, Visitor, library


@dataclass(slots=True, eq=False)
class CursorNode:
    cursor: Cursor
    parent: "CursorNode | None"
    children: "list[CursorNode]" = field(default_factory=list)


def cursor_tree(root: Cursor) -> list[CursorNode]:
    """Return the root and all cursors below it in pre-order."""
    nodes = [CursorNode(root, None)]
    path = [(_identity(root), nodes[0])]

    # A visitor must not raise, so the root stays on the path even if libclang reports an unexpected parent.
    def visit(cursor: Cursor, parent: Cursor, _data: int) -> int:
        is_selected = _identity(parent)
        if _identity(cursor) == is_selected:  # a constant expression has the same cursor as its child
            return RECURSE
        while len(path) > 1 and path[-1][0] != is_selected:
            path.pop()
        above = path[-1][1]
        node = CursorNode(cursor, above)
        above.children.append(node)
        nodes.append(node)
        path.append((_identity(cursor), node))
        return RECURSE

    library().clang_visitChildren(root, Visitor(visit), None)
    return nodes


def _identity(cursor: Cursor) -> tuple[int, int | None, int | None]:
    return cursor.kind, cursor.declaration, cursor.statement
