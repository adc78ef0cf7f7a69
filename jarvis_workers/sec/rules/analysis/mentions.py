"""Classify each mention of a variable in masked C code by its use.

Only a bounded window to the left and right of a mention is read: this is precise enough for a rule that reports a
confidence, and the cost does not depend on the size of the function.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jarvis_workers.source.lazy_regex import lazy

# Masked text to the left of an offset: the statement, the last word, the enclosing call.

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


USES_MAX = 64
# A name such as `e` is part of every other word.
FINDS_MAX = 2_048
LEFT, RIGHT = 256, 64
PARENTHESES_MAX = 4
PARTS_MAX = 64
# `struct list list;` names a type first.
TAGS = (b"struct ", b"union ", b"enum ", b"class ")
WORD = frozenset(NAME_BYTES)
JOINED, ARROW, SPACE = WORD | frozenset(b"."), ord(">"), ord(" ")
ASKS = lazy(
    rb"\w*(?:assert|check|confirm|verify|ensure|expect|require|null|nil|is_err|isvalid|is_valid|return_if_fail|return_val_if)\w*\Z",
    re.IGNORECASE,
)
UNEVALUATED = frozenset(
    b"sizeof typeof __typeof__ __typeof decltype offsetof alignof _Alignof __alignof__ __alignof".split()
)
STARS = lazy(rb"[*\s]*\*\s*\Z")
TYPE_BEFORE = lazy(rb"([A-Za-z_]\w*|>)\s*(?:\*|\bconst\b|\brestrict\b|\b__restrict\b|&|\s)*\Z")
POINTER_CAST = lazy(rb"\(\s*(?:\w+\s+){0,4}\w+\s*\*[*\s]*(?:const\s*)?\)\s*\Z")
TESTING, TESTED = (b"!", b"==", b"!=", b"&&", b"||"), (b"==", b"!=", b"?", b"&&", b"||")
ORDERED_AFTER = lazy(rb"[<>](?![<>])")
ORDERED_BEFORE = lazy(rb"\s[<>]=?\Z")
DELETED = lazy(rb"\bdelete\s*(?:\[\s*\])?\s*\Z")
LOOP_CONDITION = lazy(rb"\bfor\s*\([^;{}]*;\s*\Z")


class Use(NamedTuple):
    """A mention of a variable.

    `kind` is "assignment", "declaration", "test" (compared, asserted), "dereference", "address", "argument" (of the
    call `callee`, or of `delete`), "return" or "other".
    """

    at: int
    kind: str
    callee: bytes = b""


def uses(text: bytes, name: bytes, start: int, end: int) -> Iterator[Use]:
    """Yield the first mentions of a variable, such as `p` or `x->p`, in a part of the masked text."""
    at, left = start, USES_MAX
    length = len(name)
    for _ in range(FINDS_MAX):
        at = text.find(name, at, end)
        if at < 0 or not left:
            return
        behind = at + length
        if _is_whole(text, at, behind):
            left -= 1
            yield _use(text, at, behind)
        at = behind


def next_mention(text: bytes, name: bytes, start: int, end: int) -> int:
    """Return the offset of the next mention of a variable, or -1; possibly only a part of a longer name."""
    for _ in range(PARTS_MAX):
        start = text.find(name, start, end)
        if start < 0 or _is_whole(text, start, start + len(name)):
            return start
        start += len(name)
    return start


def _is_whole(text: bytes, at: int, behind: int) -> bool:
    if behind < len(text) and text[behind] in WORD:
        return False
    left = text[at - 1] if at else SPACE
    if left == SPACE:
        return not text.endswith(TAGS, max(0, at - 8), at)
    return left not in JOINED and (left != ARROW or text[at - 2 : at] != b"->")


def _use(text: bytes, at: int, behind: int) -> Use:
    before = text[max(0, at - LEFT) : at].rstrip()
    after = text[behind : behind + RIGHT].lstrip()
    if b"of" in before and (callee_before(before) in UNEVALUATED or last_word(before.rstrip(b"* \t(")) == b"sizeof"):
        return Use(at, "other")
    kind = _kind(before, after)
    if kind:
        return Use(at, kind)
    callee = callee_before(before)
    if b"delete" in before and DELETED.search(before):
        return Use(at, "argument", b"delete")
    if callee and ASKS.match(callee):
        return Use(at, "test", callee)
    return Use(at, "argument", callee) if callee else Use(at, "other")


def _kind(before: bytes, after: bytes) -> str:
    """Return the kind of use that the adjacent text determines."""
    if after[:1] == b"=" and after[:2] != b"==":
        return _assigned(before)
    if after[:2] == b"->" or after[:1] == b"[":
        return "dereference"
    if _is_test(before, after):
        return "test"
    if after[:1] == b")" and (kind := _within(before, after)):
        return kind
    return _pointed(before) or _plain(before, after)


def _pointed(before: bytes) -> str:
    """Return the kind of use from the text before a name: `*p`, `*(int *)p`, `char *p`."""
    while before.endswith(b")") and (cast := POINTER_CAST.search(before)):
        before = before[: cast.start()].rstrip()
        if before.endswith(b"*") and not is_declaration(statement_before(before)):
            return "dereference"
    stars = STARS.search(before) if before.endswith(b"*") else None
    return _starred(before[: stars.start()], before[stars.start() :]) if stars else ""


def _within(before: bytes, after: bytes) -> str:
    """Return the kind of use from text around parentheses: `(p)->x`, `((struct s *)p)->x`, `(p) == NULL`, `*(p)`."""
    for _ in range(PARENTHESES_MAX):
        inner = before.rstrip(b"* \t\r\n")
        cast = POINTER_CAST.search(inner) if inner.endswith(b")") else None
        inner = inner[: cast.start()].rstrip() if cast else inner
        if not inner.endswith(b"(") or not after.startswith(b")") or last_word(inner[:-1]) not in (b"", b"return"):
            return ""
        before, after = inner[:-1].rstrip(), after[1:].lstrip()
        if after[:2] == b"->" or after[:1] in (b"[", b"."):
            return "dereference"
        if _is_test(before, after):
            return "test"
        if before.endswith(b"*") and _starred(before.rstrip(b"* \t\r\n"), b"*") == "dereference":
            return "dereference"
    return ""


def _plain(before: bytes, after: bytes) -> str:
    if before.endswith(b"&") and not before.endswith(b"&&") and not last_word(before[:-1]):
        return "address"
    if last_word(before) == b"return":
        return "return"
    word = TYPE_BEFORE.search(before[-NAME_MAX:]) if after[:1] == b";" else None
    return "declaration" if word and word[1] not in NO_TYPES else ""


def _assigned(before: bytes) -> str:
    """Return "dereference" for `*p = x` and `*(int *)p = x`, "assignment" for `char *p = x` and `char *o, *p = x`."""
    if before.endswith(b")") and _pointed(before) == "dereference":
        return "dereference"
    if before.endswith(b"*"):
        return "assignment" if is_declaration(statement_before(before)) else "dereference"
    return "assignment"


def _starred(before: bytes, stars: bytes) -> str:
    """Return "declaration" for `char *p`, "dereference" for `*p`, "other" for `a * p`."""
    if before.endswith(b","):
        return "declaration" if is_declaration(statement_before(before + stars)) else "dereference"
    word = WORD_AT_END.search(before, max(0, len(before) - NAME_MAX))
    if word is None or word[1] in NO_TYPES:
        return "other" if before[-1:] == b"]" or (before[-1:] == b")" and not ends_in_branch(before)) else "dereference"
    rest = before[: word.start()].rstrip()
    return "declaration" if not rest or rest[-1:] in b";{}(," or WORD_AT_END.search(rest) else "other"


def _is_test(before: bytes, after: bytes) -> bool:
    if before.endswith(TESTING) or after.startswith(TESTED):
        return True
    if (after[:1] in (b"<", b">") and ORDERED_AFTER.match(after)) or (
        before.endswith((b"<", b">", b"=")) and ORDERED_BEFORE.search(before)
    ):
        return True
    if after[:1] == b";" and LOOP_CONDITION.search(before):
        return True
    return before.endswith(b"(") and after[:1] == b")" and last_word(before[:-1]) in BRANCHES
