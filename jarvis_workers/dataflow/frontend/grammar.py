"""Tree-sitter grammars, and the state of lowering one piece of source; only the front end imports tree-sitter.

Tables map each kind of syntax node to its lowering function.  The depth is bounded, because
readers of the result are recursive, too.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import tree_sitter_c
import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

from jarvis_workers.dataflow.frontend.bodies import with_bodies
from jarvis_workers.dataflow.frontend.deferred import Cleanups
from jarvis_workers.dataflow.frontend.macro_text import Texts

__all__ = ["DEPTH_MAX", "NO_SEMICOLON", "AddStmts", "Expr", "ExprOf", "FileNames", "Grammar", "Node", "Reading", "Stmt"]

DEPTH_MAX = 100
ERROR = 65_535
# What replaces a star of a type in an argument list; the grammar takes it for a part of the name.
STAR = b"$"
NO_SEMICOLON = "call without a semicolon"
HOLDERS = frozenset(("compound_statement", "case_statement", "labeled_statement", "ERROR"))

Expr = list[Any]
Stmt = list[Any]
ExprOf = Callable[["Reading", Node], Expr]
AddStmts = Callable[["Reading", Node, list[Stmt]], None]
T = TypeVar("T")


class Grammar:
    """A parser with its lowering tables, keyed by the grammar's numeric kind ids."""

    def __init__(self, *, cpp: bool, expressions: Mapping[str, "ExprOf"], statements: Mapping[str, "AddStmts"]) -> None:
        language = Language((tree_sitter_cpp if cpp else tree_sitter_c).language())
        self.cpp = cpp
        self.parser = Parser(language)
        self.name = language.id_for_node_kind("identifier", True)
        self.expressions = _numbered(language, expressions)
        self.statements = _numbered(language, statements)


def _numbered(language: Language, named: Mapping[str, T]) -> dict[int, T]:
    numbers = {name: ERROR if name == "ERROR" else language.id_for_node_kind(name, True) for name in named}
    return {number: named[name] for name, number in numbers.items() if number is not None}


class FileNames(NamedTuple):
    """The names that a file declares outside of functions.

    `loops` are the macros that are the head of a loop, `parameters` those that are a parameter list, `cleanups` those
    that are a cleanup attribute, with its function.
    """

    variables: Mapping[str, Any]
    types: Mapping[str, Any]
    typedefs: Mapping[str, str]
    loops: Texts
    parameters: Mapping[bytes, bytes]
    cleanups: Mapping[bytes, str] = {}


NO_NAMES = FileNames({}, {}, {}, {}, {})


def holds_error(node: Node) -> bool:
    return node.has_error and any(child.is_error for child in node.children)


class Reading:
    """State of lowering one piece of source, and the declarations found on the way."""

    def __init__(self, of: Grammar, source: bytes, first_line: int) -> None:
        self.cpp = of.cpp
        self.source = source
        self.text = source.decode("latin-1")
        self.root = of.parser.parse(source).root_node
        self.broken = self.root.has_error
        self.first_line = first_line
        self.calls: set[str] = set()
        self.declared_names: set[str] = set()
        self.types: dict[str, dict[str, Any]] = {}
        self.constants: dict[str, Expr] = {}
        self.names = NO_NAMES
        self.cleanups: Cleanups = {}
        self.understood = 0
        self.cut = 0
        # The parts of the source that are not lowered although they are code: what each is, and its span.
        self.skipped: list[tuple[str, int, int]] = []
        self._expressions = of.expressions
        self._statements = of.statements
        self._name = of.name
        self._depth = 0
        # The expressions that do not parse and belong to the current statement.
        self._lost = 0

    def knows(self, name: str) -> bool:
        """Return whether a name is that of a variable."""
        return name in self.declared_names or name in self.names.variables

    def line(self, node: Node) -> int:
        return node.start_point[0] + self.first_line

    def word(self, node: Node) -> str:
        return self.text[node.start_byte : node.end_byte]

    def children(self, node: Node) -> list[Node]:
        """Return the children without comments and error nodes."""
        found = node.children
        if self.broken:
            return [child for child in found if not child.is_extra and not child.is_error]
        return found

    def expr(self, node: Node) -> Expr:
        kind = node.kind_id
        if kind == self._name:
            word = self.text[node.start_byte : node.end_byte]
            if word[-1:] == "$":
                word = word.replace("$", "*")
            return ["v", word] if word else ["x"]
        read = self._expressions.get(kind)
        if self.broken and holds_error(node):
            self._lost += 1
            return ["x"]
        if read is None:
            self.skip("unknown expression", node)
            return ["x"]
        if not self.enter():
            return ["x"]
        expression = read(self, node)
        self._depth -= 1
        return expression

    def add(self, node: Node, out: list[Stmt]) -> None:
        """Add the statements that a node lowers to; of one with a parse error, it is unknown what else it does."""
        add = self._statements.get(node.kind_id)
        if add is None:
            return
        if not self.enter():
            out.append(["?", self.line(node)])
            return
        first, lost = len(out), self._lost
        add(self, node, out)
        self._depth -= 1
        if not self.broken:
            return
        if self._lost > lost:
            # What it reads may be what it sets: the call of a macro with code after it parses as a part of an operand.
            out.insert(first, ["?", self.line(node)])
            self._lost = lost
        elif node.type in HOLDERS or not holds_error(node):
            return
        out.append(["?", self.line(node)])

    def enter(self) -> bool:
        """Enter a nested node; return False beyond the depth limit."""
        if self._depth > DEPTH_MAX:
            self.cut += 1
            return False
        self._depth += 1
        return True

    def leave(self) -> None:
        self._depth -= 1

    def skip(self, what: str, node: Node) -> None:
        """Record code that is not lowered."""
        self.skipped.append((what, node.start_byte, node.end_byte))

    def forgive(self, node: Node) -> None:
        """Count the parse errors below a node as handled."""
        if self.broken:
            self.understood += sum(child.is_error or child.is_missing for child in node.children)

    def stmts(self, node: Node) -> list[Stmt]:
        """Return the statements of a body, with or without braces."""
        return self.listed(node.children if node.type == "compound_statement" else [node])

    def listed(self, nodes: Sequence[Node]) -> list[Stmt]:
        out: list[Stmt] = []
        for node in nodes:
            self.add(node, out)
        # At the end of a block, what it has deferred is executed in reverse.
        out += [["defer", line, []] for tag, line, *_ in reversed(out) if tag == "defer"]
        return with_bodies(out) if self.broken else out
