"""secret_compare and secret_logged: passwords and keys that leak through the time of a comparison, or into logs."""

from jarvis_workers.sec.rules.analysis.mentions import callee_before
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

LEFT, RIGHT = 512, 16
OF_NETWORK, OF_TEXT = 0.1, -0.05
TO_FILE, TO_LOG = 0.05, 0.0
COMPARES = b"strcmp strncmp memcmp bcmp wcscmp wcsncmp wmemcmp strcasecmp".split()
SECRET = lazy(
    rb"(?i)(?:pass_?(?:word|wd|phrase)|\bpasswd?\b|secret|hmac|(?:^|_|\.|>)mac(?:_?(?:tag|value|data|buf|calc\w*|exp\w*|recv\w*|computed))?\Z|auth_?tag"
    rb"|(?:api|private|session|shared|auth)_?key|csrf|auth_?token|access_?token|session_?(?:id|token)|\botp\b)"
)
NO_SECRET = lazy(
    rb"(?i)hash_?(?:table|map)|addr|_?type|_?name\b|_?len\b|algo|method|file|path|prompt|label|mech|scheme|state|mode|option|field|kind|alg\b|_id\b|cert|_oid"
)
TYPED_TWICE = lazy(rb"(?i)retyp|again\b|confirm|repeat")
CONFIRMS = lazy(rb"(?i)again|confirm|verify|retype|repeat|second|check|old|new|\w2\b|copy|tmp|default")
NAME = lazy(rb"&?\s*\(*\s*(?:\(\s*[\w\s]+\*+\s*\)\s*)?([A-Za-z_]\w*(?:\s*(?:->|\.)\s*\w+|\s*\[[^][]*\])*)\s*\)*\s*\Z")
LITERAL = lazy(rb'\s*(?:L|u8)?"|\s*[A-Z][A-Z0-9_]+\s*\Z')
TAILS = tuple(
    word
    for name in ("password", "passwd", "passphrase", "secret", "private_key", "secret_key", "api_key")
    for word in (name, name.replace("_", ""))
)
WRITES = lazy(
    rb"(?i)(?:v?f?d?printf|printk|pr_(?:info|err|warn|debug|notice)|dev_(?:info|err|warn|dbg)|v?syslog|f?puts|fwrite"
    rb"|\w*(?:log|logger|trace|debug|dbg|warn|warning|verbose)(?:_?(?:msg|message|printf|info|error|debug|warn\w*|write|f|line))?|(?:qDebug|qInfo|qWarning))\Z"
)
TO_FILES = frozenset((b"fprintf", b"fputs", b"fwrite", b"dprintf"))
BEHIND = lazy(rb"\s*(?:\[[^][]*\]\s*)?[,)]")
BEFORE = lazy(rb"[,(]\s*(?:\(\s*(?:const\s+)?\w+\s*\*\s*\)\s*)?[*&]?\s*(?:\w+\s*(?:\[[^][]*\])?\s*(?:->|\.)\s*)*\w*\Z")
STANDARD = lazy(rb"\(\s*(?:stdout|stderr)\b")


def check_compare(site: Site) -> float | None:
    """Report comparisons of two values of which one is secret; not those with literals, nor repeated input."""
    first, second = site.masked(0), site.masked(1)
    names = [NAME.match(one.strip()) for one in (first, second)]
    if site.arguments.end is None or not all(names) or site.source.test:
        return None
    if LITERAL.match(first) or LITERAL.match(second):
        return None
    texts = [b"".join(name[1].split()) for name in names if name]
    if not any(SECRET.search(one) and not NO_SECRET.search(one) for one in texts):
        return None
    if any(TYPED_TWICE.search(one) for one in texts):
        return None
    if any(CONFIRMS.search(one) for one in texts) and all(SECRET.search(one) for one in texts):
        return None
    return OF_NETWORK if site.name in (b"memcmp", b"bcmp") else 0.0


def is_no_argument(name: bytes, content: bytes, end: int) -> bool:
    """Dismiss a name that is not the whole argument of a call."""
    return BEHIND.match(content, end, end + 64) is None


def check_logged(site: Site) -> float | None:
    """Report a secret that is an argument of a call that writes a log, the terminal or a file."""
    text = site.source.text
    before = text[max(0, site.start - LEFT) : site.at]
    if site.name.isupper() or not BEHIND.match(text, site.at, site.at + 64) or not BEFORE.search(before):
        return None
    if site.source.test or NO_SECRET.search(site.name):
        return None
    called = callee_before(text[max(0, site.start - LEFT) : site.start])
    if not called or not WRITES.match(called):
        return None
    opened = text.rfind(called, max(0, site.start - LEFT), site.start) + len(called)
    if called in TO_FILES and not STANDARD.match(text, opened, opened + 32):
        return TO_FILE
    return TO_LOG


RULES: tuple[Rule, ...] = (
    rule("secret_compare", check_compare, calls=tuple(name.decode() for name in COMPARES)),
    rule("secret_logged", check_logged, tails=TAILS, dismisses=is_no_argument),
)
