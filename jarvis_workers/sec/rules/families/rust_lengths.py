"""get_unchecked, raw_parts_length and truncated_index: indexes and lengths that Rust does not check."""

import re

from jarvis_workers.sec.rules.analysis.examined import is_examined
from jarvis_workers.sec.rules.analysis.rust_context import is_of_tests, is_unsafe_function, softened
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lazy_regex import lazy

REACH, LEFT = 4_096, 512
GIVEN, COMPUTED = 0.15, 0.05
CAPACITY, NEGATIVE, OVERFLOWING, UNVERIFIED = 0.2, 0.15, 0.1, 0.1
BYTES = 0.05
ONE_BYTE = (b"u8", b"i8", b"c_char", b"c_void", b"bool", b"c_uchar")
CAST = lazy(rb"\bas\s+\*\s*(?:const|mut)\s+(?:\w+\s*::\s*)*(?P<kind>\w+)|\.\s*cast\s*::\s*<\s*(?P<turbo>\w+)")
OWNER = lazy(rb"(?P<name>[a-z_][\w.]*?)(?P<bytes>\.as_bytes\(\))?\.as_(?:mut_)?ptr\(\)")
LENGTH = lazy(rb"(?P<name>[a-z_][\w.]*?)(?:\.as_bytes\(\))?\.len\(\)")
OF_BYTES = (
    rb"\b%b\s*:\s*(?:&\s*)?(?:'\w+\s+)?(?:mut\s+)?(?:\[u8[\];]|Vec<u8>|Bytes|str\b|String|Cow<)"
    rb"|\b%b\s*=\s*(?:vec!)?\[\w*u8"
)
OF_LENGTH, OF_WIDE = 0.1, 0.0
METHOD = lazy(rb"\.\s*\Z")
DEFINED = lazy(rb"\bfn\s+\Z")
NAME = lazy(rb"[a-z_]\w*\Z")
NAMES = lazy(rb"(?<![.\w])(?:self\s*\.\s*)?[a-z_]\w*\b(?!\s*(?:\(|::|!))")
CONSTANT = lazy(rb"\s*(?:\d[\d_]*(?:\s*\.\.\s*\d[\d_]*)?|[A-Z][A-Z0-9_]*|\.\.)\s*\Z")
# Whatever limits an index in its own expression.
WITHIN = lazy(rb"%|&(?!&)|\.\s*(?:min|clamp|rem_euclid|trailing_zeros|leading_zeros)\s*\(|>>|\bas\s+u8\b")
COMPARED = (
    rb"\bNAME\s*(?:as\s+\w+\s*)?(?:<|>|==|!=)(?![<>])|(?:<|>|==|!=)=?\s*(?:&|\*)?\bNAME\b"
    rb"|\bfor\s+\(?[\w, ]*\bNAME\b[\w, ]*\)?\s+in\b"
    rb"|\bNAME\s*=\s*[^;=]*?(?:%|\.\s*(?:min|clamp|len|position|find|checked_\w+)\s*\(|&\s*\w*mask)"
    rb"|\|\s*&?\(?[\w, ]*\bNAME\b|\bassert\w*!\s*\([^;]*?\bNAME\b"
    rb"|\b(?:check|valid|is_|ensure|contain|in_bounds)\w*\s*\([^()]*\bNAME\b|\bNAME\s*\.\s*(?:checked_\w+|is_empty|try_into)"
)
PARAMETERS = lazy(rb"\b(\w+)\s*:\s*(?:usize|isize|[iu](?:8|16|32|64|size)|c_(?:int|long|uint|ulong)|size_t)\b")
CALLED = lazy(rb"\s*+(?:::\s*+<[^;{}]{0,256}?>\s*+)?\(")
PUBLIC = lazy(rb"\bpub\s+(?:(?:const|async)\s+)*fn\s+\Z")
SIZED = lazy(rb"\bsize_of(?:_val)?\b")
OF_SIGNED = lazy(rb"\b(\w+)\s*(?:\.\s*0\s*)?as\s+usize\b")
SIGNED = rb"\b%b\s*:\s*(?:[\w:]+::)?(?:i8|i16|i32|i64|isize|c_int|c_long|ssize_t)\b"
PRODUCT = lazy(rb"[a-z]\w*[)\]]*\s*\*\s*\(*[a-z]")
SPARE = lazy(rb"\bcapacity\s*\(\s*\)")
UNINIT = lazy(rb"\bMaybeUninit\b|\bspare\b")
NARROW = lazy(rb"as\s+(?P<kind>u8|u16|u32|i8|i16|i32)\b")
OPERAND = lazy(
    rb"(?:(?P<length>[\w.()]*\.\s*len\s*\(\s*\)|\bsize_of\w*[^;]*?\))|(?<![\w.)\]])(?P<name>[a-z_]\w*))\s*\)*\s*\Z"
)
MASKED = lazy(rb"[\s)]*(?:as\s+usize[\s)]*)?[&%]")
ARITHMETIC = lazy(rb"[-+*/%&|^<>]\s*\(*\Z")
WIDE = rb"\b%b\s*:\s*(?:&\s*)?(?:usize|u64|i64|u128|isize|size_t)\b"
BOUND_TO = lazy(rb"\blet\s+(?:mut\s+)?(\w+)\s*(?::[^=;]*)?=\s*[^;{}]*\Z")
SIZES = rb"\b(?:with_capacity|reserve\w*|resize|set_len|from_raw_parts\w*|get_unchecked\w*|add|alloc\w*|vec!)\s*[(\[]"
IN_USE = lazy(rb"\[[^\];{}]*\Z|" + SIZES + rb"[^;{}]*\Z")
USED = rb"\[(?![^\];{}=]*[&%])[^\];{}=]*\bNAME\b[^\];{}=]*\]|" + SIZES + rb"[^;{}]*\bNAME\b"


