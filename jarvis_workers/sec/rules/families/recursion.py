"""unbounded_recursion: parsers that call themselves for each level of nested input, and functions that never stop.

The functions of a file that read input form a call graph; each strongly connected component without a counter of its
depth is reported once, at its first function. A function never stops that calls itself on every way through it, or
with the values that it got, and does nothing else that could change how it decides.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from jarvis_workers.sec.rules.rule import Rule, Site, rule
from jarvis_workers.source.calls import arguments
from jarvis_workers.source.lazy_regex import lazy

FUNCTIONS_MAX, READERS_MAX, CALLS_DEEP, CYCLE_MAX, HEAD_MAX, BODY_MAX = 20_000, 400, 4, 6, 512, 65_536
OF_TEXT, INDIRECT, ENDLESS, SHORT = 0.05, 0.05, 0.4, 2_000
READS = lazy(
    rb"(?i)pars|decod|unpack|unmarshal|deserial|demangl|(?:^|_)(?:read|load|skip|scan|match|glob|eval|expand|compile|expr|term|factor"
    rb"|stmt|statement|value|object|array|element|group|include)(?:_|\d|$)|(?-i:Read|Load|Skip|Scan|^(?:read|load|skip|scan)[A-Z])"
)
# Printing, copying and releasing a tree is as deep as the parser that built it.
OF_TREES = lazy(
    rb"(?i)print|emit|render|tostring|dump|free|delete|destroy|copy|clone|dup|compare|equal|write|encode|walk|visit|count|hash|sort|insert|find|alloc|init"
)
NAME_BEFORE = lazy(rb"([A-Za-z_]\w*)[ \t]*\(")
OPENS = lazy(rb"\)[ \t\r\n]*(?:/\*[^*]*\*/[ \t\r\n]*)?\{")
CALLED = lazy(rb"(?<![\w.>])([A-Za-z_]\w*)[ \t]*\(")
COUNTED = lazy(
    rb"(?i)depth|nest|recurs|levels?(?!_?db)\b|_level|stack_?(?:check|left|limit|size|low|overflow|guard)|too_?(?:deep|many|complex)|check_?stack|max_?(?:call|stack)"
)
# A call that leaves the parser when a counter of levels exceeds its limit.
COMPARED = lazy(
    rb"(?i)(?:depth|nest|recurs|level)\w*+\s*+\)?\s*+[<>](?![<>])|(?<![-<>])[<>]=?\s*(?>\w++(?:->|\.))*+\w*(?:depth|nest|recurs|level)"
)
# A number that changes by one with each call, or halves.
LIMITED = (
    rb"\b%b\s*\((?:[^();]|\([^()]*\))*\b(?:n|i|k|d|num\w*|\w*count\w*|\w*times|max\w*|left|remaining|size|len|limit)\s*"
    rb"(?:[-+]\s*1\b|[^,;]*?(?:/\s*2|>>\s*1)\b)"
)
TEXT_PARAMETER = lazy(
    rb"(?:char|uint8_t|u8|u_char|uchar|UChar|Byte|BYTE|byte|guint8|xmlChar|void)\s*(?:const\s*)?\*|\bFILE\s*\*|(?i:pars|lex|token|reader|state|stream|scanner|cursor|decod|input|buf|json|src)"
)
# Ways out of a function beside its returns, and what a function changes.
# Macros and functions that may end it are known by their names.
OTHER_ENDS = lazy(
    rb"\b(?:goto|throw|static)\b|#|\b[A-Z][A-Z0-9_]{2,}\s*\("
    rb"|\b\w*(?i:return|exit|abort|jmp|die|fatal|panic|err|fail|usage|assert|throw|quit|exec|kill)\w*\s*\("
)
CHANGES = lazy(rb"(?<![=!<>])=(?!=)|\+\+|--")
CONDITIONAL = lazy(rb"&&|\|\||\?|\b(?:if|else|for|while|switch|case|do)\b")
CONDITIONAL_END = lazy(rb"\b(?:else|do)\s*\Z|\)\s*\Z")
CPP = lazy(rb"::|\b(?:class|template|operator|namespace)\b|\bconst\s++\w++\s*+&")
NOTHING = lazy(rb"(?>\s|/\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)*+\Z")
STATEMENTS = lazy(rb"[;{}]")
LAST_WORD = lazy(rb"([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?\Z")
AFTERWARDS = lazy(rb"\s*(?:\+\+|--)\Z")
PRINTS = lazy(rb"print|puts|putc|write|log")
HASH = b"#"
CONTROL = frozenset(b"if for while switch return sizeof do else case defined".split())


class _Function(NamedTuple):
    """A function: name, its offset, and the spans of its parameters and its body."""

    name: bytes
    start: int
    parameters: bytes
    opened: int
    end: int


def find_recursion(raw: bytes) -> Iterator[int]:
    """Yield the name of the first function of each cycle, and calls that never stop, in a file that is not masked."""
    functions = list(_functions(raw))
    yield from (cycle[0].start for cycle in _cycles(raw, functions))
    yield from _endless_calls(raw, functions)


def _endless_calls(text: bytes, functions: Sequence[_Function]) -> Iterator[int]:
    """Yield the calls by which short functions of C call themselves without end; in C++, they may call overloads."""
    short = [
        one
        for one in functions
        if one.end - one.opened <= SHORT and not one.name.isupper() and text.find(one.name, one.opened, one.end) >= 0
    ]
    if not short or CPP.search(text):
        return
    for one in short:
        body = text[one.opened : one.end]
        calls = [match for match in CALLED.finditer(body) if match[1] == one.name]
        if len(calls) == 1 and not OTHER_ENDS.search(body):
            (call,) = calls
            if _is_always_reached(body, call.start()) or _repeats_itself(body, one, call):
                yield one.opened + call.start()


def _is_always_reached(body: bytes, at: int) -> bool:
    """Return whether a function returns nowhere else, and no condition stands before its call of itself."""
    statement = STATEMENTS.split(body[:at])[-1]
    is_last = NOTHING.match(body, body.find(b";", at) + 1) is not None and body.count(b"return") <= (
        b"return" in statement
    )
    return is_last and not CONDITIONAL.search(statement) and not CONDITIONAL_END.search(body[:at])


def _repeats_itself(body: bytes, one: _Function, call: re.Match[bytes]) -> bool:
    """Return whether a function passes on the values that it got, and changes nothing but these."""
    found = arguments(body, call.end() - 1)
    names = [match[1] for part in one.parameters.rstrip(b") \t\r\n").split(b",") if (match := LAST_WORD.search(part))]
    given = [body[slice(*span)].strip() for span in found.spans]
    if found.end is None or not names or [AFTERWARDS.sub(b"", part) for part in given] != names:
        return False
    rest = body[: call.start()] + body[found.end :]
    others = {match[1] for match in CALLED.finditer(rest)} - CONTROL
    return not CHANGES.search(rest) and all(PRINTS.search(name) for name in others)


def check_recursion(site: Site) -> float | None:
    """Raise the confidence if the function takes text or a parser, skip tail calls, which are loops."""
    text = site.source.text
    functions = site.source.once("functions by braces", lambda: list(_functions(text)))
    if site.start in site.source.once("endless calls", lambda: frozenset(_endless_calls(text, functions))):
        return None if site.source.header else ENDLESS
    cycles = site.source.once("cycles", lambda: {cycle[0].start: cycle for cycle in _cycles(text, functions)})
    cycle = cycles.get(site.start)
    if cycle is None or site.source.test or not any(TEXT_PARAMETER.search(one.parameters) for one in cycle):
        return None
    if any(COUNTED.search(text, one.start, one.end) for one in cycle) or _is_limited(text, cycle):
        return None
    if _is_counted_elsewhere(site, cycle):
        return None
    moved = OF_TEXT if READS.search(cycle[0].name) else 0.0
    if len(cycle) > 1:
        return moved + INDIRECT
    return None if _is_tail(text, cycle[0]) else moved


def _is_counted_elsewhere(site: Site, cycle: Sequence[_Function]) -> bool:
    """Return whether a function of the file that the cycle calls compares the number of levels with a limit."""
    text = site.source.text
    named = site.source.once(
        "functions by name", lambda: {one.name: one for one in _functions(text) if not OF_TREES.search(one.name)}
    )
    called = {name for one in cycle for name in _calls(text, one, named)} - {one.name for one in cycle}
    return any(
        COMPARED.search(text, named[name].opened, min(named[name].end, named[name].opened + BODY_MAX))
        for name in called
    )


def _is_tail(text: bytes, one: _Function) -> bool:
    calls = [match.start() for match in CALLED.finditer(text, one.opened, one.end) if match[1] == one.name]
    return all(text[max(0, at - 16) : at].rstrip().endswith(b"return") for at in calls)


def _cycles(text: bytes, those: Sequence[_Function]) -> list[list[_Function]]:
    """Return the small strongly connected components with a function that reads input, in the order of the file."""
    functions = {one.name: one for one in those if not OF_TREES.search(one.name)}
    calls: dict[bytes, list[bytes]] = {}
    left = [name for name in islice(functions, READERS_MAX) if READS.search(name)]
    readers = list(left)
    for _ in range(CALLS_DEEP):
        for name in left:
            if name not in calls and len(calls) < READERS_MAX:
                calls[name] = _calls(text, functions[name], functions)
        left = [other for name in left for other in calls.get(name, ()) if other not in calls]
    found: list[list[_Function]] = []
    seen: set[bytes] = set()
    for name in readers:
        reached = _reached(name, calls)
        if name in seen or name not in reached:
            continue
        cycle = [other for other in functions if other in reached and name in _reached(other, calls)]
        seen.update(cycle)
        if len(cycle) <= CYCLE_MAX:
            found.append([functions[other] for other in cycle])
    return found


def _reached(name: bytes, calls: Mapping[bytes, Sequence[bytes]]) -> frozenset[bytes]:
    """Return the functions that one calls, directly or through others."""
    reached: set[bytes] = set()
    left = list(calls.get(name, ()))
    while left:
        other = left.pop()
        if other not in reached:
            reached.add(other)
            left.extend(calls.get(other, ()))
    return frozenset(reached)


def _calls(text: bytes, one: _Function, named: Mapping[bytes, _Function]) -> list[bytes]:
    called = {match[1] for match in CALLED.finditer(text, one.opened, min(one.end, one.opened + BODY_MAX))}
    return sorted(called & named.keys())


def _is_limited(text: bytes, cycle: Sequence[_Function]) -> bool:
    """Return whether a call within a cycle passes a number that changes by one, or halves."""
    return any(
        re.search(LIMITED % other.name, text[one.opened : min(one.end, one.opened + BODY_MAX)])
        for one in cycle
        for other in cycle
    )


def _functions(text: bytes) -> Iterator[_Function]:
    """Yield the functions, by the `}` in the first column that ends each."""
    end = 0
    for _ in range(FUNCTIONS_MAX):
        start, end = end, text.find(b"\n}", end + 1)
        if end < 0:
            return
        opens = OPENS.search(text, start, end)
        if opens is None:
            continue
        opened = opens.start()
        floor = max(start, opened - HEAD_MAX)
        edge = max(text.rfind(mark, floor, opened) for mark in (b";", b"}", b"*/", b"\n#"))
        match = NAME_BEFORE.search(text, max(floor, edge), opened)
        if match and text[text.rfind(b"\n", 0, match.start()) + 1] not in HASH and match[1] not in CONTROL:
            yield _Function(match[1], match.start(), text[match.end() : opened], opens.end(), end)


RULES: tuple[Rule, ...] = (rule("unbounded_recursion", check_recursion, places=find_recursion),)
