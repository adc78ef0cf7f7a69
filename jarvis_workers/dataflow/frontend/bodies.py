"""Give macros that stand without a semicolon the body that follows them.

`with_bodies` takes statements among which ["macro", line, call] stands for such a macro, and leaves none of these.
"""

from typing import Any

__all__ = ["is_loop_name", "with_bodies"]

LOOPS = ("each", "for_", "_for", "iterate", "_loop")


def with_bodies(statements: list[list[Any]]) -> list[list[Any]]:
    """Make a loop of a macro with a block behind it, or with any statement if its name says that it is one."""
    if not any(tag == "macro" for tag, *_ in statements):
        return statements
    out: list[list[Any]] = []
    for statement in reversed(statements):
        match statement, out:
            case ["macro", line, _], [*_, ["blk", _, body, _]]:
                out[-1] = ["loop", line, "while", [], ["x"], None, body]
            case ["macro", line, ["c", ["v", name], *_]], [*_, body] if is_loop_name(name):
                out[-1] = ["loop", line, "while", [], ["x"], None, [body]]
            case ["macro", line, call], _:
                out.append(["e", line, call])
            case _:
                out.append(statement)
    out.reverse()
    return out


def is_loop_name(name: str) -> bool:
    """Tell whether a macro most likely repeats what stands behind it."""
    lower = name.lower()
    return any(word in lower for word in LOOPS)
