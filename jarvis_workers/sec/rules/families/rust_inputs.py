"""untrusted_number and untrusted_path: what comes from outside, used in Rust as an index, size or path.

The statements of a function are read once, in order: variables that hold bytes, text or numbers from a stream, the
command line or the environment are followed through `let` and assignments, until a comparison, a checked operation or
a check by a function bounds them.
"""

import re
from collections.abc import Iterator
from itertools import islice

from jarvis_workers.sec.rules.analysis.rust_context import is_of_tests
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lazy_regex import lazy

BODY_MAX, STATEMENTS_MAX, NAMES_MAX = 16_384, 400, 64
NUMBER, FROM_BYTES = 0.0, 0.05
# What reads from outside: into a buffer, or as a result.
READS_INTO = lazy(
    rb"(?:\.\s*(?:read(?:_exact|_to_end|_to_string|_line|_buf|_until|_vectored|_at)?|recv(?:_from)?|peek|try_read)"
    rb"|\bread_to_string)\s*\([^;]*?&\s*mut\s+(?:self\s*\.\s*)?(\w+)"
)
GIVES = lazy(
    rb"\bfrom_[bln]e_bytes\s*\(|\bread_[ui](?:8|16|24|32|64|128|size)\b|\.\s*get_[ui](?:8|16|24|32|64|128)(?:_le|_ne)?\s*\("
    rb"|\benv\s*::\s*(?:args|var)(?:_os)?\s*\(|\b(?:fs\s*::\s*read|read_to_string)\s*\(|\b(?:read|get|recv|decode|next)_"
    rb"(?:be|le|len|length|size|count|varint|uint|vint|u?leb128)\w*\s*\("
)
SOURCES = lazy(READS_INTO.pattern + rb"|" + GIVES.pattern)
EDGES = lazy(rb"[][(){};]")
LET = lazy(
    rb"\b(?:let|if let|while let)\s+(?:mut\s+)?(?P<names>[^=:;|]+?)\s*(?::(?P<type>[^=;]*+))?=(?!=)(?P<value>.*)\Z",
    re.DOTALL,
)
SET = lazy(rb"\A\s*(?P<names>[a-z_][\w.]*)\s*[-+*/|&^]?=(?![=>])(?P<value>.*)\Z", re.DOTALL)
FOR = lazy(rb"\bfor\s+(?P<names>[^;{}]+?)\s+in\s+(?P<value>.*)\Z", re.DOTALL)
NAMES = lazy(rb"\b[a-z_]\w*(?:\.[a-z_]\w*)*\b(?!\s*[(!:])")
WORDS = frozenset((b"mut", b"ref", b"self", b"Some", b"Ok", b"_"))
# The length of what was read is that of memory.
OF_MEMORY = rb"\b%b\s*\.\s*(?:len|is_empty|capacity|remaining|iter|chunks\w*|first|last|get|starts_with|ends_with)\s*\("
BOUNDED = lazy(
    rb"\.\s*(?:min|clamp|rem_euclid|get|filter|position|checked_\w+|saturating_sub|contains)\s*\(|%|&\s*(?:0x)?[\dA-Z]|>>|<=|>="
    rb"|\btry_from\s*\(|\bcmp\s*::\s*min\s*\("
)
LIMITED = lazy(
    rb"\.\s*(?:min|clamp|rem_euclid|get|filter|position|contains)\s*\(|%|&\s*(?:0x)?[\dA-Z]|<=|(?<!<)<(?![<\w:])|\bcmp\s*::\s*min\s*\("
)
SUBTRACTS = lazy(rb"\.\s*(?:checked|saturating|wrapping|overflowing)_sub\s*\(")
CHECKED_BY = lazy(
    rb"\b(?:check|valid|verify|ensure|assert|is_|bound|limit|sanit|safe)\w*!?\s*\(|\.\s*contains\s*\(|\bmatches!\s*\("
)
LEAVES = lazy(rb"[^{}]*\b(?:return|bail!|break|continue|panic!|Err\s*\(|exit\s*\()")
SMALL_TYPE = lazy(rb"\A\s*[ui](?:8|16)\s*\Z")
SIGNED_TYPE = lazy(rb"\A\s*(?:i(?:8|16|32|64|128|size)|f32|f64)\s*\Z")
BYTE = lazy(rb"\A\s*(?:u32|usize|u64|i32)?(?:::from)?\s*\(?\s*\w+\s*\[[^\]]*\]\s*\)?\s*(?:as\s+\w+)?\s*;?\s*\Z")
SIGNED = lazy(rb"\bas\s+(?:i\d+|isize|f32|f64)\b|\b[if](?:8|16|32|64)::from|(?:read|get)_i\d")
ALLOCATES = lazy(rb"\bvec!\s*\[[^\];]*;|\b(?:with_capacity|reserve|reserve_exact|resize|try_reserve_zeroed)\s*\(")
CUTS = lazy(
    rb"\.\s*(?:split_at(?:_mut)?|split_to|split_off|advance|copy_within|drain|swap|swap_remove|remove|set_position)\s*\("
)
MINUS = lazy(rb"(?<=[\w)\]])\s*-\s*(?=[\w(])")
MAP = rb"\b%b\b\s*(?::\s*&?\s*(?:mut\s+)?(?:\w+::)*|=\s*)(?:Hash|BTree|Index)Map|\b%b\b\s*:\s*serde_json"
PATH_CHECKS = lazy(
    rb"\"\.\.|\bcomponents\s*\(|\bfile_name\s*\(|\bcanonicalize\s*\(|\bstarts_with\s*\(|\bis_absolute\s*\(|\bParentDir\b"
    rb"|\b(?:sanit|valid|safe|clean|normal)\w*\s*\(|\bis_(?:ascii_)?alphanumeric\b|\bcontains\s*\("
)
TEXT_SOURCES = lazy(READS_INTO.pattern)
PARSED = lazy(rb"\.\s*parse\b|\bfrom_[bln]e_bytes|\bas\s+[uif]\d|\blen\s*\(")


