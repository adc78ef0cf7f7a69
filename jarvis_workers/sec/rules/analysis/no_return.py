"""Names of a file that end the function that calls them: functions declared not to return, and macros that return."""

import re
from itertools import islice

from jarvis_workers.sec.rules.analysis.forward_paths import TOKEN, token_pattern
from jarvis_workers.sec.rules.rule import SourceText
from jarvis_workers.source.lazy_regex import lazy

NAMES_MAX, DEFINITIONS_MAX = 64, 4_096
LEFT, RIGHT = 240, 160
SPECIFIER = lazy(rb"\b_*(?:[Nn]oreturn|NO_?RETURN)_*\b")
DECLARED_BEHIND = lazy(rb"[\])]*+\s++(?:\w++[\s*]++){0,4}?(\w++)\s*+\(")
DECLARED_BEFORE = lazy(rb"\s(\w++)\s*+\([^()]*+(?>\([^()]*+\)[^()]*+)*+\)\s*+(?:__attribute__\s*+\(\(\s*+)?\Z")
DEFINITION = lazy(rb"#[ \t]*+define[ \t]++(\w++)\([^()\n]*+\)((?>[^\n\\]++|\\\r?+\n|\\)*+)")
RETURNS = lazy(
    rb"(?!.*\b(?:if|for|switch|case)\b)[^{}?]*+(?:\bdo[\s\\]*+)?\{?[^{}?]*\b(?:return|goto)\b[^;{}]*+;?[\s\\]*+"
    rb"(?:\}[\s\\]*+(?:while[\s\\]*+\([^()]*+\)[\s\\]*+)?)?\Z",
    re.DOTALL,
)
BODY_MAX = 512


def tokens(source: SourceText) -> re.Pattern[bytes]:
    """Return the tokens of a walk over the functions of the file."""
    return source.once("tokens", lambda: _tokens(source.text))


def _tokens(text: bytes) -> re.Pattern[bytes]:
    names = sorted({*_declared(text), *_macros(text)})[:NAMES_MAX]
    return re.compile(token_pattern(names)) if names else TOKEN


def _declared(text: bytes) -> list[bytes]:
    """Return the functions that the file declares with `_Noreturn` or an attribute or macro of that name."""
    result = []
    for mark in islice(SPECIFIER.finditer(text), NAMES_MAX):
        line = text[text.rfind(b"\n", 0, mark.start()) + 1 : mark.start()]
        if line.lstrip().startswith(b"#"):
            continue
        name = DECLARED_BEHIND.match(text, mark.end(), mark.end() + RIGHT)
        name = name or DECLARED_BEFORE.search(text, max(0, mark.start() - LEFT), mark.start())
        if name:
            result.append(name[1])
    return result


def _macros(text: bytes) -> list[bytes]:
    """Return the macros with parameters whose last statement is a `return` or `goto` without a condition."""
    definitions = islice(DEFINITION.finditer(text), DEFINITIONS_MAX)
    return [one[1] for one in definitions if len(one[2]) <= BODY_MAX and _returns(one[2])]


def _returns(body: bytes) -> bool:
    return (b"return" in body or b"goto" in body) and RETURNS.match(body.strip()) is not None
