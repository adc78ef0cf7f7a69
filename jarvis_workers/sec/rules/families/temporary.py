"""insecure_tmpfile and predictable_tmpfile: files in directories where other users may create files.

Both are harmless if the call that opens the file must also create it (`O_EXCL`).
"""

from collections.abc import Iterator
from itertools import islice

from jarvis_workers.sec.rules.analysis.aliases import real_name
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.calls import arguments
from jarvis_workers.source.lazy_regex import lazy

OPENED = 0.1
MENTIONS_MAX = 12
TRUNCATES, APPENDS = 0.0, -0.1
NAME = lazy(rb"[A-Za-z_]\w*+\Z")
CALL_BEFORE = lazy(rb"([A-Za-z_]\w*+)\s*+\(\s*+\Z")
SHARED = lazy(rb'(?:u8|[LuU])?"(?:/var|/usr)?/tmp/[^"/%]*+"')
SHARED_NEXT = lazy(rb'\s*+\(\s*+(?:[\w:]+\s*+,\s*+)?(?:u8|[LuU])?"(?:/var|/usr)?/tmp/')
EXCLUSIVE = lazy(rb"\bO_(?:EXCL|TMPFILE)\b|\b_O_EXCL\b")
CREATES = lazy(rb"\b_?O_CREAT\b")
OPENS = frozenset(b"open open64 _open _wopen openat sopen _sopen".split())
STREAMS = frozenset(b"fopen fopen64 _wfopen _fsopen freopen".split())
CREATED = frozenset(b"creat creat64 _creat _wcreat".split())
MAKERS: dict[bytes, tuple[int, ...]] = {
    **dict.fromkeys(b"tmpnam tmpnam_r _wtmpnam mktemp _mktemp _wmktemp".split(), (1,)),
    **dict.fromkeys(b"tempnam _tempnam _wtempnam _mktemp_s _wmktemp_s tmpnam_s _wtmpnam_s".split(), (2,)),
    **dict.fromkeys(b"_tempnam_dbg _wtempnam_dbg".split(), (5,)),
}
IN_PLACE = lazy(rb"_?w?mktemp(?:_s)?\Z|_?w?tmpnam(?:_[rs])?\Z")


def check_name(site: Site) -> float | None:
    """Raise the confidence if the name is then opened; report nothing if each open requires a new file."""
    arguments = site.arguments
    if arguments.end is not None and len(arguments.spans) not in MAKERS[site.name]:
        return None
    opened = [_is_exclusive(site, at) for name in _variables_of_result(site) for at in _openings(site, name)]
    if not opened:
        return 0.0
    return None if all(opened) else OPENED


def _variables_of_result(site: Site) -> Iterator[bytes]:
    """Yield the variables that hold the name."""
    if NAME.match(site.result.target):
        yield site.result.target
    if IN_PLACE.match(site.name) and NAME.match(target := site.masked(0).strip()) and target != site.result.target:
        yield target


def _openings(site: Site, name: bytes) -> Iterator[int]:
    """Yield the offset of the `(` of each later call that opens the file with that name."""
    text = site.source.text
    for use in islice(site.uses_after(name), MENTIONS_MAX):
        before = text[max(0, use.at - 64) : use.at]
        call = CALL_BEFORE.search(before)
        if call and real_name(site.source, call[1]) in OPENS | STREAMS | CREATED:
            yield use.at - len(before) + before.rindex(b"(")


def _is_exclusive(site: Site, at: int) -> bool:
    spans = arguments(site.source.text, at).spans
    flags = [site.source.content[start:end] for start, end in spans[1:2]]
    return any(EXCLUSIVE.search(one) or (b'"' in one and b"x" in one) for one in flags)


def is_elsewhere(name: bytes, content: bytes, end: int) -> bool:
    return SHARED_NEXT.match(content, end) is None


def check_literal(site: Site) -> float | None:
    """Check for a fixed name under /tmp: the file is created if missing, and a symbolic link is followed."""
    index = 1 if site.name == b"openat" else 0
    if SHARED.fullmatch(site.original(index).strip()) is None:
        return None
    how = site.original(index + 1)
    if site.name in CREATED:
        return TRUNCATES
    if site.name in OPENS:
        return TRUNCATES if CREATES.search(how) and not EXCLUSIVE.search(how) else None
    if b'"' not in how or b"x" in how:
        return None
    return TRUNCATES if b"w" in how else APPENDS if b"a" in how else None


RULES: tuple[Rule, ...] = (
    rule("insecure_tmpfile", check_name, calls=tuple(name.decode() for name in MAKERS)),
    rule(
        "predictable_tmpfile",
        check_literal,
        calls=tuple(sorted(name.decode() for name in OPENS | STREAMS | CREATED)),
        dismisses=is_elsewhere,
    ),
)
