"""snprintf_result: the result of snprintf is used as a length or an offset, although it may exceed the buffer.

snprintf returns the length that the text would have without truncation.
"""

import re

from jarvis_workers.sec.rules.analysis.buffer_sizes import BufferSizes
from jarvis_workers.sec.rules.analysis.examined import is_examined
from jarvis_workers.sec.rules.analysis.printf_length import printed_length
from jarvis_workers.sec.rules.analysis.symbolic_sizes import Amount
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.functions import Function
from jarvis_workers.source.lazy_regex import lazy

REACH, LEFT, LOOP_LEFT = 4_096, 160, 2_048
WRAPS, OVERREADS, OFF_BY_ONE, OF_NUMBERS = 0.1, 0.05, -0.1, -0.1
NAMES = b"snprintf vsnprintf swprintf vswprintf".split()
CAST = rb"(?:\(\s*(?:unsigned\s+|s?size_t|int|long|u?int\d*_t|uint|u\d+|s\d+)[\w\s]*\)\s*)?"
ADDED = lazy(rb"(?<![\w.>])((?:\w+\s*(?:->|\.)\s*)*\w+)\s*\+=\s*" + CAST + rb"\Z")
SUMMED = lazy(rb"(?<![\w.>])((?:\w+\s*(?:->|\.)\s*)*\w+)\s*=\s*\1\s*\+\s*" + CAST + rb"\Z")
SET = lazy(rb"(?<![\w.>])((?:\w+\s*(?:->|\.)\s*)*\w+)\s*=\s*" + CAST + rb"\Z")
COMPARED = (
    rb"%b\s*\)?\s*(?:[<>]=?(?![<>])|[!=]=)(?!\s*(?:0\b|-\s*1))|(?:[^-<>][<>]=?|[!=]=)\s*\(*(?:\w+\s*\)\s*)?%b\b"
    rb"|\b\w*(?i:min|clamp|limit|bound)\w*\s*\([^;]*?%b\b"
)
CHANGED = (
    rb"(?<![\w.>])%b\s*(?:\+?=(?!=)\s*"
    + CAST
    + rb"(?:(?P<call>snprintf)(?=\s*\()|(?P<value>[^;,]*))|[-*/|&^%%]=|\+\+|--)"
)
OFFSET = rb"\+\s*%b\b|\[\s*%b\s*\]|-\s*\(?%b\b|&\s*\w+\s*\[\s*%b\b"
SENT = (
    rb"\b(?:write|send|sendto|fwrite|memcpy|memmove|memchr|writev?n?|BIO_write|SSL_write|\w+_write|\w+_send|\w+_append\w*|\w+_put\w*)\s*"
    rb"\((?:[^;()]|\([^()]*\))*\b%b\b(?:[^;()]|\([^()]*\))*,\s*(?:[^;(),]*\*\s*)?%b\s*(?:[+]\s*1\s*)?[,)]|\b%b\s*\[\s*%b\s*(?:-\s*1\s*)?\]\s*="
)
PLAIN = lazy(rb"[A-Za-z_]\w*(?:\s*(?:->|\.)\s*\w+)*\Z")
NAME = lazy(rb"[A-Za-z_]\w*+\Z")
LOOP = lazy(rb"\b(?:for|while|do)\b")


def is_unused(name: bytes, content: bytes, end: int) -> bool:
    """Dismiss a call whose result is not assigned."""
    before = content[max(0, end - len(name) - LEFT) : end - len(name)].removesuffix(b"std::").rstrip()
    return not before.endswith((b"=", b"+", b")"))


def check_result(site: Site) -> float | None:
    """Check a sum of results that is an offset again, and a result that is the length of what is sent or copied."""
    function = site.function
    end = site.arguments.end
    size = site.masked(1).strip()
    if function is None or end is None or size in (b"", b"0") or len(site.arguments.spans) < 3:
        return None
    before = site.source.text[max(function.body[0], site.start - LEFT) : site.start]
    behind = site.source.text[end : min(function.body[1], end + REACH)]
    if not is_examined(site, "snprintf_result"):
        return None
    added = ADDED.search(before) or SUMMED.search(before)
    if added:
        return _of_sum(site, b"".join(added[1].split()), size, behind)
    assigned = SET.search(before)
    return _of_length(site, assigned[1].strip(), size, behind) if assigned else None


