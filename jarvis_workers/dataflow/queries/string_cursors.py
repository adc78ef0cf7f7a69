"""Cursors over strings: how many characters from a cursor on are known not to be the NUL at the end.

An abstract interpretation of one variable over the statements of a function; unlike paths, states are joined.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.queries.ast_queries import OPPOSITE, without_casts

TURNS = 3
MIRROR = str.maketrans("<>", "><")
COMPARES = frozenset(("strncmp", "strncasecmp", "memcmp", "strcmp", "strcasecmp"))
# These find the NUL, too.
FINDERS = frozenset(("strchr", "memchr", "strrchr", "strchrnul", "index"))


class StringCursor(NamedTuple):
    """A state: the number of characters before the first that may be the NUL, below 0 behind it, None if unknown.

    `copies` are variables that hold a character, by their distance from the cursor; `line` is where the cursor came to
    a character of which nothing is known.
    """

    slack: int | None = None
    copies: tuple[tuple[str, int], ...] = ()
    line: int = 0


State = StringCursor | None


def _join(first: State, second: State) -> State:
    if first is None or second is None:
        return second if first is None else first
    copies = tuple(one for one in first.copies if one in second.copies)
    if first.slack is None or second.slack is None:
        return StringCursor(None, copies)
    least = first if first.slack <= second.slack else second
    return least._replace(copies=copies)


class CursorWalker:
    """The execution of a function for one cursor: what leaves a loop or switch, and the lines that skip a NUL."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.skips: set[int] = set()
        self.line = 0
        self.breaks: State = None
        self.continues: State = None

    def run(self, body: Any, state: State) -> State:
        for one in body:
            if state is None and not isinstance(one, ir.LabelStmt):
                continue
            self.line = getattr(one, "line", self.line)
            follow = FOLLOWERS.get(type(one))
            state = follow(self, one, state or StringCursor()) if follow is not None else StringCursor()
        return state

    def evaluate(self, e: Any, state: StringCursor) -> StringCursor:
        act = EVALUATORS.get(type(e))
        if act is not None:
            return act(self, e, state)
        for part in e if isinstance(e, tuple) else ():
            state = self.evaluate(part, state)
        return state

    def test(self, e: Any, state: State) -> tuple[State, State]:
        """Return the states where a condition holds, and where it does not."""
        if state is None:
            return None, None
        test = TESTS.get(type(e))
        return test(self, e, state) if test is not None else self.compare("!=", e, 0, state)

    def compare(self, op: str, e: Any, value: int, state: StringCursor) -> tuple[State, State]:
        if isinstance(e, ir.CallExpr) and value == 0 and op in ("==", "!="):
            yes, no = _judge(self, e, state)
            return (yes, no) if op == "!=" else (no, yes)
        state = self.evaluate(e, state)
        at = self.distance(e, state)
        if at is None:
            return state, state
        some, end = _not_end(state, at), state._replace(slack=at, line=0) if at >= 0 else StringCursor()
        if value == 0 and op in ("==", "!="):
            return (end, some) if op == "==" else (some, end)
        other = state._replace(line=0)
        return (some, other) if op in ("==", ">", ">=") else (other, some)

    def read(self, state: StringCursor, at: int) -> StringCursor:
        if state.slack is None or at <= state.slack:
            return state
        self.skips.add(state.line or self.line)
        return StringCursor()

    def move(self, state: StringCursor, by: int) -> StringCursor:
        copies = tuple((name, at - by) for name, at in state.copies)
        if state.slack is None:
            return StringCursor(None, copies)
        slack = state.slack - by
        return StringCursor(slack, copies, state.line or (self.line if slack <= 0 < by else 0))

    def copy(self, name: str, value: Any, state: StringCursor) -> StringCursor:
        copies = tuple(one for one in state.copies if one[0] != name)
        at = self.distance(value, state)
        return state._replace(copies=copies if at is None else (*copies, (name, at)))

    def distance(self, e: Any, state: StringCursor) -> int | None:
        """Return the distance of a character from the cursor, after the expression was evaluated."""
        e = e.value if isinstance(e, ir.AssignExpr) else e
        match without_casts(e) if e is not None else None:
            case ir.NameExpr(name=name):
                return dict(state.copies).get(name)
            case ir.DerefExpr(pointer=ir.UpdateExpr(op=op, prefix=prefix, operand=inner)):
                at = 0 if prefix else -1 if op == "+" else 1
            case ir.IndexExpr(base=inner, subscript=ir.NumberExpr(value=at)):
                pass
            case ir.DerefExpr(pointer=ir.BinaryExpr(op="+", left=inner, right=ir.NumberExpr(value=at))):
                pass
            case ir.DerefExpr(pointer=inner):
                at = 0
            case _:
                return None
        return at if _names(inner, self.name) else None


