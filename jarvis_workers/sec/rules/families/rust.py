"""unsafe, unwrap_expect and mem_transmute: Rust rules, and the context that lowers their confidence."""

import re

from jarvis_workers.sec.rules.analysis.rust_context import block_end, is_of_tests, is_unsafe_function, softened
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

UNSAFE_CODE = lazy(
    rb'\s*+(?:(?P<block>[{$])|(?P<plain>fn\s+\w)|(?:async\s+|const\s+)?(?:extern\s*(?:"\s*"\s*)?)?(?:\{|fn\s+\w|mod\b)|(?:auto\s+)?trait\b)'
)
TAKES_BACK = lazy(rb"\s*+\{\s*+(?>\w++\s*+::\s*+)*+(?:borrow_raw|from_raw_(?:fd|handle|socket))\s*+\(\s*+")
RELEASED = lazy(rb"[^;{}]*\b(?:as|into)_raw_(?:fd|handle|socket)\b")
RELEASED_BEFORE = lazy(rb"\binto_raw_(?:fd|handle|socket)\b[^;]*\.map\(\|\w+\|\s*\Z")
BODY_REACH = 4_096
HAZARDS = lazy(
    rb"(?P<always>\bfrom_raw_(?:fd|handle|socket)\b|\basm!|\bunreachable_unchecked\b|\bstatic\b|\$)"
    rb"|(?:[^\w)\]\s&*]|\b(?:return|in)\b|\A)\s*\*\s*(?!const\b|mut\b)[(&a-z_]|\.\s*(?:add|sub|offset|byte_add|read|write|as_ref|as_mut"
    rb"|cast)\s*\(|\bptr\s*::|\bfrom_raw\w*\s*\(|\w+_unchecked(?:_mut)?\s*\(|\bset_len\s*\(|\bassume_init(?!_drop)|\btransmute"
    rb"|\bzeroed\b|\buninitialized\b|\bdealloc\s*\(|\b[A-Z][A-Z0-9_]{2,}\s*(?:[-+*|&]?=(?!=)|\[)|\bcopy_nonoverlapping\b"
)
CHECKED = lazy(
    rb"\b(?:debug_)?assert(?:_eq|_ne)?!\s*\(|\bis_null\s*\(|\bif\b[^{};]*(?:[<>]|==|!=|\.\s*is_(?:empty|none|some|aligned)|\bcontains)"
    rb"|\bchecked_\w+\s*\(|\.\s*(?:min|clamp)\s*\(|\bNonNull\b|\?\s*;"
)
PUBLIC = lazy(rb"\bpub\s+\Z")
MESSAGE = lazy(rb'\s*(?:&|concat!|[bc]?r?#*"|[A-Z][A-Z0-9_]+\s*\Z)')
CALLED = lazy(rb"\s*+(?:::\s*+<[^;{}]{0,512}?>\s*+)?\(")
BY_CARGO = lazy(rb'\bvar(?:_os)?\s*\(\s*"(?:CARGO_\w+|OUT_DIR|TARGET|PROFILE)"\s*\)\s*\.\s*\Z')
DEFINED = lazy(rb"\bfn\s+\Z")
LOCKS = (b".lock().", b".read().", b".write().", b".join().")
FROM_OUTSIDE = lazy(
    rb"(?:\.parse(?:::<[\w:]++>)?\(\)|\bfrom_utf8\([^()\"]*+\)|\.read_line\([^()]*+\)|\.read_to_(?:end|string)\([^()]*+\)"
    rb"|\benv::(?:var|args)(?:_os)?\([^()]*+\)(?:\.nth\(\d*\))?|\bfrom_(?:str|slice|reader)(?:::<[\w:]++>)?\([^()\"]*+\)"
    rb"|\.(?:accept|recv_from)\([^()]*+\)(?:\.await)?|\bfs::read(?:_to_string)?\([^()\"]*+\)|\bFile::open\([^()\"]*+\))\.\Z"
)
FROM_CONSTANT = lazy(
    rb'(?:"\.parse(?:::<[\w:]++>)?\(\)|::(?:new|from_str|compile)\(&?[bc]?r?\#*"[^"()]*+"\#*\)|::new\(\d++\))\.\Z'
)


