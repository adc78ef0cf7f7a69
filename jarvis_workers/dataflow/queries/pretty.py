"""Short source text of expressions for messages."""

from collections.abc import Callable
from typing import Any

from jarvis_workers.dataflow import ir

LONGEST = 60
DEEPEST = 6
OMITTED = "…"


def text_of(expression: ir.Expression | None) -> str:
    """Return the source text of an expression, shortened."""
    text = _text_of(expression, DEEPEST)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + OMITTED


def _text_of(e: ir.Expression | None, deep: int) -> str:
    form = FORMS.get(type(e)) if deep else None
    return form(e, deep - 1) if form else OMITTED


FORMS: dict[type, Callable[[Any, int], str]] = {
    ir.NumberExpr: lambda e, _: str(e.value),
    ir.NameExpr: lambda e, _: str(e.name),
    **dict.fromkeys(ir.STRINGS, lambda e, _: f'"{e.text[:20]}"'),
    ir.NullExpr: lambda _e, _d: "NULL",
    ir.UnaryExpr: lambda e, deep: f"{e.op}{_text_of(e.operand, deep)}",
    ir.DerefExpr: lambda e, deep: f"*{_text_of(e.pointer, deep)}",
    ir.AddressExpr: lambda e, deep: f"&{_text_of(e.operand, deep)}",
    ir.IndexExpr: lambda e, deep: f"{_text_of(e.base, deep)}[{_text_of(e.subscript, deep)}]",
    ir.MemberExpr: lambda e, deep: f"{_text_of(e.base, deep)}.{e.member}",
    ir.ArrowExpr: lambda e, deep: f"{_text_of(e.base, deep)}->{e.member}",
    ir.BinaryExpr: lambda e, deep: f"{_text_of(e.left, deep)} {e.op} {_text_of(e.right, deep)}",
    ir.AndExpr: lambda e, deep: f"{_text_of(e.left, deep)} && {_text_of(e.right, deep)}",
    ir.OrExpr: lambda e, deep: f"{_text_of(e.left, deep)} || {_text_of(e.right, deep)}",
    ir.AssignExpr: lambda e, deep: f"{_text_of(e.target, deep)} {e.op}= {_text_of(e.value, deep)}",
    ir.UpdateExpr: lambda e, deep: f"{_text_of(e.operand, deep)}{e.op * 2}",
    ir.CallExpr: lambda e, deep: f"{_text_of(e.callee, deep)}({', '.join(_text_of(one, deep) for one in e.args)})",
    ir.CastExpr: lambda e, deep: _text_of(e.operand, deep + 1),
    ir.SizeofExpr: lambda e, deep: f"sizeof({e.type or _text_of(e.operand, deep)})",
    **dict.fromkeys(ir.NEWS, lambda e, _: f"new {e.type}"),
    ir.DeleteExpr: lambda e, deep: f"delete {_text_of(e.operand, deep)}",
}
