"""Whether a call returns: no path through a function does if each ends in such a call, or in an endless loop."""

import re
from collections.abc import Callable, Iterable, Sequence

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.ir.stmt import FunctionMacro
from jarvis_workers.dataflow.library import LIBRARY
from jarvis_workers.dataflow.queries.ast_queries import alias_of, bodies
from jarvis_workers.dataflow.queries.name_heuristics import never_returns
from jarvis_workers.dataflow.state.context import AnalysisContext
from jarvis_workers.dataflow.state.definitions import Callee
from jarvis_workers.dataflow.state.path import PathState
from jarvis_workers.dataflow.state.types import type_of

# Calls of functions are looked into up to this depth.
DEEP = 6
Ends = Callable[[ir.CallExpr], bool]
LEAVING = frozenset((ir.ReturnStmt, ir.GotoStmt, ir.LabelStmt, ir.ThrowStmt, ir.TryStmt, ir.UnknownStmt))
ENDING_SIGNALS = frozenset(("SIGABRT", "SIGSEGV", "SIGKILL", "SIGILL", "SIGFPE", "SIGBUS", "SIGTRAP"))
# Constants that say that an error is fatal, and the functions that report errors, by words of their names.
FATAL = re.compile(r"(?!.*NON_?)(?:\w+_)?(?:FATAL|PANIC)|EXIT_FAILURE")
REPORTS = re.compile(r"(?i)err|fail|fatal|panic|die|abort|bail|exit|quit|usage|msg|message|report")
ALWAYS = (None, ir.NumberExpr("n", 1))


def ends_by_argument(name: str, args: tuple[ir.Expression, ...]) -> bool:
    """Return whether what a call gets says that it ends the program: `raise(SIGABRT)`, `error(FATAL | PERROR, "…")`.

    Functions that log go on after a fatal error, and others only pass such a constant on.
    """
    if name == "raise":
        return len(args) == 1 and isinstance(args[0], ir.NameExpr) and args[0].name in ENDING_SIGNALS
    for part in args[:2]:
        for one in (part.left, part.right) if type(part) is ir.BinaryExpr and part.op == "|" else (part,):
            if type(one) is ir.NameExpr and one.name.isupper() and FATAL.fullmatch(one.name):
                return "log" not in name and REPORTS.search(name) is not None
    return False


def ends_by_declaration(machine: AnalysisContext, name: str) -> bool:
    """Return whether a name without a body never returns: by its prototype, its type, or as a macro."""
    ends = machine.ending_names.get(name)
    if ends is None:
        ends = machine.never_returns(name) or machine.never_returns(f"*{name}") or ends_by_macro(machine, name)
        machine.ending_names[name] = ends
    return ends


def ends_by_pointer(machine: AnalysisContext, called: ir.Expression) -> bool:
    """Return whether a call through a pointer never returns, as the declaration of the pointer says."""
    match called:
        case ir.DerefExpr(pointer=pointer):
            return ends_by_pointer(machine, pointer)
        case ir.NameExpr(name=name) | ir.MemberExpr(member=name) | ir.ArrowExpr(member=name):
            return machine.never_returns(f"*{name}")
    return False


def never_comes_back(path: PathState, called: ir.Expression) -> bool:
    """Return whether a call through a pointer never returns, by its declaration or its type."""
    return ends_by_pointer(path.machine, called) or path.machine.never_returns(f"*{type_of(path, called)}")


def never_returns_to(path: PathState, name: str, body: Callee | None) -> bool:
    """Return whether a call of a name never returns, which may have a body or be a variable."""
    machine = path.machine
    if body is not None:
        return ends_program(machine, body)
    pointer = path.frame.types.get(name)
    if pointer is not None:
        return machine.never_returns(f"*{pointer.kind}")
    return name not in LIBRARY and ends_by_declaration(machine, name)


def ends_program(machine: AnalysisContext, callee: Callee, deep: int = DEEP) -> bool:
    """Return whether a function never returns to its caller."""
    function, _ = callee
    return deep > 0 and machine.property_of("ends", function, lambda: _never_returns(machine, callee, deep))


