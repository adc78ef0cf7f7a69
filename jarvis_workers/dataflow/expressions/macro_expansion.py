"""Expand the calls of function-like macros, and of macros of unknown definition that assert a condition."""

from collections.abc import Mapping
from typing import Any, TypeGuard

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.ir.decode import replaced
from jarvis_workers.dataflow.ir.stmt import FunctionMacro
from jarvis_workers.dataflow.library import LIBRARY
from jarvis_workers.dataflow.queries.ast_queries import variables_in
from jarvis_workers.dataflow.queries.name_heuristics import COMPARED_BY, INVERSE_CHECKS, asserts, listed
from jarvis_workers.dataflow.state.context import AnalysisContext

# Macros are expanded within macros up to this depth.
MACROS_DEEP = 6
VARIADIC = "__VA_ARGS__"
# Fields of nodes that a macro may give as a parameter although they are texts: names, members, labels and types.
TEXTS = frozenset(("name", "member", "label", "type"))
TYPE_WORDS = frozenset(listed("char short int long float double signed unsigned struct"))
CHOICES = frozenset((ir.ConditionalExpr, ir.AndExpr, ir.OrExpr, ir.CommaExpr))


def macro_of(machine: AnalysisContext, e: ir.CallExpr) -> FunctionMacro | None:
    """Return the macro that a call expands; one that ignores its arguments tells less than its name may."""
    called = e.callee
    if type(called) is not ir.NameExpr:
        return None
    name, macros = called.name, machine.function_macros
    if name not in macros:
        macros[name] = None if name in LIBRARY or name in machine.effects else _function_macro(machine, name)
    return macros[name]


def _function_macro(machine: AnalysisContext, name: str) -> FunctionMacro | None:
    macro = machine.macro(name)
    if not isinstance(macro, FunctionMacro):
        return None
    is_disabled = asserts(name) and not variables_in((macro.body,)) & {*macro.params, VARIADIC}
    return None if is_disabled else macro


def expand(macro: FunctionMacro, e: ir.CallExpr) -> Any:
    """Return the body of a macro with its arguments substituted, on the line of its use."""
    options: dict[str, Any] = dict(zip(macro.params, e.args, strict=False))
    rest = e.args[len(macro.params) - 1 :] if macro.params[-1:] == ("...",) else ()

    def fill(part: Any) -> Any:
        if not isinstance(part, tuple):
            return part
        if isinstance(part, ir.NameExpr):
            return options.get(part.name, part)
        if isinstance(part, ir.SizeofExpr) and part.type in options:
            return _size_of(part, options[part.type])
        if type(part) is tuple:
            return tuple([one for inner in part for one in (rest if _is_rest(inner) else (fill(inner),))])
        filled = replaced(part, [fill(one) for one in part])
        return _named(filled, options, e.line)

    return fill(macro.body)


def _size_of(part: ir.SizeofExpr, given: ir.Expression) -> ir.SizeofExpr:
    """Return the size of what a macro is given for a type: a type, or an expression."""
    return part._replace(type=given.name) if is_type(given) else part._replace(type=None, operand=given)


def is_type(e: ir.Expression) -> TypeGuard[ir.NameExpr]:
    """Return whether an argument is a type: that of a pointer, or one with a name of the language."""
    return isinstance(e, ir.NameExpr) and (e.name.endswith("*") or e.name in TYPE_WORDS)


def _is_rest(part: Any) -> bool:
    return isinstance(part, ir.NameExpr) and part.name == VARIADIC


def _named(node: Any, options: Mapping[str, Any], line: int) -> Any:
    """Return a node on another line; names and types that are parameters are replaced by the names given for them."""
    changes: dict[str, Any] = {}
    for field in node._fields:
        if field in ("line", "end"):
            changes[field] = line
        elif field in TEXTS and isinstance(text := getattr(node, field), str):
            given = options.get(text.rstrip("*&"))
            if isinstance(given, ir.NameExpr):
                changes[field] = given.name + text[len(text.rstrip("*&")) :]
    return node._replace(**changes) if changes else node


def unfolded(machine: AnalysisContext, statement: ir.ExprStmt) -> tuple[ir.Statement, ...] | None:
    """Return the statements that have the effect of a choice, a sequence or a macro; None for any other statement."""
    e = statement.value
    if type(e) in CHOICES:
        return machine.once(statement, lambda: _statements(e, statement.line))
    if not isinstance(e, ir.CallExpr):
        return None
    macro = macro_of(machine, e)
    if macro is None:
        return None
    return machine.once(statement, lambda: _statements(expand(macro, e), statement.line))


def loop_behind(machine: AnalysisContext, loop: ir.LoopStmt) -> ir.LoopStmt:
    """Return a loop whose head is the call of a macro with the head that the macro expands to, if it is known."""
    call = loop.step
    macro = macro_of(machine, call) if isinstance(call, ir.CallExpr) else None
    if macro is None or not isinstance(call, ir.CallExpr):
        return loop
    match expand(macro, call):
        case ir.BlockStmt(body=(ir.LoopStmt(form="for" | "while") as head, *_)) if not head.body:
            return head._replace(line=loop.line, body=loop.body)
    return loop


def _statements(code: Any, line: int) -> tuple[ir.Statement, ...]:
    """Return the statements with the effect of an expression whose value is not used."""
    match code:
        case ir.CastExpr(type="void", operand=inner):
            return _statements(inner, line)
        case ir.CommaExpr(parts=parts):
            # The calls in a statement are followed before its other effects.
            return tuple([one for part in parts for one in _statements(part, line)])
        case ir.ConditionalExpr(condition=condition, then=then, otherwise=otherwise):
            return (ir.IfStmt("if", line, condition, _statements(then, line), _statements(otherwise, line)),)
        case ir.AndExpr(left=condition, right=then):
            return (ir.IfStmt("if", line, condition, _statements(then, line), ()),)
        case ir.OrExpr(left=condition, right=otherwise):
            return (ir.IfStmt("if", line, condition, (), _statements(otherwise, line)),)
    return (code if isinstance(code, ir.BlockStmt) else ir.ExprStmt("e", line, code),)


def assertion(name: str, args: tuple[ir.Expression, ...]) -> ir.Expression | None:
    """Return the condition that holds after an assertion, by the words of its name; None if it is unknown."""
    words = name.upper().split("_")
    compare = next((COMPARED_BY[word] for word in words if word in COMPARED_BY), None)
    if compare is not None:
        return ir.BinaryExpr("b", compare, *args[:2]) if len(args) == 2 else None
    inverse = name in INVERSE_CHECKS or "FALSE" in words or ("NULL" in words and not {"NOT", "NON"} & {*words})
    return ir.UnaryExpr("u", "!", args[0]) if inverse else args[0]
