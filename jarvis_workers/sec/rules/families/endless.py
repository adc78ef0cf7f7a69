"""endless_loop: an infinite loop, without an exit or with a condition that always holds.

Servers, threads and firmware loop forever on purpose, but they wait in each iteration.  A loop that only counts, or
that tests an unsigned number for being negative, is meant to end.
"""

import re

from jarvis_workers.sec.rules.analysis.declarations import Scope
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.calls import arguments
from jarvis_workers.source.lazy_regex import lazy

COUNTS, ALWAYS, WRAPS = -0.05, 0.2, 0.15
BODY_MAX, LINE_MAX = 4_096, 256
SHAPES = (
    r"while ?\( ?(?:1|true|TRUE) ?\)",
    r"for ?\( ?; ?; ?\)",
    r">= ?0 ?[;)]",
)
INDENTATION = lazy(rb"[ \t]*+")
JUMPS = (b"break", b"return", b"goto", b"throw")
BRACES = lazy(rb"[{}]")
JUMPING = lazy(rb"\b(?:break|return|goto|throw|co_return|co_yield|asm|__asm\w*+)\b")
CALLED = lazy(rb"\b([A-Za-z_]\w*+)\s*+\(")
# Words in names of functions that do not return, and of those that wait or have a loop of their own.
LEAVING = lazy(rb"exit|abort|fatal|die|panic|error|fail|assert|throw|raise|usage|kill|exec|re(?:boot|set)|jump|quit")
WAITING = lazy(
    rb"sleep|wait|poll|select|accept|rec(?:v|eive)|read|get|pause|listen|sched|yield|lock|signal|event|queue|pop|next|"
    rb"dispatch|run|loop|tick|delay|update|process|handle|main|task|work|fetch|halt|wfi|hlt|idle"
)
COUNTER = lazy(
    rb"\b(?P<after>[A-Za-z_]\w*+)\s*+(?:\+\+|--|[+-]=\s*+\d|=\s*+\(?\s*+(?P=after)\s*+[+-]\s*+\d)"
    rb"|(?:\+\+|--)\s*+(?P<before>[A-Za-z_]\w*+)"
)
IN_HEAD = lazy(rb"\(\s*+(?P<type>(?:[A-Za-z_]\w*+\s++)+)(?P<name>[A-Za-z_]\w*+)\s*+=")
# Operations of a loop on a variable: an increment or decrement, an assignment, a comparison with 0.
STEP = lazy(
    rb"(?:(?P<before>--|\+\+|&|!)\s*+)?\b(?P<name>[A-Za-z_]\w*+)\s*+"
    rb"(?P<after>--|\+\+|-=|\+=|==\s*+0\b|<\s*+1\b|=(?!=)\s*+(?P<given>[^;,)]*+\)?[^;,)]*+))?"
)
MODULO = lazy(rb"\(\s*+(?P<name>\w++)\s*+\+\s*+\d++\s*+\)\s*+(?:%|&)\s*+\w++\Z")
UNSIGNED = lazy(
    rb"\b(?:unsigned|size_t|uint(?:8|16|32|64|ptr|max)?_t|uint|ulong|ushort|u8|u16|u32|u64|DWORD|UINT|BYTE|WORD)\b"
)
HEAD = lazy(
    rb"\b(?:for\s*+(?P<for>\()(?>[^(){};]|\([^()]*+\))*+;|while\s*+(?P<while>\())\s*+(?P<name>[A-Za-z_]\w*+)\s*+\Z"
)
DOES = lazy(rb"\bdo\s*+\Z")


def is_left(name: bytes, content: bytes, at: int) -> bool:
    """Dismiss a comparison outside a loop head, and a block that contains a jump out of the loop."""
    line = content.rfind(b"\n", max(0, at - LINE_MAX), at) + 1
    if content.startswith(b">", at):
        return b"for" not in content[line:at] and b"while" not in content[line:at]
    indent = INDENTATION.match(content, line, at)
    closing = content.find(b"\n%b}" % (indent[0] if indent else b""), at, at + BODY_MAX)
    if closing < 0 or indent is None or indent.end() != at:
        return False
    block = content[at:closing]
    return any(word in block for word in JUMPS)


