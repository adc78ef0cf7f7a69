"""output_unchecked and result_checked_elsewhere: results of output functions and the like that nobody looks at.

Ignoring every result of printf is common; errors are noticed if ferror, fflush or fclose is tested at the end.  Of a
file that does neither, the first ignored result is reported for a stream that this file opens: the terminal and streams
of the caller are left alone.  If a file checks most results of a function, the few unchecked calls are likely mistakes.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

FORMATTED, REMOVED = 0.05, 0.05
OCCURRENCES_MAX, IGNORED_MAX, NAMES_MAX = 400, 4, 64
LEFT, STATEMENT_MAX = 64, 200
STREAMS = {
    **dict.fromkeys(b"fprintf vfprintf fwprintf vfwprintf".split(), 0),
    **dict.fromkeys(b"fputs fputws fputc fputwc putc putwc".split(), 1),
    **dict.fromkeys(b"fwrite".split(), 3),
}
STANDARD = b"printf vprintf wprintf vwprintf puts _putws putws putchar putwchar".split()
INTO_MEMORY = b"snprintf _snprintf swprintf _snwprintf vsnprintf _vsnprintf vswprintf".split()
REMOVES = b"remove _wremove rmdir _rmdir _wrmdir".split()
OUTPUTS = (*STREAMS, *STANDARD)
FIRST = -0.05
CHECKS, CLOSES = (b"ferror(", b"ferror (", b"close_stdout"), (b"fclose", b"fflush")
LAST_NAME = lazy(rb"([A-Za-z_]\w*+)\s*+\Z")
OPENS = rb"(?<!\w)%b\s*+=(?!=)[^;{}]{0,120}?(?:open|tmpfile)\w*\s*+\("
DEVICE = lazy(rb'\s*+"/dev/')
OPENING = (b"open", b"tmpfile")
ERRORS = lazy(rb"std(?:err|log)\Z|err(?:or)?(?:_?file)?\Z|log|dbg|debug|trace")
TESTS = (b"!", b"=", b"<", b">", b"&&", b"||")
USED = (b"(", b",", b"=", b"!", b"return", b"|", b"&")
BRANCH = lazy(rb"\b(?:if|while)\s*+\(\s*+\Z")
EDGES = frozenset(b";{}):")
WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
SPACE = b" \t\r\n"


def is_no_outlier(name: bytes, content: bytes, end: int) -> bool:
    """Dismiss a call whose result is used, and a function whose result the file never checks."""
    before = _before(name, content, end)
    if before and before[-1] not in EDGES and not before.endswith((b"else", b"do")):
        return before.endswith(USED)
    return not _counted(content, (name,))[0]


def _before(name: bytes, content: bytes, end: int) -> bytes:
    return content[max(0, end - len(name) - LEFT) : end - len(name)].removesuffix(b"std::").rstrip(SPACE)


def is_of_no_interest(name: bytes, content: bytes, end: int) -> bool:
    """Dismiss a call whose result is used, and one that would not be the first of a file that notices nothing."""
    before = _before(name, content, end)
    if before and before[-1] not in EDGES and not before.endswith((b"else", b"do")):
        return before.endswith(USED)
    return (name in STANDARD or not _may_write(content)) and not _counted(content, (name,))[0]


@lru_cache(maxsize=2)
def _may_write(content: bytes) -> bool:
    """Return whether a file may open a stream, and never notices that its output failed."""
    return any(word in content for word in OPENING) and not _notices(content)


def check_output(site: Site) -> float | None:
    """Report an outlier, or the first ignored result of a file that never notices that its output failed."""
    if site.arguments.end is None or site.result.kind != "ignored" or site.function is None:
        return None
    if site.name in STREAMS and ERRORS.match(site.masked(STREAMS[site.name]).strip()):
        return None
    checked, ignored = _tally(site)
    if checked and checked >= ignored:
        return 0.0
    source = site.source
    if source.test or source.header or site.name in STANDARD or not _is_opened_here(site):
        return None
    if source.once("notices failed output", lambda: _notices(source.text)):
        return None
    return FIRST if source.once("first output", lambda: site.start) == site.start else None


def _is_opened_here(site: Site) -> bool:
    """Return whether the file assigns an opened stream to the variable or the member that is written to."""
    stream = LAST_NAME.search(site.masked(STREAMS[site.name]))
    if stream is None:
        return False
    source = site.source
    cache: dict[bytes, bool] = source.once("opened streams", dict)
    if stream[1] not in cache and len(cache) < NAMES_MAX:
        opened = re.search(OPENS % stream[1], source.text)
        cache[stream[1]] = opened is not None and not DEVICE.match(source.content, opened.end())
    return cache.get(stream[1], False)


def _notices(text: bytes) -> bool:
    """Return whether a file tests ferror, or the result of closing or flushing a stream."""
    return any(call in text for call in CHECKS) or any(
        text[max(0, at - LEFT) : at].removesuffix(b"std::").rstrip(b" (").endswith(USED) for at in _closes(text)
    )


def _closes(text: bytes) -> Iterator[int]:
    """Yield where a file closes or flushes streams, at most OCCURRENCES_MAX each."""
    for name in CLOSES:
        at = text.find(name)
        for _ in range(OCCURRENCES_MAX):
            if at < 0:
                break
            yield at
            at = text.find(name, at + len(name))


def check_outlier(site: Site) -> float | None:
    if site.arguments.end is None or site.result.kind != "ignored":
        return None
    checked, ignored = _tally(site)
    if not checked or checked < ignored or site.function is None:
        return None
    return FORMATTED if site.name in INTO_MEMORY else REMOVED


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
    rule("output_unchecked", check_output, calls=tuple(name.decode() for name in OUTPUTS), dismisses=is_of_no_interest),
    rule(
        "result_checked_elsewhere",
        check_outlier,
        calls=tuple(name.decode() for name in (*INTO_MEMORY, *REMOVES)),
        dismisses=is_no_outlier,
    ),
)
