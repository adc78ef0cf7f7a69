"""alloc_size_overflow, alloca_unbounded and vla_usage: allocations whose size the program does not control."""

import re

from jarvis_workers.sec.rules.analysis.bounds_checks import comes_from_outside, is_limited
from jarvis_workers.sec.rules.analysis.buffer_sizes import BufferSizes
from jarvis_workers.sec.rules.analysis.declarations import Assigned
from jarvis_workers.sec.rules.analysis.symbolic_sizes import Amount, is_fixed
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

SIZE_ARGUMENT: dict[bytes, int] = {
    **dict.fromkeys(
        b"malloc valloc kmalloc kzalloc kvmalloc kvzalloc vmalloc vzalloc xmalloc zmalloc ztrymalloc g_malloc "
        b"g_malloc0 g_try_malloc av_malloc av_mallocz OPENSSL_malloc OPENSSL_zalloc emalloc sqlite3_malloc "
        b"pvPortMalloc k_malloc PyMem_Malloc PyObject_Malloc safe_malloc CRYPTO_malloc".split(),
        0,
    ),
    **dict.fromkeys(
        b"realloc xrealloc zrealloc krealloc kvrealloc g_realloc av_realloc OPENSSL_realloc erealloc sqlite3_realloc "
        b"PyMem_Realloc aligned_alloc memalign devm_kmalloc devm_kzalloc apr_palloc LocalAlloc GlobalAlloc".split(),
        1,
    ),
    **dict.fromkeys(b"posix_memalign HeapAlloc".split(), 2),
}
STACK: dict[bytes, int] = {
    **dict.fromkeys(b"alloca _alloca __builtin_alloca strdupa g_alloca".split(), 0),
    **dict.fromkeys(b"strndupa g_newa".split(), 1),
}
PRODUCT, OF_TYPES, OF_FIELDS = 0.6, -0.15, -0.2
NAME = lazy(rb"[A-Za-z_]\w*+\Z")
# The product in front of a division may already have wrapped around.
DIVISION = lazy(rb"/\s*+[0-9]++\b")
MEMBER = lazy(rb"\w++(?>(?:->|\.)\w++)++\Z")
LENGTH = lazy(rb"\s*+(?:\([^()]*+\)\s*+)?(?:str|wcs)len\s*+\(")
NARROW = frozenset(b"uint8_t u8 __u8 uint16_t u16 __u16 char short BYTE WORD bool".split())
HARMLESS = lazy(rb"(?:str|wcs)n?len\(|sizeof\(|sds\w*len\(|\w*_size\(\)\Z|PAGE_SIZE")
SHAPE = r"\];"
STATEMENT_MAX = 200
DECLARATION = lazy(
    rb"""(?>\s*+\#[^\n]*+\n)*+\s*+(?P<words>(?>[A-Za-z_]\w*+(?>::\w++)*+(?:<[^<>;{}]{0,64}>)?(?:\s++[\s*&]*+|[*&]++[\s*&]*+))++)
    (?>[A-Za-z_]\w*+(?>\[[^][]*+\])*+\s*+,[\s*]*+)*+(?P<name>[A-Za-z_]\w*+)\s*+\[""",
    re.VERBOSE,
)
DIMENSION = lazy(rb"\[((?>[^][]++|\[[^][]*+\])*+)\]")
SMALL = lazy(rb"[a-z]")
NO_DECLARATION = frozenset(
    b"return else case goto new delete sizeof in and or not throw typedef extern static constexpr define".split()
)
OF_CONSTANTS = lazy(rb"\(*(?:\(\w+\)\s*)?(?:sizeof|ARRAY_SIZE|[0-9]|[A-Z_][A-Z0-9_]*\Z)")


def check_product(site: Site) -> float | None:
    """Check for an unchecked product of two variables, or a size from outside; `n * sizeof` has a lower confidence."""
    index = SIZE_ARGUMENT[site.name]
    size = site.masked(index)
    if b"*" not in size and b"+" not in size and b"<<" not in size and not NAME.match(size.strip()):
        return None
    scope = BufferSizes(site)
    amount = scope.size(size, follow=1) if NAME.match(size.strip()) else scope.plain_size(size)
    if amount is None and b"/" in size:
        amount = scope.plain_size(DIVISION.sub(b"", size))
    if amount is None:
        return None
    terms = [(_numbers(factors), times) for factors, times in amount.terms if factors]
    names = {name for numbers, _ in terms for name in numbers}
    if not names or is_limited(site, names):
        return None
    grows = any(len(numbers) > 1 or (numbers and times > 1) or _scaled(amount, numbers) for numbers, times in terms)
    if comes_from_outside(site, scope, names, wide=True):
        return 0.2 if grows else 0.0 if len(amount.terms) > 1 else None
    if not grows or all(_is_narrow(scope, name) for name in names):
        return None
    return _unchecked(site, scope, [numbers for numbers, _ in terms], names)


