"""Masked text to the left of an offset: the statement, the last word, the enclosing call.

Each function takes the text before the offset; the caller chooses its length.
"""

import re

from jarvis_workers.source.lazy_regex import lazy

NAME_MAX = 64
NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
BRANCHES = frozenset(b"if while for switch assert BUG_ON WARN_ON likely unlikely Assert ASSERT CHECK g_assert".split())
CONTROL = frozenset(b"if while for switch return case else do".split())
NO_TYPES = frozenset(b"return else case goto sizeof in and or not throw delete new do co_return co_yield".split())
EDGE = lazy(rb"[(){};]")
WORD_AT_END = lazy(rb"([A-Za-z_]\w*)\s*\Z")
TYPE = (
    rb"[A-Za-z_][\w:]*+(?:\s++[A-Za-z_][\w:]*+){0,5}(?>\s*+<[^<>;]{0,64}+>)?+(?:\s*+[*&][\s*&]*+|\s++)(?>const\s++)?+"
)
DECLARED_BEFORE = lazy(rb"%b\w++[^()]*,[\s*]*+\Z" % TYPE)
ONLY_TYPE = lazy(rb"%b\Z" % TYPE)


def last_word(before: bytes) -> bytes:
    """Return the name or keyword that ends the text; empty if there is none."""
    before = before[-NAME_MAX:].rstrip()
    word = before[len(before.rstrip(NAME_BYTES)) :]
    return b"" if word[:1].isdigit() else word


def is_declaration(statement: bytes) -> bool:
    """Return whether the text before a name is a declaration: `char *`, or `char *o, *`."""
    word = WORD_AT_END.match(statement[:64].split(b" ")[0].split(b"*")[0])
    if word and word[1] in NO_TYPES:
        return False
    return ONLY_TYPE.match(statement) is not None or DECLARED_BEFORE.match(statement) is not None


def statement_before(before: bytes) -> bytes:
    """Return the part of the statement, or of the head of a loop, that precedes an offset."""
    edge = max(before.rfind(b";"), before.rfind(b"{"), before.rfind(b"}"))
    statement = before[edge + 1 :].lstrip()
    for opens in (b"for", b"if", b"while", b"switch"):
        if statement.startswith(opens) and statement[len(opens) :].lstrip()[:1] == b"(":
            return statement.partition(b"(")[2].lstrip()
    return statement


def ends_in_branch(before: bytes) -> bool:
    """Return whether the text ends with the head of a branch, such as `if (x)`."""
    depth = 0
    for mark in _marks_backwards(before):
        depth += 1 if mark[0] == b")" else -1 if mark[0] == b"(" else 0
        if depth <= 0 and mark[0] == b"(":
            return depth == 0 and last_word(before[: mark.start()]) in BRANCHES
    return False


def callee_before(before: bytes) -> bytes:
    """Return the name of the call whose argument list is open at the end of the text."""
    edge = max(before.rfind(b";"), before.rfind(b"{"), before.rfind(b"}"))
    if before.find(b")", edge + 1) < 0:
        opened = before.rfind(b"(", edge + 1)
        word = last_word(before[:opened]) if opened >= 0 else b""
        return b"" if word in CONTROL else word
    depth = 0
    for mark in _marks_backwards(before):
        if mark[0] == b")":
            depth += 1
        elif mark[0] == b"(":
            if depth == 0:
                word = last_word(before[: mark.start()])
                return b"" if word in CONTROL else word
            depth -= 1
        elif depth == 0:
            return b""
    return b""


def _marks_backwards(before: bytes) -> list[re.Match[bytes]]:
    return list(EDGE.finditer(before))[::-1]
