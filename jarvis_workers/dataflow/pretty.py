"""How code reads in a message: short, and close to how it was written."""

from collections.abc import Callable
from typing import Any

from jarvis_workers.dataflow.values import Expression

__all__ = ["said"]

LONGEST = 60
DEEPEST = 6
GONE = "…"


def said(expression: Any) -> str:
    """Return an expression as source, short."""
    text = _said(expression, DEEPEST)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + GONE


def _said(e: Any, deep: int) -> str:
    if not isinstance(e, list) or not e or deep == 0:
        return GONE
    form = FORMS.get(e[0])
    return form(e, deep - 1) if form else GONE


def _cast(e: Expression, deep: int) -> str:
    return _said(e[2], deep + 1)


def _call(e: Expression, deep: int) -> str:
    return f"{_said(e[1], deep)}({', '.join(_said(one, deep) for one in e[2])})"


FORMS: dict[str, Callable[[Expression, int], str]] = {
    "n": lambda e, _: str(e[1]),
    "v": lambda e, _: str(e[1]),
    "s": lambda e, _: f'"{e[1][:20]}"',
    "null": lambda _e, _d: "NULL",
    "u": lambda e, deep: f"{e[1]}{_said(e[2], deep)}",
    "*": lambda e, deep: f"*{_said(e[1], deep)}",
    "&": lambda e, deep: f"&{_said(e[1], deep)}",
    "i": lambda e, deep: f"{_said(e[1], deep)}[{_said(e[2], deep)}]",
    ".": lambda e, deep: f"{_said(e[1], deep)}.{e[2]}",
    "->": lambda e, deep: f"{_said(e[1], deep)}->{e[2]}",
    "b": lambda e, deep: f"{_said(e[2], deep)} {e[1]} {_said(e[3], deep)}",
    "&&": lambda e, deep: f"{_said(e[1], deep)} && {_said(e[2], deep)}",
    "||": lambda e, deep: f"{_said(e[1], deep)} || {_said(e[2], deep)}",
    "=": lambda e, deep: f"{_said(e[2], deep)} {e[1]}= {_said(e[3], deep)}",
    "++": lambda e, deep: f"{_said(e[3], deep)}{e[1] * 2}",
    "c": _call,
    "t": _cast,
    "z": lambda e, deep: f"sizeof({e[1] or _said(e[2], deep)})",
    "new": lambda e, _: f"new {e[1]}",
    "del": lambda e, deep: f"delete {_said(e[2], deep)}",
}
