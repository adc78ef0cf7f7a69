"""Whether a call returns: no path through a function does if each ends in such a call, or in an endless loop."""

from collections.abc import Callable, Iterable

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.ast_queries import bodies
from jarvis_workers.dataflow.context import AnalysisContext
from jarvis_workers.dataflow.definitions import Callee
from jarvis_workers.dataflow.name_heuristics import never_returns

# Calls of functions are looked into up to this depth.
DEEP = 6
Ends = Callable[[ir.CallExpr], bool]
LEAVING = (ir.ReturnStmt, ir.GotoStmt, ir.LabelStmt, ir.ThrowStmt, ir.TryStmt, ir.UnknownStmt)
ENDING_SIGNALS = frozenset(("SIGABRT", "SIGSEGV", "SIGKILL", "SIGILL", "SIGFPE", "SIGBUS", "SIGTRAP"))
ALWAYS = (None, ir.NumberExpr("n", 1))


def ends_by_signal(name: str, args: tuple[ir.Expression, ...]) -> bool:
    """Return whether a call raises a signal that ends the program."""
    return name == "raise" and len(args) == 1 and isinstance(args[0], ir.NameExpr) and args[0].name in ENDING_SIGNALS


def ends_by_pointer(machine: AnalysisContext, called: ir.Expression) -> bool:
    """Return whether a call through a pointer never returns, as the declaration of the pointer says."""
    match called:
        case ir.DerefExpr(pointer=pointer):
            return ends_by_pointer(machine, pointer)
        case ir.NameExpr(name=name) | ir.MemberExpr(member=name) | ir.ArrowExpr(member=name):
            return machine.never_returns(f"*{name}")
    return False


def ends_program(machine: AnalysisContext, callee: Callee, deep: int = DEEP) -> bool:
    """Return whether a function never returns to its caller."""
    function, _ = callee
    return deep > 0 and machine.property_of("ends", function, lambda: _never_returns(machine, callee, deep))


def _never_returns(machine: AnalysisContext, callee: Callee, deep: int) -> bool:
    function, file = callee

    def ends(call: ir.CallExpr) -> bool:
        if not isinstance(call.callee, ir.NameExpr):
            return ends_by_pointer(machine, call.callee)
        inner = machine.function(call.callee.name, file)
        name = call.callee.name
        if inner:
            return ends_program(machine, inner, deep - 1)
        if never_returns(name) or ends_by_signal(name, call.args) or machine.never_returns(name):
            return True
        return ends_by_pointer(machine, call.callee)

    return not _leaves(function.body, ends) and not _completes(function.body, ends)


def _leaves(statements: Iterable[ir.Statement], ends: Ends) -> bool:
    """Return whether statements may leave their function, or contain jumps whose target is not looked for."""
    for one in statements:
        if isinstance(one, LEAVING) or any(_leaves(body, ends) for body in bodies(one)):
            return True
        if not _goes_on(one, ends):
            # Without a jump, nothing behind it is reached.
            return False
    return False


def _completes(statements: Iterable[ir.Statement], ends: Ends) -> bool:
    """Return whether control may reach the end of statements that contain no jumps."""
    return all(_goes_on(one, ends) for one in statements)


def _goes_on(statement: ir.Statement, ends: Ends) -> bool:
    match statement:
        case ir.ExprStmt(value=ir.CallExpr() as call):
            return not ends(call)
        case ir.BlockStmt(body=body):
            return _completes(body, ends)
        case ir.IfStmt(then=then, otherwise=otherwise):
            return _completes(then, ends) or _completes(otherwise, ends)
        case ir.LoopStmt(condition=condition, body=body):
            return condition not in ALWAYS or _breaks(body)
    return True


def _breaks(statements: Iterable[ir.Statement]) -> bool:
    """Return whether statements contain a break; one that leaves an inner statement counts, too."""
    return any(isinstance(one, ir.BreakStmt) or any(_breaks(body) for body in bodies(one)) for one in statements)
