"""Select functions by what their text says of pointers: tests that do not decide about a use, results used at once."""

import re
from itertools import islice

from jarvis_workers.dataflow.text_uses import MEMBER_OR_WORD, NEAR, TRIES, WORD, before, first, next_use, uses

LEAVES = re.compile(rb"\b(?!stderr\b)(?:return|goto|break|continue|throw|\w*(?:exit|abort|die|fatal|panic|err))\b")
NULLS = (b"NULL", b"nullptr")
NULLED = re.compile(
    rb"(?<![\w.>])(\w++(?>(?:->|\.)\w++)*+)\s*=\s*(?:\([^()]*\)\s*)?(?:[^;=?]{1,60}\?[^;?]{1,60}:\s*)?(?:NULL|nullptr)\s*;"
)
TESTED = re.compile(rb"\bif\s*\(\s*(?:!\s*(\w+)|(\w+)\s*==\s*(?:NULL|nullptr))\s*\)")
USED = (b"->", b"[", b")", b",")
# The result of a call, and the tests of a pointer for NULL.
RESULT = re.compile(rb"[;{}*\s](\w++(?>(?:->|\.)\w++)*+)\s*+=\s*+(?>\([^()]*+\)\s*+)?+[A-Za-z_]\w*+\s*+\(")
POINTER = rb"[A-Za-z_]\w*+(?>(?:->|\.)\w++)*+"
POINTER_TEST = re.compile(
    rb"""!\s*+(?P<negated>%b)\s*+(?=[)&|;?]) | (?P<compared>%b)\s*+[!=]=\s*+(?:NULL|nullptr|0)\b
    | (?:(?:if|while)\s*+\(|;|&&|\|\|)\s*+\(?(?P<plain>%b)\s*+\)?\s*+(?=&&|\|\||\)|;|\?)"""
    % (POINTER, POINTER, POINTER),
    re.VERBOSE,
)
CONDITION = re.compile(rb"\b(?:if|while)\s*\(\Z")
STARRED = frozenset((b" *", b"(*", b"!*", b"\t*"))
BRACKETS = re.compile(rb"[(){}]")
STATEMENT_MAX = 4_000
# The counter of a loop that searches, and the distance of two places that were searched for.
COUNTS = re.compile(rb"\b(?:for\s*\([^;{}]*;|while\s*\()\s*(\w++)\s*<=?[^;{}]*")
DISTANCE = re.compile(rb"\b[a-z_]\w*\s*-\s*[a-z_]\w*\s*[);]")


def uses_doubtful_pointer(body: bytes) -> bool:
    """Return whether a function may use a pointer that it tests elsewhere, or an index or distance that it found."""
    return (
        _null_and_used(body)
        or _result_and_used(body)
        or _counted_and_used(body)
        or _tested_and_used(body)
        or (body.count(b"chr(") + body.count(b"str(") > 1 and DISTANCE.search(body) is not None)
    )


def _null_and_used(body: bytes) -> bool:
    """Return whether a pointer that is set to or compared with NULL is used next, without leaving the block."""
    for name, since in first(NULLED, body) if any(word in body for word in NULLS) else ():
        start = next_use(body, name, since)
        if start >= 0 and _is_used(body, name, start):
            return True
        use = _next_arrow(body, name, since)
        if use >= 0 and _may_be_skipped(body, start) and name not in _tested_between(body, since, use):
            return True
    return any(
        ((use.behind in USED and use.before != b"&") or use.before == b"*")
        and not LEAVES.search(body, use.since, body.rfind(b";", use.since, use.start) + 1)
        for use in uses(TESTED, body)
    )


def _is_used(body: bytes, name: bytes, start: int) -> bool:
    """Return whether a mention of a pointer uses it; a test, its address or another declaration does not."""
    ahead = before(body, start)
    if ahead.endswith(b"*"):
        return ahead.rstrip(b"* ")[-1:] not in WORD
    if ahead.endswith((b"&", b"!")) or (body.startswith(b")", start + len(name)) and CONDITION.search(ahead)):
        return False
    return ahead.endswith(b"=") or body.startswith(USED, start + len(name))


def _may_be_skipped(body: bytes, start: int) -> bool:
    """Return whether a statement stands in a branch or loop."""
    return before(body, start).endswith((b"{", b")", b"else"))


def _tested_between(body: bytes, start: int, end: int) -> set[bytes]:
    """Return the pointers that are tested between two places."""
    return {one["negated"] or one["compared"] or one["plain"] for one in POINTER_TEST.finditer(body, start, end)}


