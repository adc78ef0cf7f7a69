"""Releases by the language: cleanup attributes, the macros that stand for them, and `defer`.

The attributes do not parse among specifiers, nor does `defer` at all. Both are taken out of the text of a function: an
attribute is noted by the line and name of its variable, and `defer` becomes an `if` with a condition of its own.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

MARK = 1_145_390_418
ADDRESS, VALUE = "&", ""
# What the macros of well-known libraries release: the function, and whether it gets the address of the variable.
LIBRARIES: Mapping[bytes, tuple[str, str]] = {
    b"g_autofree": ("g_free", VALUE),
    b"_cleanup_free_": ("free", VALUE),
    b"_cleanup_close_": ("close", VALUE),
    b"_cleanup_fclose_": ("fclose", VALUE),
    b"_cleanup_closedir_": ("closedir", VALUE),
}
WORDS = (
    *(b"leanup", b"LEANUP", b"leaner", b"_auto", b"auto_", b"autof", b"autoc", b"autop", b"autou", b"AUTO"),
    *(b"efer", b"EFER", b"__free", b"__do_"),
)
DEFER = re.compile(rb"(?<=[;{}])(\s*)(?:_?[Dd]efer|DEFER)\b(?=\s*[\w({*])")
ATTRIBUTE = (
    rb"__attribute__\s*\(\(\s*_*cleanup_*\s*\(\s*(?P<%b>\w+)\s*\)\s*\)\)"
    rb"|\[\[\s*gnu\s*::\s*cleanup\s*\(\s*\w+\s*\)\s*\]\]"
)
# Further variables of the same declaration.
MORE = re.compile(rb",\s*\*?\s*(\w+)\s*(?=[=;,])")
CLEANUP = re.compile(rb"\b_*cleanup_*\s*\(\s*(\w+)\s*\)")
AUTO = rb"g_auto(?:ptr|list|slist|queue)?\s*\(\s*(?P<kind>\w+)\s*\)"
NAMED = (
    rb"(?:\w*_)?(?i:cleanup|auto_?(?:free|close|fclose|unref|ptr)|scoped)(?:_\w*)?|_cleanup_\w+_|g_autofree|__do_\w+"
    rb"|\w*cleaner"
)
TYPE = rb"(?:(?:const|static|struct|unsigned|long|enum)\s+)*\w+[\s*]+(?:const\s+)?"
BEHIND = rb"__free\s*\(\s*(?P<release>\w+)\s*\)"


class Cleanup(NamedTuple):
    """How a variable is released at the end of its block: by a function that gets its value or its address."""

    function: str
    by: str


Cleanups = dict[tuple[int, str], Cleanup]


def cleanup_macros(texts: Mapping[str, bytes]) -> dict[bytes, str]:
    """Return the functions that the macros of a file release variables with, by the names of the macros."""
    found = ((name, CLEANUP.search(text)) for name, text in texts.items() if b"leanup" in text)
    return {name.encode("latin-1"): match[1].decode("latin-1") for name, match in found if match is not None}


def with_deferred(code: bytes, first_line: int, macros: Mapping[bytes, str]) -> tuple[bytes, Cleanups]:
    """Return the text of a function that parses, and its variables with a cleanup by their lines and names."""
    if not any(word in code for word in WORDS) and not any(name in code for name in macros):
        return code, {}
    names = rb"|".join([*map(re.escape, macros), NAMED])
    shape = re.compile(
        rb"(?<=[;{}(])(?P<space>\s*)(?:(?P<attribute>%b)|%b|(?P<macro>\b(?:%b)\b(?:\s*\(\s*(?P<given>\w*)\s*\))?))"
        rb"(?=(?P<type>\s+%b|\s+)(?P<name>\w+)\s*[=;,])" % (ATTRIBUTE % b"first", AUTO, names, TYPE)
    )
    cleanups: Cleanups = {}

    def take(match: re.Match[bytes]) -> bytes:
        line = first_line + code.count(b"\n", 0, match.start("name"))
        rest = code[match.end() : code.find(b";", match.end()) + 1]
        for name in (match["name"], *MORE.findall(rest)):
            cleanups[line, name.decode("latin-1")] = _cleanup(match, macros)
        kind = match["kind"] + b" *" if match["kind"] else b""
        lines = match[0].count(b"\n") - match["space"].count(b"\n")
        return match["space"] + kind + b"\n" * lines

    def take_behind(match: re.Match[bytes]) -> bytes:
        line = first_line + code.count(b"\n", 0, match.start("variable"))
        function = match["second"] or match["release"]
        by = VALUE if match["release"] else ADDRESS
        cleanups[line, match["variable"].decode("latin-1")] = Cleanup(function.decode("latin-1"), by)
        return match["variable"] + b"\n" * match[0].count(b"\n")

    behind = re.compile(rb"(?P<variable>\b\w+)\s+(?:%b|%b)(?=\s*[=;,])" % (BEHIND, ATTRIBUTE % b"second"))
    return _replaced(code, ((shape, take), (behind, take_behind))), cleanups


def _replaced(code: bytes, rules: tuple[tuple[re.Pattern[bytes], Callable[[re.Match[bytes]], bytes]], ...]) -> bytes:
    for shape, take in rules:
        code = shape.sub(take, code)
    return DEFER.sub(rb"\1if(%d)" % MARK, code)


def _cleanup(match: re.Match[bytes], macros: Mapping[bytes, str]) -> Cleanup:
    if match["attribute"]:
        return Cleanup((match["first"] or b"").decode("latin-1") or "__cleanup__", ADDRESS)
    name = (match["macro"] or b"").partition(b"(")[0].strip()
    if name in LIBRARIES:
        return Cleanup(*LIBRARIES[name])
    function = macros.get(name, "") or (match["given"] or b"").decode("latin-1")
    return Cleanup(function or "__cleanup__", ADDRESS)


def release_of(cleanup: Cleanup, name: str, line: int) -> list[Any]:
    """Return the statement that releases a variable at the end of its block."""
    given = ["&", ["v", name]] if cleanup.by == ADDRESS else ["v", name]
    return ["defer", line, [["e", line, ["c", ["v", cleanup.function], [given], line]]]]