def _of_sum(site: Site, name: bytes, size: bytes, behind: bytes) -> float | None:
    """Check `at += snprintf(to + at, size - at, ...)`: if `at` exceeds the size, the next difference wraps around."""
    squeezed = b"".join(size.split())
    if not squeezed.endswith((b"-" + name, b"-(" + name + b")")) and b"-" + name + b"-" not in squeezed:
        return None
    function = site.function
    if function is None:
        return None
    word = re.escape(name)
    first = site.source.text[max(function.body[0], site.start - LOOP_LEFT) : site.start]
    around = first + behind
    if re.search(COMPARED % (word, word, word), around):
        return None
    if _holds_all_texts(site, function, squeezed.partition(b"-")[0]):
        return None
    is_followed = re.search(OFFSET % ((word,) * 4), behind) is not None
    if not _is_in_loop(first) and (not is_followed or _is_sum_bounded(site, function, name)):
        return None
    return WRAPS + (OF_NUMBERS if _is_bounded(site) else 0.0)


def _is_sum_bounded(site: Site, function: Function, name: bytes) -> bool:
    """Return whether the texts up to this one, all of bounded length and outside of loops, fit the buffer together."""
    text = site.source.text
    most = 0
    for match in re.finditer(CHANGED % re.escape(name), text[function.body[0] : site.at + 1]):
        start = function.body[0] + match.start("call")
        if match["call"] is None:
            if (match["value"] or b"").strip() != b"0":
                return False
            continue
        one = Site(site.source, b"snprintf", start, function.body[0] + match.end("call"))
        printed = printed_length(one, 2)
        if printed is None or printed.most is None or _is_in_loop(text[function.body[0] : start]):
            return False
        most += printed.most
    target = site.masked(0).partition(b"+")[0].strip()
    capacities = BufferSizes(site).capacities(target) if PLAIN.match(target) else None
    return bool(capacities) and all(Amount.of(most + 1).compared(one) == "no more" for one in capacities or ())


def _holds_all_texts(site: Site, function: Function, size: bytes) -> bool:
    """Return whether the size is a variable to which the function assigned a sum with the length of each text."""
    if NAME.match(size) is None:
        return False
    before = site.source.text[max(function.body[0], site.start - REACH) : site.start]
    sums = list(re.finditer(rb"\b%b\s*+=(?!=)([^;]*+);" % re.escape(size), before))
    texts = [site.masked(number).strip() for number in range(3, len(site.arguments.spans))]
    return bool(sums and texts) and all(
        NAME.match(text) and re.search(rb"\bstrlen\s*+\(\s*+%b\s*+\)" % re.escape(text), sums[-1][1]) for text in texts
    )


def _of_length(site: Site, name: bytes, size: bytes, behind: bytes) -> float | None:
    """Check `n = snprintf(text, size, ...)` followed by `write(fd, text, n)` or `text[n] = 0`."""
    target = site.masked(0).strip()
    if not PLAIN.match(target) or not PLAIN.match(name):
        return None
    word, text = re.escape(name), re.escape(target)
    sent = re.search(SENT % (text, word, text, word), behind)
    if sent is None:
        return None
    between = behind[: sent.start()]
    if re.search(rb"\b%b\s*(?:=(?!=)|[-+]=)" % word, between):
        return None
    compared = re.search(COMPARED % (word, word, word), between + b" " + sent[0])
    if compared:
        same = re.search(rb"\b%b\s*>\s*(?:\(\s*\w+\s*\)\s*)?%b\s*\)" % (word, re.escape(size)), between)
        return OFF_BY_ONE if same and not _fits(site, target) else None
    return None if _fits(site, target) else OVERREADS


def _is_in_loop(before: bytes) -> bool:
    """Return whether a loop begins in the text before a statement and does not end there."""
    begins = [match.end() for match in LOOP.finditer(before)]
    if not begins:
        return False
    rest = before[begins[-1] :]
    inside = rest[rest.rfind(b")") + 1 :]
    return rest.count(b"{") > rest.count(b"}") or (b"{" not in rest and b";" not in inside)


def _is_bounded(site: Site) -> bool:
    printed = printed_length(site, 2) if site.name == b"snprintf" else None
    return printed is not None and printed.most is not None


def _fits(site: Site, target: bytes) -> bool:
    """Return whether the longest text fits the buffer."""
    printed = printed_length(site, 2) if site.name == b"snprintf" else None
    if printed is None or printed.most is None:
        return False
    capacities = BufferSizes(site).capacities(target)
    needed = Amount.of(printed.most + 1)
    return bool(capacities) and all(needed.compared(one) == "no more" for one in capacities)


RULES: tuple[Rule, ...] = (
    rule("snprintf_result", check_result, calls=tuple(name.decode() for name in NAMES), dismisses=is_unused),
)