def _result_and_used(body: bytes) -> bool:
    for name, since in first(RESULT, body):
        at = next_use(body, name, since)
        behind = body[at + len(name) : at + len(name) + 2] if at >= 0 else b""
        if behind == b"->" or behind[:1] == b"[" or (behind[:1] == b"]" and body[:at].endswith(b"[")):
            return True
        if at >= 0 and body[at - 2 : at] in STARRED:
            return True
    return False


def _counted_and_used(body: bytes) -> bool:
    """Return whether the counter of a loop is an index behind it where it is mentioned next."""
    for match in islice(COUNTS.finditer(body), TRIES) if b"]" in body else ():
        end = _end_of_statement(body, match.end(1))
        at = next_use(body, match[1], end) if end >= 0 else -1
        if at >= 0 and body[:at].endswith(b"[") and body[at + len(match[1]) :].startswith(b"]"):
            return True
    return False


def _tested_and_used(body: bytes) -> bool:
    """Return whether a pointer is dereferenced before it is tested for NULL, or behind the test without another one."""
    for match in islice(POINTER_TEST.finditer(body), TRIES):
        name = match["negated"] or match["compared"] or match["plain"]
        start, end = match.start(match.lastgroup or 0), match.end()
        since = _last_use(body, name, start)
        if since >= 0 and not _is_set(body, name, since, start) and b";" in body[since:start]:
            return True
        is_null = match["negated"] is not None or body[match.end("compared") : end].lstrip()[:1] == b"="
        if name + b"->" in body and _outlives_test(body, name, start, end, is_null=is_null):
            return True
    return False


def _outlives_test(body: bytes, name: bytes, start: int, end: int, *, is_null: bool) -> bool:
    """Return whether a pointer is dereferenced behind the statement that a test of it decides about."""
    head = body[max(body.rfind(b";", 0, start), body.rfind(b"{", 0, start), body.rfind(b"}", 0, start)) + 1 : end + 4]
    behind = end if is_null and body[end:].lstrip()[:2] == b"&&" else _end_of_statement(body, end)
    use = _next_arrow(body, name, behind) if behind >= 0 else -1
    if use < 0 or (is_null and b"&&" not in head and LEAVES.search(body, end, behind)):
        return False
    return not _is_set(body, name, behind, use) and name not in _tested_between(body, behind, use)


def _is_set(body: bytes, name: bytes, start: int, end: int) -> bool:
    """Return whether a pointer may be assigned between two places, or its address is taken there."""
    at = body.find(name, start, end)
    while at >= 0:
        in_front = body[max(0, at - 2) : at]
        if _is_assignment(body[at + len(name) : at + len(name) + NEAR]) or in_front.strip(b"( ") == b"&":
            return True
        at = body.find(name, at + 1, end)
    return False


def _is_assignment(text: bytes) -> bool:
    text = text.lstrip()
    return text.startswith(b"=") and not text.startswith(b"==")


def _last_use(body: bytes, name: bytes, end: int) -> int:
    """Return the offset of the last dereference of a pointer in front of an offset, -1 if there is none near."""
    at = body.rfind(name, 0, end)
    for _ in range(TRIES):
        if at <= 0:
            break
        behind, in_front = body[at + len(name) : at + len(name) + 2], body[max(0, at - 4) : at]
        if in_front[-1:] not in MEMBER_OR_WORD and (
            behind == b"->" or behind[:1] == b"[" or in_front[-2:] in STARRED or in_front in (b"len(", b"cpy(")
        ):
            return at
        at = body.rfind(name, 0, at)
    return -1


def _next_arrow(body: bytes, name: bytes, start: int) -> int:
    at = body.find(name + b"->", start)
    while at > 0 and body[at - 1 : at] in MEMBER_OR_WORD:
        at = body.find(name + b"->", at + 1)
    return at


def _end_of_statement(body: bytes, at: int) -> int:
    """Return the end of the statement whose condition contains an offset; -1 if it is in no condition, or too long."""
    depth, braces, reach = 1, 0, at + STATEMENT_MAX
    for match in BRACKETS.finditer(body, at, reach):
        one = match[0]
        if depth:
            depth += (one == b"(") - (one == b")")
            if not depth and body[match.end() :].lstrip()[:1] != b"{":
                return body.find(b";", match.end(), reach)
            if one in b"{}":
                return -1
            continue
        braces += (one == b"{") - (one == b"}")
        if not braces:
            return match.end()
    return -1
