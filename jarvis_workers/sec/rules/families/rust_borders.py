"""extern_c and unsafe_send_sync: guarantees of Rust code to other languages and to other threads."""

import re

from jarvis_workers.sec.rules.analysis.rust_context import is_commented, softened
from jarvis_workers.sec.rules.rule import Rule, Site, SourceText, rule
from jarvis_workers.source.lazy_regex import lazy

REACH = 2_048
POINTERS, SAFE, PANICS, PLAIN, EXPLAINED = 0.05, 0.2, 0.1, -0.15, -0.1
STORED, PHANTOM_ONLY, BOUND = 0.05, -0.15, -0.1
ABI = lazy(rb'\s*+(?P<quote>"\s*+")?\s*+(?P<opens>\{|fn\s+\w)')
ABIS = frozenset(b"C system cdecl stdcall fastcall thiscall C-unwind system-unwind win64 sysv64 aapcs efiapi".split())
POINTER = lazy(rb"\*\s*(?:const|mut)\b")
UNSAFE = lazy(rb"\bunsafe\s+\Z")
CHECKED = lazy(rb"is_null\s*\(|\.\s*as_(?:ref|mut)\s*\(|NonNull\s*::\s*new\b|\bassert\w*!")
FOLLOWS = lazy(rb"\bunsafe\b|\*\s*\w")
PANICKING = lazy(rb"\.\s*(?:unwrap|expect)\s*\(|\b(?:panic|unreachable|todo|unimplemented)\s*!")
CAUGHT = lazy(rb"\bcatch_unwind\b|\bAbortIfPanic\b|\babort_on_panic\b")
MARKER = lazy(
    rb"\s++impl\b\s*+(?P<generics><[^;{}]{0,512}?>(?=\s*(?:\w|::)))?\s*+(?:::\s*+)?(?>\w++\s*+::\s*+){0,8}+(?:Send|Sync)\s++for\b(?P<rest>[^;{}]{0,512})"
)
WORDS = lazy(rb"\w+")
DECLARED = lazy(rb"\b(?:struct|enum|union)\s++(\w++)")
OPENS = lazy(rb"[{(;]")
TARGET = lazy(rb"\s*+(?>\w++\s*+::\s*+)*+(\w++)")
PHANTOM = lazy(rb"\bPhantomData\s*<(?:[^<>]|<[^<>]*>){0,256}>")
TYPE_PARAMETER = lazy(rb"(?:\A|[<,])\s*(?!const\b)([A-Z]\w*)\s*(?::\s*([^,<>]*(?:<[^<>]*>[^,<>]*)*))?")


def check_extern(site: Site) -> float | None:
    """Raise the confidence for a safe function that dereferences foreign pointers or may unwind into its callers."""
    text = site.source.text
    if is_type := ABI.match(text, site.at, site.at + 128):
        if is_type["quote"] and not _names_abi(site, is_type.start("quote")):
            return None
        if is_type["opens"] == b"{":
            # What other languages define is no defect; calls of it are unsafe code.
            return None
        return _of_definition(site, is_type.end("opens") - 1) + softened(site)
    return None


def _names_abi(site: Site, quote: int) -> bool:
    closed = site.source.content.find(b'"', quote + 1, quote + 32)
    return closed >= 0 and site.source.content[quote + 1 : closed] in ABIS


def _of_definition(site: Site, name: int) -> float:
    text = site.source.text
    opened = text.find(b"{", name, name + REACH)
    function = site.source.functions.at(opened + 1) if opened >= 0 else None
    if function is None or function.start != name:
        return PLAIN
    body = text[function.body[0] : min(function.body[1], function.body[0] + REACH * 4)]
    moved = PLAIN
    if POINTER.search(text, *function.parameters) and not CHECKED.search(body):
        safe = not UNSAFE.search(text[max(0, site.start - 32) : site.start])
        moved = SAFE if safe and FOLLOWS.search(body) else POINTERS
    return moved + (PANICS if PANICKING.search(body) and not CAUGHT.search(body) else 0.0)


def check_marker(site: Site) -> float | None:
    """Raise the confidence if a generic type is declared Send or Sync without bounds on its parameters."""
    match = MARKER.match(site.source.text, site.at, site.at + REACH)
    if match is None:
        return None
    return _unbound(site, match) + (EXPLAINED if is_commented(site) else 0.0) + softened(site)


def _unbound(site: Site, match: re.Match[bytes]) -> float:
    """Return the adjustment for type parameters bounded by neither Send nor Sync."""
    rest = match["rest"]
    target, _, where = rest.partition(b"where")
    parameters = TYPE_PARAMETER.findall((match["generics"] or b"")[:-1])
    used = [(name, bounds) for name, bounds in parameters if name in WORDS.findall(target)]
    if not used:
        return 0.0
    free = [name for name, bounds in used if not (_asks(bounds) or _asks_where(where, name))]
    return _weigh_fields(site, target, free) if free else BOUND


def _weigh_fields(site: Site, target: bytes, free: list[bytes]) -> float:
    """Return the adjustment for a type that stores an unbounded parameter; lower if only a PhantomData names it."""
    named = TARGET.match(target)
    declared = _declarations(site.source).get(named[1]) if named else None
    if declared is None:
        return 0.0
    opened = OPENS.search(site.source.text, declared, declared + REACH)
    end = site.source.text.find(b"}" if opened and opened[0] == b"{" else b";", declared, declared + REACH)
    body = PHANTOM.sub(b"", site.source.text[opened.end() if opened else declared : end if end >= 0 else declared])
    return STORED if set(free).intersection(WORDS.findall(body)) else PHANTOM_ONLY


def _declarations(source: SourceText) -> dict[bytes, int]:
    """Return the offset after the name of each type that the file declares."""
    return source.once("types", lambda: {match[1]: match.end() for match in DECLARED.finditer(source.text)})


def _asks(bounds: bytes) -> bool:
    return b"Send" in bounds or b"Sync" in bounds


def _asks_where(where: bytes, name: bytes) -> bool:
    at = where.find(name)
    for _ in range(8):
        if at < 0:
            return False
        if where[at + len(name) :].lstrip()[:1] == b":" and not where[at - 1 : at].isalnum():
            return _asks(where[at:].partition(b",")[0])
        at = where.find(name, at + 1)
    return False


RULES: tuple[Rule, ...] = (
    rule("extern_c", check_extern, words=("extern",)),
    rule("unsafe_send_sync", check_marker, words=("unsafe",)),
)