def check_unchecked(site: Site) -> float | None:
    """Report the first index of a function that nothing limits, with more confidence if its caller passes it."""
    text = site.source.text
    if not METHOD.search(text[max(0, site.start - 64) : site.start]) or not CALLED.match(text, site.at, site.at + 64):
        return None
    index = site.masked(0)
    if CONSTANT.match(index) or WITHIN.search(index) or is_of_tests(site):
        return None
    function = site.function
    if function is None or is_unsafe_function(text, function.start):
        return None
    names = NAMES.findall(index) if is_examined(site, "get_unchecked") else []
    firsts: dict[int, int] = site.source.once("first get_unchecked of functions", dict)
    if not names or any(_is_bounded(site, function, name) for name in names):
        return None
    if firsts.setdefault(function.start, site.start) != site.start:
        return None
    given = set(PARAMETERS.findall(text[function.start : function.body[0]]))
    return (GIVEN if given.intersection(names) and _is_public(text, function) else COMPUTED) + softened(site)


def check_length(site: Site) -> float | None:
    """Check the length of `from_raw_parts`: a capacity, a product, a negative number, or what a safe caller says."""
    text = site.source.text
    before = text[max(0, site.start - LEFT) : site.start]
    if not CALLED.match(text, site.at, site.at + 320) or DEFINED.search(before) or is_of_tests(site):
        return None
    at = text.find(b"(", site.at, site.at + 320)
    length = Site(site.source, site.name, site.start, at).masked(1)
    function = site.function
    if not length.strip() or function is None:
        return None
    pointer = Site(site.source, site.name, site.start, at).masked(0)
    moved = BYTES if _counts_bytes(site, function, pointer, length) else _of_length(site, function, length)
    return None if moved is None else moved + softened(site)


def _counts_bytes(site: Site, function: Function, pointer: bytes, length: bytes) -> bool:
    """Return whether a length in bytes counts the larger elements that a pointer is cast to."""
    cast = CAST.search(pointer)
    if cast is None or (cast["kind"] or cast["turbo"]) in ONE_BYTE:
        return False
    if re.search(rb"\bsize_of(?:_val)?\b", length) and b"/" not in length:
        return True
    owner, same = OWNER.match(pointer.strip()), LENGTH.fullmatch(length.strip())
    if owner is None or same is None or owner["name"] != same["name"]:
        return False
    if owner["bytes"]:
        return True
    text = site.source.text[function.start : site.start]
    return re.search(OF_BYTES % ((re.escape(owner["name"].rpartition(b".")[2]),) * 2), text) is not None


