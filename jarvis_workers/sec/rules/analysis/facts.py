"""Facts about the function and the file around a site: local declarations, and the presence of a pattern."""

import re

from jarvis_workers.sec.rules.analysis.function_exits import head_of
from jarvis_workers.sec.rules.analysis.mentions import uses
from jarvis_workers.sec.rules.rule import Site
from jarvis_workers.source.lazy_regex import lazy

STATEMENT_MAX = 160
TARGET_MAX = 256
DECLARED = lazy(
    rb"\s*+(?!(?:return|goto|else|case|delete|throw)\b)[A-Za-z_][\w:]*+(?>\s*+<[^<>;]{0,64}+>)?+"
    rb"(?:\s*+[*&]++\s*+|\s++)(?:[A-Za-z_*&]|\Z)"
)
DEFINITION = rb"#[ \t]*+define[ \t]++%b\b|\n(?:[A-Za-z_][\w* \t]*[\s*])?%b\s*+\([^;{}()]*+\)\s*+\{"
GOES_ON = lazy(rb"\s*+[=;,\[({:]")
LASTING = lazy(rb"\b(?:static|extern|thread_local|__thread|_Thread_local)\b")


def declaration(site: Site, name: bytes) -> tuple[int, int] | None:
    """Return the span of the statement that declares a local variable before the site, or None if there is none."""
    text, function = site.source.text, site.function
    if function is None:
        return None
    first = next(uses(text, name, function.body[0], site.start), None)
    if first is None:
        return None
    line = head_of(text, first.at)
    if DECLARED.match(text, line, first.at) is None or GOES_ON.match(text, first.at + len(name)) is None:
        return None
    if LASTING.search(text, line, first.at):
        return None
    end = text.find(b";", first.at, first.at + STATEMENT_MAX)
    return line, end if end >= 0 else first.at + STATEMENT_MAX


def is_in_file(site: Site, pattern: re.Pattern[bytes]) -> bool:
    """Return whether the masked text of the file matches a pattern; the search runs once per file."""
    text = site.source.text
    return site.source.once(pattern.pattern.decode(), lambda: pattern.search(text) is not None)


def defines(site: Site, name: bytes) -> bool:
    """Return whether the file defines a function or macro of this name; the search runs once per name."""
    cache: dict[bytes, bool] = site.source.once("defined names", dict)
    if name not in cache:
        cache[name] = re.search(DEFINITION % ((re.escape(name),) * 2), site.source.text) is not None
    return cache[name]


def target_at(site: Site) -> int:
    """Return the offset of the variable to which the result of the call is assigned."""
    text = site.source.text
    floor = max(0, site.start - TARGET_MAX)
    before = text[floor : site.start].rpartition(b"=")[0].rstrip()
    return max(0, floor + len(before) - len(site.result.target))
