"""hardcoded_secret and hardcoded_secret_rust: passwords, tokens and keys in the source code.

The check depends on the contents of a literal: most strings next to the word `password` are prompts, setting names and
messages.
"""

import re
from math import log2

from jarvis_workers.sec.rules.analysis.macros import text_macros
from jarvis_workers.sec.rules.analysis.rust_context import is_in_tests
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

KEY, STRONG, LIKELY, WORD, IN_TESTS = 0.3, 0.25, 0.05, -0.15, -0.15
LITERAL_MAX = 512
LONG, SHORT, DISTINCT_OF_KEYS = 12, 4, 12
ENTROPY_OF_KEYS = 3.2
TAILS = tuple(
    form
    for words in (
        ("password",), ("passwd",), ("passphrase",), ("secret",), ("api", "key"), ("token",), ("private", "key"),
        ("secret", "key"), ("access", "key"), ("auth", "key"), ("encryption", "key"), ("hmac", "key"), ("aes", "key"),
    )
    for form in dict.fromkeys((
        "_".join(words), "_".join(words).upper(), "".join(word.title() for word in words),
        words[0] + "".join(word.title() for word in words[1:]), "".join(words),
    ))
)  # fmt: skip
SHAPES = (
    r'"(?:[\s(\\]{0,8}-----BEGIN [A-Z ]{0,24}PRIVATE KEY|A[KS]IA[0-9A-Z]{16}|gh[opusr]_[0-9A-Za-z]{36}|'
    r"github_pat_[0-9A-Za-z_]{22}|glpat-[0-9A-Za-z_-]{20}|xox[abprs]-[0-9A-Za-z-]{10}|[rs]k_live_[0-9A-Za-z]{16}|"
    r"AIza[0-9A-Za-z_-]{35}|npm_[0-9A-Za-z]{36})",
)
# A literal follows: `= "`, `== "`, `: "`, `[] = "`, `, "`, `("`, `: &str = "`, or it precedes the name in a call.
FOLLOWED = lazy(
    rb"\s*+(?:\[[^][\n]{0,40}\]\s*+)?(?::\s*+(?:Option\s*<\s*)?&?\s*+(?:'static\s++)?(?:str|String)\s*+>?\s*+)?"
    rb"(?P<mark>={1,2}|!=|,|\(|:|\{)?\s*+(?:\{\s*+)?"
    rb"(?:Some\s*\(|String::from\s*\(|(?:std::)?string\s*\(|\(\s*(?:const\s+)?(?:unsigned\s+)?\w+\s*\*\s*\)\s*+|b(?=\"))?"
    rb"(?:(?:u8|[LuU])?(?P<quote>\"))"
)
BEHIND = lazy(rb"\bstr\w{0,3}cmp\s*\(\s*(?P<quote>\")[^\"\\\n]{4,80}\"\s*,\s*[\w.>-]{0,64}\Z")
SETTER = lazy(rb"(?:set|with|use)_?\w", re.IGNORECASE)
COMPARES = lazy(rb"(?:cmp|eq|equals?|match)\s*\(\s*[\w.>-]*\Z")
COPIES = lazy(rb"\b(?:str|wcs|lstr|_tcs|_mbs)\w{0,2}cpy\w*\s*\(\s*[\w.>-]*\Z")
COPIED_MACRO = lazy(rb"\s*+,\s*+([A-Z_][A-Z0-9_]++)\s*+[,)]")
DEFINES = lazy(rb"#\s*define\s+\Z")
MATERIAL = lazy(rb"[A-Za-z0-9+/]{40}")
MADE_UP = lazy(
    rb"\A[^A-Za-z0-9]*\Z|example|sample|dummy|placeholder|change_?me|replace|insert|redacted|todo|fixme|foobar|"
    rb"\byour|your[_-]|\bmy[_-]|xxx|012345|123456789|abcdef(?:g|01|12)|deadbeef|\*\*\*|\.\.\.|lorem|1234567890abcdef|\Aabc|\A(.)\1*\Z|\Anone\Z|\Anull\Z|\Atrue\Z|\Afalse\Z|"
    rb"\Aunknown\Z|\Ainvalid|\Abad|\Atest",
    re.IGNORECASE,
)
NO_SECRET = lazy(
    rb"[\s%<>{}]|\A[/.~-]|\A\$[\w-]+\$\Z|://|\\|\.(?:pem|key|crt|txt|conf|json|c|h|rs)\Z|\A[\w.]+[:=]\Z|\$\(|\A[\w-]+/[\w/.-]+\Z|\?"
)
NAMES_SOMETHING = lazy(rb"[A-Za-z]*(?:[_.:-][A-Za-z]+)*\Z|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\Z")
# Words of a language that a parser compares its token with: tls1.3, queue_qos0_messages.
KEYWORD = lazy(rb"[a-z]++\d{0,3}(?:[_.-][a-z]*\d{0,3})*\Z")
SPEAKS = lazy(rb"passw|passphrase|secret|token|api.?key|auth|private|access|key", re.IGNORECASE)
MIXED = (re.compile(rb"[a-z]"), re.compile(rb"[A-Z]"), re.compile(rb"\d"), re.compile(rb"[^A-Za-z0-9]"))
SMALL_LETTERS = lazy(rb"[a-z]{6,24}\Z")


