"""Select the functions worth analyzing, from their masked text alone.

A function is a root if it allocates, opens or releases something, reads input, fills or indexes a local array, or
uses a pointer after it was NULL, released or left uninitialized.  A small function that does one of these for its
callers is a helper: it is lowered so that calls of it can be followed.
"""

import re

from jarvis_workers.dataflow.lifetime_triggers import address_outlives, copy_outlives, reads_unset
from jarvis_workers.dataflow.pointer_triggers import uses_doubtful_pointer
from jarvis_workers.dataflow.text_uses import NEAR, before, first, next_use, uses

LONGEST = 120_000
SMALL, TINY = 900, 240
# Fast path: every match of a pattern contains one of its words, and the search for words is much faster.
MAKERS = (b"alloc", b"ALLOC", b"dup", b"open", b"OPEN", b"tmpfile", b"creat", b"socket", b"new")
MAKES = re.compile(
    rb"""\b(?: \w*(?:[mcz]|re)alloc\w* | \w*str(?:n?dup)\w* | wcsdup | (?i:alloca | _?p?open) | f(?:d|re)?open
    | _?w?fopen | tmpfile | opendir | creat | socket | new )\b\s*[(\w]""",
    re.VERBOSE,
)
READERS = (
    *(b"get", b"GET", b"recv", b"read", b"scanf", b"ato", b"to", b"rand", b"RAND", b"main", b"_MAX", b"_MIN"),
    b"from_user",
)
OUTSIDE = re.compile(
    rb"""\b(?: (?: f?getw?s | _getws | recv | recvfrom | fread | v?[sf]?w?scanf | (?i:_?w?getenv) | secure_getenv
    | copy_from_user | w?main | _?w?ato(?:i|l|ll) | (?:str|wcs)tou?ll?
    | (?i:(?:get_|p)?rand(?:om)?(?:_?[iu]?\d+)?) )\s*\(
    | (?:S?CHAR | SHRT | INT | LONG | LLONG | U(?:CHAR|SHRT|INT|LONG|LLONG) | SIZE)_M(?:AX|IN)\b )""",
    re.VERBOSE,
)
ARRAY = re.compile(rb"[\w*>]\s+(\w+)\s*\[\s*\w[^\];{}]*\]\s*[=;,]")
FILLS = re.compile(
    rb"""\b(?: (?: (?:str|wcs)n?c(?:py|at) | w?mem(?:cpy|move|set) | v?s[nw]?w?printf | _snw?printf | read | gets | free
    | FREE )\s*\( | delete\b ) | =\s*\w+\s*-\s*\w""",
    re.VERBOSE,
)
RESULTS = (b")->", b"return *", b")]")
RESULT_USED = re.compile(rb"\w\([^();{}]*\)->|return \*\s*[a-z_]\w*\([^;{}]*\)\s*;|\[\s*[a-z_]\w*\([^();{}]*\)\s*\]")
COUNTED = re.compile(
    rb"(?:void|unsigned char|u_char|uint8_t|u?int8|u8|guint8|byte|BYTE)\s*\*\s*\w+\s*,\s*"
    rb"(?:const\s+)?(?:unsigned\s+)?(?:s?size_t|u?int(?:16|32|64)?(?:_t)?|u(?:16|32)|unsigned|long|short)\s+\w+\s*[,)]"
)
OVER_BYTES = re.compile(rb"\b(?:unsigned char|u_char|uchar|uint8_t|u_?int8|u8|guint8|byte|BYTE)\s*\*")
# A cursor or a number of remaining bytes that moves by a variable.
MOVES = re.compile(rb"(?:\+=|-=)\s*(?:\([\w ]+\)\s*)?[a-z_]")
LOOPS = re.compile(rb"\b(?:while|for)\b")
COPIES = re.compile(
    rb"""\bmem(?:cpy|move)\s*\([^;]*,\s*(?:\([\w ]+\)\s*)?
    (?:(?!sizeof|strlen)\w+\s*\([^()]*\) | [a-z_][\w.>-]*) \s*(?:[+-]\s*\w+\s*)?\)""",
    re.VERBOSE,
)
# A cursor that moves over a character of which a condition says what it is, or over the one where a loop has ended.
SKIPS = re.compile(
    rb"\*\s*+([a-z_]\w*+)\s*+==[^;{}()]*+\)\s*+\{?\s*+(?>\w++\s*+=\s*+)?+\*?(?:\1\s*+(?:\+\+|\+=)|\+\+\s*+\1\b)"
    rb"|\*\s*+[a-z_]\w*+\s*+\+\+\s*+=\s*+(?:0|'[^']*+')\s*+;"
)
COMPARES = re.compile(rb"\bmemcmp\s*+\([^;]*?,\s*+\w++(?:->|\.)\w++\s*+\)")
BYTES = re.compile(rb"<<\s*(?:8|16|24)\b|\bntoh[sl]\s*\(|\b[bl]e(?:16|32|64)toh\w*\s*\(|\*\s*[\w>-]+\s*\+\+")
# A number from an element of memory, and a sum that is compared.
FROM_ELEMENT = re.compile(rb"\b([a-z_]\w*+)\s*+=\s*+[^;=<>!]*?\w\s*+\[[^\];]*+\][^;=<>!]*+;")
SUM_COMPARED = re.compile(rb"[\w)]\s*+\+\s*+\(?[a-z_]\w*+[^;&|<>=]*+[<>]|[<>]=?[^;&|<>=]*?[\w)]\s*+\+\s*+\(?[a-z_]")
# A number that is read, or joined from bytes, and cast to a pointer by a type that has room for an address.
NUMBERS = re.compile(rb"\bread\s*\(|\bmemcpy\s*\(\s*&|<<")
ADDRESSES = re.compile(rb"\*\s*+\)\s*+(?:\(\s*+){0,2}(?:uintptr_t|unsigned long|size_t|uint64_t|u64)\s*\)")
# A number of 32 bits that a function reads by its name, and a limit that leaves room for one element too many.
READS = re.compile(
    rb"\b\w*(?i:get|read|peek|fetch)_?(?i:unaligned_?)?(?:[uU]|uint|[blBL][eE])\w{0,8}(?:24|32)\w{0,8}\s*\("
)
LIMIT = re.compile(rb"\b([a-z_]\w*+)\s*+(?:>|<=)\s*+\(?+\s*+(?:[A-Z][A-Z0-9_]+|[1-9]\d*|sizeof)\b")
BY_VARIABLE = re.compile(rb"\w\s*\[\s*[a-z_]\w*\s*\]")
INDEXED = re.compile(rb"\s*\[\s*(?:[A-Za-z_]|[1-9])")
PASSED = re.compile(rb"\s*[,)]")
CALLED = re.compile(rb"\b(?!sizeof|if|while|for|return|switch)\w+\((?:[^()]*,)?\s*\Z")
STATEMENT_END = re.compile(rb"\s*[;+]")
ADDRESS = re.compile(rb"=\s*&\s*\w+\s*;|\bstatic\b")
FREES = re.compile(rb"(?:ree|REE)\s*\(|\bdelete\b")
# A divisor, and a variable that is set to a literal.
DIVIDES = re.compile(rb"[/%]\s*+=?\s*+\(?\s*+([a-z_]\w*+(?>(?:->|\.)\w++)*+)\s*+[;),+*&|/]")
LITERAL = re.compile(rb"\b([a-z_]\w*+)\s*+=\s*+(?:\([^()]*\)\s*+)?\"")
RELEASERS = (b"ree", b"REE", b"lose", b"LOSE", b"dele", b"elease", b"ELEASE", b"estroy", b"ispose", b"unref")
RELEASES = re.compile(
    rb"(?i)(?:(?:free|release|destroy|dispose|unref)\w*+|\bf?p?close\b|\bdelete\b)"
    rb"\s*+(?>\[\s*+\])?+\s*+\(?\s*+((?>\w|->|\.)(?>\w|->|\.)*+)\s*+\)?\s*+;"
)
HANDS = re.compile(
    rb"""\b\w*(?: free | alloc | dup | open | close | get(?:s|env) | recv | read | scanf | cpy | cat | memset | memmove
    | printf | system | exec\w* | delete | new | exit | abort | die | fatal )\s*[(\w]
    | \*\s*\w+\s*= | \breturn\s+[-\w]+\s*;""",
    re.VERBOSE | re.IGNORECASE,
)
# In C++: moves, what refers to a container or string, lambdas with references, and what is released by hand; and
# heads of functions whose results refer to something.
HEAD_MAX = 120
LIVES = re.compile(
    rb"""\bmove\s*\( | \.\s*(?:c_str|data|get|c?begin|front|back|find|at)\s*\( | \b(?:string_view|span)\b
    | &\s*\w+\s*(?:=(?!=)|\[) | =\s*\w+\s*\+\s*"
    | \[\s*(?:&|[\w=,\s]+&) | \bdelete\b | _ptr\s*< | \bfor\s*\([^;()]*:""",
    re.VERBOSE,
)
REFERENCE = re.compile(rb"(?:&|\b(?:string_view|span\s*<[^<>]*>))\s*(?:\w+\s*::\s*)*\w+\s*\([^;{}]*\{?\Z")


