"""errno_unchecked: calls of strtol and related functions whose errors are not detected."""

from jarvis_workers.sec.rules.analysis.mentions import uses
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

REACH = 1_200
FROM_OUTSIDE, NEVER_LOOKED_AT, RANGE_CHECKED, NOT_CLEARED, FROM_KNOWN_TEXT = 0.1, 0.05, -0.1, -0.05, -0.15
INTEGERS = b"strtol strtoul strtoll strtoull strtoimax strtoumax strtoq strtouq wcstol wcstoul".split()
REALS = b"strtod strtof strtold wcstod".split()
NAME = lazy(rb"[A-Za-z_]\w*+\Z")
NOTHING = lazy(rb"(?:\(\s*(?:char|void|wchar_t)\s*\*\s*\**\s*\)\s*)?(?:NULL|nullptr|0)\Z")
OUTSIDE = lazy(rb"\b(?:argv|optarg|getenv|fgets|recv|getline|environ)\b")
OF_THE_PROGRAM = lazy(rb"\s*\w++\(\)\s*\Z")
ERRNO = lazy(rb"\berrno\b")
CLEARED = lazy(rb"\berrno\s*=\s*0\b|\bset_?errno\s*\(\s*0|SetLastError\s*\(")
LIMITS = lazy(rb"\b(?:U?(?:LL?ONG|INT|INTMAX|SIZE|SHRT)_(?:MAX|MIN)|HUGE_VALF?L?|U?INT\d+_(?:MAX|MIN)|DBL_MAX)\b")
BOUNDED = lazy(rb"\s*(?:[<>]=?)(?![<>])")


def check_conversion(site: Site) -> float | None:
    """Raise the confidence if the text is untrusted input and neither the end pointer nor errno is checked."""
    function = site.function
    arguments = site.arguments
    counts = (2,) if site.name in REALS else (3,)
    if function is None or arguments.end is None or len(arguments.spans) not in counts:
        return None
    text = site.source.text
    behind = text[arguments.end : min(function.body[1], arguments.end + REACH)]
    if _looks_at_end(site):
        return None
    if ERRNO.search(behind):
        cleared = CLEARED.search(text, function.body[0], function.body[1])
        return None if cleared or LIMITS.search(behind) else NOT_CLEARED
    moved = 0.0 if NOTHING.match(site.masked(1).strip()) else NEVER_LOOKED_AT
    if OUTSIDE.search(site.masked(0)):
        moved += FROM_OUTSIDE
    elif OF_THE_PROGRAM.match(site.masked(0)):
        moved += FROM_KNOWN_TEXT
    return moved + (RANGE_CHECKED if _is_bounded(site) else 0.0)


def _looks_at_end(site: Site) -> bool:
    """Return whether the end pointer is used after the call, or is not local, so that other code may check it."""
    pointer = site.masked(1).strip()
    if NOTHING.match(pointer):
        return False
    name = pointer[1:].strip() if pointer.startswith(b"&") else b""
    if not NAME.match(name) or site.masked(0).strip() == name:
        return True
    if any(use.kind != "assignment" for use in site.uses_after(name)):
        return True
    function = site.function
    if function is None:
        return True
    before = uses(site.source.text, name, function.body[0], site.start)
    return not any(use.kind in ("declaration", "assignment") for use in before)


def _is_bounded(site: Site) -> bool:
    """Return whether the number is compared with a bound soon after the call."""
    text, target = site.source.text, site.result.target
    if site.result.kind != "assigned" or not NAME.match(target):
        return False
    near = [use for use in site.uses_after(target, 400)][:4]
    return any(BOUNDED.match(text, use.at + len(target)) for use in near)


RULES: tuple[Rule, ...] = (
    rule("errno_unchecked", check_conversion, calls=tuple(name.decode() for name in (*INTEGERS, *REALS))),
)
