"""unlimited_growth: a loop reads input and enlarges a buffer for it, and nothing limits how often."""

from jarvis_workers.sec.rules.analysis.examined import is_examined
from jarvis_workers.sec.rules.analysis.reads_input import reads_nothing
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

REACH = 4_096
FROM_NETWORK, FROM_FILE = 0.15, 0.0
BRACE = lazy(rb"[{}]")
LOOP = lazy(rb"\b(?:(?:for|while)\s*\([^;{}]*(?:;[^;{}]*){0,2}|do\s*)\Z")
NETWORK = lazy(rb"\b(?:recv|recvfrom|recvmsg|SSL_read|BIO_read|gnutls_record_recv|mbedtls_ssl_read|accept)\s*\(")
FILES = lazy(rb"\b(?:read|fread|fgets|f?getc|getchar|getc_unlocked|gzread|ReadFile)\s*\(")
LIMITED = lazy(
    rb"(?i:\w*(?:max|limit|most|quota)\w*|\btoo_?(?:long|large|big|many))|[<>]=?\s*\(?(?:\(\s*\w+\s*\)\s*)?(?:\d{3,}|[A-Z][A-Z0-9_]{2,})"
)


def check_growth(site: Site) -> float | None:
    """Report realloc in a loop that reads; with more confidence if it reads from a socket."""
    function = site.function
    if function is None or site.source.test or not is_examined(site, "unlimited_growth"):
        return None
    loop = _loop_around(site, function.body)
    if loop is None or LIMITED.search(site.source.text, *loop):
        return None
    if NETWORK.search(site.source.text, *loop):
        return FROM_NETWORK
    return FROM_FILE if FILES.search(site.source.text, *loop) else None


def _loop_around(site: Site, body: tuple[int, int]) -> tuple[int, int] | None:
    """Return the span of the innermost loop with braces around a site, with its head."""
    text = site.source.text
    floor = max(body[0], site.start - REACH)
    depth = 0
    for brace in reversed(list(BRACE.finditer(text, floor, site.start))):
        depth += 1 if brace[0] == b"}" else -1
        if depth < 0:
            depth = 0
            if head := LOOP.search(text, max(floor, brace.start() - 256), brace.start()):
                return head.start(), _end(text, brace.start(), min(body[1], site.start + REACH))
    return None


def _end(text: bytes, opened: int, limit: int) -> int:
    """Return the offset after the `}` of a block and the condition of its `do`, at most `limit`."""
    depth = 0
    for brace in BRACE.finditer(text, opened, limit):
        depth += 1 if brace[0] == b"{" else -1
        if depth == 0:
            line = text.find(b";", brace.end(), limit)
            return line if line >= 0 and text[brace.end() : line].lstrip().startswith(b"while") else brace.end()
    return limit


RULES: tuple[Rule, ...] = (
    rule("unlimited_growth", check_growth, calls=("realloc", "reallocarray"), dismisses=reads_nothing),
)
