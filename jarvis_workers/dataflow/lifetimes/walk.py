"""Walk over the statements of a C++ function, and report what is used after it moved or ended.

A forward analysis over sets of facts: branches are joined by union, a loop is walked twice, which reaches the facts
that one iteration hands to the next. Calls are not followed.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.lifetimes.borrows import VIEW, Borrow, borrowed, family, key_of
from jarvis_workers.dataflow.lifetimes.owners import LifetimeHit, Lives
from jarvis_workers.dataflow.lifetimes.transfers import RETURNED, USED, ExpressionWalk
from jarvis_workers.dataflow.queries.ast_queries import without_casts
from jarvis_workers.dataflow.state.definitions import Definitions

# A second walk over a loop shows what the first iteration hands to the next.
ROUNDS = 2
DEEPEST = 60


def _join(first: Lives | None, second: Lives | None) -> Lives | None:
    return second if first is None else first.joined(second)


def lifetime_hits(machine: Definitions, function: ir.LoweredFunction) -> list[LifetimeHit]:
    """Return the defects of lifetimes in a function, sorted by line."""
    walk_ = LifetimeWalk(machine, function)
    walk_.body(function.body, Lives({}, {}, {}, {}))
    return sorted(walk_.hits.values(), key=lambda hit: (hit.line, hit.rule))


class LifetimeWalk(ExpressionWalk):
    """The statements of one function."""

    def __init__(self, machine: Definitions, function: ir.LoweredFunction) -> None:
        super().__init__(machine, function)
        self.exits: list[tuple[list[Lives], list[Lives]]] = []
        self.deep = 0

    def body(self, statements: Sequence[ir.Statement], lives: Lives | None) -> Lives | None:
        """Walk over the statements of a block, whose variables end with it."""
        self.deep += 1
        for statement in statements if self.deep < DEEPEST else ():
            if isinstance(statement, ir.LabelStmt):
                lives = Lives({}, {}, {}, {})
            elif lives is not None:
                self.line = statement.line  # type: ignore[attr-defined]
                lives = self.statement(statement, lives)
        self.deep -= 1
        ended = {one.name for one in statements if isinstance(one, ir.DeclStmt) and one.name in self.types.local}
        if lives is not None and self.deep:
            for name, borrow in list(lives.borrows.items()):
                if borrow.owner in ended and name not in ended:
                    lives.gone[name] = (borrow.line, f"{borrow.owner} ends with its block")
        return lives

    def statement(self, one: ir.Statement, lives: Lives) -> Lives | None:
        """Walk over a statement; return what is known behind it, None if control does not get there."""
        follow = FOLLOWS.get(type(one))
        return follow(self, one, lives) if follow is not None else lives

    def expression(self, one: ir.ExprStmt, lives: Lives) -> Lives:
        self.value(one.value, lives)
        return lives

    def leave(self, one: ir.ReturnStmt | ir.ThrowStmt, lives: Lives) -> None:
        self.value(one.value, lives)
        if isinstance(one, ir.ReturnStmt):
            self.returned(one.value, lives)

    def jump(self, one: ir.BreakStmt | ir.ContinueStmt | ir.GotoStmt, lives: Lives) -> None:
        if self.exits and not isinstance(one, ir.GotoStmt):
            self.exits[-1][isinstance(one, ir.ContinueStmt)].append(lives)

    def branch(self, one: ir.IfStmt, lives: Lives) -> Lives | None:
        self.value(one.condition, lives)
        return _join(self.body(one.then, lives.copy()), self.body(one.otherwise, lives))

    def bodies(self, one: ir.BlockStmt | ir.TryStmt, lives: Lives) -> Lives | None:
        handlers = one.handlers if isinstance(one, ir.TryStmt) else ()
        return self.all_of([self.body(body, lives.copy()) for body in (one.body, *handlers)])

    def all_of(self, ends: Iterable[Lives | None]) -> Lives | None:
        result: Lives | None = None
        for end in ends:
            result = _join(result, end)
        return result

    def loop(self, one: ir.LoopStmt, lives: Lives) -> Lives | None:
        for statement in one.init:
            lives = self.statement(statement, lives) or lives
        self.exits.append(([], []))
        end: Lives | None = lives
        for _ in range(ROUNDS):
            if end is None:
                break
            self.line = one.line
            if one.form != "do":
                self.value(one.condition, end)
            end = self.all_of([self.body(one.body, end.copy()), *self.exits[-1][1]])
            self.line = one.line
            if end is not None:
                self.value(one.step, end)
                if one.form == "do":
                    self.value(one.condition, end)
                end = end.joined(lives)
        breaks, _ = self.exits.pop()
        never = one.condition is None or one.condition == ir.NumberExpr("n", 1)
        return self.all_of([*breaks, *([] if never else [end or lives])])

    def each(self, one: ir.RangeForStmt, lives: Lives) -> Lives | None:
        self.value(one.container, lives)
        owner, name = key_of(one.container), f"({one.line})"
        self.types.names[one.name] = one.type
        self.exits.append(([], []))
        end: Lives | None = lives
        for _ in range(ROUNDS):
            if end is None:
                break
            inner = end.copy()
            inner.forget(one.name)
            if owner is not None and self.types.family(owner):
                inner.borrows[name] = Borrow(owner, "range", one.line)
                if one.type.endswith("&"):
                    inner.borrows[one.name] = Borrow(owner, "reference", one.line)
            end = self.all_of([self.body(one.body, inner), *self.exits[-1][1]])
            if end is not None:
                if name in end.gone:
                    self.line, why = end.gone[name]
                    self.report(USED, f"{why} while the loop in line {one.line} goes over it")
                end.forget(name)
                end.forget(one.name)
        breaks, _ = self.exits.pop()
        return self.all_of([*breaks, lives if end is None else end.joined(lives)])

    def switch(self, one: ir.SwitchStmt, lives: Lives) -> Lives | None:
        self.value(one.subject, lives)
        self.exits.append(([], []))
        end: Lives | None = None
        for group in one.groups:
            end = self.body(group.body, lives.copy().joined(end))
        breaks, continues = self.exits.pop()
        if self.exits:
            self.exits[-1][1].extend(continues)
        return self.all_of([end, lives, *breaks])

    def declare(self, one: ir.DeclStmt, lives: Lives) -> Lives:
        self.value(one.init, lives)
        if one.init is not None and not one.type.endswith("&"):
            self.hand_over(one.init, lives)
        lives.forget(one.name)
        kind = self.types.kind_of(one.type, one.init)
        self.types.names[one.name] = kind
        if not kind.endswith("&") and not {*one.flags} & {"s", "e", "t"}:
            self.types.local.add(one.name)
        if one.init is not None:
            self.bind(one.name, one.type if one.type.endswith("&") else kind, one.init, lives)
        return lives

    def returned(self, e: ir.Expression | None, lives: Lives) -> None:
        """Report what refers to a local variable and is returned."""
        if e is None:
            return
        e, kind = without_casts(e), self.types.function.returns
        match e:
            case ir.NameExpr(name=name) if kind.endswith("&") and name in self.types.local:
                self.report(RETURNED, f"{name} ends with the function, which returns a reference to it")
                return
            case ir.LambdaExpr():
                borrow: Borrow | None = borrowed(self.types, lives.borrows, "auto", e, self.line)
            case _ if kind.endswith("*") or family(kind) == VIEW or kind.endswith(("&", "iterator")):
                borrow = borrowed(self.types, lives.borrows, kind, e, self.line)
            case ir.NameExpr(name=name):
                borrow = lives.borrows.get(name)
                borrow = borrow if borrow is not None and borrow.how == "lambda" else None
            case _:
                return
        if borrow is None or (borrow.owner is not None and borrow.owner not in self.types.local) or borrow.how == "get":
            return
        text = f"what is returned refers to {borrow.owner or 'a temporary'}, which ends with the function"
        self.report(RETURNED, text)


FOLLOWS: dict[type, Callable[[LifetimeWalk, Any, Lives], Lives | None]] = {
    ir.ExprStmt: LifetimeWalk.expression,
    ir.DeclStmt: LifetimeWalk.declare,
    ir.IfStmt: LifetimeWalk.branch,
    ir.LoopStmt: LifetimeWalk.loop,
    ir.RangeForStmt: LifetimeWalk.each,
    ir.SwitchStmt: LifetimeWalk.switch,
    **dict.fromkeys((ir.BlockStmt, ir.TryStmt), LifetimeWalk.bodies),
    **dict.fromkeys((ir.ReturnStmt, ir.ThrowStmt), LifetimeWalk.leave),
    **dict.fromkeys((ir.BreakStmt, ir.ContinueStmt, ir.GotoStmt), LifetimeWalk.jump),
}