def check_stack(site: Site) -> float | None:
    """Raise the confidence if the size is untrusted input, lower it if the size is limited."""
    size = site.masked(STACK[site.name]).strip()
    if not size or (site.name == b"strdupa" and size[:1] == b'"'):
        return None
    scope = BufferSizes(site)
    amount = scope.size(size) if site.name != b"strdupa" else Amount.named(b"strlen(%b)" % size)
    if amount is not None and not _numbers(tuple(amount.names)):
        return None
    names = set(_numbers(tuple(amount.names))) if amount is not None else {size}
    if is_limited(site, names):
        return -0.25
    return 0.15 if comes_from_outside(site, scope, names) else 0.0


def check_array(site: Site) -> float | None:
    """Check for a local array whose size is a variable, a member or the result of a call."""
    dimensions = [one for one in _dimensions(site.source.text, site.start) if SMALL.search(one)]
    if not dimensions or site.function is None:
        return None
    scope = BufferSizes(site)
    amounts = [scope.plain_size(one) for one in dimensions if b"?" not in one]
    names = {name for amount in amounts if amount is not None for name in _numbers(tuple(amount.names))}
    varying = [name for name in names if _varies(scope, name)]
    if not varying:
        return None
    if is_limited(site, varying):
        return -0.1
    if comes_from_outside(site, scope, varying):
        return 0.2
    return 0.1 if any(b"len(" in name or scope.is_parameter(name) for name in varying) else 0.0


def _unchecked(site: Site, scope: BufferSizes, products: list[tuple[bytes, ...]], names: set[bytes]) -> float | None:
    if any(HARMLESS.search(name) for name in names):
        return None
    wide = any(len(numbers) > 1 for numbers in products)
    if wide:
        return 0.0
    of_types = b"sizeof" in site.masked(SIZE_ARGUMENT[site.name])
    match = all(NAME.match(name) and scope.is_parameter(name) and not scope.values(name) for name in names)
    if match:
        return OF_TYPES if of_types else OF_TYPES + 0.05
    return OF_FIELDS if not of_types and all(_is_open(scope, name) for name in names) else None


def _is_open(scope: BufferSizes, name: bytes) -> bool:
    """Return whether a number may be as large as its type: a member, or the length of a string of the caller."""
    if not NAME.match(name):
        return MEMBER.match(name) is not None
    values = scope.values(name)
    return bool(values) and all(LENGTH.match(value.text) for value in values)


def _numbers(factors: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Return the factors that are not fixed at compile time."""
    return tuple(name for name in factors if not is_fixed(name))


def _scaled(amount: Amount, numbers: tuple[bytes, ...]) -> bool:
    return any(set(numbers) < set(factors) for factors, _ in amount.terms if numbers)


def _is_narrow(scope: BufferSizes, name: bytes) -> bool:
    match = scope.declared(name) if NAME.match(name) else None
    return match is not None and not NARROW.isdisjoint(match.type.split())


def _dimensions(text: bytes, closed: int) -> list[bytes]:
    """Return the dimensions of the declaration that ends at a `]`; empty if no declaration ends there."""
    window = text[max(0, closed - STATEMENT_MAX) : closed + 1]
    statement = window[max(window.rfind(b";"), window.rfind(b"{"), window.rfind(b"}")) + 1 :]
    if not SMALL.search(statement, statement.rfind(b"[", 0, -1)):
        return []
    match = DECLARATION.match(statement)
    if match is None or not NO_DECLARATION.isdisjoint(re.findall(rb"\w+", match["words"])):
        return []
    return DIMENSION.findall(statement, match.end("name"))


def _varies(scope: BufferSizes, name: bytes) -> bool:
    """Return whether a name is a variable, not an enumerator, constant or template parameter declared elsewhere."""
    if not NAME.match(name):
        return b"->" in name or b"." in name or b"(" in name
    declaration = scope.declared(name)
    if declaration is None or declaration.dimensions:
        return False
    if {b"const", b"constexpr", b"static"} & set(declaration.type.split()) and not scope.is_parameter(name):
        value = scope.values(name)
        expression = scope.plain_size(value[0].text) if value else None
        return expression is not None and bool(_numbers(tuple(expression.names)))
    return not all(OF_CONSTANTS.match(value.text) for value in scope.values(name) or [Assigned(b"", 0)])


RULES: tuple[Rule, ...] = (
    rule("alloc_size_overflow", check_product, calls=tuple(name.decode() for name in SIZE_ARGUMENT)),
    rule("alloca_unbounded", check_stack, calls=tuple(name.decode() for name in STACK)),
    rule("vla_usage", check_array, shapes=(SHAPE,)),
)
