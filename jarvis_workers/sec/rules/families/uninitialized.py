"""uninitialized_ptr_use: a pointer that is declared without a value is used before it is assigned."""

import re

from jarvis_workers.sec.rules.analysis.mentions import next_mention, uses
from jarvis_workers.sec.rules.analysis.pointer_uses import DEREFERENCING, RELEASING, Mention, follow, is_unevaluated
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

LEFT = 160
# From a star to the end of a declaration whose last pointer has no initializer.
SHAPE = r"\*[ \t]?[A-Za-z_][A-Za-z0-9_]* ?;"
NO_TYPES = frozenset(
    b"return else case goto sizeof typedef extern static throw delete new using thread_local __thread register".split()
)
TYPE = lazy(
    rb"(?:\A|[;{}])\s*+((?:[A-Za-z_][\w:]*+\s++){0,4}?[A-Za-z_][\w:]*+(?>\s*+<[^<>;{}]{0,64}+>)?+)\s*+"
    rb"(?>(?P<earlier>\**+\s*+[A-Za-z_]\w*+(?>\s*+=\s*+[\w.\->]++)?+\s*+,[^;{}()]*+))?+(?>\*[\s*]*+)?+\Z"
)
NAME = lazy(rb"\*\s*+([A-Za-z_]\w*+)\s*+(?=[,;])")
NEXT_REACH = 4_096
# A macro may assign a variable that it does not mention.
MACRO = lazy(rb"(?:[;{}]|^[ \t]*+#[^\n]*+)\s*+[A-Z][A-Z0-9_]++\s*+[(;]", re.MULTILINE)
ADDRESS_OF, STAR = b"&*"
ASSIGNMENT = lazy(rb"\s*+=(?!=)")
DECLARES = lazy(rb"[\w>*,]\s*+\Z")


def check_declaration(site: Site) -> float | None:
    """Check the first mention in straight-line code; anything that may be an assignment makes the pointer safe."""
    text = site.source.text
    end = text.find(b";", site.start)
    last = NAME.match(text, site.start)
    if last is None or (
        b"," not in text[text.rfind(b"\n", 0, site.start) : end] and _is_assigned_next(text, last[1], end)
    ):
        return None
    statement = _declaration(text, site.start)
    if statement is None:
        return None
    declared = NAME.findall(statement + text[site.start : end + 1])
    names = [name for name in declared if not _is_assigned_next(text, name, end)]
    if not names or site.function is None:
        return None
    return max((moved for name in names if (moved := _first_use(site, name, end)) is not None), default=None)


def _first_use(site: Site, name: bytes, start: int) -> float | None:
    text = site.source.text
    for mention in follow(site, name, start):
        delta = _judged(text, mention)
        if delta is None or (delta and mention.inner and _is_set_later(site, name, mention.at)):
            return None
        if delta:
            return None if MACRO.search(text, start, mention.at) else delta - 1.0
    return None


def _is_assigned_next(text: bytes, name: bytes, start: int) -> bool:
    """Return whether the next mention plainly assigns the name, or is in another function (a quick test)."""
    at = next_mention(text, name, start, start + NEXT_REACH)
    if at < 0 or text[at - 1] == ADDRESS_OF:
        return True
    return text[at - 1] != STAR and ASSIGNMENT.match(text, at + len(name)) is not None


def _declaration(text: bytes, start: int) -> bytes | None:
    """Return the text of a declaration before its last name; None if it declares no pointer."""
    before = text[max(0, start - LEFT) : start]
    edge = max(before.rfind(b";"), before.rfind(b"{"), before.rfind(b"}"), before.rfind(b"\n#"))
    statement = before[edge:] if edge >= 0 else before
    if statement.startswith(b"\n#"):
        statement = statement[1:].partition(b"\n")[2]
    if b"(" in statement or b")" in statement or not DECLARES.search(statement):
        return None
    typed = TYPE.search(statement)
    return statement if typed and NO_TYPES.isdisjoint(typed[1].split()) else None


def _judged(text: bytes, mention: Mention) -> float | None:
    """Return 0 for a harmless mention, 1 plus the confidence adjustment for a use, None to end the search."""
    if is_unevaluated(text, mention.at):
        return None
    if mention.kind == "dereference":
        return 1.0 - (0.1 if mention.inner or mention.left else 0.0)
    if mention.kind == "argument":
        if mention.callee in RELEASING:
            return 1.0 if not mention.inner else 0.9
        if mention.inner:
            return None
        return 0.95 if mention.callee in DEREFERENCING else None
    return None


def _is_set_later(site: Site, name: bytes, at: int) -> bool:
    """Return whether the variable is assigned further down, in code that may have run before in a loop."""
    end = site.function.body[1] if site.function else at
    return any(use.kind in ("assignment", "address") for use in uses(site.source.text, name, at, end))


RULES: tuple[Rule, ...] = (rule("uninitialized_ptr_use", check_declaration, shapes=(SHAPE,)),)
