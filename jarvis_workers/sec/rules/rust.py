"""The rules for Rust: unsafe, unwrap_expect and mem_transmute, and the context that softens them."""

from jarvis_workers.sec.rules.rule import Rule, Site
from jarvis_workers.sec.rules.rust_context import in_tests, softened
from jarvis_workers.source.late import late

__all__ = ["RULES"]

UNSAFE_CODE = late(
    rb'\s*+(?:\{|\$|(?:async\s+|const\s+)?(?:extern\s*(?:"\s*"\s*)?)?(?:\{|fn\s+\w|mod\b)|(?:auto\s+)?trait\b)'
)
MESSAGE = late(rb'\s*(?:&|concat!|[bc]?r?#*"|[A-Z][A-Z0-9_]+\s*\Z)')
CALLED = late(rb"\s*+(?:::\s*+<[^;{}]{0,512}?>\s*+)?\(")
DEFINED = late(rb"\bfn\s+\Z")
LOCKS = (b".lock().", b".read().", b".write().", b".join().")
FROM_OUTSIDE = late(
    rb"(?:\.parse(?:::<[\w:]++>)?\(\)|\bfrom_utf8\([^()\"]*+\)|\.read_line\([^()]*+\)|\.read_to_(?:end|string)\([^()]*+\)"
    rb"|\benv::(?:var|args)(?:_os)?\([^()]*+\)(?:\.nth\(\d*\))?|\bfrom_(?:str|slice|reader)(?:::<[\w:]++>)?\([^()\"]*+\)"
    rb"|\.(?:accept|recv_from)\([^()]*+\)(?:\.await)?|\bfs::read(?:_to_string)?\([^()\"]*+\)|\bFile::open\([^()\"]*+\))\.\Z"
)
FROM_CONSTANT = late(
    rb'(?:"\.parse(?:::<[\w:]++>)?\(\)|::(?:new|from_str|compile)\(&?[bc]?r?\#*"[^"()]*+"\#*\)|::new\(\d++\))\.\Z'
)


def check_unsafe(site: Site) -> float | None:
    """Code that the compiler does not vouch for; a type that merely says `unsafe fn`, or an impl, is none."""
    text = site.source.text
    if text[site.start - 1 : site.start] == b"#" or not UNSAFE_CODE.match(text, site.at, site.at + 256):
        return None
    return softened(site)


def check_unwrap(site: Site) -> float | None:
    text = site.source.text
    if not text[max(0, site.start - 64) : site.start].rstrip().endswith(b"."):
        return None
    given = site.arguments
    if site.name == b"unwrap":
        if given.spans or given.end is None:
            return None
    elif not _takes_message(site):
        return None
    return _of_value(site) + in_tests(site)


def check_transmute(site: Site) -> float | None:
    text = site.source.text
    before = text[max(0, site.start - 64) : site.start]
    if not CALLED.match(text, site.at, site.at + 768) or before.rstrip().endswith(b".") or DEFINED.search(before):
        return None
    return softened(site)


def _of_value(site: Site) -> float:
    """Surer where the value was read from outside; less sure for locks, and where a constant was read."""
    text = site.source.text
    before = b"".join(text[max(0, site.start - 160) : site.start].split())
    if before.endswith(LOCKS):
        return -0.05
    if FROM_CONSTANT.search(before):
        return -0.1
    return 0.15 if FROM_OUTSIDE.search(before) else 0.0


def _takes_message(site: Site) -> bool:
    """Parsers have an `expect` of their own; that of Option and Result takes one message and no `?` follows."""
    given = site.arguments
    if given.end is not None and (len(given.spans) != 1 or site.after(1) == b"?"):
        return False
    return MESSAGE.match(site.masked(0)) is not None


RULES: tuple[Rule, ...] = (
    Rule(
        "unsafe",
        language="rust",
        category="unsafe_usage",
        cwe=119,
        confidence=0.7,
        check=check_unsafe,
        words=("unsafe",),
        title="unsafe code",
        description="Memory safety rests on this code alone: the compiler does not check what it does with pointers.",
        suggestion="Keep it small, say in a SAFETY comment why it is sound, and wrap it in a safe function.",
        verification="What the block relies on does not hold for every caller.",
        bad="unsafe { *p = 1; }",
        good="// SAFETY: p comes from Box::into_raw above and is used once.\nunsafe { *p = 1; }",
    ),
    Rule(
        "unwrap_expect",
        language="rust",
        category="error_handling",
        cwe=248,
        confidence=0.5,
        check=check_unwrap,
        calls=("unwrap", "expect"),
        title="panic where there is no value",
        description="Panics when there is no value: input that leads here stops the thread or the program.",
        suggestion="Return the error with ?, or handle it with match, unwrap_or or ok_or.",
        verification="The value can be missing for some input.",
        bad="let n: u32 = text.parse().unwrap();",
        good="let n: u32 = text.parse()?;",
    ),
    Rule(
        "mem_transmute",
        language="rust",
        category="unsafe_usage",
        cwe=843,
        confidence=0.75,
        check=check_transmute,
        words=("transmute", "transmute_copy"),
        title="bytes of one type taken for another",
        description="Takes the bytes of one type for another: wrong lifetimes or values are undefined behaviour.",
        suggestion="Use a conversion that is checked: from_ne_bytes, cast, as, TryFrom, or a crate such as bytemuck.",
        verification="The two types differ in layout, lifetime or valid values.",
        bad="let n: f32 = unsafe { std::mem::transmute(bits) };",
        good="let n = f32::from_bits(bits);",
    ),
)
