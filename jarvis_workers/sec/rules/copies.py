"""unsafe_api and atoi_family, insecure_tmpfile: calls that are a finding by themselves, more or less sure."""

import re

from jarvis_workers.sec.rules.literals import is_constant, pieces
from jarvis_workers.sec.rules.rule import Site

__all__ = ["check_conversion", "check_copy", "check_tmpfile"]

ARGUMENTS = {b"gets": (1, 1), b"sprintf": (2, 99), b"vsprintf": (3, 3)}
COPIES = (2, 2)
UNBOUNDED_STRING = re.compile(rb"%[-+ #0]*\*?\d*(?:l?s|S)")
SIMPLE = re.compile(rb"[\w.\[\]>-]{1,64}\Z")
FROM_OUTSIDE = re.compile(rb"\b(?:argv|optarg|getenv|fgets|recv|getline|strtok\w*|environ)\b")


def check_copy(site: Site) -> float | None:
    """An unbounded copy; less so when its source is constant or was measured just before."""
    least, most = ARGUMENTS.get(site.name, COPIES)
    given = site.arguments
    if given.end is not None and not least <= len(given.spans) <= most:
        return None
    if site.name == b"gets":
        return 0.15
    if site.name in (b"sprintf", b"vsprintf"):
        return _formatted(site)
    source = site.masked(1)
    if is_constant(source):
        return -0.35
    return -0.2 if _was_measured(site, source.strip()) else 0.0


def check_conversion(site: Site) -> float | None:
    given = site.arguments
    if given.end is not None and len(given.spans) != 1:
        return None
    text = site.masked(0)
    if is_constant(text):
        return None
    return 0.1 if FROM_OUTSIDE.search(text) else 0.0


def check_tmpfile(site: Site) -> float | None:
    given = site.arguments
    wanted = 2 if site.name == b"tempnam" else 1
    return None if given.end is not None and len(given.spans) != wanted else 0.0


def _formatted(site: Site) -> float:
    text = site.masked(1)
    if b'"' not in text:
        return -0.1 if is_constant(text) else 0.0
    return 0.0 if UNBOUNDED_STRING.search(pieces(text, site.original(1))) else -0.3


def _was_measured(site: Site, source: bytes) -> bool:
    if not SIMPLE.match(source):
        return False
    before = site.before(600)
    at = before.rfind(source)
    while at >= 0:
        if before[max(0, at - 12) : at].rstrip(b" \t(").endswith((b"strlen", b"wcslen", b"sizeof")):
            return True
        at = before.rfind(source, max(0, at - 400), at)
    return False
