"""What expressions do to the lifetimes of what they name: moves, growth, releases, and uses."""

from typing import Any

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.lifetimes.borrows import (
    CHANGES,
    GROWS,
    RESETS,
    SMART,
    argument_of,
    borrowed,
    dangles,
    family,
    key_of,
    moved,
)
from jarvis_workers.dataflow.lifetimes.owners import Lives, OwnerChecks
from jarvis_workers.dataflow.queries.name_heuristics import prints

USED, RETURNED = "flow_use_after_free", "flow_stack_address"
TESTS = ("==", "!=")


class ExpressionWalk(OwnerChecks):
    """The expressions of one function."""

    def value(self, e: ir.Expression | None, lives: Lives) -> None:
        """Evaluate an expression: what it uses, moves, releases and changes."""
        match e:
            case ir.NameExpr(name=name):
                self.use(name, lives)
            case ir.AssignExpr():
                self.assign(e, lives)
            case ir.CallExpr():
                self.call(e, lives)
            case ir.DeleteExpr(operand=operand):
                self.value(operand, lives)
                self.delete(operand, lives)
            case ir.LambdaExpr(captures=captures):
                lives.moved.update(
                    {one.partition("move(")[2].rstrip(") "): self.line for one in captures if "move(" in one}
                )
            case ir.ConditionalExpr(condition=condition, then=then, otherwise=otherwise):
                self.value(condition, lives)
                other = lives.copy()
                self.value(then, lives)
                self.value(otherwise, other)
                lives.add(other)
            case tuple():
                self.parts(e, lives)

    def parts(self, e: tuple[Any, ...], lives: Lives) -> None:
        """Evaluate the operands of an expression, and those that it reads, and not only names."""
        for part in e:
            if isinstance(part, tuple):
                self.value(part, lives)
                self.hand_over(part, lives)
        match e:
            case ir.BinaryExpr(op=op, left=left, right=right) if op not in TESTS:
                for side in (left, right):
                    if not self.is_smart(key_of(side)):
                        self.read_moved(side, lives)
            case ir.DerefExpr(pointer=inner) | ir.ArrowExpr(base=inner) | ir.IndexExpr(base=inner):
                self.read_moved(inner, lives)

    def use(self, name: str, lives: Lives) -> None:
        gone = lives.gone.pop(name, None)
        if gone is not None:
            self.report(USED, f"{name} is used after what it refers to has moved or ended", gone)

    def read_moved(self, e: ir.Expression, lives: Lives) -> None:
        key = key_of(e)
        line = lives.moved.pop(key, None) if key is not None else None
        if line is not None:
            self.report(USED, f"{key} is used after it was moved", (line, f"{key} is moved"))

    def assign(self, e: ir.AssignExpr, lives: Lives) -> None:
        op, target, value = e.op, e.target, e.value
        self.value(value, lives)
        self.hand_over(value, lives)
        key = key_of(target)
        kind = self.types.of(key)
        is_reference = isinstance(target, ir.NameExpr) and self.types.names.get(target.name, "").endswith("&")
        if not isinstance(target, (ir.NameExpr, ir.MemberExpr)) or op or (is_reference and key in lives.gone):
            self.value(target, lives)
        if key is None:
            return
        if op:
            self.change(key, "append", "", lives)
            return
        self.change(key, "assign", "", lives)
        self.store(key, value, lives)
        if not is_reference:
            lives.forget(key)
            self.bind(key, kind, value, lives)

    def store(self, key: str | None, e: ir.Expression, lives: Lives) -> None:
        """Report a lambda with a reference to a local variable that is stored where it outlives the function."""
        name = key.split(".")[0] if key is not None else "this"
        if name in self.types.names and not self.types.names[name].endswith(("&", "*")):
            return
        borrow = borrowed(self.types, lives.borrows, "auto", e, self.line)
        if borrow is not None and borrow.how == "lambda":
            self.report(RETURNED, f"{key} keeps a lambda that refers to {borrow.owner}, which ends with the function")

    def call(self, e: ir.CallExpr, lives: Lives) -> None:
        for part in e.args:
            if not isinstance(part, ir.NameExpr) or part.name in lives.gone:
                self.value(part, lives)
        match e.callee:
            case ir.MemberExpr(base=base, member=member) | ir.ArrowExpr(base=base, member=member):
                self.method(e, (base, member), lives)
            case ir.NameExpr(name=name):
                if name == "free" and e.args:
                    self.delete(e.args[0], lives)
                if moved(e) is None:
                    self.pass_on(name, e, lives)
            case _:
                self.value(e.callee, lives)
        for part in e.args:
            self.hand_over(part, lives)

    def method(self, e: ir.CallExpr, method: tuple[ir.Expression, str], lives: Lives) -> None:
        base, member = method
        key, is_arrow = key_of(base), isinstance(e.callee, ir.ArrowExpr)
        self.value(base, lives)
        if is_arrow or (member not in RESETS and not self.is_smart(key)):
            self.read_moved(base, lives)
        self.pass_on(member, e, lives)
        if key is None or (is_arrow and self.is_smart(key)):
            return
        for part in e.args if member in GROWS else ():
            self.store(key, part, lives)
        if member == "detach":
            self.detach(key, lives)
        if member in RESETS:
            lives.moved.pop(key, None)
        if member in CHANGES:
            self.change(key, member, argument_of(e.args), lives)
        if member == "reserve":
            lives.owned[f"{key}.reserve"] = self.line
        for part in e.args if member == "reset" and family(self.types.of(key)) == SMART else ():
            self.own(part, lives)

    def detach(self, key: str, lives: Lives) -> None:
        """Report a thread that goes on with a reference to a local variable."""
        borrow = lives.borrows.get(key)
        if borrow is not None and borrow.how == "lambda":
            self.report(RETURNED, f"{key} goes on with a lambda that refers to {borrow.owner}, which ends here")

    def pass_on(self, name: str, e: ir.CallExpr, lives: Lives) -> None:
        """Pass variables to a function, which may read one that has moved, or give it a new value."""
        for part in e.args:
            if isinstance(part, ir.NameExpr) and part.name in lives.moved:
                if prints(name):
                    self.read_moved(part, lives)
                else:
                    lives.forget(part.name)

    def hand_over(self, e: ir.Expression, lives: Lives) -> None:
        """Record that a variable is moved."""
        key = moved(e)
        if key is None or self.types.of(key).endswith("*") or self.types.of(key) in ("int", "bool", "unsigned int"):
            return
        if key in lives.moved:
            self.report(USED, f"{key} is moved again", (lives.moved[key], f"{key} is moved"))
        lives.moved[key] = self.line

    def change(self, owner: str, method: str, argument: str, lives: Lives) -> None:
        """Record which borrows dangle after a method call on their owner."""
        of = self.types.family(owner)
        if method in ("push_back", "emplace_back") and f"{owner}.reserve" in lives.owned:
            return
        for name, borrow in list(lives.borrows.items()):
            if borrow.owner == owner and dangles(of, borrow, method, argument, name):
                lives.gone[name] = (self.line, f"{owner} changes by {method}")
                del lives.borrows[name]