def _of_length(site: Site, function: Function, length: bytes) -> float | None:
    text = site.source.text
    head = text[function.start : function.body[0]]
    body = text[function.body[0] : min(function.body[1], function.body[0] + REACH)]
    if SPARE.search(length):
        return None if UNINIT.search(body) else CAPACITY
    names = NAMES.findall(length) if is_examined(site, "raw_parts_length") else []
    if any(_is_bounded(site, function, name) for name in names) or not names:
        return None
    signed = OF_SIGNED.search(length)
    if signed and re.search(SIGNED % re.escape(signed[1]), head + body):
        return NEGATIVE
    if PRODUCT.search(length) and not SIZED.search(length):
        return OVERFLOWING
    given = not set(PARAMETERS.findall(head)).isdisjoint(names)
    return UNVERIFIED if given and _is_public(text, function) else None


def check_truncation(site: Site) -> float | None:
    """Check a length or wide number that is cut to fewer bits and then used as an index, offset or size."""
    text = site.source.text
    kind = NARROW.match(text, site.start, site.start + 16)
    function = site.function
    if kind is None or function is None or is_of_tests(site):
        return None
    before = text[max(function.body[0], site.start - LEFT) : site.start]
    before = before[max(before.rfind(b";"), before.rfind(b"{"), before.rfind(b"}")) + 1 :]
    operand = OPERAND.search(before)
    if operand is None or not is_examined(site, "truncated_index") or MASKED.match(text, kind.end(), kind.end() + 64):
        return None
    if ARITHMETIC.search(before, 0, operand.start()) or not _is_wide(site, function, kind["kind"], operand):
        return None
    if any(_is_bounded(site, function, one) for one in NAMES.findall(operand[0])):
        return None
    if not _is_size(site, function, before, kind.end()):
        return None
    return (OF_LENGTH if operand["length"] else OF_WIDE) + softened(site)


def _is_wide(site: Site, function: Function, kind: bytes, operand: re.Match[bytes]) -> bool:
    """Return whether a number has more bits than the type of the cast; a byte of a number is rarely a mistake."""
    if operand["length"] or kind == b"u8":
        return operand["length"] is not None
    text = site.source.text
    head = text[function.start : function.body[0]]
    near = text[max(function.body[0], site.start - REACH) : site.start]
    return re.search(WIDE % operand["name"], head + near) is not None


def _is_size(site: Site, function: Function, before: bytes, end: int) -> bool:
    """Return whether the number is used as an index, offset or size, at once or through the variable that holds it."""
    if IN_USE.search(before):
        return True
    bound = BOUND_TO.search(before)
    if bound is None:
        return False
    return (
        re.search(USED.replace(b"NAME", bound[1]), site.source.text[end : min(function.body[1], end + REACH)])
        is not None
    )


def _is_bounded(site: Site, function: Function, name: bytes) -> bool:
    """Return whether the function compares a variable, asserts something about it, or computes it within limits."""
    if name in (b"self", b"as"):
        return False
    text = site.source.text
    return (
        re.search(
            COMPARED.replace(b"NAME", re.escape(name)), text[max(function.body[0], site.start - REACH) : site.start]
        )
        is not None
    )


def _is_public(text: bytes, function: Function) -> bool:
    return PUBLIC.search(text[max(0, function.start - 64) : function.start]) is not None


RULES: tuple[Rule, ...] = (
    rule("get_unchecked", check_unchecked, words=("get_unchecked", "get_unchecked_mut")),
    rule("raw_parts_length", check_length, words=("from_raw_parts", "from_raw_parts_mut")),
    rule("truncated_index", check_truncation, shapes=(r"as [ui](?:8|16|32)[^0-9A-Za-z_]",)),
)
