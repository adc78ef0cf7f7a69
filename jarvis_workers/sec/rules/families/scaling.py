"""scaled_twice: bytes that are added to a pointer to larger elements, and the size of a pointer taken for an array's.

C multiplies what is added to a pointer by the size of its target: `p + n * sizeof(*p)` goes too far by that factor.
"""

import re

from jarvis_workers.sec.rules.analysis.declarations import Declaration, Scope
from jarvis_workers.sec.rules.analysis.examined import is_examined
from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.lazy_regex import lazy

LEFT = 96
OF_ITSELF, OF_ANOTHER, OF_COUNT = 0.15, 0.0, 0.1
FIRST_OPERAND = rb"(?:[({},;=?:]\s*|\breturn\s+|[<>]=?\s+)(?P<name>[A-Za-z_]\w*)\s*"
FACTOR = rb"(?:[A-Za-z_0-9][\w.>\[\]-]*|\((?>[^()]++)\))\s*"
ADDED = lazy(FIRST_OPERAND + rb"\Z")
MULTIPLIED = lazy(FIRST_OPERAND + rb"[-+]=?\s*\(?\s*" + FACTOR + rb"\Z")
MEASURED = lazy(
    rb"sizeof\s*(?:\(\s*(?P<inner>[^()]*+)\)|(?P<bare>\*?\s*[\w.>\[\]-]+))(?P<divided>\s*\)*\s*(?:[/%]|>>))?"
)
COUNTED = lazy(rb"(?<![\w.>])sizeof\s*(?:\(\s*(?P<inner>[A-Za-z_]\w*)\s*\)|\s(?P<bare>[A-Za-z_]\w*))\s*\Z")
OF_BYTES = lazy(rb"(?i)(?<!w)char(?!16|32)|byte|octet|void|int8|\b[su]8\b|\b_?bool\b")
WIDE = lazy(
    rb"\b(?:struct|union|short|int|long|unsigned|signed|float|double|s?size_t|(?:u_?)?int(?:16|32|64)_t|[us](?:16|32|64)"
    rb"|g?u?int(?:16|32|64)|wchar_t|u?intptr_t|time_t|off_t|char(?:16|32)_t)\b"
)
QUALIFIERS = frozenset(b"const volatile static register struct union enum extern".split())


def check_scaled(site: Site) -> float | None:
    """Check a `sizeof` behind an operator: added to a pointer, multiplied by a number that is added, or a divisor."""
    text = site.source.text
    measured = MEASURED.search(text, site.start, site.start + LEFT)
    if site.function is None or measured is None:
        return None
    before = text[max(site.function.body[0] - 1, site.start - LEFT) : site.start]
    if text.startswith(b"/", site.start):
        return _of_count(site, before, _measured(measured))
    match = (MULTIPLIED if text.startswith(b"*", site.start) else ADDED).search(before)
    if match is None or measured["divided"] or text.startswith(b"*=", site.start):
        return None
    return _of_sum(site, match["name"], _measured(measured))


def _measured(match: re.Match[bytes]) -> bytes:
    return b"".join((match["inner"] or match["bare"] or b"").replace(b"const ", b"").split(b" "))


def _of_sum(site: Site, name: bytes, measured: bytes) -> float | None:
    """Check bytes that are added to a pointer; those of its own element, or its elements are known to be larger."""
    declaration = Scope(site).declared(name) if is_examined(site, "scaled_twice") else None
    if declaration is None or not (declaration.stars or declaration.dimensions) or _is_of_bytes(declaration):
        return None
    if _is_element(declaration, name, measured):
        return OF_ITSELF
    wide = declaration.stars + len(declaration.dimensions) > 1 or WIDE.search(declaration.type)
    return OF_ANOTHER if wide and not _names_bytes(measured) else None


def _of_count(site: Site, before: bytes, measured: bytes) -> float | None:
    """Check `sizeof(p) / sizeof(*p)` of a pointer, which is no number of elements."""
    match = COUNTED.search(before)
    if match is None or not is_examined(site, "scaled_twice"):
        return None
    name, scope = match["inner"] or match["bare"], Scope(site)
    declaration = scope.declared(name) if scope.is_pointer(name) else None
    return OF_COUNT if declaration is not None and _is_element(declaration, name, measured) else None


def _is_of_bytes(declaration: Declaration) -> bool:
    """Return whether the elements have one byte, or may have: then the scale is 1."""
    words = declaration.type.split()
    if declaration.stars + len(declaration.dimensions) > 1 or b"struct" in words or b"union" in words:
        return False
    return OF_BYTES.search(declaration.type) is not None or b"<" in declaration.type


def _names_bytes(measured: bytes) -> bool:
    return not measured.endswith(b"*") and OF_BYTES.fullmatch(measured.replace(b"unsigned", b"")) is not None


def _is_element(declaration: Declaration, name: bytes, measured: bytes) -> bool:
    """Return whether a size is that of the pointer's target, by its name or its type."""
    if measured in (b"*" + name, b"(*" + name, name + b"[0]"):
        return True
    kind = b"".join(word for word in declaration.type.split() if word not in QUALIFIERS)
    stars = declaration.stars + len(declaration.dimensions) - 1
    return re.fullmatch(rb"(?:struct|union|enum)?" + re.escape(kind + b"*" * stars), measured) is not None


RULES: tuple[Rule, ...] = (rule("scaled_twice", check_scaled, shapes=(r"[-+*/]=? ?sizeof",)),)
