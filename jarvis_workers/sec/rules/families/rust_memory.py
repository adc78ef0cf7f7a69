"""raw_pointer, mem_forget and maybe_uninit: manual memory management in Rust."""

import re

from jarvis_workers.sec.rules.analysis.rust_context import (
    is_generated,
    is_of_tests,
    is_unsafe_function,
    softened,
)
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

BEFORE, AFTER = 512, 1_024
OWNED, WRITES = 0.05, 0.25
CAST, PARAMETER, FIELD, WITHIN, UNCHECKED = 0.0, -0.05, -0.05, 0.2, 0.35
CONST_TO_MUT = lazy(rb"\*\s*const\s++[^;{}()=]{1,64}?\)*\s*+as\s++\Z")
# A pointer that is dereferenced in place is reported as unsafe code.
IN_UNSAFE = lazy(rb"\bunsafe\s*\{[^{};]*\Z")
TO_MUT = lazy(rb"\*\s*mut\s+(?!(?:[\w]+::)*c_void|_\b)")
PUBLIC = lazy(rb"\bpub\s+(?:(?:const|async)\s+)*fn\s+\Z")
TO_NUMBER = lazy(rb"\*\s*(?:const|mut)\s+[^;{}()=]{1,96}?\s+as\s+[ui](?:size|64)\b")
WORDS = lazy(rb"\w+")
FOLLOWED = lazy(rb"(?:[^\w)\]\s*]|\breturn)\s*\*\s*\Z")
READ = lazy(rb"\.(?:read|write|add|offset)\(")
PASSED = lazy(rb"(?:\s*as\s+\*\s*(?:const|mut)\s+[\w:]+)?\s*[,)]")
AS = lazy(rb"\bas\s+\Z")
FIELD_BEFORE = lazy(rb"(?:\A|[{,(\]])\s*(?:pub(?:\s*\([^()]*\))?\s+)?\w+\s*:\s*(?:Option\s*<\s*)?\Z")
STRUCT = lazy(rb"\b(?:struct|union|enum)\s+\w[^;{}()]*\{[^{}]*\Z")
PARAMETER_NAME = lazy(rb"(?:\A|[(,])\s*(?:mut\s+)?(\w+)\s*:\s*\Z")
EXTERN_BLOCK = lazy(rb'\bextern\s*(?:"[^"]*"\s*)?\Z')
OWNERS = lazy(rb"\b(?:Box|Rc|Arc|Weak|CString)\s*(?:::\s*<(?:[^<>;]|<[^<>;]{0,64}>){0,128}>\s*)?::\s*\Z")
CALLED = lazy(rb"\s*+(?:::\s*+<[^;{}]{0,256}?>\s*+)?\(")
DEFINED = lazy(rb"\bfn\s+\Z")
OF_MEM = lazy(rb"\bmem\s*::\s*\Z")
VECTOR = lazy(rb"([a-z_][\w.]*)\s*\.\s*\Z")
# What writes to a vector, or gets a pointer to it.
FILLS = (
    rb"\b%b\s*\.\s*(?:as_mut_ptr|spare_capacity_mut|push|extend\w*|resize\w*|as_mut_slice|get_unchecked_mut|as_ptr|set_len|append|write\w*)"
    rb"|&\s*mut\s+%b\b|\b%b\s*\["
)
COUNTED = 0.1
USES_OF_MEM = lazy(rb"\buse\s+(?:std|core)\s*::\s*mem\s*::\s*(?:\w+|\{[^{}]{0,256}\})")
MOVED_PARTS = lazy(
    rb"\b(?:as_mut_ptr|as_ptr|as_raw_fd|into_raw|from_raw\w*|read|as_raw|transmute\w*|raw_parts|get_unchecked\w*)\s*\("
)
SELF = lazy(rb"\s*(?:self|\w*(?:guard|bomb|abort|on_drop)\w*)\s*\Z")
ARRAY_OF_UNINIT = lazy(rb"\[\s*(?:\w+\s*::\s*)*MaybeUninit\b")
STRAIGHT = lazy(rb"\buninit(?:ialized)?\s*\(\s*\)\s*\.\s*\Z")
WRITTEN = lazy(
    rb"\.\s*(?:write|as_mut_ptr|insert|fill\w*|copy_from\w*|get_mut|as_ptr|write_slice|copy_from_slice)\s*\(|\bptr\s*::\s*(?:write|copy)\w*"
    rb"|=\s*MaybeUninit\s*::\s*new\s*\(|\bMaybeUninit\s*::\s*zeroed\b"
)
FOREIGN = lazy(
    rb"(?:libc|ffi|sys|c|winapi|windows_sys|nix)\s*::|:\s*(?:[A-Z][A-Z0-9_]{3,}|[a-z]\w*_t|[a-z][a-z0-9_]+)\s*=\s*\Z"
)


