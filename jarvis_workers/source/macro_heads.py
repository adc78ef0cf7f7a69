"""Find function heads whose parameter list is a macro: `int f STD_ARGLIST {`.

The macro is known if the file defines it with a text in parentheses. A macro of another file is guessed: its name is in
capitals, it follows a type and a name, and the braces contain statements.
"""

from functools import cached_property

from jarvis_workers.source.c_tokens import SPLICE
from jarvis_workers.source.function_heads import Head
from jarvis_workers.source.lazy_regex import lazy

DEFINED = lazy(rb"#[ \t]*+define[ \t]++(\w++)(?>[ \t]|" + SPLICE + rb")++\((?=\s*+[A-Za-z_).])")
LINKAGE = lazy(rb"\s*+extern\s*+\"[^\"]*+\"")
# All that the head of such a function consists of, and what separates its last two words.
ALLOWED = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_*: \t\r\n\f\v"
ALLOWED_LAST = ALLOWED.translate(None, b"*:")
WORD = lazy(rb"[A-Za-z_]\w*+")
GUESSED = lazy(rb"_*+[A-Z][A-Z\d_]++")
STORAGE = frozenset(b"static extern inline const volatile register constexpr __inline __inline__".split())
# `struct s *f ARGLIST {` is a function, `struct PACKED NAME {` is none.
TAGGED = frozenset(b"struct union enum".split())
TYPES = frozenset(b"void char short int long float double signed unsigned bool _Bool auto".split())
NO_NAMES = STORAGE | TAGGED | TYPES
NO_HEADS = frozenset(
    b"typedef class namespace using export module import concept interface __interface template friend requires public"
    b" private protected if else do for while switch return case default goto try catch asm new delete operator".split()
)
# The code up to the end of the first statement or inner head of a body.
FIRST = lazy(rb"([^;{}]*+)([;{}])")
FIRST_MAX = 2_048


class ParameterMacros:
    """The macros of a masked text that may stand for a parameter list."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def head(self, start: int, place: int) -> Head | None:
        """Return the head before a brace; the span of its parameters is that of the macro."""
        text = self._text
        if linkage := LINKAGE.match(text, start, place):
            start = linkage.end()
        if text[start:place].translate(None, ALLOWED):
            return None
        words = list(WORD.finditer(text, start, place))
        if len(words) < len(("name", "macro")) or text[words[-2].end() : place].translate(None, ALLOWED_LAST):
            return None
        *before, name, macro = words
        types = [word[0] for word in before]
        if name[0] in NO_NAMES or macro[0] in NO_NAMES or not NO_HEADS.isdisjoint((*types, name[0], macro[0])):
            return None
        is_pointer = b"*" in text[before[-1].end() if before else start : name.start()]
        if self._is_guessed(types, macro[0], place, is_pointer=is_pointer) or self._is_defined(types, macro[0]):
            return name[0], name.start(), macro.span()
        return None

    def _is_guessed(self, types: list[bytes], macro: bytes, place: int, *, is_pointer: bool) -> bool:
        """Return whether a head is one although its macro is not defined in this file."""
        if GUESSED.fullmatch(macro) is None or STORAGE.issuperset(types):
            return False
        if not TAGGED.isdisjoint(types) and not is_pointer:
            return False
        first = FIRST.match(self._text, place + 1, place + FIRST_MAX)
        if first is None:
            return False
        # A list of values has no statement, but it may be empty; so may a body.
        code, end = first[1].rstrip(), first[2]
        return end == b";" or (code.endswith(b")") if end == b"{" else not code)

    def _is_defined(self, types: list[bytes], macro: bytes) -> bool:
        return macro in self._defined and (not types or types[-1] not in TAGGED)

    @cached_property
    def _defined(self) -> frozenset[bytes]:
        return frozenset(one[1] for one in DEFINED.finditer(self._text))