class _Value:
    """A value from outside: whether an upper and a lower bound of it are known, and what kind of number it is."""

    def __init__(self, *, high: bool = False, low: bool = False, small: bool = False, byte: bool = False) -> None:
        self.high, self.low, self.small, self.byte = high, low, small, byte


class _Walk:
    """The statements of one function, with the values from outside by name; `sinks` are the offsets of unsafe uses."""

    def __init__(self, text: bytes, content: bytes, function: Function) -> None:
        self.text, self.content = text, content
        self.head = text[function.start : function.body[0]]
        self.first, self.last = function.body[0], min(function.body[1], function.body[0] + BODY_MAX)
        self.values: dict[bytes, _Value] = {}
        self.buffers: set[bytes] = set()
        self.sinks: dict[int, float] = {}
        self.paths: set[int] = set()

    def run(self) -> "_Walk":
        for start, end in islice(_statements(self.text, self.first, self.last), STATEMENTS_MAX):
            self.statement(start, end)
        return self

    def statement(self, start: int, end: int) -> None:
        code = self.text[start:end]
        self.use(code, start)
        self.check(code, end)
        for read in READS_INTO.finditer(code):
            self.buffers.add(read[1])
        body = code.rstrip(b";{}")
        found = LET.search(body) or FOR.search(body) or SET.match(body)
        if found is not None:
            kind = found.groupdict().get("type") or b""
            self.assign(found["names"], kind, found["value"])

    def mentioned(self, code: bytes) -> Iterator[_Value]:
        """Yield the values from outside that an expression contains; the length of a buffer is none."""
        for name in NAMES.findall(code):
            key = name if name in self.values or name in self.buffers else name.partition(b".")[0]
            if key in self.values:
                yield self.values[key]
            elif key in self.buffers and not re.search(OF_MEMORY % re.escape(key), code):
                yield _Value(byte=BYTE.match(code) is not None)

    def assign(self, names: bytes, kind: bytes, value: bytes) -> None:
        # What a read returns is the number of bytes that fit into the buffer.
        outside = [] if READS_INTO.search(value) else [*self.mentioned(value)]
        gives = GIVES.search(value) is not None
        parts = [one for one in NAMES.findall(names) if one not in WORDS][:NAMES_MAX]
        for name in parts:
            self.values.pop(name, None)
            self.buffers.discard(name)
            if not outside and not gives:
                continue
            if re.search(rb"\benv\s*::|fs\s*::\s*read|read_to_string", value) and not PARSED.search(value):
                self.buffers.add(name)
                continue
            self.values[name] = _Value(
                high=LIMITED.search(value) is not None or (bool(outside) and all(one.high for one in outside)),
                low=SUBTRACTS.search(value) is not None
                or SIGNED.search(value) is not None
                or SIGNED_TYPE.match(kind) is not None
                or (bool(outside) and all(one.low for one in outside)),
                small=SMALL_TYPE.match(kind) is not None
                or b"u16" in value
                or b"u8" in value
                or any(one.byte for one in outside),
                byte=any(one.byte for one in outside) and b"u8" not in kind,
            )

    def check(self, code: bytes, end: int) -> None:
        """Record the bounds that a condition or assertion gives."""
        is_condition = re.search(rb"\b(?:if|while|match|assert\w*!|ensure!)", code) is not None
        for name, value in self.values.items():
            if name not in code:
                continue
            word = rb"(?<![\w.])" + re.escape(name) + rb"\b"
            if (
                CHECKED_BY.search(code)
                or re.search(rb"\bmatch\s+" + word, code)
                or re.search(word + rb"[^;{}]{0,24}[=!]=", code)
            ):
                value.high = value.low = True
            elif is_condition:
                left = (
                    LEAVES.match(self.text, end, end + 400) if b"assert" not in code and b"ensure" not in code else None
                )
                leaves = left is not None and re.search(word, _argument(self.text[end : end + 400], 0)) is None
                below = re.search(word + rb"[^;{}&|<>]{0,40}<(?!<)|>=?(?!>)[^;{}&|<>]{0,40}" + word, code) is not None
                above = (
                    re.search(word + rb"[^;{}&|<>]{0,40}>(?!>)|(?<!<)<=?(?!<)[^;{}&|<>]{0,40}" + word, code) is not None
                )
                value.high |= above if leaves else below
                value.low |= below if leaves else above

    def use(self, code: bytes, start: int) -> None:
        """Record the uses of values from outside whose bounds are not known."""
        if not self.values and not self.buffers:
            return
        for call in ALLOCATES.finditer(code):
            size = _argument(code, call.end())
            if not BOUNDED.search(size) and any(not one.high and not one.small for one in self.mentioned(size)):
                self.sinks[start + call.start()] = FROM_BYTES
        for at in _openings(code):
            self.index(code, at, start)
        for call in CUTS.finditer(code):
            self.report(_argument(code, call.end()), start + call.start() + 1)
        for minus in MINUS.finditer(code):
            self.subtraction(code, minus, start)
        self.path(code, start)

    def index(self, code: bytes, at: int, start: int) -> None:
        inside = _argument(code, at + 1)
        base = re.search(rb"([a-z_]\w*)\s*\Z", code[:at], re.IGNORECASE)
        if base is None or re.search(MAP % ((re.escape(base[1]),) * 2), self.head + self.text[self.first : start + at]):
            return
        byte = any(one.byte for one in self.mentioned(inside))
        if byte and re.search(
            rb"\b%b\b[^;]*;\s*(?:256|0x100)\s*\]" % re.escape(base[1]), self.text[: self.last][-BODY_MAX:]
        ):
            return
        self.report(inside, start + at)

    def report(self, code: bytes, at: int) -> None:
        if not BOUNDED.search(code) and any(not one.high for one in self.mentioned(code)):
            self.sinks[at] = NUMBER

    def subtraction(self, code: bytes, minus: re.Match[bytes], start: int) -> None:
        left = re.search(
            rb"((?<![\w.])[a-z_]\w*(?:\.[a-z_]\w*)*)(?:\s+as\s+(?:usize|u\d+))?\s*\)?\Z", code[: minus.start()]
        )
        right = re.match(rb"\(?\s*([a-z_]\w*(?:\.[a-z_]\w*)*)\b(?!\s*\()", code[minus.end() :])
        value = self.values.get(left[1]) if left else None
        if value is not None and not value.low:
            self.sinks[start + minus.start()] = NUMBER
        other = self.values.get(right[1]) if right else None
        if other is not None and not other.high and not other.low:
            self.sinks[start + minus.start()] = NUMBER

    def path(self, code: bytes, start: int) -> None:
        call = re.search(rb"\.\s*(?:join|push)\s*\(", code)
        if call is None or not self.buffers or PATH_CHECKS.search(self.text, self.first, self.last):
            return
        names = {name.partition(b".")[0] for name in NAMES.findall(_argument(code, call.end()))}
        is_path = call[0].strip(b". (") == b"join" or b"path" in code[: call.start()].lower()
        if is_path and not names.isdisjoint(self.buffers | self.values.keys()):
            self.paths.add(start + call.start())