def check_pointer(site: Site) -> float | None:
    """Raise the confidence if a safe function reads a caller's pointer, or `*const` is cast to `*mut`.

    Pointer types that are only named are not reported.  Neither are pointers that are never dereferenced, in test code
    or under a SAFETY comment.
    """
    if is_generated(site.source):
        return None
    if site.name:
        return _owned_again(site)
    before = _before(site)
    if is_within_extern(site):
        return None
    if AS.search(before):
        if TO_NUMBER.match(site.source.text, site.start, site.start + 160):
            return None
        writes = CONST_TO_MUT.search(before) and TO_MUT.match(site.source.text, site.start, site.start + 64)
        moved: float | None = WRITES if writes else None if IN_UNSAFE.search(before) else CAST
    else:
        moved = _of_type(site, before)
    if moved is None or (moved <= CAST and is_of_tests(site)):
        return None
    return moved + softened(site)


def _of_type(site: Site, before: bytes) -> float | None:
    """Check a pointer type, except for parameters of an unsafe function, for which its callers are responsible."""
    parameter = PARAMETER_NAME.search(before)
    function = _declaring(site)
    if parameter and function:
        if is_unsafe_function(site.source.text, function[0]):
            return None
        if not _is_read_unasked(site, function, parameter[1]):
            return PARAMETER
        return UNCHECKED if PUBLIC.search(site.source.text[max(0, function[0] - 64) : function[0]]) else WITHIN
    return FIELD if FIELD_BEFORE.search(before) and STRUCT.search(before) else None


def _declaring(site: Site) -> tuple[int, int, int] | None:
    """Return the start and the body span of the function whose parameters contain the site."""
    functions = site.source.functions
    text = site.source.text
    at = text.find(b"{", site.start, site.start + AFTER)
    function = functions.at(at + 1) if at >= 0 else None
    if function is None or not function.parameters[0] <= site.start <= function.parameters[1]:
        return None
    return function.start, *function.body


def _is_read_unasked(site: Site, function: tuple[int, int, int], name: bytes) -> bool:
    """Return whether the function dereferences a pointer parameter without testing it first."""
    text = site.source.text
    _, first, last = function
    body = text[first : min(last, first + BEFORE * 8)]
    for word in WORDS.finditer(body):
        if word[0] != name or body[word.start() - 1 : word.start()] == b".":
            continue
        if body.startswith(b".is_null", word.end()):
            return False
        is_followed = FOLLOWED.search(body[max(0, word.start() - 16) : word.start()]) or READ.match(body, word.end())
        if is_followed or PASSED.match(body, word.end()):
            return b"unsafe" in body[: word.start()]
    return False


def _owned_again(site: Site) -> float | None:
    """Check for a raw pointer that is converted to an owner."""
    text = site.source.text
    before = text[max(0, site.start - 160) : site.start]
    if not CALLED.match(text, site.at, site.at + 320) or DEFINED.search(before):
        return None
    if not OWNERS.search(before):
        return None
    if before.rstrip().endswith(b"."):
        return None
    return OWNED + softened(site)


