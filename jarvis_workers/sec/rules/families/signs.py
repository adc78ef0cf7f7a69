"""sign_comparison: comparisons that are always true or false because one side is unsigned."""

import re

from jarvis_workers.sec.rules.analysis.examined import is_examined
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

LEFT, REACH, DECLARED = 96, 1_024, 4_096
NEVER, WRAPS = 0.15, -0.1
READS = b"read recv recvfrom recvmsg write send sendto pread pwrite readlink getline readv writev splice".split()
LENGTHS = b"strlen wcslen".split()
LISTED = rb"\s+(?:\w+\s*(?:=[^;,]*)?,\s*)*%b\s*[;=,]"
NOT_SUBTRACTED = lazy(rb"\s*\([^()]*+\)(?!\s*-)")
UNSIGNED = (
    rb"\b(?:size_t|unsigned(?:\s+(?:int|long|short|char))*|uint(?:8|16|32|64)_t|uint|u_int|u(?:8|16|32|64)|uint\d+|DWORD|UINT"
    rb"|ULONG)" + LISTED
)
ASSIGNED = lazy(rb"(?<![\w.>*])([A-Za-z_]\w*)\s*=\s*\Z")
NEGATIVE = rb"(?<![\w.>])%b\s*\)?\s*(?:<\s*0\b|<=\s*-\s*1\b|>=\s*0\b)"
TESTED = lazy(rb"\s*\)\s*(?:<\s*0\b|<=\s*-\s*1\b|>=\s*0\b)")
LOOP = lazy(rb"(?:<=?)\s*\Z")
SUBTRACTED = lazy(rb"\s*-\s*(?:\d+|sizeof\b[^;&|]{0,40})\s*(?:[;)&|])")
IN_LOOP = lazy(rb"\b(?:for\s*\([^;{}]*;[^;{}]*|while\s*\([^;{}]*)\Z")
CHECKED = (
    rb"\bstrlen\s*\(\s*%b\s*\)\s*(?:[<>=!]=?|==)\s*[1-9]|if\s*\(\s*!?\s*\*?\s*%b\s*(?:\[\s*0\s*\])?\s*(?:\)|&&|==|!=)"
    rb"|\*\s*%b\s*(?:==|!=|&&|\))|%b\s*\[\s*0\s*\]\s*(?:==|!=)|!\s*strlen"
)


def is_unsuspicious(name: bytes, content: bytes, end: int) -> bool:
    """Dismiss a length from which nothing is subtracted, and a result that is not assigned."""
    if name in LENGTHS:
        return NOT_SUBTRACTED.match(content, end) is not None
    return not content[max(0, end - len(name) - 8) : end - len(name)].rstrip().endswith(b"=")


def check_sign(site: Site) -> float | None:
    """Check a result that may be -1 in an unsigned variable that is tested for less than 0, and `strlen(text) - 1`."""
    function = site.function
    end = site.arguments.end
    if function is None or end is None:
        return None
    return _of_length(site, end) if site.name in LENGTHS else _of_result(site, end)


def _of_result(site: Site, end: int) -> float | None:
    text, function = site.source.text, site.function
    assigned = ASSIGNED.search(text[max(0, site.start - LEFT) : site.start])
    if assigned is None or function is None:
        return None
    name = re.escape(assigned[1])
    behind = text[end : min(function.body[1], end + REACH)]
    if not TESTED.match(behind) and not re.search(NEGATIVE % name, behind):
        return None
    if not is_examined(site, "sign_comparison"):
        return None
    declared = text[max(function.body[0], site.start - DECLARED) : site.start + 1]
    return NEVER if re.search(UNSIGNED % name, declared) else None


def _of_length(site: Site, end: int) -> float | None:
    """Check the condition of a loop that compares with `strlen(text) - 1`, which is huge for an empty text."""
    text, function = site.source.text, site.function
    if function is None or not SUBTRACTED.match(text, end, end + 64):
        return None
    before = text[max(function.body[0], site.start - LEFT * 4) : site.start]
    if not LOOP.search(before) or not IN_LOOP.search(before):
        return None
    name = re.escape(site.masked(0).strip())
    checked = re.search(CHECKED % ((name,) * 4), text[max(function.body[0], site.start - DECLARED) : site.start])
    return None if checked else WRAPS


RULES: tuple[Rule, ...] = (
    rule(
        "sign_comparison",
        check_sign,
        calls=tuple(name.decode() for name in (*READS, *LENGTHS)),
        dismisses=is_unsuspicious,
    ),
)
