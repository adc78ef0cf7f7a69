"""How code reads in a message: short, and close to how it was written."""

from collections.abc import Callable
from typing import Any

from jarvis_workers.dataflow.ir.expr import (
    NEWS,
    STRINGS,
    AddressExpr,
    AndExpr,
    ArrowExpr,
    AssignExpr,
    BinaryExpr,
    CallExpr,
    CastExpr,
    DeleteExpr,
    DerefExpr,
    Expression,
    IndexExpr,
    MemberExpr,
    NameExpr,
    NullExpr,
    NumberExpr,
    OrExpr,
    SizeofExpr,
    UnaryExpr,
    UpdateExpr,
)

__all__ = ["said"]

LONGEST = 60
DEEPEST = 6
GONE = "…"


def said(expression: Expression | None) -> str:
    """Return an expression as source, short."""
    text = _said(expression, DEEPEST)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + GONE


def _said(e: Expression | None, deep: int) -> str:
    form = FORMS.get(type(e)) if deep else None
    return form(e, deep - 1) if form else GONE


FORMS: dict[type, Callable[[Any, int], str]] = {
    NumberExpr: lambda e, _: str(e.value),
    NameExpr: lambda e, _: str(e.name),
    **dict.fromkeys(STRINGS, lambda e, _: f'"{e.text[:20]}"'),
    NullExpr: lambda _e, _d: "NULL",
    UnaryExpr: lambda e, deep: f"{e.op}{_said(e.operand, deep)}",
    DerefExpr: lambda e, deep: f"*{_said(e.pointer, deep)}",
    AddressExpr: lambda e, deep: f"&{_said(e.operand, deep)}",
    IndexExpr: lambda e, deep: f"{_said(e.base, deep)}[{_said(e.subscript, deep)}]",
    MemberExpr: lambda e, deep: f"{_said(e.base, deep)}.{e.member}",
    ArrowExpr: lambda e, deep: f"{_said(e.base, deep)}->{e.member}",
    BinaryExpr: lambda e, deep: f"{_said(e.left, deep)} {e.op} {_said(e.right, deep)}",
    AndExpr: lambda e, deep: f"{_said(e.left, deep)} && {_said(e.right, deep)}",
    OrExpr: lambda e, deep: f"{_said(e.left, deep)} || {_said(e.right, deep)}",
    AssignExpr: lambda e, deep: f"{_said(e.target, deep)} {e.op}= {_said(e.value, deep)}",
    UpdateExpr: lambda e, deep: f"{_said(e.operand, deep)}{e.op * 2}",
    CallExpr: lambda e, deep: f"{_said(e.callee, deep)}({', '.join(_said(one, deep) for one in e.args)})",
    CastExpr: lambda e, deep: _said(e.operand, deep + 1),
    SizeofExpr: lambda e, deep: f"sizeof({e.type or _said(e.operand, deep)})",
    **dict.fromkeys(NEWS, lambda e, _: f"new {e.type}"),
    DeleteExpr: lambda e, deep: f"delete {_said(e.operand, deep)}",
}
