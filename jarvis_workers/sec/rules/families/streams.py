"""cin_no_width: `>>` reads a word of any length into an array of characters.

`width()` and `setw` apply to a single extraction, so each extraction needs its own.
"""

from jarvis_workers.sec.rules.analysis.declarations import Scope
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

POINTER = -0.1
REACH, CHAIN_MAX = 400, 2_000
EXTRACTS = lazy(rb"\s*+>>(?!=)")
LINK = lazy(rb"\s*+>>\s*+(?P<target>(?:std\s*+::\s*+)?[A-Za-z_]\w*+)\s*+(?P<more>\(|\[|\.|->|::)?")
ARGUMENTS = lazy(rb"[^()]*+\)")
CHARACTERS = lazy(rb"\b(?:char|wchar_t|char8_t|char16_t|TCHAR|CHAR|WCHAR)\b")
TAKES_NEXT = lazy(rb"\b(?:std\s*+::\s*+)?w?cin\s*+(?:(?P<limits>\.\s*+width\s*+\()|>>)")
WIDTHS = frozenset((b"setw", b"std::setw"))


def takes_nothing(name: bytes, content: bytes, end: int) -> bool:
    return EXTRACTS.match(content, end) is None


def check_extraction(site: Site) -> float | None:
    """Follow the chain `cin >> setw(8) >> a >> b`; the width of the first extraction may be set before the chain."""
    if site.function is None:
        return None
    text, at = site.source.text, site.at
    limited = _is_limited(site)
    scope = Scope(site)
    while link := LINK.match(text, at, at + REACH):
        if at - site.at > CHAIN_MAX:
            return None
        at, name = link.end(), b"".join(link["target"].split())
        if link["more"]:
            match = ARGUMENTS.match(text, at) if link["more"] == b"(" else None
            if match is None:
                return None
            at, limited = match.end(), limited or name in WIDTHS
            continue
        if not limited and (moved := _is_buffer(scope, name)) is not None:
            return moved
        limited = False
    return None


def _is_limited(site: Site) -> bool:
    """Return whether the last operation on `cin` in the function set a width."""
    last = None
    body = site.function.body[0] if site.function else site.start
    for last in TAKES_NEXT.finditer(site.source.text, max(body, site.start - CHAIN_MAX), site.start):  # noqa: B007
        pass
    return last is not None and last["limits"] is not None


def _is_buffer(scope: Scope, name: bytes) -> float | None:
    declared = scope.declared(name)
    if declared is None or CHARACTERS.search(declared.type) is None:
        return None
    if len(declared.dimensions) == 1 and not declared.stars:
        return 0.0
    return POINTER if declared.stars == 1 and not declared.dimensions else None


RULES: tuple[Rule, ...] = (rule("cin_no_width", check_extraction, words=("cin", "wcin"), dismisses=takes_nothing),)