def is_no_secret(name: bytes, content: bytes, end: int) -> bool:
    """Dismiss a name without a literal next to it; a key that is recognized by its shape has no name."""
    if not name:
        return False
    return _quote(content, end - len(name), end) is None and _copied_macro(content, end - len(name), end) is None


def check_secret(site: Site) -> float | None:
    """Raise the confidence for unmistakable key formats and for text that looks random."""
    tests = IN_TESTS if site.source.test or (site.source.language == "rust" and is_in_tests(site)) else 0.0
    content = site.source.content
    if not site.name:
        moved = _weigh_key(content, site.start)
        return None if moved is None else moved + tests
    value = _value(site)
    moved = None if value is None else _looks_secret(site, value)
    return None if moved is None else moved + tests


def _value(site: Site) -> bytes | None:
    """Return the literal assigned to the name, directly or by a macro of the file."""
    content, end = site.source.content, site.start + len(site.name)
    quote = _quote(content, site.start, end)
    if quote is not None:
        return _literal(site, quote) if site.source.text[quote : quote + 1] == b'"' else None
    macro = _copied_macro(content, site.start, end)
    literal = text_macros(site.source).get(macro) if macro else None
    return literal.partition(b'"')[2][:-1] if literal else None


def _copied_macro(content: bytes, start: int, end: int) -> bytes | None:
    """Return the macro in `strcpy(password, PASSWORD)`."""
    match = COPIED_MACRO.match(content, end, end + 96)
    return match[1] if match and COPIES.search(content, max(0, start - 48), start) else None


def _quote(content: bytes, start: int, end: int) -> int | None:
    """Return the offset of the opening quote of the literal next to a name."""
    if match := FOLLOWED.match(content, end, end + 160):
        return match.start("quote") if _gives(content, start, end, match["mark"]) else None
    if content[end : end + 1] == b")" and (match := BEHIND.search(content, max(0, start - 160), start)):
        return match.start("quote")
    return None


def _gives(content: bytes, start: int, end: int, mark: bytes | None) -> bool:
    """Return whether the literal is the value of the name; after `,` and `(` it is often something else."""
    before = content[max(0, start - 48) : start]
    if mark == b"(":
        return SETTER.match(content[start:end]) is not None or before.rstrip().endswith((b".", b"string"))
    if mark == b",":
        match = COMPARES.search(before) or COPIES.search(before)
        return content[start:end].isupper() or match is not None
    return mark is not None or content[start:end].isupper()


def _literal(site: Site, quote: int) -> bytes | None:
    closed = site.source.text.find(b'"', quote + 1, quote + LITERAL_MAX)
    return site.source.content[quote + 1 : closed] if closed >= 0 else None


def _weigh_key(content: bytes, start: int) -> float | None:
    """Require key material in a private key: a bare header is often only a search pattern."""
    literal = content[start + 1 : start + LITERAL_MAX]
    if b"-----BEGIN" in literal[:20]:
        behind = literal.partition(b"-----BEGIN")[2].partition(b"-----")[2]
        material = MATERIAL.search(behind.partition(b"-----END")[0])
        return KEY if material and len(set(material[0])) > DISTINCT_OF_KEYS else None
    return None if MADE_UP.search(literal.partition(b'"')[0]) else KEY


def _looks_secret(site: Site, value: bytes) -> float | None:
    if len(value) < SHORT or NO_SECRET.search(value) or MADE_UP.search(value):
        return None
    if NAMES_SOMETHING.match(value):
        return _word(site, value)
    kinds = sum(1 for kind in MIXED if kind.search(value))
    if site.name.lower().endswith(b"token") and KEYWORD.match(value):
        return None
    if site.name.lower().endswith((b"token", b"key")) and (len(value) < LONG or not MIXED[2].search(value)):
        return None
    if len(value) >= LONG and _entropy(value) >= ENTROPY_OF_KEYS and MIXED[2].search(value):
        return STRONG
    return LIKELY + 0.1 if kinds >= 3 else LIKELY


def _word(site: Site, value: bytes) -> float | None:
    """Return the adjustment for a plain word, which is usually the name of a setting but may be a password."""
    name = site.name.lower()
    if (
        not name.endswith((b"password", b"passwd", b"passphrase"))
        or SPEAKS.search(value)
        or not SMALL_LETTERS.match(value)
    ):
        return None
    before = site.source.text[max(0, site.start - 16) : site.start]
    return None if DEFINES.search(before) or site.name.isupper() else WORD


def _entropy(value: bytes) -> float:
    """Return the Shannon entropy in bits per byte."""
    size = len(value)
    return -sum(count / size * log2(count / size) for count in (value.count(byte) for byte in set(value)))


HARDCODED = rule("hardcoded_secret", check_secret, tails=TAILS, shapes=SHAPES, dismisses=is_no_secret)
RULES: tuple[Rule, ...] = (
    HARDCODED,
    HARDCODED._replace(
        pattern="hardcoded_secret_rust",
        language="rust",
        bad='const API_KEY: &str = "q8Zt1Lx0Rv5Wn3Kd7Yb2";',
        good='let api_key = std::env::var("API_KEY")?;',
    ),
)