def _statements(text: bytes, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of statements and of heads of blocks; a semicolon within brackets ends none."""
    start, depths = first, [0]
    for edge in EDGES.finditer(text, first, last):
        mark = edge[0]
        if mark in b"([":
            depths[-1] += 1
        elif mark in b")]":
            depths[-1] -= 1
        elif mark != b";" or depths[-1] <= 0:
            yield start, edge.end()
            start = edge.end()
            if mark == b"{":
                depths.append(0)
            elif mark == b"}" and len(depths) > 1:
                depths.pop()
    yield start, last


def _argument(code: bytes, start: int) -> bytes:
    """Return the text from an opening bracket before `start` up to the bracket that closes it."""
    depth = 1
    for at in range(start, len(code)):
        depth += (code[at] in b"([{") - (code[at] in b")]}")
        if depth == 0:
            return code[start:at]
    return code[start:]


def _openings(code: bytes) -> Iterator[int]:
    for match in re.finditer(rb"(?<=[\w)\]])\[", code):
        yield match.start()


def _walk(site: Site) -> _Walk | None:
    """Return the walk over the function around a site, if the function reads from outside."""
    function = site.function
    if function is None or is_of_tests(site):
        return None
    walks: dict[int, _Walk | None] = site.source.once("values from outside", dict)
    if function.start not in walks:
        text = site.source.text
        reads = SOURCES.search(text, function.body[0], min(function.body[1], function.body[0] + BODY_MAX))
        walks[function.start] = _Walk(text, site.source.content, function).run() if reads else None
    return walks[function.start]


def check_number(site: Site) -> float | None:
    """Report an index, size or subtraction with a number from outside that nothing has bounded."""
    if not site.source.once("reads from outside", lambda: SOURCES.search(site.source.text) is not None):
        return None
    walk = _walk(site)
    if walk is None:
        return None
    return next((walk.sinks[at] for at in range(site.start, max(site.at, site.start + 2)) if at in walk.sinks), None)


def check_path(site: Site) -> float | None:
    """Report a path that is joined with text from outside, in which nothing looks for `..`."""
    walk = _walk(site)
    return NUMBER if walk is not None and any(at in walk.paths for at in range(site.start - 2, site.at + 1)) else None


RULES: tuple[Rule, ...] = (
    rule(
        "untrusted_number",
        check_number,
        calls=("with_capacity", "reserve", "reserve_exact", "resize", "split_at", "split_to", "advance", "drain"),
        shapes=(r"[0-9A-Za-z_)\]]\[", r"vec!\[", r"[0-9A-Za-z_)\]] - [0-9A-Za-z_(]"),
    ),
    rule("untrusted_path", check_path, calls=("join", "push")),
)
