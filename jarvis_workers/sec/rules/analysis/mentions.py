"""Say what a piece of C does with a variable, one mention after the other, and where the result of a call goes.

All of it by looking left and right of a name in masked text, within bounds: good enough for a rule that says
how sure it is, and the same whatever the size of the function.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from jarvis_workers.source.lazy_regex import lazy

__all__ = ["ResultUse", "Use", "next_mention", "result_of", "uses"]

USES_MAX = 64
# The name `e` is found in every other word.
FINDS_MAX = 2_048
NAME_MAX = 64
TARGET_MAX = 128
LEFT, RIGHT = 256, 64
PARENTHESES_MAX = 4
PARTS_MAX = 64
# `struct list list;` names a type first.
TAGS = (b"struct ", b"union ", b"enum ", b"class ")
NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
WORD = frozenset(NAME_BYTES)
JOINED, ARROW, SPACE = WORD | frozenset(b"."), ord(">"), ord(" ")
BRANCHES = frozenset(b"if while for switch assert BUG_ON WARN_ON likely unlikely Assert ASSERT CHECK g_assert".split())
CONTROL = frozenset(b"if while for switch return case else do".split())
NO_TYPES = frozenset(b"return else case goto sizeof in and or not throw delete new do co_return co_yield".split())
ASKS = lazy(
    rb"\w*(?:assert|check|confirm|verify|ensure|expect|require|null|nil|is_err|isvalid|is_valid|return_if_fail|return_val_if)\w*\Z",
    re.IGNORECASE,
)
UNEVALUATED = frozenset(
    b"sizeof typeof __typeof__ __typeof decltype offsetof alignof _Alignof __alignof__ __alignof".split()
)
EDGE = lazy(rb"[(){};]")
LAST_WORD = lazy(rb"([A-Za-z_]\w*)\s*\Z")
STARS = lazy(rb"[*\s]*\*\s*\Z")
TYPE_BEFORE = lazy(rb"([A-Za-z_]\w*|>)\s*(?:\*|\bconst\b|\brestrict\b|\b__restrict\b|&|\s)*\Z")
TARGET = lazy(rb"((?:\*\s*)*[A-Za-z_]\w*(?:\s*(?:->|\.)\s*\w+|\s*\[[^][;{}]{0,64}\])*)\s*\Z")
CAST = lazy(
    rb"(?:\(\s*(?:const\s+|struct\s+|unsigned\s+|enum\s+)*\w+(?:::\w+)*(?:\s+\w+)*[\s*]*\)|_cast\s*<[^<>;]{1,64}>\s*\()\s*\Z"
)
POINTER_CAST = lazy(rb"\(\s*(?:\w+\s+){0,4}\w+\s*\*[*\s]*(?:const\s*)?\)\s*\Z")
VOID_CAST = lazy(rb"\(\s*void\s*\)\s*\Z")
COMPARED = lazy(rb"\s*(?:[=!<>]=|[<>](?![<>])|&&|\|\||\?)")
TESTING, TESTED = (b"!", b"==", b"!=", b"&&", b"||"), (b"==", b"!=", b"?", b"&&", b"||")
ORDERED_AFTER = lazy(rb"[<>](?![<>])")
ORDERED_BEFORE = lazy(rb"\s[<>]=?\Z")
STATEMENT_WORD = lazy(rb"\b(?:else|do)\s*\Z")
DELETED = lazy(rb"\bdelete\s*(?:\[\s*\])?\s*\Z")
LOOP_CONDITION = lazy(rb"\bfor\s*\([^;{}]*;\s*\Z")
TYPE = (
    rb"[A-Za-z_][\w:]*+(?:\s++[A-Za-z_][\w:]*+){0,5}(?>\s*+<[^<>;]{0,64}+>)?+(?:\s*+[*&][\s*&]*+|\s++)(?>const\s++)?+"
)
DECLARED_BEFORE = lazy(rb"%b\w++[^()]*,[\s*]*+\Z" % TYPE)
ONLY_TYPE = lazy(rb"%b\Z" % TYPE)


class Use(NamedTuple):
    """A mention of a variable.

    `kind` is "assignment", "declaration", "test" (compared, asserted), "dereference", "address", "argument" (of the
    call `callee`, or of `delete`), "return" or "other".
    """

    at: int
    kind: str
    callee: bytes = b""


class ResultUse(NamedTuple):
    """What becomes of the result of a call.

    `kind` is "assigned" (to `target`), "tested", "returned", "passed", "ignored", "voided" (a cast to void) or "other".
    An assignment within a condition is "assigned" and `tested` is true.
    """

    kind: str
    target: bytes = b""
    tested: bool = False


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
    """Return where a variable is mentioned next, or -1; any place that it may be, where it is a part of many others."""
    for _ in range(PARTS_MAX):
        start = text.find(name, start, end)
        if start < 0 or _is_whole(text, start, start + len(name)):
            return start
        start += len(name)
    return start


def result_of(text: bytes, start: int, end: int | None) -> ResultUse:
    """Say what becomes of the result of the call that begins with its name at `start` and ends behind `)` at `end`."""
    before = text[max(0, start - LEFT) : start].rstrip()
    if before.endswith(b"::"):
        before = before[:-2].rstrip().removesuffix(b"std").rstrip()
    if before.endswith(b")") and VOID_CAST.search(before):
        return ResultUse("voided")
    before = _without_casts(before)
    if before.endswith(b"=") and before[-2:-1] not in (b"=", b"!", b"<", b">"):
        target = _target(before)
        name = _target_name(before[: target.start()], target[1]) if target else b""
        return ResultUse("assigned", name, tested=_is_tested(text, end, before))
    compared = end is not None and COMPARED.match(text, end) is not None
    return ResultUse(_fate(before, compared=compared))


def _without_casts(before: bytes) -> bytes:
    while before.endswith((b")", b"(")) and (cast := CAST.search(before)):
        rest = before[: cast.start()].rstrip()
        if before.endswith(b"("):
            rest = rest.rstrip(b"_abcdefghijklmnopqrstuvwxyz").rstrip()
        elif _ends_with_word(rest) in BRANCHES:
            return before
        before = rest
    return before


def _target(before: bytes) -> re.Match[bytes] | None:
    """Find what stands in front of the `=` with which this text ends, in its statement."""
    edge = max(before.rfind(b";"), before.rfind(b"{"), before.rfind(b"}"), len(before) - TARGET_MAX)
    return TARGET.search(before, edge + 1, len(before) - 1)


def _target_name(before: bytes, expression: bytes) -> bytes:
    """Leave out the stars of a declaration: `char *p = f()` assigns to `p`, and `*p = f()` to `*p`."""
    squeezed = _squeezed(expression)
    statement = _statement(before).rstrip()
    if squeezed[:1] == b"*" and (statement.endswith(b",") or LAST_WORD.search(statement)):
        declared = _declares(statement + b" *") or DECLARED_BEFORE.match(statement)
        return squeezed.lstrip(b"*") if declared else squeezed
    return squeezed


def _fate(before: bytes, *, compared: bool) -> str:
    word = _ends_with_word(before)
    if word == b"return":
        return "returned"
    if compared or before.endswith((b"!", b"==", b"!=", b"&&", b"||", b"<", b">", b"<=", b">=")):
        return "tested"
    if before.endswith((b"(", b",")):
        return "tested" if _ends_with_word(before[:-1]) in BRANCHES else "passed"
    return "ignored" if _is_statement(before) else "other"


def _squeezed(expression: bytes) -> bytes:
    return b"".join(expression.split())


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
    if b"of" in before and (_callee(before) in UNEVALUATED or _ends_with_word(before.rstrip(b"* \t(")) == b"sizeof"):
        return Use(at, "other")
    kind = _kind(before, after)
    if kind:
        return Use(at, kind)
    callee = _callee(before)
    if b"delete" in before and DELETED.search(before):
        return Use(at, "argument", b"delete")
    if callee and ASKS.match(callee):
        return Use(at, "test", callee)
    return Use(at, "argument", callee) if callee else Use(at, "other")


def _kind(before: bytes, after: bytes) -> str:
    """Name the use, where what stands beside the name tells it."""
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
    """Look at what stands before a name: `*p`, `*(int *)p`, `char *p`."""
    while before.endswith(b")") and (cast := POINTER_CAST.search(before)):
        before = before[: cast.start()].rstrip()
        if before.endswith(b"*") and not _declares(_statement(before)):
            return "dereference"
    stars = STARS.search(before) if before.endswith(b"*") else None
    return _starred(before[: stars.start()], before[stars.start() :]) if stars else ""


def _within(before: bytes, after: bytes) -> str:
    """Look outside of parentheses: `(p)->x`, `((struct s *)p)->x`, `(*out)[0]`, `(p) == NULL`, `*(p)`."""
    for _ in range(PARENTHESES_MAX):
        inner = before.rstrip(b"* \t\r\n")
        cast = POINTER_CAST.search(inner) if inner.endswith(b")") else None
        inner = inner[: cast.start()].rstrip() if cast else inner
        if (
            not inner.endswith(b"(")
            or not after.startswith(b")")
            or _ends_with_word(inner[:-1]) not in (b"", b"return")
        ):
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
    if before.endswith(b"&") and not before.endswith(b"&&") and not _ends_with_word(before[:-1]):
        return "address"
    if _ends_with_word(before) == b"return":
        return "return"
    word = TYPE_BEFORE.search(before[-NAME_MAX:]) if after[:1] == b";" else None
    return "declaration" if word and word[1] not in NO_TYPES else ""


def _assigned(before: bytes) -> str:
    """Tell `*p = x` and `*(int *)p = x` from `char *p = x` and `char *o, *p = x`."""
    if before.endswith(b")") and _pointed(before) == "dereference":
        return "dereference"
    if before.endswith(b"*"):
        return "assignment" if _declares(_statement(before)) else "dereference"
    return "assignment"


def _starred(before: bytes, stars: bytes) -> str:
    """Tell `char *p` from `*p`; `a * p` is neither."""
    if before.endswith(b","):
        return "declaration" if _declares(_statement(before + stars)) else "dereference"
    word = LAST_WORD.search(before, max(0, len(before) - NAME_MAX))
    if word is None or word[1] in NO_TYPES:
        return "other" if before[-1:] == b"]" or (before[-1:] == b")" and not _branch_before(before)) else "dereference"
    rest = before[: word.start()].rstrip()
    return "declaration" if not rest or rest[-1:] in b";{}(," or LAST_WORD.search(rest) else "other"


def _declares(statement: bytes) -> bool:
    """Tell whether a declaration stands before a name: `char *`, or `char *o, *`."""
    word = LAST_WORD.match(statement[:64].split(b" ")[0].split(b"*")[0])
    if word and word[1] in NO_TYPES:
        return False
    return ONLY_TYPE.match(statement) is not None or DECLARED_BEFORE.match(statement) is not None


def _statement(before: bytes) -> bytes:
    """Return what stands of the statement, or of the head of a loop, in front of a place."""
    edge = max(before.rfind(b";"), before.rfind(b"{"), before.rfind(b"}"))
    statement = before[edge + 1 :].lstrip()
    for opens in (b"for", b"if", b"while", b"switch"):
        if statement.startswith(opens) and statement[len(opens) :].lstrip()[:1] == b"(":
            return statement.partition(b"(")[2].lstrip()
    return statement


def _is_test(before: bytes, after: bytes) -> bool:
    if before.endswith(TESTING) or after.startswith(TESTED):
        return True
    if (after[:1] in (b"<", b">") and ORDERED_AFTER.match(after)) or (
        before.endswith((b"<", b">", b"=")) and ORDERED_BEFORE.search(before)
    ):
        return True
    if after[:1] == b";" and LOOP_CONDITION.search(before):
        return True
    return before.endswith(b"(") and after[:1] == b")" and _ends_with_word(before[:-1]) in BRANCHES


def _is_tested(text: bytes, end: int | None, before: bytes) -> bool:
    """Tell `if ((p = f()) == NULL)`, `if (!(p = f()))` and `while ((p = f()))` from a plain assignment."""
    if end is None:
        return False
    after = text[end : end + RIGHT].lstrip()
    if after[:1] != b")":
        return COMPARED.match(after) is not None
    target = _target(before)
    head = before[: target.start()].rstrip() if target else b""
    if head.endswith(b"=") and (other := _target(head)):
        head = head[: other.start()].rstrip()
    if not head.endswith(b"("):
        opened = head.rpartition(b"(")
        declared = ONLY_TYPE.match(opened[2].lstrip() + b" ")
        return declared is not None and _ends_with_word(opened[0]) in (b"if", b"while")
    if COMPARED.match(after[1:]) or head[:-1].rstrip().endswith((b"!", b"&&", b"||", b"(")):
        return True
    return _ends_with_word(head[:-1]) in BRANCHES


def _ends_with_word(before: bytes) -> bytes:
    before = before[-NAME_MAX:].rstrip()
    word = before[len(before.rstrip(NAME_BYTES)) :]
    return b"" if word[:1].isdigit() else word


def _is_statement(before: bytes) -> bool:
    """Tell whether a statement begins behind this text."""
    if not before or before[-1:] in b";{}:" or STATEMENT_WORD.search(before[-16:]):
        return True
    return before.endswith(b")") and _branch_before(before)


def _branch_before(before: bytes) -> bool:
    depth = 0
    for mark in _marks_backwards(before):
        depth += 1 if mark[0] == b")" else -1 if mark[0] == b"(" else 0
        if depth <= 0 and mark[0] == b"(":
            return depth == 0 and _ends_with_word(before[: mark.start()]) in BRANCHES
    return False


def _callee(before: bytes) -> bytes:
    """Return the name of the call in whose parentheses this text ends."""
    edge = max(before.rfind(b";"), before.rfind(b"{"), before.rfind(b"}"))
    if before.find(b")", edge + 1) < 0:
        opened = before.rfind(b"(", edge + 1)
        word = _ends_with_word(before[:opened]) if opened >= 0 else b""
        return b"" if word in CONTROL else word
    depth = 0
    for mark in _marks_backwards(before):
        if mark[0] == b")":
            depth += 1
        elif mark[0] == b"(":
            if depth == 0:
                word = _ends_with_word(before[: mark.start()])
                return b"" if word in CONTROL else word
            depth -= 1
        elif depth == 0:
            return b""
    return b""


def _marks_backwards(before: bytes) -> list[re.Match[bytes]]:
    return list(EDGE.finditer(before))[::-1]