def is_root(body: bytes) -> bool:
    """Return whether paths through a function may be defective without regard to its callers."""
    if len(body) > LONGEST:
        return False
    return (
        (any(word in body for word in MAKERS) and MAKES.search(body) is not None)
        or (any(word in body for word in READERS) and OUTSIDE.search(body) is not None)
        or _has_array(body)
        or _parses(body)
        or _indexes_up_to_limit(body)
        or (b"*)" in body and ADDRESSES.search(body) is not None and NUMBERS.search(body) is not None)
        or (ADDRESS.search(body) is not None and FREES.search(body) is not None)
        or _released_and_used(body)
        or (b'"' in body and any(b"free(" + name + b")" in body for name, _ in first(LITERAL, body)))
        or _divides_by_zero(body)
        or copy_outlives(body)
        or address_outlives(body)
        or (any(word in body for word in RESULTS) and RESULT_USED.search(body) is not None)
        or reads_unset(body)
        or uses_doubtful_pointer(body)
    )


def reads_counted_buffer(head: bytes, body: bytes) -> bool:
    """Return whether a function receives bytes, and reads through a pointer or moves by what it reads."""
    if len(body) > LONGEST or b"*" not in head:
        return False
    if COUNTED.search(head) is not None and any(word in body for word in (b"->", b"[", b"*", b"memcpy")):
        return True
    if OVER_BYTES.search(head) is None:
        return False
    if any(b"[%b]" % name in body for name, _ in first(FROM_ELEMENT, body)):
        return True
    if BYTES.search(body) is not None and SUM_COMPARED.search(body) is not None:
        return True
    return MOVES.search(body) is not None and LOOPS.search(body) is not None


