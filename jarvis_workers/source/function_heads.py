"""Read the head of a C or C++ function backwards from its brace: its name and the span of its parameters.

Usually the name stands before the last parentheses. A definition that a macro makes, such as `DEFINE_FN(name) {`, is
named by the macro.
"""

import re

from jarvis_workers.source.c_tokens import BLANK
from jarvis_workers.source.lazy_regex import lazy
from jarvis_workers.source.lex import LOGICAL_LINE, is_spliced

# The length of the longest head that is read, and of a name.
HEAD_MAX = 1_024
NAME_MAX = 128
EDGES = (b";", b"}", b"{")
INITIALIZERS = lazy(rb"\)\s*(?:noexcept\s*)?:(?!:)")
# Fast path for most function heads: one pair of parentheses directly before the brace.
PLAIN_HEAD = re.compile(rb"(?>[^\w()=~]++|\w++(?!\s*+\())*+(?P<name>[A-Za-z_]\w{0,63}+)\s*+\((?P<given>[^()]*+)\)\s*+")
OPERATOR = lazy(
    rb"\boperator(?:\s*[^\s\w]{1,3}|\s*\"\"\s*\w+|\s*+(?<=\s)[A-Za-z_:][\w:<>, \t.*&]*+\s*+(?:\[\s*+\]\s*+)?)\Z"
)
WORD = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_" + bytes(range(128, 256))
NO_NAMES = frozenset(
    b"__attribute__ __attribute noexcept throw alignas decltype requires __declspec explicit _Pragma __pragma"
    b" _Alignas typeof __typeof__ __typeof asm __asm__ __asm const".split()
)
# Of these, the words of C++ that are names in C.
OF_CPP = frozenset(b"noexcept throw alignas decltype requires explicit".split())
CONTROL = frozenset(b"if for while switch do else return".split())
# What stands before the name of a type, or of a macro for an attribute of one.
KINDS = (b"struct", b"class", b"union", b"enum")
TYPEDEF = lazy(rb"\s*+typedef\b")
# The name of a macro for an attribute with arguments, which follows the parameters.
ATTRIBUTE = lazy(rb"[A-Z][A-Z\d_]++|__\w++")
# What a name follows if it is that of a function: a type. Storage classes are not enough.
TYPED = lazy(rb"(?:[*&>]|::|\b(?!(?:static|extern|inline|virtual|constexpr|friend)\b)\w+)\s*+\Z")
PARAMETERS_END = lazy(rb"\)(?>\s*+(?:const|noexcept|override|final|volatile|&&?))*+\s*+\Z")
TRAILING_TYPE = lazy(rb"\)(?>\s*+(?:const|mutable|noexcept(?>\s*+\([^()]*+\))?|&&?))*+\s*+->")
IDENTIFIER = lazy(rb"\s*+([A-Za-z_]\w*+)\s*+")
DIRECTIVES = lazy(rb"(?m)^[ \t]*+#" + LOGICAL_LINE)
# The initializer of a default argument.
BRACED = lazy(rb"=[^{};()]*+(?P<braces>\{[^{};]*+\})")
# The head of a template, whose arguments are nested four times.
TEMPLATE = lazy(rb"\btemplate\s*+<" + (rb"(?>[^<>;{}]|<" * 3) + rb"[^<>;{}]*+" + (rb">)*+" * 3) + rb">")
GROUPS_MAX, DEFAULTS_MAX = 8, 4

# Name, its offset, and the span of the parameters.
Head = tuple[bytes, int, tuple[int, int]]


def function_head(text: bytes, start: int, place: int) -> Head | None:
    if TYPEDEF.match(text, start, place):
        return None
    if plain := PLAIN_HEAD.fullmatch(text, start, place):
        name = plain["name"]
        if name in CONTROL or _names_type(text, start, plain.start("name")):
            return None
        if name in NO_NAMES and not (name in OF_CPP and TYPED.search(text, start, plain.start("name"))):
            return None
        if text.find(b"operator", start, place) < 0:
            return name, plain.start("name"), plain.span("given")
    end = place
    if text.find(b":", start, place) >= 0 and (initializers := INITIALIZERS.search(text, start, place)):
        end = initializers.start() + 1
    elif text.find(b"auto", start, place) >= 0 and (trailing := TRAILING_TYPE.search(text, start, place)):
        end = trailing.start() + 1
    return _grouped_head(text, start, end)


def _grouped_head(text: bytes, start: int, end: int, *, nested: bool = False) -> Head | None:
    """Parse a head by its parentheses, the last ones first."""
    attribute: Head | None = None
    behind: tuple[int, int] | None = None
    for _ in range(GROUPS_MAX):
        closed = text.rfind(b")", start, end)
        opened = _opening(text, start, closed)
        if opened < 0:
            break
        group, after = (opened + 1, closed), text[closed + 1 : end].lstrip()[:1]
        name, end = _name_before(text, max(start, opened - NAME_MAX), opened)
        if name in CONTROL:
            break
        if not nested and not ATTRIBUTE.fullmatch(name) and (inner := _declarator(text, group, behind, after)):
            return inner
        behind = None if name else group
        if not name or name in NO_NAMES or _has_initializer(text, start, end):
            continue
        if _names_type(text, start, end):
            return None
        head = name, end, group
        if _follows_parameters(text, start, head):
            attribute = attribute or head
        elif attribute and not _takes_attribute(text, start, head, attribute[1]):
            break
        else:
            return _prototype_macro(text, start, head) or head
    return attribute


