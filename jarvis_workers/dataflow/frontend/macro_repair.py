"""Rewrite source that does not parse because its macros are unknown; lines keep their numbers.

Attribute macros are removed, the stars of types in argument lists become a part of their names, and macros alone on
their lines get a semicolon.  Format macros such as `PRId64` become string literals.
"""

import re

from jarvis_workers.dataflow.frontend.bodies import is_loop_name
from jarvis_workers.dataflow.frontend.grammar import STAR

ATTRIBUTE = re.compile(
    rb"\b(?:\w*(?:unused|UNUSED|restrict|RESTRICT|NORETURN|noreturn|DEPRECATED|UNLIKELY_FN|FALLTHROUGH)\w*"
    rb"|\w+_(?:cold|hot|pure|const|inline|noinline|used|api|export|EXTERN|EXPORT|API|INLINE|STATIC|CALL|CDECL))\b"
    rb"(?=\s+[\w*]|\s*[,)=;])"
)
QUALIFIERS = frozenset(b"restrict".split())
STARRED = re.compile(
    rb"((?:\b\w+\s*+\(|,)\s*+)((?>(?:const|struct|unsigned|signed|long|enum|union)\s++)*+)(\w++)"
    rb"((?>\s*+(?:const\s*+)?\*)++)(?=\s*+[,)])"
)
PRINTED = re.compile(rb"\b(?:PRI|SCN)([diouxX])(?:LEAST|FAST)?(8|16|32|64|MAX|PTR)\b")
ALIGNED = re.compile(
    rb"\b[A-Z][A-Z_]*?ALIGNED\w*+\((?:\s*+\d++\s*+,)?\s*+(\w++)\s*+,\s*+(\w++)\s*+,\s*+((?>\[[^\];]{1,200}\])++)\s*+\)"
)
WRAPPED = re.compile(rb"\n[ \t]*+[A-Z_]\w*+(\([ \t\r]*+\n[^{}]{1,400}?;[ \t\r]*+\n[ \t]*+)\)")
CASTING = re.compile(rb"(?:sizeof|return|case|if|while|switch|typeof|__typeof__|alignof|_Alignof|defined)\s*\(\s*\Z")
# The arguments of a macro: literals, which may contain parentheses, and anything else but these and statements.
ARGUMENTS = rb"(?>[^;{}()\"'\n]++|\"(?>[^\"\\\n]++|\\.)*+\"|'(?>[^'\\\n]++|\\.)*+')*+"
INNER = rb"(?>\(" + ARGUMENTS + rb"(?>\(" + ARGUMENTS + rb"\)" + ARGUMENTS + rb")*+\)" + ARGUMENTS + rb")*+"
ALONE = re.compile(
    rb"(?<=[;{}])\s*(?>\n[ \t]*+[A-Z_]\w*+[ \t]*+(?:\(" + ARGUMENTS + INNER + rb"\))?[ \t\r]*+(?=\n))++"
    rb"(?!\s*+[{(;,?:.=+*/%<>|&^\[-])"
)
ALONE_LINE = re.compile(rb"\n([ \t]*+([A-Z_]\w*+)[^\n]*)")


def repair_macros(source: bytes) -> bytes:
    """Rewrite source so that it parses with fewer errors, without changing its meaning for the analysis."""
    source = ATTRIBUTE.sub(_without_attribute, source)
    source = PRINTED.sub(_with_letters, source)
    source = WRAPPED.sub(_unwrapped, ALIGNED.sub(rb"\1 \2\3", source))
    source = STARRED.sub(_without_stars, source)
    return ALONE.sub(_ended, source)


def _without_attribute(match: re.Match[bytes]) -> bytes:
    return match[0] if match[0] in QUALIFIERS else b" " * len(match[0])


def _unwrapped(match: re.Match[bytes]) -> bytes:
    return b"\n" + match[1][1:]


def _with_letters(match: re.Match[bytes]) -> bytes:
    size = b"" if match[2] in (b"8", b"16", b"32") else b"l"
    return b'"%b%b"' % (size, match[1]) + b" " * (len(match[0]) - len(size) - 3)


def _without_stars(match: re.Match[bytes]) -> bytes:
    if CASTING.match(match[1]):
        return match[0]
    stars = match[4]
    spaces = stars.translate(None, b"*").replace(b"const", b"     ")
    return match[1] + b" " * len(match[2]) + match[3] + STAR * stars.count(b"*") + spaces


def _ended(match: re.Match[bytes]) -> bytes:
    return ALONE_LINE.sub(_ended_line, match[0])


def _ended_line(match: re.Match[bytes]) -> bytes:
    if is_loop_name(match[2].decode("latin-1")) or not any(byte in b"_(" for byte in match[1]):
        return match[0]
    return match[0].rstrip() + b";"
