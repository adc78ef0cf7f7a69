"""Attach statement bodies to macros without a semicolon, such as `foreach` loops.

The input of `with_bodies` contains such a macro as ["macro", line, call]; its output contains none.  A loop whose head
is a macro has an unknown condition, and the call of the macro as its step.
"""

from typing import Any

LOOPS = ("each", "for_", "_for", "iterate", "_loop")


def with_bodies(statements: list[list[Any]]) -> list[list[Any]]:
    """Turn a macro before a block into a loop; before any other statement only if its name is that of a loop."""
    if not any(tag == "macro" for tag, *_ in statements):
        return statements
    out: list[list[Any]] = []
    for statement in reversed(statements):
        match statement, out:
            case ["macro", line, call], [*_, ["blk", _, body, _]]:
                out[-1] = ["loop", line, "while", [], ["x"], call, body]
            case ["macro", line, ["c", ["v", name], *_] as call], [*_, body] if is_loop_name(name):
                out[-1] = ["loop", line, "while", [], ["x"], call, [body]]
            case ["macro", line, call], _:
                out.append(["e", line, call])
            case _:
                out.append(statement)
    out.reverse()
    return out


def is_loop_name(name: str) -> bool:
    """Return whether a macro's name suggests a loop over the statement after it."""
    lower = name.lower()
    return lower == "for" or any(word in lower for word in LOOPS)
