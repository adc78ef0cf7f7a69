"""Macros of a file: the macro whose body contains a site, and macros that expand to literals.

The arguments of a site in a macro body, and the checks before it, are at the uses of the macro.
"""

import re
from collections.abc import Mapping

from jarvis_workers.sec.rules.rule import Site, SourceText
from jarvis_workers.source.lazy_regex import lazy

LINES_MAX, REACH = 32, 2_048
HEAD = lazy(rb"[ \t]*+#[ \t]*+define[ \t]++\w++(?>\(([^)]*+)\))?+")
TEXT = lazy(rb'#[ \t]*+define[ \t]++(\w++)[ \t]++\(?((?:u8|[LuU])?"[^"\n]*+")')


def is_in_macro(site: Site) -> bool:
    return definition_around(site.source.text, site.start) is not None


def definition_around(text: bytes, at: int) -> re.Match[bytes] | None:
    """Return the match of `#define name(parameters)` if its body contains the offset `at`."""
    floor = max(0, at - REACH)
    start = text.rfind(b"\n", floor, at) + 1
    for _ in range(LINES_MAX):
        if not text[max(0, start - 3) : max(0, start - 1)].rstrip(b"\r").endswith(b"\\"):
            break
        start = text.rfind(b"\n", floor, start - 1) + 1
    return HEAD.match(text, max(start, floor), at)


def text_macros(source: SourceText) -> Mapping[bytes, bytes]:
    """Return the macros of the file that expand to a literal, with its quotes."""
    return source.once("text macros", lambda: {one[1]: one[2] for one in TEXT.finditer(source.content)})
