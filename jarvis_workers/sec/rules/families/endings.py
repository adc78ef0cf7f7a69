"""strncpy_no_nul: a string that may lack its terminating NUL."""

from jarvis_workers.sec.rules.analysis.buffer_sizes import BufferSizes
from jarvis_workers.sec.rules.analysis.declarations import bare
from jarvis_workers.sec.rules.analysis.size_hints import was_measured
from jarvis_workers.sec.rules.analysis.symbolic_sizes import Amount, squeezed
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

AFTER = 1_024
BEFORE = 4_096
MENTIONS_MAX = 32
FULL, FIELD, NEARLY, LINK = 0.15, -0.1, -0.15, 0.0
BASE = lazy(rb"[\s(&*]*+([A-Za-z_]\w*+(?>(?:->|\.)\w++|\[[^][]*+\](?=\.|->))*+)")
CUTS = lazy(rb"\s*+\[[^][]*+(?>\[[^][]*+\][^][]*+)*+\]\s*+=(?!=)|\s*+\+[^;=]{0,80}\)?\s*+=(?!=)")
ZEROED = lazy(
    rb"\b(?:memset|bzero|ZeroMemory|memzero|clear\w*|explicit_bzero|RtlZeroMemory)\s*+\(\s*+(?:\([^()]*+\)\s*+)?&?\s*+\Z"
)
CLEARED = lazy(
    rb"\s*+(?>\[[^][]*+\]\s*+)*+=\s*+(?:\{|L?\"|\w*(?:zalloc|calloc|new0|alloc0|ZALLOC)\w*\s*+\(|\(\w[^()]*+\)\s*+\w*(?:zalloc|calloc)\w*\s*+\()"
)
END_SET = lazy(rb"\[\s*+(\d{1,9}|[^][;]{1,60}-\s*+1)\s*+\]\s*+=\s*+(?:0\b|')")
ENDED = lazy(rb"\b(?:strlen|memset|null_terminate|fixstring|strz|terminate)\w*\s*+\(\s*+\Z")
LINKS = (b"readlink", b"readlinkat")


def check_ending(site: Site) -> float | None:
    """Lower the confidence for structure fields, which may have a fixed width by design, and if a byte remains free."""
    first = 1 if site.name == b"readlink" else 2 if site.name == b"readlinkat" else 0
    arguments = site.arguments
    if arguments.end is None or len(arguments.spans) != (4 if site.name == b"readlinkat" else 3):
        return None
    target = squeezed(bare(site.masked(first)))
    base = BASE.match(target)
    if base is None or _is_ended(site, base[1]):
        return None
    if site.name in LINKS:
        return None if _uses_length(site) else LINK
    scope = BufferSizes(site)
    size = scope.plain_size(site.masked(2))
    capacities = scope.capacities(site.masked(0))
    if size is None or _source_fits(site, scope, size):
        return None
    return _left_open(site, base[1], size, capacities)


def _left_open(site: Site, base: bytes, size: Amount, capacities: list[Amount]) -> float | None:
    is_field = b"." in base or b">" in base
    measured = squeezed(site.masked(2)).removeprefix(b"sizeof").strip(b"()")
    target = squeezed(site.masked(0))
    if measured == target or size in capacities:
        return FIELD if is_field else NEARLY if was_measured(site, site.masked(1)) else FULL
    spare = [capacity.plus(size, -1).number for capacity in capacities]
    leaves_one = bool(spare) and all(number is not None and number > 0 for number in spare)
    if leaves_one or squeezed(site.masked(2)).endswith(b"-1"):
        return None if is_field or _is_zeroed(site, base, size) or _is_static(site, base) else NEARLY
    source = squeezed(site.masked(1))
    if squeezed(site.masked(2)) == b"strlen(%b)" % source:
        return FIELD
    return None


def _source_fits(site: Site, scope: BufferSizes, size: Amount) -> bool:
    """Return whether the source is known to be shorter than the size, so that its NUL is copied too."""
    source = site.masked(1).strip()
    length = scope.length(source) or scope.max_length(source)
    if length is None:
        return source.isupper()
    comparison = length.plus(Amount.of(1)).compared(size)
    return comparison == "no more" or (not comparison and source[:1] == b'"')


def _is_ended(site: Site, base: bytes) -> bool:
    """Return whether an element of the target is assigned after the copy; it is usually the NUL."""
    after = site.after(AFTER)
    leaves = after.find(b"\n}")
    after = b"".join(after[: leaves if leaves >= 0 else AFTER].split())
    at = -1
    for _ in range(MENTIONS_MAX):
        at = after.find(base, at + 1)
        if at < 0:
            return False
        if CUTS.match(after, at + len(base)) or ENDED.search(after[max(0, at - 24) : at]):
            return True
    return False


def _is_zeroed(site: Site, base: bytes, size: Amount) -> bool:
    """Return whether the target was zeroed before the copy, or its end, behind what the copy writes."""
    before = site.before(BEFORE)
    at = len(before)
    for _ in range(MENTIONS_MAX):
        at = before.rfind(base, 0, at)
        if at < 0:
            return False
        end = END_SET.match(before, at + len(base)) if before.startswith(b"[", at + len(base)) else None
        if end is not None and (not end[1].isdigit() or (size.number is not None and int(end[1]) >= size.number)):
            return True
        if CLEARED.match(before, at + len(base)) or ZEROED.search(before[max(0, at - 48) : at]):
            return True
    return False


def _is_static(site: Site, base: bytes) -> bool:
    """Return whether the target has static storage duration, and so is zero-initialized."""
    function = site.function
    declaration = BufferSizes(site).declared(base)
    if declaration is None or function is None:
        return False
    return b"static" in declaration.type.split() or declaration.at < function.start


def _uses_length(site: Site) -> bool:
    """Return whether the length is returned to the caller, who may terminate the string or use the byte count."""
    return site.result.kind == "returned"


RULES: tuple[Rule, ...] = (
    rule("strncpy_no_nul", check_ending, calls=("strncpy", "stpncpy", "wcsncpy", "readlink", "readlinkat")),
)