def check_forget(site: Site) -> float | None:
    """Lower the confidence if parts of the value were moved out before, which is the purpose of `forget`."""
    text = site.source.text
    before = text[max(0, site.start - 64) : site.start]
    if not OF_MEM.search(before) and (before.rstrip().endswith(b".") or not _is_imported(site, before)):
        return None
    if DEFINED.search(before):
        return None
    expression = site.masked(0)
    is_moved = SELF.match(expression) is not None or MOVED_PARTS.search(_around(site)) is not None
    return (-0.15 if is_moved else 0.0) + softened(site)


def check_uninit(site: Site) -> float | None:
    """Raise the confidence if nothing was written before; arrays of MaybeUninit are allowed to be uninitialized."""
    text = site.source.text
    before = _before(site)
    if not CALLED.match(text, site.at, site.at + 320) or DEFINED.search(before):
        return None
    if site.name == b"set_len":
        return softened(site) - COUNTED if _is_unwritten(site, before) else None
    if site.name in (b"uninitialized", b"zeroed"):
        if before.rstrip().endswith(b".") or not (OF_MEM.search(before) or _is_imported(site, before)):
            return None
        return (0.25 if site.name == b"uninitialized" else _of_zeros(site, before)) + softened(site)
    if STRAIGHT.search(before):
        statement = before[before.rfind(b";") + 1 :]
        return (-0.2 if ARRAY_OF_UNINIT.search(statement) else 0.25) + softened(site)
    return (-0.15 if WRITTEN.search(_around(site)) else 0.0) + softened(site)


def _is_unwritten(site: Site, before: bytes) -> bool:
    """Return whether a vector gets a length after room for it was reserved, and before anything is written to it."""
    name = VECTOR.search(before)
    if name is None or site.function is None:
        return False
    text = site.source.text[site.function.body[0] : site.start]
    word = re.escape(name[1])
    room = list(re.finditer(rb"\b%b\b[^;{}]*(?:\bwith_capacity\b|\.\s*reserve)" % word, text))
    return bool(room) and not re.search(FILLS % ((word,) * 3), text[room[-1].end() :])


def _is_imported(site: Site, before: bytes) -> bool:
    if before.rstrip().endswith(b"::"):
        return False
    return any(site.name in match[0] for match in USES_OF_MEM.finditer(site.source.text))


def _of_zeros(site: Site, before: bytes) -> float:
    """Return the adjustment for `zeroed`, which is valid for C structures but not for references, NonZero and enums."""
    statement = before[before.rfind(b";") + 1 :] + site.source.text[site.at : site.at + 64]
    return -0.15 if FOREIGN.search(statement.partition(b"(")[0]) or FOREIGN.search(before) else -0.05


def is_within_extern(site: Site) -> bool:
    """Return whether the site is in a block of foreign declarations."""
    text = site.source.text
    floor = max(0, site.start - BEFORE * 8)
    opened = text.rfind(b"{", floor, site.start)
    if opened < 0 or text.rfind(b"}", opened, site.start) >= 0:
        return False
    return EXTERN_BLOCK.search(text[max(0, opened - 64) : opened]) is not None


def _before(site: Site) -> bytes:
    return site.source.text[max(0, site.start - BEFORE) : site.start]


def _around(site: Site) -> bytes:
    """Return a bounded part of the text of the function around the site."""
    function = site.function
    if function is None:
        return _before(site)
    start, end = max(function.body[0], site.start - BEFORE * 4), min(function.body[1], site.at + BEFORE)
    return site.source.text[start : site.start] + site.source.text[site.at : end]


RULES: tuple[Rule, ...] = (
    rule(
        "raw_pointer",
        check_pointer,
        shapes=(r"\*(?:const|mut)[^0-9A-Za-z_]",),
        words=("from_raw",),
    ),
    rule("mem_forget", check_forget, calls=("forget",)),
    rule(
        "maybe_uninit",
        check_uninit,
        words=(
            "assume_init",
            "assume_init_ref",
            "assume_init_mut",
            "assume_init_read",
            "uninitialized",
            "zeroed",
            "set_len",
        ),
    ),
)