def _not_end(state: StringCursor, at: int) -> StringCursor:
    """Return the state in which a character is not the NUL, nor are those before it."""
    return state._replace(slack=at + 1 if state.slack is None else max(state.slack, at + 1), line=0)


def _names(e: Any, name: str) -> bool:
    inner = without_casts(e)
    return isinstance(inner, ir.NameExpr) and inner.name == name


# -- statements -------------------------------------------------------------------------------------------------------


def _declare(walker: CursorWalker, one: ir.DeclStmt, state: StringCursor) -> State:
    after = walker.evaluate(one.init, state)
    return StringCursor() if one.name == walker.name else walker.copy(one.name, one.init, after)


def _branch(walker: CursorWalker, one: ir.IfStmt, state: StringCursor) -> State:
    yes, no = walker.test(one.condition, state)
    return _join(walker.run(one.then, yes), walker.run(one.otherwise, no))


def _loop(walker: CursorWalker, one: ir.LoopStmt, state: State) -> State:
    outer = walker.breaks, walker.continues
    state, left = walker.run(one.init, state), None
    is_do = one.form == "do"
    for _ in range(TURNS):
        walker.breaks = walker.continues = None
        walker.line = one.line
        yes, no = (state, None) if is_do or one.condition is None else walker.test(one.condition, state)
        again = _join(walker.run(one.body, yes), walker.continues)
        again = walker.evaluate(one.step, again) if again is not None else None
        if is_do:
            again, no = walker.test(one.condition, again)
        left = _join(left, _join(no, walker.breaks))
        if again is None or again == state:
            break
        state = again
    walker.breaks, walker.continues = outer
    return left


def _switch(walker: CursorWalker, one: ir.SwitchStmt, state: StringCursor) -> State:
    outer, walker.breaks = walker.breaks, None
    state = walker.evaluate(one.subject, state)
    at = walker.distance(one.subject, state)
    falling: State = None
    is_total = any(None in group.labels for group in one.groups)
    has_end = any(ir.ZERO in group.labels for group in one.groups)
    for group in one.groups:
        is_named = ir.ZERO not in group.labels and (has_end or None not in group.labels)
        falling = walker.run(group.body, _join(falling, _not_end(state, at) if is_named and at is not None else state))
    result = _join(_join(falling, walker.breaks), None if is_total else state)
    walker.breaks = outer
    return result


def _return(walker: CursorWalker, one: ir.ReturnStmt, state: StringCursor) -> State:
    walker.evaluate(one.value, state)
    return None


def _break(walker: CursorWalker, one: ir.BreakStmt, state: StringCursor) -> State:
    walker.breaks = _join(walker.breaks, state)
    return None


def _continue(walker: CursorWalker, one: ir.ContinueStmt, state: StringCursor) -> State:
    walker.continues = _join(walker.continues, state)
    return None


FOLLOWERS: dict[type, Callable[[CursorWalker, Any, StringCursor], State]] = {
    ir.ExprStmt: lambda walker, one, state: walker.evaluate(one.value, state),
    ir.DeclStmt: _declare,
    ir.IfStmt: _branch,
    ir.BlockStmt: lambda walker, one, state: walker.run(one.body, state),
    ir.LoopStmt: _loop,
    ir.SwitchStmt: _switch,
    ir.ReturnStmt: _return,
    ir.BreakStmt: _break,
    ir.ContinueStmt: _continue,
    **dict.fromkeys((ir.GotoStmt, ir.ThrowStmt), lambda walker, one, state: None),
}

# -- expressions and conditions ---------------------------------------------------------------------------------------


def _update(walker: CursorWalker, e: ir.UpdateExpr, state: StringCursor) -> StringCursor:
    if _names(e.operand, walker.name):
        return walker.move(state, 1 if e.op == "+" else -1)
    return walker.evaluate(e.operand, state)


def _assign(walker: CursorWalker, e: ir.AssignExpr, state: StringCursor) -> StringCursor:
    state = walker.evaluate(e.value, state)
    if not isinstance(e.target, ir.NameExpr):
        return walker.evaluate(e.target, state)
    if e.target.name != walker.name:
        return state if e.op else walker.copy(e.target.name, e.value, state)
    if not isinstance(e.value, ir.NumberExpr) or e.op not in ("+", "-"):
        return StringCursor()
    return walker.move(state, e.value.value if e.op == "+" else -e.value.value)


