"""Who owns an object in C++: what is known of smart pointers and raw ones, and the releases that contradict it."""

from typing import NamedTuple

from jarvis_workers.dataflow import ir
from jarvis_workers.dataflow.lifetimes.borrows import SMART, Borrow, Types, borrowed, family, key_of
from jarvis_workers.dataflow.queries.ast_queries import walk
from jarvis_workers.dataflow.state.definitions import Definitions

FREED, BASE = "flow_double_free", "flow_mismatched_free"
SURE, POLYMORPHIC = 0.65, 0.5


class LifetimeHit(NamedTuple):
    """A defect: its rule, its line, its confidence, and the steps that lead to it, as (line, text)."""

    rule: str
    line: int
    sure: float
    steps: tuple[tuple[int, str], ...]


class Lives(NamedTuple):
    """What is known at a point: borrows by variable, what dangles and why, what moved, what smart pointers own."""

    borrows: dict[str, Borrow]
    gone: dict[str, tuple[int, str]]
    moved: dict[str, int]
    owned: dict[str, int]

    def copy(self) -> "Lives":
        return Lives(self.borrows.copy(), self.gone.copy(), self.moved.copy(), self.owned.copy())

    def add(self, other: "Lives") -> None:
        """Add what is known on another path that reaches the same point."""
        self.borrows.update(other.borrows)
        self.gone.update(other.gone)
        self.moved.update(other.moved)
        self.owned.update(other.owned)

    def joined(self, other: "Lives | None") -> "Lives":
        result = self.copy()
        if other is not None:
            result.add(other)
        return result

    def forget(self, name: str) -> None:
        """Forget what was known of a variable that gets a new value."""
        for one in (self.borrows, self.gone, self.moved, self.owned):
            one.pop(name, None)
        for inner in [key for key in self.moved if key.startswith(f"{name}.")]:
            del self.moved[inner]


def _join(first: Lives | None, second: Lives | None) -> Lives | None:
    return second if first is None else first.joined(second)


class OwnerChecks:
    """What one function does to the owners of objects, and the defects found in it."""

    def __init__(self, machine: Definitions, function: ir.LoweredFunction) -> None:
        self.types = Types(machine, function)
        self.hits: dict[tuple[str, int], LifetimeHit] = {}
        self.line = function.line
        # Smart pointers that give up what they own.
        self.released = {
            key_of(node.callee.base)
            for node in walk(function.body)
            if isinstance(node, ir.CallExpr)
            and isinstance(node.callee, ir.MemberExpr)
            and node.callee.member == "release"
        }

    def report(self, rule: str, text: str, *before: tuple[int, str], sure: float = SURE) -> None:
        self.hits.setdefault((rule, self.line), LifetimeHit(rule, self.line, sure, (*before, (self.line, text))))

    def is_smart(self, key: str | None) -> bool:
        return self.types.family(key) == SMART and key not in self.released

    def bind(self, name: str, kind: str, e: ir.Expression, lives: Lives) -> None:
        """Record what a variable refers to from here on."""
        borrow = borrowed(self.types, lives.borrows, kind, e, self.line)
        if borrow is not None and borrow.owner is None:
            lives.gone[name] = (self.line, "refers to a temporary, which ends with its statement")
        elif borrow is not None:
            lives.borrows[name] = borrow
        match e:
            case ir.NewExpr(type=made, size=None) if kind.endswith("*"):
                lives.borrows[name] = Borrow("new", "object", self.line, made)
            case ir.ConstructExpr(args=(ir.NewExpr(type=made, size=None),)) if "unique_ptr<" in kind:
                base = kind.partition("unique_ptr<")[2].rstrip(">")
                if made != base:
                    self.delete_base(base, Borrow("new", "object", self.line, made))
        if family(kind) == SMART:
            for part in e.args if isinstance(e, ir.ConstructExpr) else ():
                self.own(part, lives)

    def own(self, part: ir.Expression, lives: Lives) -> None:
        """Record that a smart pointer takes a raw pointer, and report a second owner."""
        match part:
            case ir.CallExpr(callee=ir.MemberExpr(base=base, member="get")) if self.is_smart(key_of(base)):
                self.report(FREED, f"{key_of(base)} owns what a second smart pointer gets")
            case ir.NameExpr(name=name):
                borrow = lives.borrows.get(name)
                if name in lives.owned:
                    self.report(
                        FREED, f"{name} gets a second owner", (lives.owned[name], f"a smart pointer owns {name}")
                    )
                elif borrow is not None and borrow.how == "get" and borrow.owner not in self.released:
                    self.report(FREED, f"{name} gets a second owner", (borrow.line, f"{borrow.owner} owns it"))
                lives.owned[name] = self.line

    def delete(self, e: ir.Expression, lives: Lives) -> None:
        """Report the deletion of what a smart pointer owns, or of an object by a base without virtual destructor."""
        match e:
            case ir.CallExpr(callee=ir.MemberExpr(base=base, member="get")) if self.is_smart(key_of(base)):
                self.report(FREED, f"{key_of(base)} owns what is released, and releases it again")
            case ir.NameExpr(name=name):
                borrow = lives.borrows.get(name)
                if borrow is not None and borrow.how == "get" and borrow.owner not in self.released:
                    self.report(
                        FREED, f"{borrow.owner} releases it again", (borrow.line, f"{borrow.owner} owns {name}")
                    )
                elif name in lives.owned:
                    self.report(FREED, f"{name} is released again", (lives.owned[name], f"a smart pointer owns {name}"))
                self.delete_base(self.types.of(name).removesuffix("*"), borrow)

    def delete_base(self, kind: str, borrow: Borrow | None) -> None:
        """Report the deletion of an object by a base class whose destructor is not virtual."""
        record = self.types.machine.type_named(kind)
        if record is None or self.types.has_virtual_destructor(kind):
            return
        made = borrow.by if borrow is not None and borrow.how == "object" else ""
        if made and made != kind and self.types.is_derived(made, kind):
            self.report(BASE, f"a {made} is deleted as a {kind}, whose destructor is not virtual")
        elif record.virtual and made != kind:
            self.report(BASE, f"{kind} has virtual methods but no virtual destructor", sure=POLYMORPHIC)
