"""Patterns of calls in the syntax of semgrep, such as `read_packet($BUF, ...)` and `if (check($X) == 0)`.

`$NAME` (a metavariable) is one argument, the same one wherever it occurs; `...` is any number of arguments, `"..."` any
string. Numbers, NULL, strings and names mean themselves. `$OBJECT.method()` is the call of a method, by `.` or `->`.
"""

import re
from typing import NamedTuple

PATTERN_MAX, ARGUMENTS_MAX, ELLIPSES_MAX = 400, 16, 2
ELLIPSIS, ANY_STRING = "...", '"..."'
EXAMPLE = "read_packet($BUF, ...)"
CALL = re.compile(
    r"(?:(?P<receiver>\$[A-Z_][A-Z0-9_]*)\s*(?:\.|->)\s*)?(?P<name>[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*)\s*\((?P<args>.*)\)"
)
ARGUMENT = re.compile(
    r'\s*(\.\.\.|\$[A-Z_][A-Z0-9_]*|"[^"\\]*"|-?(?:0[xX][0-9a-fA-F]{1,16}|0|[1-9]\d{0,18})|[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*)\s*(,|$)'
)
CONDITION = re.compile(
    r"if\s*\(\s*(?P<not>!\s*)?(?P<call>[^!\s].*\))\s*(?:(?P<op>==|!=|<=?|>=?)\s*(?P<number>-?\d{1,18}|NULL)\s*)?\)"
)


class CallPattern(NamedTuple):
    """A call: the function, the metavariable of the object if it is a method, and the arguments as text."""

    name: str
    receiver: str
    args: tuple[str, ...]

    @property
    def metavariables(self) -> tuple[str, ...]:
        """The metavariables, without duplicates."""
        return tuple(dict.fromkeys(word for word in (self.receiver, *self.args) if word.startswith("$")))


class ConditionPattern(NamedTuple):
    """A comparison of the result of a call with a number; a condition without an operator means `!= 0`."""

    call: CallPattern
    op: str
    number: int


def parse_call(text: str) -> CallPattern:
    """Parse the pattern of a call. Raises ValueError, with a message that says what to write."""
    if len(text) > PATTERN_MAX:
        raise ValueError(f"should have at most {PATTERN_MAX} characters")
    call = CALL.fullmatch(text.strip())
    if call is None:
        raise ValueError(f"should be one call, such as {EXAMPLE}")
    args = _arguments(call["args"])
    if len(args) > ARGUMENTS_MAX:
        raise ValueError(f"should have at most {ARGUMENTS_MAX} arguments")
    if args.count(ELLIPSIS) > ELLIPSES_MAX:
        raise ValueError(f"should have at most {ELLIPSES_MAX} times ...")
    return CallPattern(call["name"].removeprefix("std::"), call["receiver"] or "", args)


def parse_condition(text: str) -> ConditionPattern | None:
    """Parse `if (CALL)`, `if (!CALL)` or `if (CALL == NUMBER)`; return None for other text. Raises ValueError."""
    if not re.match(r"\s*if\b", text):
        return None
    condition = CONDITION.fullmatch(text.strip()) if len(text) <= PATTERN_MAX else None
    if condition is None or (condition["not"] and condition["op"]):
        raise ValueError("should be if (check($X)), if (!check($X)) or if (check($X) == 0)")
    number = int(condition["number"]) if condition["number"] not in (None, "NULL") else 0
    return ConditionPattern(
        parse_call(condition["call"]), condition["op"] or ("==" if condition["not"] else "!="), number
    )


def _arguments(text: str) -> tuple[str, ...]:
    args: list[str] = []
    at = 0
    while text.strip():
        argument = ARGUMENT.match(text, at)
        if argument is None:
            raise ValueError(
                f"argument {len(args) + 1} should be a metavariable such as $BUF, ..., a name, a number or a string"
            )
        args.append(argument[1])
        at = argument.end()
        if not argument[2]:
            break
    return tuple(args)