def _access(walker: CursorWalker, e: ir.DerefExpr | ir.IndexExpr, state: StringCursor) -> StringCursor:
    """Follow a read or write of a character, which is behind the NUL if the cursor has moved over it."""
    inner = e.pointer if isinstance(e, ir.DerefExpr) else e.base
    if isinstance(e, ir.IndexExpr):
        state = walker.evaluate(e.subscript, state)
    if isinstance(inner, ir.UpdateExpr) and not inner.prefix and _names(inner.operand, walker.name):
        return walker.evaluate(inner, walker.read(state, 0))
    state = walker.evaluate(inner, state)
    at = walker.distance(e, state)
    return walker.read(state, at) if at is not None else state


def _choice(walker: CursorWalker, e: ir.ConditionalExpr, state: StringCursor) -> StringCursor:
    yes, no = walker.test(e.condition, state)
    first = walker.evaluate(e.then, yes) if yes is not None else None
    return _join(first, walker.evaluate(e.otherwise, no) if no is not None else None) or state


def _call(walker: CursorWalker, e: ir.CallExpr, state: StringCursor) -> StringCursor:
    for part in e.args:
        state = walker.evaluate(part, state)
    is_macro = isinstance(e.callee, ir.NameExpr) and e.callee.name.isupper()
    return StringCursor() if is_macro and any(_names(part, walker.name) for part in e.args) else state


def _judge(walker: CursorWalker, call: ir.CallExpr, state: StringCursor) -> tuple[State, State]:
    """Follow a call in a condition: one that gets a character probably refuses the NUL."""
    name = call.callee.name if isinstance(call.callee, ir.NameExpr) else ""
    given = [without_casts(part) for part in call.args]
    is_whole = any(_names(part, walker.name) for part in given)
    state = walker.evaluate(call, state)
    if name in COMPARES and is_whole:
        return state, _behind_prefix(given, state)
    if is_whole:
        return StringCursor(), StringCursor()
    found = [at for part in given if (at := walker.distance(part, state)) is not None]
    return (_not_end(state, max(found)) if found and name not in FINDERS else state), state


def _behind_prefix(given: list[Any], state: StringCursor) -> StringCursor:
    """Return the state in which the cursor is at a literal, or at the first characters of one."""
    lengths = [part.length for part in given if isinstance(part, ir.STRINGS)]
    lengths += [part.value for part in given[2:3] if isinstance(part, ir.NumberExpr)]
    return _not_end(state, min(lengths) - 1) if lengths and min(lengths) > 0 else StringCursor()


def _all(walker: CursorWalker, e: ir.AndExpr, state: StringCursor) -> tuple[State, State]:
    yes, no = walker.test(e.left, state)
    yes, other = walker.test(e.right, yes)
    return yes, _join(no, other)


def _any(walker: CursorWalker, e: ir.OrExpr, state: StringCursor) -> tuple[State, State]:
    yes, no = walker.test(e.left, state)
    other, no = walker.test(e.right, no)
    return _join(yes, other), no


def _test_operation(walker: CursorWalker, e: ir.BinaryExpr, state: StringCursor) -> tuple[State, State]:
    if e.op in OPPOSITE:
        is_mirrored = isinstance(e.left, ir.NumberExpr)
        left, right = (e.right, e.left) if is_mirrored else (e.left, e.right)
        # A variable that characters are compared with is most often not the NUL.
        value = right.value if isinstance(right, ir.NumberExpr) else 1
        op = e.op.translate(MIRROR) if is_mirrored else e.op
        return walker.compare(op, left, value, walker.evaluate(right, state))
    return walker.compare("!=", e, 0, state)


EVALUATORS: dict[type, Callable[[CursorWalker, Any, StringCursor], StringCursor]] = {
    ir.UpdateExpr: _update,
    ir.AssignExpr: _assign,
    ir.AddressExpr: lambda walker, e, state: (
        StringCursor() if _names(e.operand, walker.name) else walker.evaluate(e.operand, state)
    ),
    ir.DerefExpr: _access,
    ir.IndexExpr: _access,
    ir.ConditionalExpr: _choice,
    ir.CallExpr: _call,
    **dict.fromkeys((ir.AndExpr, ir.OrExpr), lambda walker, e, state: _join(*walker.test(e, state)) or state),
}
TESTS: dict[type, Callable[[CursorWalker, Any, StringCursor], tuple[State, State]]] = {
    ir.AndExpr: _all,
    ir.OrExpr: _any,
    ir.BinaryExpr: _test_operation,
    ir.CallExpr: _judge,
    ir.UnaryExpr: lambda walker, e, state: (
        walker.test(e.operand, state)[::-1] if e.op == "!" else walker.compare("!=", e, 0, state)
    ),
    ir.NumberExpr: lambda walker, e, state: (state, None) if e.value else (None, state),
}
