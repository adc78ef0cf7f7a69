"""truncated_value: results and lengths in variables that are too narrow for them.

The end of a file (-1) in a character equals a valid byte, or is never found; a length in 16 bits makes a block that is
smaller than its contents.
"""

import re

from jarvis_workers.sec.rules.analysis.bounds_checks import is_limited
from jarvis_workers.sec.rules.analysis.buffer_sizes import ALLOCATORS
from jarvis_workers.sec.rules.analysis.declarations import NAME, Declaration, Scope, bare
from jarvis_workers.sec.rules.analysis.examined import is_examined
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

SPAN, LEFT, REACH = 240, 16, 600
NEVER_EQUAL, OF_A_BYTE, OF_OPTIONS = 0.15, 0.05, 0.0
BLOCK_TOO_SMALL, CONTENTS_CUT = 0.1, -0.1
READS = b"getchar getc fgetc getc_unlocked getchar_unlocked fgetc_unlocked gzgetc".split()
OPTIONS = b"getopt getopt_long getopt_long_only".split()
RESULTS = frozenset((*READS, *OPTIONS))
COPIES = dict.fromkeys(b"memcpy memmove mempcpy bcopy".split(), (2,))
SIZES = ALLOCATORS | COPIES
QUALIFIERS = frozenset(b"const static register volatile auto".split())
UNSIGNED_BYTES = frozenset((b"unsigned char", b"uint8_t", b"u_char", b"uchar", b"u8", b"u_int8_t", b"guint8"))
SIGNED_BYTES = frozenset((b"signed char", b"int8_t", b"s8", b"gint8"))
NARROW = frozenset(
    (
        *UNSIGNED_BYTES,
        *(b"short", b"short int", b"unsigned short", b"unsigned short int", b"uint16_t", b"int16_t", b"u16", b"s16"),
        *(b"u_short", b"ushort", b"u_int16_t", b"guint16", b"gint16", b"gushort", b"WORD", b"USHORT"),
    )
)
WIDE = frozenset((b"size_t", b"ssize_t", b"unsigned long", b"gsize", b"usize", b"off_t", b"ptrdiff_t", b"uint64_t"))
END_OF_FILE = rb"\s*[!=]=\s*(?:EOF\b|\(?\s*-\s*1\b)"
COMPARED = lazy(rb"(?>\s*\))+" + END_OF_FILE)
NAME_COMPARED = rb"(?<![\w.>*&])%b" + END_OF_FILE
NAMED_SIZE = lazy(rb"[(,]\s*(?:\(\s*\w+\s*\)\s*)?[a-z]\w*\s*(?:\+\s*\w+\s*)?[,)]")
SIZE = lazy(rb"(?:\(\s*(?:size_t|unsigned|int)\s*\)\s*)?([a-z]\w*)\s*(?:\+\s*\w+)?\Z")
LENGTH = lazy(rb"strlen\s*\(\s*([\w.>\[\]-]+)\s*\)\s*(?:[-+]\s*\d)?\Z")
WIDE_VALUE = lazy(rb"([a-z_]\w*)\s*(?:[-+]\s*\d+)?\Z")
LENGTH_COMPARED = rb"strlen\s*\(\s*%b\s*\)\s*[<>]"
COPIED_WHOLE = rb"\b(?:strcpy|strcat|stpcpy|sprintf|memcpy|memmove)\s*\([^;]*\b%b\b"
FILLED = rb"\b(?:strcpy|strcat|stpcpy|sprintf)\s*\(\s*%b\b"


def is_of_no_name(name: bytes, content: bytes, end: int) -> bool:
    """Dismiss sizes that are no variables, and results that are not assigned."""
    if name in RESULTS:
        return b"=" not in content[max(0, end - len(name) - LEFT) : end - len(name)]
    return NAMED_SIZE.search(content, end, end + SPAN) is None


def check_truncated(site: Site) -> float | None:
    """Check a result that is compared with EOF, or the size of an allocation or of a copy."""
    if site.function is None or site.arguments.end is None:
        return None
    return _of_result(site, site.arguments.end) if site.name in RESULTS else _of_size(site)


def _of_result(site: Site, end: int) -> float | None:
    target = site.result.target
    if site.result.kind != "assigned" or not NAME.match(target) or not is_examined(site, "truncated_value"):
        return None
    kind = _type(Scope(site).declared(target))
    if kind not in UNSIGNED_BYTES and kind not in SIGNED_BYTES and kind != b"char":
        return None
    if not _is_compared(site, target, end):
        return None
    if kind in UNSIGNED_BYTES:
        return NEVER_EQUAL
    if site.name in OPTIONS:
        return OF_OPTIONS if kind == b"char" else None
    return OF_A_BYTE


def _is_compared(site: Site, name: bytes, end: int) -> bool:
    """Return whether the variable is compared with EOF, in the statement of the call or near it, such as in a loop."""
    text, function = site.source.text, site.function
    assert function is not None
    if COMPARED.match(text, end, end + SPAN):
        return True
    near = text[max(function.body[0], site.start - REACH) : min(function.body[1], end + REACH)]
    return re.search(NAME_COMPARED % name, near) is not None


def _type(declaration: Declaration | None) -> bytes:
    """Return the type of a number; empty for pointers and arrays."""
    if declaration is None or declaration.stars or declaration.dimensions:
        return b""
    return b" ".join(word for word in declaration.type.split() if word not in QUALIFIERS)


def _of_size(site: Site) -> float | None:
    matches = (SIZE.match(site.masked(number).strip()) for number in SIZES[site.name])
    names = [match[1] for match in matches if match]
    if len(names) != 1 or not is_examined(site, "truncated_value"):
        return None
    name, scope = names[0], Scope(site)
    if _type(scope.declared(name)) not in NARROW or scope.is_parameter(name):
        return None
    values = [bare(value.text) for value in scope.values(name)]
    if len(values) != 1 or is_limited(site, [name]):
        return None
    measured = _measured(site, scope, values[0])
    return None if measured is None else _weight(site, values[0], measured)


def _measured(site: Site, scope: Scope, value: bytes) -> bytes | None:
    """Return what has the length that is assigned, a text or a number, unless something limits it."""
    text, function = site.source.text, site.function
    assert function is not None
    if length := LENGTH.match(value):
        of_array = scope.declared(length[1])
        if of_array is not None and of_array.dimensions and not scope.is_parameter(length[1]):
            return None
        compared = re.search(LENGTH_COMPARED % re.escape(length[1]), text[function.body[0] : site.start])
        return None if compared else length[1]
    number = WIDE_VALUE.match(value)
    if number is None or _type(scope.declared(number[1])) not in WIDE or is_limited(site, [number[1]]):
        return None
    return number[1]


def _weight(site: Site, value: bytes, measured: bytes) -> float:
    """Return more for a block that is filled beyond the narrow length than for contents that are cut off."""
    if site.name in COPIES:
        return CONTENTS_CUT
    target = site.result.target.rpartition(b">")[2] or b"\0"
    behind = site.after(REACH * 2)
    whole = re.search(COPIED_WHOLE % re.escape(measured), behind)
    narrow = value not in behind and not re.search(FILLED % re.escape(target), behind)
    return CONTENTS_CUT if narrow and not whole else BLOCK_TOO_SMALL


RULES: tuple[Rule, ...] = (
    rule(
        "truncated_value",
        check_truncated,
        calls=tuple(name.decode() for name in sorted((*RESULTS, *SIZES))),
        dismisses=is_of_no_name,
    ),
)
