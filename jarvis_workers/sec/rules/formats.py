"""format_string and scanf_no_width: what the format argument of a printf or scanf says."""

import re

from jarvis_workers.sec.rules.literals import is_constant, pieces, provenance
from jarvis_workers.sec.rules.rule import Site

__all__ = ["FORMAT_ARGUMENT", "WIDTH_ARGUMENT", "check_format", "check_width", "has_literal_format"]

FORMAT_ARGUMENT = {
    name: index
    for index, names in enumerate(
        (
            b"printf vprintf wprintf vwprintf printk warn warnx vwarn vwarnx setproctitle",
            b"fprintf vfprintf fwprintf vfwprintf dprintf vdprintf sprintf vsprintf asprintf vasprintf syslog vsyslog "
            b"err errx verr verrx",
            b"snprintf vsnprintf swprintf vswprintf",
        )
    )
    for name in names.split()
}
WIDTH_ARGUMENT = {
    name: index
    for index, names in enumerate((b"scanf vscanf wscanf", b"fscanf vfscanf fwscanf sscanf vsscanf swscanf"))
    for name in names.split()
}
CONVERSION = re.compile(
    rb"%(?:\d+\$)?(?P<skip>\*?)(?P<width>\d*)(?:hh|h|ll|l|q|j|z|t|L)?(?P<allocates>m?)l?(?P<kind>.)", re.DOTALL
)
MACRO_HEAD = re.compile(rb"\s*#\s*define\s+\w+\(([^)]*)\)")
MACRO_LINES_MAX = 32
FORWARDS = -0.35
# A plain argument, then a literal: nothing in it can hide a quote or a comment.
PLAIN = rb"""(?:[^"'/#\\(),;{}]++|\([^"'/#\\(){};]*+\))*+,\s*+"""
LITERAL_AT = tuple(re.compile(rb"[ \t]*+\(\s*+" + PLAIN * index + rb'"') for index in range(3))


def check_format(site: Site) -> float | None:
    """A format that is not a constant; worst when nothing else is passed, so that it was meant to be plain text."""
    index = FORMAT_ARGUMENT[site.name]
    spans = site.arguments.spans
    given = site.masked(index).strip()
    if index >= len(spans) or is_constant(given) or (index and site.masked(0).lstrip()[:1] == b'"'):
        return None
    origin = provenance(site, given)
    if origin == "constant":
        return None
    if site.name[:1] == b"v" or given in _macro_parameters(site):
        return FORWARDS
    moved = 0.15 if len(spans) == index + 1 else -0.1
    if origin == "mixed":
        moved -= 0.15
    return moved - 0.1 if site.name[:3] in (b"err", b"war") else moved


def has_literal_format(name: bytes, content: bytes, end: int) -> bool:
    return LITERAL_AT[FORMAT_ARGUMENT[name]].match(content, end) is not None


def check_width(site: Site) -> float | None:
    """A literal format with a %s or %[ that has no width and is neither skipped nor allocated."""
    index = WIDTH_ARGUMENT[site.name]
    held = pieces(site.masked(index), site.original(index))
    for match in CONVERSION.finditer(held):
        if match["kind"] in b"sS[" and not (match["skip"] or match["width"] or match["allocates"]):
            return -0.1 if site.name in (b"sscanf", b"vsscanf", b"swscanf") else 0.0
    return None


def _macro_parameters(site: Site) -> frozenset[bytes]:
    """Return the parameters of the macro in whose body the site stands."""
    text = site.source.text
    floor = max(0, site.start - 2_048)
    start = text.rfind(b"\n", floor, site.start) + 1
    for _ in range(MACRO_LINES_MAX):
        if not text[max(0, start - 3) : max(0, start - 1)].rstrip(b"\r").endswith(b"\\"):
            break
        start = text.rfind(b"\n", floor, start - 1) + 1
    head = MACRO_HEAD.match(text, max(start, floor), site.start)
    return frozenset(word.strip() for word in head[1].split(b",")) if head else frozenset()