def _never_returns(machine: AnalysisContext, callee: Callee, deep: int) -> bool:
    function, file = callee

    return _ends(function.body, lambda call: _is_ending_call(machine, call, file, deep - 1))


def _is_ending_call(machine: AnalysisContext, call: ir.CallExpr, file: str | None, deep: int) -> bool:
    if not isinstance(call.callee, ir.NameExpr):
        return ends_by_pointer(machine, call.callee)
    name = call.callee.name
    return (
        _is_ending_name(machine, name, file, deep)
        or ends_by_argument(name, call.args)
        or ends_by_pointer(machine, call.callee)
    )


def _is_ending_name(machine: AnalysisContext, name: str, file: str | None, deep: int) -> bool:
    inner = machine.function(name, file)
    if inner:
        return ends_program(machine, inner, deep)
    return never_returns(name) or machine.never_returns(name) or ends_by_macro(machine, name, deep)


def ends_by_macro(machine: AnalysisContext, name: str, deep: int = DEEP) -> bool:
    """Return whether a name is that of a macro that never returns, whichever of its definitions counts."""
    if deep <= 0:
        return False
    ends = machine.ending_macros.get(name)
    if ends is None:
        # One that names itself does not end.
        machine.ending_macros[name] = False
        choices = machine.macro_choices(name)
        ends = bool(choices) and all(_never_returns_from(machine, one, deep - 1) for one in choices)
        machine.ending_macros[name] = ends
    return ends


def _never_returns_from(machine: AnalysisContext, macro: ir.Expression | FunctionMacro, deep: int) -> bool:
    if not isinstance(macro, FunctionMacro):
        alias = alias_of(macro)
        return alias is not None and _is_ending_name(machine, alias, None, deep)
    body = macro.body if isinstance(macro.body, ir.BlockStmt) else ir.ExprStmt("e", 0, macro.body)
    return _ends((body,), lambda call: _is_ending_call(machine, call, None, deep))


def _ends(statements: Sequence[ir.Statement], ends: Ends) -> bool:
    return not _leaves(statements, ends) and not _completes(statements, ends)


def _leaves(statements: Iterable[ir.Statement], ends: Ends) -> bool:
    """Return whether statements may leave their function, or contain jumps whose target is not looked for."""
    for one in statements:
        if type(one) in LEAVING:
            return True
        for body in bodies(one):
            if _leaves(body, ends):
                return True
        if not _goes_on(one, ends):
            # Without a jump, nothing behind it is reached.
            return False
    return False


def _completes(statements: Iterable[ir.Statement], ends: Ends) -> bool:
    """Return whether control may reach the end of statements that contain no jumps."""
    return all(_goes_on(one, ends) for one in statements)


def _goes_on(statement: ir.Statement, ends: Ends) -> bool:
    if type(statement) is ir.ExprStmt:
        return not _ends_within(statement.value, ends)
    if type(statement) is ir.BlockStmt:
        return _completes(statement.body, ends)
    if type(statement) is ir.IfStmt:
        return _completes(statement.then, ends) or _completes(statement.otherwise, ends)
    if type(statement) is ir.LoopStmt:
        return statement.condition not in ALWAYS or _breaks(statement.body)
    return True


def _ends_within(e: ir.Expression, ends: Ends) -> bool:
    """Return whether evaluating an expression whose value is not used never completes."""
    if type(e) is ir.CallExpr:
        return ends(e)
    if type(e) is ir.CastExpr:
        return _ends_within(e.operand, ends)
    return type(e) is ir.CommaExpr and any(_ends_within(part, ends) for part in e.parts)


def _breaks(statements: Iterable[ir.Statement]) -> bool:
    """Return whether statements contain a break; one that leaves an inner statement counts, too."""
    return any(isinstance(one, ir.BreakStmt) or any(_breaks(body) for body in bodies(one)) for one in statements)