def check_unsafe(site: Site) -> float | None:
    """Check for unsafe code, without reporting the type `unsafe fn` or an impl; only the first block of a function.

    A block is reported if it follows a pointer, or gets an index, length or owner, that the function does not check;
    a descriptor that is converted and returned unchanged is not reported either.  In test code, and in functions that
    only this crate can call, only the first site of a file is reported.
    """
    text = site.source.text
    code = UNSAFE_CODE.match(text, site.at, site.at + 256)
    if code is None or text[site.start - 1 : site.start] == b"#" or _gives_back(site):
        return None
    if code["block"] == b"{" and _is_sound(site):
        return None
    if is_of_tests(site) or _is_answered_for(site, code):
        first = site.source.once("first explained", lambda: site.start)
        return softened(site) if first == site.start else None
    return softened(site) if _is_first_of_function(site) else None


def _is_sound(site: Site) -> bool:
    """Return whether a block does nothing dangerous, or its function checks something before."""
    text = site.source.text
    block = text[site.at : block_end(text, site.at)]
    hazard = HAZARDS.search(block)
    if hazard is None:
        return True
    function = site.function
    if function is None or hazard["always"]:
        return False
    return CHECKED.search(text, max(function.body[0], site.start - BODY_REACH), site.start) is not None


def _is_first_of_function(site: Site) -> bool:
    """Return whether no site before this one was reported in the same function."""
    firsts: dict[int, int] = site.source.once("first unsafe of functions", dict)
    function = site.function
    return function is None or firsts.setdefault(function.start, site.start) == site.start


def _gives_back(site: Site) -> bool:
    """Return whether a call is `from_raw_fd(a.into_raw_fd())` or `borrow_raw(self.as_raw_fd())`: one owner remains."""
    text = site.source.text
    release = TAKES_BACK.match(text, site.at, site.at + 256)
    return release is not None and (
        RELEASED.match(text, release.end(), release.end() + 128) is not None
        or RELEASED_BEFORE.search(text[max(0, site.start - 160) : site.start]) is not None
    )


def _is_answered_for(site: Site, code: re.Match[bytes]) -> bool:
    """Return whether the site is a block in an unsafe function or a private function; callers are reported instead."""
    text = site.source.text
    if code["block"]:
        return site.function is not None and is_unsafe_function(text, site.function.start)
    return code["plain"] is not None and not PUBLIC.search(text[max(0, site.start - 32) : site.start])


def check_unwrap(site: Site) -> float | None:
    """Check unwrap and expect, but not in tests, which are meant to panic on failure."""
    text = site.source.text
    if not text[max(0, site.start - 64) : site.start].rstrip().endswith(b"."):
        return None
    arguments = site.arguments
    if site.name == b"unwrap":
        if arguments.spans or arguments.end is None:
            return None
    elif not _takes_message(site):
        return None
    return None if is_of_tests(site) or _is_given_by_cargo(site) else _of_value(site)


def _is_given_by_cargo(site: Site) -> bool:
    """Return whether the value is a variable that cargo sets for every build script."""
    return BY_CARGO.search(site.source.content[max(0, site.start - 96) : site.start]) is not None


def check_transmute(site: Site) -> float | None:
    text = site.source.text
    before = text[max(0, site.start - 64) : site.start]
    if not CALLED.match(text, site.at, site.at + 768) or before.rstrip().endswith(b".") or DEFINED.search(before):
        return None
    return softened(site)


def _of_value(site: Site) -> float | None:
    """Raise the confidence for values from outside, lower it for locks; skip values derived from constants."""
    text = site.source.text
    before = b"".join(text[max(0, site.start - 160) : site.start].split())
    if before.endswith(LOCKS):
        return -0.05
    if FROM_CONSTANT.search(before):
        return None
    return 0.15 if FROM_OUTSIDE.search(before) else 0.0


def _takes_message(site: Site) -> bool:
    """Return whether `expect` is that of Option or Result: one message and no `?`; parsers define their own."""
    arguments = site.arguments
    if arguments.end is not None and (len(arguments.spans) != 1 or site.after(1) == b"?"):
        return False
    return MESSAGE.match(site.masked(0)) is not None


RULES: tuple[Rule, ...] = (
    rule("unsafe", check_unsafe, words=("unsafe",)),
    rule("unwrap_expect", check_unwrap, calls=("unwrap", "expect")),
    rule("mem_transmute", check_transmute, words=("transmute", "transmute_copy")),
)
