"""Bounds checks before a site, and numbers that originate outside the program."""

import re
from collections.abc import Iterable

from jarvis_workers.sec.rules.analysis.declarations import Scope, mentions_backwards
from jarvis_workers.sec.rules.rule import Site
from jarvis_workers.source.lazy_regex import lazy

REACH = 16_384
SUMS_MAX = 4
COMPARED_AFTER = lazy(rb"\s*+\)*+\s*+(?:[<>]=?(?![<>])|[=!]=\s*+(?:sizeof\b|[A-Z0-9]))")
COMPARED_BEFORE = lazy(rb"(?<![<>-])(?:[<>]=?)\s*+\(?\s*+\Z")
ADDED = lazy(rb"(?>\s*+[-+*]\s*+[\w.>()-]++){1,3}+\s*+\)?\s*+[<>]=?(?![<>])")
LIMITING = lazy(
    rb"\b(?:min|max|min_t|clamp|clamp_t|clamp_val|MIN|Min|std::min|std::clamp|sdslen|umin|assert|Assert|ASSERT|BUG_ON|WARN_ON|"
    rb"WARN_ON_ONCE|CHECK_LE|CHECK_LT|DCHECK_LE|g_return_if_fail|check_\w*size\w*|check_\w*overflow|"
    rb"__builtin_\w+_overflow|switch)\s*+\([^;{}]*\Z"
)
LIMITED_VALUE = lazy(rb"\b(?:\w*min\w*|\w*MIN\w*|clamp\w*|sizeof|ARRAY_SIZE|\w*sizeof|str\w*nlen)\b|[?%]|&(?!&)|>>")
# `total = a + ` before the name, and only further terms behind it.
SUM_BEFORE = lazy(rb"(?<![\w.>*])([A-Za-z_]\w*+)\s*+=(?!=)[\w\s+().>-]*\Z")
SUM_AFTER = lazy(rb"[\w\s+*().>-]*+;")
IN_LOOP_HEAD = lazy(rb"\bfor\s*+\([^;{}]*;[^;{}]*\Z|\bfor_each\w*\s*+\([^;{}]*\Z")
OUTSIDE = lazy(
    rb"\b(?:atoi|atol|atoll|strto\w+|w?toi|ntoh[sl]l?|be(?:16|32|64)\w*|le(?:16|32|64)\w*|get_unaligned\w*|rand|random|rand32|"
    rb"fgetc|getchar|getc|getenv|read_u?int\w*|GetByte|get_u(?:16|32)\w*|AV_R[BL]\d+|get_be\d+|get_le\d+)\s*\(",
    re.IGNORECASE,
)
SHORT = lazy(rb"16|ntohs|fgetc|getc")
FILLED = lazy(
    rb"\b(?:f|s|vs|w)?(?:scanf|wscanf)\s*\([^;{}]*\Z|\b(?:f?read|recv|recvfrom|pread|copy_from_user|get_user)\s*\([^;{}]*\Z"
)


def is_limited(site: Site, names: Iterable[bytes]) -> bool:
    """Return whether one of the variables is compared, or assigned a limited value, before the site."""
    return any(_is_compared(site, name) for name in names)


def comes_from_outside(site: Site, scope: Scope, names: Iterable[bytes], *, wide: bool = False) -> bool:
    """Return whether one of the variables was read from text, the network or a file; `wide` ignores 16-bit values."""
    return any(
        (OUTSIDE.search(value.text) and not (wide and SHORT.search(value.text)))
        or (not value.text and _is_filled(site, value.at))
        for name in names
        for value in scope.values(name)
    )


def _is_filled(site: Site, at: int) -> bool:
    return FILLED.search(site.source.text[max(0, at - 160) : at]) is not None


def _is_compared(site: Site, name: bytes) -> bool:
    """Return whether the variable, or a sum of which it is a term, is compared."""
    text = site.source.text
    floor = max(site.function.body[0] if site.function else site.start, site.start - REACH)
    left = SUMS_MAX
    for at in mentions_backwards(text, name, floor, site.start):
        behind = at + len(name)
        if _limits(text, at, behind):
            return True
        total = _sum_with(text, at, behind) if left else b""
        if total and total != name:
            left -= 1
            if any(_limits(text, one, one + len(total)) for one in mentions_backwards(text, total, behind, site.start)):
                return True
    return False


def _sum_with(text: bytes, at: int, behind: int) -> bytes:
    """Return the variable to which a sum with this term is assigned; empty if there is none."""
    before = text[max(0, at - 128) : at]
    statement = before[max(before.rfind(mark) for mark in (b";", b"{", b"}")) + 1 :]
    match = SUM_BEFORE.search(statement)
    added = b"+" in statement or text[behind : behind + 8].lstrip()[:1] == b"+"
    return match[1] if match and added and SUM_AFTER.match(text, behind, behind + 128) else b""


def _limits(text: bytes, at: int, behind: int) -> bool:
    before = text[max(0, at - 128) : at]
    if b"for" in before and IN_LOOP_HEAD.search(before):
        return False
    if COMPARED_AFTER.match(text, behind, behind + 48) or ADDED.match(text, behind, behind + 64):
        return True
    if (before.rstrip(b"(= \t\r\n\f\v")[-1:] in (b"<", b">") and COMPARED_BEFORE.search(before)) or (
        b"(" in before and LIMITING.search(before)
    ):
        return True
    if text[behind : behind + 8].lstrip()[:1] == b"=" and text[behind : behind + 8].lstrip()[:2] != b"==":
        return LIMITED_VALUE.search(text[behind : behind + 160].partition(b";")[0]) is not None
    return text[behind : behind + 8].lstrip()[:2] in (b"%=", b"&=")
