"""boundary_funcs: copies and reads whose size does not match the destination buffer."""

import re
from typing import NamedTuple

from jarvis_workers.sec.rules.analysis.bounds_checks import comes_from_outside, is_limited
from jarvis_workers.sec.rules.analysis.buffer_sizes import BufferSizes
from jarvis_workers.sec.rules.analysis.symbolic_sizes import Amount, size_of_type, squeezed
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

WIDE = 4
NARROW = (1, 2)
APPENDING = (b"strncat", b"wcsncat")
PADDING = (b"strncpy", b"wcsncpy", *APPENDING)
PROVEN, ALMOST, LIKELY, OPEN, FAINT = 0.35, 0.1, 0.05, -0.05, -0.1
NAME = lazy(rb"[A-Za-z_]\w*+\Z")
OF_ONE = lazy(rb"sizeof\(?(\*?[\w.>\[\]-]+)\)?\Z")
BASE = lazy(rb"[\s(&*]*+([A-Za-z_]\w*+)")
ADDRESS = lazy(rb"(?:\([\w\s*]+\)\s*)?&\s*([A-Za-z_]\w*+)\Z")
STORAGE = lazy(rb"\bsockaddr_storage\b")
MEASURED = lazy(rb"(?:wcs|str)len\(")


class Shape(NamedTuple):
    """Signature of a function: number of arguments (0: any), argument positions, and the size of a `unit` in bytes."""

    argument_count: int
    target: int
    sizes: tuple[int, ...]
    source: int | None = None
    unit: int = 1
    reads: bool = False
    copies: bool = True


SHAPES: dict[bytes, Shape] = {
    **dict.fromkeys(
        b"memcpy memmove mempcpy strncpy stpncpy strlcpy CopyMemory RtlCopyMemory".split(), Shape(3, 0, (2,), 1)
    ),
    **dict.fromkeys(b"wmemcpy wmemmove wcsncpy".split(), Shape(3, 0, (2,), 1, WIDE)),
    **dict.fromkeys(b"copy_from_user __copy_from_user memcpy_fromio".split(), Shape(3, 0, (2,), 1)),
    b"bcopy": Shape(3, 1, (2,), 0),
    b"strncat": Shape(3, 0, (2,), 1),
    b"wcsncat": Shape(3, 0, (2,), 1, WIDE),
    b"strlcat": Shape(3, 0, (2,), None, copies=False),
    b"memset": Shape(3, 0, (2,), None, copies=False),
    b"wmemset": Shape(3, 0, (2,), None, WIDE, copies=False),
    b"snprintf": Shape(0, 0, (1,), None, copies=False),
    b"vsnprintf": Shape(0, 0, (1,), None, copies=False),
    b"swprintf": Shape(0, 0, (1,), None, WIDE, copies=False),
    b"fgets": Shape(3, 0, (1,), None, copies=False),
    b"fread": Shape(4, 0, (1, 2), None, reads=True),
    b"read": Shape(3, 1, (2,), None, reads=True),
    b"pread": Shape(4, 1, (2,), None, reads=True),
    b"recv": Shape(4, 1, (2,), None, reads=True),
    b"recvfrom": Shape(6, 1, (2,), None, reads=True),
    b"readlink": Shape(3, 1, (2,), None, reads=True),
}


def check_size(site: Site) -> float | None:
    """Raise the confidence if the sizes prove an overflow; lower it if the only evidence is that no limit was found."""
    shape = SHAPES[site.name]
    arguments = site.arguments
    if arguments.end is None or (
        len(arguments.spans) != shape.argument_count
        if shape.argument_count
        else len(arguments.spans) < shape.sizes[-1] + 1
    ):
        return None
    target = site.masked(shape.target).strip()
    sizes = [site.masked(index).strip() for index in shape.sizes]
    if len(sizes) == 1 and (of_one := OF_ONE.match(squeezed(sizes[0]))):
        return _of_one(site, shape, squeezed(target), of_one[1])
    return _of_many(site, shape, target, b" * ".join(b"(%b)" % size for size in sizes) if len(sizes) > 1 else sizes[0])


def _of_one(site: Site, shape: Shape, target: bytes, measured: bytes) -> float | None:
    """Check a size that is a plain `sizeof`: of the target, of its pointee, or of something else."""
    if measured == target:
        if NAME.match(target) and BufferSizes(site).is_pointer(target):
            return LIKELY
        if site.name in APPENDING or shape.unit > 1:
            return PROVEN
        return _ended_behind(site, shape, target)
    if target in (b"&" + measured, measured.removeprefix(b"*")) or measured.startswith(b"*"):
        return None
    return _of_many(site, shape, target, b"sizeof(%b)" % measured)


def _of_many(site: Site, shape: Shape, target: bytes, size: bytes) -> float | None:
    scope = BufferSizes(site)
    size = _of_literal(site, scope) or size
    plain = scope.plain_size(size)
    if plain is None:
        return None
    capacities = scope.capacities(target)
    if capacities:
        comparisons = [_compared(site, scope, shape, size, capacity) for capacity in capacities]
        if "more" in comparisons:
            return PROVEN if set(comparisons) == {"more"} else ALMOST
        if set(comparisons) == {"no more"}:
            return _ended_behind(site, shape, target) if plain in capacities else None
        if "perhaps" in comparisons:
            return LIKELY
    if not shape.copies:
        return None
    return _unlimited(site, scope, size, capacities)


def _compared(site: Site, scope: BufferSizes, shape: Shape, size: bytes, capacity: Amount) -> str:
    """Compare the size with the capacity, first as written, then with the values of its variables."""
    for amount in (scope.plain_size(size), scope.size(size)):
        if amount is None:
            return ""
        needed = _needed(site, scope, amount).times(Amount.of(shape.unit))
        if comparison := needed.compared(capacity):
            return comparison
        if _bounded(scope, needed).compared(capacity) == "no more":
            return "no more"
    return ""