def check_loop(site: Site) -> float | None:
    text = site.source.text
    if text.startswith(b">", site.start):
        return _always_holds(site)
    opened = text.find(b"(", site.start)
    header = arguments(text, opened).end or text.find(b")", opened) + 1
    body = _body(text, site.start, header)
    if body is None or _is_left(body) or WAITING.search(body.lower()):
        return None
    counter = COUNTER.search(body)
    if counter is None or site.function is None or WAITING.search(site.function.name.lower()):
        return None
    return COUNTS if _is_local(site, counter["after"] or counter["before"]) else None


def _is_left(body: bytes) -> bool:
    if JUMPING.search(body):
        return True
    return any(LEAVING.search(call[1].lower()) for call in CALLED.finditer(body))


def _body(text: bytes, start: int, header: int) -> bytes | None:
    """Return the body of the loop: the block after its head, or before it for `do`."""
    behind = text[header : header + 64].lstrip()
    if behind.startswith(b"{"):
        return _block(text, text.index(b"{", header))
    if behind.startswith(b";") and text[max(0, start - 64) : start].rstrip().endswith(b"}"):
        return _block_before(text, start)
    return None


def _block(text: bytes, start: int) -> bytes | None:
    depth = 0
    for brace in BRACES.finditer(text, start, start + BODY_MAX):
        depth += 1 if brace[0] == b"{" else -1
        if depth == 0:
            return text[start : brace.end()]
    return None


def _block_before(text: bytes, end: int) -> bytes | None:
    floor = max(0, end - BODY_MAX)
    depth = 0
    for brace in reversed(list(BRACES.finditer(text, floor, end))):
        depth += 1 if brace[0] == b"}" else -1
        if depth == 0:
            return text[brace.start() : end] if DOES.search(text, max(0, brace.start() - 16), brace.start()) else None
    return None


def _is_local(site: Site, name: bytes) -> bool:
    declared = Scope(site).declared(name)
    return declared is not None and not declared.dimensions and not declared.stars


def _always_holds(site: Site) -> float | None:
    """Check for `i >= 0` with an unsigned variable that counts down, or with a variable that only ever wraps around."""
    text = site.source.text
    floor = max(0, site.start - LINE_MAX)
    match = HEAD.search(text[floor : site.start])
    if match is None:
        return None
    header = floor + max(match.start("for"), match.start("while"))
    end = arguments(text, header).end or text.find(b")", site.start) + 1
    if end <= 0:
        return None
    body = _body(text, floor + match.start(), end) or text[end : end + LINE_MAX].partition(b";")[0]
    loop, name = text[header:end] + body, match["name"]
    if _is_unsigned(site, loop, name):
        return ALWAYS if _goes_down(loop, name) else None
    return None if _is_left(body) else _wraps_around(loop, name)


def _is_unsigned(site: Site, loop: bytes, name: bytes) -> bool:
    in_head = IN_HEAD.match(loop)
    if in_head and in_head["name"] == name:
        return UNSIGNED.search(in_head["type"]) is not None
    declared = Scope(site).declared(name)
    if declared is None or declared.stars or declared.dimensions:
        return False
    return UNSIGNED.search(declared.type) is not None


def _steps(loop: bytes, name: bytes) -> list[re.Match[bytes]]:
    return [one for one in STEP.finditer(loop) if one["name"] == name and (one["before"] or one["after"])]


def _goes_down(loop: bytes, name: bytes) -> bool:
    """Return whether the loop decrements the variable and does not compare it with 0."""
    marks = {mark for one in _steps(loop, name) for mark in (one["before"], one["after"]) if mark}
    is_tested = any(mark == b"!" or mark.startswith((b"==", b"<")) for mark in marks)
    return not is_tested and bool(marks & {b"--", b"-="})


def _wraps_around(loop: bytes, name: bytes) -> float | None:
    """Check for `i = (i + 1) % n` as the only step: the variable is never negative."""
    steps = _steps(loop, name)
    if any(one["given"] is None for one in steps):
        return None
    wraps = [one for one in steps if (match := MODULO.match(one["given"].strip())) and match["name"] == name]
    return WRAPS if wraps and len(wraps) >= len(steps) - 1 else None


RULES: tuple[Rule, ...] = (rule("endless_loop", check_loop, shapes=SHAPES, dismisses=is_left),)
