"""Give macros that stand without a semicolon the body that follows them.

`with_bodies` takes statements among which ["macro", line, call] stands for such a macro, and leaves none of these.
"""

from typing import Any

__all__ = ["is_loop_name", "with_bodies"]

LOOPS = ("each", "for_", "_for", "iterate", "_loop")


def with_bodies(statements: list[list[Any]]) -> list[list[Any]]:
    """Make a loop of a macro with a block behind it, or with any statement if its name says that it is one."""
    if not any(statement[0] == "macro" for statement in statements):
        return statements
    out: list[list[Any]] = []
    for statement in reversed(statements):
        if statement[0] != "macro":
            out.append(statement)
        elif out and (out[-1][0] == "blk" or _is_loop(statement)):
            body = out.pop()
            held = body[2] if body[0] == "blk" else [body]
            out.append(["loop", statement[1], "while", [], ["x"], None, held])
        else:
            out.append(["e", *statement[1:]])
    out.reverse()
    return out


def _is_loop(statement: list[Any]) -> bool:
    call = statement[2]
    return call[0] == "c" and call[1][0] == "v" and is_loop_name(call[1][1])


def is_loop_name(name: str) -> bool:
    """Tell whether a macro most likely repeats what stands behind it."""
    lower = name.lower()
    return any(word in lower for word in LOOPS)