def _of_literal(site: Site, scope: BufferSizes) -> bytes:
    """Return the length of an appended literal, which is the number of bytes written; empty for anything else."""
    source = site.masked(1).strip() if site.name in APPENDING else b""
    length = scope.length(source) if source[:1] in (b'"', b"L") or source.isupper() else None
    return b"" if length is None or length.number is None else b"%d" % length.number


def _needed(site: Site, scope: BufferSizes, amount: Amount) -> Amount:
    if site.name not in APPENDING:
        return amount
    target = site.masked(0).strip()
    length = scope.length(target) if NAME.match(target) else Amount.of(0)
    length = Amount.named(b"strlen(%b)" % squeezed(target)) if length is None else length
    return amount.plus(length).plus(Amount.of(1))


def _bounded(scope: BufferSizes, amount: Amount) -> Amount:
    """Replace string lengths in arrays and narrow integers by their upper bounds."""
    total = Amount.of(0)
    for factors, times in amount.terms:
        product = Amount.of(times)
        for name in factors:
            most = _most(scope, name) if times > 0 else None
            product = product.times(most or Amount.named(name))
        total = total.plus(product)
    return total


def _most(scope: BufferSizes, name: bytes) -> Amount | None:
    if measured := MEASURED.match(name):
        return scope.max_length(name[measured.end() : -1])
    match = scope.declared(name) if NAME.match(name) else None
    width = size_of_type(match.type).number if match and not match.stars and not match.dimensions else None
    return Amount.of((1 << 8 * width) - 1) if width in NARROW else None


def _unlimited(site: Site, scope: BufferSizes, size: bytes, capacities: list[Amount]) -> float | None:
    """Return the adjustment for a size that is not comparable with the capacity, by its origin and its checks."""
    plain = scope.plain_size(size)
    fixed = bool(capacities) and all(capacity.is_plain for capacity in capacities)
    if plain is None or not plain.raising or (capacities and not fixed):
        return None
    amount = scope.size(size)
    names = plain.raising | (amount.raising if amount else frozenset())
    if is_limited(site, names) or _is_moved_within(site, scope) or _holds_any_address(site, scope):
        return None
    if any(MEASURED.match(name) for name in names):
        return _strlen_adjustment(scope, names) if fixed else FAINT if site.name in PADDING else None
    if comes_from_outside(site, scope, names):
        return LIKELY if fixed else None if _was_sized(site, scope, names) else FAINT
    return _unknown(site, scope, names) if fixed else None


def _is_moved_within(site: Site, scope: BufferSizes) -> bool:
    """Return whether the source points into the target, so that the copied bytes fit."""
    source = SHAPES[site.name].source
    base = BASE.match(site.masked(SHAPES[site.name].target))
    if source is None or base is None or not NAME.match(site.masked(source).strip()):
        return False
    values = scope.values(site.masked(source).strip())
    return any(match is not None and match[1] == base[1] for match in (BASE.match(value.text) for value in values))


def _holds_any_address(site: Site, scope: BufferSizes) -> bool:
    """Return whether the target is a `struct sockaddr_storage`, which POSIX makes large enough for every address."""
    target = ADDRESS.match(site.masked(SHAPES[site.name].target).strip())
    declared = scope.declared(target[1]) if target else None
    return declared is not None and STORAGE.search(declared.type) is not None


def _unknown(site: Site, scope: BufferSizes, names: frozenset[bytes]) -> float | None:
    """Return the adjustment for a size of unknown origin; None for a target parameter, which callers must check."""
    base = BASE.match(site.masked(SHAPES[site.name].target))
    if base is not None and scope.is_parameter(base[1]):
        return None
    match = all(NAME.match(name) and scope.is_parameter(name) for name in names)
    return OPEN if match else FAINT


def _strlen_adjustment(scope: BufferSizes, names: frozenset[bytes]) -> float:
    """Return the adjustment for a size from strlen, lower if callers pass literals or if a member is measured."""
    match = (MEASURED.match(name) for name in names)
    texts = [one.string[one.end() : -1] for one in match if one]
    return ALMOST if any(NAME.match(text) and not scope.passed_literal_length(text) for text in texts) else OPEN


def _was_sized(site: Site, scope: BufferSizes, names: frozenset[bytes]) -> bool:
    """Return whether the target was allocated with this size."""
    base = BASE.match(site.masked(SHAPES[site.name].target))
    return base is not None and any(name in value.text for value in scope.values(base[1]) for name in names)


def _ended_behind(site: Site, shape: Shape, target: bytes) -> float | None:
    """Check for an off-by-one write: with `n = read(fd, b, sizeof b); b[n] = 0`, a full read writes past the end."""
    if not shape.reads or not NAME.match(target) or site.result.kind != "assigned":
        return None
    count = site.result.target
    if not NAME.match(count):
        return None
    after = site.after(600)
    at = after.find(b"%b[%b]" % (target, count))
    if at < 0 or after[at + len(target) + len(count) + 2 :].lstrip()[:1] != b"=" or after[:at].count(b"\n}"):
        return None
    between = after[:at]
    shortened = re.search(
        rb"\b%b\s*(?:>=|==|>|<|--|-=|=[^=])\s*+(?!0|-1|1\b)|--%b|[<>]=?\s*+%b\b" % (count, count, count), between
    )
    return None if shortened else ALMOST


RULES: tuple[Rule, ...] = (rule("boundary_funcs", check_size, calls=tuple(name.decode() for name in SHAPES)),)