def _has_initializer(text: bytes, start: int, end: int) -> bool:
    """Return whether there is a `=` before a name, which is not that of a default argument of a template."""
    return text.find(b"=", start, end) >= 0 and b"=" in TEMPLATE.sub(b"", text[start:end])


def _declarator(text: bytes, group: tuple[int, int], behind: tuple[int, int] | None, after: bytes) -> Head | None:
    """Parse `(name)(parameters)`, `(*name(parameters))(those of the result)` or `(*name(parameters))[2]`.

    `behind` are the parentheses that follow those of the group and have no name of their own.
    """
    if behind and (alone := IDENTIFIER.fullmatch(text, *group)) and not after:
        return alone[1], alone.start(1), behind
    is_result = (behind and not after) or after == b"["
    return _grouped_head(text, *group, nested=True) if is_result and text[slice(*group)].lstrip()[:1] == b"*" else None


def _follows_parameters(text: bytes, start: int, head: Head) -> bool:
    """Return whether what looks like a head may be a macro for an attribute behind one: `f(int a) LOCKS(b)`."""
    name, at, _ = head
    return ATTRIBUTE.fullmatch(name) is not None and PARAMETERS_END.search(text, start, at) is not None


def _names_type(text: bytes, start: int, name: int) -> bool:
    """Return whether a name follows `struct` or the like."""
    before = text[start:name].rstrip()
    return before.endswith(KINDS) and before[len(before.rstrip(WORD)) :] in KINDS


def _takes_attribute(text: bytes, start: int, head: Head, attribute: int) -> bool:
    """Return whether a head is that of a function with attributes, and not a macro for a type: `API(int) F(int a)`."""
    name, at, (_, closed) = head
    if TYPED.search(text, start, at):
        return True
    return ATTRIBUTE.fullmatch(name) is None and text.find(b"\n", closed, attribute) < 0


def _prototype_macro(text: bytes, start: int, head: Head) -> Head | None:
    """Parse `int f P((int a))`, where a macro omits the parameters for old compilers."""
    name, at, (first, last) = head
    given = text[first:last].strip()
    if not given.startswith(b"(") or not ATTRIBUTE.fullmatch(name + b"_"):
        return None
    closed = text.rfind(b")", first, last)
    opened = _opening(text, first, closed)
    before, end = _name_before(text, max(start, at - NAME_MAX), at)
    is_whole = not text[first:opened].strip() and not text[closed + 1 : last].strip()
    return (before, end, (opened + 1, closed)) if before and is_whole and TYPED.search(text, start, end) else None


def split_head(text: bytes, start: int, place: int) -> Head | None:
    """Parse a head that is interrupted by directives, or by the braces of default arguments."""
    rest = text[start:place]
    if not 0 < len(rest) < HEAD_MAX or (rest.strip() and rest.count(b")") <= rest.count(b"(")):
        return None
    floor = _declaration_start(text, place)
    code = DIRECTIVES.sub(_blanked, text[floor:place])
    code = BRACED.sub(_without_braces, code)
    if code.rstrip().endswith((b"=", b",", b"(")):
        return None
    head = function_head(code, max(code.rfind(edge) for edge in EDGES) + 1, len(code))
    if head is None:
        return None
    name, at, (first, last) = head
    return name, floor + at, (floor + first, floor + last)


def _declaration_start(text: bytes, place: int) -> int:
    """Return the end of the last edge before a brace, except those of the braces of default arguments."""
    floor = place - HEAD_MAX if place > HEAD_MAX else 0
    while floor and (line_end := text.find(b"\n", floor, place)) >= 0:
        floor = line_end + 1
        if not is_spliced(text, line_end):
            break
    start = _last_edge(text, floor, place)
    for _ in range(DEFAULTS_MAX):
        if text[start - 1 : start] != b"}" or (opened := text.rfind(b"{", floor, start)) < 0:
            break
        before = _last_edge(text, floor, opened)
        if text.find(b"=", before, opened) < 0:
            break
        start = before
    return start


def _last_edge(text: bytes, floor: int, end: int) -> int:
    return max(floor, *(text.rfind(edge, floor, end) + 1 for edge in EDGES))


def _blanked(match: re.Match[bytes]) -> bytes:
    return match[0].translate(BLANK)


def _without_braces(match: re.Match[bytes]) -> bytes:
    return match[0][: match.start("braces") - match.start()] + match["braces"].translate(BLANK)


def _name_before(text: bytes, floor: int, opened: int) -> tuple[bytes, int]:
    """Return the name before a `(`, possibly empty, and its start offset."""
    before = text[floor:opened].rstrip()
    if b"operator" in before and (operator := OPERATOR.search(before)):
        return operator[0], floor + operator.start()
    rest = before.rstrip(WORD)
    name = before[len(rest) :]
    if name[:1].isdigit():
        return b"", opened
    if rest.endswith(b"~") and name:
        return b"~" + name, floor + len(rest) - 1
    return name, floor + len(rest) if name else opened


def _opening(text: bytes, start: int, closed: int) -> int:
    """Return the offset of the `(` that matches a `)`, or -1."""
    at, depth = closed, 1
    for _ in range(HEAD_MAX):
        if at < start:
            return -1
        opened = text.rfind(b"(", start, at)
        depth += text.count(b")", max(opened, start), at) - 1
        if depth == 0:
            return opened
        at = opened
    return -1