def has_lifetimes(head: bytes, body: bytes) -> bool:
    """Return whether a function of C++ moves, borrows, or returns references; `head` ends before its body."""
    return len(body) <= LONGEST and (LIVES.search(body) is not None or REFERENCE.search(head) is not None)


def is_helper(body: bytes) -> bool:
    """Return whether following calls of a function is informative and cheap."""
    return len(body) <= TINY or (len(body) <= SMALL and HANDS.search(body) is not None)


def _parses(body: bytes) -> bool:
    """Return whether a function copies a variable length, or reads bytes and uses a variable as an index."""
    if (b"memcpy" in body or b"memmove" in body) and COPIES.search(body) is not None:
        return True
    if b"memcmp" in body and COMPARES.search(body) is not None:
        return True
    if b"++" in body and SKIPS.search(body) is not None:
        return True
    if b"32" in body and READS.search(body) is not None:
        return True
    return BYTES.search(body) is not None and BY_VARIABLE.search(body) is not None


def _indexes_up_to_limit(body: bytes) -> bool:
    """Return whether a variable that a function limits to a constant is an index as it is, or incremented."""
    if b"]" not in body:
        return False
    return any(name + b"]" in body or name + b"++]" in body for name, _ in first(LIMIT, body))


def _has_array(body: bytes) -> bool:
    """Return whether a function has an array, and copies data, indexes the array by a variable or passes it on."""
    if b"[" not in body:
        return False
    arrays = list(first(ARRAY, body))
    return bool(arrays) and (FILLS.search(body) is not None or any(_is_reached(body, *one) for one in arrays))


def _is_reached(body: bytes, name: bytes, end: int) -> bool:
    at = next_use(body, name, end)
    while at >= 0:
        end = at + len(name)
        if INDEXED.match(body, end) or (PASSED.match(body, end) and CALLED.search(body, max(0, at - NEAR), at)):
            return True
        if STATEMENT_END.match(body, end) and before(body, at).endswith((b"=", b"return")):
            return True
        at = next_use(body, name, end)
    return False


def _divides_by_zero(body: bytes) -> bool:
    """Return whether a function divides by a variable that it sets to 0 or compares with it."""
    if b"/" not in body and b"%" not in body:
        return False
    return any(
        any(name + test in body for test in (b" = 0;", b" = 0,", b" == 0)")) or b"(!" + name + b")" in body
        for name, _ in first(DIVIDES, body)
    )


def _released_and_used(body: bytes) -> bool:
    """Return whether a function uses what it has just released, or sets a member that it releases."""
    if not any(word in body for word in RELEASERS):
        return False
    names = {name for name, _ in first(RELEASES, body)}
    if any(name + b" = " in body if b"->" in name else b"." in name for name in names):
        return True
    if any(name + b" = " + name + b"->" in body for name in names):
        return True
    return any(use.behind != b"=" for use in uses(RELEASES, body))
