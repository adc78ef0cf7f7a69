"""Search single lines with untrusted patterns by Python's `re`, where google-re2 is not installed.

Backtracking is bounded by what a pattern may contain: two repetitions (besides white space before something else), few
options and alternatives, no repeated groups, no references; and by the length of a line.
"""

import re
from collections.abc import Callable

LINE_MAX = 200
REPEATS_MAX, OPTIONS_MAX, ALTERNATIVES_MAX = 2, 3, 6
COUNT_MAX = 20
TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|.", re.DOTALL)
COUNT = re.compile(r"\{(\d{1,4})(,?)(\d{0,4})\}")
# What white space cannot match, so that a run of it before such a token is matched in one way only.
NO_SPACE = re.compile(r"\\[wdbB(){}\[\].*+?|^$/]|[^\s\\.\[(){}*+?|^$]")


def compile_bounded(pattern: str) -> Callable[[bytes], bool]:
    """Return a search function for lines. Raises ValueError for an invalid pattern, and for one that may be slow."""
    flags = re.IGNORECASE if pattern.startswith("(?i)") else 0
    tokens = TOKEN.findall(pattern.removeprefix("(?i)"))
    text = "".join(_possessive(tokens))
    _check(TOKEN.findall(text))
    try:
        search = re.compile(text.encode(), flags).search
    except re.error as error:
        raise ValueError(str(error)) from error
    return lambda line: search(line[:LINE_MAX]) is not None


def _possessive(tokens: list[str]) -> list[str]:
    """Make the repetitions of white space possessive that can match in one way only."""
    result = list(tokens)
    for at in range(len(tokens) - 2):
        space, repeat, then = tokens[at : at + 3]
        if space in (r"\s", " ") and repeat in "*+" and NO_SPACE.fullmatch(then):
            result[at + 1] = repeat + "+"
    return result


def _check(tokens: list[str]) -> None:
    repeats = options = 0
    previous = ""
    for token in tokens:
        if previous == "(" and token == "?":
            raise ValueError("groups with (? need google-re2")
        if re.fullmatch(r"\\[1-9]", token):
            raise ValueError("references need google-re2")
        is_count = COUNT.fullmatch(token)
        is_possessive = token == "+" and previous in ("*", "+")
        if (token in ("*", "+") and not is_possessive) or is_count:
            if previous == ")":
                raise ValueError("repeated groups need google-re2")
            repeats += not is_count or bool(is_count[2])
            if is_count and max(int(is_count[1]), int(is_count[3] or 0)) > COUNT_MAX:
                raise ValueError(f"counts above {COUNT_MAX} need google-re2")
        repeats -= is_possessive
        options += token == "?"
        previous = token
    if repeats > REPEATS_MAX or options > OPTIONS_MAX or tokens.count("|") > ALTERNATIVES_MAX:
        raise ValueError(f"more than {REPEATS_MAX} repetitions, or too many options, need google-re2")
