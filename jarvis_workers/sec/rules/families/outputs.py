"""result_checked_elsewhere: a result is ignored, although most calls in the file check it.

Ignoring every result of printf is common and is not reported.  If a file checks the result of most calls of a function,
the few unchecked calls are likely mistakes.
"""

from functools import lru_cache

from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

FORMATTED, REMOVED = 0.05, 0.05
OCCURRENCES_MAX, IGNORED_MAX = 400, 4
LEFT, STATEMENT_MAX = 64, 200
STREAMS = {
    **dict.fromkeys(b"fprintf vfprintf fwprintf vfwprintf".split(), 0),
    **dict.fromkeys(b"fputs fputws fputc fputwc putc putwc".split(), 1),
    **dict.fromkeys(b"fwrite".split(), 3),
}
STANDARD = b"printf vprintf wprintf vwprintf puts _putws putws putchar putwchar".split()
INTO_MEMORY = b"snprintf _snprintf swprintf _snwprintf vsnprintf _vsnprintf vswprintf".split()
REMOVES = b"remove _wremove rmdir _rmdir _wrmdir".split()
NAMES = (*STREAMS, *STANDARD, *INTO_MEMORY, *REMOVES)
ERRORS = lazy(rb"std(?:err|log)\Z|err(?:or)?(?:_?file)?\Z|log|dbg|debug|trace")
TESTS = (b"!", b"=", b"<", b">", b"&&", b"||")
BRANCH = lazy(rb"\b(?:if|while)\s*+\(\s*+\Z")
EDGES = frozenset(b";{}):")
WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
SPACE = b" \t\r\n"


def is_no_outlier(name: bytes, content: bytes, end: int) -> bool:
    """Dismiss a call whose result is used, and a function whose result the file never checks."""
    before = content[max(0, end - len(name) - LEFT) : end - len(name)].removesuffix(b"std::").rstrip(SPACE)
    if before and before[-1] not in EDGES and not before.endswith((b"else", b"do")):
        return before.endswith((b"(", b",", b"=", b"!", b"return", b"|", b"&"))
    return not _counted(content, (name,))[0]


def check_outlier(site: Site) -> float | None:
    if site.arguments.end is None or site.result.kind != "ignored":
        return None
    if site.name in STREAMS and ERRORS.match(site.masked(STREAMS[site.name]).strip()):
        return None
    checked, ignored = _tally(site)
    if not checked or checked < ignored or site.function is None:
        return None
    return FORMATTED if site.name in INTO_MEMORY else REMOVED if site.name in REMOVES else 0.0


def _tally(site: Site) -> tuple[int, int]:
    """Count the calls in the file whose result is checked and whose result is ignored, under all aliases."""
    spellings = (site.name, *(alias for alias, name in site.source.aliases.items() if name == site.name))
    return _counted(site.source.text, spellings)


def _counted(text: bytes, spellings: tuple[bytes, ...]) -> tuple[int, int]:
    counts = _counts_cache(text)
    if spellings not in counts:
        counts[spellings] = _count(text, spellings)
    return counts[spellings]


@lru_cache(maxsize=2)
def _counts_cache(text: bytes) -> dict[tuple[bytes, ...], tuple[int, int]]:
    """Return the cache of counts for a text; kept for two texts, the original and the masked content of a file."""
    return {}


def _count(text: bytes, spellings: tuple[bytes, ...]) -> tuple[int, int]:
    """Return the number of checked and of ignored calls; stop early if most calls are clearly ignored."""
    checked = ignored = 0
    for name in spellings:
        at = -1
        for _ in range(OCCURRENCES_MAX):
            at = text.find(name + b"(", at + 1)
            if at < 0 or ignored - checked > IGNORED_MAX:
                break
            if text[max(0, at - 1)] in WORD:
                continue
            before = text[max(0, at - LEFT) : at].removesuffix(b"std::").rstrip(SPACE)
            if _is_looked_at(name, before):
                checked += 1
            elif not before or (before[-1] in EDGES and not before.endswith(b"(void)")):
                ignored += b"stderr" not in text[at : at + STATEMENT_MAX].partition(b";")[0]
    return checked, ignored


def _is_looked_at(name: bytes, before: bytes) -> bool:
    if before.endswith(b"=") and not before.endswith((b"==", b"!=", b"<=", b">=")):
        # The length of the text is most often used for other purposes.
        return name not in INTO_MEMORY
    return before.endswith(TESTS) or (before.endswith(b"(") and BRANCH.search(before) is not None)


RULES: tuple[Rule, ...] = (
    rule(
        "result_checked_elsewhere", check_outlier, calls=tuple(name.decode() for name in NAMES), dismisses=is_no_outlier
    ),
)
